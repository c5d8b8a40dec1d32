//! Looks at jobs and runs under way: asks the scheduler about all jobs at once, reads what runs write, and concludes those
//! that are over.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use super::marks::RunMarks;
use super::node_script::has_begun;
use super::outcome;
use super::scheduler::{self, TaskStage};
use super::task::{BatchTask, TaskKey, TaskRun};
use super::{BatchLauncher, JOBS, SETTLE, run_log};
use crate::launcher::RunReport;
use crate::worker::{RunJob, RunMessage, now};

/// How long the accounting may take to learn of the end of a job.
const ACCOUNTING_PATIENCE: Duration = Duration::from_secs(10);
/// What is looked at of a job's log.
const JOB_LOG_TAIL: u64 = 4096;
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

impl BatchLauncher {
    /// Asks the scheduler about all jobs at once.
    pub(super) fn poll(&mut self) {
        let known: Vec<String> = self.tasks.values().filter_map(|task| task.job.clone()).collect();
        let states = match self.scheduler.tasks(&self.host, &self.name, &known) {
            Ok(states) => states,
            Err(reason) => {
                // Runs go on without the scheduler's controller; their own marks are still looked at.
                self.pace.polled(false);
                let run = self.tasks.values().find_map(BatchTask::current);
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

    /// Asks the accounting about tasks that are over, all at once: how those ended that the controller forgot, and what
    /// runs used that have their task alone.
    fn account(&mut self) {
        let wanted = |task: &&mut BatchTask| {
            let is_wanted = task.is_alone || !task.is_over();
            task.is_gone() && task.accounted.is_none() && is_wanted
        };
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

    /// Whether the accounting may still say something of a task that is just over.
    fn awaits_accounting(&self, task: &BatchTask) -> bool {
        let is_recent = task.over_since.is_some_and(|since| since.elapsed() < ACCOUNTING_PATIENCE);
        task.is_alone && task.accounted.is_none() && is_recent && self.scheduler.has_accounting()
    }

    /// Jobs that wait for something that will not come by itself.
    fn warn_of_stuck(&mut self) {
        let stuck = self.tasks.values().filter_map(|task| {
            let state = task.state.as_ref().filter(|state| state.stage == TaskStage::Pending)?;
            let is_stuck = STUCK.iter().any(|word| state.reason.contains(word));
            is_stuck.then(|| (task.current(), state.job.clone(), state.reason.clone()))
        });
        for (run, job, reason) in stuck.collect::<Vec<_>>() {
            let text = format!("job {job} waits ({reason}) and cannot start; `assay cancel` removes it");
            self.complain(run, &text);
        }
    }

    /// Looks at the files of runs that go on, and concludes those that are over. Gives whether any was.
    pub(super) fn look(&mut self, just_polled: bool) -> bool {
        self.looked = Instant::now();
        if let Err(reason) = self.mirror(just_polled) {
            let run = self.tasks.values().find_map(BatchTask::current);
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

    fn look_at(&mut self, key: &TaskKey, task: &mut BatchTask, just_polled: bool) -> bool {
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
                if is_last && self.awaits_accounting(task) {
                    self.pace.wake();
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

    fn report_progress(&mut self, task: &mut BatchTask) {
        let Some(TaskRun { job, log }) = task.runs.front_mut() else { return };
        // A file that cannot be read now is read when the run has ended.
        if let Ok(Some(progress)) = log.look(job, now()) {
            let message = RunMessage::Progress { progress: Box::new(progress), first_metric_in_s: None };
            self.ready.push_back((job.run.clone(), RunReport::RunMessage(message)));
        }
    }

    /// Concludes the first run of a task.
    fn conclude(&mut self, key: &TaskKey, task: &mut BatchTask) {
        let Some(TaskRun { job, log }) = task.runs.pop_front() else { return };
        let (Some(root), Some(name)) = (&self.root, self.relative(&job.directory)) else {
            return self.conclude_here(key, task, &job, log);
        };
        if let Err(reason) = self.host.pull(&self.record, &[name], root, self.permissions) {
            // The run stays as it is there, and is looked at again.
            self.complain(Some(job.run.clone()), &reason);
            task.runs.push_front(TaskRun { job, log });
            return;
        }
        self.conclude_here(key, task, &job, log);
    }

    fn conclude_here(&mut self, key: &TaskKey, task: &BatchTask, job: &RunJob, log: run_log::RunLog) {
        let over = outcome::Over {
            job,
            marks: RunMarks::read(&job.directory),
            task: task.state.as_ref(),
            submitted_at: task.submitted_at,
            accounted: task.accounted.as_ref(),
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
        String::from_utf8_lossy(&end_of(&path).unwrap_or_default()).into_owned()
    }

    /// What becomes of the first run of a task that is over without its end marker.
    fn conclude_without_end(&mut self, key: &TaskKey, task: &mut BatchTask) {
        let has_begun = task.runs.front().is_some_and(|run| has_begun(&run.job.directory));
        let accounted = task.accounted.as_ref().and_then(|accounted| accounted.stage);
        let stage = accounted.or_else(|| task.state.as_ref().map(|state| state.stage));
        // A run that its job never came to is made by another one, unless somebody did not want the job.
        if !has_begun && !matches!(stage, Some(TaskStage::Cancelled | TaskStage::Preempted)) {
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

/// The end of a job's log, if it is a regular file.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = assay_store::open_unlinked(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(JOB_LOG_TAIL)))?;
    let mut bytes = Vec::new();
    file.take(JOB_LOG_TAIL).read_to_end(&mut bytes)?;
    Ok(bytes)
}
