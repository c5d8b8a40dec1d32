//! Campaigns through a real Slurm, started once for all tests by `scripts/slurm` and stopped after them. Ignored unless
//! asked for, because it needs root and installed packages: `./dev test` asks for them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod harness;
mod seeds;
mod ssh;
mod survival;

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use harness::{COUNTED, Place, Slurm, campaign};

/// A part of the test, by name.
type Part = (&'static str, fn(&Slurm));

#[test]
#[ignore = "needs root, slurm-wlm and munge; run by ./dev test"]
fn campaigns_through_slurm() {
    let slurm = Slurm::start(false);
    let parts: [Part; 17] = [
        ("the_seeds_are_submitted", seeds::are_submitted),
        ("runs_become_jobs", runs_become_jobs),
        ("requests_that_cannot_start_are_refused", requests_that_cannot_start_are_refused),
        ("runs_share_jobs", runs_share_jobs),
        ("tasks_spread_over_nodes", tasks_spread_over_nodes),
        ("killed_coordinators_lose_and_repeat_nothing", killed_coordinators_lose_and_repeat_nothing),
        (
            "jobs_outlive_a_detached_coordinator_and_can_be_cancelled",
            jobs_outlive_a_detached_coordinator_and_can_be_cancelled,
        ),
        ("bad_ends_are_distinguished", bad_ends_are_distinguished),
        ("the_controller_may_be_restarted", the_controller_may_be_restarted),
        ("nodes_may_drain_and_die", nodes_may_drain_and_die),
        ("jobs_are_submitted_over_ssh", survival::slurm_over_ssh),
        ("the_terminal_may_be_closed", survival::closed_terminal),
        ("the_login_node_may_be_lost", survival::lost_login_node),
        ("the_disk_may_be_full", survival::full_disk),
        ("the_quota_may_be_used_up", survival::full_quota),
        ("jobs_may_be_preempted", survival::preemption),
        ("a_node_may_be_lost", survival::lost_node),
    ];
    // Slurm ends a job a minute after its time limit at the latest: meanwhile the other parts run.
    let overrunning = Overrunning::begin(&slurm);
    run_parts(&slurm, &parts);
    overrunning.end();
    drop(slurm);
    let slurm = Slurm::start(true);
    run_parts(
        &slurm,
        &[
            ("the_accounting_database_has_cpu_time_and_memory", accounting_is_collected),
            ("the_accounting_database_knows_forgotten_jobs", forgotten_jobs_are_accounted),
        ],
    );
}

#[expect(clippy::print_stderr, reason = "how long each part took, for whoever asks to see it")]
fn run_parts(slurm: &Slurm, parts: &[Part]) {
    // One part alone, while working on it.
    let only = std::env::var("ASSAY_TEST_PART").unwrap_or_default();
    for (name, part) in parts.iter().filter(|(name, _)| name.contains(&only)) {
        let began = Instant::now();
        part(slurm);
        eprintln!("{name}: {:.1} s", began.elapsed().as_secs_f64());
    }
}

/// A run whose job has less time than it needs.
struct Overrunning<'a> {
    place: Place<'a>,
    coordinator: Child,
}

impl<'a> Overrunning<'a> {
    fn begin(slurm: &'a Slurm) -> Overrunning<'a> {
        let place = Place::new(slurm, "time = '1 min'", &campaign("sleep 600; true {index}", "1", ""));
        let coordinator = place.begin();
        Overrunning { place, coordinator }
    }

    fn end(mut self) {
        let began = Instant::now();
        while self.coordinator.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(150), "the time limit of the job did not end it");
            std::thread::sleep(Duration::from_millis(200));
        }
        let (_, text) = self.place.assay(&["show", "test"]);
        assert!(text.contains("1 timed out"), "{text}");
    }
}

