//! Numbers as they are written. A number written `3.07` stands for anything from 3.065 to 3.075, and what is computed
//! from such numbers is a range too; two numbers disagree only if their ranges lie apart.

use assay_model::{TableCell, Unit};

/// What a written number, or what is computed from some, can stand for. All three are finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub low: f64,
    pub high: f64,
    /// The number as it is written or computed, which need not be the middle.
    value: f64,
}

impl Range {
    /// A number that is known exactly.
    pub fn exact(value: f64) -> Range {
        Range { low: value, high: value, value }
    }

    /// A number that is known up to `half` on either side.
    pub fn around(value: f64, half: f64) -> Range {
        let half = if half.is_finite() { half.abs() } else { 0.0 };
        Range { low: value - half, high: value + half, value }
    }

    /// All numbers between two.
    pub fn between(low: f64, high: f64) -> Range {
        Range { low, high, value: low / 2.0 + high / 2.0 }
    }

    /// The number as it is written or computed.
    pub fn value(self) -> f64 {
        self.value
    }

    /// Half of its width: half of the last digit of a written number.
    pub fn half(self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }

    /// The product. `None` where it leaves the range of floating-point numbers.
    pub fn times(self, other: Range) -> Option<Range> {
        Range::spanning(
            self.value * other.value,
            &[self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high],
        )
    }

    /// The quotient. `None` where the divisor may be zero.
    pub fn over(self, other: Range) -> Option<Range> {
        if other.low <= 0.0 && other.high >= 0.0 {
            return None;
        }
        Range::spanning(
            self.value / other.value,
            &[self.low / other.low, self.low / other.high, self.high / other.low, self.high / other.high],
        )
    }

    /// The sum.
    pub fn plus(self, other: Range) -> Option<Range> {
        Range::spanning(self.value + other.value, &[self.low + other.low, self.high + other.high])
    }

    /// Whether both can stand for one number. Borders count, with a little room for the error of the arithmetic.
    pub fn meets(self, other: Range) -> bool {
        let room = 1e-12 * self.low.abs().max(self.high.abs()).max(other.low.abs()).max(other.high.abs());
        self.low <= other.high + room && other.low <= self.high + room
    }

    /// Both ends moved outwards by a share of their size.
    pub fn widened(self, share: f64) -> Range {
        Range {
            low: self.low - share * self.low.abs(),
            high: self.high + share * self.high.abs(),
            value: self.value,
        }
    }

    fn spanning(value: f64, ends: &[f64]) -> Option<Range> {
        if !value.is_finite() || ends.iter().any(|end| !end.is_finite()) {
            return None;
        }
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low <= high).then_some(Range { low, high, value })
    }
}

/// What the number of a cell stands for. Settings and whole counts are exact.
pub(super) fn of_cell(cell: &TableCell, is_setting: bool) -> Option<Range> {
    let value = cell.value.filter(|value| value.is_finite())?;
    let counted = matches!(cell.unit, Some(Unit::Count(_)));
    Some(of_text(&cell.text, value, is_setting || counted))
}

/// What `value`, written as `text`, stands for. A whole number that counts something is exact.
pub(super) fn of_text(text: &str, value: f64, counts: bool) -> Range {
    match resolution(text, value) {
        Some((_, true)) if counts => Range::exact(value),
        Some((digit, _)) => Range::around(value, digit / 2.0),
        None if text.contains(':') => Range::around(value, 0.5),
        None => Range::around(value, value.abs() * 1e-9),
    }
}

/// The weight of the last digit of the number in `text` that gives `value`, in the base unit, and whether the number
/// is whole and in its base unit already.
pub(super) fn resolution(text: &str, value: f64) -> Option<(f64, bool)> {
    numbers(text).into_iter().find_map(|(number, digit, whole)| {
        let factor = if number == 0.0 {
            if value != 0.0 {
                return None;
            }
            1.0
        } else {
            value / number
        };
        let size = factor.abs();
        is_scale(size).then_some((digit * size, whole && (size - 1.0).abs() < 1e-9))
    })
}

/// Whether a factor can stand between a written number and its value in the base unit: powers of ten, of 1024, and
/// the minutes and hours.
fn is_scale(factor: f64) -> bool {
    let near = |other: f64| (factor / other - 1.0).abs() < 1e-9;
    (-15..=15).any(|power| near(10f64.powi(power)))
        || (1..=4).any(|power| near(1024f64.powi(power)))
        || near(60.0)
        || near(3600.0)
}

