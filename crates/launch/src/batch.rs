//! Runs as jobs of a scheduler, here or on another host. A submission is announced in the journal before it is made and
//! its jobs carry its name, so that a successor of a killed coordinator finds them; whichever job takes a run first makes
//! a link in the run directory that names it, so that no run is made twice whatever was submitted.
//!
//! | file | holds |
//! |---|---|
//! | `scheduler.rs` | what a scheduler must be able to do |
//! | `slurm.rs`, `pbs.rs`, `direct.rs` | Slurm; PBS; processes of a host without a scheduler |
//! | `host.rs`, `mirror.rs` | commands on this host or through ssh; copies of files of other hosts |
//! | `node_script.rs` | the script that makes a run inside a job |
//! | `adopt.rs` | jobs of an earlier coordinator, and submissions without an answer |
//! | `task.rs` | a task of a job and its runs |
//! | `run_log.rs`, `outcome.rs` | a run's output while it grows; what came of a run |
//! | `pace.rs`, `time.rs` | how often to ask; times as schedulers write them |
//! | `limits.rs` | what a partition allows, asked before anything is submitted |
//! | `control.rs` | what `status`, `cancel` and `plan --scripts` need |

mod adopt;
pub mod control;
mod direct;
pub mod host;
pub mod limits;
mod mirror;
mod node_script;
mod outcome;
mod pace;
mod pbs;
mod run_log;
pub mod scheduler;
mod slurm;
mod task;
mod time;

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_model::identity::hash_text;
use assay_model::platform::BatchSettings;
use assay_model::{Entry, Failure, Platform, RunId, RunResult, Status};
use assay_store::{RecordPermissions, State, Store, Submission};

use crate::coordinator::LaunchError;
use crate::launcher::{Launcher, Report};
use crate::worker::{self, Job, Message, WorkError, now};
use host::Host;
use outcome::RunMarks;
use pace::PollPace;
use scheduler::{JobRequest, Scheduler, Stage, SubmitError};
use task::{Task, TaskKey, TaskRun};

/// The directory of submissions in a record.
const JOBS: &str = "jobs";
/// The script of a submission.
const JOB_SCRIPT: &str = "job.sh";
/// Jobs in the queue at once, unless the platform says otherwise.
const QUEUED: u32 = 200;
/// How often the files of running runs are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// A job that is over may have an end marker that the file system does not show yet.
const SETTLE: Duration = Duration::from_secs(2);

/// The launcher of a platform whose runs are jobs; none where they are processes of this machine, or replayed.
pub fn launcher(platform: &Platform, store: &Store) -> Result<Option<BatchLauncher>, LaunchError> {
    let Some(scheduler) = scheduler_of(platform) else { return Ok(None) };
    Ok(Some(BatchLauncher::new(platform, store, scheduler)))
}

/// The scheduler of a platform.
fn scheduler_of(platform: &Platform) -> Option<Box<dyn Scheduler>> {
    match platform.launcher.as_str() {
        "slurm" => Some(Box::<slurm::Slurm>::default()),
        "pbs" => Some(Box::new(pbs::Pbs)),
        "local" if platform.host.is_some() => Some(Box::new(direct::Direct)),
        _ => None,
    }
}

/// The name that all jobs of a record have.
pub fn job_name(state: &State) -> String {
    let hash = hash_text(&format!("{}/{}", state.name, state.created));
    format!("assay-{}", hash.get(..8).unwrap_or(&hash))
}

/// Where a record's files are on the platform's host, if that is another one.
fn root_there(platform: &Platform, state: &State) -> Option<PathBuf> {
    platform.host.as_ref()?;
    let directory = platform.batch.directory.as_deref().unwrap_or(".assay");
    Some(Path::new(directory).join(job_name(state)))
}

/// The paths of this program and of a run on the platform's host, if that is another one.
pub fn paths_there(platform: &Platform, store: &Store, relative: &str) -> Option<(PathBuf, PathBuf)> {
    let root = root_there(platform, store.state())?;
    let assay = platform.batch.assay.as_deref().unwrap_or("assay");
    Some((PathBuf::from(assay), root.join(relative)))
}

