//! What campaigns survive: a closed terminal, a lost login node, a full disk, preemption, a lost node.

use std::path::Path;
use std::process::{Command, Stdio};

use super::harness::{COUNTED, Place, Slurm, campaign};
use super::ssh;
use super::{exit_code, find_all, hurry_requeued};

/// Counts its starts, then takes this many seconds.
fn counted(seconds: f64) -> String {
    format!(
        "echo x >> {{campaign_directory}}/started-{{index}}; sleep {seconds}; echo speed={{index}} samples/s"
    )
}

fn journal(place: &Place) -> String {
    std::fs::read_to_string(place.directory.path().join("records/test/journal.jsonl")).unwrap()
}

/// The terminal is closed: its programs get SIGHUP, jobs stay. A detached coordinator does not notice.
pub fn closed_terminal(slurm: &Slurm) {
    let place = Place::new(slurm, "", &campaign(&counted(2.0), "1, 2", ""));
    let mut coordinator = place.begin();
    place.wait_for("the start of the runs", || place.starts().len() == 2);
    Command::new("kill").args(["-HUP", &coordinator.id().to_string()]).status().unwrap();
    assert_eq!(coordinator.wait().unwrap().code(), Some(130));
    let (code, text) = place.run();
    assert!(code == 0 && place.starts() == [1, 1], "{text}");
    // On a terminal of its own, which ends with the shell that the coordinator was started from.
    let place = Place::new(slurm, "queued = 1", &campaign(&counted(0.2), "1, 2, 3", ""));
    let started = format!("'{}' run --detach test.toml", env!("CARGO_BIN_EXE_assay"));
    let mut terminal = Command::new("script");
    terminal.args(["-q", "-c", &started, "/dev/null"]).current_dir(place.directory.path());
    terminal.env("SLURM_CONF", slurm.configuration()).stdin(Stdio::null()).stdout(Stdio::null());
    assert!(terminal.status().unwrap().success());
    place.wait_for("the end of the campaign", || journal(&place).matches("\"succeeded\"").count() == 3);
}

/// All processes of the login node are gone, and the campaign goes on from a host of another name and another boot.
pub fn lost_login_node(slurm: &Slurm) {
    let place = Place::new(slurm, "queued = 3\narray = 1", &campaign(&counted(3.0), "1, 2, 3, 4, 5, 6", ""));
    let mut coordinator = place.begin();
    place.wait_for("the start of the first runs", || place.starts().len() == 3);
    coordinator.kill().unwrap();
    coordinator.wait().unwrap();
    let boot = place.directory.path().join("boot");
    std::fs::write(&boot, "11111111-2222-3333-4444-555555555555\n").unwrap();
    let elsewhere = format!(
        "mount --make-rprivate / && mount --bind '{}' /proc/sys/kernel/random/boot_id && hostname elsewhere &&
         exec '{}' run test.toml",
        boot.display(),
        env!("CARGO_BIN_EXE_assay")
    );
    let output = place.around("unshare", &["--mount", "--uts", "sh", "-c", &elsewhere]).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!((output.status.code(), place.starts()), (Some(0), vec![1; 6]), "{text}");
    let journal = journal(&place);
    assert!(journal.contains("11111111-2222") && journal.contains("elsewhere"), "{journal}");
    assert_eq!(journal.matches("\"succeeded\"").count(), 6);
}

