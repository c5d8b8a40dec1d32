//! What the words beside a number mean: `val_acc`, `Validation Accuracy` and `acc (val)` are one metric with one split.
//!
//! The words are data: `vocabulary/words.toml`, which a file of the same form extends. Whoever reads a key, a column
//! header or a label asks [`Vocabulary::metric`] (words and an optional unit) or [`Vocabulary::header`] (a header with
//! its unit in parentheses).
//!
//! A name is put together as `metric[.split][.qualifier][.statistic]`: `Best val acc` is `accuracy.eval.best`,
//! `box_loss` is `loss.box`, `p99 latency` is `latency.p99`. Words that nobody knows are qualifiers, so that two
//! different numbers never share a name.
//!
//! | file | holds |
//! |---|---|
//! | `vocabulary/text.rs` | cutting a key into words and a unit |
//! | `vocabulary/joined.rs` | words that are written without blanks between them |
//! | `vocabulary/phrases.rs` | finding the phrase that names a metric |
//! | `vocabulary/naming.rs` | putting the name together |
//! | `vocabulary/rates.rs`, `units.rs` | rates and units |
//! | `vocabulary/names.rs` | the names that words can lead to |
//! | `vocabulary/file.rs` | the form of `words.toml` |

mod file;
mod joined;
mod names;
mod naming;
mod phrases;
mod rates;
mod text;
mod units;

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use assay_model::{Direction, Unit};

pub use file::MetricKind;
use file::{BUILT_IN, Better, MetricEntry, SettingEntry, VocabularyFile};
pub(crate) use joined::is_unspaced;
use text::cut;
pub use text::{split_unit, with_percentiles, words};
pub use units::PrintedUnit;

/// Which part of the data a number was taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Split {
    /// Training data.
    Train,
    /// Held-out data that is not called the test set.
    Eval,
    /// Data that is called the test set.
    Test,
}

impl Split {
    /// Its place in a metric's name.
    pub fn word(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Eval => "eval",
            Split::Test => "test",
        }
    }
}

/// What a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterKind {
    /// Passes over the data.
    Epoch,
    /// Anything smaller: steps, iterations, batches, episodes.
    Step,
}

/// A metric as words name it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedMetric {
    /// The name without split, qualifier and statistic.
    pub base: String,
    /// Which data it was taken on, where words say so.
    pub split: Option<Split>,
    /// Unknown words, joined by underscores; empty without any.
    pub qualifier: String,
    /// `best`, `p99`, `total`, and so on.
    pub statistic: Option<String>,
    /// What its numbers are.
    pub kind: MetricKind,
    /// Which direction is better, where that can be said.
    pub better: Option<Direction>,
    /// The base unit; a bare number where neither the words nor a printed unit say more.
    pub unit: Unit,
    /// From the printed scale to the base unit.
    pub factor: f64,
    /// Whether the words call it a mean, which its name leaves out: every loss is one.
    pub averaged: bool,
    /// How the name or unit was inferred, where the words beside the number do not state it.
    pub inferred: Option<&'static str>,
}

impl NamedMetric {
    /// The whole name.
    pub fn name(&self) -> String {
        let mut name = self.base.clone();
        let split = self.split.map(Split::word).unwrap_or_default();
        for part in [split, &self.qualifier, self.statistic.as_deref().unwrap_or_default()] {
            if !part.is_empty() {
                name.push('.');
                name.push_str(part);
            }
        }
        name
    }
}

/// A vocabulary that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct VocabularyError(String);

/// Words and what they mean.
#[derive(Debug)]
pub struct Vocabulary {
    metrics: Vec<MetricEntry>,
    /// Each phrase, its words joined by blanks, and the metric it means.
    phrases: HashMap<String, usize>,
    splits: HashMap<String, Split>,
    statistics: HashMap<String, String>,
    counters: HashMap<String, CounterKind>,
    fillers: HashSet<String>,
    /// Phrases of other languages that name a metric.
    foreign: HashSet<String>,
    /// Words of other languages that say nothing beside these.
    foreign_fillers: HashSet<String>,
    budgets: HashSet<String>,
    longest: usize,
    /// Entries of scripts that put no blanks between words.
    joined: HashSet<String>,
    /// What compounds begin with: `trainings` in `Trainingsverlust`.
    starts: Vec<String>,
    settings: Vec<SettingEntry>,
}

static EXTENDED: OnceLock<Vocabulary> = OnceLock::new();

static BUILT_IN_WORDS: LazyLock<Vocabulary> = LazyLock::new(|| {
    let file = toml::from_str(BUILT_IN).unwrap_or_default();
    Vocabulary::of(&[file])
});

