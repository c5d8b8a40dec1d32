//! A memory control group around a run, where the system lets us make one: it sees the peak of all processes of the
//! run together, which the kernel's usage figures of one process do not.
//!
//! The process is moved in just after it started. What it allocated in those first microseconds is not counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    /// Makes a group with this process in it; none where that is not possible.
    pub fn around(pid: u32) -> Option<Group> {
        static PLACE: OnceLock<Option<Place>> = OnceLock::new();
        let place = PLACE.get_or_init(find_place).as_ref()?;
        let path = place.parent.join(format!("assay-{pid}"));
        fs::create_dir(&path).ok()?;
        let group = Group { path, peak_file: place.peak_file };
        fs::write(group.path.join("cgroup.procs"), pid.to_string()).ok()?;
        Some(group)
    }

    /// Whether groups can be made here, and of which kind; for `assay doctor`.
    pub fn availability() -> Option<&'static str> {
        find_place().map(|place| place.peak_file)
    }

    /// The peak memory of all processes in the group together, page cache included.
    pub fn peak_bytes(&self) -> Option<u64> {
        fs::read_to_string(self.path.join(self.peak_file)).ok()?.trim().parse().ok()
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
