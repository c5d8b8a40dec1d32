//! What a scheduler must be able to do: a script for a job, its submission, the state of all jobs in one call, and their
//! end. Slurm, PBS, plain processes of another host and the simulator stand behind it.

use std::path::{Path, PathBuf};

use assay_campaign::Resources;
use assay_model::platform::BatchSettings;

use super::host::Host;

/// A job that is to be submitted. It has one or more tasks, each of which makes its runs one after the other.
pub struct JobRequest<'a> {
    /// The name that all jobs of the record have.
    pub name: &'a str,
    /// The name of this submission.
    pub submission: &'a str,
    /// The settings of the platform.
    pub settings: &'a BatchSettings,
    /// What a run asks for.
    pub resources: Resources,
    /// The time limit of a task, in seconds.
    pub time_s: Option<f64>,
    /// The directory of the submission where the job runs.
    pub directory: &'a Path,
    /// The scripts of each task's runs.
    pub tasks: &'a [Vec<PathBuf>],
}

/// Why a submission did not go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitError {
    /// The scheduler will not have it, now or later.
    Refused(String),
    /// It may go through later, or may even have.
    Unclear(String),
}

/// A scheduler.
pub trait Scheduler {
    /// The script of a job, as it is submitted.
    fn script(&self, request: &JobRequest<'_>) -> String;

    /// What starts the script of a run on the nodes.
    fn start_words(&self, settings: &BatchSettings, resources: &Resources) -> String;

    /// Submits a script; gives the scheduler's name of the job.
    fn submit(&mut self, host: &Host, request: &JobRequest<'_>, script: &Path)
    -> Result<String, SubmitError>;

    /// The state of every job of this name that the scheduler knows, in one call.
    fn tasks(&mut self, host: &Host, name: &str, known: &[String]) -> Result<Vec<TaskState>, String>;

    /// What the accounting knows of tasks that ended, where there is one.
    fn account(&mut self, _host: &Host, _jobs: &[String]) -> Vec<Accounted> {
        Vec::new()
    }

    /// Whether there may be an accounting, so that what it has of a task is worth a short wait.
    fn has_accounting(&self) -> bool {
        false
    }

    /// Whether jobs start at once, because nothing hands out nodes.
    fn is_direct(&self) -> bool {
        false
    }

    /// Ends jobs.
    fn cancel(&mut self, host: &Host, jobs: &[String]) -> Result<(), String>;
}

/// The command of a platform that starts runs, with the numbers of a request in place of `{devices}` and the like. A word
/// whose number was not requested is left out.
pub fn start_command(settings: &BatchSettings, resources: &Resources) -> Option<String> {
    let numbers = [
        ("{nodes}", resources.nodes),
        ("{tasks}", resources.tasks),
        ("{tasks_per_node}", resources.tasks_per_node),
        ("{cpus_per_task}", resources.cpus_per_task),
        ("{devices}", resources.devices.filter(|devices| *devices > 0)),
    ];
    let fill = |word: &str| {
        numbers.iter().try_fold(word.to_owned(), |word, (placeholder, number)| {
            if word.contains(placeholder) {
                Some(word.replace(placeholder, &(*number)?.to_string()))
            } else {
                Some(word)
            }
        })
    };
    let words: Vec<String> = settings.start.as_ref()?.split(' ').filter_map(fill).collect();
    Some(words.join(" "))
}

/// One task of a job, as the scheduler sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskState {
    /// The scheduler's name of the job.
    pub job: String,
    /// The name of the submission, as the job has it.
    pub submission: String,
    /// Which task, from 1.
    pub task: u32,
    /// Where it stands.
    pub stage: TaskStage,
    /// Why it waits, or how it ended, in the scheduler's own word.
    pub reason: String,
    /// When it was submitted, in seconds since 1970 UTC.
    pub submitted_at: Option<f64>,
    /// When it began, likewise.
    pub started_at: Option<f64>,
    /// When it ended, likewise.
    pub ended_at: Option<f64>,
    /// Its nodes.
    pub node_list: String,
    /// How many.
    pub nodes: Option<u64>,
    /// Its CPUs.
    pub cpus: Option<u64>,
    /// How often the scheduler began it again.
    pub restarts: u32,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskStage {
    /// It waits.
    #[default]
    Pending,
    /// It runs.
    Running,
    /// It ended by itself.
    Ended,
    /// Somebody cancelled it.
    Cancelled,
    /// It ran into its time limit.
    TimedOut,
    /// It used more memory than it may.
    OutOfMemory,
    /// A node failed under it.
    NodeFailed,
    /// It had to make way for another job.
    Preempted,
}

impl TaskStage {
    /// Whether it is over.
    pub fn is_over(self) -> bool {
        !matches!(self, TaskStage::Pending | TaskStage::Running)
    }
}

/// What the accounting has of a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accounted {
    /// The scheduler's name of the job.
    pub job: String,
    /// Which task.
    pub task: u32,
    /// How it ended.
    pub stage: Option<TaskStage>,
    /// CPU seconds.
    pub cpu_s: Option<f64>,
    /// The largest resident set of a process, in bytes.
    pub peak_resident_bytes: Option<f64>,
    /// What was allocated, as the scheduler writes it.
    pub allocated: String,
    /// How long it ran, in seconds.
    pub elapsed_s: Option<f64>,
    /// Its nodes.
    pub node_list: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_request_go_into_the_start_command() {
        let start = "mpiexec -n {tasks} --ppn={tasks_per_node} --gpus={devices} --cpu-bind depth";
        let settings = BatchSettings { start: Some(start.to_owned()), ..BatchSettings::default() };
        let all =
            Resources { tasks: Some(8), tasks_per_node: Some(4), devices: Some(2), ..Resources::default() };
        let command = start_command(&settings, &all).unwrap();
        assert_eq!(command, "mpiexec -n 8 --ppn=4 --gpus=2 --cpu-bind depth");
        let none = Resources { tasks: Some(8), devices: Some(0), ..Resources::default() };
        assert_eq!(start_command(&settings, &none).unwrap(), "mpiexec -n 8 --cpu-bind depth");
        assert_eq!(start_command(&BatchSettings::default(), &all), None);
    }
}
