//! PBS (OpenPBS, PBS Professional): qsub, qselect, qstat and qdel. The submission's name travels as a variable of the job,
//! since PBS jobs have no comment of their own.

use std::fmt::Write;
use std::path::Path;

use assay_campaign::Resources;
use assay_campaign::shell::quoted;
use assay_model::platform::BatchSettings;
use serde_json::Value;

use super::host::{Host, shell};
use super::scheduler::{JobRequest, Scheduler, SubmitError, TaskStage, TaskState, start_command};
use super::{job_script, time};

/// PBS.
pub struct Pbs;

/// The variable of a job that names its submission.
const SUBMISSION: &str = "ASSAY_SUBMISSION";

/// Words in refusals of submissions that may go through later.
const TRANSIENT: [&str; 6] = [
    "cannot connect to server",
    "Connection refused",
    "timed out",
    "would exceed",
    "Budget Manager",
    "server is shutting down",
];

impl Scheduler for Pbs {
    fn script(&self, request: &JobRequest<'_>) -> String {
        job_script::text("#PBS", &options(request), request, "PBS_ARRAY_INDEX")
    }

    fn start_words(&self, settings: &BatchSettings, resources: &Resources) -> String {
        let tasks = resources.tasks.unwrap_or(1);
        let is_spread = tasks > 1 || resources.nodes.unwrap_or(1) > 1;
        start_command(settings, resources).unwrap_or_else(|| match (is_spread, resources.tasks_per_node) {
            (false, _) => String::new(),
            (true, Some(per_node)) => format!("mpiexec -n {tasks} --ppn {per_node}"),
            (true, None) => format!("mpiexec -n {tasks}"),
        })
    }

    fn submit(
        &mut self,
        host: &Host,
        _request: &JobRequest<'_>,
        script: &Path,
    ) -> Result<String, SubmitError> {
        let words = ["qsub".to_owned(), script.display().to_string()];
        let answer = host.run(&words, &[]).map_err(SubmitError::Unclear)?;
        let id = |line: &str| line.starts_with(|first: char| first.is_ascii_digit()).then(|| plain_id(line));
        job_script::submitted(&answer, id, &TRANSIENT)
    }

    fn tasks(&mut self, host: &Host, name: &str, _known: &[String]) -> Result<Vec<TaskState>, String> {
        let answer = ask(host, name)?;
        Ok(jobs(&answer)?.iter().filter_map(|(id, job)| task_state(id, job)).collect())
    }

    fn cancel(&mut self, host: &Host, jobs: &[String]) -> Result<(), String> {
        job_script::cancel(host, "qdel", jobs, &["has finished", "Unknown Job"])
    }
}

/// All jobs of a name, ended ones and tasks of arrays included, as JSON.
fn ask(host: &Host, name: &str) -> Result<String, String> {
    let text = format!(
        "ids=$(qselect -x -N {}) || exit 1\n[ -z \"$ids\" ] || exec qstat -x -t -f -F json $ids",
        quoted(name)
    );
    let answer = host.run(&shell(&text), &[])?;
    // qstat fails where one of several jobs was forgotten in between, and prints the others.
    let is_answer = answer.is_success || answer.text().contains("\"Jobs\"");
    if is_answer { Ok(answer.text()) } else { Err(answer.reason()) }
}

fn jobs(text: &str) -> Result<Vec<(String, Value)>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let answer: Value = serde_json::from_str(text).map_err(|error| format!("qstat's JSON: {error}"))?;
    let jobs = answer.get("Jobs").and_then(Value::as_object);
    Ok(jobs.into_iter().flatten().map(|(id, job)| (id.clone(), job.clone())).collect())
}

/// The options of a submission. `assay plan --scripts` shows them.
fn options(request: &JobRequest<'_>) -> Vec<String> {
    let JobRequest { settings, resources, .. } = request;
    let mut options = vec![format!("-N {}", request.name), format!("-v {SUBMISSION}={}", request.submission)];
    if settings.array > 1 && request.tasks.len() > 1 {
        options.push(format!("-J 1-{}", request.tasks.len()));
    }
    options.push("-j oe".to_owned());
    options.push(format!("-o {}", request.directory.display()));
    options.extend(settings.account.as_ref().map(|account| format!("-A {account}")));
    options.extend(settings.partition.as_ref().map(|queue| format!("-q {queue}")));
    let (nodes, places) = places(resources);
    let mut select = format!("-l select={nodes}");
    let cpus = resources.cpus_per_task.map(|cpus| cpus * places.unwrap_or(1));
    for (name, value) in [("ncpus", cpus), ("mpiprocs", places)] {
        select.extend(value.map(|value| format!(":{name}={value}")));
    }
    select.extend(resources.memory_bytes.map(|bytes| format!(":mem={}mb", bytes.div_ceil(1 << 20))));
    if let Some(devices) = resources.devices.filter(|devices| *devices > 0) {
        let option = settings.devices.as_deref().unwrap_or("ngpus={devices}");
        let _ = write!(select, ":{}", option.replace("{devices}", &devices.to_string()));
    }
    select.extend(settings.constraint.as_ref().map(|constraint| format!(":{constraint}")));
    options.push(select);
    if settings.exclusive {
        options.push("-l place=excl".to_owned());
    }
    options.extend(request.time_s.map(|seconds| format!("-l walltime={}", time::minutes(seconds))));
    options.extend(settings.filesystems.as_ref().map(|systems| format!("-l filesystems={systems}")));
    options.extend(settings.options.iter().cloned());
    options
}

