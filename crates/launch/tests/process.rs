//! Real processes: what is captured, how they are stopped, what is measured.

use std::io;
use std::time::{Duration, Instant};

use assay_evidence::Stream;
use assay_launch::process::{ProcessEnd, Spec, Stop, Watch, run};
use assay_model::{Failure, Status};

/// Keeps all that a process writes.
#[derive(Default)]
struct Keeper {
    pieces: Vec<(Stream, f64, String)>,
    pid: Option<u32>,
    stop_after: Option<Instant>,
    kill: bool,
}

impl Watch for Keeper {
    fn started(&mut self, pid: u32) {
        assert!(pid > 1 && self.pid.replace(pid).is_none(), "a process is described once");
    }

    fn output(&mut self, stream: Stream, at_s: f64, bytes: &[u8]) -> io::Result<()> {
        self.pieces.push((stream, at_s, String::from_utf8_lossy(bytes).into_owned()));
        Ok(())
    }

    fn stop(&self) -> Option<Stop> {
        let due = self.stop_after.is_some_and(|at| Instant::now() >= at);
        due.then_some(if self.kill { Stop::AtOnce } else { Stop::Gently })
    }
}

fn spec(command: &str) -> Spec {
    Spec {
        words: ["sh", "-c", command].map(str::to_owned).to_vec(),
        directory: std::env::temp_dir(),
        environment: Vec::new(),
        timeout: None,
        grace: Duration::from_secs(5),
        pin: Vec::new(),
        run: None,
        group_memory: false,
    }
}

fn run_all(spec: &Spec) -> (ProcessEnd, Keeper) {
    let mut keeper = Keeper::default();
    let ended = run(spec, &mut keeper);
    (ended, keeper)
}

fn text(keeper: &Keeper, wanted: Stream) -> String {
    keeper
        .pieces
        .iter()
        .filter(|(stream, _, _)| *stream == wanted)
        .map(|(_, _, text)| text.as_str())
        .collect()
}

#[test]
fn streams_are_kept_apart_and_in_the_order_they_came() {
    let (ended, keeper) = run_all(&spec("echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three"));
    assert_eq!(ended.status, Status::Succeeded);
    let order: Vec<(Stream, &str)> =
        keeper.pieces.iter().map(|(stream, _, text)| (*stream, text.trim())).collect();
    assert_eq!(order, [(Stream::Stdout, "one"), (Stream::Stderr, "two"), (Stream::Stdout, "three")]);
    assert!(keeper.pid.is_some(), "what lasts is described while it runs");
    let times: Vec<f64> = keeper.pieces.iter().map(|(_, at_s, _)| *at_s).collect();
    assert!(times.is_sorted() && times[2] - times[0] > 0.1, "times show when each came: {times:?}");
}

#[test]
fn much_output_on_both_streams_blocks_nobody() {
    let (ended, keeper) = run_all(&spec("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"));
    assert_eq!(ended.status, Status::Succeeded);
    assert_eq!(
        (text(&keeper, Stream::Stdout).len(), text(&keeper, Stream::Stderr).len()),
        (3_000_000, 3_000_000)
    );
}

#[test]
fn exit_codes_signals_and_failed_starts_are_told_apart() {
    let status = |command: &str| run_all(&spec(command)).0.status;
    assert_eq!(status("exit 7"), Status::Failed { failure: Failure::Exit { code: 7 } });
    assert_eq!(status("kill -SEGV $$"), Status::Failed { failure: Failure::Signal { signal: 11 } });
    let missing = Spec { words: vec!["no-such-program".into()], ..spec("") };
    let (ended, _) = run_all(&missing);
    assert!(matches!(ended.status, Status::Failed { failure: Failure::Start { .. } }));
    assert!(ended.usage.is_none(), "what never ran used nothing");
}

#[test]
fn a_timeout_ends_the_whole_group() {
    let mut timed = spec("sleep 50 & sleep 50 & echo $!; wait");
    timed.timeout = Some(Duration::from_millis(200));
    let began = Instant::now();
    let (ended, keeper) = run_all(&timed);
    assert_eq!(ended.status, Status::TimedOut { after_s: 0.2 });
    assert!(began.elapsed() < Duration::from_secs(3));
    let child = text(&keeper, Stream::Stdout).trim().to_owned();
    std::thread::sleep(Duration::from_millis(50));
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "a child of the run still lives: {state}");
}

