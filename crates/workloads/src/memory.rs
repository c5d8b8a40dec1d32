//! How much memory a workload may take: what is free, and what control groups allow; and bytes in words.

use std::fs;

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
    let allowed = groups().map_or(machine, |group| machine.min(group));
    Some((allowed as f64 * (1.0 - LEFT)) as u64)
}

fn available(information: &str) -> Option<u64> {
    let line = information.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control groups that this process is in leave, of either version.
fn groups() -> Option<u64> {
    let pairs = [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ];
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    pairs.iter().filter_map(|(limit, used)| Some(number(limit)?.saturating_sub(number(used)?))).min()
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
    fn bytes_are_written_for_people() {
        let words = [0, 999, 1500, 99_900_000, 999_999, 12_345_678_901].map(bytes_in_words);
        assert_eq!(words, ["0 B", "999 B", "1.50 kB", "99.9 MB", "1.00 MB", "12.3 GB"]);
    }
}
