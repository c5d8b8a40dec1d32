//! Where scheduler commands run and run directories are: this host, or another one through the system's ssh. ssh itself
//! reads its configuration, uses the agent and asks for passwords; one connection is kept open for all commands.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assay_campaign::shell::quoted;

/// A scheduler command that takes longer than this does not answer.
const LONGEST_S: u32 = 60;
/// Moving files may take longer than asking a scheduler.
const LONGEST_COPY_S: u32 = 600;

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
        self.run_within(LONGEST_S, words, input)
    }

    fn run_within(&self, longest_s: u32, words: &[String], input: &[u8]) -> Result<CommandOutput, String> {
        let command = self.command(words, longest_s);
        let program = words.first().cloned().unwrap_or_default();
        let output =
            run_in_thread(command, input).map_err(|error| format!("cannot start `{program}`: {error}"))?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(124) => Err(format!("`{program}` did not answer within {longest_s} s")),
            Some(127) => Err(format!("there is no `{program}` {}", self.place())),
            Some(255) if self.is_remote() => Err(format!("ssh {}: {}", self.place(), stderr.trim())),
            code => Ok(CommandOutput { is_success: code == Some(0), stdout: output.stdout, stderr }),
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
        let packed = run_in_thread(pack, &[]).map_err(|error| format!("cannot start `tar`: {error}"))?;
        if !packed.status.success() {
            return Err(format!("tar: {}", String::from_utf8_lossy(&packed.stderr).trim()));
        }
        let root = quoted(&root.display().to_string());
        let words = shell(&format!("umask 077; mkdir -p {root} && tar -C {root} -xf -"));
        let answer = self.run_within(LONGEST_COPY_S, &words, &packed.stdout)?;
        if answer.is_success { Ok(()) } else { Err(format!("cannot copy files there: {}", answer.reason())) }
    }

    /// Copies directories of another host back into the record. Their links are not followed.
    pub fn pull(&self, record: &Path, names: &[String], root: &Path) -> Result<(), String> {
        if !self.is_remote() || names.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let root = quoted(&root.display().to_string());
        let words = shell(&format!("tar -C {root} -cf - -- {}", list.join(" ")));
        let answer = self.run_within(LONGEST_COPY_S, &words, &[])?;
        if !answer.is_success {
            return Err(format!("cannot copy files back: {}", answer.reason()));
        }
        let mut unpack = Command::new("tar");
        unpack.arg("-C").arg(record).args(["--no-same-owner", "-xf", "-"]);
        let unpacked = run_in_thread(unpack, &answer.stdout).map_err(|error| error.to_string())?;
        match unpacked.status.success() {
            true => Ok(()),
            false => Err(format!("tar: {}", String::from_utf8_lossy(&unpacked.stderr).trim())),
        }
    }
}

/// The words that have a shell run a text.
pub fn shell(text: &str) -> Vec<String> {
    ["sh", "-c", text].map(str::to_owned).to_vec()
}

/// Runs a command from a thread of its own: children of the main thread are taken for leftovers of local runs.
fn run_in_thread(mut command: Command, input: &[u8]) -> std::io::Result<Output> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::thread::scope(|scope| {
        let run = std::thread::Builder::new().spawn_scoped(scope, || {
            let mut child = command.spawn()?;
            let pipe = child.stdin.take();
            std::thread::scope(|scope| {
                // Written from beside, so that neither side waits for the other.
                let write = || pipe.map(|mut pipe| pipe.write_all(input));
                std::thread::Builder::new().spawn_scoped(scope, write)?;
                child.wait_with_output()
            })
        })?;
        run.join().unwrap_or_else(|_| Err(std::io::Error::other("the command's thread ended")))
    })
}
