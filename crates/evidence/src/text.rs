//! Small readers of text that dialects share: numbers as logs write them, values after a key, Python dictionaries.

/// Reads the number that a text begins with, after blanks; gives it with the rest of the text. Thousands commas are
/// allowed; `nan`, `inf` and dashes are not numbers.
///
/// Most numbers of a log have few digits. Those are put together while they are scanned: a whole number below 2^53
/// over a power of ten up to 10^22 is one division of two exact numbers, so it rounds as a full parser rounds.
///
/// What people write is read by `writeup::number` instead: there a minus may be a dash, a power of ten may be spelled
/// out, versions are not numbers, and the last digit shows a resolution, all of which would cost time here and mislead.
pub fn number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start_matches([' ', '\t']);
    let bytes = text.as_bytes();
    let negative = bytes.first() == Some(&b'-');
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let (mut mantissa, mut count, mut decimals) = (0_u64, 0_u32, 0_usize);
    let (mut point, mut plain) = (false, true);
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                count += 1;
                decimals += usize::from(point);
            }
            b'.' if !point && (count > 0 || bytes.get(end + 1).is_some_and(u8::is_ascii_digit)) => {
                point = true
            }
            // Of `0,123` no thousands are grouped.
            b',' if count > 0
                && mantissa > 0
                && !point
                && is_thousand(bytes.get(end + 1..).unwrap_or_default()) =>
            {
                plain = false
            }
            b'e' | b'E' if count > 0 && exponent(bytes.get(end + 1..).unwrap_or_default()) => {
                plain = false;
                end += 2;
                while bytes.get(end).is_some_and(u8::is_ascii_digit) {
                    end += 1;
                }
                break;
            }
            _ => break,
        }
        end += 1;
    }
    if count == 0 {
        return None;
    }
    let written = text.get(..end)?;
    let written = written.strip_suffix('.').unwrap_or(written);
    let rest = text.get(written.len()..)?;
    if let (true, true, Some(power)) = (plain, count <= 15, POWERS.get(decimals)) {
        let value = mantissa as f64 / power;
        return Some((if negative { -value } else { value }, rest));
    }
    let value: f64 = written.replace(',', "").parse().ok()?;
    value.is_finite().then_some((value, rest))
}

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// A comma groups thousands when exactly three digits follow it.
fn is_thousand(rest: &[u8]) -> bool {
    rest.len() >= 3
        && rest.iter().take(3).all(u8::is_ascii_digit)
        && !rest.get(3).is_some_and(u8::is_ascii_digit)
}

fn exponent(rest: &[u8]) -> bool {
    match rest {
        [b'+' | b'-', digit, ..] | [digit, ..] => digit.is_ascii_digit(),
        [] => false,
    }
}

/// The number right after a key: `number_after("Rate=12.5 samples", "Rate=")` is 12.5. Quotes, blanks, a colon or an
/// equals sign between key and number are passed over.
pub fn number_after(text: &str, key: &str) -> Option<f64> {
    let rest = after(text, key)?;
    number(rest.trim_start_matches([' ', '\t', ':', '=', '"', '\'', '('])).map(|(value, _)| value)
}

/// The text after the first occurrence of a key.
pub fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let place = memchr::memmem::find(text.as_bytes(), key.as_bytes())?;
    text.get(place + key.len()..)
}

/// The text between two marks.
pub fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let rest = after(text, open)?;
    rest.get(..memchr::memmem::find(rest.as_bytes(), close.as_bytes())?)
}

/// The first word of a text, after blanks.
pub fn word(text: &str) -> &str {
    text.trim_start().split([' ', '\t', ',', ';']).next().unwrap_or_default()
}

/// Seconds of `1:02:03`, `02:03`, `1-00:00:00` (days first, as Slurm writes them) or a plain number of seconds.
pub fn clock_seconds(text: &str) -> Option<f64> {
    let text = text.trim_ascii();
    let (days, rest) = match memchr::memchr(b'-', text.as_bytes()) {
        Some(place) => (text.get(..place)?.parse::<f64>().ok()?, text.get(place + 1..)?),
        None => (0.0, text),
    };
    let mut seconds = 0.0;
    let (mut parts, mut rest) = (0, rest);
    loop {
        let (part, behind) =
            number(rest).filter(|_| rest.as_bytes().first().is_some_and(u8::is_ascii_digit))?;
        seconds = seconds * 60.0 + part;
        parts += 1;
        match behind.strip_prefix(':') {
            Some(next) if parts < 3 => rest = next,
            _ => return behind.is_empty().then_some(days * 86_400.0 + seconds),
        }
    }
}

/// The pairs of a flat Python dictionary or JSON object within a text: names without quotes, values as written
/// without quotes. Nested braces and brackets are kept whole as one value. None without an opening brace.
pub fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let body = text.get(text.find('{')? + 1..)?;
    let mut found = Vec::new();
    let (mut depth, mut quote, mut from) = (0_u32, None, 0);
    for (place, letter) in body.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '{' | '[' | '(') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, '}') if depth > 0 => depth -= 1,
            (None, ',' | '}') if depth == 0 => {
                found.extend(body.get(from..place).and_then(pair));
                from = place + 1;
                if letter == '}' {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    // A dictionary that was cut off: what is complete counts.
    Some(found)
}

fn pair(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    Some((unquoted(name), unquoted(value)))
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['\'', '"']).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_logs_write_them() {
        for (text, value, rest) in [
            ("12.5 samples", 12.5, " samples"),
            ("1,071.2 ± 3", 1071.2, " ± 3"),
            ("5, 6", 5.0, ", 6"),
            ("1,2", 1.0, ",2"),
            ("8.1E+00|", 8.1, "|"),
            ("-3e", -3.0, "e"),
            ("7.", 7.0, "."),
            (" 12,345,678", 12_345_678.0, ""),
        ] {
            assert_eq!(number(text), Some((value, rest)), "{text}");
        }
        for text in ["", "-", "--", "nan", "inf", ".", "e5"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn values_after_keys() {
        assert_eq!(number_after("a Rate=12.5 x", "Rate="), Some(12.5));
        assert_eq!(number_after("'loss': '2.31',", "'loss'"), Some(2.31));
        assert_eq!(between("a (b) c", "(", ")"), Some("b"));
    }

    #[test]
    fn clocks_are_seconds() {
        assert_eq!(clock_seconds("01:02:03"), Some(3723.0));
        assert_eq!(clock_seconds("1-00:00:01"), Some(86_401.0));
        assert_eq!(clock_seconds("02:03.5"), Some(123.5));
        assert_eq!(clock_seconds("?"), None);
    }

    #[test]
    fn dictionaries_with_quotes_and_nesting() {
        let found = pairs("x {'loss': 2.31, \"rate\": '3,5', 'list': [1, 2], 'in': {'a': 1}} y").unwrap();
        assert_eq!(found, [("loss", "2.31"), ("rate", "3,5"), ("list", "[1, 2]"), ("in", "{'a': 1}")]);
        assert_eq!(pairs("{'a': 1, 'b': 2"), Some(vec![("a", "1")]));
        assert_eq!(pairs("no braces"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in ".{0,80}") {
            let _ = (number(&text), pairs(&text), clock_seconds(&text), number_after(&text, "a"), between(&text, "a", "b"));
        }

        #[test]
        fn a_printed_number_is_read_back(value in -1e12f64..1e12) {
            let text = format!("{value:?} x");
            prop_assert_eq!(number(&text), Some((value, " x")));
        }
    }
}
