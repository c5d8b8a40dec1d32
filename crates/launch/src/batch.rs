//! Runs as jobs of a scheduler, here or on another host. A submission is announced in the journal before it is made and
//! its jobs carry its name, so that a successor of a killed coordinator finds them; whichever job takes a run first makes
//! a link in the run directory that names it, so that no run is made twice whatever was submitted.
//!
//! | file | holds |
//! |---|---|
//! | `scheduler.rs` | what a scheduler must be able to do |
//! | `slurm.rs`, `pbs.rs`, `direct.rs` | Slurm; PBS; processes of a host without a scheduler |
//! | `host.rs`, `mirror.rs`, `archive.rs` | commands on this host or through ssh; copies of files of other hosts |
//! | `simulator.rs` | a simulated cluster, for tests and benches |
//! | `job_script.rs`, `node_script.rs` | the script of a job; the script that makes a run inside a job |
//! | `submit.rs` | which runs are submitted together, and the scheduler's answer |
//! | `watch.rs` | jobs and runs under way, until they are concluded |
//! | `adopt.rs` | jobs of an earlier coordinator, and submissions without an answer |
//! | `task.rs` | a task of a job and its runs |
//! | `run_log.rs`, `marks.rs`, `outcome.rs` | a run's output while it grows; what it wrote about itself; what came of it |
//! | `pace.rs`, `time.rs` | how often to ask; times as schedulers write them |
//! | `limits.rs` | what a partition allows, asked before anything is submitted |
//! | `control.rs` | what `status`, `cancel` and `plan --scripts` need |
//! | `request.rs` | what a campaign will request in all |

mod adopt;
mod archive;
pub mod control;
mod direct;
pub mod host;
mod job_script;
pub mod limits;
mod marks;
mod mirror;
mod node_script;
mod outcome;
mod pace;
mod pbs;
pub mod request;
mod run_log;
pub mod scheduler;
pub mod simulator;
mod slurm;
mod submit;
mod task;
mod time;
mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_model::identity::hash_text;
use assay_model::platform::BatchSettings;
use assay_model::{Platform, RunId, RunResult};
use assay_store::{JournalState, RecordPermissions, Store, Submission};

use crate::coordinator::LaunchError;
use crate::launcher::{Launcher, RunReport};
use crate::worker::{self, RunJob, RunMessage, WorkError};
use host::Host;
use pace::PollPace;
use scheduler::Scheduler;
use simulator::{Simulation, Simulator};
use task::{BatchTask, TaskKey};

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
    let root = root_there(platform, store.state());
    job_script::check(root.as_deref().unwrap_or(store.directory()), &platform.batch)
        .map_err(|reason| LaunchError::Platform { platform: platform.name.clone(), reason })?;
    Ok(Some(BatchLauncher::new(platform, store, scheduler)))
}

/// The launcher of a platform whose scheduler is simulated.
pub fn simulated(platform: &Platform, store: &Store, simulation: Simulation) -> BatchLauncher {
    BatchLauncher::new(platform, store, Box::new(Simulator::new(simulation)))
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
pub fn job_name(state: &JournalState) -> String {
    let hash = hash_text(&format!("{}/{}", state.name, state.created));
    format!("assay-{}", hash.get(..8).unwrap_or(&hash))
}

/// Where a record's files are on the platform's host, if that is another one.
fn root_there(platform: &Platform, state: &JournalState) -> Option<PathBuf> {
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
    waiting: Vec<RunJob>,
    tasks: BTreeMap<TaskKey, BatchTask>,
    ready: VecDeque<(RunId, RunReport)>,
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

    /// A path relative to the record.
    fn relative(&self, path: &Path) -> Option<String> {
        Some(path.strip_prefix(&self.record).ok()?.to_str()?.to_owned())
    }

    fn done(&mut self, run: RunId, result: Result<RunResult, WorkError>) {
        self.ready.push_back((run, RunReport::Done(Box::new(result))));
    }

    /// Warns of something once.
    fn complain(&mut self, run: Option<RunId>, text: &str) {
        if let Some(run) = run.filter(|_| !self.complaints.iter().any(|known| known == text)) {
            self.complaints.push(text.to_owned());
            let text = format!("{}: {text}", self.platform);
            self.ready.push_back((run, RunReport::RunMessage(RunMessage::Warning(text))));
        }
    }
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
        // After the pause, further runs are taken: the submission without an answer may have gone through, and then
        // nothing of it is left to try again.
        let pauses = self.retry.is_some_and(|(at, _)| Instant::now() < at);
        self.waiting.len() < most && !pauses
    }

    fn start(&mut self, job: RunJob) -> Result<(), LaunchError> {
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
        self.submit_waiting(store, is_last)
    }

    fn next(&mut self, patience: Duration) -> Result<Option<(RunId, RunReport)>, LaunchError> {
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

    fn adopt(&mut self, runs: Vec<(RunJob, Submission)>) -> Result<Vec<RunId>, LaunchError> {
        self.adopt_runs(runs)
    }

    fn outlives_coordinator(&self) -> bool {
        true
    }
}
