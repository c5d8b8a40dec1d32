//! Numbers as people write them.

/// A number at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    pub value: f64,
    /// What one unit in the last written digit is worth.
    pub step: f64,
    /// How many bytes it takes.
    pub length: usize,
    /// Zeros at the end of an integer, which may be rounding.
    zeros: i32,
}

impl Number {
    /// How far the true value may lie from the written one. Zeros at the end of an integer may come from rounding.
    pub fn half_step(&self) -> f64 {
        let rounded = 0.5 * 10_f64.powi(self.zeros) * self.step;
        let most = self.value.abs() * 0.02;
        (0.5 * self.step).max(rounded.min(most))
    }
}

/// Reads the number at the beginning of a text: thousands separators, decimals, exponents.
pub fn leading_number(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    let mut digits = String::new();
    let mut at = 0;
    while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
        digits.push(char::from(*digit));
        at += 1;
    }
    if digits.is_empty() {
        return None;
    }
    at = thousands(text, at, &mut digits);
    let mut decimals = 0_i32;
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if bytes.get(at) == Some(&b'.') && digit(at + 1) {
        at += 1;
        digits.push('.');
        while let Some(next) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
            digits.push(char::from(*next));
            decimals += 1;
            at += 1;
        }
        // A second point makes it a version.
        if bytes.get(at) == Some(&b'.') && digit(at + 1) {
            return None;
        }
    }
    let (power, length) = exponent(text.get(at..).unwrap_or_default());
    let value: f64 = format!("{digits}e{power}").parse().ok()?;
    if !value.is_finite() || decimals > 30 {
        return None;
    }
    let zeros = if decimals == 0 && value != 0.0 {
        i32::try_from(digits.len() - digits.trim_end_matches('0').len()).unwrap_or(0)
    } else {
        0
    };
    Some(Number { value, step: 10_f64.powi(power - decimals), length: at + length, zeros })
}

/// Groups of three digits behind a comma, an apostrophe or a thin space.
fn thousands(text: &str, mut at: usize, digits: &mut String) -> usize {
    if digits.len() > 3 {
        return at;
    }
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(separator) = rest.chars().next().filter(|next| ",' \u{2009}\u{202f}".contains(*next)) else {
            break;
        };
        // Nobody writes a number with a zero in front: `1 024` is one.
        if separator == ' ' && rest.as_bytes().get(1) != Some(&b'0') {
            break;
        }
        let group = &rest.as_bytes()[separator.len_utf8()..];
        let three = group.iter().take_while(|byte| byte.is_ascii_digit()).count() == 3;
        if !three {
            break;
        }
        digits.extend(group.iter().take(3).map(|byte| char::from(*byte)));
        at += separator.len_utf8() + 3;
    }
    at
}

/// The power of ten behind a number, and its length.
fn exponent(rest: &str) -> (i32, usize) {
    let signed = |text: &str| -> Option<(i32, usize)> {
        let body = text.strip_prefix(['+', '-', '−']).unwrap_or(text);
        let sign = text.len() - body.len();
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        let power: i32 = body.get(..digits).filter(|_| (1..=3).contains(&digits))?.parse().ok()?;
        let negative = sign > 0 && !text.starts_with('+');
        Some((if negative { -power } else { power }, sign + digits))
    };
    if let Some(tail) = rest.strip_prefix(['e', 'E'])
        && let Some((power, length)) = signed(tail)
        && !tail.get(length..).is_some_and(|after| after.starts_with(char::is_alphanumeric))
    {
        return (power, 1 + length);
    }
    let spaced = rest.trim_start_matches(' ');
    for sign in ["×", "x", "*", "·", "\\times"] {
        let Some(tail) = spaced.strip_prefix(sign) else { continue };
        let tail = tail.trim_start_matches(' ');
        if let Some(power) = tail.strip_prefix("10^").map(|power| power.trim_start_matches('{'))
            && let Some((value, length)) = signed(power)
        {
            let used = rest.len() - power.len() + length;
            let closing = usize::from(rest.get(used..).is_some_and(|after| after.starts_with('}')));
            return (value, used + closing);
        }
    }
    (0, 0)
}
