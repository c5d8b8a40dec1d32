//! Numbers in text: value, the interval that digits and words allow, unit, and whether it is a quantity at all.

mod duration;
mod joined;
mod number;
mod words;

use crate::unit::{Unit, leading_unit};

pub use duration::leading_duration;
pub use number::{Number, leading_number};
pub use words::count_word;

/// A number of a text with what it may mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The value in base units.
    pub value: f64,
    /// The smallest and the largest value that the written digits and words allow.
    pub low: f64,
    pub high: f64,
    /// The number as written, before its unit.
    pub written: f64,
    pub unit: Unit,
    pub text: String,
    /// Where it begins and ends in its text.
    pub start: usize,
    pub end: usize,
    /// Spelled in words: `half`, `eight times`.
    pub in_words: bool,
    /// Hedged: `about`, `nearly`.
    pub hedged: bool,
    /// Bounded on one side only: `more than`, `below`.
    pub bound: Option<Bound>,
    /// A range such as `22-40 %`: any value inside agrees.
    pub range: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Above,
    Below,
}

impl Quantity {
    /// A quantity with the interval of its digits.
    pub fn new(number: &Number, unit: Unit, text: &str, start: usize, end: usize) -> Quantity {
        let scale = if unit.scale == 0.0 { 1.0 } else { unit.scale };
        let half = number.half_step();
        Quantity {
            value: number.value * scale,
            low: (number.value - half) * scale,
            high: (number.value + half) * scale,
            written: number.value,
            unit,
            text: text.to_owned(),
            start,
            end,
            in_words: false,
            hedged: false,
            bound: None,
            range: false,
        }
    }

    pub fn is_integer(&self) -> bool {
        self.written.fract() == 0.0 && !self.text.contains('.')
    }
}

/// The quantities of a text, in order. Numbers in names, versions, dates and references are left out.
pub fn quantities(text: &str) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = Vec::new();
    let mut at = 0;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if character.is_ascii_digit() {
            let (quantity, end) = number_at(text, at);
            found.extend(quantity);
            at = end.max(at + 1);
            continue;
        }
        if character.is_alphabetic() && !before(text, at).is_some_and(char::is_alphanumeric) {
            if let Some(quantity) = words::quantity_at(text, at) {
                at = quantity.end;
                found.push(quantity);
                continue;
            }
            let word =
                text[at..].chars().take_while(|character| character.is_alphanumeric()).map(char::len_utf8);
            at += word.sum::<usize>().max(1);
            continue;
        }
        at += character.len_utf8();
    }
    found = join_ranges(found, text);
    joined::share_units(&mut found, text);
    found.iter_mut().for_each(|quantity| words::hedge(quantity, text));
    found
}

fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at).and_then(|text| text.chars().next_back())
}

