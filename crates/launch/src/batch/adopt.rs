//! Jobs of an earlier coordinator, and submissions of which no answer came.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use assay_campaign::shell::quoted;
use assay_model::RunId;
use assay_store::Submission;

use super::host::shell;
use super::node_script::{CLAIM, GIVEN_UP, has_begun};
use super::task::{BatchTask, TaskKey, TaskRun};
use super::{BatchLauncher, JOB_SCRIPT, JOBS};
use crate::coordinator::LaunchError;
use crate::worker::{RunJob, now};

/// A submission younger than this may still be on its way, from a host whose processes are not seen here.
const ON_ITS_WAY_S: f64 = 10.0;
/// A submission that this many answers did not have did not go through.
const UNFOUND: u32 = 2;

/// How long submissions of a dead coordinator have to end.
const SUBMISSION_GRACE: Duration = Duration::from_secs(65);
/// Programs that submit.
const SUBMITTERS: [&str; 4] = ["timeout", "sbatch", "qsub", "ssh"];

/// Whether a process of this host submits one of these scripts. It is known by its command line: what it has in its
/// environment, its job has too.
fn is_submitting(scripts: &[String]) -> bool {
    if scripts.is_empty() {
        return false;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        let Ok(line) = std::fs::read(process.path().join("cmdline")) else { return false };
        let line = String::from_utf8_lossy(&line);
        let program = line.split('\0').next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        SUBMITTERS.contains(&program) && scripts.iter().any(|script| line.contains(script.as_str()))
    })
}

impl BatchLauncher {
    /// Takes up runs that were submitted before. Gives those that no job has begun or will begin.
    pub(super) fn adopt_runs(&mut self, runs: Vec<(RunJob, Submission)>) -> Result<Vec<RunId>, LaunchError> {
        let youngest = runs.iter().map(|(_, submission)| submission.at).fold(0.0, f64::max);
        let unanswered: Vec<String> = runs
            .iter()
            .filter(|(_, submission)| submission.job.is_none())
            .map(|(_, submission)| format!("{JOBS}/{}/{JOB_SCRIPT}", submission.name))
            .collect();
        // A command of a killed coordinator may still be submitting: it has to end before its job is looked for.
        let began = Instant::now();
        while is_submitting(&unanswered) && began.elapsed() < SUBMISSION_GRACE {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.take_up(runs);
        let has_unanswered = !unanswered.is_empty();
        self.find_jobs(has_unanswered.then_some(youngest))?;
        let mut gone = Vec::new();
        let keys: Vec<TaskKey> = self.tasks.keys().cloned().collect();
        for key in keys {
            let Some(mut task) = self.tasks.remove(&key) else { continue };
            if !task.seen {
                let (left, given_up) = self.give_up(std::mem::take(&mut task.runs).into())?;
                task.runs = left.into();
                gone.extend(given_up.into_iter().map(|run| run.job.run));
            }
            if !task.runs.is_empty() {
                self.tasks.insert(key, task);
            }
        }
        Ok(gone)
    }

    /// Makes tasks of runs as they were submitted.
    fn take_up(&mut self, mut runs: Vec<(RunJob, Submission)>) {
        runs.sort_by_key(|(_, submission)| submission.position);
        let mut by_task: BTreeMap<TaskKey, (Submission, Vec<RunJob>)> = BTreeMap::new();
        for (job, submission) in runs {
            let key = TaskKey { submission: submission.name.clone(), task: submission.task };
            by_task.entry(key).or_insert_with(|| (submission, Vec::new())).1.push(job);
        }
        for (key, (submission, jobs)) in by_task {
            // Runs of the task that are concluded already share its accounting, too.
            let was_first = submission.position == 0;
            let mut task = BatchTask::new(submission.job.clone(), submission.at, jobs);
            task.is_alone &= was_first;
            self.tasks.insert(key, task);
        }
    }

    /// Asks the scheduler until it has answered, and once more where a submission may still be on its way.
    fn find_jobs(&mut self, youngest_unanswered: Option<f64>) -> Result<(), LaunchError> {
        let ask = |launcher: &mut BatchLauncher| {
            let known: Vec<String> = launcher.tasks.values().filter_map(|task| task.job.clone()).collect();
            launcher.scheduler.tasks(&launcher.host, &launcher.name, &known)
        };
        let mut states = ask(self);
        for _ in 0..3 {
            if states.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_secs(2));
            states = ask(self);
        }
        if let Some(at) = youngest_unanswered {
            let left = ON_ITS_WAY_S - (now() - at);
            if left > 0.0 && self.host.is_remote() {
                std::thread::sleep(Duration::from_secs_f64(left.min(ON_ITS_WAY_S)));
                states = ask(self);
            }
        }
        for state in states.map_err(|reason| self.broken(reason))? {
            let key = TaskKey { submission: state.submission.clone(), task: state.task };
            if let Some(task) = self.tasks.get_mut(&key) {
                task.note(state);
            }
        }
        Ok(())
    }

    /// Sees to it that no job begins these runs any more. Gives those that one has begun, and the others.
    fn give_up(&self, runs: Vec<TaskRun>) -> Result<(Vec<TaskRun>, Vec<TaskRun>), LaunchError> {
        if let Some(root) = &self.root {
            for run in &runs {
                let Some(name) = self.relative(&run.job.directory) else { continue };
                let claim = quoted(&root.join(name).join(CLAIM).display().to_string());
                let text = format!("ln -s {GIVEN_UP} {claim} 2>/dev/null; readlink {claim}");
                let answer = self.host.run(&shell(&text), &[]).map_err(|reason| self.broken(reason))?;
                let _ = symlink(answer.text().trim(), run.job.directory.join(CLAIM));
            }
        } else {
            for run in &runs {
                // Whoever was first made the link.
                let _ = symlink(GIVEN_UP, run.job.directory.join(CLAIM));
            }
        }
        Ok(runs.into_iter().partition(|run| has_begun(&run.job.directory)))
    }

    /// Submits again what was submitted without an answer and is not in the queue.
    pub(super) fn repeat_unfound(&mut self) {
        let is_unfound = |task: &BatchTask| task.job.is_none() && task.missing >= UNFOUND;
        let keys: Vec<TaskKey> =
            self.tasks.iter().filter(|(_, task)| is_unfound(task)).map(|(key, _)| key.clone()).collect();
        for key in keys {
            let Some(task) = self.tasks.remove(&key) else { continue };
            for run in task.runs {
                match has_begun(&run.job.directory) {
                    // It went through, ran, and was forgotten: its end marker is all there is.
                    true => self
                        .tasks
                        .entry(key.clone())
                        .or_insert_with(|| {
                            let mut task = BatchTask::new(Some(String::new()), task.submitted_at, Vec::new());
                            task.missing = u32::MAX;
                            task
                        })
                        .runs
                        .push_back(run),
                    false => self.waiting.push(run.job),
                }
            }
        }
    }
}
