//! Metrics: names, units and which direction is better.

use serde::{Deserialize, Serialize};

use crate::Unit;

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Less is better: times, losses, memory.
    Lower,
    /// More is better: rates, accuracies.
    Higher,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Its canonical name.
    pub name: String,
    /// Its base unit.
    pub unit: Unit,
    /// Which direction is better; none where that is not known, and then nothing is ranked by it.
    pub better: Option<Direction>,
}

impl Metric {
    /// Differences smaller than this share count as none: a hundredth, and a thousandth of an accuracy, where the
    /// difference between a good model and a poor one may be half a hundredth.
    pub fn margin(&self) -> f64 {
        if self.name.starts_with("accuracy") { 0.001 } else { 0.01 }
    }
}

/// Wall-clock time of a run, measured by the launcher.
pub const WALL: &str = "duration.wall";
/// CPU time of a run, user and system, measured by the launcher.
pub const CPU: &str = "duration.cpu";
/// Peak memory of a run, measured by the launcher.
pub const PEAK_MEMORY: &str = "memory.peak";

/// Peak memory of all processes of a run together, page cache included, where a control group could be made.
pub const GROUP_MEMORY: &str = "memory.peak_group";

/// The share of the machine's CPU time that others used during a run, measured by the launcher for runs of half a second
/// and more.
pub const BUSY_ELSEWHERE: &str = "machine.busy_elsewhere";

/// The metrics that the launcher measures for every run.
pub fn launcher_metrics() -> Vec<Metric> {
    let lower = |name: &str, unit| Metric { name: name.to_owned(), unit, better: Some(Direction::Lower) };
    vec![
        lower(WALL, Unit::Seconds),
        lower(CPU, Unit::Seconds),
        lower(PEAK_MEMORY, Unit::Bytes),
        lower(GROUP_MEMORY, Unit::Bytes),
    ]
}

/// The direction that follows from a metric's unit or name, for metrics nobody described.
pub fn usual_direction(name: &str, unit: &Unit) -> Option<Direction> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    match unit {
        Unit::PerSecond(_) => Some(Direction::Higher),
        Unit::Seconds => Some(Direction::Lower),
        _ if starts(&["loss", "duration", "latency", "ttft", "ttfo", "tpot", "itl", "e2e", "memory"]) => {
            Some(Direction::Lower)
        }
        _ if starts(&["accuracy", "quality"]) => Some(Direction::Higher),
        _ => None,
    }
}
