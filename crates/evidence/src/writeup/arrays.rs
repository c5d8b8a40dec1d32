//! Arrays that Python programs print: `forward [139.71 139.52 …`, `times = [0.1, 0.2]`, `logits: tensor([[-1.9, 2.1]])`.
//! They run over several lines and say nothing about their unit more often than not.

use assay_model::{Series, Source, Unit, Value, names};

use super::number::scaled;
use super::prose::number_value;
use super::units::{unit_of, unknown};
use super::vocabulary::words::words;
use super::vocabulary::{device, metric_name, other_metric, platform, setting_name, specific_name};
use crate::vocabulary::{MetricKind, Vocabulary};

/// How many values are kept, over all arrays of one reader.
pub const MOST_VALUES: usize = 100_000;
/// How many arrays are kept.
const MOST_ARRAYS: usize = 10_000;
const LONGEST_LABEL: usize = 60;
const LONGEST_NUMBER: usize = 40;

/// One array, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// What stands before it.
    pub label: String,
    /// The canonical name of what it holds.
    pub metric: String,
    /// The unit; an unknown one where the text does not show.
    pub unit: Unit,
    /// The values kept, in the base unit where the unit is known and as written otherwise.
    pub values: Vec<f64>,
    /// How many values were seen.
    pub seen: u64,
    /// The line of its label.
    pub first: u64,
    /// The line it ends on.
    pub last: u64,
    /// Whether its end was seen.
    pub complete: bool,
}

/// Words that number repeats, and so set nothing.
const NUMBERING: [&str; 9] =
    ["run", "trial", "repeat", "rep", "replicate", "attempt", "seed", "rank", "sample"];

impl Array {
    /// The settings that the label gives beside what it measures: `block 16 rate` was taken at a `block` of 16.
    pub fn settings(&self) -> Vec<(String, Value)> {
        let mut found: Vec<(String, Value)> = Vec::new();
        let mut before: Vec<String> = Vec::new();
        let parts = self.label.split([' ', '=', ':', ',', '(', ')']).filter(|part| !part.is_empty());
        for part in parts {
            let Some(number) = part.parse::<f64>().ok().filter(|number| number.is_finite()) else {
                before.extend(words(part));
                continue;
            };
            let phrase = std::mem::take(&mut before).join(" ");
            let measures = metric_name(&phrase).is_some() && setting_name(&phrase).is_none();
            if phrase.is_empty() || measures || NUMBERING.contains(&phrase.as_str()) {
                continue;
            }
            let name = setting_name(&phrase).map_or_else(|| phrase.replace(' ', "_"), str::to_owned);
            found.push((name, number_value(number, part)));
        }
        found
    }

    /// The array as a series.
    pub fn series(&self, file: &str) -> Series {
        Series {
            metric: self.metric.clone(),
            unit: self.unit.clone(),
            values: self.values.clone(),
            seen: self.seen,
            steps: Vec::new(),
            at_s: Vec::new(),
            source: Some(Source::new(file.to_owned(), self.first)),
        }
    }
}

/// Reads printed arrays line by line. One reader may be fed a whole document: it takes the lines that belong to arrays
/// and leaves the others.
#[derive(Debug, Default)]
pub struct Arrays {
    found: Vec<Array>,
    /// Values kept so far.
    kept: usize,
    label: String,
    label_line: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    label: String,
    line: u64,
    last: u64,
    depth: u32,
    number: String,
    values: Vec<f64>,
    /// How many more values may be kept.
    room: usize,
    seen: u64,
    all_whole: bool,
    /// Whether a colon or an equals sign stands before it.
    is_assigned: bool,
}

/// Whether an array with a label may begin on this line.
pub fn starts(text: &str) -> bool {
    let text = text.trim_end();
    if let Some(head) = text.strip_suffix("tensor(").or_else(|| text.strip_suffix("array(")) {
        return is_label(head);
    }
    let Some((head, tail)) = text.split_once('[') else { return false };
    let head = head.trim_end().trim_end_matches("tensor(").trim_end_matches("array(");
    let tail = tail.trim_start_matches(['[', ' ']);
    let first: String = tail.chars().take_while(|character| !matches!(character, ',' | ' ' | ']')).collect();
    is_label(head) && (tail.is_empty() || is_number(&first))
}

/// Up to five words with an equals sign or a colon behind them.
fn is_label(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['{', '(', ' ']).trim_end_matches([':', '=', ' ']);
    let is_name = |character: char| character.is_alphanumeric() || " _-+.()/'\"*`".contains(character);
    text.len() <= LONGEST_LABEL
        && text.starts_with(|first: char| first.is_alphabetic() || "'\"_*`".contains(first))
        && text.chars().all(is_name)
        && text.split_whitespace().count() <= 5
}

