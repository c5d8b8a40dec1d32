//! Processes of runs whose coordinator died. Every process of a run carries the run's name in its environment, so
//! they are found even if the coordinator was killed before it could write down their numbers, and even if they
//! changed their process group.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The variable that names a process's run.
pub const RUN_VARIABLE: &str = "ASSAY_RUN";

/// The value of the variable: it names one run of one record on this machine.
pub fn token(record: &Path, run: &assay_model::RunId) -> String {
    format!("{}#{run}", record.display())
}

/// Ends every process that belongs to one of these runs: asks first, kills after `grace`. Gives how many there were.
pub fn end(tokens: &[String], grace: Duration) -> usize {
    let mut found = find(tokens);
    let count = found.len();
    signal(&found, Signal::TERM);
    let deadline = Instant::now() + grace;
    while !found.is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
        found = find(tokens);
    }
    // A process may have started another between the search and the signal.
    let mut rounds = 0;
    while !found.is_empty() && rounds < 100 {
        signal(&found, Signal::KILL);
        std::thread::sleep(Duration::from_millis(5));
        found = find(tokens);
        rounds += 1;
    }
    count
}

fn signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        // It may have ended in between, which is what was wanted.
        let _ = kill_process(*process, signal);
    }
}

/// The living processes that carry one of the tokens.
fn find(tokens: &[String]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|process| run_of(*process).is_some_and(|run| tokens.contains(&run)))
        .collect()
}

/// Whether a living process belongs to a run: by its mark or, where it has none, by what `unmarked` says.
pub fn belongs(process: Pid, token: &str, unmarked: &mut dyn FnMut() -> bool) -> bool {
    match run_of(process) {
        Some(run) => run == token,
        None => is_alive(process) && unmarked(),
    }
}

/// Whether a process has not ended yet. One that has keeps its place until its parent has asked how it ended.
pub fn is_alive(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}

/// The token that a process carries. A zombie has no environment, so it is never found again.
fn run_of(process: Pid) -> Option<String> {
    let environment = fs::read(format!("/proc/{}/environ", process.as_raw_nonzero())).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let token = variables.find_map(|variable| {
        variable.strip_prefix(RUN_VARIABLE.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec)
    });
    String::from_utf8(token?).ok()
}

/// The kernel's start time of a process, in ticks after boot.
pub fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in brackets and may hold anything; fields are counted after it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orphans_are_found_by_their_run_and_ended() {
        let token = format!("test-{}#x", std::process::id());
        let mut child = std::process::Command::new("sh")
            .args(["-c", "trap '' TERM; setsid sleep 60 & sleep 60"])
            .env(RUN_VARIABLE, &token)
            .spawn()
            .unwrap();
        assert!(start_ticks(child.id()).unwrap() > 0);
        let tokens = [token];
        // The shell, its sleep, and the one that left the session.
        let began = Instant::now();
        while find(&tokens).len() != 3 {
            assert!(began.elapsed() < Duration::from_secs(20), "found {:?}", find(&tokens));
            std::thread::sleep(Duration::from_millis(10));
        }
        // Until it runs the command, the shell would still act on a signal that it is about to ignore.
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(end(&tokens, Duration::from_millis(50)), 3);
        assert!(find(&tokens).is_empty());
        child.wait().unwrap();
    }
}
