//! What is run around a measured run: warm-up runs, and the commands `prepare` and `cleanup`. None of it is timed.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use assay_evidence::Stream;
use assay_model::{Failure, Status};
use rustix::fs::OFlags;

use crate::interrupt::Interrupt;
use crate::process::{self, Spec, Stop, Watch};
use crate::worker::{RunJob, spec};

/// The file in the run directory that holds what `prepare` and `cleanup` printed.
const LOG: &str = "steps.log";

/// Warms up and prepares one run. The error is the status of a run that cannot be made.
pub fn before(job: &RunJob, script: &Path, interrupt: &Interrupt) -> Result<(), Status> {
    for _ in 0..job.warmup {
        prepare(job, interrupt)?;
        let status = process::run(&spec(job, script), &mut Silent { interrupt, log: None }).status;
        if !status.is_usable() {
            return Err(explained(status, "a warm-up run"));
        }
        cleanup(job, interrupt)?;
    }
    prepare(job, interrupt)
}

fn prepare(job: &RunJob, interrupt: &Interrupt) -> Result<(), Status> {
    step("prepare", job.invocation.prepare.as_deref(), job, interrupt)
}

/// Cleans up after one run.
pub fn cleanup(job: &RunJob, interrupt: &Interrupt) -> Result<(), Status> {
    step("cleanup", job.invocation.cleanup.as_deref(), job, interrupt)
}

fn step(name: &str, command: Option<&str>, job: &RunJob, interrupt: &Interrupt) -> Result<(), Status> {
    let Some(command) = command else { return Ok(()) };
    let mut options = OpenOptions::new();
    // A pipe that somebody put in its place must not be waited for.
    let options = options.create(true).append(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let log = options.open(job.directory.join(LOG)).ok();
    let words = ["sh", "-c", command].map(str::to_owned).to_vec();
    let step = Spec { words, group_memory: false, ..spec(job, Path::new("")) };
    match process::run(&step, &mut Silent { interrupt, log }).status {
        Status::Succeeded => Ok(()),
        status => Err(explained(status, &format!("the {name} command"))),
    }
}

/// The status of a run that was not made because something before it failed.
fn explained(status: Status, what: &str) -> Status {
    match status {
        Status::Interrupted => Status::Interrupted,
        status => {
            let reason = format!("{what}: {status}");
            Status::Failed { failure: Failure::Reported { reason } }
        }
    }
}

/// Keeps output at most as a log.
struct Silent<'a> {
    interrupt: &'a Interrupt,
    log: Option<std::fs::File>,
}

impl Watch for Silent<'_> {
    fn started(&mut self, _pid: u32) {}

    fn output(&mut self, _stream: Stream, _at_s: f64, bytes: &[u8]) -> io::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.write_all(bytes))
    }

    fn stop(&self) -> Option<Stop> {
        self.interrupt.stop()
    }
}