impl Vocabulary {
    /// The vocabulary that everything here reads with: that of this program, extended by the user's own if there is one.
    pub fn current() -> &'static Vocabulary {
        EXTENDED.get().unwrap_or(&BUILT_IN_WORDS)
    }

    /// Extends the vocabulary for the rest of the process. To be called before anything is read; a second file is
    /// refused, because names must not change between two files that are compared.
    pub fn extend(text: &str) -> Result<(), VocabularyError> {
        let extended = Vocabulary::extended(text)?;
        EXTENDED.set(extended).map_err(|_| VocabularyError("another vocabulary is in use already".to_owned()))
    }

    /// Canonical names of settings with the phrases for them, the user's own first.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.settings.iter().map(|entry| (entry.name.as_str(), entry.words.as_slice()))
    }

    /// The words of this program and those of a file of the same form, which are tried first.
    pub fn extended(text: &str) -> Result<Vocabulary, VocabularyError> {
        let own: VocabularyFile = toml::from_str(text).map_err(|error| VocabularyError(error.to_string()))?;
        let built_in = toml::from_str(BUILT_IN).map_err(|error| VocabularyError(error.to_string()))?;
        Ok(Vocabulary::of(&[own, built_in]))
    }

    fn of(files: &[VocabularyFile]) -> Vocabulary {
        let mut made = Vocabulary {
            metrics: Vec::new(),
            phrases: HashMap::new(),
            splits: HashMap::new(),
            statistics: HashMap::new(),
            counters: HashMap::new(),
            fillers: HashSet::new(),
            foreign: HashSet::new(),
            foreign_fillers: HashSet::new(),
            budgets: HashSet::new(),
            longest: 1,
            joined: HashSet::new(),
            starts: Vec::new(),
            settings: Vec::new(),
        };
        for file in files {
            made.add(file);
        }
        made
    }

    fn add(&mut self, file: &VocabularyFile) {
        let lists =
            [&file.splits, &file.statistics, &file.counters].into_iter().flat_map(|lists| lists.values());
        let others = [&file.fillers.words, &file.fillers.foreign, &file.budgets.words];
        let named = file.metric.iter().flat_map(|entry| [&entry.words, &entry.foreign]);
        let listed = lists.chain(others).chain(named).chain(file.setting.iter().map(|entry| &entry.words));
        self.joined.extend(listed.flatten().filter(|phrase| phrase.contains(is_unspaced)).cloned());
        self.starts.extend(file.compounds.starts.iter().cloned());
        for entry in &file.metric {
            for phrase in entry.words.iter().chain(&entry.foreign) {
                let phrase = cut(phrase);
                self.longest = self.longest.max(phrase.len());
                self.phrases.entry(phrase.join(" ")).or_insert(self.metrics.len());
            }
            self.foreign.extend(entry.foreign.iter().map(|phrase| cut(phrase).join(" ")));
            self.metrics.push(entry.clone());
        }
        for (name, listed) in &file.splits {
            let split = match name.as_str() {
                "train" => Split::Train,
                "test" => Split::Test,
                _ => Split::Eval,
            };
            self.splits.extend(listed.iter().map(|word| (cut(word).join(" "), split)));
        }
        for (name, listed) in &file.statistics {
            self.statistics.extend(listed.iter().map(|word| (cut(word).join(" "), name.clone())));
        }
        for (name, listed) in &file.counters {
            let kind = if name == "epoch" { CounterKind::Epoch } else { CounterKind::Step };
            for word in listed {
                self.counters.entry(cut(word).join(" ")).or_insert(kind);
            }
        }
        self.settings.extend(file.setting.iter().cloned());
        self.foreign_fillers.extend(file.fillers.foreign.iter().map(|word| cut(word).join(" ")));
        self.fillers.extend(file.fillers.words.iter().map(|word| cut(word).join(" ")));
        self.budgets.extend(file.budgets.words.iter().map(|word| cut(word).join(" ")));
    }

    /// The metric that a column header names, its unit in parentheses, brackets or behind a comma.
    pub fn header(&self, text: &str) -> Option<NamedMetric> {
        let (phrase, unit) = split_unit(text);
        self.metric(&phrase, unit.as_ref())
    }

    /// The metric that words name. A printed unit of time or rate decides over the noun: `0.4ms loss` is a time.
    pub fn metric(&self, phrase: &str, unit: Option<&PrintedUnit>) -> Option<NamedMetric> {
        let spoken = words(phrase);
        self.metric_of_words(&spoken, unit)
    }

    /// What the numbers of a metric are, by its name.
    pub fn kind(&self, name: &str) -> Option<MetricKind> {
        let base = name.split('.').next().unwrap_or(name);
        self.metrics.iter().find(|entry| entry.name == base).map(|entry| entry.kind)
    }
}

#[cfg(test)]
mod tests;
