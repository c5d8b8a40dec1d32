//! Campaigns through a simulated PBS, and on another host through a real sshd on loopback. Ignored unless asked for,
//! because it needs openssh-server: `./dev test` asks for it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "slurm/ssh.rs"]
mod ssh;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A directory with a platform and a campaign.
struct Place {
    directory: tempfile::TempDir,
    path: String,
}

/// What runs count their starts with.
const COUNTED: &str = "echo x >> {campaign_directory}/started-{index}; echo speed={index} samples/s";

impl Place {
    fn new(platform: &str, command: &str) -> Place {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("platforms")).unwrap();
        std::fs::create_dir(directory.path().join("bin")).unwrap();
        std::fs::write(directory.path().join("platforms/there.toml"), format!("name = 'there'\n{platform}"))
            .unwrap();
        let campaign = format!(
            "name = 'test'\n[workload]\ncommand = \"{command}\"\n[vary]\nindex = [1, 2, 3, 4, 5]\n[run]\n\
             platforms = ['there']\n[repeats]\nat_least = 1\n[read]\nheadline = 'duration.wall'\n"
        );
        std::fs::write(directory.path().join("test.toml"), campaign).unwrap();
        let path = format!("{}:{}", directory.path().join("bin").display(), std::env::var("PATH").unwrap());
        Place { directory, path }
    }

    fn link(&self, name: &str, target: &Path) {
        symlink(target, self.directory.path().join("bin").join(name)).unwrap();
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.directory.path().join("bin").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .args(words)
            .current_dir(self.directory.path())
            .env("PATH", &self.path)
            .env("PBS_SIMULATOR", self.directory.path().join("pbs"))
            .env("XDG_RUNTIME_DIR", self.directory.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    fn assay(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }

    fn starts(&self) -> Vec<usize> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap().flatten();
        let started = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("started-"));
        started.map(|entry| std::fs::read_to_string(entry.path()).unwrap().lines().count()).collect()
    }

    /// Kills the coordinator at several instants, then lets it finish.
    fn survives_kills(&self) {
        for pause in [30, 90, 150, 210, 400] {
            let mut coordinator: Child = self
                .command(&["run", "test.toml"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(pause));
            coordinator.kill().unwrap();
            coordinator.wait().unwrap();
        }
        let (code, text) = self.assay(&["run", "test.toml"]);
        assert_eq!((code, self.starts()), (0, vec![1; 5]), "{text}");
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name).canonicalize().unwrap()
}

fn with_simulated_pbs(platform: &str, command: &str) -> Place {
    let place = Place::new(&format!("launcher = 'pbs'\n[batch]\npoll = '100 ms'\n{platform}"), command);
    for name in ["qsub", "qselect", "qstat", "qdel"] {
        place.link(name, &script("pbs-simulator"));
    }
    place
}

#[test]
#[ignore = "run by ./dev test"]
fn campaigns_through_a_simulated_pbs() {
    let place = with_simulated_pbs("account = 'project'\nfilesystems = 'home'\ntime = '10 min'", COUNTED);
    let (_, scripts) = place.assay(&["plan", "--scripts", "test.toml"]);
    for line in
        ["#PBS -A project", "#PBS -l select=1", "#PBS -l walltime=00:10:00", "#PBS -l filesystems=home"]
    {
        assert!(scripts.contains(line), "{scripts}");
    }
    place.survives_kills();
    let refused = with_simulated_pbs("", COUNTED);
    let (code, text) = refused.assay(&["run", "test.toml"]);
    assert!(code == 3 && text.contains("Account_Name is mandatory"), "{text}");
    let failing = with_simulated_pbs("account = 'x'\npack = 5", "exit {index}");
    let (code, text) = failing.assay(&["run", "test.toml"]);
    assert!(code == 3 && text.contains("exit code 3"), "{text}");
}

/// Copies a campaign of an accelerator into a place, with its configuration files and some changes.
fn with_seed(place: &Place, name: &str, changes: &[(&str, &str)]) {
    let folder = script("..").join("campaigns/seeds");
    let mut text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{name}: no `{from}`");
        text = text.replace(from, to);
    }
    std::fs::write(place.directory.path().join("seed.toml"), text).unwrap();
    let copied = place.directory.path().join("cerebras");
    std::fs::create_dir(&copied).unwrap();
    for file in ["bert-large.yaml", "llama-7b.yaml"] {
        std::fs::copy(folder.join("cerebras").join(file), copied.join(file)).unwrap();
    }
}

