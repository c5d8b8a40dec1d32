//! How the output of a run is taken: which stream, and which of several values counts.

use serde::Serialize;

/// One of a run's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    /// The name of the file that keeps the stream in a run directory.
    pub fn file(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout.log",
            Stream::Stderr => "stderr.log",
        }
    }
}

/// Which of several values of a metric is the observation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    First,
    #[default]
    Last,
    Sum,
    /// None of them: the values are kept as a series only.
    Series,
}
