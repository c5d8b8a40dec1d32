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
pub struct Group {
    path: PathBuf,
    peak_file: &'static str,
}

/// Where groups can be made, and which file tells the peak.
#[derive(Debug, Clone)]
struct Place {
    parent: PathBuf,
    peak_file: &'static str,
}

impl Group {
    /// Makes an empty group; none where that is not possible.
    pub fn create() -> Option<Group> {
        static PLACE: OnceLock<Option<Place>> = OnceLock::new();
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let place = PLACE.get_or_init(cleared_place).as_ref()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = place.parent.join(format!("assay-{}-{number}", std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(Group { path, peak_file: place.peak_file })
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
        find_place().map(|place| place.peak_file)
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

impl Drop for Group {
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

/// The place for groups, without those that killed coordinators left there.
fn cleared_place() -> Option<Place> {
    let place = find_place()?;
    for entry in fs::read_dir(&place.parent).ok()?.flatten() {
        let pid =
            entry.file_name().to_str().and_then(|name| name.strip_prefix("assay-")?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
    Some(place)
}

/// Looks for a place where a group can really be made, by making one.
fn find_place() -> Option<Place> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let path = path.trim_start_matches('/');
        let place = match controllers {
            "" => Place { parent: Path::new("/sys/fs/cgroup").join(path), peak_file: "memory.peak" },
            list if list.split(',').any(|name| name == "memory") => Place {
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