/// Hands runs to a scheduler.
pub struct BatchLauncher {
    platform: String,
    described: Platform,
    settings: BatchSettings,
    scheduler: Box<dyn Scheduler>,
    host: Host,
    name: String,
    record: PathBuf,
    permissions: RecordPermissions,
    /// Where the record's files are on another host.
    root: Option<PathBuf>,
    /// Runs that wait for others to be submitted with.
    waiting: Vec<Job>,
    tasks: BTreeMap<TaskKey, Task>,
    ready: VecDeque<(RunId, Report)>,
    pace: PollPace,
    looked: Instant,
    submitted: u32,
    /// When to try again what did not go through, and how often it was tried.
    retry: Option<(Instant, u32)>,
    /// How often runs were submitted again because their job never came to them.
    resubmitted: BTreeMap<RunId, u32>,
    /// What was complained about already.
    complaints: Vec<String>,
}

impl BatchLauncher {
    fn new(platform: &Platform, store: &Store, scheduler: Box<dyn Scheduler>) -> BatchLauncher {
        BatchLauncher {
            platform: platform.name.clone(),
            described: platform.clone(),
            settings: platform.batch.clone(),
            scheduler,
            host: Host::new(platform.host.as_deref()),
            name: job_name(store.state()),
            record: store.directory().to_owned(),
            permissions: store.permissions(),
            root: root_there(platform, store.state()),
            waiting: Vec::new(),
            tasks: BTreeMap::new(),
            ready: VecDeque::new(),
            pace: PollPace::new(platform.batch.poll_s),
            looked: Instant::now(),
            submitted: 0,
            retry: None,
            resubmitted: BTreeMap::new(),
            complaints: Vec::new(),
        }
    }

    fn most_queued(&self) -> usize {
        self.settings.queued.unwrap_or(if self.scheduler.is_direct() { 1 } else { QUEUED }) as usize
    }

    fn most_tasks(&self) -> usize {
        if self.scheduler.is_direct() { 1 } else { self.settings.array.max(1) as usize }
    }

    /// Takes the next runs that can go into one submission: those that ask for the same.
    fn next_submission(&mut self) -> Vec<Vec<Job>> {
        let mut tasks: Vec<Vec<Job>> = Vec::new();
        let Some(first) = self.waiting.first() else { return tasks };
        let (resources, timeout) = (first.resources, first.invocation.timeout);
        let most_tasks = self.most_tasks();
        let mut rest = Vec::new();
        for job in std::mem::take(&mut self.waiting) {
            let fits = job.resources == resources && job.invocation.timeout == timeout;
            let joins = fits && tasks.last().is_some_and(|task| has_space(task, &job, &self.settings));
            if let Some(task) = tasks.last_mut().filter(|_| joins) {
                task.push(job);
            } else if fits && tasks.len() < most_tasks {
                tasks.push(vec![job]);
            } else {
                rest.push(job);
            }
        }
        self.waiting = rest;
        tasks
    }

