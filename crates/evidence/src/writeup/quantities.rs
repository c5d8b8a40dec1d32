//! The numbers in a sentence, each with its unit and the setting or metric that the words around it name.

mod words;

use assay_model::{Quantity, Statistic, Unit, names};

use self::words::{BETWEEN, LABELS, QUALIFIERS, STOPS};
use super::number::scaled;
use super::tokens::{Kind, Token, scale, tokens};
use super::units::{leading_unit, times, unit_of};
use super::vocabulary::{is_telling, metric_of, settings, statistic};

/// How many quantities of one sentence are kept.
const MOST: usize = 64;

/// The quantities of a sentence without mark-up.
pub fn quantities(text: &str) -> Vec<Quantity> {
    let tokens = tokens(text);
    let mut reader = Reader { text, tokens: &tokens, telling: Vec::new() };
    let mut chains = reader.chains();
    if !chains.is_empty() {
        let written = |token: &Token| text.get(token.start..token.end).unwrap_or_default();
        reader.telling = tokens.iter().map(|token| is_telling(written(token), &token.words)).collect();
    }
    let mut found = Vec::new();
    for chain in &mut chains {
        share_units(chain);
        let name = reader.name(chain);
        for item in chain.iter() {
            if found.len() < MOST {
                found.push(reader.quantity(item, name.clone()));
            }
        }
    }
    found
}

/// A number, or a range of two, with its unit.
#[derive(Debug, Clone)]
struct Item {
    value: f64,
    to: Option<f64>,
    unit: Option<(Unit, f64)>,
    /// The factor of a scale letter.
    scale: f64,
    /// The first token, and the first one behind number and unit.
    first: usize,
    behind: usize,
    start: usize,
    end: usize,
}

impl Item {
    fn kind(&self) -> Option<&Unit> {
        self.unit.as_ref().map(|(unit, _)| unit)
    }
}

