//! What came of a run that a job made: its own end marker and trace first, the scheduler's word where these are missing.

use assay_campaign::{Invocation, Resources};
use assay_model::document::{KnownBy, Phase, SettingFact, Standing};
use assay_model::platform::BatchSettings;
use assay_model::{Failure, Observation, Origin, RunResult, Source, Status, Unit, Value, metric, names};

use super::marks::{RunMarks, RunTime};
use super::node_script::TRACE;
use super::run_log::RunLog;
use super::scheduler::{Accounted, TaskStage, TaskState};
use crate::worker::{self, RunJob, WorkError, now};

/// All that is known when a run is over.
pub struct Over<'a> {
    /// The run.
    pub job: &'a RunJob,
    /// What it wrote.
    pub marks: RunMarks,
    /// Its task as the scheduler saw it last.
    pub task: Option<&'a TaskState>,
    /// When it was submitted, in seconds since 1970 UTC.
    pub submitted_at: f64,
    /// What the accounting has of its task.
    pub accounted: Option<&'a Accounted>,
    /// Whether the run's script was started by srun or the like, whose CPU time is not that of the run.
    pub is_spread: bool,
    /// Whether it is the only run of its task.
    pub is_alone: bool,
    /// The end of what the scheduler itself wrote about the task.
    pub job_log: String,
}

/// What schedulers write where a job used more memory than it may.
const OUT_OF_MEMORY: [&str; 4] = ["oom-kill", "oom_kill", "Out Of Memory", "memory limit"];

/// The result of a run.
pub fn result(over: &Over<'_>, log: RunLog) -> Result<RunResult, WorkError> {
    let Over { job, marks, .. } = over;
    let (first_output_at, first_metric_at) = (log.first_output_at, log.first_metric_at);
    let lost = |source| WorkError { path: job.directory.join("stdout.log").display().to_string(), source };
    let found = log.finish(job).map_err(lost)?;
    let own = status(over);
    let own = concluded_against_request(own, &drifts(over));
    let status = worker::concluded(own, found.findings.status.as_ref());
    let began = marks.started_at.or_else(|| over.task.and_then(|task| task.started_at));
    let since = |at: Option<f64>| Some((at? - began?).max(0.0));
    let mut observations = measured(over);
    observations.extend(found.findings.observations);
    let mut settings = observed(over);
    settings.extend(found.findings.settings.into_iter().filter(|fact| worker::is_writable(&fact.value)));
    let mut phases = phases(over);
    phases.extend(found.findings.phases);
    let mut result = RunResult {
        stdout_bytes: found.stdout_bytes,
        stderr_bytes: found.stderr_bytes,
        first_output_s: since(first_output_at),
        first_metric_s: since(first_metric_at),
        observations,
        series: found.findings.series,
        phases,
        settings,
        advice: found.findings.hints,
        ..RunResult::bare(status, began.unwrap_or_else(now))
    };
    result.hints = worker::hints(&result.status, false, &found.tail, &job.reader.hints);
    result.hints.extend(hint(over));
    result.hints.extend(clock_change(marks));
    result.hints.extend(worker::contradiction(&result.status, found.findings.status.as_ref()));
    Ok(result)
}

