//! Facts found in evidence.

use serde::{Deserialize, Serialize};

use crate::Unit;

/// One fact: a metric with its value, and where it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The metric's canonical name, for example `duration.wall`.
    pub metric: String,
    /// The value in the base unit; always finite. What was not observed has no observation.
    pub value: f64,
    /// The base unit.
    pub unit: Unit,
    /// What a rate or duration was taken over, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// How the value came about.
    pub origin: Origin,
    /// Where it was found; none for what the launcher measured itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// For a rate or a mean, how many it was taken over, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<f64>,
    /// For a rate, the seconds it was taken over, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The number as it was written, unit and all, where evidence states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// How the name or unit was inferred, where the text beside the number does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<String>,
}

impl Observation {
    /// A value without scope, source, count, seconds or written form.
    pub fn new(metric: &str, value: f64, unit: Unit, origin: Origin) -> Observation {
        Observation {
            metric: metric.to_owned(),
            value,
            unit,
            scope: None,
            origin,
            source: None,
            count: None,
            seconds: None,
            written: None,
            inferred: None,
        }
    }
}

/// How a value came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// This program measured it.
    Measured,
    /// A log or write-up states it.
    Reported,
    /// Computed from other observations.
    Derived,
    /// A tool computed it instead of measuring; never ranked beside measurements.
    Prediction,
}

/// What a rate or duration was taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One moment or one step.
    Instant,
    /// The training or measuring loop alone.
    Loop,
    /// The whole fit, with compile, staging and checkpoints.
    Fit,
    /// The whole job, with queue and start-up.
    Job,
}

/// The place of a fact in evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file, relative to the run directory; `stdout.log` and `stderr.log` for captured output.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The cell of a notebook, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
}

impl Source {
    /// A line of a file that is not a notebook.
    pub fn new(file: impl Into<String>, line: u64) -> Source {
        Source { file: file.into(), line, cell: None }
    }
}

/// `train.log:12`, and `report.ipynb:12 (cell 3)` in a notebook.
impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        match self.cell {
            Some(cell) => write!(formatter, " (cell {cell})"),
            None => Ok(()),
        }
    }
}

/// Values of one metric per step, iteration or request, in the order they were seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The metric's canonical name.
    pub metric: String,
    /// The base unit.
    pub unit: Unit,
    /// The values kept.
    pub values: Vec<f64>,
    /// How many values were seen; more than kept where the series was thinned.
    pub seen: u64,
    /// The step of each value kept; empty where steps are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<f64>,
    /// Seconds after the run's first timestamp for each value kept; empty without a clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_s: Vec<f64>,
    /// Where the first value was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}
