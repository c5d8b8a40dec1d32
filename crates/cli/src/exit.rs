//! Exit codes: the same for all verbs, listed in `assay --help`.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Fine = 0,
    /// Something went wrong that is not the user's fault.
    Internal = 1,
    /// The command line, a campaign or another file of the user is wrong.
    Usage = 2,
    RunsFailed = 3,
    /// A gate failed, or a regression or contradiction was found.
    GateFailed = 4,
    /// The requested precision was not reached, or a gate is undecided.
    NotPrecise = 5,
    /// What was measured cannot be trusted.
    Invalid = 6,
    /// The record is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
