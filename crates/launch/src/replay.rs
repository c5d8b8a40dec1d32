//! Plays a recorded log as if the job ran: the log's own clock decides when its lines come. Nothing is started.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use assay_campaign::{Recording, RecordingSource};
use assay_evidence::Stream;
use assay_model::{Failure, Replayed, Speed, Status};

use crate::pace::Pace;
use crate::process::{ProcessEnd, Watch};

/// How often a stop request is looked for while the next line is waited for.
const LOOK: Duration = Duration::from_millis(50);
/// Lines that come at the same time are handed on together, up to this many bytes.
const PIECE: usize = 64 * 1024;
/// At full speed, so do lines that came within this many seconds: who does not wait need not show them apart.
const TOGETHER_S: f64 = 1.0;

/// Writes a generated log: its kind, options and seed. Errors are texts, since only their wording is used.
pub type WriteSample = fn(&str, &BTreeMap<String, String>, u64, &mut dyn Write) -> Result<(), String>;

/// Plays a log to its end. The status says how the playing ended: `Unknown` where the log was played in full, since how
/// the job ended is for the log to show. The timeout counts by the log's clock, as it did for the job.
pub fn play(
    recording: &Recording,
    write_sample: WriteSample,
    timeout: Option<Duration>,
    watch: &mut dyn Watch,
) -> ProcessEnd {
    let mut player = Player::new(recording.speed, timeout, watch);
    let result = match &recording.source {
        RecordingSource::Log { path, .. } => File::open(path)
            .and_then(|mut file| io::copy(&mut file, &mut player))
            .map_err(|error| error.to_string()),
        RecordingSource::Sample { kind, options, seed } => {
            write_sample(kind, options, *seed, &mut player).map(|()| 0)
        }
    };
    let played = result.and_then(|_| player.end().map_err(|error| error.to_string()));
    let status = match (player.stopped, played) {
        (Some(status), _) => status,
        (None, Ok(())) => Status::Unknown,
        (None, Err(reason)) => {
            Status::Failed { failure: Failure::Start { reason: format!("{}: {reason}", name(recording)) } }
        }
    };
    ProcessEnd {
        status,
        usage: None,
        knows_peak_memory: false,
        left_processes: false,
        lost_output: player.lost_output,
        back_pressure_s: None,
        noticed_late_s: None,
    }
}

/// What a run's result says about having been replayed.
pub fn replayed(recording: &Recording) -> Replayed {
    let generated = matches!(recording.source, RecordingSource::Sample { .. });
    Replayed { log: name(recording), generated, speed: recording.speed }
}

/// The log in words: its file, or what it was generated from.
fn name(recording: &Recording) -> String {
    match &recording.source {
        RecordingSource::Log { name, .. } => name.clone(),
        RecordingSource::Sample { kind, options, seed } => {
            let options: String = options.iter().map(|(name, value)| format!(", {name} {value}")).collect();
            format!("sample {kind}{options}, seed {seed}")
        }
    }
}

/// Takes the bytes of a log and hands them on when their time has come.
struct Player<'a> {
    watch: &'a mut dyn Watch,
    speed: Speed,
    timeout_s: Option<f64>,
    began: Instant,
    pace: Pace,
    /// A line that is not complete yet.
    held: Vec<u8>,
    /// Complete lines that came at one time and were not handed on yet.
    piece: Vec<u8>,
    /// When they came, by the log's clock.
    at_s: f64,
    stopped: Option<Status>,
    lost_output: Option<io::Error>,
}

impl<'a> Player<'a> {
    fn new(speed: Speed, timeout: Option<Duration>, watch: &'a mut dyn Watch) -> Player<'a> {
        Player {
            watch,
            speed,
            timeout_s: timeout.map(|timeout| timeout.as_secs_f64()),
            began: Instant::now(),
            pace: Pace::default(),
            held: Vec::new(),
            piece: Vec::new(),
            at_s: 0.0,
            stopped: None,
            lost_output: None,
        }
    }

    /// Takes one line with its end, or what there is of one.
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let at_s = self.pace.line(line);
        let together_s = if self.speed == Speed::Max { TOGETHER_S } else { 0.0 };
        let later = at_s > self.at_s + together_s;
        if later || self.piece.len() + line.len() > PIECE {
            self.hand_on()?;
        }
        if let Some(timeout_s) = self.timeout_s.filter(|timeout_s| at_s >= *timeout_s) {
            self.hand_on()?;
            return self.stop(Status::TimedOut { after_s: timeout_s });
        }
        if later {
            self.wait_until(at_s)?;
            self.at_s = at_s;
        }
        self.piece.extend_from_slice(line);
        Ok(())
    }

    /// Hands on what has come.
    fn hand_on(&mut self) -> io::Result<()> {
        if self.watch.stop().is_some() {
            return self.stop(Status::Interrupted);
        }
        if !self.piece.is_empty() {
            if let Err(error) = self.watch.output(Stream::Stdout, self.at_s, &self.piece) {
                self.lost_output.get_or_insert(error);
            }
            self.piece.clear();
        }
        Ok(())
    }

    fn wait_until(&mut self, at_s: f64) -> io::Result<()> {
        let Speed::Times(times) = self.speed else { return Ok(()) };
        // A time too far away to be a duration never comes; it is waited for until somebody stops it.
        let due = Duration::try_from_secs_f64(at_s / times).unwrap_or(Duration::MAX);
        loop {
            let left = due.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            if self.watch.stop().is_some() {
                return self.stop(Status::Interrupted);
            }
            if let Err(error) = self.watch.idle(self.at_s) {
                self.lost_output.get_or_insert(error);
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    fn stop(&mut self, status: Status) -> io::Result<()> {
        self.stopped = Some(status);
        Err(io::Error::other("stopped"))
    }

    /// The log has no more bytes.
    fn end(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.line(&held)?;
        }
        self.hand_on()
    }
}

impl Write for Player<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, behind) = rest.split_at(end + 1);
            if self.held.is_empty() {
                self.line(line)?;
            } else {
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(line);
                self.line(&held)?;
            }
            rest = behind;
        }
        self.held.extend_from_slice(rest);
        // A line without an end must not fill the memory.
        if self.held.len() > PIECE {
            let held = std::mem::take(&mut self.held);
            self.line(&held)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
