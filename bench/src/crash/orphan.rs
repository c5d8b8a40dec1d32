//! Processes of a record's runs, found by the run's name in their environment.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use assay_model::RunId;
use rustix::process::{Pid, Signal, kill_process};

/// A living process of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Its number.
    pub pid: i32,
    /// The run that it belongs to.
    pub run: RunId,
}

/// The living processes that belong to runs of a record.
pub fn of_record(record: &Path) -> Vec<Orphan> {
    let wanted = format!("ASSAY_RUN={}#", record.display()).into_bytes();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let orphan = |pid: i32| {
        // A process that has ended but was not waited for shows no environment.
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let run =
            environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(&*wanted))?;
        Some(Orphan { pid, run: String::from_utf8_lossy(run).parse().ok()? })
    };
    entries.flatten().filter_map(|entry| orphan(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Kills the processes of a record's runs, so that a bench leaves nothing behind. Gives how many there were.
pub fn end(record: &Path) -> usize {
    let mut count = 0;
    // A process may start another between the search and the kill.
    for _ in 0..100 {
        let found = of_record(record);
        if found.is_empty() {
            break;
        }
        count += found.len();
        for orphan in found {
            // It may have ended in between, which is what was wanted.
            let _ = Pid::from_raw(orphan.pid).map(|pid| kill_process(pid, Signal::KILL));
        }
        thread::sleep(Duration::from_millis(5));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_found_by_their_record_and_ended() {
        let record = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env("ASSAY_RUN", format!("{}#x@local/r1", record.path().display()))
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(100));
        let run = "x@local/r1".parse().unwrap();
        assert_eq!(of_record(record.path()), [Orphan { pid: child.id().cast_signed(), run }]);
        assert_eq!(end(record.path()), 1);
        child.wait().unwrap();
        assert!(of_record(record.path()).is_empty());
    }
}
