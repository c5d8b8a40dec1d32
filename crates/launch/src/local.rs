//! Runs on this machine: worker threads, each with one process at a time.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_model::RunId;
use assay_store::{Store, Submission};

use crate::coordinator::LaunchError;
use crate::gpu::GpuWatch;
use crate::interrupt::Interrupt;
use crate::launcher::{Launcher, RunReport};
use crate::worker::{self, RunJob};
use crate::worker_group;

/// Starts runs as processes of this machine, or plays their logs.
pub struct LocalLauncher {
    workers: Vec<WorkerThread>,
    inbox: Receiver<(usize, RunReport)>,
}

/// A worker thread and what it works on.
struct WorkerThread {
    jobs: Option<Sender<RunJob>>,
    run: Option<RunId>,
    thread: Option<JoinHandle<()>>,
}

impl LocalLauncher {
    /// Starts the worker threads.
    pub fn new(jobs: usize, interrupt: &Interrupt) -> Result<LocalLauncher, LaunchError> {
        let (reports, inbox) = mpsc::channel();
        let is_one_of_many = jobs > 1;
        let gpus = GpuWatch::begin().map(Arc::new);
        let start_worker = |number: usize| {
            let (worker, jobs) = mpsc::channel();
            let (reports, interrupt, gpus) = (reports.clone(), interrupt.clone(), gpus.clone());
            let work = move || {
                let reports = move |report| reports.send((number, report)).is_ok();
                work_off(is_one_of_many, gpus.as_deref(), &jobs, &reports, &interrupt);
            };
            let thread = std::thread::Builder::new().spawn(work).map_err(LaunchError::NoThread)?;
            Ok(WorkerThread { jobs: Some(worker), run: None, thread: Some(thread) })
        };
        let workers = (0..jobs.max(1)).map(start_worker).collect::<Result<_, LaunchError>>()?;
        Ok(LocalLauncher { workers, inbox })
    }
}

impl Launcher for LocalLauncher {
    fn has_room(&self) -> bool {
        self.workers.iter().any(|worker| worker.run.is_none())
    }

    fn start(&mut self, job: RunJob) -> Result<(), LaunchError> {
        let worker =
            self.workers.iter_mut().find(|worker| worker.run.is_none()).ok_or(LaunchError::Worker)?;
        worker.run = Some(job.run.clone());
        worker.jobs.as_ref().ok_or(LaunchError::Worker)?.send(job).map_err(|_| LaunchError::Worker)
    }

    fn dispatch(&mut self, _store: &mut Store, _is_last: bool) -> Result<(), LaunchError> {
        Ok(())
    }

    fn next(&mut self, patience: Duration) -> Result<Option<(RunId, RunReport)>, LaunchError> {
        let (number, report) = match self.inbox.recv_timeout(patience) {
            Ok(received) => received,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Err(LaunchError::Worker),
        };
        let Some(worker) = self.workers.get_mut(number) else { return Ok(None) };
        let run = match report {
            RunReport::Done(_) => worker.run.take(),
            RunReport::RunMessage(_) => worker.run.clone(),
        };
        Ok(run.map(|run| (run, report)))
    }

    fn adopt(&mut self, runs: Vec<(RunJob, Submission)>) -> Result<Vec<RunId>, LaunchError> {
        Ok(runs.into_iter().map(|(job, _)| job.run).collect())
    }

    fn outlives_coordinator(&self) -> bool {
        false
    }
}

impl Drop for LocalLauncher {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.jobs = None;
        }
        for thread in self.workers.iter_mut().filter_map(|worker| worker.thread.take()) {
            // A worker that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

/// Makes the runs that come, until none do or nobody listens to the reports any more.
fn work_off(
    is_one_of_many: bool,
    gpus: Option<&GpuWatch>,
    jobs: &Receiver<RunJob>,
    report: &dyn Fn(RunReport) -> bool,
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
        let mut show = |message| {
            report(RunReport::RunMessage(message));
        };
        let result = worker::work(&job, gpus, interrupt, &mut show);
        if !report(RunReport::Done(Box::new(result))) {
            return;
        }
    }
}
