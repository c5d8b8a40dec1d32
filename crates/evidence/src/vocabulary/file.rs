//! The vocabulary's file format.

use std::collections::BTreeMap;

use assay_model::Direction;
use serde::Deserialize;

/// The words of this program itself.
pub(super) const BUILT_IN: &str = include_str!("words.toml");

/// A vocabulary as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VocabularyFile {
    #[serde(default)]
    pub splits: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub statistics: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub fillers: WordList,
    #[serde(default)]
    pub counters: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub budgets: WordList,
    #[serde(default)]
    pub compounds: Compounds,
    #[serde(default)]
    pub metric: Vec<MetricEntry>,
    #[serde(default)]
    pub setting: Vec<SettingEntry>,
}

/// One setting and the phrases that mean it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingEntry {
    pub name: String,
    pub words: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordList {
    #[serde(default)]
    pub words: Vec<String>,
    /// Words that say nothing beside words of other languages.
    #[serde(default)]
    pub foreign: Vec<String>,
}

/// What words begin with that are written as one with the word for a metric.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compounds {
    #[serde(default)]
    pub starts: Vec<String>,
}

/// One metric and the phrases that mean it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MetricEntry {
    pub name: String,
    #[serde(default)]
    pub better: Option<Better>,
    pub kind: MetricKind,
    /// The unit that the words themselves state.
    #[serde(default)]
    pub unit: String,
    pub words: Vec<String>,
    /// The same in other languages.
    #[serde(default)]
    pub foreign: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Better {
    Lower,
    Higher,
}

impl Better {
    pub fn direction(self) -> Direction {
        match self {
            Better::Lower => Direction::Lower,
            Better::Higher => Direction::Higher,
        }
    }
}

/// What a metric's numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// A bare number.
    Value,
    /// Between 0 and 1, or a percentage.
    Share,
    /// A duration.
    Time,
    /// A quantity per second.
    Rate,
    /// Bytes.
    Memory,
    /// How many of something.
    Count,
    /// A hyperparameter: a metric only beside other metrics.
    Knob,
    /// Watts.
    Power,
    /// Joules.
    Energy,
    /// Degrees Celsius.
    Degrees,
    /// Understood, and not worth keeping.
    Ignore,
}
