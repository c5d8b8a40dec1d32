//! What the tests of whole records share.

use std::path::Path;
use std::process::Command;

use assay_model::{Entry, Observation, Origin, RunId, RunResult, Status, Unit};
use assay_store::{Identity, relative_run_directory};
use tempfile::TempDir;

pub fn identity() -> Identity {
    let (name, program, host) = ("nightly".into(), "0.1.0".into(), "here".into());
    Identity { name, now: 1_772_368_496.5, program, host, pid: 4711 }
}

pub fn run(repeat: u32) -> RunId {
    RunId { cell: "00000000000000aa@local".parse().unwrap(), repeat, attempt: 1 }
}

pub fn launching(run: &RunId) -> Entry {
    Entry::Launching { run: run.clone(), at: 1.5, directory: relative_run_directory(run) }
}

pub fn finished(run: &RunId, status: Status) -> Entry {
    let observation =
        Observation::new("duration.wall", f64::from(run.repeat), Unit::Seconds, Origin::Measured);
    let result = RunResult { observations: vec![observation; 4], ..RunResult::bare(status, 2.5) };
    Entry::Finished { run: run.clone(), result: Box::new(result) }
}

/// A file system in memory of its own, for disks that are full or read-only. Only root can have one; `./dev test` runs
/// the tests in a user namespace where it is not root.
pub struct Mount(TempDir);

impl Mount {
    pub fn tmpfs(options: &str) -> Mount {
        let mount = Mount(tempfile::tempdir().unwrap());
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(mount.0.path())
            .output()
            .unwrap();
        let reason = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "this test needs root, or `unshare --map-root-user --mount`: {reason}"
        );
        mount
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(Command::new("mount").args(["-o", &options]).arg(self.path()).status().unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}