/// How the run ended: by its end marker, else by what the scheduler says.
fn status(over: &Over<'_>) -> Status {
    let reported = |reason: String| Status::Failed { failure: Failure::Reported { reason } };
    if let Some(name) = over.marks.replaced {
        return reported(format!(
            "the run replaced `{name}` in its run directory, so how it ended is not known"
        ));
    }
    if over.marks.is_disk_full() {
        return reported("the disk was full when the run ended, so its output may be incomplete".to_owned());
    }
    if let Some(code) = over.marks.end.map(|end| end.code) {
        if let Some(step) = over.marks.failed_step.as_deref().filter(|step| *step != "cleanup") {
            return reported(format!("the {step} command failed with exit code {code}"));
        }
        let took = over.marks.run_time().map(|time| time.took_s);
        let timeout = over.job.invocation.timeout.map(|timeout| timeout.as_secs_f64());
        return match (code, timeout, took) {
            (0, ..) => Status::Succeeded,
            (124 | 137, Some(timeout), Some(took)) if took >= timeout => {
                Status::TimedOut { after_s: timeout }
            }
            (129..=192, ..) => Status::Failed { failure: Failure::Signal { signal: code - 128 } },
            _ => Status::Failed { failure: Failure::Exit { code } },
        };
    }
    let Some(mut stage) = stage(over) else {
        return reported("the job is gone and the run left no end marker".to_owned());
    };
    if stage == TaskStage::Ended && OUT_OF_MEMORY.iter().any(|text| over.job_log.contains(text)) {
        stage = TaskStage::OutOfMemory;
    }
    match stage {
        TaskStage::TimedOut => {
            let seen = over.task.and_then(|task| Some(task.ended_at? - task.started_at?));
            let took = seen.or_else(|| over.accounted.and_then(|accounted| accounted.elapsed_s));
            Status::TimedOut { after_s: took.unwrap_or_default() }
        }
        TaskStage::OutOfMemory => reported("out of memory: the scheduler ended the job".to_owned()),
        TaskStage::NodeFailed => reported(format!("node failure on {}", node_list(over))),
        TaskStage::Preempted => Status::Cancelled { reason: "preempted by another job".to_owned() },
        TaskStage::Cancelled => Status::Cancelled { reason: "the job was cancelled".to_owned() },
        TaskStage::Ended | TaskStage::Pending | TaskStage::Running => {
            let said = over.job_log.lines().map(str::trim).rfind(|line| !line.is_empty());
            let said = said.map(|line| format!(": {line}")).unwrap_or_default();
            let word = over.task.map_or("", |task| task.reason.as_str());
            reported(format!("the job ended ({word}) and the run left no end marker{said}"))
        }
    }
}

/// How its task ended: what the accounting has, else what the controller said last.
fn stage(over: &Over<'_>) -> Option<TaskStage> {
    let accounted = over.accounted.and_then(|accounted| accounted.stage).filter(|stage| stage.is_over());
    accounted.or_else(|| over.task.map(|task| task.stage))
}

/// The nodes of its task, as far as they are known.
fn node_list<'a>(over: &'a Over<'_>) -> &'a str {
    let seen = over.task.map(|task| task.node_list.as_str()).filter(|list| !list.is_empty());
    seen.or_else(|| over.accounted.map(|accounted| accounted.node_list.as_str())).unwrap_or_default()
}

/// A run that got something else than it asked for is kept out of averages; its numbers stay.
fn concluded_against_request(status: Status, drifts: &[String]) -> Status {
    match (&status, drifts) {
        (_, []) => status,
        (Status::Succeeded, drifts) => {
            let reason = format!("the allocation is not the requested one: {}", drifts.join(", "));
            Status::Failed { failure: Failure::Reported { reason } }
        }
        _ => status,
    }
}

/// What the run had, as far as it is known.
fn granted(over: &Over<'_>) -> Resources {
    let marks = &over.marks;
    let pbs = marks.values.get("PBS_NODES").map(|nodes| pbs_nodes(nodes));
    let nodes = marks.number("SLURM_JOB_NUM_NODES").or_else(|| pbs.as_ref().map(|nodes| nodes.len() as u64));
    Resources {
        nodes: nodes.or_else(|| over.task.and_then(|task| task.nodes)),
        tasks: marks.number("SLURM_NTASKS").or_else(|| pbs.as_ref().map(|nodes| nodes.iter().sum())),
        tasks_per_node: marks.values.get("SLURM_TASKS_PER_NODE").and_then(|text| largest(text)),
        cpus_per_task: marks.number("SLURM_CPUS_PER_TASK"),
        memory_bytes: None,
        devices: devices(over),
    }
}

/// `n1:4,n2:4`: the places on each node.
fn pbs_nodes(text: &str) -> Vec<u64> {
    text.split(',').filter_map(|node| node.rsplit_once(':')?.1.parse().ok()).collect()
}

/// `16(x2),8`: the largest number.
fn largest(text: &str) -> Option<u64> {
    text.split(',').filter_map(|part| part.split('(').next()?.parse().ok()).max()
}

