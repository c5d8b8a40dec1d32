//! Runs on this machine: worker threads, each with one process at a time.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_model::RunId;
use assay_store::{Store, Submission};

use crate::coordinator::LaunchError;
use crate::interrupt::Interrupt;
use crate::launcher::{Launcher, Report};
use crate::worker::{self, Job};
use crate::worker_group;

/// Starts runs as processes of this machine, or plays their logs.
pub struct LocalLauncher {
    desks: Vec<Desk>,
    inbox: Receiver<(usize, Report)>,
}

/// A worker thread and what it works on.
struct Desk {
    jobs: Option<Sender<Job>>,
    run: Option<RunId>,
    thread: Option<JoinHandle<()>>,
}

impl LocalLauncher {
    /// Starts the worker threads.
    pub fn new(jobs: usize, interrupt: &Interrupt) -> Result<LocalLauncher, LaunchError> {
        let (reports, inbox) = mpsc::channel();
        let is_one_of_many = jobs > 1;
        let open_desk = |number: usize| {
            let (desk, jobs) = mpsc::channel();
            let (reports, interrupt) = (reports.clone(), interrupt.clone());
            let work = move || work_off(number, is_one_of_many, &jobs, &reports, &interrupt);
            let thread = std::thread::Builder::new().spawn(work).map_err(LaunchError::NoThread)?;
            Ok(Desk { jobs: Some(desk), run: None, thread: Some(thread) })
        };
        let desks = (0..jobs.max(1)).map(open_desk).collect::<Result<_, LaunchError>>()?;
        Ok(LocalLauncher { desks, inbox })
    }
}

impl Launcher for LocalLauncher {
    fn has_room(&self) -> bool {
        self.desks.iter().any(|desk| desk.run.is_none())
    }

    fn start(&mut self, job: Job) -> Result<(), LaunchError> {
        let desk = self.desks.iter_mut().find(|desk| desk.run.is_none()).ok_or(LaunchError::Worker)?;
        desk.run = Some(job.run.clone());
        desk.jobs.as_ref().ok_or(LaunchError::Worker)?.send(job).map_err(|_| LaunchError::Worker)
    }

    fn dispatch(&mut self, _store: &mut Store, _is_last: bool) -> Result<(), LaunchError> {
        Ok(())
    }

    fn next(&mut self, patience: Duration) -> Result<Option<(RunId, Report)>, LaunchError> {
        let (number, report) = match self.inbox.recv_timeout(patience) {
            Ok(received) => received,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Err(LaunchError::Worker),
        };
        let Some(desk) = self.desks.get_mut(number) else { return Ok(None) };
        let run = match report {
            Report::Done(_) => desk.run.take(),
            Report::Message(_) => desk.run.clone(),
        };
        Ok(run.map(|run| (run, report)))
    }

    fn adopt(&mut self, runs: Vec<(Job, Submission)>) -> Result<Vec<RunId>, LaunchError> {
        Ok(runs.into_iter().map(|(job, _)| job.run).collect())
    }

    fn outlives_coordinator(&self) -> bool {
        false
    }
}

impl Drop for LocalLauncher {
    fn drop(&mut self) {
        for desk in &mut self.desks {
            desk.jobs = None;
        }
        for thread in self.desks.iter_mut().filter_map(|desk| desk.thread.take()) {
            // A worker that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

fn work_off(
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
        let mut show = |message| drop(reports.send((number, Report::Message(message))));
        let result = worker::work(&job, interrupt, &mut show);
        if reports.send((number, Report::Done(Box::new(result)))).is_err() {
            return;
        }
    }
}
