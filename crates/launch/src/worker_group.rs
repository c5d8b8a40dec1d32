//! A control group for each worker thread, where the system lets us make one. A thread's children are born into its
//! group and cannot leave it by changing their environment, session or parent, so what a run leaves behind is known for
//! sure even while other runs are active.
//!
//! The group has no controllers: it counts and limits nothing, and costs a run nothing. Entering one takes the kernel
//! about 15 ms, so a worker enters once and stays.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::gettid;

/// Where groups can be made, and the file that lists the threads of one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hierarchy {
    parent: PathBuf,
    threads: &'static str,
    /// Whether a group must be declared to hold single threads first.
    declared: bool,
}

#[derive(Debug)]
struct WorkerGroup {
    path: PathBuf,
    hierarchy: Hierarchy,
}

thread_local! {
    static OWN: RefCell<Option<WorkerGroup>> = const { RefCell::new(None) };
}

/// Keeps this thread in its group; leaving removes the group.
pub struct Entered(());

/// Puts this thread, with every process it starts from now on, into a group of its own. None where that is not
/// possible; processes are then attributed by their environment and start time.
pub fn enter(record: &Path) -> Option<Entered> {
    let mark = mark(record)?;
    let group = hierarchies().into_iter().find_map(|hierarchy| WorkerGroup::enter(hierarchy, &mark).ok())?;
    OWN.set(Some(group));
    Some(Entered(()))
}

impl Drop for Entered {
    fn drop(&mut self) {
        drop(OWN.take());
    }
}

/// The living processes, or threads of processes, that this thread's runs started; none without a group.
pub fn members() -> Vec<Pid> {
    OWN.with_borrow(|group| group.as_ref().map(WorkerGroup::members)).unwrap_or_default()
}

/// Ends what killed coordinators of this record left in their groups, and removes the groups. Whoever calls this
/// holds the record's lock, so no other coordinator of it is alive.
pub fn end_abandoned(record: &Path) -> usize {
    let Some(mark) = mark(record) else { return 0 };
    let own = std::process::id();
    let mut ended = 0;
    for hierarchy in hierarchies() {
        for entry in fs::read_dir(&hierarchy.parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| owner(name, &mark));
            if owner.is_some_and(|owner| owner != own) {
                ended += end_all(&entry.path(), hierarchy.threads);
            }
        }
    }
    ended
}

/// What the groups of a record have in their names: the record's device and inode.
fn mark(record: &Path) -> Option<String> {
    let found = fs::metadata(record).ok()?;
    Some(format!("{:x}.{:x}", found.dev(), found.ino()))
}

/// The coordinator that made a group of this record.
fn owner(name: &str, mark: &str) -> Option<u32> {
    let (pid, rest) = name.strip_prefix("assay-")?.split_once('-')?;
    rest.strip_prefix(mark)?.strip_prefix('-')?;
    pid.parse().ok()
}