    fn submit(&mut self, tasks: Vec<Vec<Job>>, store: &mut Store) -> Result<(), LaunchError> {
        let failed = |path: &Path, source| WorkError { path: path.display().to_string(), source };
        if self.submitted == 0 {
            control::note_platform(&self.described, &self.record, self.permissions)
                .map_err(|source| failed(&self.record, source))?;
        }
        self.submitted += 1;
        let submission = format!("{:x}-{}", (now() * 1e3) as u64, self.submitted);
        let relative = format!("{JOBS}/{submission}");
        let directory = self.record.join(&relative);
        self.permissions.create_directory(&directory).map_err(|source| failed(&directory, source))?;
        let there = self.root.as_ref().map_or_else(|| directory.clone(), |root| root.join(&relative));
        let scripts: Vec<Vec<PathBuf>> = tasks
            .iter()
            .map(|task| {
                let place =
                    |job: &Job| job.there.as_ref().unwrap_or(&job.directory).join(node_script::NODE_SCRIPT);
                task.iter().map(place).collect()
            })
            .collect();
        let resources = tasks.iter().flatten().next().map(|job| job.resources).unwrap_or_default();
        let time_s =
            tasks.iter().map(|task| outcome::time_limit(task, self.settings.time_s)).fold(None, longest);
        let request = JobRequest {
            name: &self.name,
            submission: &submission,
            settings: &self.settings,
            resources,
            time_s,
            directory: &there,
            tasks: &scripts,
        };
        let path = directory.join(JOB_SCRIPT);
        let text = self.scheduler.script(&request);
        let mut file = self.permissions.create_file(&path).map_err(|source| failed(&path, source))?;
        file.write_all(text.as_bytes()).map_err(|source| failed(&path, source))?;
        drop(file);
        // Synced: a job may outlive not only this program but also its host.
        let at = now();
        store.commit(&Entry::Submitting {
            submission: submission.clone(),
            at,
            platform: self.platform.clone(),
            tasks: tasks.iter().map(|task| task.iter().map(|job| job.run.clone()).collect()).collect(),
        })?;
        let pushed = self.push(&relative, &tasks).map_err(SubmitError::Unclear);
        let script_there = there.join(JOB_SCRIPT);
        let submitted = pushed.and_then(|()| self.scheduler.submit(&self.host, &request, &script_there));
        self.pace.wake();
        match submitted {
            Ok(job) => {
                store.append(&Entry::Submitted { submission: submission.clone(), job: job.clone() })?;
                self.retry = None;
                self.follow(&submission, Some(job), at, tasks);
            }
            Err(SubmitError::Refused(reason)) => {
                for job in tasks.into_iter().flatten() {
                    let failure =
                        Failure::Start { reason: format!("the scheduler refused the job: {reason}") };
                    let mut result = RunResult::bare(Status::Failed { failure }, now());
                    result.hints = worker::hints(&result.status, false, reason.as_bytes(), &job.reader.hints);
                    self.done(job.run, Ok(result));
                }
            }
            Err(SubmitError::Unclear(reason)) => {
                let tries = self.retry.map_or(1, |(_, tries)| tries + 1);
                let pause = Duration::from_secs(u64::from(2u32.saturating_pow(tries).min(60)));
                self.retry = Some((Instant::now() + pause, tries));
                let run = tasks.iter().flatten().next().map(|job| job.run.clone());
                self.complain(run, &format!("a job could not be submitted and is tried again: {reason}"));
                // It may have gone through all the same: it is looked for by its name before it is repeated.
                self.follow(&submission, None, at, tasks);
            }
        }
        Ok(())
    }

    fn push(&self, relative: &str, tasks: &[Vec<Job>]) -> Result<(), String> {
        let Some(root) = &self.root else { return Ok(()) };
        let runs = tasks.iter().flatten().filter_map(|job| self.relative(&job.directory));
        let names: Vec<String> = std::iter::once(relative.to_owned()).chain(runs).collect();
        self.host.push(&self.record, &names, root)
    }

    /// A path relative to the record.
    fn relative(&self, path: &Path) -> Option<String> {
        Some(path.strip_prefix(&self.record).ok()?.to_str()?.to_owned())
    }

    fn follow(&mut self, submission: &str, job: Option<String>, at: f64, tasks: Vec<Vec<Job>>) {
        for (runs, number) in tasks.into_iter().zip(1..) {
            let key = TaskKey { submission: submission.to_owned(), task: number };
            self.tasks.insert(key, Task::new(job.clone(), at, runs));
        }
    }

    fn done(&mut self, run: RunId, result: Result<RunResult, WorkError>) {
        self.ready.push_back((run, Report::Done(Box::new(result))));
    }

    /// Warns of something once.
    fn complain(&mut self, run: Option<RunId>, text: &str) {
        if let Some(run) = run.filter(|_| !self.complaints.iter().any(|known| known == text)) {
            self.complaints.push(text.to_owned());
            let text = format!("{}: {text}", self.platform);
            self.ready.push_back((run, Report::Message(Message::Warning(text))));
        }
    }

