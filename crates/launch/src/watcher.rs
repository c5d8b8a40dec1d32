//! Watches one run: keeps its output, reads it as it comes, follows the files it writes its log to, and shows how far
//! the run has come.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use assay_evidence::{Findings, Progress, Reading, Stream};
use assay_model::{Settings, ShortOutput, Status, Value};

use crate::capture::Capture;
use crate::follow::Follower;
use crate::followed::Followed;
use crate::interrupt::Interrupt;
use crate::process::{Stop, Watch};
use crate::surroundings::CpuTimes;
use crate::worker::{self, RunJob, RunMessage, SYNCED_FROM_S};

/// How often the progress of a run is reported.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// How often followed files are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// The most files that are followed for one run. More than this is not a log that goes elsewhere.
const MOST_FOLLOWED: usize = 8;
/// Output is read as it comes while it comes in pieces smaller than this. More at once means that the run writes faster
/// than it is read; it is then only stored, and read when the run pauses or has ended.
const LIGHT: usize = 16 * 1024;
/// What is read at once of stored output. Reading it takes less time than a run needs to fill its pipe.
const READ_BACK: u64 = 16 * 1024;
/// Pieces of stored output are joined up to this size.
const JOINED: u64 = 1024 * 1024;
/// The end of the output that is searched for error texts.
const TAIL: usize = 16 * 1024;
/// Settings that say after how many steps a log line comes.
const INTERVALS: [&str; 5] = ["log_every", "log_steps", "log_interval", "logging_steps", "log_frequency"];

/// Watches one run.
pub struct Watcher<'a> {
    job: &'a RunJob,
    interrupt: &'a Interrupt,
    show: &'a mut dyn FnMut(RunMessage),
    began: SystemTime,
    capture: Capture,
    /// Output that is kept and not read yet, in the order it came.
    unread: VecDeque<UnreadPiece>,
    buffer: Vec<u8>,
    reading: Reading,
    followed: Vec<Followed>,
    tail: Vec<u8>,
    reported: Instant,
    /// Whether output came since then.
    has_unreported: bool,
    looked: Instant,
    first_metric_s: Option<f64>,
    /// When the first step was seen, and which it was.
    first_step: Option<(Instant, f64)>,
    /// What the whole machine had done when the run was worth looking at.
    machine_at_start: Option<CpuTimes>,
}

/// Output that is in its log file and was not read yet.
struct UnreadPiece {
    stream: Stream,
    at_s: f64,
    offset: u64,
    bytes: u64,
}

/// All that was seen of a run.
pub struct WatchedRun {
    /// What was found in the output and in the files that were followed.
    pub findings: Findings,
    /// Bytes of standard output.
    pub stdout_bytes: u64,
    /// Bytes of standard error.
    pub stderr_bytes: u64,
    /// When the first output came.
    pub first_output_s: Option<f64>,
    /// When the first metric came.
    pub first_metric_s: Option<f64>,
    /// The end of the output.
    pub tail: Vec<u8>,
    /// All output, where the run has no directory for it.
    pub output: Option<ShortOutput>,
    /// What the whole machine had done shortly after the run began; none for a run that was over by then.
    pub machine_at_start: Option<CpuTimes>,
}

