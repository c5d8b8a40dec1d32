//! Runs workloads in an installed PyTorch: an adapter in Python is written out, started as a child process, and what it
//! says is handed on.
//!
//! | file | holds |
//! |---|---|
//! | `adapter.py` | what all workloads share: random numbers, devices, the loop, what is said |
//! | `child.rs` | starting, listening, ending |
//! | `directory.rs` | where the adapter is written to |
//! | `relay.rs` | what is handed on, what is added, and what the end means |

mod child;
mod directory;
mod relay;

use std::process::{Command, Stdio};

use assay_model::{Settings, Value, WorkloadEvent, names};

use self::directory::Directory;
use self::relay::Relay;
use crate::memory::bytes_in_words;
use crate::ranks::threads_of_task;
use crate::settings::wrong;
use crate::summary::WorkAmount;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

const ENGINE: &str = "torch";
const ADAPTER: &str = include_str!("torch/adapter.py");
const MISSING: &str = "`pip install torch`, or point `python` at an environment that has it";

/// A run in PyTorch.
pub(crate) struct TorchRun<'a> {
    /// The part of the adapter that is this workload's own.
    pub(crate) script: &'a str,
    /// Every setting with the value that is in effect.
    pub(crate) settings: Settings,
    /// Settings that only the native engine has: they must be empty.
    pub(crate) native_only: &'a [&'a str],
    /// Further files, each with the name of the setting that gives the script its path.
    pub(crate) files: Vec<(&'a str, Vec<u8>)>,
    /// Iterations, warm-up included.
    pub(crate) planned: u64,
    /// What one iteration takes.
    pub(crate) effort: WorkAmount,
    /// The least memory on the CPU beside interpreter and libraries, in bytes.
    pub(crate) least_bytes: u128,
    /// What to make smaller where memory does not suffice.
    pub(crate) smaller: &'a str,
}

pub(crate) fn run(
    job: TorchRun<'_>,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let settings = &job.settings;
    for name in job.native_only {
        if !word(settings, name).is_empty() {
            let error = wrong(name, &word(settings, name), "the engine `torch` does not have it");
            return Err(error.or_hint("use engine = native, or leave it out"));
        }
    }
    report_settings(settings, emitter);
    if let Some(events) = too_large(&job, machine) {
        emitter.emit(events);
        return Ok(WorkloadEnd::DoesNotFit);
    }
    let directory = Directory::new()?;
    directory.write("assay_adapter.py", [ADAPTER])?;
    // The name must not be that of a module that the script imports.
    let script = directory.write("assay_workload.py", [job.script])?;
    let mut request = settings.clone();
    for (name, bytes) in &job.files {
        let path = directory.write(&format!("{name}.bin"), [bytes])?;
        request.insert((*name).to_owned(), Value::Text(path.display().to_string()));
    }
    let request = serde_json::to_vec(&request).map_err(|error| failed(error.to_string()))?;
    let request = directory.write("settings.json", [request])?;
    let python = word(settings, "python");
    let mut command = Command::new(&python);
    if job.effort.tasks > 1 {
        start_tasks(&mut command, &job);
    }
    command.arg(&script).arg(&request);
    let paced = settings.get("paced") == Some(&Value::Switch(true));
    command.stdin(if paced { Stdio::inherit() } else { Stdio::piped() });
    // The measured peak is that of this machine's CPU.
    let peak_flops = machine.peak_flops.filter(|_| word(settings, "device") == "cpu");
    Relay::new(&job.effort, job.planned, peak_flops, emitter).run(&python, &mut command)
}

/// Has torchrun start a process for every task, connected over loopback.
fn start_tasks(command: &mut Command, job: &TorchRun<'_>) {
    let tasks = job.effort.tasks;
    let threads = job.settings.get("threads").and_then(Value::number).unwrap_or(1.0) as usize;
    command.args(["-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", "--nnodes=1"]);
    command.arg(format!("--nproc-per-node={tasks}"));
    command.env("OMP_NUM_THREADS", threads_of_task(threads, tasks).to_string());
    command.env("GLOO_SOCKET_IFNAME", "lo");
}

fn report_settings(settings: &Settings, emitter: &mut Emitter<'_>) {
    for (name, value) in settings {
        match name.as_str() {
            "profile" => emitter.setting(name, Value::Switch(false)),
            _ => emitter.setting(name, value.clone()),
        }
    }
    emitter.setting(names::setting::PRECISION, "float32");
    if settings.get("tasks").and_then(Value::number).is_some_and(|tasks| tasks > 1.0) {
        emitter.setting("ranks", "torchrun");
    }
}

fn missing(reason: String) -> WorkloadError {
    WorkloadError::EngineMissing { engine: ENGINE, reason, hint: Some(MISSING.to_owned()) }
}

fn failed(reason: String) -> WorkloadError {
    WorkloadError::EngineFailed { engine: ENGINE, reason, hint: None }
}

/// The answer for a run that the memory of this machine cannot hold. Other devices say so themselves.
fn too_large(job: &TorchRun<'_>, machine: &SeriesLimits) -> Option<WorkloadEvent> {
    let free = u128::from(machine.memory_bytes?);
    if word(&job.settings, "device") != "cpu" || job.least_bytes <= free {
        return None;
    }
    Some(WorkloadEvent::DoesNotFit {
        reason: format!(
            "PyTorch needs at least {}, and {} are free",
            bytes_in_words(job.least_bytes),
            bytes_in_words(free)
        ),
        hint: Some(job.smaller.to_owned()),
    })
}

fn word(settings: &Settings, name: &str) -> String {
    settings.get(name).map(Value::to_string).unwrap_or_default()
}
