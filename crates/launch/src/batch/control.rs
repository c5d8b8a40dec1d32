//! What `plan --scripts`, `status` and `cancel` need: the script that a run would be submitted with, the jobs of a record,
//! and their end.

use std::io::{self, Write};
use std::path::Path;

use assay_campaign::{Invocation, Plan, Resources, RunPaths};
use assay_model::Platform;
use assay_store::{JournalState, RecordPermissions};

use super::host::Host;
use super::marks::RunMarks;
use super::node_script;
use super::outcome::run_time_s;
use super::scheduler::{JobRequest, Scheduler, TaskState};
use super::{BatchLauncher, JOBS, job_name, scheduler_of};
use crate::coordinator::LaunchError;
use crate::small_file;

/// A note of a platform is much smaller than this.
const LONGEST_PLATFORM: u64 = 1 << 20;

/// Whether runs on a platform are jobs.
pub fn submits_jobs(platform: &Platform) -> bool {
    scheduler_of(platform).is_some()
}

/// What a run of a cell would be started with, alone: its job script where it has a scheduler, and what the run itself
/// does. Paths that are known only then stand as words in angle brackets.
pub fn script(plan: &Plan, cell: usize) -> Option<String> {
    let platform = plan.platform(cell)?;
    let directory = Path::new("<run directory>");
    let paths = RunPaths { assay: Path::new("assay"), run_directory: directory };
    let invocation = plan.invocation(cell, 1, &paths).ok()?;
    if invocation.recording.is_some() {
        return None;
    }
    let mut text = match scheduler_of(platform) {
        Some(scheduler) => job_script(scheduler.as_ref(), platform, plan.resources(cell), &invocation),
        None => "# run.sh:\n".to_owned(),
    };
    // Paths of another host are known only there.
    if platform.host.is_none() {
        text.push_str(&format!(
            "#   cd {}\n",
            crate::script::quoted(&invocation.directory.display().to_string())
        ));
    }
    for (name, value) in &invocation.environment {
        let secret = assay_store::secrets::is_secret_name(name);
        let value = if secret { "<secret>".to_owned() } else { crate::script::quoted(value) };
        text.push_str(&format!("#   export {name}={value}\n"));
    }
    let command = match invocation.shell {
        assay_campaign::Shell::None => {
            invocation.arguments.iter().map(|word| crate::script::quoted(word)).collect::<Vec<_>>().join(" ")
        }
        _ => invocation.command.clone(),
    };
    let mut listed = |title: &str, command: &str| {
        text.push_str(title);
        command.lines().for_each(|line| text.push_str(&format!("#   {line}\n")));
    };
    listed("", &command);
    for (step, command) in [("before it", &invocation.prepare), ("after it", &invocation.cleanup)] {
        if let Some(command) = command {
            listed(&format!("# {step}, in the same directory:\n"), command.trim());
        }
    }
    for file in &invocation.files {
        text.push_str(&format!("# with {}/{}:\n", directory.display(), file.name));
        for line in String::from_utf8_lossy(&file.bytes).lines() {
            text.push_str(&format!("#   {line}\n"));
        }
    }
    Some(text)
}

fn job_script(
    scheduler: &dyn Scheduler,
    platform: &Platform,
    resources: Resources,
    invocation: &Invocation,
) -> String {
    let runs = [vec![Path::new("<run directory>").join(node_script::NODE_SCRIPT)]];
    let request = JobRequest {
        name: "<job name>",
        submission: "<submission>",
        settings: &platform.batch,
        resources,
        time_s: run_time_s(invocation, &platform.batch),
        directory: Path::new("<record>/jobs/<submission>"),
        tasks: &runs,
    };
    let start = scheduler.start_words(&platform.batch, &resources);
    let starts = if start.is_empty() { String::new() } else { format!(" by `{start}`") };
    format!("{}\n# batch.sh starts run.sh{starts}:\n", scheduler.script(&request))
}

/// Keeps what is needed to find the jobs of a platform again: `status` and `cancel` have no campaign file.
pub(super) fn note_platform(
    platform: &Platform,
    record: &Path,
    permissions: RecordPermissions,
) -> io::Result<()> {
    let directory = record.join(JOBS);
    permissions.create_directory(&directory)?;
    let noted = Platform {
        environment: Default::default(),
        hints: Vec::new(),
        summary: String::new(),
        limits: Default::default(),
        ..platform.clone()
    };
    let path = directory.join(format!("{}.json", platform.name));
    permissions.create_file(&path)?.write_all(&serde_json::to_vec(&noted)?)
}

/// The platforms that a record has submitted jobs to.
pub fn submitted_platforms(record: &Path) -> io::Result<Vec<Platform>> {
    let entries = match std::fs::read_dir(record.join(JOBS)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut platforms = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let bytes = small_file::read(&path, LONGEST_PLATFORM).map_err(named)?;
            platforms.push(serde_json::from_slice(&bytes).map_err(|error| named(error.into()))?);
        }
    }
    Ok(platforms)
}

/// Whether a run has ended by its own word, though its result may not be in the journal yet.
pub fn has_ended(directory: &Path) -> bool {
    RunMarks::has_ended(directory)
}

/// Sees to it that no job begins a run any more: a submission may still be on its way to the scheduler.
pub fn give_up(directory: &Path) {
    // A job that was first made the link, and its run ends with it.
    let _ = std::os::unix::fs::symlink(node_script::GIVEN_UP, directory.join(node_script::CLAIM));
}

/// The jobs of a record on a platform, as its scheduler knows them.
pub fn jobs(platform: &Platform, state: &JournalState) -> Result<Vec<TaskState>, LaunchError> {
    let Some(mut scheduler) = scheduler_of(platform) else { return Ok(Vec::new()) };
    let host = Host::new(platform.host.as_deref());
    let known: Vec<String> =
        state.open_runs.values().filter_map(|open| open.submission.as_ref()?.job.clone()).collect();
    scheduler.tasks(&host, &job_name(state), &known).map_err(|reason| broken(platform, reason))
}

/// Ends all jobs of a record on a platform. Gives how many there were.
pub fn cancel(platform: &Platform, state: &JournalState) -> Result<usize, LaunchError> {
    let Some(mut scheduler) = scheduler_of(platform) else { return Ok(0) };
    let host = Host::new(platform.host.as_deref());
    let tasks = jobs(platform, state)?;
    let alive: Vec<&TaskState> = tasks.iter().filter(|task| !task.stage.is_over()).collect();
    let mut names: Vec<String> = alive.iter().map(|task| task.job.clone()).collect();
    names.sort();
    names.dedup();
    scheduler.cancel(&host, &names).map_err(|reason| broken(platform, reason))?;
    Ok(alive.len())
}

fn broken(platform: &Platform, reason: String) -> LaunchError {
    LaunchError::Platform { platform: platform.name.clone(), reason }
}

impl BatchLauncher {
    pub(super) fn broken(&self, reason: String) -> LaunchError {
        LaunchError::Platform { platform: self.platform.clone(), reason }
    }
}