impl WorkerGroup {
    fn enter(hierarchy: Hierarchy, mark: &str) -> io::Result<WorkerGroup> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = hierarchy.parent.join(format!("assay-{}-{mark}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        // From here on, dropping it removes the directory.
        let group = WorkerGroup { path, hierarchy };
        if group.hierarchy.declared {
            fs::write(group.path.join("cgroup.type"), "threaded")?;
        }
        fs::write(group.path.join(group.hierarchy.threads), own_thread())?;
        Ok(group)
    }

    fn members(&self) -> Vec<Pid> {
        listed(&self.path, self.hierarchy.threads).into_iter().filter(|thread| *thread != gettid()).collect()
    }
}

impl Drop for WorkerGroup {
    fn drop(&mut self) {
        // A thread that ends while it is still in the group would keep the group from being removed.
        let _ = fs::write(self.hierarchy.parent.join(self.hierarchy.threads), own_thread());
        end_all(&self.path, self.hierarchy.threads);
    }
}

fn own_thread() -> String {
    gettid().as_raw_nonzero().to_string()
}

fn listed(group: &Path, threads: &str) -> Vec<Pid> {
    let text = fs::read_to_string(group.join(threads)).unwrap_or_default();
    text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
}

/// Kills whoever is in a group and removes it. Gives how many there were.
fn end_all(group: &Path, threads: &str) -> usize {
    let mut ended = 0;
    // Killed processes leave the group a moment later, and may have started others in between.
    for _ in 0..200 {
        let left = listed(group, threads);
        ended = ended.max(left.len());
        if left.is_empty() && fs::remove_dir(group).is_ok() {
            break;
        }
        for process in left {
            let _ = kill_process(process, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    ended
}

/// Where groups of threads may be made, the newest kind of hierarchy first.
fn hierarchies() -> Vec<Hierarchy> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut all: Vec<Hierarchy> = own.lines().flat_map(of_line).collect();
    all.sort_by_key(|hierarchy| !hierarchy.declared);
    all.retain(|hierarchy| hierarchy.parent.join(hierarchy.threads).exists());
    all
}

/// The places that one line of `/proc/self/cgroup` stands for.
fn of_line(line: &str) -> Vec<Hierarchy> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { return Vec::new() };
    let below = |root: &str| Path::new("/sys/fs/cgroup").join(root).join(path.trim_start_matches('/'));
    match controllers {
        "" => ["", "unified"]
            .map(|root| Hierarchy { parent: below(root), threads: "cgroup.threads", declared: true })
            .to_vec(),
        // Neither of these changes how fast a process runs.
        "freezer" | "pids" => {
            vec![Hierarchy { parent: below(controllers), threads: "tasks", declared: false }]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn groups_are_looked_for_where_they_cost_nothing() {
        let parents = |line: &str| of_line(line).into_iter().map(|found| found.parent).collect::<Vec<_>>();
        assert_eq!(parents("0::/a"), ["/sys/fs/cgroup/a", "/sys/fs/cgroup/unified/a"].map(PathBuf::from));
        assert_eq!(parents("6:freezer:/"), [PathBuf::from("/sys/fs/cgroup/freezer/")]);
        assert!(parents("1:cpu:/").is_empty() && parents("nonsense").is_empty());
        assert_eq!(owner("assay-17-1f.2a-0", "1f.2a"), Some(17));
        assert_eq!(owner("assay-17-1f.2a-0", "1f.2"), None);
        assert_eq!(owner("assay-trial-17", "1f.2a"), None);
    }

    #[test]
    fn children_of_a_thread_are_born_into_its_group_and_found_there() {
        let folder = tempfile::tempdir().unwrap();
        let Some(entered) = enter(folder.path()) else { return };
        let mut child = Command::new("setsid").args(["env", "-i", "sleep", "60"]).spawn().unwrap();
        assert_eq!(members().len(), 1);
        let path = OWN.with_borrow(|group| group.as_ref().map(|group| group.path.clone())).unwrap();
        assert_eq!(end_abandoned(folder.path()), 0, "a group of this process is in use");
        drop(entered);
        child.wait().unwrap();
        assert!(!path.exists(), "leaving ends what is in the group, and removes it");
        assert!(members().is_empty());
    }

    #[test]
    fn what_a_killed_coordinator_left_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mark = mark(folder.path()).unwrap();
        let made = hierarchies().into_iter().find_map(|hierarchy| {
            // A number that no process has.
            let path = hierarchy.parent.join(format!("assay-4294967295-{mark}-0"));
            fs::create_dir(&path).ok()?;
            let declared = !hierarchy.declared || fs::write(path.join("cgroup.type"), "threaded").is_ok();
            if !declared {
                fs::remove_dir(&path).unwrap();
            }
            declared.then_some((path, hierarchy.threads))
        });
        let Some((path, threads)) = made else { return };
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        fs::write(path.join(threads), child.id().to_string()).unwrap();
        assert_eq!(end_abandoned(folder.path()), 1);
        child.wait().unwrap();
        assert!(!path.exists());
    }
}
