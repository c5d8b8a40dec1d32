//! Processes that a run leaves behind. A process that calls `setsid` is no longer in its run's process group, and when
//! its parent ends it would become a child of the system's first process. This program asks to be the parent of such
//! processes instead, so that they can be found and ended when their run is over: what one run leaves running must not
//! disturb the next.

use std::fs::File;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use rustix::time::{ClockId, clock_gettime};

use crate::{orphan, worker_group};

/// Bytes of the longest list of children that is read.
const LONGEST_LIST: u64 = 16 << 20;
/// How often to look again for what just was killed, and for what it had started itself.
const ROUNDS: usize = 200;

/// From now on, processes whose parent ends become children of this program. Without effect on old kernels, where
/// only those in the run's process group are ended.
pub fn adopt() {
    static ADOPTING: OnceLock<()> = OnceLock::new();
    ADOPTING.get_or_init(|| {
        let _ = set_child_subreaper(Some(getpid()));
    });
}

/// When each active run began, in the kernel's ticks after boot.
static ACTIVE: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn active() -> MutexGuard<'static, Vec<u64>> {
    // Every change of the list is a single call, so it is whole even if a thread panicked while it had it.
    ACTIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a run as active while it lives.
pub struct ActiveRun {
    began: u64,
}

impl ActiveRun {
    pub fn begin() -> ActiveRun {
        let began = ticks_now();
        active().push(began);
        ActiveRun { began }
    }

    /// Whether a process without a mark must be of this run: no other active run began before the process did. One
    /// that began in the same tick may have, so the process is left to the end of that run.
    fn must_own(&self, process: Pid) -> bool {
        let pid = process.as_raw_nonzero().get().unsigned_abs();
        orphan::start_ticks(pid).is_some_and(|started| only_candidate(&active(), self.began, started))
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        let mut active = active();
        if let Some(place) = active.iter().position(|began| *began == self.began) {
            active.swap_remove(place);
        }
    }
}

/// Whether, of the runs that began at these times, only the one that began at `own` can have started a process.
fn only_candidate(active: &[u64], own: u64, started: u64) -> bool {
    own <= started && active.iter().filter(|began| **began <= started).count() <= 1
}

/// Now, in the unit and from the origin of the start times in `/proc`: a hundredth of a second, from the boot on.
fn ticks_now() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec.unsigned_abs() * 100 + now.tv_nsec.unsigned_abs() / 10_000_000
}

/// Ends all processes of a run that were left to this program or are still in the control group of its worker. Gives
/// whether there were any.
pub fn end(run: &ActiveRun, mark: &str) -> bool {
    let mut any = false;
    // A process that is ending has lost its environment already and still has its children: until it is taken off the
    // process table it is not known whether more will be left to us.
    let mut ending: Vec<Pid> = Vec::new();
    for _ in 0..ROUNDS {
        let in_group = living_members();
        let adopted = adopted();
        let before = ending.len();
        // Another thread may have taken one off, whose own run has ended too.
        ending.retain(|process| adopted.contains(process));
        let mut is_quiet = ending.len() == before && in_group.is_empty();
        for process in &in_group {
            // It may have ended in between, which is what was wanted.
            let _ = kill_process(*process, Signal::KILL);
            any = true;
        }
        for process in adopted {
            let belongs = orphan::belongs(process, mark, &mut || run.must_own(process));
            if belongs && !in_group.contains(&process) {
                let _ = kill_process(process, Signal::KILL);
                if !ending.contains(&process) {
                    ending.push(process);
                    any = true;
                }
            }
            // What has ended is taken off the process table; what has not is not waited for.
            if let Ok(Some(_)) = waitpid(Some(process), WaitOptions::NOHANG) {
                ending.retain(|other| *other != process);
                is_quiet = false;
            }
        }
        if is_quiet && ending.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    any
}

fn living_members() -> Vec<Pid> {
    worker_group::members().into_iter().filter(|process| orphan::is_alive(*process)).collect()
}

/// Children of the main thread. Runs are started by worker threads, so these were all left to us.
fn adopted() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero();
    // This is read after every run. With room for the text, and a limit, it takes one call for each piece.
    let mut children = String::with_capacity(1024);
    if let Ok(file) = File::open(format!("/proc/self/task/{own}/children")) {
        let _ = file.take(LONGEST_LIST).read_to_string(&mut children);
    }
    children.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_mark_is_of_the_only_run_that_was_active_when_it_started() {
        assert!(only_candidate(&[100], 100, 100));
        assert!(only_candidate(&[100, 250], 100, 200), "the other run began after the process");
        assert!(!only_candidate(&[100, 150], 100, 200), "it may be of either run");
        assert!(!only_candidate(&[100, 200], 100, 200), "it may be of either run");
        assert!(!only_candidate(&[100, 250], 250, 200), "this run began after the process");
    }

    #[test]
    fn ticks_are_those_of_start_times() {
        let before = ticks_now();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let started = orphan::start_ticks(child.id()).unwrap();
        child.wait().unwrap();
        assert!((before..=ticks_now()).contains(&started), "{before} {started}");
    }
}
