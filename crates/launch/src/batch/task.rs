//! A task of a job: the runs that it makes one after the other, and what is known of it.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

use assay_model::RunId;

use super::node_script::TRACE;
use super::run_log::RunLog;
use super::scheduler::{Accounted, TaskStage, TaskState};
use crate::worker::RunJob;

/// Names a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskKey {
    /// The submission.
    pub submission: String,
    /// Which of its tasks, from 1.
    pub task: u32,
}

/// A task that is not over, or whose runs are not concluded.
pub struct BatchTask {
    /// The scheduler's name of its job, once it is known.
    pub job: Option<String>,
    /// When it was submitted, in seconds since 1970 UTC.
    pub submitted_at: f64,
    /// Its runs that are not concluded, in their order.
    pub runs: VecDeque<TaskRun>,
    /// Whether it has one run only.
    pub is_alone: bool,
    /// What the scheduler said last.
    pub state: Option<TaskState>,
    /// Whether the scheduler's last answer had it.
    pub seen: bool,
    /// How many answers in a row did not.
    pub missing: u32,
    /// Since when it is known to be over.
    pub over_since: Option<Instant>,
    /// What the accounting has.
    pub accounted: Option<Accounted>,
    /// Whether the end of its last run was seen.
    pub end_was_seen: bool,
}

/// A run of a task.
pub struct TaskRun {
    /// The run.
    pub job: RunJob,
    /// Its output, as far as it was read.
    pub log: RunLog,
}

/// A scheduler forgets jobs a while after they have ended. One answer without a job may come from a controller that was
/// just restarted.
const GONE_AFTER: u32 = 3;

impl BatchTask {
    /// A task of which nothing is known yet.
    pub fn new(job: Option<String>, submitted_at: f64, runs: Vec<RunJob>) -> BatchTask {
        let is_alone = runs.len() == 1;
        BatchTask {
            job,
            submitted_at,
            runs: runs.into_iter().map(|job| TaskRun { job, log: RunLog::new() }).collect(),
            is_alone,
            state: None,
            seen: false,
            missing: 0,
            over_since: None,
            accounted: None,
            end_was_seen: false,
        }
    }

    /// The run that goes on or comes next.
    pub fn current(&self) -> Option<RunId> {
        self.runs.front().map(|run| run.job.run.clone())
    }

    /// Takes in what the scheduler says. Gives whether that is new.
    pub fn note(&mut self, state: TaskState) -> bool {
        self.seen = true;
        self.missing = 0;
        self.job = Some(state.job.clone());
        let changed = self.state.as_ref().map(|known| known.stage) != Some(state.stage);
        match state.stage.is_over() {
            true => drop(self.over_since.get_or_insert_with(Instant::now)),
            false => self.over_since = None,
        }
        self.state = Some(state);
        changed
    }

    /// Whether the scheduler says that it is over.
    pub fn is_over(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.stage.is_over())
    }

    /// Whether nothing more can come of it: it is over, or the scheduler no longer knows it.
    pub fn is_gone(&self) -> bool {
        self.is_over() || (self.missing >= GONE_AFTER && self.job.is_some())
    }

    /// Whether its current run may have begun: without the scheduler's word, its trace says so.
    pub fn may_have_begun(&self, directory: &Path) -> bool {
        match self.state.as_ref().map(|state| state.stage) {
            Some(TaskStage::Running) => true,
            _ => directory.join(TRACE).exists(),
        }
    }
}