/// What only the accounting database knows: CPU time of several tasks, and peak memory.
fn accounting_is_collected(slurm: &Slurm) {
    // 60 MB in a shell of each task, held for longer than Slurm takes to look.
    let command = "a=$(head -c 60000000 /dev/zero | tr '\\\\0' x); i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 3; true {index}";
    let more = "[resources]\ntasks = 2\nmemory = '1 GiB'";
    let place = Place::new(slurm, "", &campaign(command, "1, 2", more));
    let (code, text) = place.run();
    assert_eq!(code, 0, "{text}");
    for (metric, least, most) in [("memory.peak", 50e6, 1e9), ("duration.cpu", 0.05, 60.0)] {
        let sql = format!(
            "select count(*), min(value) >= {least} and max(value) <= {most} from observation where metric = '{metric}'"
        );
        let found = place.query(&sql);
        assert!(found.contains('2') && found.contains('1'), "{metric}: {found}");
    }
}

/// The controller forgets jobs some minutes after their end; how they ended is in the accounting database.
fn forgotten_jobs_are_accounted(slurm: &Slurm) {
    let command = "echo x >> {campaign_directory}/started-{index}; sleep 60; true {index}";
    let place = Place::new(slurm, "", &campaign(command, "1", ""));
    let mut coordinator = place.begin();
    place.wait_for("the start of the run", || place.has_started());
    let job = place.job();
    coordinator.kill().unwrap();
    coordinator.wait().unwrap();
    slurm.ask("scancel", &[&job]);
    let state = || slurm.ask("sacct", &["--noheader", "--parsable2", "-j", &job, "-o", "State"]);
    place.wait_for("the end in the accounting database", || state().contains("CANCELLED"));
    // A controller that has forgotten all jobs.
    let bin = place.directory.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("squeue"), "#!/bin/sh\nexit 0\n").unwrap();
    Command::new("chmod").arg("755").arg(bin.join("squeue")).status().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let output = place.command(&["run", "test.toml"]).env("PATH", path).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.code() == Some(3) && text.contains("the job was cancelled"), "{text}");
    assert_eq!(place.starts(), [1]);
}