/// In `10, 4, and 14 epochs` the unit of the last one is that of all.
fn share_units(chain: &mut [Item]) {
    let mut unit: Option<(Unit, f64)> = None;
    for item in chain.iter_mut().rev() {
        match &item.unit {
            Some(own) => unit = Some(own.clone()),
            None => item.unit.clone_from(&unit),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// Whether each token is a word without which a phrase names no metric.
    telling: Vec<bool>,
}

impl Reader<'_> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn is_word(&self, at: Option<usize>, wanted: &[&str]) -> bool {
        at.and_then(|at| self.token(at)).is_some_and(|token| token.is_word(wanted))
    }

    /// The items of the sentence; those of a list together.
    fn chains(&self) -> Vec<Vec<Item>> {
        let mut chains: Vec<Vec<Item>> = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let Some(item) = self.item(at) else {
                at += 1;
                continue;
            };
            at = item.behind.max(at + 1);
            let before = chains.last().and_then(|chain| chain.last());
            let joined = before.is_some_and(|before| {
                let between = self.tokens.get(before.behind..item.first).unwrap_or_default();
                let same_unit = before.unit.is_none() || item.unit.is_none() || before.kind() == item.kind();
                same_unit && !between.is_empty() && between.iter().all(is_joint)
            });
            match chains.last_mut().filter(|_| joined) {
                Some(chain) => chain.push(item),
                None => chains.push(vec![item]),
            }
        }
        chains
    }

    fn item(&self, at: usize) -> Option<Item> {
        let token = self.token(at)?;
        let value = token.number()?;
        let before = at.checked_sub(1);
        let (unit, scale, behind, end) = self.unit_behind(at);
        let mut item = Item { value, to: None, unit, scale, first: at, behind, start: token.start, end };
        if item.unit.is_none() && self.is_label(before) {
            return None;
        }
        if item.unit.is_none()
            && self.is_word(before, &["of"])
            && self.is_word(at.checked_sub(2), &["factor"])
        {
            item.unit = Some((times(), 1.0));
        }
        self.take_smaller_unit(&mut item);
        if let Some(upper) = self.upper_end(at, &item) {
            let (unit, scale, behind, end) = self.unit_behind(upper);
            item.to = self.token(upper).and_then(Token::number);
            item.unit = unit.or(item.unit);
            item.scale = if scale > 1.0 { scale } else { item.scale };
            (item.behind, item.end) = (behind, end);
        }
        if before
            .and_then(|before| self.token(before))
            .is_some_and(|token| token.is_sign('~') || token.is_sign('≈'))
        {
            item.start = before.and_then(|before| self.token(before)).map_or(item.start, |token| token.start);
        }
        Some(item)
    }

    /// `3 min 12 s` is one time.
    fn take_smaller_unit(&self, item: &mut Item) {
        let Some((Unit::Seconds, factor)) = item.unit else { return };
        let Some(smaller) = self.token(item.behind).and_then(Token::number).filter(|_| factor >= 60.0) else {
            return;
        };
        if let (Some((Unit::Seconds, scale)), _, behind, end) = self.unit_behind(item.behind)
            && scale < factor
        {
            item.value = item.value * factor + smaller * scale;
            item.unit = Some((Unit::Seconds, 1.0));
            (item.behind, item.end) = (behind, end);
        }
    }

    fn is_label(&self, before: Option<usize>) -> bool {
        self.is_word(before, &LABELS)
            && before.and_then(|at| self.token(at)).is_some_and(|token| {
                self.text.get(token.start..).is_some_and(|word| word.starts_with(char::is_uppercase))
            })
    }

    /// The upper end of a range: `37-179`, `32.84 to 34.10`, `between 3 and 5`. A change `from 3 to 5` is none.
    fn upper_end(&self, at: usize, item: &Item) -> Option<usize> {
        let middle = self.token(item.behind)?;
        let is_range = if middle.is_sign('-') || middle.is_sign('–') || middle.is_sign('—') {
            true
        } else if middle.is_word(&["to"]) {
            item.unit.is_none() && !self.is_word(at.checked_sub(1), &["from", "size", "of"])
        } else {
            middle.is_word(&["and"]) && self.is_word(at.checked_sub(1), &["between"])
        };
        let upper = item.behind + 1;
        let value = self.token(upper)?.number()?;
        (is_range && value >= item.value).then_some(upper)
    }

    /// The unit behind a number, the factor of a scale letter, the first token behind both, and where they end.
    fn unit_behind(&self, at: usize) -> (Option<(Unit, f64)>, f64, usize, usize) {
        let end = self.token(at).map_or(0, |token| token.end);
        let mut behind = self.text.get(end..).unwrap_or_default();
        let mut length = 0;
        let mut factor = 1.0;
        let unit = leading_unit(behind).filter(|(unit, ..)| *unit != Unit::Bytes);
        if let Some(letter) = scale(behind).filter(|_| unit.is_none()) {
            factor = letter;
            length = 1;
            behind = behind.get(1..).unwrap_or_default();
        }
        let gap = behind.len() - behind.trim_start_matches(' ').len();
        let unit = unit.or_else(|| {
            let spaced = behind.get(gap..).unwrap_or_default();
            // A single letter after a space is rarely a unit, except for seconds.
            leading_unit(spaced)
                .filter(|(_, _, size)| gap <= 1 && (*size > 1 || spaced.starts_with(['s', '%', '×', 'x'])))
                .map(|(unit, factor, size)| (unit, factor, gap + size))
        });
        let stop = end + length + unit.as_ref().map_or(0, |(_, _, size)| *size);
        let next = self.tokens.iter().skip(at + 1).position(|token| token.start >= stop);
        let behind = next.map_or(self.tokens.len(), |offset| at + 1 + offset);
        (unit.map(|(unit, factor, _)| (unit, factor)), factor, behind, stop)
    }

    fn quantity(&self, item: &Item, name: Option<String>) -> Quantity {
        let factor = item.scale * item.unit.as_ref().map_or(1.0, |(_, factor)| *factor);
        Quantity {
            value: scaled(item.value, factor),
            to: item.to.map(|to| scaled(to, factor)),
            unit: item.unit.as_ref().map_or(Unit::One, |(unit, _)| unit.clone()),
            text: self.text.get(item.start..item.end).unwrap_or_default().to_owned(),
            name,
        }
    }

    /// The setting or metric that a list of numbers is about.
    fn name(&self, chain: &[Item]) -> Option<String> {
        let (first, last) = (chain.first()?, chain.last()?);
        let unit = last.kind();
        if let Some(Unit::Other(word) | Unit::Count(word)) = unit
            && let Some(name) = settings::setting_name(word)
        {
            return Some(name.to_owned());
        }
        let named = self.forward(last.behind, unit).or_else(|| self.backward(first.first, unit));
        let name = named.or_else(|| by_unit(unit)).filter(|name| !name.is_empty())?;
        Some(self.with_statistic(name, first.first))
    }

    /// In `mean latency was 5 ms and p99 was 9 ms` the statistic stands apart from the metric.
    fn with_statistic(&self, name: String, first: usize) -> String {
        let near = self.tokens.get(first.saturating_sub(3)..first).unwrap_or_default();
        let found = near.iter().rev().find_map(|token| statistic(self.text.get(token.start..token.end)?));
        match found.and_then(Statistic::suffix) {
            Some(suffix) if names::canonical(&name).is_some() => format!("{name}.{suffix}"),
            _ => name,
        }
    }

    /// Some tokens, if they are words that a name can be made of.
    fn phrase(&self, first: usize, end: usize) -> Option<&[Token]> {
        let tokens = self.tokens.get(first..end)?;
        let all_words = tokens.iter().all(|token| token.kind == Kind::Word && !token.is_word(&STOPS));
        all_words.then_some(tokens)
    }

    /// The setting that some tokens name.
    fn setting(&self, first: usize, end: usize) -> Option<&'static str> {
        let words: Vec<&str> =
            self.phrase(first, end)?.iter().flat_map(|token| &token.words).map(String::as_str).collect();
        settings::of_words(&words)
    }

    /// The metric that some tokens name for numbers in a unit.
    fn metric(&self, first: usize, end: usize, unit: Option<&Unit>) -> Option<String> {
        if !self.telling.get(first..end)?.contains(&true) {
            return None;
        }
        let tokens = self.phrase(first, end)?;
        metric(self.text.get(tokens.first()?.start..tokens.last()?.end)?, unit)
    }

    /// The name behind a number: `100% success rate`, `3× higher throughput`, `512 batch size`.
    fn forward(&self, behind: usize, unit: Option<&Unit>) -> Option<String> {
        let mut first = behind;
        while first < behind + 3 && self.is_word(Some(first), &BETWEEN) {
            first += 1;
        }
        let may_be_set = unit.is_none_or(|unit| *unit == times());
        (first + 1..=first + 4).rev().find_map(|end| {
            let setting = if may_be_set { self.setting(first, end) } else { None };
            // A name that the words behind the first one show by themselves begins further off.
            let begins_later = || self.metric(first + 1, end, unit).is_some();
            setting.map(str::to_owned).or_else(|| {
                self.metric(first, end, unit)
                    .filter(|_| end == first + 1 || !begins_later() || is_qualifier(self.token(first)))
            })
        })
    }

    /// The nearest name before a number. A setting stands close to its value; a metric may stand further off.
    fn backward(&self, first: usize, unit: Option<&Unit>) -> Option<String> {
        let reach = match unit {
            None => 4,
            Some(unit) if *unit == times() => 6,
            Some(_) => 14,
        };
        for last in (first.saturating_sub(14)..first).rev() {
            if self.token(last)?.is_sign(';') {
                return None;
            }
            let distance = first - last;
            let close = unit.is_none() && (distance <= 3 || self.only_connects(last + 1, first));
            if !close && distance > reach {
                continue;
            }
            for start in last.saturating_sub(4)..=last {
                if close && let Some(name) = self.setting(start, last + 1) {
                    return Some(name.to_owned());
                }
                // A name that is there without the last word ends before it.
                if distance <= reach
                    && let Some(name) = self.metric(start, last + 1, unit)
                    && self.metric(start, last, unit).is_none()
                {
                    return Some(name);
                }
            }
        }
        None
    }

    /// Whether nothing but numbers and small words stands between two places.
    fn only_connects(&self, first: usize, end: usize) -> bool {
        self.tokens.get(first..end).is_some_and(|between| {
            between.iter().all(|token| {
                token.number().is_some()
                    || is_joint(token)
                    || token.is_word(&["of", "from", "is", "was", "at", "set"])
                    || ['=', ':', '(', '[', '~'].iter().any(|sign| token.is_sign(*sign))
            })
        })
    }
}

