//! One run from its directory to its result.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use assay_campaign::{Invocation, Resources};
use assay_evidence::{Progress, Readers};
use assay_model::platform::ErrorHint;
use assay_model::{
    Failure, Observation, Origin, RunId, RunResult, Settings, Status, Unit, Usage, Value, metric,
};

use assay_store::RecordPermissions;
use assay_store::secrets::Secrets;

use crate::gpu::GpuWatch;
use crate::interrupt::Interrupt;
use crate::process::{self, Spec};
use crate::replay::WriteSample;
use crate::used_files::Files;
use crate::watcher::Watcher;
use crate::{orphan, replay, script, steps};

/// What is the same for all runs of a platform.
pub struct OutputReader {
    /// Who reads the output: the user's patterns and the dialects.
    pub readers: Readers,
    /// The hint for the user when an error text shows up.
    pub hints: Vec<ErrorHint>,
}

/// One run to be made.
pub struct RunJob {
    /// Which run.
    pub run: RunId,
    /// The campaign's name.
    pub campaign: String,
    /// Its settings.
    pub settings: Settings,
    /// What to start.
    pub invocation: Invocation,
    /// Writes generated logs that are replayed.
    pub write_sample: WriteSample,
    /// What it asks of its platform.
    pub resources: Resources,
    /// How many seconds it is expected to take, where that is known.
    pub expected_s: Option<f64>,
    /// How often it is run before, unmeasured.
    pub warmup: u32,
    /// The run directory.
    pub directory: PathBuf,
    /// The run directory on the host where the run is made, if that is another one.
    pub there: Option<PathBuf>,
    /// The record's directory.
    pub record: PathBuf,
    /// Who may read what is written into the run directory.
    pub permissions: RecordPermissions,
    /// Values that are not written into the run directory.
    pub secrets: Arc<Secrets>,
    /// How its output is read.
    pub reader: Arc<OutputReader>,
}

/// What a worker shows while a run goes on.
pub enum RunMessage {
    /// The process exists.
    Started {
        /// Its number.
        pid: u32,
    },
    /// Something the user should know.
    Warning(String),
    /// The run has come further.
    Progress {
        /// How far.
        progress: Box<Progress>,
        /// Seconds to the first metric, where the steps so far show it.
        first_metric_in_s: Option<f64>,
    },
}

/// Why a run could not be made or kept. The run is not acknowledged, and is made again on the next `assay run`.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}")]
pub struct WorkError {
    /// What could not be written.
    pub path: String,
    /// Why.
    pub source: io::Error,
}

/// Output of runs that took at least this long is synced before they are acknowledged. Syncing the output of a shorter
/// run would cost more than making it again; its observations are in the journal, which always is synced.
pub(crate) const SYNCED_FROM_S: f64 = 0.02;

