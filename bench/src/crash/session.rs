//! One `assay run` from its start to its end or its killing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context, anyhow};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::ExitStatusExt;

use super::audit::{Acknowledged, acknowledged};
use crate::place::Place;

/// When a coordinator is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kill {
    /// After so long.
    After(Duration),
    /// Instead of the so-many-th call of this kind in any one thread.
    Call(Calls, u32),
    /// After so long, while every process it starts is held for a while between fork and exec.
    Spawning(Duration),
}

/// Kinds of system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Calls {
    /// Those that start a process or follow its start.
    Spawn,
    /// Those that write.
    Write,
    /// Those that make durable.
    Sync,
    /// Those that change names: make, move and remove files and directories.
    Name,
    /// Those that wait for a child or take its pipes apart.
    End,
}

impl Calls {
    /// All kinds.
    pub const ALL: [Calls; 5] = [Calls::Spawn, Calls::Write, Calls::Sync, Calls::Name, Calls::End];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Calls::Spawn => "spawn",
            Calls::Write => "write",
            Calls::Sync => "sync",
            Calls::Name => "mkdir, open, rename, unlink",
            Calls::End => "wait, close",
        }
    }

    /// The calls' names. A question mark allows for names that this architecture lacks.
    fn names(self) -> &'static str {
        match self {
            Calls::Spawn => "?clone,?clone3,?vfork,?fork,?pidfd_open,?pipe2,?sched_setaffinity",
            Calls::Write => "?write,?pwrite64,?writev",
            Calls::Sync => "?fdatasync,?fsync",
            Calls::Name => {
                "?mkdir,?mkdirat,?open,?openat,?rename,?renameat,?renameat2,?unlink,?unlinkat,?ftruncate"
            }
            Calls::End => "?wait4,?waitid,?close,?kill",
        }
    }

    /// About how many such calls the busiest thread makes in a session.
    pub fn usual(self) -> u32 {
        match self {
            Calls::Spawn => 200,
            Calls::Write => 600,
            Calls::Sync => 160,
            Calls::Name => 300,
            Calls::End => 400,
        }
    }
}

/// How long a started process is held between fork and exec.
const HOLD: Duration = Duration::from_millis(60);

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEnd {
    /// It was killed.
    Killed,
    /// It ran to its end.
    Complete,
    /// It was refused because someone else holds the record.
    Refused,
    /// It failed in another way, with what it output last.
    Failed(String),
}

/// A running session.
pub struct Session {
    child: Child,
    listener: Option<JoinHandle<SessionOutput>>,
    kill: Option<Kill>,
    began: Instant,
}

/// What a session output before it ended.
#[derive(Debug, Default)]
struct SessionOutput {
    acknowledged: Vec<Acknowledged>,
    rest: Vec<String>,
}

impl Session {
    /// Starts `assay run` with four jobs in the directory of a campaign.
    pub fn start(place: &Place, directory: &Path, kill: Option<Kill>) -> anyhow::Result<Session> {
        let mut command = match kill {
            None | Some(Kill::After(_)) => Command::new(&place.assay),
            Some(Kill::Call(calls, number)) => {
                let names = calls.names();
                let injection = format!("inject={names}:signal=SIGKILL:when={number}");
                traced(place, &[format!("trace={names}"), injection])?
            }
            Some(Kill::Spawning(_)) => {
                let injection = format!("inject=execve:delay_enter={}", HOLD.as_micros());
                traced(place, &["trace=execve".to_owned(), injection])?
            }
        };
        let began = Instant::now();
        let mut child = command
            .args(["run", "campaign.toml", "--jobs", "4"])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let stderr = child.stderr.take().context("no standard error")?;
        let listener = Some(thread::spawn(move || listen(stderr)));
        Ok(Session { child, listener, kill, began })
    }

    /// Waits until it is time, and kills the coordinator. True if the session is still to be concluded because
    /// processes between fork and exec outlive their coordinator; the successor should meet them.
    pub fn strike(&mut self) -> anyhow::Result<bool> {
        match self.kill {
            None | Some(Kill::Call(..)) => Ok(false),
            Some(Kill::After(delay)) => {
                self.sleep_until(delay)?;
                // Killing a child that has ended but was not waited for does nothing.
                self.child.kill()?;
                Ok(false)
            }
            Some(Kill::Spawning(delay)) => {
                self.sleep_until(delay)?;
                let Some(coordinator) = only_child(self.child.id()) else { return Ok(false) };
                let killed =
                    Pid::from_raw(coordinator).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok());
                wait_for_end(coordinator);
                Ok(killed)
            }
        }
    }

    /// Waits for its end.
    pub fn conclude(mut self) -> anyhow::Result<(SessionEnd, Vec<Acknowledged>)> {
        let status = self.child.wait()?;
        let output = self.listener.take().context("already concluded")?.join();
        let output = output.map_err(|_| anyhow!("the listener ended unexpectedly"))?;
        Ok((ending(status, &output), output.acknowledged))
    }

    /// Sleeps until it is time, or the session has ended by itself.
    fn sleep_until(&mut self, delay: Duration) -> anyhow::Result<()> {
        while let Some(left) = delay.checked_sub(self.began.elapsed()) {
            if left > Duration::from_millis(20) && self.child.try_wait()?.is_some() {
                return Ok(());
            }
            thread::sleep(left.min(Duration::from_millis(20)));
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Only on the way out of a failure is there anything left to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ending(status: ExitStatus, output: &SessionOutput) -> SessionEnd {
    if status.success() {
        SessionEnd::Complete
    } else if status.signal() == Some(Signal::KILL.as_raw()) {
        SessionEnd::Killed
    } else if output.rest.iter().any(|line| line.contains("is in use by")) {
        SessionEnd::Refused
    } else {
        let first = output.rest.len().saturating_sub(10);
        SessionEnd::Failed(format!("{status}\n{}", output.rest.get(first..).unwrap_or_default().join("\n")))
    }
}

/// Reads what a session prints until its end. A line that was cut short acknowledges nothing.
fn listen(stderr: ChildStderr) -> SessionOutput {
    let mut output = SessionOutput::default();
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        match acknowledged(&text) {
            Some(run) if line.ends_with(b"\n") => output.acknowledged.push(run),
            _ => output.rest.push(text),
        }
        line.clear();
    }
    output
}

/// The tracer, where it is installed.
pub fn tracer() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join("strace")).find(|file| file.is_file())
}

/// The binary under the tracer. It follows threads, and lets go of processes when they become another program.
fn traced(place: &Place, expressions: &[String]) -> anyhow::Result<Command> {
    let mut command = Command::new(tracer().context("strace is not installed")?);
    command.args(["-f", "-b", "execve", "-qq", "-o", "/dev/null", "-e", "signal=none"]);
    for expression in expressions {
        command.args(["-e", expression]);
    }
    command.arg("--").arg(&place.assay);
    Ok(command)
}

/// The first child of a process with one thread.
fn only_child(pid: u32) -> Option<i32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// Waits until a process that was killed is gone or waits to be reaped.
fn wait_for_end(pid: i32) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return };
        if stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])) {
            return;
        }
        thread::sleep(Duration::from_micros(200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cut_short_acknowledge_nothing() {
        let mut child = Command::new("sh")
            .args(["-c", "printf '[1/2] a=1 r1  1 ms\\nhello\\n[2/2] a=2 r1  1 ms' >&2"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = listen(child.stderr.take().unwrap());
        child.wait().unwrap();
        assert_eq!((output.acknowledged.len(), output.rest.len()), (1, 2));
    }
}
