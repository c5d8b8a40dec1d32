//! Gates: bounds that cells must meet. Failing a gate is not failing to run.

use serde::{Deserialize, Serialize};

use crate::PointId;

/// A bound on one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The metric's canonical name.
    pub metric: String,
    /// What is asked of it.
    pub bound: Bound,
    /// The points it is asked of; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<PointId>>,
}

/// What a gate asks, in the metric's base unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Between two values, either of which may be open.
    Range {
        /// The smallest value allowed.
        min: Option<f64>,
        /// The largest value allowed.
        max: Option<f64>,
    },
    /// No further from an expected value than this share of it.
    Near {
        /// The expected value.
        expect: f64,
        /// The share.
        within: f64,
    },
    /// No further from the same cell of another record than this share of it.
    NearRecord {
        /// The other record's directory.
        record: String,
        /// The share.
        within: f64,
    },
}
