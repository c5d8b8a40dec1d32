//! Hands out runs, writes the journal, and shows what happens. The only writer of a record.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_campaign::{Invocation, OrderBy, Plan, RunPaths};
use assay_evidence::Progress;
use assay_judge::estimate::median;
use assay_judge::iterations::steady_mean;
use assay_judge::stopping::Repeats;
use assay_model::{Entry, Machine, Observation, Origin, RunId, RunResult, Speed, Status, Unit};
use assay_store::secrets::Secrets;
use assay_store::{OpenRun, Store, StoreError, Submission};

use crate::batch::simulator::Simulation;
use crate::interrupt::Interrupt;
use crate::launcher::{Launcher, RunReport};
use crate::replay::WriteSample;
use crate::schedule::{Next, RunSchedule, RunSelection};
use crate::unsynced::{UNSYNCED_AT_MOST, Unsynced};
use crate::worker::{OutputReader, RunJob, RunMessage, SYNCED_FROM_S, WorkError, now};
use crate::{batch, environment, local, orphan, provenance, standing, worker_group};

/// How a plan is to be run.
pub struct LaunchOptions {
    /// How many runs may go on at once.
    pub jobs: usize,
    /// Which runs are wanted.
    pub only: RunSelection,
    /// The path of this program, for `{assay}`.
    pub assay: PathBuf,
    /// This machine.
    pub machine: Machine,
    /// The version of this program.
    pub program: String,
    /// How output is read, by platform.
    pub readers: BTreeMap<String, Arc<OutputReader>>,
    /// Writes generated logs that are replayed.
    pub write_sample: WriteSample,
    /// Variables that are recorded beside those that always are.
    pub keep_environment: Vec<String>,
    /// The user's wish to stop.
    pub interrupt: Interrupt,
    /// A simulated cluster in place of the schedulers, for tests and benches.
    pub simulation: Option<Simulation>,
}

/// Something that happened. What an event shows is already safe on disk.
#[derive(Debug)]
pub enum LaunchEvent<'a> {
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
        /// Seconds to the first metric, where earlier runs of the cell show.
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
        /// Seconds to the first metric, where the steps so far show it.
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

/// How the execution of a plan ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything was run.
    Complete,
    /// The user stopped it.
    Interrupted,
}

/// What the execution of a plan came to.
#[derive(Debug, Clone, Copy)]
pub struct LaunchOutcome {
    /// How it ended.
    pub ending: Ending,
    /// Whether every cell is as precise as asked.
    pub precise: bool,
}

/// Why a plan could not be executed further.
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
    /// The scheduler or its host cannot be used.
    #[error("platform `{platform}`: {reason}")]
    Platform {
        /// Which platform.
        platform: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A worker is gone.
    #[error("a worker thread ended unexpectedly")]
    Worker,
    /// Workers need a thread each.
    #[error("the system refused a thread for each of the jobs: {0}")]
    NoThread(std::io::Error),
}