/// The numbers in a text, each with the weight of its last digit and whether it has neither fraction nor exponent.
pub(super) fn numbers(text: &str) -> Vec<(f64, f64, bool)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
            continue;
        }
        let (end, number) = number_at(bytes, at);
        found.extend(number);
        at = end.max(at + 1);
    }
    found
}

/// Reads the unsigned number that begins at `start`, a digit. Gives the place behind it.
fn number_at(bytes: &[u8], start: usize) -> (usize, Option<(f64, f64, bool)>) {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = start;
    let mut plain = String::new();
    let mut decimals = 0;
    let mut has_point = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                plain.push(char::from(*byte));
                decimals += i32::from(has_point);
            }
            b'.' if !has_point && digit(at + 1) => {
                plain.push('.');
                has_point = true;
            }
            b',' if !has_point && (1..=3).all(|ahead| digit(at + ahead)) && !digit(at + 4) => {}
            _ => break,
        }
        at += 1;
    }
    let mut exponent = 0;
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let mut end = at + 1 + signed;
        while digit(end) && end < at + 6 {
            end += 1;
        }
        let text = bytes.get(at + 1..end).and_then(|part| std::str::from_utf8(part).ok());
        if let Some(power) = text.and_then(|text| text.parse::<i32>().ok()) {
            exponent = power;
            plain.push_str(&format!("e{power}"));
            at = end;
        }
    }
    let number = plain.parse::<f64>().ok().filter(|number| number.is_finite());
    let weight = 10f64.powi(exponent.saturating_sub(decimals));
    (at, number.filter(|_| weight.is_finite()).map(|number| (number, weight, !has_point && exponent == 0)))
}

/// The weight of the last digit that any of some values is written with. Values are taken to twelve digits, since a
/// change of unit leaves noise behind them.
pub(super) fn last_digit(values: &[f64]) -> f64 {
    let weight = |value: &f64| {
        let text = format!("{value:.11e}");
        let (digits, exponent) = text.split_once('e')?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.trim_end_matches('0').len());
        Some(10f64.powi(exponent.parse::<i32>().ok()?.saturating_sub(decimals as i32)))
    };
    let present = values.iter().filter(|value| **value != 0.0).filter_map(weight);
    present.fold(1.0, f64::min)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_digit_decides_what_a_number_stands_for() {
        assert_eq!(resolution("3.07× faster", 3.07), Some((0.01, false)));
        assert_eq!(resolution("8,615", 8615.0), Some((1.0, true)));
        let (digit, whole) = resolution("250.7ms", 0.2507).unwrap();
        assert!((digit - 1e-4).abs() < 1e-12 && !whole);
        let (digit, _) = resolution("97.13%", 0.9713).unwrap();
        assert!((digit - 1e-4).abs() < 1e-12);
        let (digit, _) = resolution("1.98B", 1.98e9).unwrap();
        assert!((digit - 1e7).abs() < 1e-3);
        let (digit, _) = resolution("4e-05", 4e-5).unwrap();
        assert!((digit - 1e-5).abs() < 1e-15);
        assert_eq!(resolution("none", 3.0), None);
        assert_eq!(of_text("512000", 512_000.0, true), Range::exact(512_000.0));
    }

    #[test]
    fn values_tell_the_digits_they_were_written_with() {
        let near = |values: &[f64], digit: f64| {
            assert!((last_digit(values) / digit - 1.0).abs() < 1e-9, "{values:?}")
        };
        near(&[0.0167, 0.9833], 1e-4);
        near(&[0.05 * 1e-3, 0.06 * 1e-3], 1e-5);
        near(&[512.0, 1024.0], 1.0);
        near(&[0.0, 0.5], 0.1);
    }

    #[test]
    fn a_quotient_of_written_numbers_is_a_range() {
        let quotient = of_text("4.987s", 4.987, false).over(of_text("1.621s", 1.621, false)).unwrap();
        assert!(quotient.low < 3.0765 && quotient.high > 3.0765);
        assert!(!quotient.meets(of_text("3.07×", 3.07, false)));
        assert!(Range::exact(1.0).over(Range::between(-1.0, 1.0)).is_none());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,60}", value in any::<f64>()) {
            let _ = resolution(&text, value);
            let _ = of_text(&text, value, true);
        }

        #[test]
        fn what_is_printed_is_found_again(value in -1e9f64..1e9, decimals in 0usize..6) {
            let text = format!("{value:.decimals$}");
            let rounded: f64 = text.parse().unwrap();
            let (digit, _) = resolution(&text, rounded).unwrap();
            prop_assert!((digit / 10f64.powi(-(decimals as i32)) - 1.0).abs() < 1e-9);
            prop_assert!(of_text(&text, rounded, false).widened(1e-12).meets(Range::exact(value)));
        }
    }
}
