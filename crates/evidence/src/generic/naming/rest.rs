//! Numbers that no words beside them name: times alone, second numbers in parentheses, keys that nobody knows.

use assay_model::Unit;

use super::Namer;
use super::key::Key;
use crate::generic::plan::Slot;
use crate::generic::tokens::{NumberToken, Token, TokenKind};
use crate::vocabulary::{MetricKind, NamedMetric, PrintedUnit, words};
use crate::writeup::vocabulary::setting_name;

impl Namer<'_> {
    /// A number in parentheses behind another.
    pub(super) fn second(&self, index: usize) -> Option<NamedMetric> {
        let behind = self.line.tokens.get(index + 1).map(|token| &token.kind);
        let adjacent = self.from + 1 == index;
        if !adjacent || behind != Some(&TokenKind::Sign(b')')) {
            return None;
        }
        let TokenKind::Number(number) = &self.line.tokens.get(index)?.kind else { return None };
        // `98.7 ms   (12.51x)`: how many times as fast.
        if self.line.slice(self.line.tokens.get(index)?).ends_with('x') {
            let last = self.last.as_ref().filter(|last| last.kind == MetricKind::Time)?;
            let named = self.vocabulary.metric("speedup", None)?;
            return Some(NamedMetric { qualifier: last.qualifier.clone(), ..named });
        }
        // `0:08:53 (0.5349 s / it)`: a unit of its own names a number.
        let named = |unit: &&PrintedUnit| unit.per.is_some() || matches!(unit.unit, Unit::PerSecond(_));
        if let Some(unit) = number.unit.as_ref().filter(named) {
            return self.vocabulary.metric_of_words(&[], Some(unit));
        }
        let last = self.last.clone()?;
        // `loss 2.63 (-0.1)`, `(+0.4)`: a change since the line before.
        if self.line.text.as_bytes().get(self.line.tokens.get(index)?.start) == Some(&b'+')
            || number.value < 0.0 && self.last_value >= 0.0
        {
            return None;
        }
        // `Acc@1 76.13 (23.87)`: what is left to the whole is the error.
        let rest = |whole: f64| (self.last_value + number.value - whole).abs() < whole * 1e-3;
        if last.kind == MetricKind::Share && (rest(100.0) || rest(1.0)) {
            return None;
        }
        let averaged = matches!(last.kind, MetricKind::Value | MetricKind::Share | MetricKind::Time);
        let same_unit = number.unit.as_ref().is_none_or(|unit| unit.unit == last.unit);
        if !averaged || !same_unit || number.whole || number.suffix.is_some() {
            return None;
        }
        match self.label.as_ref().filter(|(at, _)| *at == usize::MAX) {
            Some((_, words)) => {
                let mut named = self.vocabulary.metric_of_words(words, None)?;
                named.split = last.split;
                named.qualifier = last.qualifier;
                Some(named)
            }
            None => Some(NamedMetric {
                statistic: Some("mean".to_owned()),
                inferred: Some("a second value in parentheses is the running mean"),
                ..last
            }),
        }
    }

    /// A time that nothing names is an epoch's on a line that counts epochs.
    pub(super) fn bare_time(&mut self, token: &Token, named: &NamedMetric) {
        if let Some(place) = self.line.place(token) {
            self.bare.push(Slot {
                place,
                token: usize::MAX - 1,
                metric: "epoch_s".to_owned(),
                unit: Unit::Seconds,
                factor: named.factor,
                kind: MetricKind::Time,
                known: true,
                averaged: false,
                when_complete: false,
                inferred: Some("the only time on a line that counts epochs"),
            });
        }
    }

    /// `p:88.8%, r:88.4%, f1:88.6%`: beside an F1 score, these letters are its parts.
    pub(super) fn letter(&self, key: &Key, printed: Option<&PrintedUnit>) -> Option<NamedMetric> {
        let letter = key.words.last()?.as_str();
        let word = match letter {
            "p" => "precision",
            "r" => "recall",
            _ => return None,
        };
        let beside = words(self.line.text).iter().any(|word| ["f1", "f", "fb1"].contains(&word.as_str()));
        let mut spoken = key.words.clone();
        spoken.pop();
        spoken.push(word.to_owned());
        let mut named = self.vocabulary.metric_of_words(&spoken, printed).filter(|_| beside)?;
        named.split = named.split.or(self.split);
        Some(named)
    }

    /// `fwd_ms=4.47 total_mb=2744.0`: a key that ends in a unit of memory, beside measurements.
    pub(super) fn memory_behind_times(
        &mut self,
        index: usize,
        token: &Token,
        key: &Key,
        printed: Option<&PrintedUnit>,
    ) -> bool {
        let stated = key.unit.as_ref().is_some_and(|unit| unit.unit == Unit::Bytes);
        let beside = self
            .plan
            .slots
            .iter()
            .any(|slot| slot.known && matches!(slot.kind, MetricKind::Time | MetricKind::Rate));
        if !stated || !beside || key.words.len() > 3 {
            return false;
        }
        let mut spoken = key.words.clone();
        spoken.push("memory".to_owned());
        let Some(named) = self.vocabulary.metric_of_words(&spoken, printed) else { return false };
        self.push(index, token, named, printed);
        true
    }

    /// Whether the number behind `best:` on a line exceeds that of the test; on a line about learning, beside it.
    fn best_exceeds(&self, value: f64, key: &str) -> bool {
        let behind = |word: &str| {
            let place = self.line.tokens.iter().position(|token| self.line.slice(token) == word)?;
            match self.line.tokens.get(place + 2).map(|token| &token.kind) {
                Some(TokenKind::Number(number)) => Some(number.value),
                _ => None,
            }
        };
        let test = if key == "learn" || key == "train" { behind("test") } else { Some(value) };
        behind("best").zip(test).is_some_and(|(best, test)| best > test)
    }

    pub(super) fn unknown(&mut self, index: usize, token: &Token, key: Key, printed: Option<&PrintedUnit>) {
        if let Some(second) = &key.second {
            self.label = Some((usize::MAX, words(second)));
        }
        let TokenKind::Number(number) = &token.kind else { return };
        // `Stage: [3]`: a whole number in brackets numbers something.
        if key.words.is_empty() || number.whole && self.opens(index, b'[') {
            return;
        }
        // `per=1.02%, samples=1551` beside statistics.
        let counts = number.whole && ["sample", "count", "n"].contains(&key.text.as_str());
        if self.vocabulary.is_filler(&key.text) || counts && self.plan.slots.len() > 1 {
            return;
        }
        if !key.joined && self.is_one_of_splits(&key, number) {
            return self.keep(index, token, key.words.join("_"), printed);
        }
        if !key.joined {
            // `Run 1: 3.5s`: the words before a whole number name what it numbers.
            let improved = key.words.last().is_some_and(|word| word == "from");
            // `Test net output #0: loss = 2.65`: a numbered part of the data.
            let split = key.words.first().and_then(|word| self.vocabulary.split(word));
            if let Some(split) = split.filter(|_| number.whole && self.opens(index, b'#')) {
                (self.split, self.line_split) = (Some(split), Some(split));
            }
            self.label = (number.whole || improved).then_some((index, key.words));
            return;
        }
        // `Loading checkpoint shards: 100% 2/2`: a share beside a counter says how much of it is done.
        let next = self.line.tokens.get(index + 1).map(|token| &token.kind);
        if printed.is_some_and(|printed| printed.unit == Unit::Fraction)
            && matches!(next, Some(TokenKind::Counter { .. } | TokenKind::Bar | TokenKind::Pipe))
            && self.line.tokens.iter().any(|token| matches!(token.kind, TokenKind::Counter { .. }))
        {
            return;
        }
        // `bal Iter: 15300`: what counts is no measurement, whatever stands before it.
        if number.whole && key.words.last().is_some_and(|word| self.vocabulary.counter(word).is_some()) {
            return;
        }
        if self.memory_behind_times(index, token, &key, printed) {
            return;
        }
        // The size of a file that is downloaded at some rate.
        let is_size = printed.is_some_and(|printed| printed.unit == Unit::Bytes);
        if key.words.len() > 4 || is_size {
            return;
        }
        // `Train: 0 [50/1251]`: a split numbers something.
        if let Some(split) = self.vocabulary.split(&key.text).filter(|_| number.whole) {
            (self.split, self.line_split) = (Some(split), Some(split));
            return;
        }

        // `summary: 100 layers`: what is counted stands behind the number.
        if number.whole && number.unit.is_none() && !self.right_words(index).is_empty() {
            return;
        }
        if let Some(unit) = self.line_unit.clone()
            && let Some(named) = self.vocabulary.metric_of_words(&key.words, Some(&unit))
        {
            self.push(index, token, named, Some(&unit));
            return;
        }
        if let Some(named) = self.letter(&key, printed) {
            self.push(index, token, named, printed);
            return;
        }
        // `learn: 0.5648  test: 0.5632  best: 0.5632 (12)`: boosting prints its loss without a word for it.
        let learns = self.line.tokens.iter().any(|token| self.line.slice(token) == "learn");
        // `Loss: 1.7, Train: 95.3%, Valid: 92.5%`: what is measured on a split beside its loss is a score.
        let beside_loss = self.plan.slots.iter().any(|slot| slot.known && slot.metric.starts_with("loss"));
        let share = printed.is_some_and(|printed| printed.unit == Unit::Fraction)
            || beside_loss && !number.whole && (0.0..=1.0).contains(&number.value);
        if !learns && share && key.words.len() == 1 && self.vocabulary.split(&key.text).is_some() {
            let spoken = vec![key.text.clone(), "score".to_owned()];
            if let Some(named) = self.vocabulary.metric_of_words(&spoken, printed) {
                let inferred = Some("the score of a split; what it measures is not printed");
                self.push(index, token, NamedMetric { inferred, ..named }, printed);
                return;
            }
        }
        if learns && !number.whole && self.vocabulary.split(&key.text).is_some() {
            // A best that exceeds the number of this round is that of a score.
            let noun = if self.best_exceeds(number.value, &key.text) { "score" } else { "loss" };
            let spoken = vec![key.text.clone(), noun.to_owned()];
            if let Some(named) = self.vocabulary.metric_of_words(&spoken, printed) {
                self.noun = spoken;
                let inferred = Some(
                    "the number of a split beside `learn` is the loss, or a score where a higher one is best",
                );
                self.push(index, token, NamedMetric { inferred, ..named }, printed);
                return;
            }
        }
        // A letter alone is a variable: `C=0.1, score=0.87`.
        if key.text.len() == 1 {
            return;
        }
        let plain = setting_name(&key.text).is_none()
            && self.vocabulary.metric(&format!("{} loss", key.text), None).is_some();
        if !plain || number.suffix.is_some() {
            return;
        }
        // `Output stats: min=-3.1, max=31.2`: a statistic is one of what stands before it.
        let about = self.about.iter().filter(|_| self.vocabulary.is_statistic(&key.text));
        let parts: Vec<String> = about.chain(&key.words).cloned().collect();
        self.keep(index, token, parts.join("_"), printed);
    }

    /// `epoch 1 train 0.42 test 0.19 acc 94.1`: what is measured on several splits, on a line that counts epochs. What
    /// it is, nothing says.
    fn is_one_of_splits(&self, key: &Key, number: &NumberToken) -> bool {
        let split = |word: &str| self.vocabulary.split(word).is_some();
        let [word] = key.words.as_slice() else { return false };
        if !split(word) || number.whole || number.unit.is_some() || self.plan.counters.is_empty() {
            return false;
        }
        let measured = self.line.tokens.windows(2).filter(|pair| match pair {
            [word, number] => {
                let decimal = matches!(&number.kind, TokenKind::Number(number) if !number.whole && number.unit.is_none());
                decimal && word.kind == TokenKind::Word && split(&self.line.slice(word).to_lowercase())
            }
            _ => false,
        });
        measured.count() >= 2
    }

    /// Keeps a number under its own words.
    fn keep(&mut self, index: usize, token: &Token, metric: String, printed: Option<&PrintedUnit>) {
        let Some(place) = self.line.place(token) else { return };
        let (unit, factor) =
            printed.map_or((Unit::One, 1.0), |printed| (printed.unit.clone(), printed.factor));
        self.plan.slots.push(Slot {
            place,
            token: index,
            metric,
            unit,
            factor,
            kind: MetricKind::Value,
            known: false,
            averaged: false,
            when_complete: false,
            inferred: None,
        });
    }
}