/// How often to show that time passes.
const TICK: Duration = Duration::from_millis(100);
/// The runs of a cell by which the time to the first metric of the next one is expected.
const RECENT_RUNS: usize = 64;
/// How long a dead coordinator's processes have between being asked to stop and being killed.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Runs what is missing of a plan.
pub fn execute(
    plan: &Plan,
    store: &mut Store,
    options: &LaunchOptions,
    show: &mut dyn FnMut(LaunchEvent<'_>),
) -> Result<LaunchOutcome, LaunchError> {
    let secrets = Arc::new(environment::secrets(plan));
    open_session(plan, store, options, &secrets)?;
    let orphans = end_orphans(store, show)?;
    standing::record_plan(plan, store, &secrets)?;
    let mut launchers = launchers(plan, store, options)?;
    let adopted = adopt(plan, store, options, &secrets, &mut launchers)?;
    let order = |round: u32| plan.round(round);
    let repeats = Repeats {
        at_least: plan.repeats.at_least,
        at_most: plan.repeats.at_most,
        precision: plan.repeats.precision,
    };
    let budget = plan.repeats.budget_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let progress = standing::progress(plan, store);
    let finished_before = progress.iter().map(|cell| cell.done.len()).sum();
    let mut schedule =
        RunSchedule::new(progress, &order, plan.order.by == OrderBy::Cells, repeats, budget, options.only);
    let mut running = BTreeMap::new();
    for (run, cell) in adopted {
        schedule.adopt(cell, run.repeat);
        running.insert(run, cell);
    }
    show(LaunchEvent::Began { finished_before, certain: schedule.certain() + running.len(), orphans });
    for (run, cell) in &running {
        show(LaunchEvent::Started { run, cell: *cell, first_metric_in_s: None });
    }
    let mut coordinator = Coordinator {
        plan,
        options,
        secrets,
        launchers,
        held: VecDeque::new(),
        running,
        certain: schedule.certain(),
        schedule,
        outcome: LaunchOutcome { ending: Ending::Complete, precise: true },
        first_metrics_s: BTreeMap::new(),
        warmed: BTreeSet::new(),
        unsynced: Unsynced::default(),
    };
    let result = coordinator.run_all(store, show);
    if result.is_err() {
        // What still runs cannot be recorded: stop it, so that no thread is waited for in vain.
        options.interrupt.request();
        options.interrupt.request();
    }
    result
}

struct Coordinator<'a> {
    plan: &'a Plan,
    options: &'a LaunchOptions,
    secrets: Arc<Secrets>,
    /// What starts the runs of each platform.
    launchers: BTreeMap<String, Box<dyn Launcher>>,
    /// Runs whose turn came while their launcher had no room.
    held: VecDeque<(usize, u32)>,
    /// Runs that go on, with the index of their cell.
    running: BTreeMap<RunId, usize>,
    certain: usize,
    schedule: RunSchedule<'a>,
    outcome: LaunchOutcome,
    /// When the first metric came in the runs of each cell.
    first_metrics_s: BTreeMap<usize, Vec<f64>>,
    /// Cells that were run since this program was started: the others are warmed up first.
    warmed: BTreeSet<usize>,
    /// Runs that ended and are not acknowledged yet.
    unsynced: Unsynced,
}

