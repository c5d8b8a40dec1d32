//! One cell of a table.

use crate::interval::Interval;
use crate::quantity::{leading_duration, leading_number};
use crate::unit::{Unit, leading_unit};

/// A number in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The value in base units.
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub written: f64,
    pub unit: Unit,
    pub text: String,
    pub line: u64,
    /// The number behind `±` or in brackets, in base units.
    pub spread: Option<f64>,
}

impl Cell {
    /// Reads a cell: a sign, a number, a unit, a spread, and nothing else.
    pub fn read(text: &str, column: &Unit, line: u64) -> Option<Cell> {
        let body = text.trim().trim_end_matches(['*', '†', '‡', '!']).trim();
        let (body, currency) = strip_currency(body);
        let (body, sign) = strip_sign(body);
        if let Some((seconds, half)) = clocked(body) {
            let unit = leading_unit("s").map(|(unit, _)| unit)?;
            let value = sign * seconds;
            let text = text.trim().to_owned();
            let (low, high) = (value - half, value + half);
            return Some(Cell { value, low, high, written: value, unit, text, line, spread: None });
        }
        let number = leading_number(body)?;
        let rest = body.get(number.length..).unwrap_or_default();
        let glued = rest.starts_with(char::is_alphabetic);
        if rest.starts_with(':') || rest.starts_with('/') && number.length > 2 {
            return None;
        }
        let (own, after) = match leading_unit(rest) {
            Some((unit, length)) if !glued || !unit.is_count() || unit.scale != 1.0 || unit.is_relative() => {
                (Some(unit), rest.get(length..).unwrap_or_default())
            }
            Some(_) if glued => return None,
            _ => (None, rest),
        };
        let mut after = after.trim();
        let spread = spread(after);
        if let Some((_, length)) = spread {
            after = after.get(length..).unwrap_or_default().trim();
        }
        let mut unit = own.or(currency);
        if unit.is_none()
            && let Some((behind, length)) = leading_unit(after).filter(|_| spread.is_some())
        {
            unit = Some(behind);
            after = after.get(length..).unwrap_or_default().trim();
        }
        let is_note = after.starts_with('(') && after.ends_with(')');
        if !(after.is_empty() || is_note) {
            return None;
        }
        let unit = match unit {
            Some(unit) if unit.is_none() && unit.scale != 1.0 => {
                Unit { scale: unit.scale * column.scale.max(f64::MIN_POSITIVE), ..column.clone() }
            }
            Some(unit) => unit,
            None => column.clone(),
        };
        let scale = if unit.scale == 0.0 { 1.0 } else { unit.scale };
        let half = 0.5 * number.step;
        Some(Cell {
            value: sign * number.value * scale,
            low: (sign * number.value - half) * scale,
            high: (sign * number.value + half) * scale,
            written: sign * number.value,
            unit,
            text: text.trim().to_owned(),
            line,
            spread: spread.map(|(spread, _)| spread * scale),
        })
    }

    /// Whether people choose such numbers: small ones, and few steps of two or ten. 1,840 is counted, 2,048 chosen.
    pub fn is_chosen(&self) -> bool {
        if !self.is_plain_integer() || !(0.0..1e15).contains(&self.written) {
            return false;
        }
        let rest = |mut value: f64, step: f64| {
            while value >= step && value % step == 0.0 {
                value /= step;
            }
            value
        };
        self.written <= 32.0 || rest(self.written, 2.0) <= 15.0 || rest(self.written, 10.0) <= 15.0
    }

    /// Makes an amount of money one for each of a unit: `$0.978` under `price per hour`.
    pub fn divide(&mut self, by: &Unit) {
        if !(self.unit.has("money") && self.unit.counts_nothing() && !self.unit.has("s")) {
            return;
        }
        let factor = 1.0 / by.factor();
        self.unit = self.unit.over(by);
        (self.value, self.low, self.high) = (self.value * factor, self.low * factor, self.high * factor);
    }

