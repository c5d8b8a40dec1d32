//! Cuts a line into tokens. Time stamps, clocks, counters, durations and numbers with their units are single tokens,
//! because a number that is torn out of one of them gets a wrong name.

use assay_model::Unit;

use crate::text::number;
use crate::vocabulary::PrintedUnit;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Word,
    Number(NumberToken),
    /// `3/10`, `7138 / 10000`, with the percentage that may follow in parentheses.
    Counter {
        done: f64,
        total: f64,
        percent: Option<f64>,
    },
    /// `1:02:03` in seconds; whether it may be a time of day.
    Clock {
        seconds: f64,
        time_of_day: bool,
    },
    /// Dates and times of day, paths, versions, lists of numbers: nothing that a metric could be.
    Opaque,
    /// A progress bar or a line of decoration.
    Bar,
    /// A column border.
    Pipe,
    Sign(u8),
}

/// A number with what is printed behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberToken {
    pub value: f64,
    /// Whether it has no decimal point and no exponent.
    pub whole: bool,
    pub unit: Option<PrintedUnit>,
    /// A letter behind it that scales it or is a unit in some company: `k`, `M`, `G`, `m`.
    pub suffix: Option<u8>,
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    /// Blanks before it; a tab counts as two.
    pub gap: usize,
}

/// More tokens of a line than this are not looked at.
const MOST_TOKENS: usize = 400;

/// Functions around a number that printing a tensor leaves behind.
const WRAPPERS: [&str; 11] = [
    "tensor",
    "tf.Tensor",
    "jnp.array",
    "array",
    "float32",
    "float64",
    "np.float32",
    "np.float64",
    "numpy.float64",
    "Array",
    "DeviceArray",
];

/// The word behind a number that says which value of a distribution is meant.
const PERCENTILE: &str = " percentile";

/// Devices that programs number behind a colon.
const DEVICES: [&str; 12] =
    ["cuda", "cpu", "gpu", "xla", "hpu", "mps", "xpu", "npu", "ipu", "GPU", "CPU", "CUDA"];

/// The tokens of a line.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut cutter = Cutter { text, at: 0, found: Vec::new() };
    while cutter.at < text.len() && cutter.found.len() < MOST_TOKENS {
        cutter.next();
    }
    share_units(&mut cutter.found);
    cutter.found
}

/// `12.3 ± 0.4 ms` and `1.3 µs ± 4 ns per loop`: what is printed behind the spread holds for the number before it.
fn share_units(found: &mut [Token]) {
    for place in 0..found.len().saturating_sub(2) {
        let Some([first, sign, second]) = found.get_mut(place..place + 3) else { continue };
        let (TokenKind::Number(first), TokenKind::Sign(b'~'), TokenKind::Number(second)) =
            (&mut first.kind, &sign.kind, &second.kind)
        else {
            continue;
        };
        match (&mut first.unit, &second.unit) {
            (None, Some(unit)) => first.unit = Some(unit.clone()),
            (Some(first), Some(second)) if first.per.is_none() && first.unit == second.unit => {
                first.per.clone_from(&second.per);
            }
            _ => {}
        }
    }
}

struct Cutter<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Token>,
}

impl Cutter<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, end: usize, gap: usize) {
        // Never stop inside a letter, whatever was scanned by bytes.
        let mut end = end.clamp(self.at + 1, self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.found.push(Token { kind, start: self.at, end, gap });
        self.at = end;
    }

