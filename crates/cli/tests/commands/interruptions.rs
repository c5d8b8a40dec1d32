//! What is kept when a campaign is stopped: by Ctrl-C, by `kill -9`, by a full disk. `bench/crash` does this hundreds
//! of times at random instants; here each case is tried once, where it can be looked at.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::bench::Bench;
use rustix::process::{Pid, Signal, kill_process};

/// Six short runs; the marker makes one of them wait long enough to be caught in the act.
const CAMPAIGN: &str = r#"
name = "stopped"
[workload]
command = "echo began-{n} >> trace; while [ -e wait-{n} ]; do sleep 0.02; done; echo ended-{n} >> trace; echo value={n}"
[vary]
n = [1, 2, 3, 4, 5, 6]
[repeats]
at_least = 1
[order]
shuffle = false
"#;

/// Starts the campaign with run 3 waiting, and comes back when it waits.
fn start_and_wait(bench: &Bench) -> Child {
    std::fs::write(bench.path("wait-3"), "").unwrap();
    let mut command = bench.command(&["run", "campaign.toml"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until(|| std::fs::read_to_string(bench.path("trace")).is_ok_and(|text| text.contains("began-3")));
    child
}

fn until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(20), "waited too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Lets the campaign go on and checks that every run is there once.
fn go_on_and_check(bench: &Bench) {
    std::fs::remove_file(bench.path("wait-3")).unwrap();
    let output = bench.run(&["run", "campaign.toml"]);
    assert!(output.starts_with("exit code 0"), "{output}");
    assert!(output.contains("2 runs already in the record, 4 to go"), "{output}");
    let sql = "select count(*), count(distinct cell), sum(status = 'succeeded') from run where current";
    let counts = bench.run(&["query", sql, "--csv"]);
    assert!(counts.contains("\n6,6,6\n"), "{counts}");
    let trace = bench.read("trace");
    for n in 1..=6 {
        let ended = trace.lines().filter(|line| *line == format!("ended-{n}")).count();
        assert_eq!(ended, 1, "run {n} must come to its end once:\n{trace}");
    }
}

#[test]
fn control_c_keeps_what_was_measured() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let mut child = start_and_wait(&bench);
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    go_on_and_check(&bench);
}

#[test]
fn a_killed_coordinator_leaves_nothing_running_for_its_successor() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let mut child = start_and_wait(&bench);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    // The run is an orphan now, and still waits; the successor ends it before it runs it again.
    std::fs::write(bench.path("wait-4"), "").unwrap();
    let second = bench
        .command(&["run", "campaign.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until(|| bench.read("trace").matches("began-3").count() == 2);
    signal(&second, Signal::INT);
    let output = second.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(talk.contains("that an earlier, killed `assay run` had left behind"), "{talk}");
    std::fs::remove_file(bench.path("wait-4")).unwrap();
    go_on_and_check(&bench);
}

#[test]
fn a_second_coordinator_is_refused_with_the_name_of_the_first() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let mut child = start_and_wait(&bench);
    let output = bench.run(&["run", "campaign.toml"]);
    assert!(output.starts_with("exit code 2"), "{output}");
    assert!(output.contains(&format!("in use by process {}", child.id())), "{output}");
    let fresh = bench.run(&["run", "campaign.toml", "--fresh"]);
    assert!(fresh.starts_with("exit code 2"), "{fresh}");
    // Readers are not in the way.
    assert!(bench.run(&["show"]).starts_with("exit code 0"));
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    go_on_and_check(&bench);
}

#[test]
fn a_torn_last_line_costs_nothing_that_was_acknowledged() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let mut child = start_and_wait(&bench);
    signal(&child, Signal::INT);
    child.wait().unwrap();
    let journal = bench.path("records/stopped/journal.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"0badc0de {\"finished\":{\"run\":\"torn");
    std::fs::write(&journal, bytes).unwrap();
    go_on_and_check(&bench);
}

#[test]
fn a_full_disk_is_named_and_the_record_goes_on_when_there_is_space() {
    let bench = Bench::new().file("campaign.toml", CAMPAIGN);
    let disk = bench.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let output = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&disk)
            .output();
        let output = output.unwrap();
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success(),
            "this test needs root, or `unshare --map-root-user --mount`: {reason}"
        );
    };
    mount("size=32k");
    let full = bench.run(&["run", "campaign.toml", "--record", "disk/record"]);
    mount("size=4m,remount");
    let after = bench.run(&["run", "campaign.toml", "--record", "disk/record"]);
    let count = bench.run(&["query", "select count(*) from run where current", "disk/record", "--csv"]);
    std::process::Command::new("umount").arg("-l").arg(&disk).status().unwrap();
    assert!(full.starts_with("exit code 1") && full.contains("No space left on device"), "{full}");
    assert!(full.contains("hint: "), "{full}");
    assert!(after.starts_with("exit code 0"), "{after}");
    assert!(count.contains("\n6\n"), "{count}");
}
