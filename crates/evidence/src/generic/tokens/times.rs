//! Dates, clocks and durations at the start of a text.

use crate::text::number;

/// A duration in several units: `3 minutes and 20.5 seconds`, `1h 2m 3s`, `2 days, 1:20:30`. Its seconds and length.
pub(in crate::generic) fn span(text: &str) -> Option<(f64, usize)> {
    let (mut total, mut parts, mut end, mut above) = (0.0, 0, 0, f64::INFINITY);
    let mut rest = text;
    while rest.starts_with(|first: char| first.is_ascii_digit()) {
        if let Some((seconds, _, length)) = clock(rest).filter(|_| parts > 0) {
            return Some((total + seconds, text.len() - rest.len() + length));
        }
        let Some((value, behind)) = number(rest) else { break };
        let word = behind.strip_prefix(' ').unwrap_or(behind);
        let length = word.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(word.len());
        let unit = word.get(..length)?;
        let scale = match unit {
            "d" | "day" | "days" => 86_400.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            _ => break,
        };
        // `3 s` may be anything; letters alone are units only where they are glued to their numbers.
        if scale >= above || unit.len() == 1 && word.len() != behind.len() {
            break;
        }
        (total, parts, above) = (total + value * scale, parts + 1, scale);
        let behind = word.get(length..)?;
        end = text.len() - behind.len();
        rest = [", ", " and ", ", and ", " "]
            .iter()
            .find_map(|sign| behind.strip_prefix(sign))
            .unwrap_or(behind);
    }
    (parts >= 2).then_some((total, end))
}

fn digits(bytes: &[u8], from: usize, most: usize) -> usize {
    bytes.iter().skip(from).take(most).take_while(|byte| byte.is_ascii_digit()).count()
}

/// The length of a date at the start of a text, with the time of day behind it.
pub(super) fn stamp(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = digits(bytes, 0, 5);
    let separator = *bytes.get(first)?;
    if !matches!(separator, b'-' | b'/' | b'.') || !matches!(first, 1 | 2 | 4) {
        return None;
    }
    let second = digits(bytes, first + 1, 3);
    let place = first + 1 + second;
    if !matches!(second, 1 | 2) || bytes.get(place) != Some(&separator) {
        return None;
    }
    let third = digits(bytes, place + 1, 5);
    let year = first == 4 && matches!(third, 1 | 2) || third == 4 && first <= 2;
    let short = separator == b'/' && first <= 2 && third == 2;
    if !(year || short) {
        return None;
    }
    let end = place + 1 + third;
    let behind = text.get(end..)?;
    let time = behind
        .strip_prefix(['T', ' ', '_', '-'])
        .and_then(|rest| clock(rest).map(|(_, _, length)| length + 1));
    Some(end + time.unwrap_or(0))
}

/// `1:02:03`, `02:03.5`: its seconds, whether it may be a time of day, and its length.
pub(super) fn clock(text: &str) -> Option<(f64, bool, usize)> {
    let bytes = text.as_bytes();
    let first = digits(bytes, 0, 4);
    if !(1..=3).contains(&first) || bytes.get(first) != Some(&b':') || digits(bytes, first + 1, 3) != 2 {
        return None;
    }
    let part = |from: usize, length: usize| text.get(from..from + length)?.parse::<f64>().ok();
    let (mut seconds, mut end) = (part(0, first)? * 60.0 + part(first + 1, 2)?, first + 3);
    let three = bytes.get(end) == Some(&b':') && digits(bytes, end + 1, 3) == 2;
    if three {
        seconds = seconds * 60.0 + part(end + 1, 2)?;
        end += 3;
    }
    if matches!(bytes.get(end), Some(b'.' | b',')) {
        let decimals = digits(bytes, end + 1, 9);
        if decimals > 0 {
            seconds += part(end + 1, decimals)? / 10_f64.powi(i32::try_from(decimals).ok()?);
            end += 1 + decimals;
        }
    }
    let next = bytes.get(end);
    if next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b':') {
        return None;
    }
    Some((seconds, first == 2, end))
}
