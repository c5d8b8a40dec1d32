//! Hands out runs, writes the journal, and tells what happens. The only writer of a record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use assay_campaign::{Invocation, OrderBy, Plan, RunPaths};
use assay_evidence::Progress;
use assay_judge::stopping::Repeats;
use assay_model::{Entry, Machine, RunId, RunResult, Speed, Status};
use assay_store::secrets::Secrets;
use assay_store::{Store, StoreError};

use crate::interrupt::Interrupt;
use crate::replay::WriteSample;
use crate::schedule::{Next, Only, Schedule};
use crate::worker::{self, Job, Message, Reader, WorkError, now};
use crate::{environment, orphan, standing, worker_group};

/// How a plan is to be carried out.
pub struct Options {
    /// How many runs may go on at once.
    pub jobs: usize,
    /// Which runs are wanted.
    pub only: Only,
    /// The path of this program, for `{assay}`.
    pub assay: PathBuf,
    /// This machine.
    pub machine: Machine,
    /// The version of this program.
    pub program: String,
    /// How output is read, by platform.
    pub readers: BTreeMap<String, Arc<Reader>>,
    /// Writes generated logs that are replayed.
    pub write_sample: WriteSample,
    /// Variables that are recorded beside those that always are.
    pub keep_environment: Vec<String>,
    /// The user's wish to stop.
    pub interrupt: Interrupt,
}

/// Something that happened. What an event tells is already safe on disk.
#[derive(Debug)]
pub enum Event<'a> {
    /// Work begins.
    Began {
        /// Runs of this plan that were finished before.
        finished_before: usize,
        /// Runs that are certain to come.
        certain: usize,
        /// Processes of a dead coordinator that were ended.
        orphans: usize,
    },
    /// A run starts.
    Started {
        /// Which run.
        run: &'a RunId,
        /// Its cell's index in the plan.
        cell: usize,
        /// Seconds to the first metric, where earlier runs of the cell tell.
        first_metric_in_s: Option<f64>,
    },
    /// A running run came further.
    Progress {
        /// Which run.
        run: &'a RunId,
        /// Its cell's index in the plan.
        cell: usize,
        /// How far.
        progress: &'a Progress,
        /// Seconds to the first metric, where that can be told from the steps so far.
        first_metric_in_s: Option<f64>,
    },
    /// A run ended.
    Finished {
        /// Which run.
        run: &'a RunId,
        /// Its cell's index in the plan.
        cell: usize,
        /// How it went.
        result: &'a RunResult,
    },
    /// More runs became certain because a cell is not precise enough yet.
    Added {
        /// How many.
        runs: usize,
    },
    /// Time passed.
    Tick,
    /// Something the user should know.
    Warning(String),
}

/// How carrying out a plan ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything was run.
    Complete,
    /// The user stopped it.
    Interrupted,
}

/// What carrying out a plan came to.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Whether every cell is as precise as asked.
    pub precise: bool,
}

/// Why a plan could not be carried on.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The record could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run could not be made or kept.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// A run could not be described.
    #[error("cannot prepare a run: {0}")]
    Prepare(String),
    /// A worker is gone.
    #[error("a worker thread ended unexpectedly")]
    Worker,
}

/// How often to tell that time passes.
const TICK: Duration = Duration::from_millis(100);
/// How long a dead coordinator's processes have between being asked to stop and being killed.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Carries out what is missing of a plan.
pub fn execute(
    plan: &Plan,
    store: &mut Store,
    options: &Options,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Outcome, LaunchError> {
    let secrets = Arc::new(environment::secrets(plan));
    open_session(store, options, &secrets)?;
    let orphans = end_orphans(store, tell)?;
    standing::put_in_force(plan, store, &secrets)?;
    let order = |round: u32| plan.round(round);
    let repeats = Repeats {
        at_least: plan.repeats.at_least,
        at_most: plan.repeats.at_most,
        precision: plan.repeats.precision,
    };
    let budget = plan.repeats.budget_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let progress = standing::progress(plan, store);
    let finished_before = progress.iter().map(|cell| cell.done.len()).sum();
    let schedule =
        Schedule::new(progress, &order, plan.order.by == OrderBy::Cells, repeats, budget, options.only);
    tell(Event::Began { finished_before, certain: schedule.certain(), orphans });
    std::thread::scope(|scope| {
        let (reports, inbox) = mpsc::channel();
        let open_desk = |number: usize| {
            let (desk, jobs) = mpsc::channel();
            let reports = reports.clone();
            let interrupt = options.interrupt.clone();
            let is_one_of_many = options.jobs > 1;
            scope.spawn(move || worker_thread(number, is_one_of_many, &jobs, &reports, &interrupt));
            desk
        };
        let desks = (0..options.jobs.max(1)).map(open_desk).collect();
        drop(reports);
        let mut coordinator = Coordinator {
            plan,
            options,
            secrets,
            desks,
            inbox,
            running: BTreeMap::new(),
            certain: schedule.certain(),
            schedule,
            outcome: Outcome { ending: Ending::Complete, precise: true },
            first_metrics_s: BTreeMap::new(),
            warmed: BTreeSet::new(),
        };
        let result = coordinator.carry_out(store, tell);
        if result.is_err() {
            // What still runs cannot be recorded: stop it, so that no thread is waited for in vain.
            options.interrupt.request();
            options.interrupt.request();
        }
        result
    })
}

/// Where a run is going on.
struct Active {
    run: RunId,
    cell: usize,
}

/// What a worker sends.
enum Report {
    Message(Message),
    Done(Box<Result<RunResult, WorkError>>),
}

struct Coordinator<'a> {
    plan: &'a Plan,
    options: &'a Options,
    secrets: Arc<Secrets>,
    desks: Vec<Sender<Job>>,
    inbox: Receiver<(usize, Report)>,
    running: BTreeMap<usize, Active>,
    certain: usize,
    schedule: Schedule<'a>,
    outcome: Outcome,
    /// When the first metric came in the runs of each cell.
    first_metrics_s: BTreeMap<usize, Vec<f64>>,
    /// Cells that were run since this program was started: the others are warmed up first.
    warmed: BTreeSet<usize>,
}

