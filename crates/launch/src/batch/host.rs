//! Where scheduler commands run and run directories are: this host, or another one through the system's ssh. ssh itself
//! reads its configuration, uses the agent and asks for passwords; one connection is kept open for all commands.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};

use assay_campaign::shell::quoted;
use assay_store::RecordPermissions;

use super::{JOBS, archive};

/// A scheduler command that takes longer than this does not answer.
const LONGEST_S: u32 = 60;
/// Moving files may take longer than asking a scheduler.
const LONGEST_COPY_S: u32 = 600;
/// A scheduler command that prints more than this is not listened to any longer.
const MOST_PRINTED: u64 = 64 << 20;
/// What is kept of the errors that a command prints.
const MOST_ERRORS: u64 = 64 << 10;
/// Where files of another host are unpacked in a record before they are moved to their places.
const INCOMING: &str = "incoming";

/// A host.
#[derive(Debug, Clone)]
pub struct Host {
    destination: Option<String>,
    control: PathBuf,
}

/// What a command answered.
#[derive(Debug, Clone, Default)]
pub struct CommandOutput {
    /// Whether it ended well.
    pub is_success: bool,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error, as text.
    pub stderr: String,
}

impl CommandOutput {
    /// The output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// What went wrong, in one line.
    pub fn reason(&self) -> String {
        let text = format!("{}\n{}", self.stderr, String::from_utf8_lossy(&self.stdout));
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() { "no answer".to_owned() } else { lines.join("; ") }
    }
}

impl Host {
    /// This host, or the one that ssh calls so.
    pub fn new(destination: Option<&str>) -> Host {
        // A socket's path is short by law, and the directory must be the user's own.
        let control = std::env::var_os("XDG_RUNTIME_DIR")
            .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".ssh").into()));
        let control = control.map_or_else(std::env::temp_dir, PathBuf::from).join("assay-%C");
        Host { destination: destination.map(str::to_owned), control }
    }

    /// Whether it is another host.
    pub fn is_remote(&self) -> bool {
        self.destination.is_some()
    }

    /// Runs a command.
    pub fn run(&self, words: &[String], input: &[u8]) -> Result<CommandOutput, String> {
        self.run_up_to(MOST_PRINTED, words, input)
    }

    /// Runs a command that may print this many bytes.
    pub(super) fn run_up_to(
        &self,
        most: u64,
        words: &[String],
        input: &[u8],
    ) -> Result<CommandOutput, String> {
        let take = |stdout: &mut ChildStdout| {
            let mut bytes = Vec::new();
            stdout.take(most + 1).read_to_end(&mut bytes)?;
            match bytes.len() as u64 > most {
                true => Err(io::Error::other(format!("it printed more than {} MB", most >> 20))),
                false => Ok(bytes),
            }
        };
        let (mut output, stdout) = self.run_within(LONGEST_S, words, input, take)?;
        output.stdout = stdout;
        Ok(output)
    }

    /// Runs a command whose output is taken by a function.
    fn run_within<T: Send>(
        &self,
        longest_s: u32,
        words: &[String],
        input: &[u8],
        take: impl FnOnce(&mut ChildStdout) -> io::Result<T> + Send,
    ) -> Result<(CommandOutput, T), String> {
        let command = self.command(words, longest_s);
        let program = words.first().cloned().unwrap_or_default();
        let ended = run_in_thread(command, input, take)
            .map_err(|error| format!("cannot start `{program}`: {error}"))?;
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        match ended.status.code() {
            Some(124) => return Err(format!("`{program}` did not answer within {longest_s} s")),
            Some(127) => return Err(format!("there is no `{program}` {}", self.place())),
            Some(255) if self.is_remote() => return Err(format!("ssh {}: {}", self.place(), stderr.trim())),
            _ => {}
        }
        let is_success = ended.status.code() == Some(0);
        match ended.taken {
            Ok(taken) => Ok((CommandOutput { is_success, stdout: Vec::new(), stderr }, taken)),
            // What the command itself says of its failure explains more than a cut answer.
            Err(_) if !is_success && !stderr.trim().is_empty() => {
                Err(format!("`{program}`: {}", stderr.trim()))
            }
            Err(error) => Err(format!("`{program}`: {error}")),
        }
    }

    /// The host in words.
    pub fn place(&self) -> String {
        match &self.destination {
            Some(destination) => format!("on {destination}"),
            None => "on this host".to_owned(),
        }
    }

    fn command(&self, words: &[String], longest_s: u32) -> Command {
        let limit = ["timeout".to_owned(), "--kill-after=5".to_owned(), longest_s.to_string()];
        match &self.destination {
            None => {
                let mut command = Command::new("timeout");
                command.args(limit.iter().skip(1)).args(words);
                command
            }
            Some(destination) => {
                let mut command = Command::new("ssh");
                let control = format!("ControlPath={}", self.control.display());
                command.args(["-o", "ControlMaster=auto", "-o", "ControlPersist=600", "-o", &control]);
                command.args(["-o", "ServerAliveInterval=15", "--", destination]);
                let line: Vec<String> = limit.iter().chain(words).map(|word| quoted(word)).collect();
                command.arg(line.join(" "));
                command
            }
        }
    }

    /// Copies files and directories of a record to another host, under `root` there.
    pub fn push(&self, record: &Path, names: &[String], root: &Path) -> Result<(), String> {
        if !self.is_remote() {
            return Ok(());
        }
        let mut pack = Command::new("tar");
        pack.arg("-C").arg(record).args(["-cf", "-", "--"]).args(names);
        let packed =
            run_in_thread(pack, &[], whole).map_err(|error| format!("cannot start `tar`: {error}"))?;
        if !packed.status.success() {
            return Err(format!("tar: {}", String::from_utf8_lossy(&packed.stderr).trim()));
        }
        let bytes = packed.taken.map_err(|error| format!("tar: {error}"))?;
        let root = quoted(&root.display().to_string());
        let words = shell(&format!("umask 077; mkdir -p {root} && tar -C {root} -xf -"));
        let (answer, _) = self.run_within(LONGEST_COPY_S, &words, &bytes, whole)?;
        if answer.is_success { Ok(()) } else { Err(format!("cannot copy files there: {}", answer.reason())) }
    }

    /// Copies directories of another host back into the record, without their links. What the host sends reaches the
    /// record only through an empty directory, and only where it was requested.
    pub fn pull(
        &self,
        record: &Path,
        names: &[String],
        root: &Path,
        permissions: RecordPermissions,
    ) -> Result<(), String> {
        if !self.is_remote() || names.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let root = quoted(&root.display().to_string());
        let words = shell(&format!("tar -C {root} -cf - -- {}", list.join(" ")));
        let incoming = Incoming::create(record, permissions)
            .map_err(|error| format!("cannot make a directory for files of another host: {error}"))?;
        let unpack = |stdout: &mut ChildStdout| archive::unpack(stdout, names, &incoming.0, permissions);
        let (answer, ()) = self.run_within(LONGEST_COPY_S, &words, &[], unpack)?;
        if !answer.is_success {
            return Err(format!("cannot copy files back: {}", answer.reason()));
        }
        archive::move_into_place(&incoming.0, record, permissions)
            .map_err(|error| format!("cannot copy files back: {error}"))
    }
}