/// The quantity whose digits begin at a position, if it is one, and where reading goes on.
fn number_at(text: &str, at: usize) -> (Option<Quantity>, usize) {
    let rest = &text[at..];
    let word_end = || {
        let mut characters = rest.char_indices();
        let skip =
            characters.find(|(_, character)| !(character.is_alphanumeric() || ".,:_'".contains(*character)));
        at + skip.map_or(rest.len(), |(end, _)| end)
    };
    let previous = before(text, at);
    // `H100`, `v3`, `Llama-3-8B`, `_0`, `#571`, `ViT-B/16`.
    let glued = previous.is_some_and(|character| character.is_alphanumeric() || "_#".contains(character))
        || previous.is_some_and(|character| "-/.\u{2011}".contains(character)) && inside_name(text, at);
    if glued {
        return (None, word_end());
    }
    let Some(number) = leading_number(rest) else { return (None, word_end()) };
    let mut end = at + number.length;
    let after = beginning(text.get(end..).unwrap_or_default(), BYTES_BEHIND);
    if is_clock_or_date(text, at, after) {
        return (None, word_end());
    }
    if let Some(duration) = leading_duration(rest) {
        let end = at + duration.length;
        let spelled = text.get(at..end).unwrap_or_default();
        let (value, half) = (duration.seconds, duration.half_step);
        let quantity = Quantity::new(&number, duration.unit, spelled, at, end);
        return (Some(Quantity { value, low: value - half, high: value + half, ..quantity }), end);
    }
    let negative = previous == Some('-') || previous == Some('−');
    let (mut unit, mut length) = unit_behind(after);
    // `seq_len=2048 steps=9600`: the next word is the name of another number.
    if after.get(length..).is_some_and(|rest| rest.starts_with('=')) && unit.is_count() {
        (unit, length) = (Unit::none(), 0);
    }
    // Letters glued to the number that are no unit make a name: `5950X`, `128k-token`.
    let next = after.chars().next();
    if next.is_some_and(char::is_alphabetic) && !glued_unit(after) {
        return (None, word_end());
    }
    if after.starts_with("-fold") {
        end += "-fold".len();
        let unit = Unit { scale: 1.0, times: true, ..Unit::default() };
        return (Some(Quantity::new(&number, unit, text.get(at..end).unwrap_or_default(), at, end)), end);
    }
    if next == Some('-') && after.chars().nth(1).is_some_and(char::is_alphabetic) && unit.is_none() {
        // `16-bit`, `4-bit`, `8-GPU`: a property, not a measurement.
        return (None, word_end());
    }
    let metric = number.step < 1.0 && follows_metric(text, at);
    if unit.is_none() && !metric && names_something(text, at) {
        return (None, end);
    }
    let prefix = currency_before(text, at);
    // The noun behind `a factor of 12 in speed` is not what is counted.
    if unit.is_count() && is_factor(text, at) {
        (unit, end) = (Unit { scale: 1.0, times: true, ..Unit::default() }, end);
        return (Some(Quantity::new(&number, unit, text.get(at..end).unwrap_or_default(), at, end)), end);
    }
    // `1,024 points` of a cloud are things, `1.5 points` a difference.
    if unit.points
        && number.value >= 100.0
        && !text.get(end..).is_some_and(|rest| rest.trim_start().starts_with("percent"))
    {
        unit = leading_unit("dots").map_or(unit, |(unit, _)| unit);
    }
    if prefix && unit.is_count() {
        let scale = unit.scale;
        unit = leading_unit("$").map_or(unit, |(unit, _)| unit);
        unit.scale *= if scale == 0.0 { 1.0 } else { scale };
    }
    end += length;
    let mut quantity = Quantity::new(&number, unit, text.get(at..end).unwrap_or_default(), at, end);
    if negative && !after_digit(text, at) {
        (quantity.value, quantity.low, quantity.high) = (-quantity.value, -quantity.high, -quantity.low);
        quantity.written = -quantity.written;
    }
    (Some(quantity), end)
}

/// `F1 0.874`: a metric whose name looks like a product's.
fn follows_metric(text: &str, at: usize) -> bool {
    const METRICS: [&str; 12] =
        ["f1", "auc", "auroc", "map", "bleu", "r2", "mse", "rmse", "mae", "wer", "accuracy", "loss"];
    let head = ending(text.get(..at).unwrap_or_default(), WORDS_BEFORE);
    let word = head.split_whitespace().next_back().unwrap_or_default();
    let word = word.trim_matches(|one: char| !one.is_alphanumeric()).to_lowercase();
    METRICS.contains(&word.as_str())
}

/// `a factor of 159`, `a speed-up of 3.2`, `speed-up 1.86`; a real-time factor is a metric.
fn is_factor(text: &str, at: usize) -> bool {
    let head = ending(text.get(..at).unwrap_or_default().trim_end(), WORDS_BEFORE).to_lowercase();
    let words = ["of", "about", "roughly", "nearly", "almost", "only", "="];
    let mut words_before = head.split_whitespace().rev().skip_while(|word| words.contains(word));
    let name = words_before.next().unwrap_or_default().trim_start_matches('(');
    let qualified = words_before.next().is_some_and(|word| word.ends_with("time"));
    matches!(name, "factor" | "speed-up" | "speedup") && !qualified
}

/// Bytes before a number in which the words are looked for that say what it is.
const WORDS_BEFORE: usize = 120;

/// The last part of a text, of at most this many bytes. Texts may be as long as a file, and are looked at from each of
/// their numbers.
pub(crate) fn ending(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    (from..text.len()).find_map(|from| text.get(from..)).unwrap_or_default()
}

/// Bytes behind a number in which its unit is looked for.
const BYTES_BEHIND: usize = 240;

