//! Exit codes: the same everywhere.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All well.
    Fine = 0,
    /// Something went wrong that is not the user's fault.
    Internal = 1,
    /// The command line or a file was wrong.
    Usage = 2,
    /// Some runs failed.
    RunsFailed = 3,
    /// A gate failed.
    GateFailed = 4,
    /// The asked precision was not reached.
    NotPrecise = 5,
    /// The user stopped it; the record is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
