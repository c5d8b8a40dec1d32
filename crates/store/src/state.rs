//! The fold of a journal: what resuming a campaign needs, small per run.

mod values;

use std::collections::BTreeMap;

use assay_model::{CellId, CurrentPlan, Entry, Machine, PlannedCell, RunId, RunResult, Settings, Status};

use crate::journal::Troubles;
use crate::layout::relative_run_directory;
use crate::recovery::{DamageReport, RunKnown};
use values::{Shapes, ValueList};

/// What the entries of a journal add up to. A pure fold: the same entries give the same state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalState {
    /// The campaign's name.
    pub name: String,
    /// The schema of the newest record line; 0 until one was seen.
    pub schema: u32,
    /// When the record was made, in seconds since 1970 UTC.
    pub created: f64,
    /// The current plan, if one was made.
    pub plan: Option<CurrentPlan>,
    /// All cells that any plan named or any run had.
    pub cells: BTreeMap<CellId, CellState>,
    /// Runs that were launched and did not finish: their processes may still exist.
    pub open_runs: BTreeMap<RunId, OpenRun>,
    /// How many coordinators opened the record.
    pub sessions: u64,
    /// The last of them.
    pub last_session: Option<SessionSummary>,
    /// The machine of the last session.
    pub machine: Option<Machine>,
    /// Results that came a second time for the same run and were ignored.
    pub repeated_results: u64,
    /// How many entries were read.
    pub entries: u64,
    /// What had to be skipped.
    pub troubles: Troubles,
    /// What is wrong with the journal, held against the run directories.
    pub damage: DamageReport,
    shapes: Shapes,
}

/// A coordinator that opened the record.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// When, in seconds since 1970 UTC.
    pub at: f64,
    /// Its process id.
    pub pid: u32,
    /// The working directory.
    pub directory: String,
    /// The version of the program.
    pub program: String,
}

/// A cell and its runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellState {
    /// The workload's name; empty where the plan that named it was lost.
    pub workload: String,
    /// All its settings.
    pub settings: Settings,
    /// Whether the current plan has it.
    pub planned: bool,
    /// The newest attempt of each repeat, by repeat.
    pub runs: Vec<RunState>,
}

/// The newest attempt at a repeat: the one that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    /// Which repeat, from 1.
    pub repeat: u32,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// How it ended; none while it is open.
    pub status: Option<Status>,
    /// The run directory, where it is not the usual one.
    directory: Option<Box<str>>,
    values: ValueList,
    /// Other attempts that finished, to notice repeated results.
    others_finished: Box<[u32]>,
}

/// A run that was launched and did not finish.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRun {
    /// When it was launched, in seconds since 1970 UTC; none if that line was lost.
    pub launched_at: Option<f64>,
    /// The run directory, relative to the record.
    pub directory: String,
    /// Its process, if it got as far as having one.
    pub process: Option<Process>,
    /// The job that it was submitted with, where a scheduler starts runs.
    pub submission: Option<Submission>,
}

/// The place of a run in a submission to a scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The submission's name.
    pub name: String,
    /// The platform.
    pub platform: String,
    /// When it was submitted, in seconds since 1970 UTC.
    pub at: f64,
    /// Which task of the job array, from 1.
    pub task: u32,
    /// Which of the runs that the task makes one after the other, from 0.
    pub position: u32,
    /// The scheduler's name of the job, if its answer was noted.
    pub job: Option<String>,
}

/// Names one process of one boot of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process id, which is the process group too.
    pub pid: u32,
    /// The kernel's start time of the process, in ticks after boot.
    pub start_ticks: u64,
    /// The boot that the ticks count from.
    pub boot: String,
}

/// How many runs ended in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusCounts {
    /// Ran to their end, or nothing says that they did not: their numbers may be judged.
    pub succeeded: u64,
    /// Ended badly.
    pub failed: u64,
    /// Took longer than their timeout.
    pub timed_out: u64,
    /// Were not begun, because they would not fit.
    pub unfit: u64,
    /// Were stopped and are run again.
    pub interrupted: u64,
    /// Were launched and have no result.
    pub open: u64,
}

impl StatusCounts {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.succeeded + self.failed + self.timed_out + self.unfit + self.interrupted + self.open
    }

    /// Counts one run; none is an open one.
    pub fn add(&mut self, status: Option<&Status>) {
        let count = match status {
            Some(Status::TimedOut { .. }) => &mut self.timed_out,
            Some(Status::DoesNotFit { .. }) => &mut self.unfit,
            Some(Status::Interrupted) => &mut self.interrupted,
            Some(status) if status.is_usable() => &mut self.succeeded,
            Some(_) => &mut self.failed,
            None => &mut self.open,
        };
        *count += 1;
    }
}

