//! Pinning to CPUs without code between fork and exec: a child inherits the CPUs of the thread that starts it, so
//! the thread takes them for the moment of starting and gives them back.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Starts something with the given CPUs; with all that this thread has if none are given.
pub fn pinned<T>(cpus: &[usize], start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if cpus.is_empty() {
        return start();
    }
    let before = sched_getaffinity(None)?;
    let mut wanted = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            return Err(no_such_cpu(*cpu));
        }
        wanted.set(*cpu);
    }
    sched_setaffinity(None, &wanted).map_err(|_| no_such_cpu(cpus.first().copied().unwrap_or(0)))?;
    let started = start();
    sched_setaffinity(None, &before)?;
    started
}

fn no_such_cpu(cpu: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("cannot pin to CPU {cpu}: this machine has no such CPU"),
    )
}
