//! Numbers that share one name or one heading: `rtt min/avg/max = 0.031/0.045/0.062 ms`, `99.00th=[ 75]` below
//! `clat percentiles (usec):`.

use super::Namer;
use crate::generic::plan::{NumberForm, NumberPlace};
use crate::generic::tokens::{NumberToken, Token, TokenKind};
use crate::vocabulary::{MetricKind, NamedMetric, PrintedUnit, split_unit, words};

/// More names than this are a path.
const MOST_NAMES: usize = 8;

/// Words of a heading over percentiles that say nothing of what they are of: `Percentage of the requests served within
/// a certain time (ms)`.
const BESIDE_NOUN: [&str; 9] =
    ["by", "summary", "of", "the", "request", "served", "within", "certain", "response"];

impl Namer<'_> {
    /// Reads `0.031/0.045/0.062`, if as many names stand before it; whether it was such a list.
    pub(super) fn parallel(&mut self, index: usize) -> bool {
        let Some(token) = self.line.tokens.get(index) else { return false };
        let text = self.line.slice(token);
        let values: Vec<&str> = text.split('/').collect();
        let plain = |part: &&str| {
            part.starts_with(|first: char| first.is_ascii_digit()) && part.parse::<f64>().is_ok()
        };
        if !(2..=MOST_NAMES).contains(&values.len()) || !values.iter().all(plain) {
            return false;
        }
        // Names joined by slashes may look like a path, so that the words before them were passed over.
        let head = self.line.text.get(..token.start).unwrap_or_default();
        let before = head.rsplit([',', ';', '|']).next().unwrap_or_default();
        let Some((noun, names, inside)) = listed_names(before, values.len()) else { return false };
        let printed = inside.or_else(|| {
            let behind = self.line.text.get(token.end..).unwrap_or_default().trim_start();
            PrintedUnit::parse(behind.split([' ', ',', ';', ')', '|']).next().unwrap_or_default())
        });
        let named: Vec<Option<NamedMetric>> =
            names.iter().map(|name| self.parallel_name(&noun, name, printed.as_ref())).collect();
        if named.iter().flatten().count() * 2 < names.len() {
            return false;
        }
        let mut at = token.start;
        for (value, named) in values.iter().zip(named) {
            let run = self.line.runs.iter().position(|run| *run as usize == at);
            if let (Some(run), Some(mut named)) = (run, named) {
                if matches!(named.kind, MetricKind::Value | MetricKind::Share) {
                    named.split = named.split.or(self.split);
                }
                let place = NumberPlace { run, negative: false, form: NumberForm::Plain };
                self.push_at(index, place, value.parse().unwrap_or_default(), named);
            }
            at += value.len() + 1;
        }
        self.from = index + 1;
        true
    }

    fn parallel_name(
        &self,
        noun: &[String],
        name: &str,
        printed: Option<&PrintedUnit>,
    ) -> Option<NamedMetric> {
        let spoken = words(name);
        let whole: Vec<String> = noun.iter().chain(&spoken).cloned().collect();
        let named = self
            .vocabulary
            .metric_of_words(&spoken, None)
            .and_then(|_| self.vocabulary.metric_of_words(&spoken, printed))
            .or_else(|| self.vocabulary.metric_of_words(&whole, printed))
            .or_else(|| match name {
                "P" => self.vocabulary.metric("precision", printed),
                "R" => self.vocabulary.metric("recall", printed),
                "F" => self.vocabulary.metric("f1", printed),
                _ => None,
            });
        named.filter(|named| !matches!(named.kind, MetricKind::Ignore | MetricKind::Knob))
    }

    /// Reads `50.00th=[  2933]` and `99% 12.3ms` below a heading that announces percentiles. The tokens it took.
    pub(super) fn percentile(&mut self, index: usize) -> Option<usize> {
        let announced = |word: &String| matches!(word.as_str(), "percentile" | "percentage" | "distribution");
        if !self.context.section.iter().any(announced) {
            return None;
        }
        let token = self.line.tokens.get(index)?;
        let text = self.line.slice(token);
        let digits = text.strip_suffix("th").or_else(|| text.strip_suffix('%'))?;
        let share: f64 = digits.parse().ok().filter(|share| (0.0..=100.0).contains(share))?;
        let behind = self.line.tokens.get(index + 1..)?;
        let joins = |token: &&Token| match token.kind {
            TokenKind::Sign(sign) => !matches!(sign, b',' | b';' | b')'),
            TokenKind::Word => self.line.slice(token) == "in",
            _ => false,
        };
        let signs = behind.iter().take_while(joins).count();
        let value = behind.get(signs).filter(|_| signs <= 3)?;
        let TokenKind::Number(NumberToken { unit, value: number, .. }) = &value.kind else { return None };
        let heading = split_unit(self.context.key.as_deref().unwrap_or_default()).1;
        let unit = unit.clone().or(heading);
        let noun: Vec<String> = self
            .context
            .section
            .iter()
            .filter(|word| !announced(word) && !BESIDE_NOUN.contains(&word.as_str()))
            .cloned()
            .collect();
        let named = self.vocabulary.metric_of_words(&noun, unit.as_ref())?;
        let statistic = match share {
            0.0 => "min".to_owned(),
            100.0 => "max".to_owned(),
            _ => format!("p{share}"),
        };
        let place = self.line.place(value)?;
        self.plan.fix(self.line.runs.iter().position(|run| *run as usize == token.start).into_iter());
        let named = NamedMetric { statistic: Some(statistic), ..named };
        self.push_at(index, place, *number, named);
        self.from = index + signs + 2;
        Some(signs + 1)
    }

    /// Whether a token may be one of several numbers that share a name.
    pub(super) fn is_list(token: &Token, text: &str) -> bool {
        token.kind == TokenKind::Opaque
            && text.contains('/')
            && text.starts_with(|first: char| first.is_ascii_digit())
    }
}

/// Names joined by slashes at the end of a text, the words before them, and a unit in parentheses behind.
fn listed_names(before: &str, count: usize) -> Option<(Vec<String>, Vec<String>, Option<PrintedUnit>)> {
    let head = before.trim_end_matches([':', '=', ' ', '\t', '(', '[']);
    let (head, unit) = match head.strip_suffix(')').and_then(|head| head.rsplit_once('(')) {
        Some((head, inside)) if PrintedUnit::parse(inside).is_some() => {
            (head.trim_end(), PrintedUnit::parse(inside))
        }
        Some((head, inside)) if inside.contains('/') => {
            return names(inside, count).map(|found| (words(head), found, None));
        }
        _ => (head, None),
    };
    let list = head.rsplit([' ', '\t', ',', '|']).next()?;
    let noun = head.get(..head.len() - list.len())?;
    names(list, count).map(|found| (words(noun), found, unit))
}

fn names(list: &str, count: usize) -> Option<Vec<String>> {
    let found: Vec<String> = list.split('/').map(|name| name.trim().to_owned()).collect();
    let named = found.iter().all(|name| name.starts_with(char::is_alphabetic) && name.len() <= 24);
    (found.len() == count && named).then_some(found)
}