    fn next(&mut self) {
        let mut gap = 0;
        while let blank @ (b' ' | b'\t' | b'\'' | b'"' | b'`') = self.byte(self.at) {
            gap += match blank {
                b'\t' => 2,
                b' ' => 1,
                _ => 0,
            };
            self.at += 1;
        }
        let Some(first) = self.rest().chars().next() else { return };
        let at = self.at;
        match first {
            '0'..='9' => self.number(gap),
            '-' | '+' | '.' if self.starts_number() => self.number(gap),
            // `AP @[ IoU=0.50:0.95 | area=all ] = 0.374`: the conditions of one number.
            '@' if self.byte(at + 1) == b'[' => {
                let close = self.rest().find(']').map_or(self.text.len(), |close| at + close + 1);
                self.push(TokenKind::Opaque, close, gap);
            }
            '[' | '(' => self.bracket(gap),
            '|' | '│' | '┃' | '║' => self.push(TokenKind::Pipe, at + first.len_utf8(), gap),
            '\u{2500}'..='\u{259f}' => {
                let end = self.while_char(at, |letter| ('\u{2500}'..='\u{259f}').contains(&letter));
                self.push(TokenKind::Bar, end, gap);
            }
            '/' | '\\' | '~' if self.byte(at + 1).is_ascii_alphanumeric() || self.byte(at + 1) == b'/' => {
                let end = self.while_char(at, |letter| !letter.is_whitespace() && letter != ',');
                self.push(TokenKind::Opaque, end, gap);
            }
            '=' | '-' | '*' | '#' | '_' | '>' | '<' | '.' | '~' | '+' => {
                let end = self.while_char(at, |letter| letter == first);
                if end - at >= 3 {
                    self.push(TokenKind::Bar, end, gap);
                } else if first == '_' {
                    self.word(gap);
                } else {
                    self.push(TokenKind::Sign(first as u8), at + 1, gap);
                }
            }
            letter if letter.is_alphabetic() => self.word(gap),
            letter if letter.is_ascii() => self.push(TokenKind::Sign(letter as u8), at + 1, gap),
            '±' => self.push(TokenKind::Sign(b'~'), at + first.len_utf8(), gap),
            letter => self.push(TokenKind::Sign(b'?'), at + letter.len_utf8(), gap),
        }
    }

    /// A sign or a point before digits, not behind a letter or number.
    fn starts_number(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(b' ', |at| self.byte(at));
        let (mut at, first) = (self.at + 1, self.byte(self.at));
        if first != b'.' && self.byte(at) == b'.' {
            at += 1;
        }
        self.byte(at).is_ascii_digit()
            && !before.is_ascii_alphanumeric()
            && !matches!(before, b')' | b']' | b'_')
    }

