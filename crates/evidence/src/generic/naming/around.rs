//! What stands around numbers: arrows, pairs, dictionaries inside others, intervals, conditions in brackets.

use super::{Namer, words};
use crate::generic::tokens::{Token, TokenKind};
use crate::vocabulary::{MetricKind, NamedMetric, PrintedUnit};

impl Namer<'_> {
    /// Conditions part numbers of one name: `AP @[ IoU=0.50 ]` is not `AP @[ IoU=0.75 ]`.
    pub(super) fn add_conditions(&self, named: &mut NamedMetric) {
        for (key, value) in &self.conditions {
            let overlap = match (key.as_str(), named.base.as_str(), value.as_str()) {
                ("iou", "map", "0.50:0.95") => Some("map50_95"),
                ("iou", "map", "0.50") => Some("map50"),
                ("iou", "map", "0.75") => Some("map75"),
                ("iou", "average_recall", "0.50:0.95") => Some("average_recall"),
                _ => None,
            };
            let usual = key == "area" && value == "all"
                || key == "maxdets" && (named.base.starts_with("map") || value == "100");
            match overlap {
                Some(base) => base.clone_into(&mut named.base),
                None if usual => {}
                None => {
                    let part = match key.as_str() {
                        "area" => value.clone(),
                        "maxdets" => format!("max{value}"),
                        _ => words(&format!("{key} {value}")).join("_"),
                    };
                    let own = std::mem::take(&mut named.qualifier);
                    named.qualifier = if own.is_empty() { part } else { format!("{own}_{part}") };
                }
            }
        }
    }

    /// Whether a sign is a part of `-->`, `->` or `=>` behind a number.
    pub(super) fn in_arrow(&self, index: usize) -> bool {
        let region =
            self.region(index + 3).iter().take_while(|token| matches!(token.kind, TokenKind::Sign(_)));
        let length = region.count();
        let behind_number = self.from > 0
            && self
                .line
                .tokens
                .get(self.from - 1)
                .is_some_and(|token| matches!(token.kind, TokenKind::Number(_)));
        behind_number && self.line.tokens.get(self.from..self.from + length).is_some_and(is_arrow)
    }

    /// Whether three rising numbers of one unit stand in the bracket that opens here: `[26.0 µs 26.3 µs 26.5 µs]`.
    pub(super) fn is_interval(&self, index: usize) -> bool {
        let Some([low, middle, high, close]) = self.line.tokens.get(index + 1..index + 5) else {
            return false;
        };
        let number = |token: &Token| match &token.kind {
            TokenKind::Number(number) => {
                number.unit.clone().map(|unit| (number.value * unit.factor, unit.unit))
            }
            _ => None,
        };
        let (Some(low), Some(middle), Some(high)) = (number(low), number(middle), number(high)) else {
            return false;
        };
        close.kind == TokenKind::Sign(b']')
            && low.1 == middle.1
            && middle.1 == high.1
            && low.0 <= middle.0
            && middle.0 <= high.0
    }

    /// Whether a comma joins a quoted name to a number: `('recall@20', 0.2535)`.
    pub(super) fn joins_pair(&self, comma: usize) -> bool {
        let Some([open, name, comma, number, close]) =
            comma.checked_sub(2).and_then(|from| self.line.tokens.get(from..from + 5))
        else {
            return false;
        };
        let quoted = |place: usize| matches!(self.line.text.as_bytes().get(place), Some(b'\'' | b'"'));
        open.kind == TokenKind::Sign(b'(')
            && name.kind == TokenKind::Word
            && comma.kind == TokenKind::Sign(b',')
            && matches!(number.kind, TokenKind::Number(_))
            && close.kind == TokenKind::Sign(b')')
            && name.start.checked_sub(1).is_some_and(quoted)
            && quoted(name.end)
    }

    /// Whether a comma joins a key to the only number of a line, which ends it: `[READ], AverageLatency(us), 342.6`.
    pub(super) fn joins_last(&self, comma: usize) -> bool {
        let tokens = self.line.tokens;
        let number = |token: &&Token| matches!(token.kind, TokenKind::Number(_));
        let before = comma.checked_sub(1).and_then(|before| tokens.get(before));
        comma + 2 == tokens.len()
            && tokens.last().as_ref().is_some_and(number)
            && tokens.iter().filter(number).count() == 1
            && before.is_some_and(|token| matches!(token.kind, TokenKind::Word | TokenKind::Sign(b')')))
    }

    /// The rate in `11063  (368.52 per sec.)`: of what the number before it counts.
    pub(super) fn per_second(&self, index: usize) -> Option<PrintedUnit> {
        let [per, second] = self.line.tokens.get(index + 1..index + 3)? else { return None };
        let is_rate =
            self.line.slice(per) == "per" && ["s", "sec", "second"].contains(&self.line.slice(second));
        let counted = self.counted.as_ref().filter(|_| is_rate && self.opens(index, b'('))?;
        PrintedUnit::parse(&format!("{counted}/s"))
    }

    /// The last word before a number's colon, as written.
    pub(super) fn last_word(&self, index: usize) -> Option<String> {
        let word = self.region(index).iter().rev().find(|token| token.kind == TokenKind::Word)?;
        Some(self.line.slice(word).to_lowercase())
    }

    /// A pair of a name and its number opens: what stands before it is about all pairs of the list.
    pub(super) fn open_pair(&mut self, index: usize) {
        let before = self.text_of(self.from, index);
        let title = before.rsplit_once(':').map_or(before, |(title, _)| title);
        let title = words(title);
        if !title.is_empty() {
            self.split = self.vocabulary.split(&title.join(" ")).or(self.context.split);
            self.line_split = self.line_split.or(self.split);
            self.about = title;
        }
        self.from = index + 1;
    }

    /// The calculation that begins with a number.
    pub(super) fn equation_from(&self, first: usize) -> Option<Equation> {
        let tokens = self.line.tokens;
        let number = |at: usize| match &tokens.get(at)?.kind {
            TokenKind::Number(number) => Some(number),
            _ => None,
        };
        let unit = |at: usize| number(at)?.unit.as_ref().map(|unit| unit.unit.clone());
        // A word may follow each number.
        let behind = |at: usize| {
            let worded = tokens.get(at + 1).is_some_and(|token| token.kind == TokenKind::Word);
            at + 1 + usize::from(worded)
        };
        let (mut at, mut operands, mut quotient) = (first, 1, false);
        loop {
            number(at)?;
            let sign = behind(at);
            match tokens.get(sign)?.kind {
                TokenKind::Sign(b'=') if operands > 1 => {
                    number(sign + 1)?;
                    // A word before the equals sign is no unit to the one who cuts the line.
                    let same = unit(at).is_none() || unit(first) == unit(at);
                    let is_ratio = quotient && operands == 2 && same;
                    return Some(Equation { first, result: sign + 1, is_ratio });
                }
                TokenKind::Sign(operator @ (b'/' | b'*' | b'+' | b'-')) => quotient = operator == b'/',
                _ => return None,
            }
            (at, operands) = (sign + 1, operands + 1);
        }
    }

    /// What a dictionary inside another is called, as far as it distinguishes its numbers from those of the next one.
    pub(super) fn name_of_dictionary(&self, region: &[String]) -> Option<String> {
        if self.nested.is_empty() || region.is_empty() || region.len() > 3 {
            return None;
        }
        let known = self.vocabulary.metric_of_words(region, None).is_some();
        let mut spoken = region.to_vec();
        spoken.push("loss".to_owned());
        let named = self.vocabulary.metric_of_words(&spoken, None).filter(|_| !known)?;
        (!named.qualifier.is_empty()).then_some(named.qualifier)
    }

    /// `0.42 --> 0.41` and `from 0.42 to 0.41`: the second number is the value now. Whether it was one of these.
    pub(super) fn replaces(&mut self, index: usize, token: &Token) -> bool {
        let region = self.line.tokens.get(self.from..index).unwrap_or_default();
        let worded = matches!(region, [word] if self.line.slice(word) == "to");
        if !(worded || is_arrow(region)) || !matches!(token.kind, TokenKind::Number(_)) {
            return false;
        }
        let Some(place) = self.line.place(token) else { return false };
        if let Some(slot) = self.plan.slots.last_mut().filter(|slot| slot.token + 1 == self.from) {
            (slot.place, slot.token) = (place, index);
            return true;
        }
        let from = |label: &Vec<String>| label.last().is_some_and(|word| word == "from");
        let label = self.label.take().map(|(_, words)| words).filter(|words| worded && from(words));
        let printed = match &token.kind {
            TokenKind::Number(number) => number.unit.clone(),
            _ => None,
        };
        let named = label.and_then(|label| self.vocabulary.metric_of_words(&label, printed.as_ref()));
        match named.filter(|named| named.kind != MetricKind::Ignore) {
            Some(mut named) => {
                named.statistic = named.statistic.or_else(|| Some("best".to_owned()));
                self.push(index, token, named, printed.as_ref());
            }
            None => return false,
        }
        true
    }
}

/// A calculation behind a key: `Speedup: 2395.6 ms / 627.2 ms = 3.82`.
#[derive(Default)]
pub(super) struct Equation {
    /// Its first operand.
    pub first: usize,
    /// The number behind the equals sign, which the key names.
    pub result: usize,
    /// Whether it is a quotient of two numbers in one unit.
    pub is_ratio: bool,
}

/// The conditions in `@[ IoU=0.50:0.95 | area=all ]`, with their keys in lower case.
pub(super) fn conditions(text: &str) -> Vec<(String, String)> {
    let inside = text.trim_start_matches(['@', '[']).trim_end_matches(']');
    let pairs = inside.split('|').filter_map(|part| part.split_once('='));
    pairs.map(|(key, value)| (key.trim().to_lowercase(), value.trim().to_owned())).collect()
}

/// `-->`, `->` or `=>`.
pub(super) fn is_arrow(tokens: &[Token]) -> bool {
    let ends = matches!(tokens.last().map(|token| &token.kind), Some(TokenKind::Sign(b'>')));
    ends && (2..=3).contains(&tokens.len())
        && tokens.iter().all(|token| matches!(token.kind, TokenKind::Sign(b'-' | b'=' | b'>')))
}
