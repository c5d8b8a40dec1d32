//! A memory control group around a run, where the system lets us make one: it sees the peak of all processes of the
//! run together, which the kernel's usage figures of one process do not.
//!
//! A shell enters the group and then becomes the run's program, so that nothing the run does happens outside of it.
//! Moving the program in after its start would take milliseconds, in which it may have started others.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal};

/// A control group with one run in it. Removed when dropped.
#[derive(Debug)]
pub struct MemoryGroup {
    path: PathBuf,
    peak_file: &'static str,
}

/// Where groups can be made, and which file shows the peak.
#[derive(Debug, Clone)]
struct GroupRoot {
    parent: PathBuf,
    peak_file: &'static str,
}

impl MemoryGroup {
    /// Makes an empty group; none where that is not possible.
    pub fn create() -> Option<MemoryGroup> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let place = place()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = place.parent.join(format!("assay-{}-{number}", std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(MemoryGroup { path, peak_file: place.peak_file })
    }

    /// The words that start a program inside the group.
    pub fn around(&self, words: &[String]) -> Vec<String> {
        // A shell that may not enter still runs the program; the group then saw nothing, and says so.
        const ENTER: &str = "{ echo $$ > \"$0/cgroup.procs\"; } 2> /dev/null; exec \"$@\"";
        let enter = ["sh".to_owned(), "-c".to_owned(), ENTER.to_owned(), self.path.display().to_string()];
        enter.into_iter().chain(words.iter().cloned()).collect()
    }

    /// Whether groups can be made here, and of which kind; for `assay doctor`.
    pub fn availability() -> Option<&'static str> {
        place().map(|place| place.peak_file)
    }

    /// The peak memory of all processes in the group together, page cache included; none if nothing entered.
    pub fn peak_bytes(&self) -> Option<u64> {
        let peak: u64 = fs::read_to_string(self.path.join(self.peak_file)).ok()?.trim().parse().ok()?;
        (peak > 0).then_some(peak)
    }

    /// Signals every process in the group: also those that left the run's process group.
    pub fn signal_all(&self, signal: Signal) {
        for pid in self.members() {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn members(&self) -> Vec<Pid> {
        let text = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        for _ in 0..20 {
            if fs::remove_dir(&self.path).is_ok() {
                return;
            }
            // Whoever still is in the group outlived its run. Killed processes leave the group a moment later.
            self.signal_all(Signal::KILL);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// The place for groups, looked for once: two threads that try at the same time would be in each other's way.
fn place() -> Option<&'static GroupRoot> {
    static PLACE: OnceLock<Option<GroupRoot>> = OnceLock::new();
    let found = || find_place().inspect(|place| clear(&place.parent));
    PLACE.get_or_init(found).as_ref()
}

/// Removes groups that killed coordinators left.
fn clear(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_str().and_then(owner);
        if is_left.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The process that made a group of this name.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix("assay-")?.split('-').find_map(|part| part.parse().ok())
}

/// Looks for a place where a group can really be made, by making one.
fn find_place() -> Option<GroupRoot> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let path = path.trim_start_matches('/');
        let place = match controllers {
            "" => GroupRoot { parent: Path::new("/sys/fs/cgroup").join(path), peak_file: "memory.peak" },
            list if list.split(',').any(|name| name == "memory") => GroupRoot {
                parent: Path::new("/sys/fs/cgroup/memory").join(path),
                peak_file: "memory.max_usage_in_bytes",
            },
            _ => return None,
        };
        let trial = place.parent.join(format!("assay-trial-{}", std::process::id()));
        fs::create_dir(&trial).ok()?;
        let works = trial.join(place.peak_file).exists();
        let _ = fs::remove_dir(&trial);
        works.then_some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_tell_whose_they_are() {
        assert_eq!(owner("assay-17-3"), Some(17));
        assert_eq!(owner("assay-trial-17"), Some(17));
        assert_eq!(owner("system-17"), None);
    }

    #[test]
    fn groups_of_processes_that_are_gone_are_cleared_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let own = format!("assay-{}-0", std::process::id());
        for name in ["assay-4294967295-0", &own, "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        clear(folder.path());
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!((left("assay-4294967295-0"), left(&own), left("other")), (false, true, true));
    }
}