/// Nodes, and tasks on each of them.
fn places(resources: &Resources) -> (u64, Option<u64>) {
    let needed = |tasks: u64, per_node: u64| tasks.div_ceil(per_node.max(1));
    match (resources.nodes, resources.tasks, resources.tasks_per_node) {
        (Some(nodes), _, Some(per_node)) => (nodes, Some(per_node)),
        (Some(nodes), Some(tasks), None) => (nodes, Some(needed(tasks, nodes))),
        (None, Some(tasks), Some(per_node)) => (needed(tasks, per_node), Some(per_node)),
        (None, Some(tasks), None) => (1, Some(tasks)),
        (nodes, None, per_node) => (nodes.unwrap_or(1), per_node),
    }
}

/// `12[].server` and `12[3].server` are job `12[]`; `12.server` is itself.
fn plain_id(id: &str) -> String {
    match id.split_once('[') {
        Some((number, _)) => format!("{number}[]"),
        None => id.to_owned(),
    }
}

fn task_state(id: &str, job: &Value) -> Option<TaskState> {
    let text = |name: &str| job.get(name).and_then(Value::as_str).unwrap_or_default();
    let task = match id.split_once('[') {
        Some((_, rest)) => rest.split(']').next()?.parse().ok()?,
        None => 1,
    };
    let exit = job.get("Exit_status").and_then(Value::as_i64);
    let state = text("job_state");
    let stage = match state {
        "Q" | "H" | "W" | "T" | "B" => TaskStage::Pending,
        "R" | "E" | "S" | "U" => TaskStage::Running,
        "F" | "X" => ended(exit),
        _ => return None,
    };
    let hosts: Vec<&str> = text("exec_host").split('+').filter(|host| !host.is_empty()).collect();
    let names: Vec<&str> = hosts.iter().map(|host| host.split('/').next().unwrap_or_default()).collect();
    let list = job.get("Resource_List");
    let number = |name: &str| list.and_then(|list| list.get(name)).and_then(Value::as_u64);
    let reason = match stage {
        TaskStage::Pending => text("comment").to_owned(),
        _ => exit.map_or_else(|| state.to_owned(), |exit| format!("exit status {exit}")),
    };
    Some(TaskState {
        job: plain_id(id),
        submission: job.get("Variable_List")?.get(SUBMISSION)?.as_str()?.to_owned(),
        task,
        stage,
        reason,
        node_list: names.join(","),
        nodes: (!hosts.is_empty()).then_some(hosts.len() as u64),
        cpus: number("ncpus"),
        restarts: job.get("run_count").and_then(Value::as_u64).map_or(0, |runs| runs.saturating_sub(1))
            as u32,
        ..TaskState::default()
    })
}

/// How a job ended, by the exit status that PBS gives it: negative ones are limits that it exceeded, 256 and more are
/// signals.
fn ended(exit: Option<i64>) -> TaskStage {
    match exit {
        Some(-29) => TaskStage::TimedOut,
        Some(-27 | -26) => TaskStage::OutOfMemory,
        Some(271 | 265) | None => TaskStage::Cancelled,
        Some(_) => TaskStage::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_qstat_are_read() {
        let text = r#"{"timestamp": 1, "Jobs": {
            "12[].pbs": {"Job_Name": "assay-1", "job_state": "B", "Variable_List": {"ASSAY_SUBMISSION": "s1"}},
            "12[2].pbs": {"job_state": "F", "Exit_status": -29, "exec_host": "n1/0*4+n2/0*4", "run_count": 2,
                "Resource_List": {"ncpus": 8}, "Variable_List": {"ASSAY_SUBMISSION": "s1"}},
            "13.pbs": {"job_state": "Q", "comment": "Not Running: Insufficient amount of resource: ngpus",
                "Variable_List": {"ASSAY_SUBMISSION": "s2"}}}}"#;
        let states: Vec<TaskState> =
            jobs(text).unwrap().iter().filter_map(|(id, job)| task_state(id, job)).collect();
        assert_eq!(states.len(), 2, "the array itself is no task: {states:?}");
        let timed_out = states.iter().find(|state| state.task == 2).unwrap();
        assert_eq!(
            (timed_out.job.as_str(), timed_out.stage, timed_out.nodes),
            ("12[]", TaskStage::TimedOut, Some(2))
        );
        assert_eq!((timed_out.node_list.as_str(), timed_out.restarts), ("n1,n2", 1));
        let waiting = states.iter().find(|state| state.job == "13.pbs").unwrap();
        assert!(waiting.stage == TaskStage::Pending && waiting.reason.contains("ngpus"));
        assert!(jobs("").unwrap().is_empty() && jobs("nonsense").is_err());
    }

    #[test]
    fn requests_become_chunks() {
        let ask = |nodes, tasks, tasks_per_node| {
            places(&Resources { nodes, tasks, tasks_per_node, ..Resources::default() })
        };
        assert_eq!(ask(Some(2), Some(8), None), (2, Some(4)));
        assert_eq!(ask(None, Some(8), Some(4)), (2, Some(4)));
        assert_eq!(ask(None, None, None), (1, None));
    }
}
