//! This process's CPU time and memory, and pacing by standard input.

use std::os::fd::AsFd;
use std::time::Duration;

use assay_model::{WorkloadEvent, names};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::Emitter;

/// CPU time of all threads of this process so far, user and system.
pub(crate) fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32).as_secs_f64()
}

/// Reports the largest memory of this process so far, and which part of it any run costs: what there was before the model,
/// and all code that was used since. `before` is the anonymous memory before the model.
pub(crate) fn report_memory(before: Option<u64>, emitter: &mut Emitter<'_>) {
    if let Some(bytes) = memory("VmHWM:") {
        emitter.emit(WorkloadEvent::value(names::MEMORY_PEAK, bytes as f64));
    }
    if let Some((before, code)) = before.zip(memory("RssFile:")) {
        emitter.value_in("memory.interpreter", (before + code) as f64, "B", None);
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

/// Waits for one line on `input`, looking at the stop flag ten times a second. False when the input has ended or the
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
