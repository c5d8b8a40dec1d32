//! What came of a run that a job made: its own end marker and trace first, the scheduler's word where these are missing.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use assay_campaign::{Invocation, Resources};
use assay_model::document::{KnownBy, Phase, SettingFact, Standing};
use assay_model::platform::BatchSettings;
use assay_model::{Failure, Observation, Origin, RunResult, Source, Status, Unit, Value, metric, names};

use super::node_script::{END, FULL, TIMES, TRACE};
use super::run_log::RunLog;
use super::scheduler::{Accounted, TaskStage, TaskState};
use crate::small_file;
use crate::worker::{self, RunJob, WorkError, now};

/// The scripts of runs write a few kilobytes into each of their files.
const LONGEST_MARKS: u64 = 1 << 20;

/// What a run wrote about itself.
#[derive(Debug, Default, PartialEq)]
pub struct RunMarks {
    /// The end of the run, once it has ended.
    pub end: Option<EndMarker>,
    /// When it began.
    pub started_at: Option<f64>,
    /// The step that failed before or after it.
    pub failed_step: Option<String>,
    /// A file of the script that the run replaced by something that cannot be read.
    pub replaced: Option<&'static str>,
    values: BTreeMap<String, String>,
    /// CPU seconds of its processes, where all of them were children of the job's script.
    pub cpu_s: Option<f64>,
}

/// What the script of a run writes at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndMarker {
    /// The exit code.
    pub code: i32,
    /// When the run ended, in seconds since 1970 UTC.
    pub at: f64,
    /// Whether the disk was full then, so that what the run wrote may be incomplete.
    pub is_disk_full: bool,
    /// When the run began, by the same script.
    pub started_at: Option<f64>,
    /// Times since the node was booted, which no change of its clock affects.
    pub uptimes: Option<Uptimes>,
}

/// Times since the boot of a node, in seconds: before and after the clock was read at the beginning of a run, and at its
/// end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uptimes {
    start: (f64, f64),
    end: (f64, f64),
}

/// How long a run took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTime {
    /// In seconds.
    pub took_s: f64,
    /// By how much the clock of the node was changed meanwhile.
    pub clock_step_s: Option<f64>,
}

/// The resolution of times since the boot, twice.
const UPTIME_STEPS_S: f64 = 0.02;
/// The share by which the rate of a clock may be adjusted.
const CLOCK_RATE: f64 = 0.001;

impl EndMarker {
    /// How long the run took, if that is known. Times since the boot are coarser than the clock, and decide where the two
    /// differ.
    fn run_time(&self, started_at: Option<f64>) -> Option<RunTime> {
        let took_s = self.at - self.started_at.or(started_at)?;
        let Some(Uptimes { start, end }) = self.uptimes else {
            return Some(RunTime { took_s, clock_step_s: None }).filter(|time| time.took_s >= 0.0);
        };
        let (shortest, longest) = (end.0 - start.1, end.1 - start.0);
        let most = UPTIME_STEPS_S + CLOCK_RATE * longest;
        Some(match (shortest - most..=longest + most).contains(&took_s) && took_s >= 0.0 {
            true => RunTime { took_s, clock_step_s: None },
            false => RunTime { took_s: shortest.max(0.0), clock_step_s: Some(took_s - shortest) },
        })
    }
}

impl RunMarks {
    /// Reads the files of a run directory.
    pub fn read(directory: &Path) -> RunMarks {
        let mut marks = RunMarks::default();
        let mut text = |name: &'static str| match small_file::read(&directory.join(name), LONGEST_MARKS) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    marks.replaced = Some(name);
                }
                String::new()
            }
        };
        let (marker, trace, times) = (text(END), text(TRACE), text(TIMES));
        marks.end = end(&marker);
        for line in trace.lines() {
            match line.split_once(' ') {
                Some(("start", at)) => marks.started_at = at.parse().ok(),
                Some(("failed", step)) => marks.failed_step = Some(step.to_owned()),
                Some((name, value)) => drop(marks.values.insert(name.to_owned(), value.to_owned())),
                None => {}
            }
        }
        // The run can write to its trace, but not to the variables of the script.
        marks.started_at = marks.end.and_then(|end| end.started_at).or(marks.started_at);
        marks.cpu_s = children(&times);
        marks
    }

    /// Whether the run has ended by its own word.
    pub fn has_ended(directory: &Path) -> bool {
        directory.join(END).symlink_metadata().is_ok_and(|found| found.is_file())
    }

    fn is_disk_full(&self) -> bool {
        self.end.is_some_and(|end| end.is_disk_full)
    }

    fn run_time(&self) -> Option<RunTime> {
        self.end?.run_time(self.started_at)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.parse().ok()
    }
}