impl Coordinator<'_> {
    fn carry_out(
        &mut self,
        store: &mut Store,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<Outcome, LaunchError> {
        loop {
            let stopping = self.options.interrupt.stop().is_some();
            let exhausted = stopping || self.hand_out(store, tell)?;
            if exhausted && self.running.is_empty() {
                break;
            }
            match self.inbox.recv_timeout(TICK) {
                Ok((worker, report)) => self.take(worker, report, store, tell)?,
                Err(RecvTimeoutError::Timeout) => tell(Event::Tick),
                Err(RecvTimeoutError::Disconnected) => return Err(LaunchError::Worker),
            }
        }
        if self.options.interrupt.stop().is_some() {
            self.outcome.ending = Ending::Interrupted;
        }
        self.outcome.precise = self.schedule.is_precise();
        Ok(self.outcome)
    }

    /// Gives idle workers something to do. True when nothing is left to hand out.
    fn hand_out(&mut self, store: &mut Store, tell: &mut dyn FnMut(Event<'_>)) -> Result<bool, LaunchError> {
        while let Some(worker) = (0..self.desks.len()).find(|worker| !self.running.contains_key(worker)) {
            match self.schedule.take_next() {
                Next::Run { cell, repeat } => self.launch(worker, cell, repeat, store, tell)?,
                Next::Wait => return Ok(false),
                Next::Done => return Ok(true),
            }
        }
        Ok(false)
    }

    fn launch(
        &mut self,
        worker: usize,
        cell: usize,
        repeat: u32,
        store: &mut Store,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), LaunchError> {
        let planned =
            self.plan.cells.get(cell).ok_or_else(|| LaunchError::Prepare("no such cell".to_owned()))?;
        let attempt = store.state().next_attempt(&planned.cell, repeat);
        let mut run = RunId { cell: planned.cell.clone(), repeat, attempt };
        let mut relative = assay_store::relative_run_directory(&run);
        let mut directory = store.run_directory(&relative);
        // A directory that is there holds the output of a run that the journal lost. It is never written to again.
        while std::fs::symlink_metadata(&directory).is_ok() {
            run.attempt = run.attempt.checked_add(1).ok_or_else(|| {
                LaunchError::Prepare(format!("no free run directory beside {}", directory.display()))
            })?;
            relative = assay_store::relative_run_directory(&run);
            directory = store.run_directory(&relative);
        }
        let paths = RunPaths { assay: &self.options.assay, run_directory: &directory };
        let invocation = self
            .plan
            .invocation(cell, repeat, &paths)
            .map_err(|error| LaunchError::Prepare(error.to_string()))?;
        let reader =
            self.options.readers.get(&run.cell.platform).cloned().ok_or_else(|| {
                LaunchError::Prepare(format!("platform `{}` has no reader", run.cell.platform))
            })?;
        let first_metric_in_s = self.usual_first_metric(cell, &invocation);
        let job = Job {
            run: run.clone(),
            campaign: self.plan.name.clone(),
            settings: planned.settings.clone(),
            invocation,
            write_sample: self.options.write_sample,
            warmup: if self.warmed.insert(cell) { self.plan.warmup() } else { 0 },
            directory,
            record: store.directory().to_owned(),
            permissions: store.permissions(),
            secrets: Arc::clone(&self.secrets),
            reader,
        };
        // Written before the process can exist, so that a killed coordinator's successor knows to look for it.
        store.append(&Entry::Launching { run: run.clone(), at: now(), directory: relative })?;
        let desk = self.desks.get(worker).ok_or(LaunchError::Worker)?;
        desk.send(job).map_err(|_| LaunchError::Worker)?;
        if self.certain == 0 {
            tell(Event::Added { runs: 1 });
        }
        self.certain = self.certain.saturating_sub(1);
        tell(Event::Started { run: &run, cell, first_metric_in_s });
        self.running.insert(worker, Active { run, cell });
        Ok(())
    }

    /// The middle of the times to the first metric of a cell's runs. A replayed run reaches it sooner.
    fn usual_first_metric(&mut self, cell: usize, invocation: &Invocation) -> Option<f64> {
        let times = self.first_metrics_s.get_mut(&cell)?;
        times.sort_by(f64::total_cmp);
        let usual = times.get(times.len() / 2).copied()?;
        match invocation.recording.as_ref().map(|recording| recording.speed) {
            None => Some(usual),
            Some(Speed::Times(speed)) => Some(usual / speed),
            Some(Speed::Max) => None,
        }
    }

    fn take(
        &mut self,
        worker: usize,
        report: Report,
        store: &mut Store,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), LaunchError> {
        match report {
            Report::Message(message) => {
                let Some(active) = self.running.get(&worker) else { return Ok(()) };
                match message {
                    Message::Started { pid } => store.append(&started(&active.run, pid, self.options))?,
                    Message::Progress { progress, first_metric_in_s } => {
                        let Active { run, cell } = active;
                        tell(Event::Progress { run, cell: *cell, progress: &progress, first_metric_in_s });
                    }
                }
            }
            Report::Done(result) => {
                let Some(active) = self.running.remove(&worker) else { return Ok(()) };
                self.finish(active, (*result)?, store, tell)?;
            }
        }
        Ok(())
    }

    fn finish(
        &mut self,
        active: Active,
        result: RunResult,
        store: &mut Store,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), LaunchError> {
        let Active { run, cell } = active;
        let entry = Entry::Finished { run, result: Box::new(result) };
        store.commit(&entry)?;
        let Entry::Finished { run, result } = &entry else { return Ok(()) };
        self.first_metrics_s.entry(cell).or_default().extend(result.first_metric_s);
        match &result.status {
            Status::Interrupted => self.schedule.stopped(),
            status => {
                let usable = status.is_usable();
                let value = if usable { headline_value(result, &self.plan.headline) } else { None };
                self.schedule.ended(cell, run.repeat, value);
            }
        }
        tell(Event::Finished { run, cell, result });
        Ok(())
    }
}

fn headline_value(result: &RunResult, headline: &str) -> Option<f64> {
    result.observations.iter().find(|observation| observation.metric == headline).map(|found| found.value)
}

fn started(run: &RunId, pid: u32, options: &Options) -> Entry {
    Entry::Started {
        run: run.clone(),
        pid,
        start_ticks: orphan::start_ticks(pid).unwrap_or(0),
        boot: options.machine.boot.clone().unwrap_or_default(),
    }
}

fn worker_thread(
    number: usize,
    is_one_of_many: bool,
    jobs: &Receiver<Job>,
    reports: &Sender<(usize, Report)>,
    interrupt: &Interrupt,
) {
    let mut group = None;
    while let Ok(job) = jobs.recv() {
        // What a single worker's runs leave behind is theirs without a group, too. A run whose memory is measured has
        // a group of its own, which cannot be inside of another kind.
        if is_one_of_many && group.is_none() && !job.invocation.group_memory {
            group = Some(worker_group::enter(&job.record));
        }
        // A coordinator that no longer listens has given up; the job's result then goes nowhere.
        let mut tell = |message| drop(reports.send((number, Report::Message(message))));
        let result = worker::work(&job, interrupt, &mut tell);
        if reports.send((number, Report::Done(Box::new(result)))).is_err() {
            return;
        }
    }
}

fn open_session(store: &mut Store, options: &Options, secrets: &Secrets) -> Result<(), StoreError> {
    store.append(&Entry::Session {
        at: now(),
        pid: std::process::id(),
        machine: Box::new(options.machine.clone()),
        environment: environment::recorded(secrets, &options.keep_environment),
        directory: std::env::current_dir().unwrap_or_default().display().to_string(),
        program: options.program.clone(),
    })
}

/// Ends what a dead coordinator left running, and closes its open runs, so that they are run again.
fn end_orphans(store: &mut Store, tell: &mut dyn FnMut(Event<'_>)) -> Result<usize, LaunchError> {
    let record: &Path = store.directory();
    let open: Vec<RunId> = store.state().open_runs.keys().cloned().collect();
    let mut ended = 0;
    if !open.is_empty() {
        let tokens: Vec<String> = open.iter().map(|run| orphan::token(record, run)).collect();
        ended = orphan::end(&tokens, ORPHAN_GRACE);
    }
    // Some may have no mark: they were started with an empty environment.
    ended += worker_group::end_abandoned(record);
    for run in open {
        let result = RunResult::bare(Status::Interrupted, now());
        store.append(&Entry::Finished { run, result: Box::new(result) })?;
    }
    if ended > 0 {
        let processes = if ended == 1 { "process" } else { "processes" };
        tell(Event::Warning(format!(
            "ended {ended} {processes} that an earlier, killed `assay run` had left behind"
        )));
    }
    Ok(ended)
}