    /// Asks the scheduler about all jobs at once.
    fn poll(&mut self) {
        let known: Vec<String> = self.tasks.values().filter_map(|task| task.job.clone()).collect();
        let states = match self.scheduler.tasks(&self.host, &self.name, &known) {
            Ok(states) => states,
            Err(reason) => {
                // Runs go on without the scheduler's controller; their own marks are still looked at.
                self.pace.polled(false);
                let run = self.tasks.values().find_map(Task::current);
                self.complain(run, &format!("the scheduler does not answer: {reason}"));
                return;
            }
        };
        let mut changed = false;
        for task in self.tasks.values_mut() {
            task.seen = false;
        }
        for state in states {
            let key = TaskKey { submission: state.submission.clone(), task: state.task };
            if let Some(task) = self.tasks.get_mut(&key) {
                changed |= task.note(state);
            }
        }
        for task in self.tasks.values_mut().filter(|task| !task.seen) {
            task.missing = task.missing.saturating_add(1);
            // Whether it is gone for good is to be known soon.
            changed |= !task.is_gone();
        }
        self.account();
        self.warn_of_stuck();
        changed |= self.look(true);
        self.pace.polled(changed);
    }

    /// Asks the accounting about tasks that are over, all at once. Several runs of one task share its numbers, which
    /// then are of no use.
    fn account(&mut self) {
        let wanted = |task: &&mut Task| task.is_over() && task.accounted.is_none() && task.is_alone;
        let mut jobs: Vec<String> =
            self.tasks.values_mut().filter(wanted).filter_map(|task| task.job.clone()).collect();
        jobs.sort();
        jobs.dedup();
        if jobs.is_empty() {
            return;
        }
        let answers = self.scheduler.account(&self.host, &jobs);
        for (key, task) in &mut self.tasks {
            let is_its = |answer: &&scheduler::Accounted| {
                Some(&answer.job) == task.job.as_ref() && answer.task == key.task
            };
            if let Some(answer) = answers.iter().find(is_its) {
                task.accounted = Some(answer.clone());
            }
        }
    }

    /// Jobs that wait for something that will not come by itself.
    fn warn_of_stuck(&mut self) {
        let stuck = self.tasks.values().filter_map(|task| {
            let state = task.state.as_ref().filter(|state| state.stage == Stage::Pending)?;
            let is_stuck = STUCK.iter().any(|word| state.reason.contains(word));
            is_stuck.then(|| (task.current(), state.job.clone(), state.reason.clone()))
        });
        for (run, job, reason) in stuck.collect::<Vec<_>>() {
            let text =
                format!("job {job} waits ({reason}) and cannot start as it is; `assay cancel` removes it");
            self.complain(run, &text);
        }
    }

    /// Looks at the files of runs that go on, and concludes those that are over. Gives whether any was.
    fn look(&mut self, just_polled: bool) -> bool {
        self.looked = Instant::now();
        if let Err(reason) = self.mirror(just_polled) {
            let run = self.tasks.values().find_map(Task::current);
            self.complain(run, &reason);
            return false;
        }
        let keys: Vec<TaskKey> = self.tasks.keys().cloned().collect();
        let mut any = false;
        for key in keys {
            let Some(mut task) = self.tasks.remove(&key) else { continue };
            any |= self.look_at(&key, &mut task, just_polled);
            if !task.runs.is_empty() {
                self.tasks.insert(key, task);
            }
        }
        any
    }

