//! Workloads as the registry describes them. The campaign room checks settings against this description, so a new
//! built-in workload needs no change there.

use serde::{Deserialize, Serialize};

use crate::Value;

/// One built-in workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadDescription {
    /// Its name, as campaigns use it.
    pub name: String,
    /// One line on what it computes.
    pub summary: String,
    /// The settings it takes.
    pub settings: Vec<SettingDescription>,
    /// The command that runs one point, with `{setting}` placeholders. `{assay}` stands for this program.
    pub command: String,
    /// The metric its answer is about when the campaign names none.
    pub headline: String,
}

/// One setting of a built-in workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingDescription {
    pub name: String,
    /// One line on what it does.
    pub summary: String,
    /// What values it takes.
    pub kind: SettingKind,
    /// The value used when the campaign gives none.
    pub default: Option<Value>,
    /// Whether a setting without a default may be left out. If not, it must be given.
    #[serde(default)]
    pub optional: bool,
}

/// What values a setting takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// Integers in a range, both ends included.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// Any finite number.
    Number,
    /// A length of time with its unit, such as `90s` or `200ms`; a bare number in a campaign file is in seconds.
    Duration,
    /// Any text.
    Text,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(Vec<String>),
}