impl<'a> Watcher<'a> {
    /// Starts to watch a run that is about to begin.
    pub fn new(
        job: &'a RunJob,
        interrupt: &'a Interrupt,
        show: &'a mut dyn FnMut(RunMessage),
    ) -> Watcher<'a> {
        let mut watcher = Watcher {
            job,
            interrupt,
            show,
            began: SystemTime::now(),
            capture: match job.invocation.compact {
                true => Capture::without_directory(&job.directory, job.permissions),
                false => Capture::new(&job.directory, job.permissions),
            },
            unread: VecDeque::new(),
            buffer: Vec::new(),
            reading: Reading::new(&job.reader.readers),
            followed: Vec::new(),
            tail: Vec::new(),
            reported: Instant::now(),
            has_unreported: false,
            looked: Instant::now(),
            first_metric_s: None,
            first_step: None,
            machine_at_start: None,
        };
        // The files of a replayed run are as old as its log.
        if job.invocation.recording.is_none() {
            for path in &job.invocation.follow {
                watcher.follow(path, Follower::from_now);
            }
        }
        watcher
    }

    /// Ends the watching: takes a last look at followed files, writes out what is buffered and syncs it if asked.
    pub fn finish(mut self, status: &Status, sync: bool) -> io::Result<WatchedRun> {
        while !self.unread.is_empty() {
            self.read_back()?;
        }
        self.follow_redirection(&self.reading.progress());
        while self.look()? {}
        let (stdout_bytes, stderr_bytes) =
            (self.capture.bytes(Stream::Stdout), self.capture.bytes(Stream::Stderr));
        let first_output_s = self.capture.first_output_s();
        let output = self.capture.short_output().filter(|output| {
            let shows_secret =
                [&output.stdout, &output.stderr].iter().any(|text| self.job.secrets.are_in(text));
            *status == Status::Succeeded && !sync && self.followed.is_empty() && !shows_secret
        });
        if output.is_none() {
            self.use_directory()?;
        }
        self.capture.finish(sync)?;
        let findings = self.reading.finish();
        for followed in self.followed {
            followed.finish(sync)?;
        }
        let Watcher { tail, first_metric_s, machine_at_start, .. } = self;
        Ok(WatchedRun {
            findings,
            stdout_bytes,
            stderr_bytes,
            first_output_s,
            first_metric_s,
            tail,
            output,
            machine_at_start,
        })
    }

    /// Gives a compact run a directory after all: it takes longer, prints more, or went wrong.
    fn use_directory(&mut self) -> io::Result<()> {
        if self.capture.is_held() {
            worker::prepare(self.job).map_err(|error| error.source)?;
            self.capture.write_held()?;
        }
        Ok(())
    }

    /// Takes note of what came and describes it, but not too often.
    fn note_progress(&mut self, at_s: f64) {
        let due = self.reported.elapsed() >= REPORT_EVERY;
        if !due && self.first_metric_s.is_some() {
            return;
        }
        let progress = self.reading.progress();
        self.follow_redirection(&progress);
        if self.first_metric_s.is_none() && has_metric(&progress) {
            self.first_metric_s = Some(at_s);
        }
        if let (None, Some(step)) = (self.first_step, progress.step) {
            self.first_step = Some((Instant::now(), step));
        }
        if due {
            let first_metric_in_s = self.first_metric_in(&progress);
            (self.show)(RunMessage::Progress { progress: Box::new(progress), first_metric_in_s });
            self.reported = Instant::now();
            self.has_unreported = false;
        }
    }

    /// Seconds to the first metric, by how fast steps go and after how many of them a metric is logged.
    fn first_metric_in(&self, progress: &Progress) -> Option<f64> {
        let (first_at, first_step) = self.first_step.filter(|_| self.first_metric_s.is_none())?;
        let interval = interval(&self.job.settings)?;
        let step = progress.step?;
        let done = step - first_step;
        let rate = done / first_at.elapsed().as_secs_f64();
        (done > 0.0 && rate.is_finite()).then(|| (interval - step.rem_euclid(interval)) / rate)
    }

    /// Follows the file that the output says the log goes to. Recorded logs name files of another time.
    fn follow_redirection(&mut self, progress: &Progress) {
        if self.job.invocation.recording.is_some() {
            return;
        }
        if let Some(name) = &progress.redirected_to {
            let path = self.job.invocation.directory.join(name);
            let began = self.began;
            self.follow(&path, |path| Follower::since(path, began));
        }
    }

    fn follow(&mut self, path: &Path, follower: impl FnOnce(&Path) -> Follower) {
        let known = self.followed.iter().any(|followed| followed.path() == path);
        if !known && self.followed.len() < MOST_FOLLOWED {
            let name = format!("follow-{}.log", self.followed.len() + 1);
            let number = self.reading.add_file(&name);
            let copy = self.job.directory.join(name);
            self.followed.push(Followed::new(path, number, follower(path), copy, self.job.permissions));
        }
    }

    /// Looks at the followed files. Gives whether there may be more in them already.
    fn look(&mut self) -> io::Result<bool> {
        let mut more = false;
        for followed in &mut self.followed {
            let (reading, tail) = (&mut self.reading, &mut self.tail);
            more |= followed.look(&mut |number, bytes| {
                reading.feed_file(number, bytes);
                keep_tail(tail, bytes);
            })?;
        }
        self.looked = Instant::now();
        Ok(more)
    }
}