    fn look_at(&mut self, key: &TaskKey, task: &mut Task, just_polled: bool) -> bool {
        let mut any = false;
        while let Some(directory) = task.runs.front().map(|run| run.job.directory.clone()) {
            if !task.may_have_begun(&directory) && !task.is_gone() {
                return any;
            }
            if RunMarks::has_ended(&directory) {
                // The end of the job itself is the end of the teardown: it is waited for until the next answer.
                let is_last = task.runs.len() == 1;
                if is_last && !task.is_gone() && !task.end_was_seen {
                    task.end_was_seen = true;
                    self.pace.wake();
                    return any;
                }
                if is_last && !task.is_gone() && !just_polled {
                    return any;
                }
                any = true;
                self.conclude(key, task);
                continue;
            }
            if !task.is_gone() {
                self.report_progress(task);
                return any;
            }
            // The job is over without a word of the run. File systems of clusters may show it late.
            let since = *task.over_since.get_or_insert_with(Instant::now);
            if since.elapsed() < SETTLE && !self.host.is_remote() {
                self.pace.wake();
                return any;
            }
            any = true;
            self.conclude_without_end(key, task);
        }
        any
    }

    fn report_progress(&mut self, task: &mut Task) {
        let Some(TaskRun { job, log }) = task.runs.front_mut() else { return };
        // A file that cannot be read now is read when the run has ended.
        if let Ok(Some(progress)) = log.look(job, now()) {
            let message = Message::Progress { progress: Box::new(progress), first_metric_in_s: None };
            self.ready.push_back((job.run.clone(), Report::Message(message)));
        }
    }

    /// Concludes the first run of a task.
    fn conclude(&mut self, key: &TaskKey, task: &mut Task) {
        let Some(TaskRun { job, log }) = task.runs.pop_front() else { return };
        let (Some(root), Some(name)) = (&self.root, self.relative(&job.directory)) else {
            return self.conclude_here(key, task, &job, log);
        };
        if let Err(reason) = self.host.pull(&self.record, &[name], root) {
            // The run stays as it is there, and is looked at again.
            self.complain(Some(job.run.clone()), &reason);
            task.runs.push_front(TaskRun { job, log });
            return;
        }
        self.conclude_here(key, task, &job, log);
    }

    fn conclude_here(&mut self, key: &TaskKey, task: &Task, job: &Job, log: run_log::RunLog) {
        let over = outcome::Over {
            job,
            marks: RunMarks::read(&job.directory),
            task: task.state.as_ref(),
            submitted_at: task.submitted_at,
            accounted: task.accounted.as_ref().filter(|_| task.is_alone),
            is_spread: !self.scheduler.start_words(&self.settings, &job.resources).is_empty(),
            is_alone: task.is_alone,
            job_log: self.job_log(key),
        };
        let result = outcome::result(&over, log);
        self.done(job.run.clone(), result);
    }

    /// The end of what the scheduler wrote about a task.
    fn job_log(&self, key: &TaskKey) -> String {
        let path = self.record.join(JOBS).join(&key.submission).join(format!("job-{}.log", key.task));
        let bytes = std::fs::read(path).unwrap_or_default();
        let tail = bytes.get(bytes.len().saturating_sub(JOB_LOG_TAIL)..).unwrap_or_default();
        String::from_utf8_lossy(tail).into_owned()
    }

    /// What becomes of the first run of a task that is over without its end marker.
    fn conclude_without_end(&mut self, key: &TaskKey, task: &mut Task) {
        let has_begun = task.runs.front().is_some_and(|run| has_begun(&run.job.directory));
        let stage = task.state.as_ref().map(|state| state.stage);
        // A run that its job never came to is made by another one, unless somebody did not want the job.
        if !has_begun && !matches!(stage, Some(Stage::Cancelled | Stage::Preempted)) {
            let Some(run) = task.runs.pop_front() else { return };
            let Some(run) = self.start_again(run) else { return };
            task.runs.push_front(run);
        }
        self.conclude(key, task);
    }

    /// Hands a run that no job has begun to a later submission, unless that was done often already.
    fn start_again(&mut self, run: TaskRun) -> Option<TaskRun> {
        let tries = self.resubmitted.entry(run.job.run.clone()).or_default();
        *tries += 1;
        if *tries > MOST_TRIES {
            return Some(run);
        }
        self.waiting.push(run.job);
        None
    }
}