/// The first part of a text, of at most this many bytes.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    (0..=text.len().min(bytes)).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// Whether the word that a number continues has letters.
fn inside_name(text: &str, at: usize) -> bool {
    let head = ending(text.get(..at).unwrap_or_default(), WORDS_BEFORE);
    let word = head.chars().rev().take_while(|one| one.is_alphanumeric() || "-/._\u{2011}".contains(*one));
    word.into_iter().any(char::is_alphabetic)
}

/// Whether the minus before a number joins it to another: `37-179`.
fn after_digit(text: &str, at: usize) -> bool {
    let sign = before(text, at).map_or(0, char::len_utf8);
    text.get(..at - sign)
        .and_then(|text| text.trim_end().chars().next_back())
        .is_some_and(char::is_alphanumeric)
}

fn currency_before(text: &str, at: usize) -> bool {
    let head = text.get(..at).unwrap_or_default().trim_end();
    head.ends_with(['$', '€', '£']) || head.ends_with("EUR") || head.ends_with("USD")
}

/// The unit behind a number and its length. Up to two words may stand between the number and a counted thing that has
/// a rate: `2,310 generated tokens per second`.
fn unit_behind(after: &str) -> (Unit, usize) {
    let body = after.strip_prefix(' ').unwrap_or(after);
    let lead = after.len() - body.len();
    let body = body.strip_prefix("+/-").unwrap_or(body);
    if let Some((length, unit)) = spread_then_unit(body) {
        return (unit, lead + length);
    }
    let direct = leading_unit(body);
    let is_noun_alone = direct.as_ref().is_some_and(|(unit, _)| unit.is_count());
    if is_noun_alone {
        let mut from = 0;
        for _ in 0..2 {
            let rest = body.get(from..).unwrap_or_default();
            let Some(space) =
                rest.find(' ').filter(|space| !rest[..*space].ends_with([',', '.', ';', ')', ':']))
            else {
                break;
            };
            from += space + 1;
            let next = body.get(from..).unwrap_or_default();
            if let Some((unit, length)) = leading_unit(next)
                && unit.is_rate()
                && next.get(..length).is_some_and(|text| text.contains(['/', ' ']))
            {
                return (unit, lead + from + length);
            }
        }
    }
    match direct {
        Some((unit, length)) => (unit, lead + length),
        None => (Unit::none(), 0),
    }
}

/// `13.0 ± 0.1 tokens/s`: the unit stands behind the spread.
fn spread_then_unit(body: &str) -> Option<(usize, Unit)> {
    let rest = body.strip_prefix('±')?;
    let trimmed = rest.trim_start();
    let number = leading_number(trimmed)?;
    let at = body.len() - trimmed.len() + number.length;
    let unit = leading_unit(body.get(at..)?);
    Some(match unit {
        Some((unit, length)) => (at + length, unit),
        None => (at, Unit::none()),
    })
}

/// Whether the letters glued to a number are a unit or a multiplier: `3x`, `26.8k`, `120ms`.
fn glued_unit(after: &str) -> bool {
    let word: String =
        after.chars().take_while(|character| character.is_alphanumeric() || *character == 'µ').collect();
    if word.chars().any(|character| character.is_ascii_digit()) {
        return false;
    }
    ["k", "M", "B", "x", "s", "h", "W", "J", "G"].contains(&word.as_str())
        || leading_unit(&word).is_some_and(|(unit, length)| {
            length == word.len() && word.len() > 1 && (unit.is_relative() || !unit.is_count())
        })
}

/// Whether a number is part of a clock time, a date or a version.
fn is_clock_or_date(text: &str, at: usize, after: &str) -> bool {
    let digit_at = |offset: usize| after.chars().nth(offset).is_some_and(|next| next.is_ascii_digit());
    let clock = after.starts_with(':') && digit_at(1)
        || before(text, at) == Some(':')
            && at >= 2
            && before(text, at - 1).is_some_and(|one| one.is_ascii_digit());
    let joined = |sign: char| after.starts_with(sign) && digit_at(1);
    let year = text.get(at..at + 4).is_some_and(|year| {
        year.bytes().all(|byte| byte.is_ascii_digit()) && ("1980".."2100").contains(&year)
    });
    let date = year && (joined('-') || joined('/'))
        || before(text, at) == Some('-')
            && text.get(..at - 1).is_some_and(|head| head.ends_with(|one: char| one.is_ascii_digit()))
            && date_before(text, at);
    clock || date || month_beside(text, at, after, year)
}

