//! Finds the phrase that names a metric, and sorts the words around it.

use std::borrow::Cow;

use super::joined::is_unspaced;
use super::{CounterKind, MetricKind, Split, Vocabulary, words};

pub(super) struct FoundPhrase {
    pub metric: usize,
    pub at: std::ops::Range<usize>,
}

/// The words around a metric's phrase.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    pub split: Option<Split>,
    pub statistic: Option<String>,
    pub qualifiers: Vec<String>,
}

impl Vocabulary {
    /// The longest phrase in some words that names a metric; of equally long ones the last, as a noun follows what
    /// qualifies it.
    pub(super) fn find(&self, spoken: &[String]) -> Option<FoundPhrase> {
        // `Test accuracy with best params` is an accuracy: what stands behind these words is a condition.
        let condition = spoken.iter().position(|word| ["with", "using", "after"].contains(&word.as_str()));
        let head = condition.and_then(|place| self.longest_phrase(spoken.get(..place)?)).filter(|found| {
            let kind = self.metrics.get(found.metric).map(|entry| entry.kind);
            !matches!(kind, Some(MetricKind::Ignore | MetricKind::Count))
        });
        head.or_else(|| self.longest_phrase(spoken))
    }

    fn longest_phrase(&self, spoken: &[String]) -> Option<FoundPhrase> {
        let mut knob = None;
        for length in (1..=self.longest.min(spoken.len())).rev() {
            for start in (0..=spoken.len() - length).rev() {
                let Some(phrase) = spoken.get(start..start + length) else { continue };
                let Some(metric) = self.phrases.get(&phrase.join(" ")) else { continue };
                let found = FoundPhrase { metric: *metric, at: start..start + length };
                // `loss_LR` is a loss: what a program sets names a number only where nothing else does.
                let set = self.metrics.get(*metric).is_some_and(|entry| entry.kind == MetricKind::Knob);
                if !set {
                    return Some(found);
                }
                knob = knob.or(Some(found));
            }
            if knob.is_some() {
                break;
            }
        }
        knob
    }

    /// What the words around the phrase say.
    pub(super) fn sort(&self, spoken: &[String], matched: &std::ops::Range<usize>, rest: &mut Remaining) {
        let mut index = 0;
        // `accuracy/top1` is an accuracy, not one of accuracies.
        let found = spoken.get(matched.clone()).unwrap_or_default();
        let entry = self.phrases.get(&found.join(" ")).and_then(|metric| self.metrics.get(*metric));
        let foreign = self.foreign.contains(&found.join(" "))
            || spoken.iter().any(|word| !word.is_ascii() && word.contains(is_unspaced));
        let says_nothing =
            |word: &String| self.fillers.contains(word) || foreign && self.foreign_fillers.contains(word);
        let noun = |word: &str| entry.is_some_and(|entry| entry.name.split('.').next() == Some(word));
        while let Some(word) = spoken.get(index) {
            if matched.contains(&index) {
                index += 1;
                continue;
            }
            let pair = spoken.get(index + 1).map(|next| format!("{word} {next}"));
            let pair = pair.filter(|_| !matched.contains(&(index + 1)));
            let statistic = |text: &str| self.statistics.get(text).cloned().or_else(|| percentile(text));
            if let Some(found) = pair.as_deref().and_then(statistic) {
                rest.statistic = Some(found);
                index += 2;
                continue;
            }
            if let Some(split) = pair.as_deref().and_then(|pair| self.splits.get(pair)) {
                rest.split = rest.split.or(Some(*split));
                index += 2;
                continue;
            }
            if let Some(split) = self.splits.get(word) {
                rest.split = rest.split.or(Some(*split));
            } else if let Some(found) = statistic(word) {
                // `best average` is a best one.
                if rest.statistic.is_none() || rest.statistic.as_deref() == Some("mean") {
                    rest.statistic = Some(found);
                }
            } else if !says_nothing(word) && !rest.qualifiers.contains(word) && !noun(word) {
                rest.qualifiers.push(word.clone());
            }
            index += 1;
        }
    }

    /// The split that words name, if they name nothing else that matters: `Test set`, `Validation results`.
    pub fn split(&self, phrase: &str) -> Option<Split> {
        let mut rest = Remaining::default();
        self.sort(&words(phrase), &(0..0), &mut rest);
        rest.split.filter(|_| rest.qualifiers.len() <= 1)
    }

    /// The split that one word of a text names. Most words need not be cut for that.
    pub fn split_of_word(&self, word: &str) -> Option<Split> {
        let is_plain = word.is_ascii() && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
        let small = match word.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            true => Cow::Owned(word.to_ascii_lowercase()),
            false => Cow::Borrowed(word),
        };
        if is_plain && !self.may_be_joined(&small) {
            self.splits.get(&*small).copied()
        } else {
            self.split(word)
        }
    }

    /// What a counter with this key counts.
    pub fn counter(&self, phrase: &str) -> Option<CounterKind> {
        let mut spoken = words(phrase);
        spoken.retain(|word| {
            !self.splits.contains_key(word) && !["current", "no", "the", "at"].contains(&word.as_str())
        });
        self.counters.get(&spoken.join(" ")).copied()
    }

    /// Whether words state a plan or a setting, not a measurement.
    pub fn is_budget(&self, spoken: &[String]) -> bool {
        spoken.iter().any(|word| self.budgets.contains(word))
    }

    /// Whether a word says nothing of what was measured.
    pub fn is_filler(&self, word: &str) -> bool {
        self.fillers.contains(word)
    }

    /// Whether words are a statistic alone: `avg`, `p99`.
    pub fn is_statistic(&self, phrase: &str) -> bool {
        let mut rest = Remaining::default();
        self.sort(&words(phrase), &(0..0), &mut rest);
        rest.statistic.is_some() && rest.qualifiers.is_empty() && rest.split.is_none()
    }
}

/// `p99`, `99th percentile`.
fn percentile(text: &str) -> Option<String> {
    let head = text.strip_suffix(" percentile").or_else(|| text.strip_suffix(" pct")).unwrap_or(text);
    let digits = head.strip_prefix('p').or_else(|| head.strip_suffix("th"))?;
    let whole = !digits.is_empty()
        && digits.len() <= 6
        && digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    whole.then(|| format!("p{digits}"))
}