/// A stand-in for a vendor's program: prints a generated log.
fn printing(log: &str) -> String {
    format!("#!/bin/sh\nexec '{}' sample {log} --seed $$\n", env!("CARGO_BIN_EXE_assay"))
}

#[test]
#[ignore = "run by ./dev test"]
fn the_groq_campaign_goes_through_a_simulated_pbs() {
    let place = with_simulated_pbs("", COUNTED);
    let changes = [
        (". ~/miniconda3/etc/profile.d/conda.sh", "true"),
        ("conda activate groqflow", "true"),
        ("[platform.groqrack]\n", "[platform.groqrack]\npoll = \"100 ms\"\n"),
        ("at_least = 10", "at_least = 2"),
    ];
    with_seed(&place, "groq-bert", &changes);
    place.program("python", &printing("groq"));
    let (code, text) = place.assay(&["run", "seed.toml", "--on", "groqrack"]);
    assert!(code == 0 && text.contains("inferences_per_s"), "{text}");
    let (code, text) = place.assay(&["run", "seed.toml", "--on", "replay"]);
    assert!(code == 0 && text.contains("nobody measured these numbers"), "{text}");
}

/// The appliance has no scheduler: the campaign runs on its user node, with a configuration file for each run.
#[test]
#[ignore = "run by ./dev test"]
fn the_cerebras_campaigns_run_on_a_user_node() {
    for (name, program, log, batch) in [
        ("cerebras-bert-batch", "python", "cerebras --set batch-size=$batch", "train_input:"),
        (
            "cerebras-llama-batch",
            "cszoo",
            "cerebras --set release=2.6 --set model=llama --set batch-size=$batch",
            "trainer:",
        ),
    ] {
        let place = Place::new("launcher = 'local'", COUNTED);
        with_seed(&place, name, &[("at_least = 6", "at_least = 2")]);
        // The batch size that the log shows is that of the configuration file.
        let find = "for word; do case $word in *.yaml) file=$word ;; esac; done\n\
                    batch=$(sed -n 's/^ *batch_size: //p' $file)\n";
        let check = format!("grep -q '^{batch}' $file || exit 9\n");
        let text = printing(log).replace("#!/bin/sh\n", &format!("#!/bin/sh\n{find}{check}"));
        place.program(program, &text);
        let (code, text) = place.assay(&["run", "seed.toml", "--on", "cerebras-cs3"]);
        assert!(code == 0 && text.contains("samples_per_s.loop") && text.contains("2048"), "{name}: {text}");
        let (code, text) = place.assay(&["run", "seed.toml", "--on", "replay"]);
        assert!(code == 0 && text.contains("nobody measured these numbers"), "{name}: {text}");
    }
}

#[test]
#[ignore = "needs openssh-server; run by ./dev test"]
fn campaigns_on_another_host() {
    let there = tempfile::tempdir().unwrap();
    let platform = format!(
        "launcher = 'local'\nhost = 'there-host'\n[batch]\npoll = '200 ms'\nqueued = 5\ndirectory = '{}'\n",
        there.path().display()
    );
    let place = Place::new(&platform, &format!("{COUNTED}; echo made > {{run_directory}}/artifact"));
    let _server = ssh::serve(place.directory.path(), "LC_TEST=1");
    let (code, text) = place.assay(&["run", "test.toml"]);
    assert_eq!((code, place.starts()), (0, vec![1; 5]), "{text}");
    let record = place.directory.path().join("records/test/runs");
    let (mut artifacts, mut logs) = (0, 0);
    for cell in std::fs::read_dir(record).unwrap().flatten() {
        for run in std::fs::read_dir(cell.path()).unwrap().flatten() {
            artifacts += usize::from(run.path().join("artifact").exists());
            logs += usize::from(
                std::fs::read_to_string(run.path().join("stdout.log")).unwrap().contains("speed="),
            );
        }
    }
    assert_eq!((artifacts, logs), (5, 5), "files are copied back");
}