impl Coordinator<'_> {
    fn run_all(
        &mut self,
        store: &mut Store,
        show: &mut dyn FnMut(LaunchEvent<'_>),
    ) -> Result<LaunchOutcome, LaunchError> {
        loop {
            let stopping = self.options.interrupt.stop().is_some();
            let exhausted = stopping || self.hand_out(store, show)?;
            if !stopping {
                for launcher in self.launchers.values_mut() {
                    launcher.dispatch(store, exhausted)?;
                }
            }
            if exhausted && self.running.keys().all(|run| stopping && self.outlives_coordinator(run)) {
                break;
            }
            self.unsynced.acknowledge(store, show, UNSYNCED_AT_MOST)?;
            let mut quiet = true;
            let patience = if self.unsynced.is_empty() { TICK } else { UNSYNCED_AT_MOST };
            let patience = patience / u32::try_from(self.launchers.len().max(1)).unwrap_or(1);
            let platforms: Vec<String> = self.launchers.keys().cloned().collect();
            for platform in platforms {
                let Some(launcher) = self.launchers.get_mut(&platform) else { continue };
                if let Some((run, report)) = launcher.next(patience)? {
                    quiet = false;
                    self.take(run, report, store, show)?;
                }
            }
            if quiet {
                show(LaunchEvent::Tick);
            }
        }
        self.unsynced.acknowledge(store, show, Duration::ZERO)?;
        if self.options.interrupt.stop().is_some() {
            self.outcome.ending = Ending::Interrupted;
        }
        self.outcome.precise = self.schedule.is_precise();
        Ok(self.outcome)
    }

    fn outlives_coordinator(&self, run: &RunId) -> bool {
        self.launchers.get(&run.cell.platform).is_some_and(|launcher| launcher.outlives_coordinator())
    }

    fn has_room(&self, cell: usize) -> bool {
        let launcher =
            self.plan.cells.get(cell).and_then(|planned| self.launchers.get(&planned.cell.platform));
        // A cell without a launcher is a fault that launching it reports.
        launcher.is_none_or(|launcher| launcher.has_room())
    }

    /// Hands runs over while launchers have room. True when nothing is left to hand out.
    fn hand_out(
        &mut self,
        store: &mut Store,
        show: &mut dyn FnMut(LaunchEvent<'_>),
    ) -> Result<bool, LaunchError> {
        while self.launchers.values().any(|launcher| launcher.has_room()) {
            let waiting = self.held.iter().position(|(cell, _)| self.has_room(*cell));
            if let Some((cell, repeat)) = waiting.and_then(|position| self.held.remove(position)) {
                self.launch(cell, repeat, store, show)?;
                continue;
            }
            match self.schedule.take_next() {
                Next::Run { cell, repeat } if self.has_room(cell) => {
                    self.launch(cell, repeat, store, show)?
                }
                Next::Run { cell, repeat } => self.held.push_back((cell, repeat)),
                Next::Wait => return Ok(false),
                Next::Done => return Ok(self.held.is_empty()),
            }
        }
        Ok(false)
    }

    fn launch(
        &mut self,
        cell: usize,
        repeat: u32,
        store: &mut Store,
        show: &mut dyn FnMut(LaunchEvent<'_>),
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
        let warmup = if self.warmed.insert(cell) { self.plan.warmup() } else { 0 };
        let job = job(self.plan, store, self.options, &self.secrets, cell, &run, &relative, warmup)?;
        let first_metric_in_s = self.usual_first_metric(cell, &job.invocation);
        // Written before the process can exist, so that a killed coordinator's successor knows to look for it.
        store.append(&Entry::Launching { run: run.clone(), at: now(), directory: relative })?;
        let launcher = self.launchers.get_mut(&run.cell.platform).ok_or(LaunchError::Worker)?;
        launcher.start(job)?;
        if self.certain == 0 {
            show(LaunchEvent::Added { runs: 1 });
        }
        self.certain = self.certain.saturating_sub(1);
        self.unsynced.started(&run, cell, first_metric_in_s, show);
        self.running.insert(run, cell);
        Ok(())
    }

    /// The median of the times to the first metric of a cell's last runs. A replayed run reaches it sooner.
    fn usual_first_metric(&self, cell: usize, invocation: &Invocation) -> Option<f64> {
        let times = self.first_metrics_s.get(&cell)?;
        let usual = median(times.get(times.len().saturating_sub(RECENT_RUNS)..)?)?;
        match invocation.recording.as_ref().map(|recording| recording.speed) {
            None => Some(usual),
            Some(Speed::Times(speed)) => Some(usual / speed),
            Some(Speed::Max) => None,
        }
    }

    fn take(
        &mut self,
        run: RunId,
        report: RunReport,
        store: &mut Store,
        show: &mut dyn FnMut(LaunchEvent<'_>),
    ) -> Result<(), LaunchError> {
        match report {
            RunReport::RunMessage(message) => {
                let Some(cell) = self.running.get(&run).copied() else { return Ok(()) };
                match message {
                    RunMessage::Started { pid } => store.append(&started(&run, pid, self.options))?,
                    RunMessage::Warning(text) => show(LaunchEvent::Warning(text)),
                    RunMessage::Progress { progress, first_metric_in_s } => {
                        show(LaunchEvent::Progress {
                            run: &run,
                            cell,
                            progress: &progress,
                            first_metric_in_s,
                        });
                    }
                }
            }
            RunReport::Done(result) => {
                let Some(cell) = self.running.remove(&run) else { return Ok(()) };
                self.finish(run, cell, (*result)?, store, show)?;
            }
        }
        Ok(())
    }

    fn finish(
        &mut self,
        run: RunId,
        cell: usize,
        mut result: RunResult,
        store: &mut Store,
        show: &mut dyn FnMut(LaunchEvent<'_>),
    ) -> Result<(), LaunchError> {
        if headline_value(&result, &self.plan.headline).is_none() {
            result.observations.extend(value_of_series(&result, &self.plan.headline));
        }
        let entry = Entry::Finished { run, result: Box::new(result) };
        store.keep(&entry)?;
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
        let is_short = result.usage.as_ref().is_some_and(|usage| usage.wall_s < SYNCED_FROM_S);
        self.unsynced.finished(cell, entry);
        let waited = if is_short { UNSYNCED_AT_MOST } else { Duration::ZERO };
        Ok(self.unsynced.acknowledge(store, show, waited)?)
    }
}

fn headline_value(result: &RunResult, headline: &str) -> Option<f64> {
    result.observations.iter().find(|observation| observation.metric == headline).map(|found| found.value)
}

/// The one value of a run that reports its headline for each iteration only.
fn value_of_series(result: &RunResult, headline: &str) -> Option<Observation> {
    let series = result.series.iter().find(|series| series.metric == headline)?;
    // The mean is that of costs and rates; what a loss or an accuracy comes to stands in its last value.
    matches!(series.unit, Unit::Seconds | Unit::PerSecond(_)).then_some(())?;
    let value = steady_mean(&series.values)?;
    Some(Observation {
        source: series.source.clone(),
        ..Observation::new(headline, value, series.unit.clone(), Origin::Derived)
    })
}

fn started(run: &RunId, pid: u32, options: &LaunchOptions) -> Entry {
    Entry::Started {
        run: run.clone(),
        pid,
        start_ticks: orphan::start_ticks(pid).unwrap_or(0),
        boot: options.machine.boot.clone().unwrap_or_default(),
    }
}

/// The launcher of each platform of the plan.
fn launchers(
    plan: &Plan,
    store: &Store,
    options: &LaunchOptions,
) -> Result<BTreeMap<String, Box<dyn Launcher>>, LaunchError> {
    let mut launchers: BTreeMap<String, Box<dyn Launcher>> = BTreeMap::new();
    for platform in &plan.platforms {
        let launcher: Box<dyn Launcher> = match (&options.simulation, batch::launcher(platform, store)?) {
            (Some(simulation), _) => Box::new(batch::simulated(platform, store, simulation.clone())),
            (None, Some(launcher)) => Box::new(launcher),
            (None, None) => Box::new(local::LocalLauncher::new(options.jobs, &options.interrupt)?),
        };
        launchers.insert(platform.name.clone(), launcher);
    }
    Ok(launchers)
}

/// Takes up the runs that an earlier coordinator submitted to schedulers. Those that no job has begun are closed, so
/// that they are submitted again.
fn adopt(
    plan: &Plan,
    store: &mut Store,
    options: &LaunchOptions,
    secrets: &Arc<Secrets>,
    launchers: &mut BTreeMap<String, Box<dyn Launcher>>,
) -> Result<BTreeMap<RunId, usize>, LaunchError> {
    let submitted = store.state().open_runs.iter();
    let submitted: Vec<(RunId, OpenRun)> = submitted.map(|(run, open)| (run.clone(), open.clone())).collect();
    let mut adopted = BTreeMap::new();
    let mut by_platform: BTreeMap<String, Vec<(RunJob, Submission)>> = BTreeMap::new();
    for (run, open) in submitted {
        let Some(submission) = open.submission else { continue };
        let cell = plan.cells.iter().position(|planned| planned.cell == run.cell);
        let (Some(cell), Some(_)) = (cell, launchers.get(&submission.platform)) else {
            // Its cell is no longer planned: what its job may still do is of no use.
            close(store, run)?;
            continue;
        };
        let job = job(plan, store, options, secrets, cell, &run, &open.directory, 0)?;
        adopted.insert(run, cell);
        by_platform.entry(submission.platform.clone()).or_default().push((job, submission));
    }
    for (platform, runs) in by_platform {
        let Some(launcher) = launchers.get_mut(&platform) else { continue };
        for run in launcher.adopt(runs)? {
            adopted.remove(&run);
            close(store, run)?;
        }
    }
    Ok(adopted)
}

/// Closes a run that is to be made again.
fn close(store: &mut Store, run: RunId) -> Result<(), StoreError> {
    let result = RunResult::bare(Status::Interrupted, now());
    store.append(&Entry::Finished { run, result: Box::new(result) })
}

/// All that a launcher needs to make a run.
#[expect(clippy::too_many_arguments, reason = "a run is the meeting point of plan, record and options")]
fn job(
    plan: &Plan,
    store: &Store,
    options: &LaunchOptions,
    secrets: &Arc<Secrets>,
    cell: usize,
    run: &RunId,
    relative: &str,
    warmup: u32,
) -> Result<RunJob, LaunchError> {
    let prepare = |what: String| LaunchError::Prepare(what);
    let planned = plan.cells.get(cell).ok_or_else(|| prepare("no such cell".to_owned()))?;
    let directory = store.run_directory(relative);
    let there = plan.platform(cell).and_then(|platform| batch::paths_there(platform, store, relative));
    let (assay, run_directory) = match &there {
        Some((assay, run_directory)) => (assay.as_path(), run_directory.as_path()),
        None => (options.assay.as_path(), directory.as_path()),
    };
    let paths = RunPaths { assay, run_directory };
    let mut invocation =
        plan.invocation(cell, run.repeat, &paths).map_err(|error| prepare(error.to_string()))?;
    if let Some((_, run_directory)) = &there {
        invocation.directory.clone_from(run_directory);
    }
    let reader = options.readers.get(&run.cell.platform).cloned();
    let reader = reader.ok_or_else(|| prepare(format!("platform `{}` has no reader", run.cell.platform)))?;
    Ok(RunJob {
        run: run.clone(),
        campaign: plan.name.clone(),
        settings: planned.settings.clone(),
        invocation,
        write_sample: options.write_sample,
        resources: plan.resources(cell),
        expected_s: plan.expected_s(cell),
        warmup,
        directory,
        there: there.map(|(_, run_directory)| run_directory),
        record: store.directory().to_owned(),
        permissions: store.permissions(),
        secrets: Arc::clone(secrets),
        reader,
    })
}

fn open_session(
    plan: &Plan,
    store: &mut Store,
    options: &LaunchOptions,
    secrets: &Secrets,
) -> Result<(), StoreError> {
    let mut environment = environment::recorded(secrets, &options.keep_environment);
    environment.extend(provenance::facts(plan));
    store.append(&Entry::Session {
        at: now(),
        pid: std::process::id(),
        machine: Box::new(options.machine.clone()),
        environment,
        directory: std::env::current_dir().unwrap_or_default().display().to_string(),
        program: options.program.clone(),
    })
}

/// Ends what a dead coordinator left running, and closes its open runs, so that they are run again.
fn end_orphans(store: &mut Store, show: &mut dyn FnMut(LaunchEvent<'_>)) -> Result<usize, LaunchError> {
    let record: &Path = store.directory();
    // Runs that were submitted to a scheduler go on without a coordinator.
    let here = store.state().open_runs.iter().filter(|(_, open)| open.submission.is_none());
    let open: Vec<RunId> = here.map(|(run, _)| run.clone()).collect();
    let mut ended = 0;
    if !open.is_empty() {
        let tokens: Vec<String> = open.iter().map(|run| orphan::token(record, run)).collect();
        ended = orphan::end(&tokens, ORPHAN_GRACE);
    }
    // Some may have no mark: they were started with an empty environment.
    ended += worker_group::end_abandoned(record);
    for run in open {
        close(store, run)?;
    }
    if ended > 0 {
        let processes = if ended == 1 { "process" } else { "processes" };
        show(LaunchEvent::Warning(format!(
            "ended {ended} {processes} that an earlier, killed `assay run` had left behind"
        )));
    }
    Ok(ended)
}
