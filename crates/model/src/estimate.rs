//! Estimates, verdicts and the doubts that travel with numbers.

use serde::{Deserialize, Serialize};

/// A summary of repeated measurements. It cannot exist without its interval and its sample count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median.
    pub center: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The coverage the interval really has; it may differ from what was asked for, and is lower for few samples.
    pub confidence: f64,
    /// How many runs it rests on.
    pub samples: usize,
    /// Doubts about it.
    pub caveats: Vec<Caveat>,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better in the metric's direction, beyond the margin.
    Better,
    /// Worse in the metric's direction, beyond the margin.
    Worse,
    /// Equal within the margin.
    Same,
    /// The evidence does not decide.
    Unclear,
}

/// A doubt that travels with a number and carries a hint.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Caveat {
    /// A short stable name, for scripts.
    pub code: String,
    /// What is doubtful.
    pub text: String,
    /// What to do about it.
    pub hint: String,
}
