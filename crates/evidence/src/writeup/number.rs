//! Numbers as people write them: `8,615`, `174.285041622`, `1e-3`, `1.2 × 10^3`, `−0.5`. Those of programs are read by
//! `text::number`, which is fast, passes over blanks, and takes what stands first: `2.6` of `2.6.0`.

/// A number at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// The number; always finite.
    pub value: f64,
    /// What one unit in its last written digit is worth.
    pub resolution: f64,
    /// How many bytes of the text it takes.
    pub length: usize,
}

/// Reads the number that a text begins with. Versions (`2.6.0`) and numbers with commas that part something else
/// than thousands are none.
pub fn leading_number(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    let (sign, mut at) = sign(text);
    let mut digits = String::new();
    at = integer_part(bytes, at, &mut digits);
    let whole_digits = digits.len();
    let mut decimals = 0_i32;
    if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        digits.push('.');
        at += 1;
        while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
            digits.push(char::from(*digit));
            decimals = decimals.saturating_add(1);
            at += 1;
        }
        if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            return None;
        }
    }
    if whole_digits == 0 && decimals == 0 {
        return None;
    }
    if bytes.get(at) == Some(&b',')
        && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        && comma_is_odd(bytes, at)
    {
        return None;
    }
    let (exponent, at) = exponent(text, at);
    let mantissa: f64 = digits.parse().ok()?;
    let power = 10_f64.powi(exponent);
    // A power of ten that is not an exact binary number is best applied by the parser itself.
    let value: f64 = format!("{digits}e{exponent}").parse().unwrap_or(mantissa * power);
    let resolution = 10_f64.powi(exponent.saturating_sub(decimals));
    (value.is_finite() && resolution.is_finite()).then_some(Number {
        value: sign * value,
        resolution,
        length: at,
    })
}

/// Scales a number from a written unit to its base unit. A power of ten moves the decimal point, so that `98.05%` is
/// the same number as `0.9805`; multiplying would be off in the last digit.
pub fn scaled(value: f64, factor: f64) -> f64 {
    let power = factor.log10().round();
    let is_power_of_ten =
        factor > 0.0 && power.abs() < 300.0 && (10_f64.powi(power as i32) / factor - 1.0).abs() < 1e-12;
    if !is_power_of_ten || power == 0.0 {
        return value * factor;
    }
    let text = format!("{value:e}");
    let moved = text.split_once('e').and_then(|(digits, exponent)| {
        let exponent: i64 = exponent.parse().ok()?;
        format!("{digits}e{}", exponent + power as i64).parse().ok()
    });
    moved.unwrap_or(value * factor)
}

fn sign(text: &str) -> (f64, usize) {
    match text.chars().next() {
        Some('-') => (-1.0, 1),
        Some('\u{2212}') => (-1.0, '\u{2212}'.len_utf8()),
        Some('+') => (1.0, 1),
        _ => (1.0, 0),
    }
}

/// Digits, with commas where they part thousands.
fn integer_part(bytes: &[u8], mut at: usize, digits: &mut String) -> usize {
    while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
        digits.push(char::from(*digit));
        at += 1;
    }
    let groups_are_possible = (1..=3).contains(&digits.len());
    while groups_are_possible && bytes.get(at) == Some(&b',') && thousands_follow(bytes, at + 1) {
        for offset in 1..=3 {
            if let Some(digit) = bytes.get(at + offset) {
                digits.push(char::from(*digit));
            }
        }
        at += 4;
    }
    at
}

fn thousands_follow(bytes: &[u8], at: usize) -> bool {
    (0..3).all(|offset| bytes.get(at + offset).is_some_and(u8::is_ascii_digit))
        && !bytes.get(at + 3).is_some_and(u8::is_ascii_digit)
}

/// Whether a comma with digits on both sides parts neither thousands nor the items of a tight list: `3,07`.
fn comma_is_odd(bytes: &[u8], at: usize) -> bool {
    let run = bytes.get(at..).unwrap_or_default().iter();
    let commas = run.take_while(|byte| byte.is_ascii_digit() || **byte == b',').filter(|byte| **byte == b',');
    // A list may be as long as a file, and is looked at from each of its numbers.
    commas.take(2).count() == 1
}

