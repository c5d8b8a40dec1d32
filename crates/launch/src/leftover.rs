//! Processes that a run leaves behind. A process that calls `setsid` is no longer in its run's process group, and when
//! its parent ends it would become a child of the system's first process. This program asks to be the parent of such
//! processes instead, so that they can be found and ended when their run is over: what one run leaves running must not
//! disturb the next.

use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

use crate::orphan;

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

/// Runs whose processes exist now.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Counts a run as active while it lives.
pub struct ActiveRun(());

impl ActiveRun {
    pub fn begin() -> ActiveRun {
        ACTIVE.fetch_add(1, Ordering::SeqCst);
        ActiveRun(())
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ends all processes of a run that were left to this program. Gives how many there were. A process that was started
/// with an empty environment has no mark; it is of this run if no other run is active.
pub fn end(mark: &str) -> usize {
    let alone = ACTIVE.load(Ordering::SeqCst) <= 1;
    let mut ended = 0;
    // A process that is ending has lost its environment already and still has its children: until it is taken off the
    // process table it is not known whether more will be left to us.
    let mut ending: Vec<Pid> = Vec::new();
    for _ in 0..ROUNDS {
        let adopted = adopted();
        let before = ending.len();
        // Another thread may have taken one off, whose own run has ended too.
        ending.retain(|process| adopted.contains(process));
        let mut is_quiet = ending.len() == before;
        for process in adopted {
            if orphan::belongs(process, mark, alone) {
                // It may have ended in between, which is what was wanted.
                let _ = kill_process(process, Signal::KILL);
                if !ending.contains(&process) {
                    ending.push(process);
                    ended += 1;
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
    ended
}

/// Children of the main thread. Runs are started by worker threads, so these were all left to us.
fn adopted() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
}