/// Makes one run.
pub(crate) fn work(
    job: &RunJob,
    gpus: Option<&GpuWatch>,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(RunMessage),
) -> Result<RunResult, WorkError> {
    let script = match if job.invocation.compact { shared_script(job) } else { prepare(job) } {
        Ok(script) => script,
        Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => {
            let reason = format!("{} exists already; a run directory is never reused", error.path);
            let failure = Failure::Start { reason };
            return Ok(RunResult::bare(Status::Failed { failure }, now()));
        }
        Err(error) => return Err(error),
    };
    if let Err(status) = steps::before(job, &script, interrupt) {
        return Ok(RunResult::bare(status, now()));
    }
    let lost = |source| WorkError { path: job.directory.join("stdout.log").display().to_string(), source };
    let recording = job.invocation.recording.as_ref();
    let files = recording.is_none().then(|| Files::before(&job.invocation, &job.directory));
    let started_at = now();
    let began = Instant::now();
    let mut watcher = Watcher::new(job, interrupt, show);
    let ended = match recording {
        Some(recording) => replay::play(recording, job.write_sample, job.invocation.timeout, &mut watcher),
        None => process::run(&spec(job, &script), &mut watcher),
    };
    let gpu_use = gpus.filter(|_| recording.is_none()).map(|gpus| gpus.between(began, Instant::now()));
    let seconds = ended.usage.as_ref().map_or(0.0, |usage| usage.wall_s);
    let seen = match ended.lost_output {
        Some(source) => Err(source),
        None => watcher.finish(&ended.status, seconds >= SYNCED_FROM_S),
    };
    let seen = match seen {
        Ok(seen) => seen,
        // Its own doing: the other runs have their directories.
        Err(error) if is_own_doing(job, &error) => {
            let reason = match job.directory.is_dir() {
                true => format!("the run changed its own run directory, and its output is lost: {error}"),
                false => "the run removed its own run directory, and its output with it".to_owned(),
            };
            let failure = Failure::Reported { reason };
            let status = Status::Failed { failure };
            return Ok(RunResult { usage: ended.usage, ..RunResult::bare(status, started_at) });
        }
        Err(source) => return Err(lost(source)),
    };
    let cleaned = steps::cleanup(job, interrupt);
    let status = concluded(ended.status, seen.findings.status.as_ref());
    let mut observations =
        ended.usage.as_ref().map(|usage| measured(usage, ended.knows_peak_memory)).unwrap_or_default();
    if let (Some(before), Some(usage)) = (seen.machine_at_start, &ended.usage) {
        observations.extend(before.others_until_now(usage));
    }
    observations.extend(gpu_use.into_iter().flatten());
    observations.extend(seen.findings.observations);
    let mut result = RunResult {
        usage: ended.usage,
        stdout_bytes: seen.stdout_bytes,
        stderr_bytes: seen.stderr_bytes,
        output: seen.output,
        // When the playing began to give output says nothing about the job.
        first_output_s: seen.first_output_s.filter(|_| recording.is_none()),
        first_metric_s: seen.first_metric_s,
        observations,
        series: seen.findings.series,
        phases: seen.findings.phases,
        settings: seen.findings.settings.into_iter().filter(|fact| is_writable(&fact.value)).collect(),
        advice: seen.findings.hints,
        replayed: recording.map(replay::replayed),
        files: files.map(|files| files.after(&job.secrets)).unwrap_or_default(),
        ..RunResult::bare(status, started_at)
    };
    result.hints = hints(&result.status, ended.left_processes, &seen.tail, &job.reader.hints);
    result.hints.extend(ended.back_pressure_s.and_then(|seconds| back_pressure(seconds, &result)));
    result.hints.extend(ended.noticed_late_s.and_then(|seconds| noticed_late(seconds, &result)));
    if let Some(doubt) = contradiction(&result.status, seen.findings.status.as_ref()) {
        result.hints.push(doubt);
    }
    if let Err(status) = cleaned {
        let reason = match status {
            Status::Failed { failure: Failure::Reported { reason } } => reason,
            other => other.to_string(),
        };
        result.hints.push(format!("after the run, {reason}"));
    }
    Ok(result)
}

/// Whether output is lost because of what the run did to its directory, which was fine when the run began.
fn is_own_doing(job: &RunJob, error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    !job.directory.is_dir()
        || matches!(error.kind(), AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied)
}

/// From this share of its wall time on, waiting for its output to be stored is a doubt about a run's times.
const BACK_PRESSURE: f64 = 0.05;

/// The caveat where a run had to wait until its output was stored.
fn back_pressure(full_s: f64, result: &RunResult) -> Option<String> {
    let wall_s = result.usage.as_ref()?.wall_s;
    (full_s >= 0.01 && full_s >= BACK_PRESSURE * wall_s).then(|| {
        format!(
            "the run wrote output faster than it could be stored and may have waited up to {:.0} ms of its {:.0} ms; \
             print less, or write to a file",
            full_s * 1e3,
            wall_s * 1e3
        )
    })
}

/// From this share of its wall time on, an end that was noticed late is a doubt about a run's times.
const NOTICED_LATE: f64 = 0.01;

/// The caveat where the end of a run was noticed late: this program was stopped, or had no CPU.
fn noticed_late(late_s: f64, result: &RunResult) -> Option<String> {
    let wall_s = result.usage.as_ref()?.wall_s;
    (late_s >= NOTICED_LATE * wall_s || late_s >= 1.0).then(|| {
        format!(
            "assay was stopped or had no CPU while the run ended: up to {:.0} ms of its {:.0} ms may be too much; let \
             assay continue until all runs have ended",
            late_s * 1e3,
            wall_s * 1e3
        )
    })
}

/// Whether a value can be written to the journal, which knows no infinite numbers.
pub(crate) fn is_writable(value: &Value) -> bool {
    !matches!(value, Value::Float(number) if !number.is_finite())
}

pub(crate) fn spec(job: &RunJob, script: &Path) -> Spec {
    let invocation = &job.invocation;
    let environment = invocation.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    Spec {
        words: script::words(invocation, script),
        directory: invocation.directory.clone(),
        environment: environment.collect(),
        timeout: invocation.timeout,
        grace: invocation.grace,
        pin: invocation.pin.clone(),
        run: Some(orphan::token(&job.record, &job.run)),
        group_memory: invocation.group_memory,
    }
}

/// How a run ended, by its process and by what its output shows. Exit codes are believed: output never turns a bad end
/// into a good one, except that a script that ends badly because its own bound was missed still has valid numbers. Where
/// both describe a bad end, what the output says shows more than a number. A replayed run has no exit code.
pub(crate) fn concluded(own: Status, stated: Option<&Status>) -> Status {
    match (&own, stated) {
        (
            Status::Failed { failure: Failure::Exit { .. } },
            Some(
                stated @ (Status::GateFailed { .. }
                | Status::DoesNotFit { .. }
                | Status::Failed { failure: Failure::Reported { .. } }),
            ),
        ) => stated.clone(),
        (Status::Unknown, Some(stated)) => stated.clone(),
        _ => own,
    }
}