/// An exponent in either way of writing, and where it ends.
fn exponent(text: &str, at: usize) -> (i32, usize) {
    let rest = text.get(at..).unwrap_or_default();
    if let Some(tail) = rest.strip_prefix(['e', 'E'])
        && let Some((power, length)) = signed_integer(tail)
        && !tail.get(length..).and_then(|after| after.chars().next()).is_some_and(char::is_alphanumeric)
    {
        return (power, at + 1 + length);
    }
    let spaced = rest.trim_start_matches(' ');
    if let Some(tail) = spaced.strip_prefix(['×', 'x', '*', '·'])
        && let Some(tail) = tail.trim_start_matches(' ').strip_prefix("10^")
        && let Some((power, length)) = signed_integer(tail.trim_start_matches('{'))
    {
        let braces = tail.len() - tail.trim_start_matches('{').len();
        let end = text.len() - tail.len() + braces + length;
        let closing = usize::from(braces > 0 && text.get(end..).is_some_and(|after| after.starts_with('}')));
        return (power, end + closing);
    }
    (0, at)
}

fn signed_integer(text: &str) -> Option<(i32, usize)> {
    let (sign, start) = sign(text);
    let digits = text.get(start..)?.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 3 {
        return None;
    }
    let number: i32 = text.get(start..start + digits)?.parse().ok()?;
    Some((if sign < 0.0 { -number } else { number }, start + digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Option<(f64, usize)> {
        leading_number(text).map(|number| (number.value, number.length))
    }

    #[test]
    fn many_ways_of_writing_numbers() {
        assert_eq!(value("8,615 s"), Some((8615.0, 5)));
        assert_eq!(value("1,071.25"), Some((1071.25, 8)));
        assert_eq!(value("174.285041622"), Some((174.285041622, 13)));
        assert_eq!(value("1e-3"), Some((0.001, 4)));
        assert_eq!(value("1.5E+06x"), Some((1.5, 3)));
        assert_eq!(value("1.2 × 10^3 s"), Some((1200.0, 11)));
        assert_eq!(value("3x10^{-2}"), Some((0.03, 9)));
        assert_eq!(value("−0.5"), Some((-0.5, 6)));
        assert_eq!(value(".5"), Some((0.5, 2)));
        assert_eq!(value("8, 16, 32"), Some((8.0, 1)));
        assert_eq!(value("5. Next"), Some((5.0, 1)));
        assert_eq!(value("12eV"), Some((12.0, 2)));
    }

    #[test]
    fn what_is_no_number() {
        for text in ["2.6.0", "3,07", "", "-", "e5", "abc", ",5", "1e400"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn scaling_moves_the_decimal_point() {
        assert_eq!(scaled(98.05, 0.01), 0.9805);
        assert_eq!(scaled(250.7, 1e-3), 0.2507);
        assert_eq!(scaled(1.98, 1e9), 1.98e9);
        assert_eq!(scaled(2.0, 60.0), 120.0);
        assert_eq!(scaled(5.0, 1.0), 5.0);
        assert!(scaled(f64::NAN, 0.01).is_nan());
    }

    #[test]
    fn the_last_digit_tells_the_resolution() {
        let resolution = |text| leading_number(text).unwrap().resolution;
        assert_eq!(resolution("97.13"), 0.01);
        assert_eq!(resolution("8,615"), 1.0);
        assert_eq!(resolution("1.2e3"), 100.0);
        assert!((resolution("0.03") - 0.01).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".*", value: f64, factor: f64) {
            let _ = (leading_number(&text), scaled(value, factor));
        }

        #[test]
        fn printed_numbers_read_back(number in -1e12_f64..1e12) {
            for text in [format!("{number}"), format!("{number:e}"), format!("{number:.3}")] {
                let read = leading_number(&text).unwrap();
                prop_assert_eq!(read.length, text.len());
                prop_assert!((read.value - number).abs() <= read.resolution.max(number.abs() * 1e-15));
            }
        }
    }
}
