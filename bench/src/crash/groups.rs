//! Control groups that a killed coordinator leaves behind: no process is in them, but they cost the kernel memory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The control groups of runs whose first process is gone, of all coordinators in this process's own group.
pub fn abandoned() -> BTreeSet<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let parents = own.lines().filter_map(parent);
    let directories = parents.flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path());
    directories.filter(|path| first_process(path).is_some_and(|pid| !is_alive(pid))).collect()
}

/// The process that a group was made for: the group is named after it.
fn first_process(group: &Path) -> Option<u32> {
    group.file_name()?.to_str()?.strip_prefix("assay-")?.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Where groups stand for one line of `/proc/self/cgroup`: the only hierarchy, or the one for memory.
fn parent(line: &str) -> Option<PathBuf> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
    match controllers {
        "" => Some(Path::new("/sys/fs/cgroup").join(path)),
        list if list.split(',').any(|name| name == "memory") => {
            Some(Path::new("/sys/fs/cgroup/memory").join(path))
        }
        _ => None,
    }
}

/// Removes groups, as far as no process is in them. Gives how many there were.
pub fn remove(groups: &BTreeSet<PathBuf>) -> usize {
    groups.iter().filter(|group| fs::remove_dir(group).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_looked_for_where_memory_is_counted() {
        assert_eq!(parent("0::/a/b"), Some("/sys/fs/cgroup/a/b".into()));
        assert_eq!(parent("4:cpu,memory:/a"), Some("/sys/fs/cgroup/memory/a".into()));
        assert_eq!(parent("5:pids:/a"), None);
        assert_eq!(parent("nonsense"), None);
        assert_eq!(first_process(Path::new("/sys/fs/cgroup/assay-17")), Some(17));
        assert_eq!(first_process(Path::new("/sys/fs/cgroup/assay-trial-17")), None);
        assert!(is_alive(std::process::id()));
    }
}