/// Accelerators on each node: `ipu:2(IDX:0-1)`, or `gres/ipu=2` over all nodes.
fn devices(over: &Over<'_>) -> Option<u64> {
    let asked = over.job.resources.devices?;
    if asked == 0 {
        return None;
    }
    if let Some(listed) = over.marks.values.get("GRES") {
        // The type of an accelerator may stand between its name and the number.
        let of = |part: &str| part.split('(').next()?.rsplit_once(':')?.1.parse::<u64>().ok();
        let counts: Vec<u64> = split_outside(listed).iter().filter_map(|part| of(part)).collect();
        return counts.iter().copied().find(|count| *count == asked).or_else(|| counts.first().copied());
    }
    let allocated = &over.accounted?.allocated;
    let total: u64 =
        allocated.split(',').find_map(|part| part.strip_prefix("gres/")?.rsplit_once('=')?.1.parse().ok())?;
    let nodes = over.task.and_then(|task| task.nodes).filter(|nodes| *nodes > 0)?;
    Some(total / nodes)
}

/// Splits at commas that are not inside of brackets.
fn split_outside(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|character| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    })
    .collect()
}

/// What a run got that is not what it asked for.
fn drifts(over: &Over<'_>) -> Vec<String> {
    let (asked, granted) = (&over.job.resources, granted(over));
    let pairs = [
        ("nodes", asked.nodes, granted.nodes),
        ("tasks", asked.tasks, granted.tasks),
        ("tasks per node", asked.tasks_per_node, granted.tasks_per_node.filter(|_| asked.tasks.is_some())),
        ("CPUs per task", asked.cpus_per_task, granted.cpus_per_task),
        ("devices per node", asked.devices, granted.devices),
    ];
    let differs = |(name, asked, granted): (&str, Option<u64>, Option<u64>)| {
        let (asked, granted) = (asked?, granted?);
        (asked != granted).then(|| format!("{granted} {name} instead of {asked}"))
    };
    pairs.into_iter().filter_map(differs).collect()
}