/// Whether a word before the name of a metric says more about it: `output throughput`, `mean latency`.
fn is_qualifier(token: Option<&Token>) -> bool {
    token.is_some_and(|token| token.is_word(&QUALIFIERS))
}

fn is_joint(token: &Token) -> bool {
    token.is_sign(',') || token.is_word(&["and", "or", "to"])
}

/// The metric that a phrase names for numbers in a unit; an empty name for a rate of nobody knows what. Bare numbers
/// can be values of bare metrics only.
fn metric(text: &str, unit: Option<&Unit>) -> Option<String> {
    // The words must name something by themselves: a number in seconds makes no metric of `grew`.
    if unit_of(text).is_some() || metric_of(text, None).is_none() {
        return None;
    }
    let word = metric_of(text, unit)?;
    let is_factor = unit == Some(&times());
    let told_otherwise = word.unit_told && !is_factor && unit != Some(&word.unit);
    let is_bare = matches!(names::unit(word.name), Unit::One | Unit::Count(_));
    // `time` alone is too common to name a factor.
    let is_vague = is_factor && text.to_lowercase().starts_with("time") && !text.contains(' ');
    if told_otherwise || is_vague || unit.is_none() && !is_bare {
        return None;
    }
    Some(if is_factor && word.name == names::SAMPLES_PER_S { String::new() } else { word.full_name() })
}

/// What a unit alone shows.
fn by_unit(unit: Option<&Unit>) -> Option<String> {
    match unit {
        Some(Unit::PerSecond(_)) => metric_of("rate", unit).map(|word| word.full_name()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
