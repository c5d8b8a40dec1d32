//! Runs `lm` in an installed PyTorch: a small adapter in Python is written out, started as a child process, and what
//! it says is handed on.
//!
//! | file | holds |
//! |---|---|
//! | `torch.py` | the adapter: the same model, weights, data and metrics as the native engine |
//! | `child.rs` | starting, listening, ending |
//! | `directory.rs` | where the adapter is written to |
//! | `relay.rs` | what is handed on, what is added, and what the end means |
//! | `memory.rs` | what PyTorch needs at least |

mod child;
mod directory;
mod memory;
mod relay;

use std::process::{Command, Stdio};

use assay_model::{Settings, Told, Value, names};

use self::directory::Directory;
use self::relay::Relay;
use crate::lm::Options;
use crate::lm::checkpoint::Checkpoint;
use crate::lm::native::note_resume;
use crate::lm::options::Phase;
use crate::settings::wrong;
use crate::{Ended, Limits, Outlet, WorkloadError};

const ENGINE: &str = "torch";
const SCRIPT: &str = include_str!("torch.py");
const MISSING: &str = "`pip install torch`, or point `python` at an environment that has it";

/// Runs `lm` in PyTorch. `text` are the tokens of the text to train on; without them the tokens are random.
pub fn run(
    options: &Options,
    machine: &Limits,
    text: Option<&[u32]>,
    outlet: &mut Outlet<'_>,
) -> Result<Ended, WorkloadError> {
    let settings = options.in_force();
    refuse(options, &settings)?;
    tell_settings(&settings, outlet);
    if let Some(told) = too_large(options, &settings, machine) {
        outlet.tell(told);
        return Ok(Ended::DoesNotFit);
    }
    check_resume(options, outlet)?;
    let directory = Directory::new()?;
    // The name must not be that of the module that the script imports.
    let script = directory.write("assay_lm.py", [SCRIPT])?;
    let mut request = settings.clone();
    if let Some(tokens) = text {
        let path = directory.write("tokens.bin", tokens.iter().map(|token| token.to_le_bytes()))?;
        request.insert("tokens".to_owned(), Value::Text(path.display().to_string()));
    }
    let request = serde_json::to_vec(&request).map_err(|error| failed(error.to_string()))?;
    let request = directory.write("settings.json", [request])?;
    let python = word(&settings, "python");
    let mut command = Command::new(&python);
    command.arg(&script).arg(&request);
    command.stdin(if options.paced { Stdio::inherit() } else { Stdio::piped() });
    // The measured peak is that of this machine's CPU.
    let peak_flops = machine.peak_flops.filter(|_| word(&settings, "device") == "cpu");
    Relay::new(options, peak_flops, outlet).run(&python, &mut command)
}

fn tell_settings(settings: &Settings, outlet: &mut Outlet<'_>) {
    for (name, value) in settings {
        match name.as_str() {
            "profile" => outlet.setting(name, Value::Switch(false)),
            _ => outlet.setting(name, value.clone()),
        }
    }
    outlet.setting(names::setting::PRECISION, "float32");
}

/// Checks the checkpoint to go on from, so that the adapter can trust it.
fn check_resume(options: &Options, outlet: &mut Outlet<'_>) -> Result<(), WorkloadError> {
    if let Some(path) = &options.resume {
        let checkpoint = Checkpoint::open(path)?;
        checkpoint.check(path, &options.shape, options.work.phase == Phase::Step)?;
        note_resume(options, &checkpoint, outlet);
    }
    Ok(())
}

fn missing(reason: String) -> WorkloadError {
    WorkloadError::EngineMissing { engine: ENGINE, reason, hint: Some(MISSING.to_owned()) }
}

fn failed(reason: String) -> WorkloadError {
    WorkloadError::EngineFailed { engine: ENGINE, reason, hint: None }
}

/// What only the native engine can do.
fn refuse(options: &Options, settings: &Settings) -> Result<(), WorkloadError> {
    for (name, path) in [("save", &options.save), ("profile", &options.profile)] {
        if path.is_some() {
            let error = wrong(name, &word(settings, name), "the engine `torch` does not have it");
            return Err(error.or_hint("use engine = native, or leave it out"));
        }
    }
    Ok(())
}

/// The answer for a run that the memory of this machine cannot hold. Other devices say so themselves.
fn too_large(options: &Options, settings: &Settings, machine: &Limits) -> Option<Told> {
    let free = u128::from(machine.memory_bytes?);
    let least = memory::least_bytes(options);
    if word(settings, "device") != "cpu" || least <= free {
        return None;
    }
    let gigabytes = |bytes: u128| bytes as f64 / 1e9;
    Some(Told::DoesNotFit {
        reason: format!(
            "PyTorch needs at least {:.1} GB, and {:.1} GB are free",
            gigabytes(least),
            gigabytes(free)
        ),
        hint: Some("lower batch_size, context or size, or set checkpointing = true".to_owned()),
    })
}

fn word(settings: &Settings, name: &str) -> String {
    settings.get(name).map(Value::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests;
