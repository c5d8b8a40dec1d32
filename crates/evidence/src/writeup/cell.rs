//! One cell of a table: the number in it, its unit, and what is wrong with it.

use assay_model::Unit;

use super::markup::plain;
use super::number::{leading_number, scaled};
use super::units::{leading_unit, times, unit_of};

/// What a cell holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellParts {
    /// The text, without mark-up.
    pub text: String,
    /// The number, in its base unit.
    pub value: Option<f64>,
    /// The unit, by the cell or else by the header.
    pub unit: Option<Unit>,
    /// Whether the cell itself shows the unit.
    pub unit_told: bool,
    /// What is wrong with it, if a number is due.
    pub problem: Option<String>,
    /// What one unit in the last written digit is worth, in the base unit.
    pub resolution: Option<f64>,
    /// The number behind `±`, in the base unit.
    pub spread: Option<f64>,
    /// Out of how many, for a cell such as `10/10`.
    pub out_of: Option<f64>,
}

/// Reads a cell. `header_unit` is the unit that the header shows, with its factor to the base unit.
pub fn cell(text: &str, header_unit: Option<&(Unit, f64)>) -> CellParts {
    let text = plain(text);
    let reader = Reader { text: &text, header_unit };
    let mut parts = match reader.missing() {
        Some(problem) => CellParts { problem, ..CellParts::default() },
        None => reader
            .share()
            .or_else(|| reader.clock())
            .or_else(|| reader.spelt_duration())
            .unwrap_or_else(|| reader.number()),
    };
    parts.text = text;
    parts
}

/// The numbers of a cell that lists three or more of them, in their base unit: `18.6, 19.8, 23.4`.
pub fn list(text: &str, header_unit: Option<&(Unit, f64)>) -> Option<Vec<f64>> {
    let text = plain(text);
    let separator = if text.contains(';') { ";" } else { ", " };
    if !text.contains(separator) || text.len() > LONGEST_LIST {
        return None;
    }
    let bare = text.trim().trim_matches(['[', ']', '(', ')', ' ']);
    let pieces = bare.split(separator).map(str::trim);
    let is_number = |piece: &str| leading_number(piece).is_some_and(|number| number.length == piece.len());
    let numbers: Option<Vec<f64>> =
        pieces.map(|piece| cell(piece, header_unit).value.filter(|_| is_number(piece))).collect();
    numbers.filter(|numbers| numbers.len() >= 3)
}

/// What one unit in the last written digit of a number is worth, in its base unit: 0.0001 for `97.13%`.
pub fn written_resolution(text: &str) -> Option<f64> {
    cell(text, None).resolution
}

/// How long a cell may be that lists numbers.
const LONGEST_LIST: usize = 4096;

struct Reader<'a> {
    text: &'a str,
    header_unit: Option<&'a (Unit, f64)>,
}