fn is_number(text: &str) -> bool {
    let text = text.trim_end_matches('.');
    !text.is_empty() && (text.parse::<f64>().is_ok() || text.eq_ignore_ascii_case("nan") || text == "..")
}

impl Arrays {
    /// Takes the next line. False if the line is not part of an array.
    pub fn push(&mut self, number: u64, text: &str) -> bool {
        if self.open.is_none() && self.label.is_empty() && !starts(text) {
            return false;
        }
        let found = self.found.len();
        let was_open = self.is_open();
        for character in text.chars() {
            let going_on = match self.open.is_some() {
                true => self.inside(character, number),
                false => self.outside(character, number),
            };
            if !going_on {
                self.forget();
                return self.found.len() > found;
            }
        }
        // A sentence that goes on behind its brackets is prose, and so is one whose brackets hold no measurements.
        let is_array = !self.is_prose_behind() && (was_open || self.found.len() > found);
        self.end_line(number) && (is_array || self.is_open())
    }

    fn is_prose_behind(&self) -> bool {
        self.open.is_none() && self.label.split_whitespace().count() >= 2
    }

    /// What looked like an array was none.
    fn forget(&mut self) {
        self.open = None;
        self.label.clear();
        self.label_line = 0;
    }

    fn keep(&mut self, array: Option<Array>) {
        if let Some(array) = array.filter(|_| self.found.len() < MOST_ARRAYS) {
            self.kept += array.values.len();
            self.found.push(array);
        }
    }

    /// Whether the array that is being read goes on in the next line.
    pub fn is_open(&self) -> bool {
        self.open.is_some() || !self.label.is_empty()
    }

    /// The arrays read. One that breaks off counts, and is marked.
    pub fn finish(mut self) -> Vec<Array> {
        if let Some(mut open) = self.open.take() {
            let last = open.last;
            open.close_number();
            let array = open.array(last, false);
            self.keep(array);
        }
        self.found
    }

    fn outside(&mut self, character: char, number: u64) -> bool {
        match character {
            '[' => {
                let label = clean_label(&self.label);
                let is_assigned = self.label.contains([':', '=']);
                if label.is_empty() {
                    return false;
                }
                let line = if self.label_line == 0 { number } else { self.label_line };
                let room = MOST_VALUES.saturating_sub(self.kept);
                self.forget();
                self.open = Some(Open {
                    label,
                    line,
                    last: number,
                    depth: 1,
                    number: String::new(),
                    values: Vec::new(),
                    room,
                    seen: 0,
                    all_whole: true,
                    is_assigned,
                });
            }
            // A bracket that the label opened, as in `time (ms)`, belongs to it.
            ')' if self.label.contains('(') => self.label.push(character),
            ',' | '{' | '}' | ')' | ';' => self.forget(),
            _ => {
                if self.label.is_empty() && !character.is_whitespace() {
                    self.label_line = number;
                }
                if self.label.len() < LONGEST_LABEL * 2
                    && !(self.label.is_empty() && character.is_whitespace())
                {
                    self.label.push(character);
                }
            }
        }
        true
    }

    fn inside(&mut self, character: char, number: u64) -> bool {
        let Some(open) = &mut self.open else { return true };
        match character {
            '[' => {
                open.depth = open.depth.saturating_add(1);
                open.close_number()
            }
            ']' => {
                let fine = open.close_number();
                open.depth -= 1;
                if open.depth == 0
                    && let Some(open) = self.open.take()
                {
                    let array = open.array(number, true);
                    self.keep(array);
                }
                fine
            }
            ',' => open.close_number(),
            _ if character.is_whitespace() => open.close_number(),
            _ => {
                open.number.push(character);
                open.number.len() <= LONGEST_NUMBER
            }
        }
    }

    /// A label goes on in the next line only where it opens something.
    fn end_line(&mut self, number: u64) -> bool {
        if let Some(open) = &mut self.open {
            open.last = number;
            let fine = open.close_number();
            if !fine {
                self.forget();
            }
            return fine;
        }
        let label = self.label.trim_end();
        if !(label.ends_with('(') || label.ends_with('=') || label.ends_with(':')) {
            self.take_unit_behind(number);
            self.forget();
        }
        true
    }

    /// `[1.2 3.4] ms`: the unit stands behind the last bracket.
    fn take_unit_behind(&mut self, number: u64) {
        let behind = unit_of(self.label.trim());
        if let (Some((unit @ Unit::Seconds, factor)), Some(array)) = (behind, self.found.last_mut())
            && array.last == number
            && array.unit == unknown()
        {
            array.unit = unit;
            array.values.iter_mut().for_each(|value| *value = scaled(*value, factor));
        }
    }
}

