//! How much memory a workload may take: what is free, and what control groups and limits allow; and bytes in words.

use std::fs;
use std::path::Path;

use crate::collective::processes;

/// What is left alone, so that a workload that just fits does not push others into swap.
const LEFT: f64 = 0.05;

/// What a task takes besides its buffers, at most: the panels that its matrix products are packed into, its stacks and
/// its part of the allocator. The first task's is in what the process takes.
const TASK_BYTES: u128 = 8 << 20;

/// What a task that is a process of its own takes besides: its code, its data, and what MPI sets up.
const PROCESS_BYTES: u128 = 48 << 20;

/// What several tasks take besides their buffers.
pub(crate) fn of_tasks(tasks: u128) -> u128 {
    let process = if processes::started().is_some() { PROCESS_BYTES } else { 0 };
    tasks.saturating_sub(1) * (TASK_BYTES + process)
}

/// Bytes that are free for a workload on this machine; none where the system does not say.
pub fn free() -> Option<u64> {
    let information = fs::read_to_string("/proc/meminfo").ok()?;
    let machine = available(&information)?;
    let limits = [groups(), address_space()];
    let allowed = limits.into_iter().flatten().fold(machine, u64::min);
    Some((allowed as f64 * (1.0 - LEFT)) as u64)
}

fn available(information: &str) -> Option<u64> {
    let line = information.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control groups that this process is in leave, of either version. A scheduler sets the limit of a job in a
/// group of its own or in one above it.
fn groups() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    left_of_groups(&own, Path::new("/sys/fs/cgroup"))
}

fn left_of_groups(own: &str, root: &Path) -> Option<u64> {
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let left = |directory: &Path, limit: &str, used: &str| {
        let (limit, used) = (number(&directory.join(limit))?, number(&directory.join(used))?);
        Some(limit.saturating_sub(used))
    };
    let mut least = None;
    // Inside a container the path may be one of the host's; the root is the container's own group then.
    for line in own.lines().chain(["0::/", ":memory:/"]) {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, limit, used) = match controllers {
            "" => (root.to_owned(), "memory.max", "memory.current"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        let group = root.join(path.trim_start_matches('/'));
        let above = group.ancestors().take_while(|group| group.starts_with(&root));
        least = above.filter_map(|group| left(group, limit, used)).chain(least).min();
    }
    least
}

/// What `ulimit -v` leaves; none without such a limit.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit = limit.split_whitespace().next()?.parse::<u64>().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let size = size.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    Some(limit.saturating_sub(size))
}

/// Bytes as people read them.
pub fn bytes_in_words(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_is_read_and_something_is_left() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   20000000 kB\n";
        assert_eq!(available(text), Some(20_480_000_000));
        assert_eq!(available("MemTotal: 5 kB\n"), None);
        let free = free().unwrap();
        assert!(free > 0 && free < available(&fs::read_to_string("/proc/meminfo").unwrap()).unwrap());
    }

    #[test]
    fn the_tightest_group_above_the_own_one_counts_in_either_version() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(left_of_groups("0::/job/step\n", root.path()), None);
        put("job/memory.max", "1000\n");
        put("job/memory.current", "100\n");
        put("job/step/memory.max", "max\n");
        put("job/step/memory.current", "7\n");
        assert_eq!(left_of_groups("0::/job/step\n", root.path()), Some(900));
        assert_eq!(left_of_groups("0::/other\n", root.path()), None);
        put("memory/a/memory.limit_in_bytes", "500");
        put("memory/a/memory.usage_in_bytes", "600");
        assert_eq!(left_of_groups("4:cpu,memory:/a/b\n0::/job\n", root.path()), Some(0));
        put("memory.max", "50");
        put("memory.current", "9");
        assert_eq!(left_of_groups("", root.path()), Some(41));
    }

    #[test]
    fn bytes_are_written_for_people() {
        let words = [0, 999, 1500, 99_900_000, 999_999, 12_345_678_901].map(bytes_in_words);
        assert_eq!(words, ["0 B", "999 B", "1.50 kB", "99.9 MB", "1.00 MB", "12.3 GB"]);
    }
}