impl JournalState {
    /// Takes in the next entry.
    pub fn apply(&mut self, entry: &Entry) {
        self.entries += 1;
        match entry {
            Entry::Record { schema, name, at, .. } => {
                if self.schema == 0 && self.name.is_empty() {
                    self.name.clone_from(name);
                    self.created = *at;
                }
                self.schema = self.schema.max(*schema);
            }
            Entry::Session { at, pid, machine, directory, program, .. } => {
                let (directory, program) = (directory.clone(), program.clone());
                self.sessions += 1;
                self.last_session = Some(SessionSummary { at: *at, pid: *pid, directory, program });
                self.machine = Some(Machine::clone(machine));
            }
            Entry::Plan { plan, add, drop } => {
                self.plan = Some(CurrentPlan::clone(plan));
                self.change_cells(add, drop);
            }
            Entry::Launching { run, at, directory } => self.launch(run, *at, directory),
            Entry::Started { run, pid, start_ticks, boot } => {
                let process = Process { pid: *pid, start_ticks: *start_ticks, boot: boot.clone() };
                self.start(run, process);
            }
            Entry::Submitting { submission, at, platform, tasks } => {
                self.submit(submission, *at, platform, tasks);
            }
            Entry::Submitted { submission, job } => self.note_job(submission, job),
            Entry::Finished { run, result } => self.finish(run, result),
            Entry::AcceptedDamage { .. } | Entry::Scrubbed { .. } => {}
        }
    }

    /// What is known of a run.
    pub(crate) fn known(&self, run: &RunId) -> RunKnown {
        if self.has_finished(run) {
            RunKnown::Finished
        } else if self.open_runs.contains_key(run) {
            RunKnown::Open
        } else if self.run(&run.cell, run.repeat).is_some_and(|state| state.attempt > run.attempt) {
            // An attempt that was given up for a later one was closed or never begun.
            RunKnown::Open
        } else {
            RunKnown::No
        }
    }

    /// The newest attempt at a repeat.
    pub fn run(&self, cell: &CellId, repeat: u32) -> Option<&RunState> {
        let runs = &self.cells.get(cell)?.runs;
        runs.get(runs.binary_search_by_key(&repeat, |run| run.repeat).ok()?)
    }

    /// The attempt that a repeat is to have next: 1 if it has none yet.
    pub fn next_attempt(&self, cell: &CellId, repeat: u32) -> u32 {
        self.run(cell, repeat).map_or(1, |run| run.attempt.saturating_add(1))
    }

    /// The value of a metric in a run, where it was observed.
    pub fn value(&self, run: &RunState, metric: &str) -> Option<f64> {
        self.shapes.value(&run.values, metric)
    }

    /// The values of a metric in a cell, by repeat, with how each run ended.
    pub fn values(&self, cell: &CellId, metric: &str) -> Vec<(&RunState, f64)> {
        let runs = self.cells.get(cell).map_or(&[] as &[RunState], |cell| &cell.runs);
        runs.iter().filter_map(|run| Some((run, self.value(run, metric)?))).collect()
    }

    /// The run directory of the newest attempt at a repeat, relative to the record.
    pub fn directory(&self, cell: &CellId, repeat: u32) -> Option<String> {
        let run = self.run(cell, repeat)?;
        let usual = || {
            let (cell, attempt) = (cell.clone(), run.attempt);
            relative_run_directory(&RunId { cell, repeat, attempt })
        };
        Some(run.directory.as_deref().map_or_else(usual, str::to_owned))
    }

    /// How the newest attempts ended.
    pub fn counts(&self) -> StatusCounts {
        let mut counts = StatusCounts::default();
        for run in self.cells.values().flat_map(|cell| &cell.runs) {
            counts.add(run.status.as_ref());
        }
        counts
    }

    fn change_cells(&mut self, add: &[PlannedCell], drop: &[CellId]) {
        for planned in add {
            let cell = self.cells.entry(planned.cell.clone()).or_default();
            cell.workload.clone_from(&planned.workload);
            cell.settings.clone_from(&planned.settings);
            cell.planned = true;
        }
        for dropped in drop {
            if let Some(cell) = self.cells.get_mut(dropped) {
                cell.planned = false;
            }
        }
    }

