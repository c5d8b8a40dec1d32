//! A Slurm of this machine for tests, and directories with a platform and a campaign.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A Slurm that lives as long as the tests.
pub struct Slurm {
    root: PathBuf,
    script: PathBuf,
    has_accounting: bool,
}

impl Slurm {
    /// Starts it; with an accounting database where that is wanted.
    pub fn start(has_accounting: bool) -> Slurm {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/slurm");
        // Other checkouts may be tested at the same time.
        let root = std::env::temp_dir().join(format!("assay-slurm-test-{}", std::process::id()));
        let slurm = Slurm { root, script, has_accounting };
        let output = slurm.control(&["start"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        slurm
    }

    pub fn control(&self, words: &[&str]) -> Output {
        let mut command = Command::new(&self.script);
        command.args(words).arg(&self.root);
        command.env("ASSAY_SLURM_ACCOUNTING", if self.has_accounting { "1" } else { "" });
        // What a killed test leaves, the next one stops.
        command.env("ASSAY_SLURM_OWNER", std::process::id().to_string());
        // Daemons keep what they inherit: a pipe would never end.
        let log = self.root.with_extension("log");
        let file = std::fs::File::create(&log).unwrap();
        let status =
            command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).status().unwrap();
        Output { status, stdout: Vec::new(), stderr: std::fs::read(&log).unwrap() }
    }

    pub fn configuration(&self) -> PathBuf {
        self.root.join("slurm.conf")
    }

    pub fn ask(&self, program: &str, words: &[&str]) -> String {
        let output =
            Command::new(program).args(words).env("SLURM_CONF", self.configuration()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.control(&["stop"]);
        // The logs are worth keeping where the test failed.
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.root);
            let _ = std::fs::remove_file(self.root.with_extension("log"));
        }
    }
}

/// A directory with a platform and a campaign.
pub struct Place<'a> {
    slurm: &'a Slurm,
    pub directory: tempfile::TempDir,
}

impl<'a> Place<'a> {
    pub fn new(slurm: &'a Slurm, batch: &str, campaign: &str) -> Place<'a> {
        // On the tests' own disk: the run directories of all nodes are the same files.
        let directory = tempfile::tempdir().unwrap();
        let platform = format!(
            "name = 'cluster'\nlauncher = 'slurm'\n[limits]\ndevice = 'ipu'\n[batch]\npoll = '100 ms'\n\
             devices = '--gres=ipu:{{devices}}'\n{batch}"
        );
        std::fs::create_dir(directory.path().join("platforms")).unwrap();
        std::fs::write(directory.path().join("platforms/cluster.toml"), platform).unwrap();
        let campaign = format!("name = 'test'\n{campaign}\n[read]\nheadline = 'duration.wall'\n");
        std::fs::write(directory.path().join("test.toml"), campaign).unwrap();
        Place { slurm, directory }
    }

    pub fn command(&self, words: &[&str]) -> Command {
        self.around(env!("CARGO_BIN_EXE_assay"), words)
    }

    /// Another program, here and with the same Slurm.
    pub fn around(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(self.directory.path())
            .env("SLURM_CONF", self.slurm.configuration())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end: exit code, and all that it printed.
    pub fn assay(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }

    pub fn run(&self) -> (i32, String) {
        self.assay(&["run", "test.toml"])
    }

    /// Starts `run` and leaves it running.
    pub fn begin(&self) -> Child {
        self.command(&["run", "test.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub fn query(&self, sql: &str) -> String {
        let (code, text) = self.assay(&["query", sql, "test"]);
        assert_eq!(code, 0, "{text}");
        text
    }

    /// How often the runs' own command was started: each start adds a line to a file of the run's name.
    pub fn starts(&self) -> Vec<usize> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap().flatten();
        let started = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("started-"));
        started.map(|entry| std::fs::read_to_string(entry.path()).unwrap().lines().count()).collect()
    }

    /// The job that was submitted last.
    pub fn job(&self) -> String {
        let submitted = || {
            let journal = std::fs::read_to_string(self.directory.path().join("records/test/journal.jsonl"));
            let journal = journal.unwrap_or_default();
            let (_, rest) = journal.rsplit_once("\"job\":\"")?;
            Some(rest.split('"').next()?.to_owned())
        };
        self.wait_for("the answer to a submission", || submitted().is_some());
        submitted().unwrap()
    }

    pub fn wait_for(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60), "{what} did not happen");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn has_started(&self) -> bool {
        !self.starts().is_empty()
    }
}

/// A campaign of one command on the cluster.
pub fn campaign(command: &str, vary: &str, more: &str) -> String {
    format!(
        "[workload]\ncommand = \"{command}\"\n[vary]\nindex = [{vary}]\n{more}\n[run]\nplatforms = ['cluster']\n\
         [repeats]\nat_least = 1"
    )
}

/// A command that counts its starts beside the campaign file.
pub const COUNTED: &str =
    "echo x >> {campaign_directory}/started-{index}; sleep 0.3; echo speed={index} samples/s";
