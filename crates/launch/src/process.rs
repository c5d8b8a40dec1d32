//! One process from start to end: its own process group, both streams captured, a timeout, and what it used.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_evidence::Stream;
use assay_model::{Failure, Status, Usage};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::group::MemoryGroup;
use crate::leftover::ActiveRun;
use crate::{leftover, orphan, sys};

/// What to start.
pub struct Spec {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The working directory.
    pub directory: PathBuf,
    /// Variables added to the environment.
    pub environment: Vec<(String, String)>,
    /// When to stop it.
    pub timeout: Option<Duration>,
    /// How long it has between being asked to stop and being killed.
    pub grace: Duration,
    /// The CPUs it may use; all if empty.
    pub pin: Vec<usize>,
    /// The name of its run, which all its processes carry in their environment. What is left of a run that has one is
    /// ended with it.
    pub run: Option<String>,
    /// Whether to measure the memory of all its processes together.
    pub group_memory: bool,
}

/// What happens while a process runs.
pub trait Watch {
    /// The process exists, and has for a moment.
    fn started(&mut self, pid: u32);
    /// Output came, `at_s` seconds after the start.
    fn output(&mut self, stream: Stream, at_s: f64, bytes: &[u8]) -> io::Result<()>;
    /// Whether output was stored that is still to be read.
    fn has_unread(&self) -> bool {
        false
    }
    /// Reads a piece of stored output. Called while the process writes nothing.
    fn read_back(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// A moment passed, whether or not there was output.
    fn idle(&mut self, _at_s: f64) -> io::Result<()> {
        Ok(())
    }
    /// How the run should be stopped now, if at all.
    fn stop(&self) -> Option<Stop>;
}

/// How to stop a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Ask it, and kill it after its grace time.
    Gently,
    /// Kill it.
    AtOnce,
}

/// How a process went.
#[derive(Debug)]
pub struct ProcessEnd {
    /// Its status.
    pub status: Status,
    /// What it used.
    pub usage: Option<Usage>,
    /// Whether the peak memory in `usage` is the process's own; see `sys::inherited_peak_bytes`.
    pub knows_peak_memory: bool,
    /// Whether processes it left behind had to be killed.
    pub left_processes: bool,
    /// Output that could not be kept.
    pub lost_output: Option<io::Error>,
    /// For how long at most the process had to wait because its output was not stored fast enough.
    pub back_pressure_s: Option<f64>,
    /// How much later than it happened the end may have been noticed, because this program was stopped or had no CPU.
    pub noticed_late_s: Option<f64>,
}

/// A process that ends before this is not reported while it runs: a report takes longer than what there is to show.
const WORTH_REPORTING: Duration = Duration::from_millis(10);
/// After the process has ended, others may still hold its output open. They get this long to finish writing.
const DRAIN: Duration = Duration::from_millis(250);
/// Bytes that are read of a pipe at once. A piece that fills this is much output.
const READ_AT_ONCE: usize = 16 * 1024;
/// The same from then on. With more, the process waits longer for the pipe while it is emptied.
const READ_MUCH_AT_ONCE: usize = 64 * 1024;
/// How often a stop request is looked for while nothing else happens.
const LOOK: Duration = Duration::from_millis(100);

/// A wait that ends this soon was for something that had happened before.
const AT_ONCE: Duration = Duration::from_millis(1);
/// An end that is noticed this late is mentioned.
const LATE: Duration = Duration::from_millis(10);

/// Runs a process to its end.
pub fn run(spec: &Spec, watch: &mut dyn Watch) -> ProcessEnd {
    leftover::adopt();
    let active = ActiveRun::begin();
    let began = Instant::now();
    match Running::start(spec, began) {
        Ok(mut running) => running.see_through(spec, &active, watch),
        Err(error) => ProcessEnd {
            status: Status::Failed { failure: Failure::Start { reason: start_reason(spec, &error) } },
            usage: None,
            knows_peak_memory: false,
            left_processes: false,
            lost_output: None,
            back_pressure_s: None,
            noticed_late_s: None,
        },
    }
}

