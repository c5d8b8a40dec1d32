//! Numbers with what belongs to them: percentages, units, counters.

use assay_model::Unit;

use super::times::{clock, span, stamp};
use super::{Cutter, NumberToken, TokenKind};
use crate::text::number;
use crate::vocabulary::PrintedUnit;

/// The word behind a number that says which value of a distribution is meant.
const PERCENTILE: &str = " percentile";

impl Cutter<'_> {
    pub(super) fn number(&mut self, gap: usize) {
        let at = self.at;
        // `99.90 percentile latency`: the number is a part of the name.
        let digits = self.while_char(at, |letter| letter.is_ascii_digit() || letter == '.');
        if self.text.get(digits..).is_some_and(|rest| rest.starts_with(PERCENTILE)) {
            return self.push(TokenKind::Word, digits + PERCENTILE.len(), gap);
        }
        // `95thPercentileLatency(us)` is a name.
        let ordinal = self.text.get(digits..).is_some_and(|rest| rest.starts_with("th"));
        if ordinal && self.byte(digits + 2).is_ascii_uppercase() {
            return self.word(gap);
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
        let decimal = if whole { self.decimal_comma(at, end) } else { None };
        // `GPUs: 0,1` and `= 6,02`: a list or decimals, nobody knows.
        let listed =
            whole && decimal.is_none() && self.byte(end) == b',' && self.byte(end + 1).is_ascii_digit();
        if listed {
            let end = self.while_char(end, |letter| letter.is_ascii_digit() || matches!(letter, ',' | '.'));
            return self.push(TokenKind::Opaque, end, gap);
        }
        let (value, whole, comma, end, rest) = match decimal {
            Some((value, end)) => (value, false, true, end, self.text.get(end..).unwrap_or_default()),
            None => (value, whole, false, end, rest),
        };
        if let Some(close) = self.interval(value, end) {
            return self.push(TokenKind::Opaque, close, gap);
        }
        if whole && let Some((counter, length)) = counter(value, rest) {
            return self.push(counter, end + length, gap);
        }
        let next = self.byte(end);
        let behind = self.byte(end + 1);
        // Versions, ranges, identifiers: `2.9.0`, `60-120s`, `3_a`.
        if (matches!(next, b'.' | b'-' | b'+') && behind.is_ascii_alphanumeric())
            || matches!(next, b'_' | b'@' | b'\\' | b'^')
            || (next == b'/' && behind.is_ascii_digit())
        {
            let end = self.while_char(end, |letter| letter.is_alphanumeric() || "._-+/@\\^".contains(letter));
            return self.push(TokenKind::Opaque, end, gap);
        }
        let (mut token, mut end) = (NumberToken { value, whole, comma, unit: None, suffix: None }, end);
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
        // `0.350s / iter`.
        if let Some(thing) = self.text.get(end..).and_then(|rest| rest.strip_prefix(" / ")) {
            let length = thing.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(thing.len());
            let time =
                token.unit.as_ref().is_some_and(|unit| unit.unit == Unit::Seconds && unit.per.is_none());
            let per = thing.get(..length).and_then(|thing| PrintedUnit::parse(&format!("s/{thing}")));
            if let (Some(unit), Some(per)) =
                (token.unit.as_mut().filter(|_| time), per.and_then(|unit| unit.per))
            {
                unit.per = Some(per);
                end += length + 3;
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

    /// The value and the end of a number whose decimals stand behind a comma: `0,6931`, `12,3 s`. A comma that nothing
    /// shows to be one of decimals parts two numbers.
    fn decimal_comma(&self, at: usize, end: usize) -> Option<(f64, usize)> {
        let before = at.checked_sub(1).map_or(b' ', |before| self.byte(before));
        if self.byte(end) != b',' || before == b',' {
            return None;
        }
        let close = self.while_char(end + 1, |letter| letter.is_ascii_digit());
        let (decimals, next) = (close - end - 1, self.byte(close));
        let goes_on = matches!(next, b',' | b'.' | b'_' | b'-' | b':' | b'/');
        if decimals == 0 || goes_on && self.byte(close + 1).is_ascii_alphanumeric() {
            return None;
        }
        let written = self.text.get(at..close)?;
        let below_one = written.trim_start_matches(['-', '+']).starts_with("0,");
        let has_unit = || {
            next == b'%'
                || self.glued(close).is_some_and(|(unit, ..)| unit.is_some())
                || self.unit_behind(close).is_some()
        };
        if decimals >= 4 || below_one && decimals >= 2 || has_unit() {
            return Some((written.replace(',', ".").parse().ok()?, close));
        }
        None
    }

    /// The end of a span of time that a row is about: `0.0- 1.0 sec`.
    fn interval(&self, low: f64, end: usize) -> Option<usize> {
        let behind = self.text.get(end..)?.strip_prefix('-')?.trim_start_matches(' ');
        let (high, rest) =
            number(behind).filter(|_| behind.starts_with(|first: char| first.is_ascii_digit()))?;
        let rest = rest.trim_start_matches(' ');
        let length = rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(rest.len());
        let unit = PrintedUnit::parse(rest.get(..length)?)?;
        (high > low && unit.unit == Unit::Seconds && unit.per.is_none())
            .then(|| self.text.len() - rest.len() + length)
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
            let following = rest.get(end..)?.strip_prefix(' ');
            let following = following
                .filter(|text| text.starts_with(|first: char| first.is_ascii_digit()))
                .and_then(number);
            let bare = following.is_some_and(|(_, tail)| {
                let word = tail.trim_start_matches(' ').split([' ', ',', ';', ']', ')']).next();
                PrintedUnit::parse(word.unwrap_or_default()).is_none()
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
pub(in crate::generic) fn scale_of(letter: u8) -> f64 {
    match letter {
        b'k' | b'K' => 1e3,
        b'M' => 1e6,
        b'G' | b'B' => 1e9,
        b'T' => 1e12,
        _ => 1.0,
    }
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
