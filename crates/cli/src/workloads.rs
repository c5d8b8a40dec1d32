//! All workloads that campaigns can name: those of the room `workloads`, and `chat`, which needs the rooms `load` and
//! `judge`, so that it is put together here.

pub mod chat;

use assay_model::{Metric, Settings, WorkloadDescription};
use assay_workloads::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

use crate::failure::Mistake;

/// All workloads with their settings.
pub fn descriptions() -> Vec<WorkloadDescription> {
    let mut all = assay_workloads::descriptions();
    all.push(chat::description());
    all
}

/// The workload of a name.
pub fn description(name: &str) -> Result<WorkloadDescription, Mistake> {
    let mut all = descriptions();
    match all.iter().position(|known| known.name == name) {
        Some(place) => Ok(all.swap_remove(place)),
        None => {
            let known = all.into_iter().map(|known| known.name).collect();
            Err(WorkloadError::Unknown { name: name.to_owned(), known }.into())
        }
    }
}

/// Metrics of workloads that are not among the canonical ones.
pub fn metrics() -> Vec<Metric> {
    chat::metrics()
}

/// Whether a workload can be run with these settings, as far as the settings alone decide that.
pub fn check(name: &str, settings: &Settings) -> Result<(), Mistake> {
    match name {
        chat::NAME => chat::check(settings),
        _ => Ok(assay_workloads::check(name, settings)?),
    }
}

/// Runs one workload to its end. It reports through `emitter`; an error is returned and not reported.
pub fn run(
    name: &str,
    settings: Settings,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> anyhow::Result<WorkloadEnd> {
    match name {
        chat::NAME => chat::run(settings, emitter),
        _ => {
            assay_workloads::run(name, &settings, machine, emitter).map_err(|error| match error.is_usage() {
                true => Mistake::from(error).into(),
                false => error.into(),
            })
        }
    }
}