fn runs_become_jobs(slurm: &Slurm) {
    let more = "[resources]\ntasks = 2\ncpus_per_task = 2\ndevices = 2";
    let place = Place::new(slurm, "start = ''", &campaign(COUNTED, "1, 2, 3", more));
    let (code, scripts) = place.assay(&["plan", "--scripts", "test.toml"]);
    assert!(code == 0 && scripts.contains("#SBATCH --gres=ipu:2\n"), "{scripts}");
    let (code, text) = place.run();
    assert_eq!(code, 0, "{text}");
    assert_eq!(place.starts(), [1, 1, 1]);
    let phases = place.query("select name, count(*) from phase group by name order by name");
    for phase in ["queue", "run", "teardown"] {
        assert!(phases.contains(phase), "{phases}");
    }
    let seen = std::fs::read_to_string(place.directory.path().join("records/test/journal.jsonl")).unwrap();
    assert!(seen.contains(r#""name":"job.devices_per_node","value":2"#), "{seen}");
    assert!(
        seen.contains(r#""name":"job.tasks","value":2"#) && seen.contains(r#""name":"job.cpus","value":4"#)
    );
    let (code, text) = place.run();
    assert!(code == 0 && place.starts() == [1, 1, 1], "a complete campaign submits nothing: {text}");
}

fn requests_that_cannot_start_are_refused(slurm: &Slurm) {
    for (more, batch, reason, fits) in [
        ("[resources]\nnodes = 1\ntasks = 32", "", "a node of `cluster` has 16", "at most 16 tasks"),
        ("[resources]\nnodes = 9", "", "9 nodes requested, a run on `cluster` may have 4", "at most 4 nodes"),
        ("[resources]\ndevices = 8", "", "8 ipus per node requested, a node has 4", "at most 4 ipus"),
        ("[resources]\nnodes = 2", "partition = 'short'", "may have 1", "at most 1 node"),
        ("[resources]\nmemory = '9 GiB'", "", "9 GiB of memory requested", "fit"),
        ("[resources]\ncpus_per_task = 17", "", "17 CPUs per task requested", "at most 16 CPUs per task"),
        ("[resources]\nnodes = 3\ntasks = 2", "", "3 nodes requested for 2 tasks", "at most 2 nodes fit"),
        (
            "",
            "partition = 'short'\ntime = '5 min'",
            "gives a job at most 2 min",
            "`time` of at most 2 min fits",
        ),
    ] {
        let place = Place::new(slurm, batch, &campaign("true {index}", "1", more));
        let (code, text) = place.run();
        assert!(code == 2 && text.contains(reason) && text.contains(fits), "{text}");
        assert!(text.contains("test.toml:"), "the line in the campaign is named: {text}");
    }
    let place = Place::new(slurm, "partition = 'no-such'", &campaign("true {index}", "1", ""));
    let (code, text) = place.run();
    assert!(code == 2 && text.contains("there is no partition `no-such`; there are main, short"), "{text}");
    // What only the controller knows is refused by it, and the run says so.
    let place = Place::new(slurm, "constraint = 'no-such-feature'", &campaign("true {index}", "1", ""));
    let (code, text) = place.run();
    assert!(code == 3 && text.contains("the scheduler refused the job"), "{text}");
}

fn runs_share_jobs(slurm: &Slurm) {
    let indices: Vec<String> = (1..=12).map(|index| index.to_string()).collect();
    let place = Place::new(slurm, "pack = 5", &campaign(COUNTED, &indices.join(","), ""));
    let (code, text) = place.run();
    assert_eq!(code, 0, "{text}");
    assert_eq!(place.starts(), [1; 12]);
    let journal = std::fs::read_to_string(place.directory.path().join("records/test/journal.jsonl")).unwrap();
    assert_eq!(journal.matches("{\"submitting\"").count(), 1, "one array of three tasks");
    assert_eq!(journal.matches("\"succeeded\"").count(), 12, "each is its own run");
}

fn tasks_spread_over_nodes(slurm: &Slurm) {
    let command = "echo $SLURM_PROCID $SLURMD_NODENAME >> {run_directory}/places";
    let more = "[resources]\nnodes = 2\ntasks = 4\ntasks_per_node = 2";
    let place = Place::new(slurm, "", &campaign(&format!("{command}; true {{index}}"), "1", more));
    let (code, text) = place.run();
    assert_eq!(code, 0, "{text}");
    let places = find_all(place.directory.path(), "places");
    let lines: Vec<String> =
        std::fs::read_to_string(&places[0]).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    let nodes: std::collections::BTreeSet<&str> =
        lines.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(nodes.len(), 2, "{lines:?}");
    // Two nodes where one was asked for: the numbers stay, and are not averaged.
    let place = Place::new(
        slurm,
        "options = ['--nodes=2']",
        &campaign("true {index}", "1", "[resources]\nnodes = 1"),
    );
    let (code, text) = place.run();
    assert!(
        code == 3 && text.contains("the allocation is not the requested one: 2 nodes instead of 1"),
        "{text}"
    );
}

/// The exit code of a coordinator, which must end by itself. A job that was requeued while its node was away may wait the
/// two minutes of Slurm although its start was hurried.
fn exit_code(mut coordinator: Child) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = coordinator.try_wait().unwrap() {
            return status.code();
        }
        if began.elapsed() > Duration::from_secs(200) {
            coordinator.kill().unwrap();
            coordinator.wait().unwrap();
            panic!("the coordinator did not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// All files and directories of this name below a directory.
fn find_all(directory: &Path, name: &str) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![directory.to_owned()], Vec::new());
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap().flatten() {
            if entry.file_name() == name {
                found.push(entry.path());
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

/// The coordinator is killed at 50 instants, from before its first submission to after its last run.
fn killed_coordinators_lose_and_repeat_nothing(slurm: &Slurm) {
    const KILLS: u64 = 50;
    const CAMPAIGNS: u64 = 5;
    for round in 0..CAMPAIGNS {
        let indices: Vec<String> = (1..=24).map(|index| index.to_string()).collect();
        let place = Place::new(slurm, "array = 6\nqueued = 12", &campaign(COUNTED, &indices.join(","), ""));
        for kill in 0..KILLS / CAMPAIGNS {
            let mut coordinator = place.begin();
            // Spread over the time that a campaign takes, no two of them alike.
            let pause = (kill * 37 + round * 11) % 240;
            std::thread::sleep(Duration::from_millis(5 + pause));
            coordinator.kill().unwrap();
            coordinator.wait().unwrap();
        }
        let (code, text) = place.run();
        assert_eq!(code, 0, "{text}");
        assert_eq!(place.starts(), [1; 24], "every run was made exactly once");
        let counted =
            place.query("select status, count(*) from run where status = 'succeeded' group by status");
        assert!(counted.contains("24"), "{counted}");
    }
}

fn jobs_outlive_a_detached_coordinator_and_can_be_cancelled(slurm: &Slurm) {
    let command = "echo x >> {campaign_directory}/started-{index}; sleep 60; true {index}";
    let place = Place::new(slurm, "", &campaign(command, "1, 2", ""));
    let (code, text) = place.assay(&["run", "--detach", "test.toml"]);
    assert!(code == 0 && text.contains("running as process"), "{text}");
    place.wait_for("the start of both runs", || place.starts().len() == 2);
    let (code, text) = place.assay(&["status"]);
    assert!(code == 0 && text.contains("a coordinator is running") && text.contains("running"), "{text}");
    let (code, text) = place.assay(&["cancel"]);
    assert!(code == 0 && text.contains("cancelled 2 jobs and closed 2 runs"), "{text}");
    let (_, text) = place.assay(&["status"]);
    assert!(text.contains("no jobs in a queue") && text.contains("no coordinator is running"), "{text}");
    // A run that no job has begun is not begun by one that comes late.
    let place = Place::new(slurm, "options = ['--hold']", &campaign("true {index}", "1", ""));
    let coordinator = place.begin();
    let held = || place.assay(&["status"]).1.contains("pending");
    place.wait_for("the held job", held);
    let (code, text) = place.assay(&["cancel"]);
    assert!(code == 0 && text.contains("cancelled 1 job and closed 1 run"), "{text}");
    assert_eq!(exit_code(coordinator), Some(130));
    let claims = find_all(place.directory.path(), "claim");
    assert_eq!(
        claims.iter().map(|claim| std::fs::read_link(claim).unwrap()).collect::<Vec<_>>(),
        [Path::new("given-up")]
    );
    // A pending or running job is left where it is by Ctrl-C.
    let command = "echo x >> {campaign_directory}/started-{index}; sleep 2; true {index}";
    let place = Place::new(slurm, "", &campaign(command, "1", ""));
    let mut coordinator = place.begin();
    place.wait_for("the start of the run", || place.has_started());
    Command::new("kill").args(["-INT", &coordinator.id().to_string()]).status().unwrap();
    assert_eq!(coordinator.wait().unwrap().code(), Some(130));
    let (code, text) = place.run();
    assert!(code == 0 && place.starts() == [1], "{text}");
}

/// Slurm holds a requeued job back for two minutes, unless its start time is changed.
fn hurry_requeued(slurm: &Slurm, place: &Place<'_>, job: &str) {
    let waits = || {
        slurm
            .ask("squeue", &["--noheader", "--array", "--states=PENDING", "-o", "%i"])
            .lines()
            .any(|line| line.trim() == job)
    };
    place.wait_for("the requeue", waits);
    // Within the same second, the node would take the new start for the one that was revoked.
    std::thread::sleep(Duration::from_secs(2));
    slurm.ask("scontrol", &["update", &format!("JobId={job}"), "StartTime=now"]);
}

fn bad_ends_are_distinguished(slurm: &Slurm) {
    let started = "echo x >> {campaign_directory}/started-{index};";
    // Cancelled by somebody else.
    let place = Place::new(slurm, "", &campaign(&format!("{started} sleep 60"), "1", ""));
    let coordinator = place.begin();
    place.wait_for("the start of the run", || place.has_started());
    slurm.ask("scancel", &[&place.job()]);
    let code = exit_code(coordinator);
    let (_, text) = place.assay(&["show", "test"]);
    assert!(code == Some(3) && text.contains("cancelled: the job was cancelled"), "{code:?} {text}");
    // Over its memory.
    let more = "[resources]\nmemory = '60 MiB'";
    let hungry = "python3 -c 'import time; x = bytearray(300000000); time.sleep(20)'; true {index}";
    let place = Place::new(slurm, "", &campaign(hungry, "1", more));
    let (code, text) = place.run();
    assert!(code == 3 && (text.contains("out of memory") || text.contains("signal 9")), "{text}");
    // Over the timeout of the campaign, which the script heeds; the next run of the pack goes on.
    let command = format!("{started} [ {{index}} = 1 ] && sleep 30; true");
    let text = campaign(&command, "1, 2", "").replace("[run]", "[run]\ntimeout = '1 s'\ngrace = '1 s'");
    let place = Place::new(slurm, "pack = 2", &text);
    let (code, text) = place.run();
    assert!(code == 3 && text.contains("timed out after 1 s"), "{text}");
    assert_eq!(place.starts(), [1, 1]);
    // A run that its own script cannot end: the exit code of the job says nothing.
    let place = Place::new(slurm, "", &campaign("exit 7; true {index}", "1", ""));
    let (code, text) = place.run();
    assert!(code == 3 && text.contains("exit code 7"), "{text}");
    // The scheduler began the job again.
    let command = format!("{started} [ -e {{campaign_directory}}/again ] || sleep 60; echo done");
    let place = Place::new(slurm, "", &campaign(&command, "1", ""));
    let coordinator = place.begin();
    place.wait_for("the start of the run", || place.has_started());
    std::fs::write(place.directory.path().join("again"), "").unwrap();
    // The only task of an array.
    let job = format!("{}_1", place.job());
    slurm.ask("scontrol", &["requeue", &job]);
    hurry_requeued(slurm, &place, &job);
    place.wait_for("the second start", || place.starts() == [2]);
    assert_eq!(exit_code(coordinator), Some(0));
    let journal = std::fs::read_to_string(place.directory.path().join("records/test/journal.jsonl")).unwrap();
    assert!(journal.contains("requeued the job once"), "{journal}");
}

fn the_controller_may_be_restarted(slurm: &Slurm) {
    let command = "echo x >> {campaign_directory}/started-{index}; sleep 1; true {index}";
    let place = Place::new(slurm, "queued = 2", &campaign(command, "1, 2, 3, 4, 5, 6", ""));
    let coordinator = place.begin();
    place.wait_for("the start of a run", || place.has_started());
    assert!(slurm.control(&["restart-controller"]).status.success());
    let code = exit_code(coordinator);
    assert_eq!((code, place.starts()), (Some(0), vec![1; 6]));
}

fn nodes_may_drain_and_die(slurm: &Slurm) {
    // A drained node takes no jobs; the others do.
    slurm.ask("scontrol", &["update", "NodeName=n1", "State=DRAIN", "Reason=test"]);
    let place = Place::new(slurm, "", &campaign(COUNTED, "1, 2, 3, 4", ""));
    let (code, text) = place.run();
    assert_eq!(code, 0, "{text}");
    slurm.ask("scontrol", &["update", "NodeName=n1", "State=RESUME"]);
    // A node dies under a run: Slurm ends the job, or begins it again elsewhere.
    let command = "echo x >> {campaign_directory}/started-{index}; sleep 1; true {index}";
    let place = Place::new(slurm, "options = ['--nodelist=n2', '--no-requeue']", &campaign(command, "1", ""));
    let coordinator = place.begin();
    place.wait_for("the start of the run", || place.has_started());
    slurm.control(&["kill-node", "n2"]);
    // The run itself goes on without its daemon, and its end marker counts.
    let code = exit_code(coordinator);
    slurm.control(&["start-node", "n2"]);
    let (_, text) = place.assay(&["show", "test"]);
    assert!(matches!(code, Some(0 | 3)) && place.starts() == [1], "{code:?} {text}");
}