#[test]
fn a_process_that_ignores_term_is_killed_after_its_grace() {
    let mut stubborn = spec("trap '' TERM; while true; do sleep 0.05; done");
    stubborn.timeout = Some(Duration::from_millis(100));
    stubborn.grace = Duration::from_millis(200);
    let began = Instant::now();
    let (ended, _) = run_all(&stubborn);
    assert_eq!(ended.status, Status::TimedOut { after_s: 0.1 });
    assert!(began.elapsed() >= Duration::from_millis(290) && began.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_process_that_heeds_term_may_say_goodbye() {
    let mut polite = spec("trap 'echo bye; exit 0' TERM; while true; do sleep 0.02; done");
    polite.timeout = Some(Duration::from_millis(150));
    let (ended, keeper) = run_all(&polite);
    assert_eq!(ended.status, Status::TimedOut { after_s: 0.15 });
    assert_eq!(text(&keeper, Stream::Stdout), "bye\n");
}

#[test]
fn a_stop_interrupts_gently_or_at_once() {
    for kill in [false, true] {
        let stop_after = Some(Instant::now() + Duration::from_millis(100));
        let mut keeper = Keeper { stop_after, kill, ..Keeper::default() };
        let ended = run(&spec("sleep 50"), &mut keeper);
        assert_eq!(ended.status, Status::Interrupted);
    }
}

#[test]
fn processes_left_behind_do_not_keep_a_run_open() {
    let began = Instant::now();
    let (ended, keeper) = run_all(&spec("sleep 50 & echo done"));
    assert_eq!((ended.status, ended.left_processes), (Status::Succeeded, true));
    assert_eq!(text(&keeper, Stream::Stdout), "done\n");
    assert!(began.elapsed() < Duration::from_secs(5));
    let waited = began.elapsed().as_secs_f64() - ended.usage.unwrap().wall_s;
    assert!(waited > 0.2, "the wait for others is not the run's time");
}

#[test]
fn processes_that_left_the_group_end_with_their_run() {
    let name = format!("test-{}#left", std::process::id());
    let mut leaving = spec("setsid sh -c 'sleep 50 & sleep 50' > /dev/null 2>&1 & sleep 0.1; echo done");
    leaving.run = Some(name.clone());
    // A run is never started by the main thread, and tests are not either.
    let (ended, _) = run_all(&leaving);
    assert_eq!((ended.status, ended.left_processes), (Status::Succeeded, true));
    assert_eq!(assay_launch::orphan::end(&[name], Duration::ZERO), 0, "nothing may be left to be found");
}

#[test]
fn a_process_with_an_empty_environment_ends_with_its_run_while_others_go_on() {
    let name = |end: &str| Some(format!("test-{}#{end}", std::process::id()));
    let other = std::thread::spawn(move || {
        let mut long = spec("sleep 3");
        long.run = name("long");
        run_all(&long).0
    });
    std::thread::sleep(Duration::from_millis(100));
    let record = tempfile::tempdir().unwrap();
    // Without control groups such a process is found when no older run is active any more.
    let Some(_entered) = assay_launch::worker_group::enter(record.path()) else { return };
    let mut hiding = spec("env -i setsid sleep 50 > /dev/null 2>&1 & echo $!; sleep 0.1");
    hiding.run = name("hiding");
    let (ended, keeper) = run_all(&hiding);
    let pid = text(&keeper, Stream::Stdout).trim().to_owned();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it still lives: {stat}");
    assert_eq!((ended.status, ended.left_processes), (Status::Succeeded, true));
    let (ended, _) = run_all(&Spec { run: name("clean"), ..spec("true") });
    assert!(!ended.left_processes);
    let long = other.join().unwrap();
    assert_eq!((long.status, long.left_processes), (Status::Succeeded, false), "the other run is unharmed");
}

#[test]
fn the_memory_of_all_processes_is_measured_together_where_that_can_be() {
    let mut three =
        spec("for i in 1 2 3; do head -c 30000000 /dev/zero | tail -c 30000000 > /dev/null & done; wait");
    three.group_memory = true;
    let usage = run_all(&three).0.usage.unwrap();
    match assay_launch::group::MemoryGroup::availability() {
        Some(_) => assert!(usage.peak_group_bytes.unwrap() > usage.peak_resident_bytes, "{usage:?}"),
        None => assert_eq!(usage.peak_group_bytes, None),
    }
}

#[test]
fn cpu_time_and_memory_are_measured() {
    let (ended, _) = run_all(&spec("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"));
    let usage = ended.usage.unwrap();
    assert!(usage.user_s > 0.01 && usage.user_s + usage.system_s <= usage.wall_s * 1.5 + 0.05);
    let (ended, _) = run_all(&spec("head -c 40000000 /dev/zero | tail -c 40000000 > /dev/null"));
    let usage = ended.usage.unwrap();
    assert!(usage.peak_resident_bytes > 30_000_000, "tail holds what it may have to print: {usage:?}");
}

#[test]
fn a_run_can_be_pinned() {
    let mut pinned = spec("grep Cpus_allowed_list /proc/self/status");
    pinned.pin = vec![0];
    let (_, keeper) = run_all(&pinned);
    assert_eq!(text(&keeper, Stream::Stdout).split_whitespace().last(), Some("0"));
    let mut nowhere = spec("true");
    nowhere.pin = vec![1000];
    let (ended, _) = run_all(&nowhere);
    assert!(
        matches!(&ended.status, Status::Failed { failure: Failure::Start { reason } } if reason.contains("CPU 1000"))
    );
}

/// Is away while the process ends.
struct Away {
    began: Instant,
    until: Duration,
}

impl Watch for Away {
    fn started(&mut self, _: u32) {}

    fn output(&mut self, _: Stream, _: f64, _: &[u8]) -> io::Result<()> {
        std::thread::sleep(self.until.saturating_sub(self.began.elapsed()));
        Ok(())
    }

    fn stop(&self) -> Option<Stop> {
        None
    }
}

#[test]
fn an_end_that_was_noticed_late_is_said() {
    let mut away = Away { began: Instant::now(), until: Duration::from_millis(300) };
    let ended = run(&spec("echo; sleep 0.05"), &mut away);
    let late = ended.noticed_late_s.unwrap();
    assert!((0.05..=0.35).contains(&late), "{late}");
    let (ended, _) = run_all(&spec("echo; sleep 0.05"));
    assert!(ended.noticed_late_s.is_none_or(|late| late < 0.05), "{ended:?}");
}