fn start_reason(spec: &Spec, error: &io::Error) -> String {
    let program = spec.words.first().map_or("", String::as_str);
    if !spec.directory.is_dir() {
        return format!("no directory {}", spec.directory.display());
    }
    format!("`{program}`: {error}")
}

struct Running {
    pid: Pid,
    pidfd: OwnedFd,
    group: Option<MemoryGroup>,
    pipes: [(Stream, Option<OwnedFd>); 2],
    began: Instant,
    exited: Option<Instant>,
    /// For how long the end could have gone unnoticed.
    noticed_late: Duration,
    /// Whether it was reported that the process exists.
    reported: bool,
    /// When the group was asked to stop, and why.
    asked: Option<(Instant, Status)>,
    killed: bool,
    lost_output: Option<io::Error>,
    /// For how long pipes were found full.
    full: Duration,
    /// When stored output was last read.
    read_back_at: Instant,
    /// Whether the pipes were made large, which is done when there is much output.
    enlarged: [bool; 2],
}

impl Running {
    fn start(spec: &Spec, began: Instant) -> io::Result<Running> {
        let group = spec.group_memory.then(MemoryGroup::create).flatten();
        let words = group.as_ref().map_or_else(|| spec.words.clone(), |group| group.around(&spec.words));
        let [program, arguments @ ..] = words.as_slice() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "empty command"));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&spec.directory)
            .envs(spec.environment.iter().map(|(name, value)| (name, value)))
            .envs(spec.run.iter().map(|run| (orphan::RUN_VARIABLE, run)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = crate::pin::pinned(&spec.pin, || command.spawn())?;
        let pid = Pid::from_child(&child);
        // From here on the child exists: every way out must leave it waited for.
        let pidfd = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error.into());
            }
        };
        let pipes = [
            (Stream::Stdout, child.stdout.take().map(OwnedFd::from)),
            (Stream::Stderr, child.stderr.take().map(OwnedFd::from)),
        ];
        Ok(Running {
            pid,
            pidfd,
            group,
            pipes,
            began,
            exited: None,
            noticed_late: Duration::ZERO,
            reported: false,
            asked: None,
            killed: false,
            lost_output: None,
            full: Duration::ZERO,
            read_back_at: began,
            enlarged: [false; 2],
        })
    }

    fn pid_number(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    fn see_through(&mut self, spec: &Spec, active: &ActiveRun, watch: &mut dyn Watch) -> ProcessEnd {
        let mut buffer = vec![0; READ_AT_ONCE];
        let mut looked = Instant::now();
        while !self.is_over() {
            if !self.reported && self.exited.is_none() && self.began.elapsed() >= WORTH_REPORTING {
                watch.started(self.pid_number());
                self.reported = true;
            }
            self.act_on_stops(spec, watch);
            let waiting = Instant::now();
            let unread = watch.has_unread();
            let ready = self.wait_for_something(spec, unread);
            let quiet = ready.pipes == [false; 2];
            if unread && (quiet || self.read_back_at.elapsed() >= UNREAD_AT_MOST) {
                // The process does not wait for this: its pipe is large and was empty a moment ago.
                self.read_back_at = Instant::now();
                if let Err(error) = watch.read_back() {
                    self.lost_output.get_or_insert(error);
                    break;
                }
            }
            if ready.exited && self.exited.is_none() {
                let now = Instant::now();
                self.exited = Some(now);
                self.noticed_late = match ready.waited < AT_ONCE {
                    // It had ended before it was waited for.
                    true => now - looked,
                    false => ready.overslept,
                };
            }
            looked = Instant::now();
            for index in 0..self.pipes.len() {
                if ready.pipes.get(index) == Some(&true) {
                    self.read(index, &mut buffer, waiting, watch);
                }
            }
            if let Err(error) = watch.idle(self.began.elapsed().as_secs_f64()) {
                self.lost_output.get_or_insert(error);
            }
        }
        let held_open = self.pipes.iter().any(|(_, pipe)| pipe.is_some()) && self.asked.is_none();
        // The leader is not waited for yet, so the group's number cannot belong to anyone else.
        let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
        let mut ended = self.conclude(held_open);
        let left = spec.run.as_deref().is_some_and(|run| leftover::end(active, run));
        ended.left_processes |= left && self.asked.is_none();
        ended
    }

    fn conclude(&mut self, left_processes: bool) -> ProcessEnd {
        let wall_s = self.exited.map_or_else(|| self.began.elapsed(), |at| at - self.began).as_secs_f64();
        let (status, usage, knows_peak_memory) = match sys::wait(self.pid_number()) {
            Ok(ended) => {
                let peak = ended.peak_resident_bytes;
                let usage = Usage {
                    wall_s,
                    user_s: ended.user_s,
                    system_s: ended.system_s,
                    peak_resident_bytes: peak,
                    peak_group_bytes: self.group.as_ref().and_then(MemoryGroup::peak_bytes),
                };
                (own_status(&ended), Some(usage), peak > sys::inherited_peak_bytes(peak))
            }
            Err(error) => {
                let failure = Failure::Start { reason: format!("lost: {error}") };
                (Status::Failed { failure }, None, false)
            }
        };
        let status = self.asked.as_ref().map_or(status, |(_, asked)| asked.clone());
        let back_pressure_s = Some(self.full.as_secs_f64()).filter(|seconds| *seconds > 0.0);
        let lost_output = self.lost_output.take();
        let noticed_late_s =
            Some(self.noticed_late).filter(|late| *late >= LATE).map(|late| late.as_secs_f64());
        ProcessEnd {
            status,
            usage,
            knows_peak_memory,
            left_processes,
            lost_output,
            back_pressure_s,
            noticed_late_s,
        }
    }

    /// The run is over when the process has ended and its output is closed, or the time to close it has passed.
    fn is_over(&self) -> bool {
        let closed = self.pipes.iter().all(|(_, pipe)| pipe.is_none());
        self.exited.is_some_and(|at| closed || self.killed || at.elapsed() >= DRAIN)
    }

    fn act_on_stops(&mut self, spec: &Spec, watch: &dyn Watch) {
        if self.exited.is_some() {
            return;
        }
        let stop = watch.stop();
        if self.asked.is_none() {
            let late = spec.timeout.filter(|timeout| self.began.elapsed() >= *timeout);
            let why = match (stop, late) {
                (Some(_), _) => Some(Status::Interrupted),
                (None, Some(timeout)) => Some(Status::TimedOut { after_s: timeout.as_secs_f64() }),
                (None, None) => None,
            };
            if let Some(status) = why {
                self.signal(Signal::TERM);
                self.asked = Some((Instant::now(), status));
            }
        }
        let overdue = self.asked.as_ref().is_some_and(|(at, _)| at.elapsed() >= spec.grace);
        if !self.killed && (overdue || stop == Some(Stop::AtOnce)) {
            self.signal(Signal::KILL);
            self.killed = true;
        }
    }

    fn signal(&self, signal: Signal) {
        // The group can only be gone already, which is what was wanted.
        let _ = rustix::process::kill_process_group(self.pid, signal);
        if let Some(group) = &self.group {
            group.signal_all(signal);
        }
    }

    /// How long nothing needs to be done.
    fn patience(&self, spec: &Spec) -> Duration {
        let until = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let deadline = match (&self.exited, &self.asked) {
            (Some(at), _) => Some(until(*at + DRAIN)),
            (None, Some((at, _))) => Some(until(*at + spec.grace)),
            (None, None) => spec.timeout.map(|timeout| until(self.began + timeout)),
        };
        let look = if self.reported { LOOK } else { WORTH_REPORTING };
        deadline.map_or(look, |left| left.min(look))
    }

    fn wait_for_something(&self, spec: &Spec, unread: bool) -> Ready {
        let mut polled: Vec<(Option<usize>, BorrowedFd<'_>)> = Vec::with_capacity(3);
        if self.exited.is_none() {
            polled.push((None, self.pidfd.as_fd()));
        }
        for (index, (_, pipe)) in self.pipes.iter().enumerate() {
            if let Some(pipe) = pipe {
                polled.push((Some(index), pipe.as_fd()));
            }
        }
        let mut entries: Vec<PollFd<'_>> =
            polled.iter().map(|(_, file)| PollFd::from_borrowed_fd(*file, PollFlags::IN)).collect();
        let patience = if unread { PAUSE } else { self.patience(spec) + Duration::from_millis(1) };
        let timeout = Timespec::try_from(patience).ok();
        let began = Instant::now();
        let polled_well = rustix::event::poll(&mut entries, timeout.as_ref()).is_ok();
        let waited = began.elapsed();
        let overslept = waited.saturating_sub(patience);
        let mut ready = Ready { exited: false, pipes: [false; 2], waited, overslept };
        // An interrupted poll is a poll in which nothing happened.
        if !polled_well {
            return ready;
        }
        for ((which, _), entry) in polled.iter().zip(&entries) {
            if !entry.revents().is_empty() {
                match which {
                    None => ready.exited = true,
                    Some(index) => ready.pipes.iter_mut().skip(*index).take(1).for_each(|pipe| *pipe = true),
                }
            }
        }
        ready
    }

    fn read(&mut self, index: usize, buffer: &mut Vec<u8>, since: Instant, watch: &mut dyn Watch) {
        let Some((stream, slot)) = self.pipes.get_mut(index) else { return };
        let Some(pipe) = slot else { return };
        match rustix::io::read(&*pipe, buffer.as_mut_slice()) {
            Ok(0) => *slot = None,
            Ok(count) => {
                if count == buffer.len() && was_full(pipe, count) {
                    self.full += since.elapsed();
                }
                let at_s = self.began.elapsed().as_secs_f64();
                let bytes = buffer.get(..count).unwrap_or_default();
                if let Err(error) = watch.output(*stream, at_s, bytes) {
                    // The process goes on: its exit and its numbers are worth having even without all its output.
                    self.lost_output.get_or_insert(error);
                }
                let is_large = self.enlarged.get_mut(index).filter(|_| count >= READ_AT_ONCE);
                if is_large.is_some_and(|is_large| !std::mem::replace(is_large, true)) {
                    // Without the permission for large pipes the usual size has to do.
                    let _ = rustix::pipe::fcntl_setpipe_size(&*pipe, LARGE_PIPE);
                    buffer.resize(READ_MUCH_AT_ONCE, 0);
                }
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => *slot = None,
        }
    }
}

/// Stored output is read when nothing came for this long.
const PAUSE: Duration = Duration::from_millis(2);
/// If a process never pauses, a piece is read this often, so that people see how far it is.
const UNREAD_AT_MOST: Duration = Duration::from_millis(100);
/// What a pipe is enlarged to where there is much output: enough for the time that reading a piece of it takes.
const LARGE_PIPE: usize = 1024 * 1024;

/// After a read of `count` bytes: whether the pipe was full before it, so that the process may have waited.
fn was_full(pipe: &OwnedFd, count: usize) -> bool {
    let size = rustix::pipe::fcntl_getpipe_size(pipe).unwrap_or(usize::MAX);
    let left = rustix::io::ioctl_fionread(pipe).ok().and_then(|left| usize::try_from(left).ok()).unwrap_or(0);
    // A page of the pipe that is not full takes the place of one that is.
    left.saturating_add(count + 4096) >= size
}

struct Ready {
    exited: bool,
    pipes: [bool; 2],
    /// How long it was waited.
    waited: Duration,
    /// How much longer than it should have been.
    overslept: Duration,
}

fn own_status(ended: &sys::ChildEnd) -> Status {
    match (ended.code, ended.signal) {
        (Some(0), _) => Status::Succeeded,
        (Some(code), _) => Status::Failed { failure: Failure::Exit { code } },
        (None, Some(signal)) => Status::Failed { failure: Failure::Signal { signal } },
        (None, None) => {
            Status::Failed { failure: Failure::Start { reason: "ended without a status".to_owned() } }
        }
    }
}