/// What the run had, as settings that were seen.
fn observed(over: &Over<'_>) -> Vec<SettingFact> {
    let granted = granted(over);
    let fact = |name: &str, value: Value| SettingFact {
        name: name.to_owned(),
        value,
        standing: Standing::Observed,
        by: "environment".to_owned(),
        arithmetic: None,
        source: Source::new(TRACE, 1),
    };
    let number =
        |name: &str, value: Option<u64>| Some(fact(name, Value::Integer(i64::try_from(value?).ok()?)));
    let nodes = over.marks.values.get("SLURM_JOB_NODELIST").or_else(|| over.marks.values.get("PBS_NODES"));
    let node_list = nodes.cloned().or_else(|| over.task.map(|task| task.node_list.clone()));
    let node_list =
        node_list.or_else(|| over.marks.values.get("host").cloned()).filter(|list| !list.is_empty());
    [
        number("job.nodes", granted.nodes),
        number("job.tasks", granted.tasks),
        number("job.tasks_per_node", granted.tasks_per_node),
        number("job.cpus", over.task.and_then(|task| task.cpus)),
        number("job.devices_per_node", granted.devices),
        node_list.map(|list| fact("job.node_list", Value::Text(list))),
        over.task.map(|task| fact("job.id", Value::Text(format!("{}_{}", task.job, task.task)))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn measured(over: &Over<'_>) -> Vec<Observation> {
    let marks = &over.marks;
    // What several runs used together belongs to none of them.
    let accounted = over.accounted.filter(|_| over.is_alone);
    let observation =
        |metric: &str, value: f64, unit: Unit| Observation::new(metric, value, unit, Origin::Measured);
    let mut all = Vec::new();
    all.extend(marks.run_time().map(|time| observation(metric::WALL, time.took_s, Unit::Seconds)));
    let cpu_s = match over.is_spread {
        true => accounted.and_then(|accounted| accounted.cpu_s),
        // The shell counts in hundredths of a second: less is not seen.
        false => marks
            .cpu_s
            .filter(|seconds| *seconds > 0.0)
            .or_else(|| accounted.and_then(|accounted| accounted.cpu_s)),
    };
    all.extend(cpu_s.map(|seconds| observation(metric::CPU, seconds, Unit::Seconds)));
    let bytes = accounted.and_then(|accounted| accounted.peak_resident_bytes);
    all.extend(bytes.map(|bytes| observation(metric::PEAK_MEMORY, bytes, Unit::Bytes)));
    if let Some(started) = marks.started_at {
        let waited = (started - over.submitted_at).max(0.0);
        all.push(observation(names::DURATION_QUEUE, waited, Unit::Seconds));
    }
    all
}

/// Queue, run and teardown, each by timestamps; times count from the submission.
fn phases(over: &Over<'_>) -> Vec<Phase> {
    let zero = over.submitted_at;
    let phase = |name: &str, from: f64, to: f64| Phase {
        name: name.to_owned(),
        start_s: Some((from - zero).max(0.0)),
        end_s: Some((to - zero).max(0.0)),
        seconds: Some((to - from).max(0.0)),
        known_by: KnownBy::Timestamp,
        source: Source::new(TRACE, 1),
    };
    let mut phases = Vec::new();
    let Some(started) = over.marks.started_at else { return phases };
    phases.push(phase("queue", zero, started));
    if let Some(time) = over.marks.run_time() {
        let ended = started + time.took_s;
        phases.push(phase("run", started, ended));
        // The scheduler counts in whole seconds, so its end may seem to lie before that of the run.
        if let Some(over_at) = over.task.and_then(|task| task.ended_at).filter(|_| over.is_alone) {
            phases.push(phase("teardown", ended, over_at.max(ended)));
        }
    }
    phases
}

/// What to do about how the scheduler ended a run.
fn hint(over: &Over<'_>) -> Option<String> {
    if over.marks.is_disk_full() {
        return Some("free some space, then repeat it with `assay run --only failed`".to_owned());
    }
    let restarts = over.task.map_or(0, |task| task.restarts);
    if restarts > 0 {
        let times = if restarts == 1 { "once".to_owned() } else { format!("{restarts} times") };
        return Some(format!("the scheduler requeued the job {times}; earlier output is in requeued-*"));
    }
    if over.marks.end.is_some() {
        return None;
    }
    match stage(over)? {
        TaskStage::TimedOut => Some("raise `time` of the platform or `[run] timeout`".to_owned()),
        TaskStage::OutOfMemory => Some("raise `[resources] memory`, or use smaller settings".to_owned()),
        TaskStage::NodeFailed => Some("repeat it with `assay run --only failed`".to_owned()),
        TaskStage::Cancelled | TaskStage::Preempted => {
            Some("repeat it with `assay run --only failed`".to_owned())
        }
        _ => None,
    }
}

/// The caveat where the clock of the node cannot be believed.
fn clock_change(marks: &RunMarks) -> Option<String> {
    let end = marks.end?;
    match marks.run_time() {
        Some(RunTime { clock_step_s: Some(step_s), .. }) => Some(format!(
            "the clock of the node was changed by {step_s:+.2} s during the run; its duration is by the time since the \
             node's boot"
        )),
        None if marks.started_at.is_some_and(|started| started > end.at) => {
            Some("the clock of the node was set back during the run, so its duration is not known".to_owned())
        }
        _ => None,
    }
}

/// The longest a task may take: all its runs, with what is around them.
pub fn time_limit(runs: &[RunJob], settings: &BatchSettings) -> Option<f64> {
    runs.iter()
        .map(|job| {
            let time_s = run_time_s(&job.invocation, settings)?;
            // Warm-up runs have a timeout of their own; `time` is meant for all that a job does for a run.
            let warm_ups = if settings.time_s.is_none() { job.warmup } else { 0 };
            Some(time_s * f64::from(1 + warm_ups))
        })
        .sum()
}

/// What a job asks for to make one run.
pub fn run_time_s(invocation: &Invocation, settings: &BatchSettings) -> Option<f64> {
    let timeout = invocation.timeout.map(|timeout| timeout.as_secs_f64());
    settings.job_time_s(timeout, invocation.grace.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_schedulers_write_is_read() {
        assert_eq!(largest("16(x2),8"), Some(16));
        assert_eq!(pbs_nodes("n1:4,n2:4"), [4, 4]);
        assert_eq!(split_outside("gpu:a100:2(IDX:0,2),ipu:1"), ["gpu:a100:2(IDX:0,2)", "ipu:1"]);
    }

    #[test]
    fn a_clock_that_was_set_back_is_said() {
        let run = tempfile::tempdir().unwrap();
        std::fs::write(run.path().join(TRACE), "start 1000.5\n").unwrap();
        std::fs::write(run.path().join("end"), "0 900\n").unwrap();
        let marks = RunMarks::read(run.path());
        assert!(marks.run_time().is_none() && clock_change(&marks).unwrap().contains("set back"));
    }
}