    fn while_char(&self, from: usize, goes_on: impl Fn(char) -> bool) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.char_indices()
            .find(|(_, letter)| !goes_on(*letter))
            .map_or(self.text.len(), |(place, _)| from + place)
    }

    /// A bar, a list of numbers, or a plain bracket.
    fn bracket(&mut self, gap: usize) {
        let at = self.at;
        let (open, close) = if self.byte(at) == b'[' { ('[', ']') } else { ('(', ')') };
        let body = self.text.get(at + 1..).unwrap_or_default();
        let end = body.find(close);
        let inside = body.get(..end.unwrap_or(body.len())).unwrap_or_default();
        let is_bar = inside.len() >= 3
            && inside.bytes().all(|byte| b"=>.#- ".contains(&byte))
            && !inside.trim().is_empty();
        if is_bar && end.is_some() {
            return self.push(TokenKind::Bar, at + 2 + inside.len(), gap);
        }
        let inside = inside.trim_matches([open, ' ']);
        let listed = inside.split([',', ' ', '\t']).filter(|part| !part.is_empty());
        let mut count = 0;
        let is_list = listed.clone().all(|part| {
            count += 1;
            matches!(part, "None" | "nan" | "...")
                || number(part).is_some_and(|(_, rest)| rest.is_empty() || rest == ".")
        });
        if is_list && count >= 2 {
            let end = end.map_or(self.text.len(), |end| at + 2 + end);
            return self.push(TokenKind::Opaque, end, gap);
        }
        self.push(TokenKind::Sign(open as u8), at + 1, gap);
    }

    fn word(&mut self, gap: usize) {
        let at = self.at;
        let mut end = at;
        loop {
            end = self.while_char(end, |letter| letter.is_alphanumeric() || letter == '_');
            let joins = b"-/.@#+&\\'".contains(&self.byte(end)) && end < self.text.len();
            let next = self.text.get(end + 1..).and_then(|rest| rest.chars().next());
            if joins && next.is_some_and(char::is_alphanumeric) {
                end += 1;
            } else {
                break;
            }
        }
        // `C.E. Loss`: the last point belongs to the abbreviation.
        if self.byte(end) == b'.' && self.byte(end + 1) == b' ' && end >= 2 && self.byte(end - 2) == b'.' {
            end += 1;
        }
        let word = self.text.get(at..end).unwrap_or_default();
        // `Top 5 error`: the number belongs to the name.
        if word.eq_ignore_ascii_case("top") && self.byte(end) == b' ' && self.byte(end + 1).is_ascii_digit() {
            let digits = self.while_char(end + 1, |letter| letter.is_ascii_digit());
            if digits <= end + 3 && matches!(self.byte(digits), b' ' | b':' | b'=' | b'-' | b')') {
                return self.push(TokenKind::Word, digits, gap);
            }
        }
        // `(trainer:338)` is a place in a program.
        let parenthesis = at.checked_sub(1).is_some_and(|before| self.byte(before) == b'(');
        if parenthesis && self.byte(end) == b':' && self.byte(end + 1).is_ascii_digit() {
            let close = self.while_char(end + 1, |letter| letter.is_ascii_digit());
            if self.byte(close) == b')' {
                return self.push(TokenKind::Opaque, close, gap);
            }
        }
        // `cuda:0` is a device.
        if self.byte(end) == b':' && self.byte(end + 1).is_ascii_digit() && DEVICES.contains(&word) {
            let end = self.while_char(end + 1, |letter| letter.is_ascii_digit());
            return self.push(TokenKind::Opaque, end, gap);
        }
        if self.byte(end) == b'(' && WRAPPERS.contains(&word) {
            self.at = end + 1 + usize::from(self.byte(end + 1) == b'[');
            return;
        }
        let url = self.text.get(end..).is_some_and(|rest| rest.starts_with("://") || rest.starts_with(":\\"));
        if url || is_path(word) {
            let end = self.while_char(end, |letter| !letter.is_whitespace() && !matches!(letter, ',' | '|'));
            return self.push(TokenKind::Opaque, end, gap);
        }
        self.push(TokenKind::Word, end, gap);
    }

    fn number(&mut self, gap: usize) {
        let at = self.at;
        // `99.90 percentile latency`: the number is a part of the name.
        let digits = self.while_char(at, |letter| letter.is_ascii_digit() || letter == '.');
        if self.text.get(digits..).is_some_and(|rest| rest.starts_with(PERCENTILE)) {
            return self.push(TokenKind::Word, digits + PERCENTILE.len(), gap);
        }
        if let Some(length) = stamp(self.rest()) {
            return self.push(TokenKind::Opaque, at + length, gap);
        }
        if let Some((seconds, time_of_day, length)) = clock(self.rest()) {
            let of_day = time_of_day
                && (self.found.is_empty()
                    || self
                        .found
                        .iter()
                        .all(|token| matches!(token.kind, TokenKind::Sign(_) | TokenKind::Opaque)));
            let after = self.text.get(at + length..).unwrap_or_default().trim_start();
            let half = after
                .get(..2)
                .is_some_and(|word| word.eq_ignore_ascii_case("am") || word.eq_ignore_ascii_case("pm"));
            if of_day || half {
                let end = if half { self.text.len() - after.len() + 2 } else { at + length };
                return self.push(TokenKind::Opaque, end, gap);
            }
            return self.push(TokenKind::Clock { seconds, time_of_day }, at + length, gap);
        }
        if let Some((seconds, length)) = span(self.rest()) {
            return self.push(TokenKind::Clock { seconds, time_of_day: false }, at + length, gap);
        }
        let Some((value, rest)) = number(self.rest()) else {
            return self.push(TokenKind::Sign(self.byte(at)), at + 1, gap);
        };
        let end = self.text.len() - rest.len();
        let written = self.text.get(at..end).unwrap_or_default();
        let whole = !written.contains(['.', 'e', 'E']);
        if whole && let Some((counter, length)) = counter(value, rest) {
            return self.push(counter, end + length, gap);
        }
        let next = self.byte(end);
        let behind = self.byte(end + 1);
        // Versions, ranges, identifiers: `2.9.0`, `60-120s`, `3_a`.
        if (matches!(next, b'.' | b'-' | b'+') && behind.is_ascii_alphanumeric())
            || matches!(next, b'_' | b'@' | b'\\')
            || (next == b'/' && behind.is_ascii_digit())
        {
            let end = self.while_char(end, |letter| letter.is_alphanumeric() || "._-+/@\\".contains(letter));
            return self.push(TokenKind::Opaque, end, gap);
        }
        let (mut token, mut end) = (NumberToken { value, whole, unit: None, suffix: None }, end);
        if next == b'%' {
            token.unit = PrintedUnit::parse("%");
            end += 1;
        } else if next.is_ascii_alphabetic() || next >= 0xc2 {
            match self.glued(end) {
                Some((unit, suffix, length)) => {
                    (token.unit, token.suffix) = (unit, suffix);
                    end += length;
                }
                None if next.is_ascii_alphabetic() => {
                    let end =
                        self.while_char(end, |letter| letter.is_alphanumeric() || "._-".contains(letter));
                    return self.push(TokenKind::Opaque, end, gap);
                }
                None => {}
            }
        }
        if token.unit.is_none()
            && let Some((unit, length)) = self.unit_behind(end)
        {
            token.unit = Some(unit);
            end += length;
        }
        if let (Some(unit), Some(scale)) = (&mut token.unit, token.suffix) {
            unit.factor *= scale_of(scale);
            token.suffix = None;
        }
        self.push(TokenKind::Number(token), end, gap);
    }

    /// A unit or a scale glued to a number: `22.95s`, `12ms/step`, `2.13G`.
    fn glued(&self, from: usize) -> Option<(Option<PrintedUnit>, Option<u8>, usize)> {
        let end = self.while_char(from, |letter| {
            letter.is_alphabetic() || letter == '/' || letter == '%' || letter == 'µ'
        });
        if matches!(self.byte(end), b'_' | b'0'..=b'9') {
            return None;
        }
        let written = self.text.get(from..end)?;
        // `2.31x` of a speedup.
        if written == "x" {
            return Some((None, None, 1));
        }
        if let [letter @ (b'k' | b'K' | b'M' | b'G' | b'T' | b'm' | b'B')] = written.as_bytes() {
            return Some((None, Some(*letter), 1));
        }
        PrintedUnit::parse(written).map(|unit| (Some(unit), None, written.len()))
    }

    /// A unit one blank behind a number: `0.74 s`, `5.7 %`, `611 samples per second`.
    fn unit_behind(&self, from: usize) -> Option<(PrintedUnit, usize)> {
        let rest = self.text.get(from..)?.strip_prefix(' ')?;
        // `27.3 [ms] (mean)`.
        if let Some((inside, _)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && let Some(unit) = PrintedUnit::parse(inside).filter(PrintedUnit::is_telling)
        {
            return Some((unit, inside.len() + 3));
        }
        let word = |text: &str| {
            text.find(|letter: char| !(letter.is_alphabetic() || "/%µ".contains(letter)))
                .unwrap_or(text.len())
        };
        let first = word(rest);
        let mut ends = vec![first];
        if let Some(behind) =
            rest.get(first..).and_then(|rest| rest.strip_prefix(" per ").or_else(|| rest.strip_prefix(" / ")))
        {
            ends.insert(0, rest.len() - behind.len() + word(behind));
        }
        ends.into_iter().find_map(|end| {
            let written = rest.get(..end)?;
            let next = rest.get(end..)?.trim_start().bytes().next();
            let unit = PrintedUnit::parse(written).filter(|unit| unit.is_telling())?;
            // `lat: 2680.11 err/s 1.00 reconn/s: 0.00`: a rate before a bare number is the key of that one.
            let following = rest.get(end..)?.strip_prefix(' ').and_then(number);
            let bare = following.is_some_and(|(_, tail)| {
                let word = tail.trim_start_matches(' ').split([' ', ',', ';']).next().unwrap_or_default();
                PrintedUnit::parse(word).is_none()
            });
            if bare && matches!(unit.unit, Unit::PerSecond(_)) {
                return None;
            }
            // A word before a colon or an equals sign is the next key.
            let glued = rest.get(end..)?.starts_with('(') || written.len() == 1 && next == Some(b'(');
            let keyed = rest.get(end..)?.starts_with(['=', ':']);
            (!(matches!(next, Some(b'=' | b':')) || glued) || written.contains(['/', '%']) && !keyed)
                .then_some((unit, end + 1))
        })
    }
}

