//! Built-in workloads, the engines that compute them, and the data they use.
//!
//! A workload is asked for by name with settings, and says what it does as [`assay_model::WorkloadEvent`] lines through an
//! [`Emitter`]; it prints nothing itself.
//!
//! | file | holds |
//! |---|---|
//! | `emitter.rs` | what a caller gives a workload, and how it answers |
//! | `error.rs` | what can go wrong |
//! | `arguments.rs` | settings as they stand on a command line |
//! | `describe.rs` | parts of which the descriptions of workloads are made |
//! | `settings.rs` | settings read as typed values, with clear errors |
//! | `process.rs` | this process's CPU time and memory, and pacing by standard input |
//! | `instructions.rs` | which instruction set the native engine uses, and why |
//! | `initial.rs` | the rule for initial weights and random data, the same for every engine |
//! | `tensors.rs` | tensors by name, and memory for them |
//! | `weights.rs` | tensors in files |
//! | `data.rs`, `data/` | data sets by name, their files, synthetic digits |
//! | `schedule.rs` | epochs, steps and iterations over a data set |
//! | `native.rs` | a run of the native engine, as far as it is the same for all |
//! | `session.rs`, `summary.rs` | the iterations of a run, and what is said of them |
//! | `training.rs` | how AdamW updates weights |
//! | `ranks.rs`, `collective.rs`, `collective/` | several tasks that train together |
//! | `profile.rs` | where the time goes |
//! | `lm.rs`, `lm/` | the language model: forward pass, forward and backward pass, training |
//! | `bert.rs`, `bert/` | BERT: sentences classified or embedded, pre-training, heads trained on features |
//! | `mnist.rs`, `mnist/` | a convolutional network that learns digits |
//! | `peak.rs` | what this machine can do at most |
//! | `memory.rs` | how much memory a workload may take |
//! | `engine.rs`, `engine/` | adapters to other runtimes |

mod emitter;
mod error;
mod native;
mod process;
mod ranks;
mod session;
mod summary;

pub mod arguments;
pub mod bert;
pub mod collective;
pub mod data;
pub mod describe;
pub mod engine;
pub mod initial;
pub mod instructions;
pub mod lm;
pub mod memory;
pub mod mnist;
pub mod peak;
pub mod profile;
pub mod schedule;
pub mod settings;
pub mod tensors;
pub mod training;
pub mod weights;

pub use emitter::{Emitter, SeriesLimits, WorkloadEnd};
pub use error::WorkloadError;

use assay_model::{Settings, Value, WorkloadDescription};

use crate::collective::processes;

/// All built-in workloads with their settings.
pub fn descriptions() -> Vec<WorkloadDescription> {
    vec![lm::description(), bert::description(), mnist::description()]
}

pub fn description(name: &str) -> Result<WorkloadDescription, WorkloadError> {
    descriptions().into_iter().find(|known| known.name == name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> WorkloadError {
    let known = descriptions().into_iter().map(|known| known.name).collect();
    WorkloadError::Unknown { name: name.to_owned(), known }
}

/// Whether a workload can be run with these settings, as far as the settings alone show.
pub fn check(name: &str, settings: &Settings) -> Result<(), WorkloadError> {
    match name {
        lm::NAME => lm::LmOptions::read(settings, 1).map(|_| ()),
        bert::NAME => bert::BertOptions::read(settings, 1).map(|_| ()),
        mnist::NAME => mnist::MnistOptions::read(settings, 1).map(|_| ()),
        _ => Ok(()),
    }
}

/// Runs one workload to its end. What it measures is reported through `emitter`; an error is returned and not reported.
/// Where a launcher started several processes, each is one task of the run, and only the first reports.
pub fn run(
    name: &str,
    settings: &Settings,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let Some(started) = processes::started() else { return run_here(name, settings, machine, emitter) };
    // What all processes find wrong is an error before any of them waits for the others.
    check(name, settings)?;
    let tasks = settings.get("tasks").and_then(Value::number).unwrap_or(1.0) as usize;
    processes::check(started, tasks)?;
    processes::join()?;
    let machine = SeriesLimits { threads: started.threads(machine.threads), ..*machine };
    let ended = if processes::with(|ranks| ranks.rank()) == 0 {
        run_here(name, settings, &machine, emitter)
    } else {
        run_here(name, settings, &machine, &mut Emitter::new(&mut |_| {}, emitter.stop_flag()))
    };
    match &ended {
        Ok(_) => processes::leave(),
        Err(error) => processes::give_up(error, emitter),
    }
    ended
}

fn run_here(
    name: &str,
    settings: &Settings,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    match name {
        lm::NAME => lm::run(settings, machine, emitter),
        bert::NAME => bert::run(settings, machine, emitter),
        mnist::NAME => mnist::run(settings, machine, emitter),
        _ => Err(unknown(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::CheckedSettings;

    #[test]
    fn every_setting_is_in_the_command_and_every_default_is_allowed() {
        for description in descriptions() {
            let default = |setting: &assay_model::SettingDescription| {
                Some((setting.name.clone(), setting.default.clone()?))
            };
            let given: Settings = description.settings.iter().filter_map(default).collect();
            assert!(CheckedSettings::new(&description, &given).is_ok(), "{}", description.name);
            for setting in &description.settings {
                let placeholder = format!(" {0}={{{0}}}", setting.name);
                assert!(description.command.contains(&placeholder), "{}", setting.name);
                assert!(setting.optional != setting.default.is_some(), "{}", setting.name);
                let sentinel = setting.summary.contains("0 = ") && setting.name != "clip";
                assert!(!sentinel && !setting.summary.contains("empty = "), "{}", setting.summary);
            }
        }
    }
}
