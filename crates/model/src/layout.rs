//! How a campaign wants its answer laid out: which metrics, which settings as columns, and what others published.

use serde::{Deserialize, Serialize};

use crate::{Settings, Value};

/// The tables that a campaign asks for beside the plain one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// Metrics that stand side by side, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Settings whose values become columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub across: Vec<String>,
    /// One of them and the value that its other values are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// Numbers that others published, to stand beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// The series that is printed value by value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The scaling study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<ScalingStudy>,
}

/// How a rate grows with a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScalingStudy {
    /// The setting that counts workers.
    pub over: String,
    /// The rate.
    pub metric: String,
}

/// A setting and the value that its other values are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    pub setting: String,
    pub value: Value,
}

/// A number that somebody published. It has no interval, so it is shown and never ranked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Whose it is and how it differs from what is run here: another size, another device.
    pub label: String,
    pub metric: String,
    /// The settings it belongs to.
    pub settings: Settings,
    /// The value in the base unit.
    pub value: f64,
}

impl Published {
    /// Whether it belongs to a row: every setting that it names and the row or all rows have, has the same value there.
    pub fn belongs_to(&self, row: &Settings, common: &Settings) -> bool {
        self.settings
            .iter()
            .all(|(name, value)| row.get(name).or_else(|| common.get(name)).is_none_or(|ours| ours == value))
    }
}

impl Layout {
    /// Whether nothing is asked for.
    pub fn is_plain(&self) -> bool {
        *self == Layout::default()
    }
}