impl Reader<'_> {
    /// Whether the cell says that there is no number; the inner value shows what is wrong with that. A dash says that
    /// no number is due.
    fn missing(&self) -> Option<Option<String>> {
        let problem = match self.text.to_lowercase().trim_end_matches('.') {
            "-" | "--" | "---" | "–" | "—" | "n/a" | "na" | "n.a" | "none" | "null" | "not applicable" => {
                None
            }
            "" => Some("empty".to_owned()),
            "oom" | "out of memory" => Some(format!("`{}`: out of memory instead of a number", self.text)),
            "nan" | "inf" | "-inf" | "+inf" | "infinity" | "∞" => {
                Some(format!("`{}` is not a finite number", self.text))
            }
            "tbd" | "tba" | "todo" | "?" | "??" | "???" | "pending" | "missing" | "unknown" | "…" | "..."
            | "xx" | "xxx" => Some(format!("`{}` instead of a number", self.text)),
            _ => return None,
        };
        Some(problem)
    }

    /// `10/10 (100%)`, and `9/10` where a share is due.
    fn share(&self) -> Option<CellParts> {
        let (part, whole) = self.text.split_once('/')?;
        let part = whole_number(part)?;
        let (whole, tail) = match whole.split_once('(') {
            Some((whole, tail)) => (whole_number(whole)?, Some(tail)),
            None => (whole_number(whole)?, None),
        };
        let shown_as_percent = tail.is_some_and(|tail| tail.contains('%'));
        let due = self.header_unit.is_some_and(|(unit, _)| *unit == Unit::Fraction);
        if whole < 1.0 || part > whole || !(shown_as_percent || due) {
            return None;
        }
        Some(CellParts {
            value: Some(part / whole),
            unit: Some(Unit::Fraction),
            unit_told: true,
            resolution: Some(1.0 / whole),
            out_of: Some(whole),
            ..CellParts::default()
        })
    }

    /// `0:05:12`, and `05:12` where a time is due.
    fn clock(&self) -> Option<CellParts> {
        let pieces: Vec<&str> = self.text.split(':').collect();
        let due = self.header_unit.is_some_and(|(unit, _)| *unit == Unit::Seconds);
        if !(pieces.len() == 3 || pieces.len() == 2 && due) {
            return None;
        }
        let (last, leading) = pieces.split_last()?;
        let mut total = 0.0;
        for piece in leading {
            total = (total + whole_number(piece)?) * 60.0;
        }
        let seconds =
            leading_number(last).filter(|number| number.length == last.len() && number.value >= 0.0)?;
        if seconds.value >= 60.0 || !last.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        Some(seconds_parts(total + seconds.value, seconds.resolution))
    }

    /// `1h 5m 12s` and `2m30s`.
    fn spelt_duration(&self) -> Option<CellParts> {
        let mut rest = self.text;
        let mut total = 0.0;
        let mut pieces = 0;
        let mut resolution = 1.0;
        while !rest.is_empty() {
            let number = leading_number(rest).filter(|number| number.value >= 0.0)?;
            rest = rest.get(number.length..)?.trim_start();
            let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            let factor = match rest.get(..letters)? {
                "m" => 60.0,
                word => unit_of(word).filter(|(unit, _)| *unit == Unit::Seconds)?.1,
            };
            total += number.value * factor;
            resolution = number.resolution * factor;
            rest = rest.get(letters..)?.trim_start_matches([' ', ',']);
            pieces += 1;
        }
        (pieces >= 2).then(|| seconds_parts(total, resolution))
    }

    /// A number with or without a unit, a spread and remarks.
    fn number(&self) -> CellParts {
        let about = self.text.trim_start_matches(['~', '≈', '$']).trim_start();
        let Some(number) = leading_number(about) else { return self.odd_comma(about) };
        let behind = about.get(number.length..).unwrap_or_default();
        let mut parts = CellParts::default();
        let mut factor = 1.0;
        let mut rest = behind;
        if let Some((unit, scale, length)) = self.unit(behind) {
            rest = behind.get(length..).unwrap_or_default();
            factor = scale;
            parts.unit_told = unit.is_some();
            parts.unit = unit;
        }
        if let Some(problem) = self.trouble(behind, rest, parts.unit.as_ref()) {
            return CellParts { problem, ..CellParts::default() };
        }
        self.take_spread(rest, &mut parts, &mut factor);
        if let (None, Some((unit, scale))) = (&parts.unit, self.header_unit) {
            parts.unit = Some(unit.clone());
            factor *= scale;
        }
        parts.value = Some(scaled(number.value, factor)).filter(|value| value.is_finite());
        parts.resolution = Some(scaled(number.resolution, factor));
        parts.spread = parts.spread.map(|spread| scaled(spread, factor));
        parts
    }

    /// The unit or scale letter behind a number: unit, factor, and its length with the spaces before it.
    fn unit(&self, behind: &str) -> Option<(Option<Unit>, f64, usize)> {
        let spaces = behind.len() - behind.trim_start().len();
        let tail = behind.trim_start();
        let due = self.header_unit.map(|(unit, _)| unit);
        let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
        let may_scale = spaces == 0 && due != Some(&Unit::Bytes) || spaces == 1 && due == Some(&Unit::One);
        if may_scale && letters == 1 {
            let scale = match tail.as_bytes().first() {
                Some(b'm') if due == Some(&Unit::Seconds) => {
                    return Some((Some(Unit::Seconds), 60.0, spaces + 1));
                }
                Some(b'k' | b'K') => Some(1e3),
                Some(b'M' | b'm') => Some(1e6),
                Some(b'B' | b'b' | b'G') => Some(1e9),
                Some(b'T') => Some(1e12),
                _ => None,
            };
            if let Some(scale) = scale {
                // `1.2M samples/s` has a unit behind the scale letter.
                let further = tail.get(1..).unwrap_or_default();
                let gap = further.len() - further.trim_start().len();
                return match leading_unit(further.trim_start()) {
                    Some((unit, factor, length)) if gap > 0 => {
                        Some((Some(unit), scale * factor, spaces + 1 + gap + length))
                    }
                    _ => Some((None, scale, spaces + 1)),
                };
            }
        }
        let (unit, factor, length) = leading_unit(tail)?;
        Some((Some(unit), factor, spaces + length))
    }

    /// What is wrong with the text behind a number: the outer value is there if it makes the number unusable, the inner one
    /// if that is a mistake.
    fn trouble(&self, behind: &str, rest: &str, unit: Option<&Unit>) -> Option<Option<String>> {
        if unit == Some(&times()) {
            return None;
        }
        if behind.starts_with(char::is_alphabetic) && unit.is_none() && rest.len() == behind.len() {
            let word: String = behind.chars().take_while(|character| character.is_alphabetic()).collect();
            return Some(Some(self.glued(&word)));
        }
        let rest = rest.trim();
        if unit.is_none()
            && let Some(problem) = self.misspelt_quotient(rest)
        {
            return Some(Some(problem));
        }
        if let Some(problem) = self.letters_behind_spread(rest) {
            return Some(Some(problem));
        }
        let harmless = rest.is_empty()
            || rest
                .starts_with(['(', '[', '±', '*', '†', '‡', '^', '✓', '✗', '←', '→', '↑', '↓', '⭐', '🏆'])
            || rest.starts_with("+/-")
            || rest.starts_with("+-");
        if harmless {
            return None;
        }
        // A few words without digits are a remark; anything else is not one number.
        let remark = rest.split_whitespace().count() <= 4
            && rest.starts_with(|first: char| first.is_alphabetic() || first == ',')
            && !rest.bytes().any(|byte| byte.is_ascii_digit());
        if remark { None } else { Some(None) }
    }

    fn glued(&self, word: &str) -> String {
        let ends = word.char_indices().skip(1).map(|(at, _)| at).collect::<Vec<_>>();
        for end in ends.into_iter().rev() {
            let (unit, extra) = word.split_at(end);
            if unit_of(unit).is_some() {
                return format!("letters `{extra}` behind the unit in `{}`", self.text);
            }
        }
        format!("letters `{word}` behind the number in `{}`", self.text)
    }

    /// `12.5 tokens/seca`: a quotient that is a unit but for a letter or two at its end.
    fn misspelt_quotient(&self, rest: &str) -> Option<String> {
        let word = rest.split_whitespace().next().filter(|word| word.contains('/'))?;
        let ends: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
        let shorter = ends.into_iter().rev().take(2).filter_map(|end| word.split_at_checked(end));
        let all_letters = |extra: &str| extra.chars().all(char::is_alphabetic);
        let (_, extra) = shorter
            .into_iter()
            .find(|(unit, extra)| all_letters(extra) && unit.contains('/') && unit_of(unit).is_some())?;
        Some(format!("letters `{extra}` behind the unit in `{}`", self.text))
    }

    /// `31.49 ± 0.07a`: letters that are no unit, glued to the spread.
    fn letters_behind_spread(&self, rest: &str) -> Option<String> {
        let tail = ["±", "+/-", "+-"].iter().find_map(|mark| rest.strip_prefix(mark))?.trim_start();
        let behind = tail.get(leading_number(tail)?.length..)?;
        let word: String = behind.chars().take_while(|character| character.is_alphabetic()).collect();
        let is_wrong = !word.is_empty() && leading_unit(behind).is_none() && !"kMGBT".contains(&word);
        is_wrong.then(|| self.glued(&word))
    }

    fn take_spread(&self, rest: &str, parts: &mut CellParts, factor: &mut f64) {
        let rest = rest.trim_start().trim_start_matches('(').trim_start();
        let tail = ["±", "+/-", "+-"].iter().find_map(|mark| rest.strip_prefix(mark)).map(str::trim_start);
        let Some((tail, spread)) = tail.and_then(|tail| leading_number(tail).map(|number| (tail, number)))
        else {
            return;
        };
        parts.spread = Some(spread.value);
        // `1.2 ± 0.3 ms`: the unit behind the spread is that of both.
        if parts.unit.is_none()
            && let Some((unit, scale, _)) =
                leading_unit(tail.get(spread.length..).unwrap_or_default().trim_start())
        {
            parts.unit = Some(unit);
            parts.unit_told = true;
            *factor *= scale;
        }
    }

    fn odd_comma(&self, about: &str) -> CellParts {
        let digits = about.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b',').count();
        let odd = about.get(..digits).is_some_and(|head| {
            head.starts_with(|first: char| first.is_ascii_digit())
                && head.split_once(',').is_some_and(|(_, tail)| !tail.is_empty() && !tail.contains(','))
        });
        let problem = odd.then(|| format!("the comma in `{}` does not part thousands", self.text));
        CellParts { problem, ..CellParts::default() }
    }
}

fn seconds_parts(value: f64, resolution: f64) -> CellParts {
    CellParts {
        value: Some(value),
        unit: Some(Unit::Seconds),
        unit_told: true,
        resolution: Some(resolution),
        ..CellParts::default()
    }
}

fn whole_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = !text.is_empty()
        && text.len() <= 15
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    if digits {
        leading_number(text).filter(|number| number.length == text.len()).map(|number| number.value)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