/// A place for a record that takes little: a small disk of memory.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn new(path: &'a Path, size: &str) -> Disk<'a> {
        std::fs::create_dir(path).unwrap();
        let disk = Disk(path);
        disk.mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]);
        disk
    }

    fn mount(&self, words: &[&str]) {
        assert!(Command::new("mount").args(words).arg(self.0).status().unwrap().success());
    }

    /// A large disk of which little may be used.
    fn with_quota(path: &'a Path, size: &str) -> Disk<'a> {
        std::fs::create_dir(path).unwrap();
        let image = path.with_extension("image");
        std::fs::File::create(&image).unwrap().set_len(128 << 20).unwrap();
        let make = Command::new("mkfs.btrfs").args(["--quiet", "--mixed"]).arg(&image).output().unwrap();
        assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
        let disk = Disk(path);
        disk.mount(&["-o", "loop", &image.display().to_string()]);
        disk.btrfs(&["quota", "enable"]);
        disk.limit(size);
        disk
    }

    fn limit(&self, size: &str) {
        self.btrfs(&["qgroup", "limit", size]);
    }

    fn btrfs(&self, words: &[&str]) {
        assert!(Command::new("btrfs").args(words).arg(self.0).status().unwrap().success());
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// The disk of the record fills up while jobs run. What had ended is kept, what could not be written is named, and
/// nothing is made twice.
pub fn full_disk(slurm: &Slurm) {
    let command = "echo x >> {campaign_directory}/started-{index}; sleep 0.5; printf '%200000d\\\\n' 0; echo speed={index} samples/s";
    let place = Place::new(slurm, "", &campaign(command, "1, 2, 3, 4, 5, 6, 7, 8", ""));
    let records = place.directory.path().join("records");
    let disk = Disk::new(&records, "1m");
    let (code, text) = place.run();
    assert!(
        code == 1 && text.contains("No space left on device") && text.contains("hint: "),
        "{code} {text}"
    );
    let all_ended = || find_all(&records, "end").len() == 8;
    place.wait_for("the end of all runs", all_ended);
    assert_eq!(place.starts(), [1; 8]);
    disk.mount(&["-t", "tmpfs", "-o", "size=32m,remount", "tmpfs"]);
    let (code, text) = place.run();
    assert!(code == 3 && text.contains("the disk was full when the run ended"), "{code} {text}");
    assert!(text.contains("free some space"), "{text}");
    assert_eq!(place.starts(), [1; 8], "what was submitted is collected, not repeated");
    let failed = journal(&place).matches("the disk was full").count();
    assert!((1..8).contains(&failed), "{failed} of 8 could not be written");
    let (code, text) = place.assay(&["run", "test.toml", "--only", "failed"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(place.starts().iter().sum::<usize>(), 8 + failed);
    let count = place.query("select count(*) from run where current and status = 'succeeded'");
    assert!(count.contains('8'), "{count}");
}

/// The quota of the record's file system is used up while jobs run: no run is made twice, and those whose output may be
/// incomplete are repeated on request.
pub fn full_quota(slurm: &Slurm) {
    let command = "echo x >> {campaign_directory}/started-{index}; sleep 0.5; printf '%200000d\\\\n' 0; echo speed={index} samples/s";
    let place = Place::new(slurm, "", &campaign(command, "1, 2, 3, 4, 5, 6, 7, 8", ""));
    let records = place.directory.path().join("records");
    let disk = Disk::with_quota(&records, "1M");
    let (code, text) = place.run();
    assert!(code == 1 && text.contains("Disk quota exceeded") && text.contains("hint: "), "{code} {text}");
    // The job of another part may still run into its time limit.
    let is_idle = || slurm.ask("squeue", &["--noheader", "--array"]).lines().count() <= 1;
    place.wait_for("the end of all jobs", is_idle);
    disk.limit("64M");
    let (code, text) = place.run();
    assert_eq!(code, 3, "{text}");
    assert!(place.starts().iter().all(|starts| *starts == 1), "nothing was repeated: {:?}", place.starts());
    let (code, text) = place.assay(&["run", "test.toml", "--only", "failed"]);
    assert_eq!(code, 0, "{text}");
    let count = place.query("select count(*) from run where current and status = 'succeeded'");
    assert!(count.contains('8'), "{count}");
}

/// A job has to make way for one of a partition of higher priority: it is begun again where the partition requeues, and
/// its run is cancelled where the partition cancels.
pub fn preemption(slurm: &Slurm) {
    let urgent = || {
        slurm.ask("sbatch", &["--parsable", "-w", "n4", "-c", "16", "-o", "/dev/null", "--wrap", "sleep 1"])
    };
    let text = campaign(&counted(4.0), "1", "[resources]\ncpus_per_task = 16");
    let place = Place::new(slurm, "partition = 'spare'", &text);
    let coordinator = place.begin();
    place.wait_for("the start of the run", || place.has_started());
    let job = format!("{}_1", place.job());
    urgent();
    hurry_requeued(slurm, &place, &job);
    assert_eq!(exit_code(coordinator), Some(0));
    assert_eq!(place.starts(), [2], "the job was begun again");
    let record = place.directory.path().join("records");
    assert_eq!(find_all(&record, "requeued-1").len(), 1, "what it had written is kept");
    let seen = journal(&place);
    assert!(seen.contains("requeued the job once") && seen.matches("{\"submitting\"").count() == 1);
    let place = Place::new(slurm, "partition = 'scavenger'", &text);
    let coordinator = place.begin();
    place.wait_for("the start of the run", || place.has_started());
    urgent();
    assert_eq!(exit_code(coordinator), Some(3));
    let seen = journal(&place);
    assert!(seen.contains("preempted by another job"), "{seen}");
    let (code, text) = place.assay(&["run", "test.toml", "--only", "failed"]);
    assert!(code == 0 && place.starts() == [2], "{text}");
}

/// A node loses power under runs: the scheduler begins their jobs again on another node, or ends them.
pub fn lost_node(slurm: &Slurm) {
    let place =
        Place::new(slurm, "options = ['--nodelist=n2', '--no-requeue']", &campaign(&counted(60.0), "1", ""));
    // The first start outlasts the loss of both nodes however busy the machine is; the second is short.
    let file = "{campaign_directory}/started-{index}";
    let command =
        format!("echo x >> {file}; [ $(wc -l < {file}) = 2 ] || sleep 60; echo speed={{index}} samples/s");
    let again = Place::new(slurm, "options = ['--nodelist=n3']", &campaign(&command, "1", ""));
    let (ended, begun_again) = (place.begin(), again.begin());
    place.wait_for("the start of the runs", || place.has_started() && again.has_started());
    let job = format!("{}_1", again.job());
    slurm.control(&["lose-node", "n2"]);
    slurm.control(&["lose-node", "n3"]);
    let code = exit_code(ended);
    let seen = journal(&place);
    assert!(code == Some(3) && seen.contains("node failure on n2"), "{code:?} {seen}");
    slurm.control(&["start-node", "n2"]);
    slurm.control(&["start-node", "n3"]);
    hurry_requeued(slurm, &again, &job);
    assert_eq!(exit_code(begun_again), Some(0));
    assert_eq!(again.starts(), [2]);
    // The nodes are back.
    let place = Place::new(slurm, "options = ['--nodelist=n2']", &campaign(COUNTED, "1", ""));
    let (code, text) = place.run();
    assert_eq!(code, 0, "{text}");
}

/// The scheduler is on another host: coordinators are killed here, jobs run there, and every run is made once.
pub fn slurm_over_ssh(slurm: &Slurm) {
    let there = tempfile::tempdir().unwrap();
    let batch = format!("pack = 2\ndirectory = '{}'\n", there.path().display());
    let command = format!("{}; echo made > {{run_directory}}/artifact", counted(0.3));
    let place = Place::new(slurm, &batch, &campaign(&command, "1, 2, 3, 4, 5", ""));
    let file = place.directory.path().join("platforms/cluster.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("[limits]", "host = 'there-host'\n[limits]")).unwrap();
    let _server =
        ssh::serve(place.directory.path(), &format!("SLURM_CONF={}", slurm.configuration().display()));
    let run = || {
        let mut command = place.command(&["run", "test.toml"]);
        let bin = place.directory.path().join("bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        // The scheduler of this host is not to be found.
        command.env("PATH", path).env("XDG_RUNTIME_DIR", place.directory.path()).env_remove("SLURM_CONF");
        command
    };
    for pause in [500, 900, 1500] {
        let mut coordinator = run().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        coordinator.kill().unwrap();
        coordinator.wait().unwrap();
    }
    let output = run().output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!((output.status.code(), place.starts()), (Some(0), vec![1; 5]), "{text}");
    assert_eq!(
        find_all(&place.directory.path().join("records"), "artifact").len(),
        5,
        "files are copied back"
    );
}