/// What a letter behind a number multiplies it by.
pub(super) fn scale_of(letter: u8) -> f64 {
    match letter {
        b'k' | b'K' => 1e3,
        b'M' => 1e6,
        b'G' | b'B' => 1e9,
        b'T' => 1e12,
        _ => 1.0,
    }
}

fn is_path(word: &str) -> bool {
    let extension = [
        ".py", ".cc", ".cpp", ".pt", ".pth", ".txt", ".log", ".json", ".csv", ".yaml", ".yml", ".h5", ".bin",
        ".jpg", ".png", ".sh",
    ];
    let slashes = word.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    extension.iter().any(|end| word.ends_with(end))
        || (slashes >= 1 && word.contains('.'))
        || slashes >= 3
        || (word.bytes().filter(|byte| *byte == b'.').count() >= 2 && word.len() > 8)
}

/// `/ 10` behind a whole number, and a percentage in parentheses behind that.
fn counter(done: f64, rest: &str) -> Option<(TokenKind, usize)> {
    let trimmed = rest.trim_start_matches(' ');
    let below = trimmed.strip_prefix('/')?;
    if trimmed.len() != rest.len()
        && !below.starts_with(' ')
        && !below.starts_with(|first: char| first.is_ascii_digit())
    {
        return None;
    }
    let (total, behind) = number(below)?;
    let written = below.get(..below.len() - behind.len())?;
    let next = behind.bytes().next();
    if written.contains(['.', 'e'])
        || done < 0.0
        || total <= 0.0
        || done > total
        || next == Some(b'/')
        || next.is_some_and(|byte| byte.is_ascii_alphabetic())
    {
        return None;
    }
    let mut length = rest.len() - behind.len();
    let inside = behind.trim_start_matches([' ', '(', '[']);
    let percent = number(inside).filter(|(_, tail)| tail.starts_with('%') && inside.len() != behind.len());
    if let Some((_, tail)) = percent {
        let tail = tail.strip_prefix('%').unwrap_or(tail);
        length = rest.len() - tail.strip_prefix(')').unwrap_or(tail).len();
    }
    Some((TokenKind::Counter { done, total, percent: percent.map(|(percent, _)| percent) }, length))
}

/// A duration in several units: `3 minutes and 20.5 seconds`, `1h 2m 3s`, `2 days, 1:20:30`. Its seconds and length.
pub(super) fn span(text: &str) -> Option<(f64, usize)> {
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
fn stamp(text: &str) -> Option<usize> {
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
fn clock(text: &str) -> Option<(f64, bool, usize)> {
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
