//! A Slurm on this machine, started by the project's script and stopped by process id.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// A Slurm that lives as long as the bench.
pub struct Slurm {
    root: PathBuf,
    script: PathBuf,
}

impl Slurm {
    /// Starts it.
    pub fn start() -> anyhow::Result<Slurm> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/slurm");
        let root = std::env::temp_dir().join(format!("assay-slurm-bench-{}", std::process::id()));
        let slurm = Slurm { root, script };
        slurm.control("start")?;
        Ok(slurm)
    }

    fn control(&self, word: &str) -> anyhow::Result<()> {
        // Daemons keep what they inherit: a pipe would never end.
        let log = self.root.with_extension("log");
        let file = File::create(&log)?;
        let mut command = Command::new(&self.script);
        // What a killed bench leaves, the next one stops.
        command.env("ASSAY_SLURM_OWNER", std::process::id().to_string());
        command.arg(word).arg(&self.root).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let status = command.status().context("cannot start scripts/slurm")?;
        ensure!(status.success(), "scripts/slurm {word}: {}", std::fs::read_to_string(&log)?.trim());
        Ok(())
    }

    /// Has a command use it.
    pub fn used_by<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("SLURM_CONF", self.root.join("slurm.conf"))
    }

    fn ask(&self, program: &str, words: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(program);
        let output = self.used_by(command.args(words)).output()?;
        ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Has the controller count calls from zero.
    pub fn reset_calls(&self) -> anyhow::Result<()> {
        self.ask("sdiag", &["--reset"]).map(drop)
    }

    /// Calls of users since then: submissions, and questions about jobs.
    pub fn calls(&self) -> anyhow::Result<u64> {
        Ok(calls(&self.ask("sdiag", &[])?))
    }

    /// Waits until no job is left, and gives how many seconds the last jobs of this name took from the first submission
    /// to the last end.
    pub fn wait_until_empty(&self) -> anyhow::Result<()> {
        while !self.ask("squeue", &["--noheader"])?.trim().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Nothing more can be done about daemons that do not stop.
        let _ = self.control("stop");
        let _ = std::fs::remove_dir_all(&self.root);
        let _ = std::fs::remove_file(self.root.with_extension("log"));
    }
}

/// Kinds of calls that a user's commands make for jobs.
const KINDS: [&str; 5] = [
    "REQUEST_SUBMIT_BATCH_JOB",
    "REQUEST_JOB_INFO",
    "REQUEST_JOB_USER_INFO",
    "REQUEST_JOB_INFO_SINGLE",
    "REQUEST_KILL_JOB",
];

/// The calls in an answer of sdiag: `REQUEST_JOB_INFO ( 2003) count:12 ave_time:…`.
fn calls(text: &str) -> u64 {
    let by_type = text.split("Remote Procedure Call statistics by message type").nth(1).unwrap_or_default();
    let by_type = by_type.split("Remote Procedure Call statistics by user").next().unwrap_or_default();
    let count = |line: &str| {
        let kind = line.split_whitespace().next()?;
        KINDS.contains(&kind).then_some(())?;
        line.split("count:").nth(1)?.split_whitespace().next()?.parse::<u64>().ok()
    };
    by_type.lines().filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_users_are_counted() {
        let text = "Remote Procedure Call statistics by message type\n\
                    \tREQUEST_JOB_INFO ( 2003) count:12 ave_time:1 total_time:2\n\
                    \tMESSAGE_NODE_REGISTRATION_STATUS ( 1002) count:8 ave_time:1\n\
                    \tREQUEST_SUBMIT_BATCH_JOB ( 4003) count:5 ave_time:1\n\n\
                    Remote Procedure Call statistics by user\n\troot ( 0) count:99\n";
        assert_eq!(calls(text), 17);
    }
}
