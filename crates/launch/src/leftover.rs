//! Processes that a run leaves behind. A process that calls `setsid` is no longer in its run's process group, and when
//! its parent ends it would become a child of the system's first process. This program asks to be the parent of such
//! processes instead, so that they can be found and ended when their run is over: what one run leaves running must not
//! disturb the next.

use std::fs;
use std::sync::OnceLock;
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

/// Ends all processes of a run that were left to this program. Gives how many there were.
pub fn end(mark: &str) -> usize {
    let mut ended = 0;
    for _ in 0..ROUNDS {
        let mut alive = 0;
        for process in adopted() {
            if orphan::carries(process, mark) {
                // It may have ended in between, which is what was wanted.
                let _ = kill_process(process, Signal::KILL);
                alive += 1;
            }
            // What has ended is taken off the process table; what has not is not waited for.
            let _ = waitpid(Some(process), WaitOptions::NOHANG);
        }
        if alive == 0 {
            break;
        }
        ended = ended.max(alive);
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
