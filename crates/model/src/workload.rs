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
    /// Its name.
    pub name: String,
    /// One line on what it does.
    pub summary: String,
    /// What values it takes.
    pub kind: SettingKind,
    /// The value used when the campaign gives none; without one the setting must be given.
    pub default: Option<Value>,
}

/// What values a setting takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// Whole numbers in a range, both ends included.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// Any finite number.
    Number,
    /// Any text.
    Text,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(Vec<String>),
}