fn date_before(text: &str, at: usize) -> bool {
    let head = ending(text.get(..at).unwrap_or_default(), WORDS_BEFORE);
    let start = head
        .rfind(|character: char| !(character.is_ascii_digit() || character == '-'))
        .map_or(0, |at| at + 1);
    head.get(start..).is_some_and(|head| head.len() >= 5 && head.as_bytes().get(4) == Some(&b'-'))
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

fn month_beside(text: &str, at: usize, after: &str, year: bool) -> bool {
    let is_month = |word: &str| {
        let word = word.trim_matches(|character: char| !character.is_alphabetic());
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        capital
            && word.len() >= 3
            && MONTHS.iter().any(|month| word.to_lowercase().starts_with(month))
            && word.len() <= 9
            && !["Mark", "Market", "Marked", "Mean", "Second", "Maximum", "Marlin", "Mar"].contains(&word)
    };
    let next = after.split_whitespace().next().unwrap_or_default();
    let head = ending(text.get(..at).unwrap_or_default(), WORDS_BEFORE);
    let previous = head.split_whitespace().next_back().unwrap_or_default();
    is_month(next)
        || is_month(previous)
        || year && (previous == "in" || previous == "In" || previous == "since")
}

/// Whether the word before a number makes it part of a name or a reference: `RTX 4090`, `Table 2`, `version 0.9`,
/// `Python 3.10`.
fn names_something(text: &str, at: usize) -> bool {
    let head = ending(text.get(..at).unwrap_or_default(), WORDS_BEFORE);
    let trimmed = head.trim_end();
    if head.len() == trimmed.len()
        && !trimmed.is_empty()
        && !trimmed.ends_with(['(', '[', '~', '≈', '$', '€', '=', ','])
    {
        return false;
    }
    let Some(word) = trimmed.split_whitespace().next_back() else { return false };
    let lower = word.to_lowercase();
    let references = [
        "table", "figure", "fig.", "section", "sec.", "chapter", "eq.", "equation", "appendix", "version",
        "release", "issue", "page", "step", "epoch", "seed", "phase", "stage", "layer", "level", "question",
        "week", "day", "part",
    ];
    if references.contains(&lower.as_str()) {
        return true;
    }
    let starts_sentence = trimmed.len() == word.len()
        || trimmed[..trimmed.len() - word.len()].trim_end().ends_with(['.', '!', '?', ':', ';', '|']);
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    let named = word.chars().skip(1).any(char::is_uppercase) || word.chars().any(|one| one.is_ascii_digit());
    let plain = word.chars().all(|character| character.is_alphanumeric() || "-+.".contains(character));
    capital
        && plain
        && !word.ends_with('.')
        && (named || !starts_sentence)
        && !word.chars().all(|one| one.is_ascii_digit() || ".,%".contains(one))
}

/// `22-40 %` and `40–80x` are one quantity whose value may be anything between.
fn join_ranges(found: Vec<Quantity>, text: &str) -> Vec<Quantity> {
    let mut joined: Vec<Quantity> = Vec::with_capacity(found.len());
    for mut other in found {
        if let Some(one) = joined.pop_if(|one| is_range(one, &other, text)) {
            let scale = other.unit.factor();
            (other.low, other.high) = (one.written * scale, other.high.abs());
            other.written = other.written.abs();
            other.value = 0.5 * (other.low + other.high);
            other.start = one.start;
            other.text = text.get(other.start..other.end).unwrap_or_default().to_owned();
            other.range = true;
        }
        joined.push(other);
    }
    joined
}

fn is_range(one: &Quantity, other: &Quantity, text: &str) -> bool {
    let between = text.get(one.end..other.start).unwrap_or("?");
    // `by 25 to 30 %`; `from 25 to 30 %` are two values.
    let head = text.get(..one.start).unwrap_or_default().trim_end();
    let spoken = between == " to " && one.unit.is_none() && !head.ends_with("from");
    let dash = between.is_empty() && text.get(..other.start).is_some_and(|head| head.ends_with('-'))
        || ["-", "–", " – "].contains(&between)
        || spoken;
    let bare = one.unit.is_none() || one.unit.same_measure(&other.unit);
    dash && bare && other.unit.is_relative() && one.written < other.written.abs()
}

#[cfg(test)]
mod tests;
