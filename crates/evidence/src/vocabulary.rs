//! What the words beside a number mean: `val_acc`, `Validation Accuracy` and `acc (val)` are one metric with one split.
//!
//! The words are data: `vocabulary/words.toml`, which a file of the same form extends. Whoever reads a key, a column
//! header or a label asks [`Vocabulary::metric`] (words and an optional unit) or [`Vocabulary::header`] (a header with
//! its unit in parentheses).
//!
//! A name is put together as `metric[.split][.qualifier][.statistic]`: `Best val acc` is `accuracy.eval.best`,
//! `box_loss` is `loss.box`, `p99 latency` is `latency.p99`. Words that nobody knows are qualifiers, so that two
//! different numbers never share a name.

mod file;
mod names;
mod units;

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use assay_model::{Direction, Unit};

pub use file::MetricKind;
use file::{BUILT_IN, Better, MetricEntry, SettingEntry, VocabularyFile};
pub use units::PrintedUnit;

use crate::writeup::vocabulary::words::words as plain_words;

/// More unknown words beside a metric's word than this are a sentence.
const MOST_QUALIFIERS: usize = 4;

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
    budgets: HashSet<String>,
    longest: usize,
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
            budgets: HashSet::new(),
            longest: 1,
            settings: Vec::new(),
        };
        for file in files {
            made.add(file);
        }
        made
    }

    fn add(&mut self, file: &VocabularyFile) {
        for entry in &file.metric {
            for phrase in &entry.words {
                let phrase = words(phrase);
                self.longest = self.longest.max(phrase.len());
                self.phrases.entry(phrase.join(" ")).or_insert(self.metrics.len());
            }
            self.metrics.push(entry.clone());
        }
        for (name, listed) in &file.splits {
            let split = match name.as_str() {
                "train" => Split::Train,
                "test" => Split::Test,
                _ => Split::Eval,
            };
            self.splits.extend(listed.iter().map(|word| (words(word).join(" "), split)));
        }
        for (name, listed) in &file.statistics {
            self.statistics.extend(listed.iter().map(|word| (words(word).join(" "), name.clone())));
        }
        for (name, listed) in &file.counters {
            let kind = if name == "epoch" { CounterKind::Epoch } else { CounterKind::Step };
            for word in listed {
                self.counters.entry(words(word).join(" ")).or_insert(kind);
            }
        }
        self.settings.extend(file.setting.iter().cloned());
        self.fillers.extend(file.fillers.words.iter().map(|word| words(word).join(" ")));
        self.budgets.extend(file.budgets.words.iter().map(|word| words(word).join(" ")));
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

    /// The same for words that are cut already.
    pub fn metric_of_words(&self, spoken: &[String], unit: Option<&PrintedUnit>) -> Option<NamedMetric> {
        let found = self.find(spoken);
        let mut rest = Remaining::default();
        let matched = found.as_ref().map_or(0..0, |found| found.at.clone());
        self.sort(spoken, &matched, &mut rest);
        if rest.qualifiers.len() > MOST_QUALIFIERS {
            return None;
        }
        if rest.qualifiers.iter().any(|word| self.budgets.contains(word)) {
            return None;
        }
        let entry = found.as_ref().and_then(|found| self.metrics.get(found.metric));
        // `param_noise_stddev` counts no parameters: what is counted stands last.
        let behind = spoken.get(matched.end..).unwrap_or_default();
        let counted = entry.is_some_and(|entry| entry.kind == MetricKind::Count);
        if counted && behind.iter().any(|word| rest.qualifiers.contains(word)) {
            return None;
        }
        // `Data 0.2s` is the time of the data, though the word says nothing of an accuracy.
        let vague = entry.is_none_or(|entry| entry.kind == MetricKind::Time);
        if vague && rest.qualifiers.is_empty() && spoken.iter().any(|word| word == "data") {
            rest.qualifiers.push("data".to_owned());
        }
        let noun = spoken.get(matched).unwrap_or_default();
        // A bare `power` is an exponent as often as a draw of watts.
        let physical =
            entry.is_some_and(|entry| matches!(entry.kind, MetricKind::Power | MetricKind::Energy));
        if physical && unit.is_none() && spoken.len() == 1 {
            return None;
        }
        // `truncation_rate=0.17` is a share of something; only what flows has a speed.
        let is_speed = |word: &String| FLOWS.contains(&word.as_str());
        if unit.is_none()
            && noun == ["rate"]
            && !rest.qualifiers.is_empty()
            && !rest.qualifiers.iter().any(is_speed)
        {
            return None;
        }
        // `documents_per_second`: words that are a rate, of whatever it is.
        if let (None, None, Some(rate)) = (entry, unit, rate_in_words(spoken)) {
            return self.by_unit(None, noun, Remaining::default(), &rate);
        }
        match unit {
            Some(unit) if unit.is_telling() && unit.unit != Unit::Fraction => {
                self.by_unit(entry, noun, rest, unit)
            }
            _ => self.by_words(entry?, rest, unit),
        }
    }

    fn by_words(
        &self,
        entry: &MetricEntry,
        rest: Remaining,
        unit: Option<&PrintedUnit>,
    ) -> Option<NamedMetric> {
        let (mut base_unit, mut factor) = Unit::parse(&entry.unit);
        if let Some(printed) = unit {
            let fits = match entry.kind {
                MetricKind::Power => printed.unit == Unit::Other("W".to_owned()),
                MetricKind::Energy => printed.unit == Unit::Other("J".to_owned()),
                MetricKind::Time | MetricKind::Memory => false,
                _ => true,
            };
            if !fits {
                return None;
            }
            if matches!(printed.unit, Unit::Fraction | Unit::Count(_)) {
                (base_unit, factor) = (printed.unit.clone(), printed.factor);
            }
        }
        Some(self.put_together(entry, rest, base_unit, factor))
    }

    fn put_together(&self, entry: &MetricEntry, rest: Remaining, unit: Unit, factor: f64) -> NamedMetric {
        let mut metric = NamedMetric {
            base: entry.name.clone(),
            split: rest.split,
            qualifier: rest.qualifiers.join("_"),
            statistic: rest.statistic,
            kind: entry.kind,
            better: entry.better.map(Better::direction),
            unit,
            factor,
            averaged: false,
            inferred: None,
        };
        let mean = metric.statistic.as_deref() == Some("mean");
        // Every loss and every accuracy that is printed is a mean over something.
        if mean && matches!(entry.kind, MetricKind::Value | MetricKind::Share) {
            metric.statistic = None;
            metric.averaged = true;
        }
        // An overall accuracy is no sum.
        if metric.kind == MetricKind::Share && metric.statistic.as_deref() == Some("total") {
            metric.statistic = None;
        }
        if metric.base == "memory" && metric.statistic.as_deref() == Some("max") {
            metric.statistic = Some("peak".to_owned());
        }
        metric
    }

    /// A unit of time, rate or memory says what the number is; words that do not fit it qualify it.
    fn by_unit(
        &self,
        entry: Option<&MetricEntry>,
        noun: &[String],
        mut rest: Remaining,
        printed: &PrintedUnit,
    ) -> Option<NamedMetric> {
        let (unit, factor) = (printed.unit.clone(), printed.factor);
        let kind = match &unit {
            Unit::Seconds => MetricKind::Time,
            Unit::Bytes => MetricKind::Memory,
            _ => MetricKind::Rate,
        };
        if entry.is_some_and(|entry| entry.kind == MetricKind::Ignore) {
            return entry.map(|entry| self.put_together(entry, rest, unit, factor));
        }
        let (base, keeps_noun) = match (&unit, &printed.per) {
            (Unit::Seconds, Some(thing)) => (
                match thing.as_str() {
                    "step" => "step_s".to_owned(),
                    "epoch" => "epoch_s".to_owned(),
                    other => format!("latency.per_{other}"),
                },
                entry.is_some_and(|entry| entry.kind != MetricKind::Time),
            ),
            (Unit::PerSecond(thing), per) => {
                let name = rate_name(thing, noun, &mut rest);
                rest.qualifiers.retain(|word| Some(word) != per.as_ref());
                rest.qualifiers.extend(per.clone());
                (name, false)
            }
            (Unit::Bytes, Some(thing)) => (format!("memory.per_{thing}"), false),
            _ => match entry {
                Some(entry) if entry.kind == kind => (entry.name.clone(), false),
                // `GPU 296.2 MB`.
                None if kind == MetricKind::Memory && rest.qualifiers == ["gpu"] => {
                    ("memory".to_owned(), false)
                }
                Some(_) if kind == MetricKind::Memory => return None,
                _ if kind == MetricKind::Memory => return None,
                _ => ("duration".to_owned(), true),
            },
        };
        if keeps_noun {
            let start = noun.iter().filter(|word| *word != "time").cloned();
            rest.qualifiers.extend(start);
        }
        let entry = MetricEntry {
            name: base,
            better: Some(if kind == MetricKind::Rate { Better::Higher } else { Better::Lower }),
            kind,
            unit: String::new(),
            words: Vec::new(),
        };
        Some(self.put_together(&entry, rest, unit, factor))
    }

    /// The one metric that a caption is about; none where it names several. Its other words say what was compared.
    pub fn topic(&self, phrase: &str, unit: Option<&PrintedUnit>) -> Option<NamedMetric> {
        let spoken = words(phrase);
        let found = self.find(&spoken)?;
        let entry = self.metrics.get(found.metric)?;
        let others = [spoken.get(..found.at.start), spoken.get(found.at.end..)];
        let several = others.into_iter().flatten().filter_map(|rest| self.find(rest)).any(|other| {
            self.metrics.get(other.metric).is_some_and(|other| {
                other.name != entry.name && !matches!(other.kind, MetricKind::Count | MetricKind::Ignore)
            })
        });
        let vague = matches!(entry.kind, MetricKind::Ignore | MetricKind::Knob);
        if several || vague {
            return None;
        }
        let mut rest = Remaining::default();
        self.sort(&spoken, &found.at, &mut rest);
        let noun = spoken.get(found.at).unwrap_or_default();
        let kept = Remaining { qualifiers: Vec::new(), ..rest };
        let named = match unit.filter(|unit| unit.is_telling() && unit.unit != Unit::Fraction) {
            Some(unit) => self.by_unit(Some(entry), noun, kept, unit),
            None => self.by_words(entry, kept, unit),
        };
        named.map(|named| NamedMetric {
            qualifier: String::new(),
            inferred: Some("named by the caption"),
            ..named
        })
    }

    /// What the numbers of a metric are, by its name.
    pub fn kind(&self, name: &str) -> Option<MetricKind> {
        let base = name.split('.').next().unwrap_or(name);
        self.metrics.iter().find(|entry| entry.name == base).map(|entry| entry.kind)
    }

    /// The longest phrase in some words that names a metric; of equally long ones the last, as a noun follows what
    /// qualifies it.
    fn find(&self, spoken: &[String]) -> Option<FoundPhrase> {
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
    fn sort(&self, spoken: &[String], matched: &std::ops::Range<usize>, rest: &mut Remaining) {
        let mut index = 0;
        // `accuracy/top1` is an accuracy, not one of accuracies.
        let found = spoken.get(matched.clone()).unwrap_or_default();
        let entry = self.phrases.get(&found.join(" ")).and_then(|metric| self.metrics.get(*metric));
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
            } else if !self.fillers.contains(word) && !rest.qualifiers.contains(word) && !noun(word) {
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

    /// Whether words are a statistic alone: `avg`, `p99`.
    pub fn is_statistic(&self, phrase: &str) -> bool {
        let mut rest = Remaining::default();
        self.sort(&words(phrase), &(0..0), &mut rest);
        rest.statistic.is_some() && rest.qualifiers.is_empty() && rest.split.is_none()
    }
}

/// `P@1` and `R@5` are precision and recall among the first answers.
fn spelled_out(text: &str) -> Option<String> {
    let (head, tail) = text.split_once('@')?;
    let (before, letter) = head.split_at_checked(head.len().checked_sub(1)?)?;
    let word = match letter {
        "P" | "p" => "precision",
        "R" | "r" => "recall",
        _ => return None,
    };
    let alone = !before.ends_with(|letter: char| letter.is_alphanumeric());
    (alone && tail.starts_with(|digit: char| digit.is_ascii_digit()))
        .then(|| format!("{before}{word} {tail}"))
}

/// The words of a phrase. Abbreviations with a small letter in front are one word.
pub fn words(text: &str) -> Vec<String> {
    if let Some(text) = text.contains('@').then(|| spelled_out(text)).flatten() {
        return plain_words(&text);
    }
    // LightGBM prints `valid_0's auc`.
    if text.contains("'s ") || text.ends_with("'s") {
        return words(&text.replace("'s ", " ").trim_end_matches("'s").replace('\'', " "));
    }
    if ["mAP", "IoU", "F1", "ROC"].iter().any(|odd| text.contains(odd)) {
        let text =
            text.replace("mAP", "map").replace("mIoU", "miou").replace("IoU", "iou").replace("ROC", "roc");
        return plain_words(&text);
    }
    plain_words(text)
}

struct FoundPhrase {
    metric: usize,
    at: std::ops::Range<usize>,
}

/// The words around a metric's phrase.
#[derive(Debug, Default)]
struct Remaining {
    split: Option<Split>,
    statistic: Option<String>,
    qualifiers: Vec<String>,
}

/// What has a rate over time although no unit says so: `token rate`.
const FLOWS: [&str; 16] = [
    "token",
    "sample",
    "image",
    "frame",
    "request",
    "record",
    "sequence",
    "event",
    "message",
    "iteration",
    "step",
    "data",
    "transfer",
    "processing",
    "generation",
    "training",
];

/// The rate that words name: `document per second`.
fn rate_in_words(spoken: &[String]) -> Option<PrintedUnit> {
    let [thing, per, second] = spoken else { return None };
    let is_rate = per == "per" && matches!(second.as_str(), "second" | "sec" | "s");
    is_rate.then(|| PrintedUnit::parse(&format!("{}s/s", thing.trim_end_matches('s')))).flatten()
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

/// The metric of a rate, by what is counted and which part of the work it is.
fn rate_name(thing: &str, noun: &[String], rest: &mut Remaining) -> String {
    // `eval rate` of a model server is the rate of generating, not that of a validation.
    if thing == "tokens" {
        rest.split = None;
    }
    let mut take = |listed: &[&str]| {
        let before = rest.qualifiers.len();
        rest.qualifiers.retain(|word| !listed.contains(&word.as_str()));
        before != rest.qualifiers.len() || noun.iter().any(|word| listed.contains(&word.as_str()))
    };
    let name = match thing {
        "samples" | "images" | "sequences" => "samples_per_s",
        "tokens" if take(&["prefill", "prompt", "input", "pp"]) => "prompt_throughput",
        "tokens"
            if take(&[
                "decode",
                "generation",
                "output",
                "gen",
                "generated",
                "decoding",
                "tg",
                "completion",
            ]) =>
        {
            "output_throughput"
        }
        "tokens" => "tokens_per_s",
        "requests" => "request_throughput",
        "inferences" => "inferences_per_s",
        "steps" | "batches" => "steps_per_s",
        "iterations" => "iterations_per_s",
        "FLOP" => "flops_per_s",
        "B" => {
            // The bandwidth of an algorithm and that of the bus it runs over.
            rest.qualifiers.extend(match noun {
                [word] if word == "busbw" => Some("bus".to_owned()),
                [word] if word == "algbw" => Some("algorithm".to_owned()),
                _ => None,
            });
            return "bytes_per_s".to_owned();
        }
        _ => "",
    };
    take(&["token", "sample", "image", "request", "sequence", "step", "second", "sec", "s"]);
    if name.is_empty() { format!("{}_per_s", thing.replace(' ', "_")) } else { name.to_owned() }
}

/// Whether words speak of a time, so that an `_s` behind them is its unit: `time_total_s`.
fn is_timed(head: &str) -> bool {
    words(head).iter().any(|word| {
        ["time", "duration", "latency", "elapsed", "runtime", "walltime", "wall", "ttft"]
            .contains(&word.as_str())
    })
}

/// Splits `Latency (ms)`, `Rate [samples/s]`, `time_ms` and `Size, MB` into words and unit.
pub fn split_unit(text: &str) -> (String, Option<PrintedUnit>) {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((head, tail)) = text.split_once(open)
            && let Some((inside, behind)) = tail.split_once(close)
            && let Some(unit) = PrintedUnit::parse(inside)
        {
            return (format!("{head} {behind}"), Some(unit));
        }
    }
    // `hsv_s` is not a time: a single letter behind an underscore is a name more often than a unit.
    if let Some((head, tail)) = text.rsplit_once([',', '_', ' '])
        && !(tail == "s" && text.ends_with("_s") && !is_timed(head))
        // `steps_per_sec` is a rate.
        && !head.to_ascii_lowercase().ends_with("per")
        && matches!(
            tail,
            "ms" | "us"
                | "ns"
                | "sec"
                | "secs"
                | "seconds"
                | "s"
                | "mb"
                | "MB"
                | "gb"
                | "GB"
                | "GiB"
                | "MiB"
                | "pct"
                | "%"
        )
    {
        let tail = match tail {
            "mb" => "MB",
            "gb" => "GB",
            "pct" => "%",
            other => other,
        };
        return (head.to_owned(), PrintedUnit::parse(tail));
    }
    if let Some((head, tail)) = text.rsplit_once(' ')
        && tail.contains('/')
        && let Some(unit) = PrintedUnit::parse(tail).filter(PrintedUnit::is_telling)
    {
        return (head.to_owned(), Some(unit));
    }
    if let Some(head) = text.strip_suffix('%') {
        return (head.to_owned(), PrintedUnit::parse("%"));
    }
    (text.to_owned(), None)
}

#[cfg(test)]
mod tests;
