//! How one execution went. Status and metrics are separate: a run can fail and still have valid numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Hint, Observation, Phase, Series, SettingFact};

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran to its end and said it was well.
    Succeeded,
    /// It ended badly.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// It was stopped because it took longer than its timeout.
    TimedOut {
        /// The timeout, in seconds.
        after_s: f64,
    },
    /// The user or a dying coordinator stopped it; it is run again on the next `assay run`.
    Interrupted,
    /// It ran to its end and then missed a bound of its own script; its numbers are valid.
    GateFailed {
        /// The bound, as the evidence states it.
        reason: String,
    },
    /// It was not begun, because it would not fit: into memory, for example. This is an answer, not a failure.
    DoesNotFit {
        /// What it needs and what there is.
        reason: String,
    },
    /// It says itself that it was given up.
    Aborted {
        /// Why.
        reason: String,
    },
    /// Somebody or a scheduler ended it.
    Cancelled { reason: String },
    /// The evidence breaks off before its end.
    Truncated,
    /// The evidence does not show how it ended.
    #[default]
    Unknown,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The process ended with this exit code.
    Exit { code: i32 },
    /// A signal ended the process.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// The evidence says so, without an exit code.
    #[serde(alias = "told", alias = "workload_event")]
    Reported {
        /// What it says.
        reason: String,
    },
    /// The process could not be started.
    Start {
        /// The reason, as the system gave it.
        reason: String,
    },
}

impl Status {
    /// The one word for lists and filters.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Succeeded => "succeeded",
            Status::Failed { .. } => "failed",
            Status::TimedOut { .. } => "timed_out",
            Status::Interrupted => "interrupted",
            Status::GateFailed { .. } => "gate_failed",
            Status::DoesNotFit { .. } => "does_not_fit",
            Status::Aborted { .. } => "aborted",
            Status::Cancelled { .. } => "cancelled",
            Status::Truncated => "truncated",
            Status::Unknown => "unknown",
        }
    }

    /// Whether the run's numbers may be judged: it came to its end, or nothing says that it did not.
    pub fn is_usable(&self) -> bool {
        matches!(self, Status::Succeeded | Status::GateFailed { .. } | Status::Unknown)
    }

    /// Whether the run needs no further attempt unless the user asks for one.
    pub fn is_final(&self) -> bool {
        !matches!(self, Status::Interrupted)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Succeeded => f.write_str("succeeded"),
            Status::Failed { failure: Failure::Exit { code } } => write!(f, "failed: exit code {code}"),
            Status::Failed { failure: Failure::Signal { signal } } => write!(f, "failed: signal {signal}"),
            Status::Failed { failure: Failure::Start { reason } } => write!(f, "failed to start: {reason}"),
            Status::TimedOut { after_s } => write!(f, "timed out after {after_s} s"),
            Status::Interrupted => f.write_str("interrupted"),
            Status::Failed { failure: Failure::Reported { reason } } => write!(f, "failed: {reason}"),
            Status::GateFailed { reason } => write!(f, "gate failed: {reason}"),
            Status::DoesNotFit { reason } => write!(f, "does not fit: {reason}"),
            Status::Aborted { reason } => write!(f, "aborted: {reason}"),
            Status::Cancelled { reason } => write!(f, "cancelled: {reason}"),
            Status::Truncated => f.write_str("truncated"),
            Status::Unknown => f.write_str("unknown"),
        }
    }
}

/// What a run used, as the kernel accounted for it. What the kernel did not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Wall-clock seconds from start to exit.
    pub wall_s: f64,
    /// CPU seconds in user mode, of the process and its waited-for children.
    pub user_s: f64,
    /// CPU seconds in the kernel.
    pub system_s: f64,
    /// The largest resident set of any one process, in bytes.
    pub peak_resident_bytes: u64,
    /// The peak memory of all processes together, where a control group could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_group_bytes: Option<u64>,
}

/// Where the output of a run came from that was replayed instead of run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// The recorded log, as the campaign names it, or the sample that was generated.
    pub log: String,
    /// Whether the log was generated: then nobody ever measured its numbers.
    #[serde(default)]
    pub generated: bool,
    /// How fast it was played.
    pub speed: Speed,
}

impl Replayed {
    /// The doubt that travels with every number of such a run.
    pub fn caveat(&self) -> &'static str {
        if self.generated {
            "replayed from a generated log, not run: nobody measured these numbers"
        } else {
            "replayed from a recorded log, not run"
        }
    }
}

/// How fast a log is played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    /// This many times faster than the log's own clock.
    Times(f64),
    /// As fast as it can be read.
    #[default]
    Max,
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speed::Times(times) => write!(f, "{times} times its own speed"),
            Speed::Max => f.write_str("full speed"),
        }
    }
}

/// The output of a run that was short enough to be kept here instead of in files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortOutput {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// All that is known after a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// How it ended.
    pub status: Status,
    /// Start, in seconds since 1970 UTC.
    pub started_at: f64,
    /// What it used; absent if it never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Bytes captured from standard output.
    pub stdout_bytes: u64,
    /// Bytes captured from standard error.
    pub stderr_bytes: u64,
    /// The output itself, where the run has no directory of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ShortOutput>,
    /// When the first output came, in seconds after the start; absent without output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_output_s: Option<f64>,
    /// When the first metric came, in seconds after the start; for a replayed run by the log's own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_metric_s: Option<f64>,
    /// Facts found.
    pub observations: Vec<Observation>,
    /// Values per step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// Hints that the platform or the dialect gives for the error text seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Phases, in the order they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Settings as the output shows or states them; what was asked for stands in the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingFact>,
    /// What to do about texts seen in the output, with the lines they stand on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Hint>,
    /// Set where nothing was run: a recorded log was played instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Replayed>,
    /// The program that was started and the files its command names, as far as the launcher could see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<UsedFile>,
}

/// A program or file that a run used, with what identifies its content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UsedFile {
    /// As the command names it; a program on the search path by its whole path.
    pub name: String,
    /// The first 16 hexadecimal digits of the SHA-256 of its content, or size and time of change of a very large file.
    pub content: String,
}

impl RunResult {
    /// A result of which nothing is known but how it ended.
    pub fn bare(status: Status, started_at: f64) -> RunResult {
        RunResult {
            status,
            started_at,
            usage: None,
            stdout_bytes: 0,
            stderr_bytes: 0,
            output: None,
            first_output_s: None,
            first_metric_s: None,
            observations: Vec::new(),
            series: Vec::new(),
            hints: Vec::new(),
            phases: Vec::new(),
            settings: Vec::new(),
            advice: Vec::new(),
            replayed: None,
            files: Vec::new(),
        }
    }

    /// All that the user may do about what was seen, each piece of advice once.
    pub fn all_hints(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for hint in self.hints.iter().chain(self.advice.iter().map(|hint| &hint.advice)) {
            if !all.contains(&hint.as_str()) {
                all.push(hint);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_earlier_records_are_read() {
        let reported = Failure::Reported { reason: "a pod crashed".to_owned() };
        for name in ["told", "workload_event", "reported"] {
            let written = format!(r#"{{"{name}":{{"reason":"a pod crashed"}}}}"#);
            assert_eq!(serde_json::from_str::<Failure>(&written).unwrap(), reported, "{name}");
        }
    }
}
