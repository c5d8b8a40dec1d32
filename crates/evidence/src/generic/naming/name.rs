//! From the words beside a number to its name.

use assay_model::Unit;

use super::Namer;
use super::key::Key;
use crate::generic::tokens::{NumberToken, Token, TokenKind};
use crate::vocabulary::{CounterKind, MetricKind, NamedMetric, PrintedUnit, Split, split_unit, words};

/// Words that introduce another number than the one that the words before them name: `reward over 100 runs`.
const PREPOSITIONS: [&str; 22] = [
    "over", "at", "after", "for", "on", "with", "from", "within", "per", "every", "in", "across", "the",
    "by", "con", "com", "mit", "avec", "bei", "nach", "для", "при",
];

/// Words between an epoch's number and its time.
const EPOCH_TIME_WORDS: [&str; 9] =
    ["took", "time", "duration", "in", "completed", "finished", "done", "elapsed", "complete"];

impl Namer<'_> {
    pub(super) fn name(
        &mut self,
        index: usize,
        token: &Token,
        key: &Key,
        printed: Option<&PrintedUnit>,
    ) -> Option<NamedMetric> {
        let numeric = match &token.kind {
            TokenKind::Number(number) => Some(number),
            _ => None,
        };
        // `0.50 (0.61)`: the mean so far of what stands before.
        let closed =
            matches!(self.line.tokens.get(index + 1).map(|token| &token.kind), Some(TokenKind::Sign(b')')));
        if key.words.is_empty() && closed && self.opens(index, b'(') && !key.joined && self.from + 1 == index
        {
            // `val_acc 0.75 (12.3 sec)`: a time in parentheses is no second accuracy.
            let timed = numeric.and_then(|number| number.unit.as_ref());
            let timed = timed.filter(|unit| unit.unit == Unit::Seconds && unit.per.is_none());
            let other = self.last.as_ref().is_none_or(|last| last.kind != MetricKind::Time);
            if let Some(mut named) = timed
                .filter(|_| other)
                .and_then(|unit| self.vocabulary.metric_of_words(&["time".to_owned()], Some(unit)))
            {
                self.bare_time(token, &named);
                named.kind = MetricKind::Ignore;
                return Some(named);
            }
            return self.second(index);
        }
        if key.words.is_empty() && self.opens(index, b'~') && index > 0 {
            // `2.27s ± 3%`: a spread in percent is none in seconds.
            let relative = printed.is_some_and(|printed| printed.unit == Unit::Fraction);
            if relative && self.last.as_ref().is_some_and(|last| last.unit != Unit::Fraction) {
                return None;
            }
            // `1,012,345 msgs/sec ~ 123.58 MB/sec` is the same in another unit, not its spread.
            let other = |last: &NamedMetric| printed.is_some_and(|printed| printed.unit != last.unit);
            if self.last.as_ref().is_none_or(|last| relative || !other(last)) {
                return self
                    .last
                    .clone()
                    .map(|last| NamedMetric { statistic: Some("std".to_owned()), ..last });
            }
        }
        // `Range (min … max): 280.8 ms … 299.9 ms`: behind the smallest stands the largest.
        let dots = index.checked_sub(1).and_then(|before| self.line.tokens.get(before));
        if key.words.is_empty()
            && dots.is_some_and(|token| self.line.slice(token) == "…")
            && let Some(last) = self.last.clone().filter(|last| last.statistic.as_deref() == Some("min"))
        {
            return Some(NamedMetric { statistic: Some("max".to_owned()), ..last });
        }
        // `Latency / 1K tokens: 91.89 ms`: what stands below the line is no value.
        if self.opens(index, b'/') && !key.words.is_empty() {
            return None;
        }
        // `0.986 (+/-0.016) for {…}`: a number with its spread alone is what the heading names.
        let spread = self.line.tokens.get(index + 1..index + 4).is_some_and(|tokens| {
            let signs: Vec<_> = tokens.iter().map(|token| &token.kind).collect();
            matches!(signs.as_slice(), [TokenKind::Sign(b'('), TokenKind::Sign(b'+'), TokenKind::Sign(b'/')])
        });
        if index == 0 && spread && !self.context.section.is_empty() {
            return self.vocabulary.metric_of_words(&self.context.section, printed);
        }
        // A number alone below `Training time (s):`.
        let solved = self.equation.first == 0 && self.equation.result == index;
        let alone = index == 0 && self.line.tokens.len() == 1 || solved && index > 0 && key.words.is_empty();
        if let (true, Some(key)) = (alone, &self.context.key) {
            let (phrase, unit) = split_unit(key);
            let named = self.vocabulary.metric(&phrase, printed.or(unit.as_ref()));
            let fits = |named: &NamedMetric| {
                !matches!(named.kind, MetricKind::Count | MetricKind::Ignore | MetricKind::Knob)
                    && numeric.is_none_or(|number| is_plausible(number, named))
            };
            let inferred = Some("named by the line above");
            return named.filter(fits).map(|named| NamedMetric { inferred, ..named });
        }
        let stated = printed.is_some_and(PrintedUnit::is_telling);
        if !key.joined
            && !stated
            && key.words.last().is_some_and(|word| PREPOSITIONS.contains(&word.as_str()))
        {
            return None;
        }
        // `Total:  5  12  2.2  12  31` is a row whose columns nobody names here.
        let bare_number = |at: usize| {
            let token = self.line.tokens.get(at);
            token.is_some_and(
                |token| matches!(&token.kind, TokenKind::Number(number) if number.unit.is_none()),
            )
        };
        if key.joined
            && numeric.is_some_and(|number| number.unit.is_none())
            && (1..=3).all(|by| bare_number(index + by))
        {
            return None;
        }
        let mut named = self.by_left(key, printed, token);
        let right = self.right_words(index);
        let timed = matches!(printed.map(|printed| &printed.unit), Some(Unit::Seconds))
            && printed.is_some_and(|printed| printed.per.is_none());
        let weak = named.as_ref().is_none_or(|named| {
            named.base == "duration" && named.qualifier.is_empty() && !timed_words(&key.words)
        }) || (timed && !timed_words(&key.words));
        let bare = numeric.is_some_and(|number| number.whole && number.unit.is_none());
        let unkeyed = key.words.is_empty() && self.label.is_none();
        if weak && !bare && !right.is_empty() && (!key.joined || unkeyed || timed) {
            let from_right = self.vocabulary.metric_of_words(&right, printed);
            // `12.3 hours left` is none of the run's own times.
            if timed
                && self
                    .vocabulary
                    .metric_of_words(&right, None)
                    .is_some_and(|named| named.base == "remaining")
            {
                return None;
            }
            // `Prompt: 31 tokens, 102.3 tokens-per-sec`: the first words of the line say of what.
            let is_rate = from_right.as_ref().is_some_and(|named| named.kind == MetricKind::Rate);
            let opened =
                self.opening.as_ref().filter(|words| is_rate && words.len() <= 3).and_then(|opening| {
                    let unit = from_right.as_ref().map(|named| PrintedUnit {
                        unit: named.unit.clone(),
                        factor: named.factor,
                        per: None,
                    });
                    self.vocabulary.metric_of_words(opening, unit.as_ref())
                });
            let from_right = opened.or(from_right);
            // `0.000 rate` may be a rate of learning as well.
            let vague = |named: &NamedMetric| named.base == "throughput" && printed.is_none();
            let fits = from_right.as_ref().is_some_and(|named| {
                !matches!(named.kind, MetricKind::Count | MetricKind::Knob)
                    && !vague(named)
                    && (!timed || named.kind == MetricKind::Time)
            });
            if fits && (!timed || self.right_ends(index)) {
                // `Cold: 5.1ms GPU`: the key distinguishes this line from the one that begins with `Batch:`.
                let plain = self.vocabulary.metric_of_words(&key.words, None).is_none();
                let key = named.filter(|named| key.joined && plain && !named.qualifier.is_empty());
                self.part = key.map(|named| named.qualifier).or_else(|| self.part.take());
                named = from_right;
                if let (Some(named), Some(part)) = (&mut named, &self.part) {
                    let own = (!named.qualifier.is_empty()).then(|| format!("{}_", named.qualifier));
                    named.qualifier = own.unwrap_or_default() + part;
                }
            }
        }
        // `Latency mean : 6.1 ms [WRITE: 6.1 ms]`: a part of the value before the bracket.
        if let Some(last) = self.last.as_ref().filter(|last| key.joined && last.kind != MetricKind::Ignore)
            && self.in_bracket(index)
            && printed.is_some_and(|printed| printed.unit == last.unit && printed.is_telling())
            && self.vocabulary.metric_of_words(&key.words, None).is_none()
        {
            let own = (!last.qualifier.is_empty()).then(|| format!("{}_", last.qualifier));
            let qualifier = own.unwrap_or_default() + &key.words.join("_");
            return Some(NamedMetric { qualifier, ..last.clone() });
        }
        let mut named = named?;
        // `Metric val_loss improved. New best score: 0.032`: the first words say what the score is.
        if named.base == "score"
            && let [first, second, ..] = self.line.tokens
            && self.line.slice(first) == "Metric"
            && let Some(monitored) = self.vocabulary.metric(self.line.slice(second), printed)
        {
            named = NamedMetric { statistic: named.statistic.or(monitored.statistic.clone()), ..monitored };
        }
        // `Total cost: $0.12` is money, not a loss.
        if named.base == "loss" && self.opens(index, b'$') {
            named.base = "cost_usd".to_owned();
            named.unit = Unit::parse("USD").0;
        }
        // `training speed: 998 iterations in 0:08:53`: a time beside a rate that is none.
        let beside_rate = self.label.as_ref().is_some_and(|(_, label)| {
            self.vocabulary.metric_of_words(label, None).is_some_and(|named| named.kind == MetricKind::Rate)
        });
        if timed && beside_rate && named.base == "duration" {
            return None;
        }
        // `Size 256x256: 0.086 ± 0.020 ms`: a time with its spread was measured, whatever stands before it.
        let spread =
            matches!(self.line.tokens.get(index + 1).map(|token| &token.kind), Some(TokenKind::Sign(b'~')));
        if timed
            && key.words.is_empty()
            && right.is_empty()
            && named.base == "duration"
            && named.qualifier.is_empty()
            && !spread
        {
            if matches!(token.kind, TokenKind::Number(_)) || self.line.text.len() > token.end {
                self.bare_time(token, &named);
            }
            return Some(NamedMetric { kind: MetricKind::Ignore, ..named });
        }
        if let TokenKind::Clock { time_of_day, .. } = token.kind {
            let spoken = key.words.iter().any(|word| {
                [
                    "total", "elapsed", "took", "duration", "train", "training", "taken", "cost", "epoch",
                    "spent", "used", "runtime",
                ]
                .contains(&word.as_str())
            });
            if (time_of_day && !spoken) || key.words.is_empty() {
                return None;
            }
        }
        if let Some(number) = numeric
            && !is_plausible(number, &named)
        {
            return None;
        }
        // `underwriting_score   1976` is how often a name occurs, in a listing of names.
        if key.pair && bare && matches!(named.kind, MetricKind::Value | MetricKind::Share) {
            return None;
        }
        // `training speed: 998 iterations in 0:08:53`: the number counts what stands behind it.
        if bare && named.kind == MetricKind::Rate && !right.is_empty() {
            return None;
        }
        if matches!(named.kind, MetricKind::Value | MetricKind::Share) {
            if key.spoken_split.is_some() {
                self.split = key.spoken_split;
            }
            named.split = named.split.or(self.split);
        }
        if self.is_epoch_time(key, &named) {
            named.base = "epoch_s".to_owned();
            named.inferred = Some("the time on a line that counts epochs");
        }
        // `[Valid] loss=0.41 time=2.3`: the time of an evaluation is not one of training.
        if matches!(named.kind, MetricKind::Time | MetricKind::Rate | MetricKind::Memory)
            && self.line_split.is_some_and(|split| split != Split::Train)
        {
            named.split = named.split.or(self.line_split);
        }
        // `Execution time: 6131.6 cycles`: the words behind the number are its unit.
        if named.kind == MetricKind::Time
            && printed.is_none()
            && let [unit] = right.as_slice()
            && ["cycle", "tick"].contains(&unit.as_str())
        {
            named.unit = Unit::parse(&format!("{unit}s")).0;
        }
        let measured = matches!(named.kind, MetricKind::Time | MetricKind::Rate)
            || named.base.starts_with("memory.per_")
            || named.base.starts_with("allocations.per_");
        if named.qualifier.is_empty() && measured {
            named.qualifier = self.row_label(index);
            if named.qualifier.is_empty() {
                named.qualifier = self.context.name.clone().unwrap_or_default();
            }
        }
        if let Some(remark) = self.remark(index).filter(|_| measured) {
            let own = (!named.qualifier.is_empty()).then(|| format!("{}_", named.qualifier));
            named.qualifier = own.unwrap_or_default() + &remark;
        }
        if !self.vocabulary.is_statistic(&key.text) {
            self.noun = key.words.clone();
        }
        if let Some(second) = &key.second {
            self.label = Some((usize::MAX, words(second)));
        }
        Some(named)
    }

    /// `Epoch 3 took 12.5 s`, `| end of epoch 3 | time: 143 s`.
    fn is_epoch_time(&self, key: &Key, named: &NamedMetric) -> bool {
        let counters = &self.plan.counters;
        named.base == "duration"
            && named.unit == Unit::Seconds
            && named.qualifier.is_empty()
            && named.statistic.is_none()
            && named.split.is_none()
            && key.words.iter().all(|word| EPOCH_TIME_WORDS.contains(&word.as_str()))
            && counters.iter().any(|counter| counter.kind == CounterKind::Epoch)
            && !counters.iter().any(|counter| counter.kind == CounterKind::Step)
    }

    /// `sort_small      124 ns/iter`: a label, a wide gap, and a number whose unit says what it is.
    pub(super) fn is_labeled(&self, key: &Key, printed: Option<&PrintedUnit>, token: &Token) -> bool {
        let measured =
            printed.is_some_and(|printed| matches!(printed.unit, Unit::Seconds | Unit::PerSecond(_)));
        measured && self.from == 0 && token.gap >= 3 && key.words.len() <= 4 && self.plan.counters.is_empty()
    }

    /// The words at the start of a line that a wide gap parts from its first number or key: `sort/1000     time: …`.
    fn row_label(&self, index: usize) -> String {
        let tokens = self.line.tokens;
        if !tokens.first().is_some_and(|token| token.kind == TokenKind::Word) {
            return String::new();
        }
        // `test sort ... bench:  40 ns/iter`: dots lead from the label to what was measured.
        let dots = tokens.iter().take(index).position(|token| token.kind == TokenKind::Bar);
        let wide = tokens.iter().take(index + 1).skip(1).position(|token| token.gap >= 2);
        let end = dots.or(wide.map(|place| place + 1));
        let Some(end) = end.filter(|end| *end <= 4) else { return String::new() };
        // `test` of Rust's test runner is no part of the data.
        let first = usize::from(
            dots.is_some() && end > 1 && tokens.first().is_some_and(|token| self.line.slice(token) == "test"),
        );
        let label = self.text_of(first, end);
        let plain =
            tokens.iter().take(end).all(|token| matches!(token.kind, TokenKind::Word | TokenKind::Number(_)));
        // `Step 117     [2.9 sec/step, …`: what counts labels nothing.
        let counts = tokens.iter().take(end).any(|token| {
            token.kind == TokenKind::Word && self.vocabulary.counter(self.line.slice(token)).is_some()
        });
        let known =
            counts || self.vocabulary.metric(label, None).is_some() || self.vocabulary.split(label).is_some();
        if plain && !known { words(label).join("_") } else { String::new() }
    }

    /// Whether a sign stands right before a token.
    pub(super) fn opens(&self, index: usize, sign: u8) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.line.tokens.get(before));
        matches!(before.map(|token| &token.kind), Some(TokenKind::Sign(found)) if *found == sign)
    }

    /// The words on the right of a number, up to the next sign; none where they are the next number's key.
    pub(super) fn right_words(&self, index: usize) -> Vec<String> {
        let mut found = Vec::new();
        for token in self.line.tokens.iter().skip(index + 1).take(4) {
            match token.kind {
                TokenKind::Word if token.gap <= 1 => found.extend(words(self.line.slice(token))),
                TokenKind::Sign(b':' | b'=' | b'(') | TokenKind::Number(_) | TokenKind::Counter { .. } => {
                    return Vec::new();
                }
                _ => break,
            }
        }
        if found.len() > 4 { Vec::new() } else { found }
    }

    /// Whether the words on the right end their part of the line.
    fn right_ends(&self, index: usize) -> bool {
        let rest = self.line.tokens.iter().skip(index + 1).find(|token| token.kind != TokenKind::Word);
        rest.is_none_or(|token| {
            matches!(token.kind, TokenKind::Sign(b',' | b')' | b';' | b'.' | b']') | TokenKind::Pipe)
        })
    }
}