/// `0 1795000001.123 1795000000.023 5.10 5.10 6.20 6.20`, with `full` where the disk was, and blanks behind it that were
/// written to have its space: the exit code, the time of the end, that of the beginning, and times since the boot around
/// both. What could not be found out is 0, or missing in what earlier versions wrote.
fn end(text: &str) -> Option<EndMarker> {
    let mut words = text.split_whitespace();
    let (code, at) =
        (words.next()?.parse().ok()?, words.next()?.parse::<f64>().ok().filter(|at| at.is_finite())?);
    let words: Vec<&str> = words.collect();
    let number = |word: &&str| word.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let uptimes = match words.get(1..5).unwrap_or_default() {
        [a, b, c, d] => number(a).zip(number(b)).zip(number(c).zip(number(d))),
        _ => None,
    };
    Some(EndMarker {
        code,
        at,
        is_disk_full: words.last() == Some(&FULL),
        started_at: words.first().and_then(number),
        uptimes: uptimes.map(|(start, end)| Uptimes { start, end }),
    })
}

/// The second line of the shell's `times`: user and system time of its children, `0m1.25s 0m0.02s`.
fn children(text: &str) -> Option<f64> {
    let seconds = |word: &str| {
        let (minutes, seconds) = word.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let mut words = text.lines().nth(1)?.split_whitespace();
    Some(seconds(words.next()?)? + seconds(words.next()?)?)
}

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
    fn what_schedulers_and_shells_write_is_read() {
        assert_eq!(children("0m0.00s 0m0.01s\n1m1.250000s 0m0.250000s\n"), Some(61.5));
        let earlier = end("7 1795000001.5\n").unwrap();
        assert_eq!((earlier.code, earlier.at, earlier.started_at), (7, 1795000001.5, None));
        assert!(!earlier.is_disk_full && end("0 1795000001.5 full\n    \n").unwrap().is_disk_full);
        let whole = end("0 1795000001.5 1795000000.5 7.10 7.11 8.10 8.12 full\n").unwrap();
        assert!(whole.is_disk_full && whole.started_at == Some(1795000000.5));
        assert_eq!(whole.uptimes, Some(Uptimes { start: (7.10, 7.11), end: (8.10, 8.12) }));
        assert_eq!(end("0 1795000001.5 1795000000.5 0 0 0 0 \n").unwrap().uptimes, None);
        assert_eq!(end(""), None);
        assert_eq!(largest("16(x2),8"), Some(16));
        assert_eq!(pbs_nodes("n1:4,n2:4"), [4, 4]);
        assert_eq!(split_outside("gpu:a100:2(IDX:0,2),ipu:1"), ["gpu:a100:2(IDX:0,2)", "ipu:1"]);
    }

    #[test]
    fn a_changed_clock_changes_no_duration() {
        let time = |text: &str| end(text).unwrap().run_time(None);
        let plain = time("0 1001.004 1000.5 7.10 7.11 7.60 7.62\n").unwrap();
        assert!((plain.took_s - 0.504).abs() < 1e-9 && plain.clock_step_s.is_none(), "{plain:?}");
        for (ended, step) in [(-2599.0, -3600.0), (4601.0, 3600.0), (1000.9, -0.1)] {
            let found = time(&format!("0 {ended} 1000.5 7.10 7.11 7.61 7.62\n")).unwrap();
            assert!((found.took_s - 0.5).abs() < 1e-9, "{found:?}");
            assert!((found.clock_step_s.unwrap() - step).abs() < 0.001, "{found:?}");
        }
        // Without times since the boot, a negative duration is none.
        assert_eq!(time("0 900 1000.5\n"), None);
        let marks = RunMarks { started_at: Some(1000.5), end: end("0 900\n"), ..RunMarks::default() };
        assert!(marks.run_time().is_none() && clock_change(&marks).unwrap().contains("set back"));
    }

    #[test]
    fn a_trace_that_the_run_changed_is_not_believed() {
        let run = tempfile::tempdir().unwrap();
        std::fs::write(run.path().join(TRACE), "start 1000\nstart 1.0\n").unwrap();
        std::fs::write(run.path().join(END), "0 1001 1000 7 7 8 8\n").unwrap();
        assert_eq!(RunMarks::read(run.path()).run_time().unwrap().took_s, 1.0);
    }

    #[test]
    fn pipes_and_devices_in_place_of_marks_are_not_waited_for() {
        for name in [END, TRACE, TIMES] {
            let run = tempfile::tempdir().unwrap();
            std::fs::write(run.path().join(END), "0 1001 1000\n").unwrap();
            let path = run.path().join(name);
            let _ = std::fs::remove_file(&path);
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
            assert_eq!(RunMarks::read(run.path()).replaced, Some(name));
            assert_eq!(RunMarks::has_ended(run.path()), name != END);
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            assert_eq!(RunMarks::read(run.path()).replaced, Some(name));
        }
    }
}
