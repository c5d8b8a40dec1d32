//! One call of the binary under attack: it must end in time, in bounded memory, without a panic.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::place::Place;

/// How long an attacked command may take. A machine that is busy elsewhere needs patience.
const PATIENCE: Duration = Duration::from_secs(30);
/// Memory that no attack may exceed.
const MOST_BYTES: u64 = 1 << 30;

/// How a call ended.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub out: String,
    pub messages: String,
    pub peak_bytes: u64,
    pub wall_s: f64,
}

impl Ended {
    /// Both streams, for searching.
    pub fn all(&self) -> String {
        format!("{}\n{}", self.out, self.messages)
    }

    /// Fails unless the exit code is one of these.
    pub fn expect(&self, codes: &[i32]) -> anyhow::Result<&Ended> {
        match self.code {
            Some(code) if codes.contains(&code) => Ok(self),
            _ => bail!(
                "exit code {:?}, signal {:?} instead of {codes:?}: {}",
                self.code,
                self.signal,
                self.messages.lines().take(3).collect::<Vec<_>>().join(" / ")
            ),
        }
    }

    /// Fails unless a message has this text.
    pub fn says(&self, text: &str) -> anyhow::Result<&Ended> {
        ensure!(self.all().contains(text), "nothing says `{text}`: {}", self.all().trim());
        Ok(self)
    }
}

/// A directory in which the binary is attacked.
pub struct AttackScene<'a> {
    place: &'a Place,
    pub directory: PathBuf,
}

impl<'a> AttackScene<'a> {
    pub fn new(place: &'a Place) -> anyhow::Result<AttackScene<'a>> {
        Ok(AttackScene { place, directory: place.fresh("abuse")?.canonicalize()? })
    }

    /// A scene in a directory that exists.
    pub fn at(place: &'a Place, directory: &Path) -> AttackScene<'a> {
        AttackScene { place, directory: directory.to_owned() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, contents).with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn fifo(&self, path: &Path) -> anyhow::Result<()> {
        let status = Command::new("mkfifo").arg(path).status()?;
        ensure!(status.success(), "mkfifo failed");
        Ok(())
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.assay(&self.directory);
        command.args(arguments);
        command
    }

    pub fn assay(&self, arguments: &[&str]) -> anyhow::Result<Ended> {
        self.attack(&mut self.command(arguments))
    }

    /// Runs a command to its end. That it panics, takes too long or too much memory is an error.
    pub fn attack(&self, command: &mut Command) -> anyhow::Result<Ended> {
        self.attack_for(command, PATIENCE, MOST_BYTES)
    }

    pub fn attack_for(&self, command: &mut Command, patience: Duration, most: u64) -> anyhow::Result<Ended> {
        let outputs = tempfile::tempdir()?;
        let (out, messages) = (outputs.path().join("out"), outputs.path().join("messages"));
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&messages)?);
        let began = Instant::now();
        let child = command.process_group(0).spawn()?;
        let (status, peak_bytes) = wait(child, began + patience)?;
        let read = |path: &Path| -> anyhow::Result<String> {
            Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
        };
        let ended = Ended {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            out: read(&out)?,
            messages: read(&messages)?,
            peak_bytes,
            wall_s: began.elapsed().as_secs_f64(),
        };
        ensure!(status.is_some(), "still running after {} s", patience.as_secs());
        ensure!(!ended.messages.contains("panicked at"), "it panicked: {}", ended.messages);
        ensure!(peak_bytes <= most, "it took {} MB of memory", peak_bytes >> 20);
        Ok(ended)
    }
}

/// Waits until a deadline and watches the memory meanwhile; what is left then is killed.
fn wait(mut child: Child, deadline: Instant) -> anyhow::Result<(Option<std::process::ExitStatus>, u64)> {
    let mut peak = 0;
    loop {
        peak = peak.max(peak_of(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), peak));
        }
        if Instant::now() >= deadline {
            kill_process_group(Pid::from_child(&child), Signal::KILL)?;
            child.wait()?;
            return Ok((None, peak));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn peak_of(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}