/// A letter behind a number that is a unit beside these words: `2.13G` of memory, `330m` of time.
pub(in crate::generic) fn suffix_unit(number: &NumberToken, key: &[String]) -> Option<PrintedUnit> {
    let memory = key.iter().any(|word| ["mem", "memory", "vram", "ram", "rss"].contains(&word.as_str()));
    match number.suffix? {
        b'G' if memory => PrintedUnit::parse("GB"),
        b'M' if memory => PrintedUnit::parse("MB"),
        b'K' | b'k' if memory => PrintedUnit::parse("kB"),
        b'm' if timed_words(key) => PrintedUnit::parse("min"),
        _ => None,
    }
}

fn timed_words(key: &[String]) -> bool {
    key.iter().any(|word| {
        [
            "time", "took", "elapsed", "ran", "duration", "taken", "spent", "wall", "timer", "latency",
            "runtime", "in", "cost", "used",
        ]
        .contains(&word.as_str())
    })
}

pub(in crate::generic) fn in_share(token: &Token) -> bool {
    matches!(&token.kind, TokenKind::Number(number) if (0.0..=1.0).contains(&number.value))
}

/// Without a colon the metric's word must stand right before the number.
pub(super) fn ends_with_noun(key: &Key, named: &NamedMetric, printed: Option<&PrintedUnit>) -> bool {
    let Some(last) = key.words.last() else { return false };
    let qualifies = named.qualifier.split('_').next_back() == Some(last.as_str());
    let timed = printed.is_some_and(|printed| matches!(printed.unit, Unit::Seconds));
    !qualifies && (!timed || timed_words(&key.words) || named.base != "duration")
}

/// Whether a number can be what the words say.
fn is_plausible(number: &NumberToken, named: &NamedMetric) -> bool {
    let unit = number.unit.as_ref().map(|unit| &unit.unit);
    match named.kind {
        MetricKind::Share => {
            let percent = unit == Some(&Unit::Fraction);
            // `ignored errors: 0` counts them.
            let counted = number.value > 1.0 && named.base != "accuracy" || named.base == "error";
            let whole = number.whole && !percent && counted;
            (percent || (0.0..=100.0).contains(&number.value)) && !whole
        }
        MetricKind::Value => !(number.whole && number.value >= 1e9),
        MetricKind::Time => number.value >= 0.0,
        MetricKind::Count | MetricKind::Memory | MetricKind::Rate => number.value >= 0.0,
        _ => true,
    }
}
