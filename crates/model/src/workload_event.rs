//! What a built-in workload says while it runs: one line of JSON for each thing it says, on standard output. Every
//! engine speaks this, the native one and adapters to other runtimes, so that all are read the same way.

use serde::{Deserialize, Serialize};

use crate::{Scope, Value};

/// One line. In JSON, the key `assay` holds the kind of line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "assay", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkloadEvent {
    /// A setting in effect: what the workload really uses.
    Setting { name: String, value: Value },
    /// A value of a metric. Values with a step make a series; the last value is the observation.
    Value {
        /// The metric's canonical name.
        metric: String,
        /// The value in its unit; always finite.
        value: f64,
        /// The unit as it is written; that of the canonical metric if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
        /// The step or iteration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u64>,
        /// What it was taken over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<Scope>,
        /// For a rate or a mean, how many it was taken over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<f64>,
        /// For a rate, the seconds it was taken over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// Whether it was computed from other values instead of measured.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        derived: bool,
    },
    /// A phase that has ended, in seconds since the workload began.
    Phase {
        /// One of [`crate::document::PHASES`].
        name: String,
        start_s: f64,
        end_s: f64,
    },
    /// How far it is.
    Progress {
        /// Steps done.
        done: u64,
        of: u64,
    },
    /// Something the reader of the numbers should know.
    Note {
        text: String,
        /// What to do about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// It does not fit into memory and was not begun.
    DoesNotFit {
        /// What it needs and what there is.
        reason: String,
        /// What would fit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// It stopped before its end.
    Failed {
        /// Why.
        reason: String,
        /// What to do about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// It came to its end. Output that breaks off before this line is not whole.
    Done {
        /// Steps or iterations done.
        steps: u64,
    },
}

impl WorkloadEvent {
    /// A value without more.
    pub fn value(metric: &str, value: f64) -> WorkloadEvent {
        WorkloadEvent::plain(metric, value, None, false)
    }

    pub fn at(metric: &str, step: u64, value: f64) -> WorkloadEvent {
        WorkloadEvent::plain(metric, value, Some(step), false)
    }

    /// A value that was computed from others.
    pub fn derived(metric: &str, value: f64) -> WorkloadEvent {
        WorkloadEvent::plain(metric, value, None, true)
    }

    fn plain(metric: &str, value: f64, step: Option<u64>, derived: bool) -> WorkloadEvent {
        let metric = metric.to_owned();
        WorkloadEvent::Value {
            metric,
            value,
            unit: None,
            step,
            scope: None,
            count: None,
            seconds: None,
            derived,
        }
    }

    /// A rate over the loop, with what it was computed from.
    pub fn rate(metric: &str, count: f64, seconds: f64) -> WorkloadEvent {
        WorkloadEvent::Value {
            metric: metric.to_owned(),
            value: count / seconds,
            unit: None,
            step: None,
            scope: Some(Scope::Loop),
            count: Some(count),
            seconds: Some(seconds),
            derived: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_that_says_what_it_is() {
        let line = serde_json::to_string(&WorkloadEvent::at("time.forward", 3, 0.5)).unwrap();
        assert_eq!(line, r#"{"assay":"value","metric":"time.forward","value":0.5,"step":3}"#);
        assert_eq!(
            serde_json::from_str::<WorkloadEvent>(&line).unwrap(),
            WorkloadEvent::at("time.forward", 3, 0.5)
        );
        assert!(
            serde_json::from_str::<WorkloadEvent>(r#"{"assay":"value","metric":"a","value":1,"odd":2}"#)
                .is_err()
        );
    }

    #[test]
    fn a_rate_keeps_its_count_and_its_seconds() {
        let WorkloadEvent::Value { value, count, seconds, .. } =
            WorkloadEvent::rate("tokens_per_s", 512.0, 0.5)
        else {
            unreachable!()
        };
        assert_eq!((value, count, seconds), (1024.0, Some(512.0), Some(0.5)));
    }
}
