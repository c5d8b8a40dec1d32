//! How runs are started: one trait, behind which stand this machine, schedulers, other hosts and a simulator.

use std::time::Duration;

use assay_model::{RunId, RunResult};
use assay_store::{Store, Submission};

use crate::coordinator::LaunchError;
use crate::worker::{RunJob, RunMessage, WorkError};

/// Starts runs and reports what becomes of them. Runs are announced in the journal before they are handed over.
pub trait Launcher {
    /// Whether one more run can be taken over now.
    fn has_room(&self) -> bool;

    /// Takes a run over. It may wait for others to be submitted with.
    fn start(&mut self, job: RunJob) -> Result<(), LaunchError>;

    /// Sends off what waits. `is_last` where no further run will come before one of these has ended.
    fn dispatch(&mut self, store: &mut Store, is_last: bool) -> Result<(), LaunchError>;

    /// The next thing that happened, waited for at most this long.
    fn next(&mut self, patience: Duration) -> Result<Option<(RunId, RunReport)>, LaunchError>;

    /// Takes up runs that an earlier coordinator submitted. Gives those that are still to be made: no job has begun
    /// them, and from here on none will.
    fn adopt(&mut self, runs: Vec<(RunJob, Submission)>) -> Result<Vec<RunId>, LaunchError>;

    /// Whether its runs go on when this program ends.
    fn outlives_coordinator(&self) -> bool;
}

/// What a launcher reports of a run.
pub enum RunReport {
    /// Something happened while it goes on.
    RunMessage(RunMessage),
    /// It ended.
    Done(Box<Result<RunResult, WorkError>>),
}