    /// Whether it carries the mark of a footnote, which says something about it that the number does not.
    pub fn has_note(&self) -> bool {
        self.text.ends_with(['*', '†', '‡'])
    }

    pub fn make_exact(&mut self) {
        (self.low, self.high) = (self.value, self.value);
    }

    pub fn interval(&self) -> Interval {
        Interval::new(self.low, self.high)
    }

    pub fn is_plain_integer(&self) -> bool {
        self.written.fract() == 0.0
            && !self.text.contains('.')
            && !self.unit.is_relative()
            && self.spread.is_none()
    }
}

/// `4:51:05` in seconds, with half of what its seconds resolve.
fn stopwatch(text: &str) -> Option<(f64, f64)> {
    let [hours, minutes, seconds] = *text.split(':').collect::<Vec<_>>().as_slice() else { return None };
    let whole = |part: &str| part.parse::<u32>().ok().map(f64::from);
    let sixtieth = |part: &&str| part.as_bytes().get(..2).is_some_and(|digits| digits[0] < b'6');
    let number = leading_number(seconds).filter(|number| number.length == seconds.len())?;
    let parts = [minutes, seconds].iter().all(sixtieth) && minutes.len() == 2;
    parts.then_some(())?;
    Some((whole(hours)? * 3600.0 + whole(minutes)? * 60.0 + number.value, 0.5 * number.step))
}

/// A duration of several parts, `1 h 05 min`, `3 m 05 s` or `4:51:05`, in seconds, with half of what its last part resolves.
fn clocked(text: &str) -> Option<(f64, f64)> {
    if let Some(found) = stopwatch(text) {
        return Some(found);
    }
    let found = leading_duration(text).filter(|found| found.length == text.len())?;
    Some((found.seconds, found.half_step))
}

/// Whether a cell says that there is nothing.
pub(super) fn is_empty(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.chars().all(|one| "-–—/?.".contains(one)) || text.eq_ignore_ascii_case("n/a")
}

pub(super) fn leads_with_number(text: &str) -> bool {
    let (text, _) = strip_currency(text.trim());
    strip_sign(text).0.starts_with(|one: char| one.is_ascii_digit())
        && Cell::read(text, &Unit::none(), 0).is_some()
}

fn strip_currency(text: &str) -> (&str, Option<Unit>) {
    match text.strip_prefix(['$', '€', '£']) {
        Some(rest) => (rest.trim_start(), leading_unit("$").map(|(unit, _)| unit)),
        None => (text, None),
    }
}

fn strip_sign(text: &str) -> (&str, f64) {
    let text = text.trim_start_matches(['~', '≈', '<', '>', '≤', '≥']).trim_start();
    match text.chars().next() {
        Some('-' | '−') => {
            (text.get(text.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default().trim_start(), -1.0)
        }
        Some('+') => (text.get(1..).unwrap_or_default().trim_start(), 1.0),
        _ => (text, 1.0),
    }
}

/// The spread behind a number and its length: `± 0.1`, `(1.1)`.
fn spread(text: &str) -> Option<(f64, usize)> {
    for sign in ["±", "+/-", "+-"] {
        if let Some(rest) = text.strip_prefix(sign) {
            let trimmed = rest.trim_start();
            let number = leading_number(trimmed)?;
            return Some((number.value, text.len() - trimmed.len() + number.length));
        }
    }
    let inner = text.strip_prefix('(')?;
    let number = leading_number(inner)?;
    let closes = inner.get(number.length..)?.starts_with(')');
    closes.then_some((number.value, 1 + number.length + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_several_parts_are_seconds() {
        let read = |text: &str| Cell::read(text, &Unit::none(), 1).map(|cell| cell.value);
        assert_eq!(read("4:51:05"), Some(17_465.0));
        assert_eq!(read("3 m 05 s"), Some(185.0));
        assert_eq!(read("4:61:05"), None);
        assert_eq!(read("4:51"), None);
    }
}
