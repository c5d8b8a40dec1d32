//! Processes of a record's runs, found by the run's name in their environment.

use std::fs;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The living processes that belong to runs of a record.
pub fn of_record(record: &Path) -> Vec<i32> {
    let wanted = format!("ASSAY_RUN={}#", record.display()).into_bytes();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|number| {
            // A process that has ended but was not waited for shows no environment.
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(&wanted))
        })
        .collect()
}

/// Kills the processes of a record's runs, so that a bench leaves nothing behind. Gives how many there were.
pub fn end(record: &Path) -> usize {
    let found = of_record(record);
    for number in &found {
        // It may have ended in between, which is what was wanted.
        let _ = kill(Pid::from_raw(*number), Signal::SIGKILL);
    }
    found.len()
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
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!(of_record(record.path()), [child.id().cast_signed()]);
        assert_eq!(end(record.path()), 1);
        child.wait().unwrap();
        assert!(of_record(record.path()).is_empty());
    }
}