/// An empty directory for what another host sends, which goes with everything left in it.
struct Incoming(PathBuf);

impl Incoming {
    fn create(record: &Path, permissions: RecordPermissions) -> io::Result<Incoming> {
        let path = record.join(JOBS).join(INCOMING);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        permissions.create_new_directory(&path)?;
        Ok(Incoming(path))
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // What stays is removed before the next use.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The words that have a shell run a text.
pub fn shell(text: &str) -> Vec<String> {
    ["sh", "-c", text].map(str::to_owned).to_vec()
}

fn whole(stdout: &mut ChildStdout) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stdout.read_to_end(&mut bytes).map(|_| bytes)
}

/// How a command ended.
struct Ended<T> {
    status: ExitStatus,
    stderr: Vec<u8>,
    /// What was made of its output.
    taken: io::Result<T>,
}

/// Runs a command from a thread of its own: children of the main thread are taken for leftovers of local runs.
fn run_in_thread<T: Send>(
    mut command: Command,
    input: &[u8],
    take: impl FnOnce(&mut ChildStdout) -> io::Result<T> + Send,
) -> io::Result<Ended<T>> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let gone = || io::Error::other("the command's thread ended");
    std::thread::scope(|scope| {
        let run = std::thread::Builder::new().spawn_scoped(scope, || {
            let mut child = command.spawn()?;
            let (pipe, errors, output) = (child.stdin.take(), child.stderr.take(), child.stdout.take());
            std::thread::scope(|scope| {
                // Written and read from beside, so that neither side waits for the other.
                let write = || pipe.map(|mut pipe| pipe.write_all(input));
                std::thread::Builder::new().spawn_scoped(scope, write)?;
                let errors = std::thread::Builder::new().spawn_scoped(scope, || beginning(errors))?;
                let taken = output.ok_or_else(gone).and_then(|mut output| take(&mut output));
                // Its output is closed now: a command that would go on printing ends.
                let stderr = errors.join().map_err(|_| gone())?;
                Ok(Ended { status: child.wait()?, stderr, taken })
            })
        })?;
        run.join().unwrap_or_else(|_| Err(gone()))
    })
}

/// The first bytes of what a command prints as errors; the others are read, so that it does not wait.
fn beginning(errors: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut errors) = errors {
        // An error that cannot be read is one that is not shown.
        let _ = errors.by_ref().take(MOST_ERRORS).read_to_end(&mut bytes);
        let _ = io::copy(&mut errors, &mut io::sink());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_prints_without_end_is_left() {
        let host = Host::new(None);
        let endless = shell("yes");
        let error = host.run_up_to(1 << 20, &endless, &[]).unwrap_err();
        assert!(error.contains("printed more than 1 MB"), "{error}");
        let noisy = shell("head -c 300000 /dev/zero >&2; cat");
        let answer = host.run(&noisy, b"input").unwrap();
        assert_eq!((answer.text().as_str(), answer.stderr.len()), ("input", 64 << 10));
    }
}