/// What to show where a run ended well and its output says that it did not.
pub(crate) fn contradiction(status: &Status, stated: Option<&Status>) -> Option<String> {
    let stated = stated.filter(|stated| !stated.is_usable() && **stated != Status::Truncated)?;
    (*status == Status::Succeeded).then(|| {
        format!("the exit code is 0, but the output says: {stated}; look at it before using the numbers")
    })
}

/// Seconds since 1970 UTC.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Makes the run directory with all that is needed to redo the run by hand. Gives the script's path.
pub(crate) fn prepare(job: &RunJob) -> Result<PathBuf, WorkError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source| WorkError { path, source }
    };
    let permissions = job.permissions;
    permissions.create_new_directory(&job.directory).map_err(failed(&job.directory))?;
    let write = |name: &str, bytes: &[u8]| -> Result<PathBuf, WorkError> {
        let path = job.directory.join(name);
        if let Some(parent) = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty()) {
            permissions.create_directory(&job.directory.join(parent)).map_err(failed(&path))?;
        }
        permissions.create_file(&path).and_then(|mut file| file.write_all(bytes)).map_err(failed(&path))?;
        Ok(path)
    };
    for file in &job.invocation.files {
        write(&file.name, &file.bytes)?;
    }
    write(script::SCRIPT, script::text(job).as_bytes())
}

/// The script that the compact runs of a cell share, in the directory of the cell. It is made by the first of them; later
/// ones check that it is still what they would write.
fn shared_script(job: &RunJob) -> Result<PathBuf, WorkError> {
    let path = job.directory.parent().unwrap_or(&job.record).join(script::SCRIPT);
    let failed = |source| WorkError { path: path.display().to_string(), source };
    job.permissions.ensure_file(&path, script::shared_text(job).as_bytes()).map_err(failed)?;
    Ok(path)
}

fn measured(usage: &Usage, knows_peak_memory: bool) -> Vec<Observation> {
    let observation =
        |metric: &str, value: f64, unit: Unit| Observation::new(metric, value, unit, Origin::Measured);
    let mut all = vec![
        observation(metric::WALL, usage.wall_s, Unit::Seconds),
        observation(metric::CPU, usage.user_s + usage.system_s, Unit::Seconds),
    ];
    if knows_peak_memory {
        all.push(observation(metric::PEAK_MEMORY, usage.peak_resident_bytes as f64, Unit::Bytes));
    }
    if let Some(bytes) = usage.peak_group_bytes {
        all.push(observation(metric::GROUP_MEMORY, bytes as f64, Unit::Bytes));
    }
    all
}

pub(crate) fn hints(status: &Status, left_processes: bool, tail: &[u8], known: &[ErrorHint]) -> Vec<String> {
    let mut hints = Vec::new();
    if left_processes {
        hints.push(
            "the run left processes behind; they were killed, so that they do not disturb others".to_owned(),
        );
    }
    if *status == Status::Succeeded {
        return hints;
    }
    let tail = String::from_utf8_lossy(tail);
    hints.extend(known.iter().filter(|hint| tail.contains(&hint.text)).map(|hint| hint.hint.clone()));
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: i32) -> Status {
        Status::Failed { failure: Failure::Exit { code } }
    }

    #[test]
    fn a_missed_gate_is_not_a_failure_and_exit_codes_are_believed_otherwise() {
        let gate = Status::GateFailed { reason: "at least 560000".into() };
        let failed = Status::Failed { failure: Failure::Reported { reason: "a pod crashed".into() } };
        assert_eq!(concluded(exit(1), Some(&gate)), gate);
        assert_eq!(concluded(exit(1), Some(&Status::Succeeded)), exit(1));
        assert_eq!(concluded(exit(1), None), exit(1));
        assert_eq!(concluded(exit(1), Some(&failed)), failed);
        assert_eq!(concluded(Status::Succeeded, Some(&failed)), Status::Succeeded);
        assert_eq!(concluded(Status::Interrupted, Some(&gate)), Status::Interrupted);
        assert_eq!(concluded(Status::Unknown, Some(&failed)), failed);
        assert_eq!(concluded(Status::Unknown, None), Status::Unknown);
        assert!(contradiction(&Status::Succeeded, Some(&failed)).is_some());
        assert!(contradiction(&Status::Succeeded, Some(&gate)).is_none());
        assert!(contradiction(&exit(1), Some(&failed)).is_none());
    }
}
