//! Names from the words on the left of a number, with those before an earlier colon or in a heading.

use assay_model::Unit;

use super::Namer;
use super::key::Key;
use super::name::ends_with_noun;
use crate::generic::tokens::{Token, TokenKind};
use crate::vocabulary::{MetricKind, NamedMetric, PrintedUnit};
use crate::writeup::vocabulary::setting_name;

impl Namer<'_> {
    /// From the words on the left, then from these with the words before an earlier colon or a heading.
    pub(super) fn by_left(
        &self,
        key: &Key,
        printed: Option<&PrintedUnit>,
        token: &Token,
    ) -> Option<NamedMetric> {
        let label = self.label.as_ref().filter(|(_, _)| key.joined).map(|(_, label)| label);
        if key.words.is_empty() {
            if let Some(label) = label {
                return self.vocabulary.metric_of_words(label, printed);
            }
            let telling =
                printed.is_some_and(|printed| printed.is_telling() && printed.unit != Unit::Fraction);
            return if telling && !matches!(token.kind, TokenKind::Clock { .. }) {
                // `Prompt: 31 tokens, 102.3 tokens/s`: the first words of the line say of what.
                let rate = printed.is_some_and(|printed| matches!(printed.unit, Unit::PerSecond(_)));
                let unkeyed = rate && key.unit.is_none();
                let about = self.opening.as_ref().filter(|words| unkeyed && words.len() <= 3);
                about
                    .and_then(|about| self.vocabulary.metric_of_words(about, printed))
                    .or_else(|| self.vocabulary.metric_of_words(&[], printed))
            } else {
                None
            };
        }
        let decimal = matches!(&token.kind, TokenKind::Number(number) if !number.whole);
        let measured =
            |named: NamedMetric| matches!(named.kind, MetricKind::Share | MetricKind::Knob) && decimal;
        let timed = printed
            .is_some_and(|printed| matches!(printed.unit, Unit::Seconds | Unit::PerSecond(_) | Unit::Bytes));
        if setting_name(&key.text).is_some()
            && !timed
            && !self.vocabulary.metric_of_words(&key.words, None).is_some_and(measured)
        {
            return None;
        }
        if self.vocabulary.is_statistic(&key.text)
            && self.vocabulary.metric_of_words(&key.words, None).is_none()
        {
            if let Some(named) = self.of_last(key, printed, token) {
                return Some(named);
            }
            // `forward=3ms backward=8ms total=11ms`: a total is not that of the last part.
            let sums = key.words.last().is_some_and(|word| word == "total") && !self.plan.slots.is_empty();
            // A statistic behind a label of its own is none of what the heading names.
            let labeled = self.about.iter().any(|word| !self.vocabulary.is_filler(word));
            let nouns = [&self.noun, &self.about, &self.context.section];
            for noun in nouns.into_iter().take(if labeled { 2 } else { 3 }).skip(usize::from(sums)) {
                // `Early stopping, best iteration is:` is about an iteration, not about the times below it.
                let counts = noun.iter().any(|word| self.vocabulary.counter(word).is_some());
                let long = noun.len() > 3 && self.vocabulary.metric_of_words(noun, None).is_none();
                if (counts || long) && noun == &self.context.section {
                    continue;
                }
                let whole: Vec<String> = noun.iter().chain(&key.words).cloned().collect();
                if let Some(named) =
                    self.vocabulary.metric_of_words(&whole, printed).filter(|_| !noun.is_empty())
                {
                    return Some(named);
                }
            }
            if let Some(named) = self.of_episodes(key, printed) {
                return Some(named);
            }
        }
        // `Accuracy on the 10000 test images: 53 %`: the noun stands before another number, the split behind it.
        if let Some(mut named) = label.and_then(|label| self.vocabulary.metric_of_words(label, printed))
            && self
                .vocabulary
                .metric_of_words(&key.words, None)
                .is_none_or(|named| named.kind == MetricKind::Count)
        {
            named.split = named.split.or_else(|| self.vocabulary.split(&key.text));
            if let Some(condition) = self.condition(key) {
                let own = (!named.qualifier.is_empty()).then(|| format!("{}_", named.qualifier));
                named.qualifier = own.unwrap_or_default() + &condition;
            }
            return Some(named);
        }
        let own = self.vocabulary.metric_of_words(&key.words, printed);
        // `Epoch: [0][50/916] Time 0.5s Data 0.1s`: beside a counter, a word before a time names it.
        let part = printed.is_some_and(|printed| printed.unit == Unit::Seconds)
            && !self.plan.counters.is_empty()
            && key.words.len() == 1;
        // `array.push x 41,234,567 ops/sec ±0.81%`: what has a spread was measured.
        let behind = self.line.tokens.iter().find(|other| other.start >= token.end);
        let spread = behind.is_some_and(|token| token.kind == TokenKind::Sign(b'~'))
            && printed.is_some_and(|printed| matches!(printed.unit, Unit::PerSecond(_)))
            && self.from == 0;
        let own = own.filter(|named| {
            key.joined
                || spread
                || part
                || printed.is_some_and(|printed| printed.unit == Unit::Bytes)
                || self.is_labeled(key, printed, token)
                || (named.kind != MetricKind::Count && ends_with_noun(key, named, printed))
        });
        own.or_else(|| {
            let whole: Vec<String> = self.about.iter().chain(&key.words).cloned().collect();
            let named = (key.joined && !self.about.is_empty())
                .then(|| self.vocabulary.metric_of_words(&whole, printed))
                .flatten();
            // `iops: min=15664, samples=1551`: a bare whole number behind a label of a time or rate counts something.
            let counts = matches!(&token.kind, TokenKind::Number(number) if number.whole)
                && printed.is_none()
                && !self.vocabulary.is_statistic(&key.text);
            named.filter(|named| {
                !counts || !matches!(named.kind, MetricKind::Time | MetricKind::Rate | MetricKind::Memory)
            })
        })
        .or_else(|| self.by_heading(key, printed, token))
    }

    /// `0.086 ± 0.020 ms (min=0.072, median=0.083)`: statistics in parentheses are of the number before them, in its unit.
    pub(super) fn of_last(
        &self,
        key: &Key,
        printed: Option<&PrintedUnit>,
        token: &Token,
    ) -> Option<NamedMetric> {
        let last = self.last.as_ref().filter(|_| key.joined && printed.is_none() && self.noun.is_empty())?;
        let head = self.line.text.get(..token.start)?;
        let inside = head.rfind('(').is_some_and(|open| head.rfind(')').is_none_or(|close| close < open));
        let measured = matches!(last.kind, MetricKind::Time | MetricKind::Rate) && last.unit != Unit::One;
        let mut spoken = vec!["time".to_owned()];
        spoken.extend(key.words.iter().cloned());
        let statistic = self.vocabulary.metric_of_words(&spoken, None)?.statistic?;
        (inside && measured).then(|| NamedMetric { statistic: Some(statistic), ..last.clone() })
    }

    /// `Episode 100  Avg: 21.3  Best: 45.0`: what episodes are averaged by is their reward.
    pub(super) fn of_episodes(&self, key: &Key, printed: Option<&PrintedUnit>) -> Option<NamedMetric> {
        let episodes = |token: &Token| {
            token.kind == TokenKind::Word
                && self.line.slice(token).trim_end_matches('s').eq_ignore_ascii_case("episode")
        };
        if !key.joined || self.plan.counters.is_empty() || !self.line.tokens.iter().take(3).any(episodes) {
            return None;
        }
        let whole: Vec<String> =
            std::iter::once("reward".to_owned()).chain(key.words.iter().cloned()).collect();
        let named = self.vocabulary.metric_of_words(&whole, printed)?;
        Some(NamedMetric { inferred: Some("a statistic alone on a line that counts episodes"), ..named })
    }
}