impl Watch for Watcher<'_> {
    fn started(&mut self, pid: u32) {
        self.machine_at_start = CpuTimes::now();
        (self.show)(RunMessage::Started { pid });
    }

    fn output(&mut self, stream: Stream, at_s: f64, bytes: &[u8]) -> io::Result<()> {
        let offset = self.capture.bytes(stream);
        if !self.capture.has_room_for(bytes.len()) {
            self.use_directory()?;
        }
        self.capture.take(stream, at_s, bytes)?;
        if self.unread.is_empty() && bytes.len() < LIGHT {
            self.reading.feed(stream, bytes);
            keep_tail(&mut self.tail, bytes);
            self.has_unreported = true;
            self.note_progress(at_s);
            return Ok(());
        }
        let bytes = bytes.len() as u64;
        match self.unread.back_mut() {
            Some(last)
                if last.stream == stream && last.offset + last.bytes == offset && last.bytes < JOINED =>
            {
                last.bytes += bytes;
            }
            _ => self.unread.push_back(UnreadPiece { stream, at_s, offset, bytes }),
        }
        Ok(())
    }

    fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    fn read_back(&mut self) -> io::Result<()> {
        let Some(piece) = self.unread.front_mut() else { return Ok(()) };
        let wanted = usize::try_from(piece.bytes.min(READ_BACK)).unwrap_or(0);
        self.buffer.resize(wanted, 0);
        let count = self.capture.read(piece.stream, piece.offset, &mut self.buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (stream, at_s) = (piece.stream, piece.at_s);
        piece.offset += count as u64;
        piece.bytes -= count as u64;
        if piece.bytes == 0 {
            self.unread.pop_front();
        }
        let bytes = self.buffer.get(..count).unwrap_or_default();
        self.reading.feed(stream, bytes);
        keep_tail(&mut self.tail, bytes);
        self.has_unreported = true;
        self.note_progress(at_s);
        Ok(())
    }

    fn idle(&mut self, at_s: f64) -> io::Result<()> {
        if at_s >= SYNCED_FROM_S {
            self.use_directory()?;
        }
        if !self.followed.is_empty() && self.looked.elapsed() >= LOOK {
            self.look()?;
            self.has_unreported = true;
        }
        if self.has_unreported {
            self.note_progress(at_s);
        }
        Ok(())
    }

    fn stop(&self) -> Option<Stop> {
        self.interrupt.stop()
    }
}

fn keep_tail(tail: &mut Vec<u8>, bytes: &[u8]) {
    tail.extend_from_slice(bytes);
    if let Some(excess) = tail.len().checked_sub(TAIL).filter(|excess| *excess > TAIL) {
        tail.drain(..excess);
    }
}

fn has_metric(progress: &Progress) -> bool {
    progress.loss.is_some() || progress.rate.is_some() || progress.latest.is_some()
}

/// After how many steps a log line comes, where a setting says so.
fn interval(settings: &Settings) -> Option<f64> {
    let steps = INTERVALS.iter().find_map(|name| settings.get(*name))?;
    match steps {
        Value::Integer(steps) if *steps > 0 => Some(*steps as f64),
        _ => None,
    }
}