/// What is looked at of a job's log.
const JOB_LOG_TAIL: usize = 4096;
/// A run that was never begun is submitted again this often.
const MOST_TRIES: u32 = 3;

/// Reasons of waiting that do not pass by themselves.
const STUCK: [&str; 13] = [
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "BadConstraints",
    "AssocMaxNodePerJobLimit",
    "PerJobLimit",
    "AccountNotAllowed",
    "QOSNotAllowed",
    "InvalidAccount",
    "InvalidQOS",
    "PartitionDown",
    "JobHeld",
    "DependencyNeverSatisfied",
    "requeued held",
];

/// Whether a task of several runs has space for one more.
fn has_space(task: &[Job], job: &Job, settings: &BatchSettings) -> bool {
    if let Some(most_s) = settings.pack_time_s {
        let expected: Option<f64> = task.iter().chain([job]).map(|job| job.expected_s).sum();
        return expected.is_some_and(|expected| expected <= most_s);
    }
    task.len() < settings.pack.max(1) as usize
}

fn longest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

/// Whether a job has begun a run.
fn has_begun(directory: &Path) -> bool {
    let claim = std::fs::read_link(directory.join(node_script::CLAIM));
    claim.is_ok_and(|job| job.as_os_str() != node_script::GIVEN_UP)
}

impl Launcher for BatchLauncher {
    fn has_room(&self) -> bool {
        // Whole tasks are freed, so that runs come in groups that fill one.
        let pack = match self.settings.pack_time_s {
            Some(_) => usize::MAX,
            None => self.settings.pack.max(1) as usize,
        };
        let free = self.most_queued().saturating_sub(self.tasks.len());
        let most = free.saturating_mul(pack).min(self.most_tasks().saturating_mul(pack).min(10_000));
        self.waiting.len() < most && self.retry.is_none()
    }

    fn start(&mut self, job: Job) -> Result<(), LaunchError> {
        let script = worker::prepare(&job)?;
        let path = script.with_file_name(node_script::NODE_SCRIPT);
        let start = self.scheduler.start_words(&self.settings, &job.resources);
        let text = node_script::text(&job, &start);
        let written =
            self.permissions.create_file(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|source| WorkError { path: path.display().to_string(), source })?;
        self.waiting.push(job);
        Ok(())
    }

    fn dispatch(&mut self, store: &mut Store, is_last: bool) -> Result<(), LaunchError> {
        if self.waiting.is_empty() || self.retry.is_some_and(|(at, _)| Instant::now() < at) {
            return Ok(());
        }
        // Submissions are as far apart as looks at the queue, so that their rate does not grow with the number of runs.
        if !(self.pace.may_submit() || is_last && self.tasks.is_empty()) {
            return Ok(());
        }
        self.pace.submitted();
        while !self.waiting.is_empty() && self.tasks.len() < self.most_queued() {
            let free = self.most_queued().saturating_sub(self.tasks.len());
            let mut tasks = self.next_submission();
            let excess = tasks.split_off(tasks.len().min(free));
            self.waiting.extend(excess.into_iter().flatten());
            if tasks.is_empty() {
                break;
            }
            self.submit(tasks, store)?;
            if self.retry.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn next(&mut self, patience: Duration) -> Result<Option<(RunId, Report)>, LaunchError> {
        if self.ready.is_empty() && !self.tasks.is_empty() {
            if self.pace.is_due() {
                self.poll();
                self.repeat_unfound();
            } else if self.looked.elapsed() >= LOOK && !self.host.is_remote() {
                self.look(false);
            }
        }
        if self.ready.is_empty() {
            std::thread::sleep(patience.min(self.pace.until_due().max(Duration::from_millis(5))));
        }
        Ok(self.ready.pop_front())
    }

    fn adopt(&mut self, runs: Vec<(Job, Submission)>) -> Result<Vec<RunId>, LaunchError> {
        self.adopt_runs(runs)
    }

    fn outlives_coordinator(&self) -> bool {
        true
    }
}
