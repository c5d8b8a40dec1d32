//! One run from its directory to its result.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use assay_campaign::Invocation;
use assay_evidence::{Pattern, Reading, Stream};
use assay_model::platform::ErrorHint;
use assay_model::{Observation, Origin, RunId, RunResult, Settings, Status, Unit, Usage, metric};

use crate::capture::Capture;
use crate::interrupt::Interrupt;
use crate::process::{self, Ended, Spec, Stop, Watch};
use crate::{orphan, script};

/// What is the same for all runs of a platform.
#[derive(Debug)]
pub struct Reader {
    /// The dialect of the logs.
    pub dialect: String,
    /// The user's own patterns.
    pub patterns: Vec<Pattern>,
    /// What to tell the user when an error text shows up.
    pub hints: Vec<ErrorHint>,
}

/// One run to be made.
pub struct Job {
    /// Which run.
    pub run: RunId,
    /// The campaign's name.
    pub campaign: String,
    /// Its settings.
    pub settings: Settings,
    /// What to start.
    pub invocation: Invocation,
    /// The run directory.
    pub directory: PathBuf,
    /// The record's directory.
    pub record: PathBuf,
    /// How its output is read.
    pub reader: Arc<Reader>,
}

/// What a worker tells while a run goes on.
pub enum Message {
    /// The process exists.
    Started {
        /// Its number.
        pid: u32,
    },
    /// A metric was seen.
    Progress {
        /// Its name.
        metric: String,
        /// Its value.
        value: f64,
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
const SYNCED_FROM_S: f64 = 0.02;
/// How often live values are told.
const TELL: Duration = Duration::from_millis(250);
/// The end of the output that is searched for error texts.
const TAIL: usize = 16 * 1024;

/// Makes one run.
pub fn work(job: &Job, interrupt: &Interrupt, tell: &mut dyn FnMut(Message)) -> Result<RunResult, WorkError> {
    let script = prepare(job)?;
    let failed = |name: &str| {
        let path = job.directory.join(name).display().to_string();
        move |source| WorkError { path, source }
    };
    let capture = Capture::new(&job.directory);
    let mut readers: Vec<_> = job.reader.patterns.iter().map(Pattern::reader).collect();
    readers.extend(assay_evidence::dialect(&job.reader.dialect).unwrap_or_default());
    let mut watcher = Watcher {
        capture,
        reading: Reading::new(readers),
        tail: Vec::new(),
        told: Instant::now(),
        interrupt,
        tell,
    };
    let environment = job.invocation.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    let spec = Spec {
        words: script::words(&job.invocation, &script),
        directory: job.invocation.directory.clone(),
        environment: environment.collect(),
        timeout: job.invocation.timeout,
        grace: job.invocation.grace,
        pin: job.invocation.pin.clone(),
        run: Some(orphan::token(&job.record, &job.run)),
        group_memory: job.invocation.group_memory,
    };
    let started_at = now();
    let ended = process::run(&spec, &mut watcher);
    let Watcher { capture, reading, tail, .. } = watcher;
    if let Some(source) = ended.lost_output {
        return Err(failed("stdout.log")(source));
    }
    let (stdout_bytes, stderr_bytes) = (capture.bytes(Stream::Stdout), capture.bytes(Stream::Stderr));
    let first_output_s = capture.first_output_s();
    let seconds = ended.usage.as_ref().map_or(0.0, |usage| usage.wall_s);
    capture.finish(seconds >= SYNCED_FROM_S).map_err(failed("stdout.log"))?;
    let findings = reading.finish();
    let mut observations = ended.usage.as_ref().map(measured).unwrap_or_default();
    observations.extend(findings.observations);
    Ok(RunResult {
        hints: hints(&ended, &tail, &job.reader.hints),
        status: ended.status,
        started_at,
        usage: ended.usage,
        stdout_bytes,
        stderr_bytes,
        first_output_s,
        observations,
        series: findings.series,
    })
}

/// Seconds since 1970 UTC.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Makes the run directory with all that is needed to redo the run by hand. Gives the script's path.
fn prepare(job: &Job) -> Result<PathBuf, WorkError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source| WorkError { path, source }
    };
    fs::create_dir_all(&job.directory).map_err(failed(&job.directory))?;
    let write = |name: &str, bytes: &[u8]| -> Result<PathBuf, WorkError> {
        let path = job.directory.join(name);
        if let Some(parent) = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(job.directory.join(parent)).map_err(failed(&path))?;
        }
        fs::write(&path, bytes).map_err(failed(&path))?;
        Ok(path)
    };
    for file in &job.invocation.files {
        write(&file.name, &file.bytes)?;
    }
    write(script::SCRIPT, script::text(&job.run, &job.campaign, &job.settings, &job.invocation).as_bytes())
}

fn measured(usage: &Usage) -> Vec<Observation> {
    let observation =
        |metric: &str, value: f64, unit: Unit| Observation::new(metric, value, unit, Origin::Measured);
    let mut all = vec![
        observation(metric::WALL, usage.wall_s, Unit::Seconds),
        observation(metric::CPU, usage.user_s + usage.system_s, Unit::Seconds),
        observation(metric::PEAK_MEMORY, usage.peak_resident_bytes as f64, Unit::Bytes),
    ];
    if let Some(bytes) = usage.peak_group_bytes {
        all.push(observation(metric::GROUP_MEMORY, bytes as f64, Unit::Bytes));
    }
    all
}

fn hints(ended: &Ended, tail: &[u8], known: &[ErrorHint]) -> Vec<String> {
    let mut hints = Vec::new();
    if ended.left_processes {
        hints.push(
            "the run left processes behind; they were killed, so that they do not disturb others".to_owned(),
        );
    }
    if ended.status == Status::Succeeded {
        return hints;
    }
    let tail = String::from_utf8_lossy(tail);
    hints.extend(known.iter().filter(|hint| tail.contains(&hint.text)).map(|hint| hint.hint.clone()));
    hints
}

struct Watcher<'a> {
    capture: Capture,
    reading: Reading,
    tail: Vec<u8>,
    told: Instant,
    interrupt: &'a Interrupt,
    tell: &'a mut dyn FnMut(Message),
}

impl Watch for Watcher<'_> {
    fn started(&mut self, pid: u32) {
        (self.tell)(Message::Started { pid });
    }

    fn output(&mut self, stream: Stream, at_s: f64, bytes: &[u8]) -> io::Result<()> {
        self.capture.take(stream, at_s, bytes)?;
        self.reading.feed(stream, bytes);
        self.tail.extend_from_slice(bytes);
        if let Some(excess) = self.tail.len().checked_sub(TAIL).filter(|excess| *excess > TAIL) {
            self.tail.drain(..excess);
        }
        if self.told.elapsed() >= TELL
            && let Some((metric, value)) = self.reading.latest()
        {
            let metric = metric.to_owned();
            (self.tell)(Message::Progress { metric, value });
            self.told = Instant::now();
        }
        Ok(())
    }

    fn stop(&self) -> Option<Stop> {
        self.interrupt.stop()
    }
}