impl Open {
    /// Ends a number. False if it was none.
    fn close_number(&mut self) -> bool {
        if self.number.is_empty() {
            return true;
        }
        let text = std::mem::take(&mut self.number);
        if text == "..." {
            return true;
        }
        // numpy prints whole floats as `3.`.
        let Ok(value) = text.trim_end_matches('.').parse::<f64>() else { return false };
        self.seen += 1;
        self.all_whole &= !text.contains(['.', 'e', 'E']) && !text.eq_ignore_ascii_case("nan");
        if value.is_finite() && self.values.len() < self.room {
            self.values.push(value);
        }
        true
    }

    /// The array, if it holds measurements: whole numbers under a label that names no metric are token identifiers,
    /// shapes, or the values of a sweep.
    fn array(self, last: u64, complete: bool) -> Option<Array> {
        let bare = self.label.split(['(', ')']).next().unwrap_or_default();
        let meaning = meaning(&self.label);
        // A bracket behind an unknown word may be a reference: `see [2.5]`.
        let is_doubtful = self.all_whole || !self.is_assigned && self.seen < 3;
        // Weights are not measurements, and a printed tensor without a name may be anything.
        let spoken = words(&self.label);
        let unnamed = matches!(spoken.last().map(String::as_str), Some("array" | "tensor"));
        if unnamed || meaning.is_none() && Vocabulary::current().is_budget(&spoken) {
            return None;
        }
        if self.values.is_empty() || setting_name(bare).is_some() || meaning.is_none() && is_doubtful {
            return None;
        }
        // Numbers under words that nobody knows keep these words.
        let (metric, stated) = meaning.unwrap_or_else(|| (own_name(&self.label), None));
        let has_no_unit =
            matches!(names::unit(&metric), Unit::One | Unit::Fraction) && metric != names::TIMING;
        let (unit, factor) = match stated {
            Some(stated) => stated,
            None if is_share(&metric) && self.values.iter().all(|value| (0.0..=1.0).contains(value)) => {
                (Unit::Fraction, 1.0)
            }
            None if has_no_unit => (names::unit(&metric), 1.0),
            None => (unknown(), 1.0),
        };
        let values = self.values.into_iter().map(|value| scaled(value, factor)).collect();
        Some(Array {
            label: self.label,
            metric,
            unit,
            values,
            seen: self.seen,
            first: self.line,
            last,
            complete,
        })
    }
}

/// What a label says that an array holds, and in which unit.
fn meaning(label: &str) -> Option<(String, Option<(Unit, f64)>)> {
    let words = words(label);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    if has("logit") {
        return Some((names::LOGITS.to_owned(), None));
    }
    if has("probability") || has("prob") || has("softmax") {
        return Some((names::PROBABILITIES.to_owned(), None));
    }
    let stated = metric_name(label).and_then(|word| word.stated());
    if has("backward") || has("bwd") {
        return Some((names::TIME_FORWARD_BACKWARD.to_owned(), stated));
    }
    // `Val Accs: [...]` are not `Test Accs: [...]`.
    let named = Vocabulary::current()
        .metric(label, None)
        .filter(|named| named.split.is_some() && matches!(named.kind, MetricKind::Value | MetricKind::Share));
    if let Some(named) = named {
        let stated = (named.unit != Unit::One).then_some((named.unit.clone(), named.factor));
        return Some((named.name(), stated));
    }
    if let Some(word) = metric_name(label) {
        let is_time = names::unit(word.name) == Unit::Seconds;
        let is_vague = word.name == names::DURATION_REPORTED;
        let name = if is_time && is_vague { names::TIMING.to_owned() } else { specific_name(label, &word) };
        return Some((name, stated));
    }
    if let Some(named) = other_metric(label) {
        let stated = (named.unit != Unit::One).then_some((named.unit.clone(), named.factor));
        return Some((named.name(), stated));
    }
    (has("time") || has("timing") || has("duration") || has("elapsed"))
        .then(|| (names::TIMING.to_owned(), None))
}

fn is_share(metric: &str) -> bool {
    Vocabulary::current().kind(metric) == Some(MetricKind::Share)
}

/// The label's own words; those of a system or of nothing are of times, the one thing that is printed without a name.
fn own_name(label: &str) -> String {
    let words = words(label);
    let named = !words.is_empty() && words.len() <= 4 && platform(label).is_none() && device(label).is_none();
    if named { words.join("_") } else { names::TIMING.to_owned() }
}

/// The label without `tensor(`, quotes, emphasis and the sign that ends it.
fn clean_label(text: &str) -> String {
    let text = text
        .trim()
        .trim_end_matches("tensor(")
        .trim_end_matches("np.array(")
        .trim_end_matches("array(")
        .trim();
    let text = text.trim_end_matches([':', '=', ' ']).trim_matches(['\'', '"', '*', '`', '_', ' ', '>']);
    if text.len() <= LONGEST_LABEL { text.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests;
