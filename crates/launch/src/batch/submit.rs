//! Submissions: which runs go into one, what is announced before, and what becomes of the scheduler's answer.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_model::platform::BatchSettings;
use assay_model::{Entry, Failure, RunResult, Status};
use assay_store::Store;

use super::scheduler::{JobRequest, SubmitError};
use super::task::{BatchTask, TaskKey};
use super::{BatchLauncher, JOB_SCRIPT, JOBS, control, node_script, outcome};
use crate::coordinator::LaunchError;
use crate::worker::{self, RunJob, WorkError, now};

impl BatchLauncher {
    /// Submits what waits, as far as the queue and the pace allow. `is_last` where no further run will come before one of
    /// these has ended.
    pub(super) fn submit_waiting(&mut self, store: &mut Store, is_last: bool) -> Result<(), LaunchError> {
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

    /// Takes the next runs that can go into one submission: those that ask for the same.
    fn next_submission(&mut self) -> Vec<Vec<RunJob>> {
        let mut tasks: Vec<Vec<RunJob>> = Vec::new();
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

    fn submit(&mut self, tasks: Vec<Vec<RunJob>>, store: &mut Store) -> Result<(), LaunchError> {
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
                let place = |job: &RunJob| {
                    job.there.as_ref().unwrap_or(&job.directory).join(node_script::NODE_SCRIPT)
                };
                task.iter().map(place).collect()
            })
            .collect();
        let resources = tasks.iter().flatten().next().map(|job| job.resources).unwrap_or_default();
        let time_s = tasks.iter().map(|task| outcome::time_limit(task, &self.settings)).fold(None, longest);
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

    fn push(&self, relative: &str, tasks: &[Vec<RunJob>]) -> Result<(), String> {
        let Some(root) = &self.root else { return Ok(()) };
        let runs = tasks.iter().flatten().filter_map(|job| self.relative(&job.directory));
        let names: Vec<String> = std::iter::once(relative.to_owned()).chain(runs).collect();
        self.host.push(&self.record, &names, root)
    }

    fn follow(&mut self, submission: &str, job: Option<String>, at: f64, tasks: Vec<Vec<RunJob>>) {
        for (runs, number) in tasks.into_iter().zip(1..) {
            let key = TaskKey { submission: submission.to_owned(), task: number };
            self.tasks.insert(key, BatchTask::new(job.clone(), at, runs));
        }
    }
}

/// Whether a task of several runs has space for one more.
fn has_space(task: &[RunJob], job: &RunJob, settings: &BatchSettings) -> bool {
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
