//! This process's CPU time and memory, and pacing by standard input.

use std::os::fd::AsFd;
use std::time::Duration;

use assay_model::{WorkloadEvent, names};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::Emitter;
use crate::collective::Collective;

/// CPU time of all threads of this process so far, user and system.
pub(crate) fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32).as_secs_f64()
}

/// The memory that a run has used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryUse {
    peak: Option<f64>,
    /// The part that any run costs: what there was before the model, and all code that was used since.
    interpreter: Option<f64>,
}

impl MemoryUse {
    /// What this process has used so far. `before` is its anonymous memory before the model.
    pub(crate) fn of_this_process(before: Option<u64>) -> MemoryUse {
        let interpreter = before.zip(memory("RssFile:")).map(|(before, code)| (before + code) as f64);
        MemoryUse { peak: memory("VmHWM:").map(|bytes| bytes as f64), interpreter }
    }

    /// The same of all processes of a run together.
    pub(crate) fn of_all(self, ranks: &mut dyn Collective) -> MemoryUse {
        MemoryUse {
            peak: self.peak.map(|bytes| ranks.sum_of_processes(bytes)),
            interpreter: self.interpreter.map(|bytes| ranks.sum_of_processes(bytes)),
        }
    }

    pub(crate) fn report(&self, emitter: &mut Emitter<'_>) {
        if let Some(bytes) = self.peak {
            emitter.emit(WorkloadEvent::value(names::MEMORY_PEAK, bytes));
        }
        if let Some(bytes) = self.interpreter {
            emitter.value_in("memory.interpreter", bytes, "B", None);
        }
    }
}

/// The memory of this process that no file backs, in bytes.
pub(crate) fn anonymous_memory() -> Option<u64> {
    memory("RssAnon:")
}

/// A line of what the system says of this process.
fn memory(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Waits for one line on `input`, looking at the stop flag ten times per second. False when the input has ended or the
/// run should stop. Bytes are read one by one, so that nothing beyond the line is taken away.
pub(crate) fn wait_for_line(input: impl AsFd, emitter: &Emitter<'_>) -> bool {
    const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let mut byte = [0u8; 1];
    while !emitter.stopped() {
        let mut descriptors = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut descriptors, Some(&WAIT)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Err(_) => return false,
            Ok(_) => {}
        }
        match rustix::io::read(&input, &mut byte) {
            Ok(0) => return false,
            Ok(_) if byte[0] == b'\n' => return true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn peak_memory_is_at_least_what_is_in_use() {
        let block = vec![1u8; 3 << 20];
        assert!(anonymous_memory().unwrap() > block.len() as u64 && memory("VmHWM:") >= anonymous_memory());
        assert!(cpu_seconds() > 0.0);
    }

    #[test]
    fn pacing_takes_one_line_at_a_time_and_ends_with_the_input_or_the_flag() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let (mut emit, stop) = (|_| {}, AtomicBool::new(false));
        let emitter = Emitter::new(&mut emit, &stop);
        writer.write_all(b"go\nagain\n").unwrap();
        assert!(wait_for_line(&reader, &emitter));
        assert!(wait_for_line(&reader, &emitter));
        stop.store(true, Ordering::Relaxed);
        assert!(!wait_for_line(&reader, &emitter));
        stop.store(false, Ordering::Relaxed);
        drop(writer);
        assert!(!wait_for_line(&reader, &emitter));
    }
}
