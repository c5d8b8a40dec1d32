//! The one system call that neither the standard library nor rustix offers: waiting for a child together with its
//! resource usage. All unsafe code of this room is here. Also what the kernel counts into that usage without the child
//! having used it.
#![expect(unsafe_code, reason = "wait4 has no safe wrapper in rustix or nix")]

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a child ended, and what it used.
#[derive(Debug, Clone, Copy)]
pub struct ChildEnd {
    /// The exit code, if it exited.
    pub code: Option<i32>,
    /// The signal, if one ended it.
    pub signal: Option<i32>,
    /// CPU seconds in user mode.
    pub user_s: f64,
    /// CPU seconds in the kernel.
    pub system_s: f64,
    /// The largest resident set, in bytes.
    pub peak_resident_bytes: u64,
}

/// Waits for a child of this process and takes it off the process table.
pub fn wait(pid: u32) -> io::Result<ChildEnd> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut status: libc::c_int = 0;
    loop {
        // SAFETY: an all-zero rusage is a valid value of this plain C structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live, writable values of the right types for the whole call.
        let answer = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
        if answer == pid {
            return Ok(ChildEnd {
                code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
                signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
                user_s: seconds(usage.ru_utime),
                system_s: seconds(usage.ru_stime),
                // Linux counts ru_maxrss in KiB.
                peak_resident_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
            });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The most memory that this program has held, in bytes. A new process has its parent's memory until it executes the
/// program, and the kernel counts that into the process's own peak: a measured peak up to this one is unknown.
///
/// This program grows little from run to run. To spare short runs the look, its size counts for two percent more, and it
/// is looked at again only where the measured peak lies above that.
pub fn inherited_peak_bytes(measured: u64) -> u64 {
    static SEEN: AtomicU64 = AtomicU64::new(0);
    let seen = SEEN.load(Ordering::Relaxed);
    if measured <= seen {
        return seen;
    }
    let now = own_peak_bytes().map_or(seen, |bytes| bytes + bytes / 50);
    SEEN.fetch_max(now, Ordering::Relaxed).max(now)
}

fn own_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    #[test]
    #[expect(clippy::zombie_processes, reason = "the function under test waits")]
    fn a_child_is_waited_for_with_its_usage() {
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let ended = super::wait(child.id()).unwrap();
        assert_eq!((ended.code, ended.signal), (Some(7), None));
        assert!(ended.peak_resident_bytes > 100_000);
        assert!(super::wait(child.id()).is_err(), "a child can be waited for only once");
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "the function under test waits")]
    fn the_peak_of_a_small_child_is_not_taken_for_its_own() {
        let held = vec![1_u8; 64 << 20];
        let child = Command::new("true").spawn().unwrap();
        let ended = super::wait(child.id()).unwrap();
        assert!(ended.peak_resident_bytes <= super::inherited_peak_bytes(ended.peak_resident_bytes));
        let large = 1_u64 << 40;
        assert!((held.len() as u64..large).contains(&super::inherited_peak_bytes(large)));
    }
}