    fn launch(&mut self, run: &RunId, at: f64, directory: &str) {
        if self.has_finished(run) {
            return;
        }
        if let Some(state) = self.attempt_mut(run) {
            let usual = relative_run_directory(run) == directory;
            state.directory = (!usual).then(|| directory.into());
        }
        let open = OpenRun {
            launched_at: Some(at),
            directory: directory.to_owned(),
            process: None,
            submission: None,
        };
        self.open_runs.insert(run.clone(), open);
    }

    fn start(&mut self, run: &RunId, process: Process) {
        if self.has_finished(run) {
            return;
        }
        self.attempt_mut(run);
        self.open_run_mut(run).process = Some(process);
    }

    /// The open run of a name, made where the line that launched it was lost.
    fn open_run_mut(&mut self, run: &RunId) -> &mut OpenRun {
        let lost = || OpenRun {
            launched_at: None,
            directory: relative_run_directory(run),
            process: None,
            submission: None,
        };
        self.open_runs.entry(run.clone()).or_insert_with(lost)
    }

    fn submit(&mut self, name: &str, at: f64, platform: &str, tasks: &[Vec<RunId>]) {
        for (runs, task) in tasks.iter().zip(1..) {
            for (run, position) in runs.iter().zip(0..) {
                if !self.has_finished(run) {
                    self.attempt_mut(run);
                    let (name, platform) = (name.to_owned(), platform.to_owned());
                    let submission = Submission { name, platform, at, task, position, job: None };
                    self.open_run_mut(run).submission = Some(submission);
                }
            }
        }
    }

    fn note_job(&mut self, submission: &str, job: &str) {
        let open = self.open_runs.values_mut().filter_map(|open| open.submission.as_mut());
        for known in open.filter(|known| known.name == submission) {
            known.job = Some(job.to_owned());
        }
    }

    fn finish(&mut self, run: &RunId, result: &RunResult) {
        if self.has_finished(run) {
            self.repeated_results += 1;
            return;
        }
        self.open_runs.remove(run);
        let values = self.shapes.pack(&result.observations);
        match self.attempt_mut(run) {
            Some(state) => {
                state.status = Some(result.status.clone());
                state.values = values;
            }
            None => {
                if let Some(newer) = self.repeat_mut(&run.cell, run.repeat) {
                    newer.note_finished(run.attempt);
                }
            }
        }
    }

    fn has_finished(&self, run: &RunId) -> bool {
        self.run(&run.cell, run.repeat).is_some_and(|state| match state.attempt == run.attempt {
            true => state.status.is_some(),
            false => state.others_finished.contains(&run.attempt),
        })
    }

    fn repeat_mut(&mut self, cell: &CellId, repeat: u32) -> Option<&mut RunState> {
        let runs = &mut self.cells.get_mut(cell)?.runs;
        let position = runs.binary_search_by_key(&repeat, |run| run.repeat).ok()?;
        runs.get_mut(position)
    }

    /// The state of a run, made if its repeat is new or had only earlier attempts; none if a later attempt counts.
    fn attempt_mut(&mut self, run: &RunId) -> Option<&mut RunState> {
        if !self.cells.contains_key(&run.cell) {
            self.cells.insert(run.cell.clone(), CellState::default());
        }
        let runs = &mut self.cells.get_mut(&run.cell)?.runs;
        let position = match runs.binary_search_by_key(&run.repeat, |run| run.repeat) {
            Ok(position) => position,
            Err(position) => {
                runs.insert(position, RunState::new(run.repeat, run.attempt));
                position
            }
        };
        let state = runs.get_mut(position)?;
        if state.attempt < run.attempt {
            state.give_way_to(run.attempt);
        }
        (state.attempt == run.attempt).then_some(state)
    }
}

impl RunState {
    fn new(repeat: u32, attempt: u32) -> RunState {
        let (directory, values, others_finished) = Default::default();
        RunState { repeat, attempt, status: None, directory, values, others_finished }
    }

    fn give_way_to(&mut self, attempt: u32) {
        let before = std::mem::replace(self, RunState::new(self.repeat, attempt));
        self.others_finished = before.others_finished;
        if before.status.is_some() {
            self.note_finished(before.attempt);
        }
    }

    fn note_finished(&mut self, attempt: u32) {
        let others = std::mem::take(&mut self.others_finished);
        self.others_finished = others.into_iter().chain([attempt]).collect();
    }
}

#[cfg(test)]
mod tests;
