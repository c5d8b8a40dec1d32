//! What the runs of all workloads share: how they are started, and how what they told is looked at.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_model::{Settings, Value, WorkloadEvent};
use assay_workloads::{Emitter, Ended, Limits, WorkloadError, run};

/// A machine whose memory nobody has looked at.
pub(crate) const MACHINE: Limits = Limits { memory_bytes: None, peak_flops: Some(1e11), threads: 2 };

/// Settings, the later ones in the place of earlier ones with the same name.
pub(crate) fn settings(base: &[(&str, Value)], extra: &[(&str, Value)]) -> Settings {
    base.iter().chain(extra).map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Runs a workload, whatever comes of it.
pub(crate) fn try_run(
    workload: &str,
    settings: &Settings,
    machine: &Limits,
) -> (Result<Ended, WorkloadError>, Vec<WorkloadEvent>) {
    let (mut told, stop) = (Vec::new(), AtomicBool::new(false));
    let ended = run(workload, settings, machine, &mut Emitter::new(&mut |line| told.push(line), &stop));
    (ended, told)
}

/// Runs a workload to its end.
pub(crate) fn done(workload: &str, settings: &Settings) -> Vec<WorkloadEvent> {
    let (ended, told) = try_run(workload, settings, &MACHINE);
    assert_eq!(ended.unwrap(), Ended::Done, "{told:?}");
    told
}

/// The values of a series with their steps.
pub(crate) fn series(told: &[WorkloadEvent], name: &str) -> Vec<(u64, f64)> {
    let of = |line: &WorkloadEvent| match line {
        WorkloadEvent::Value { metric, value, step: Some(step), .. } if metric == name => {
            Some((*step, *value))
        }
        _ => None,
    };
    told.iter().filter_map(of).collect()
}

/// The values of a series.
pub(crate) fn values(told: &[WorkloadEvent], name: &str) -> Vec<f64> {
    series(told, name).into_iter().map(|(_, value)| value).collect()
}

/// A value of the whole run.
pub(crate) fn value(told: &[WorkloadEvent], name: &str) -> Option<f64> {
    told.iter().rev().find_map(|line| match line {
        WorkloadEvent::Value { metric, value, step: None, .. } if metric == name => Some(*value),
        _ => None,
    })
}

/// A setting as it was in force.
pub(crate) fn setting(told: &[WorkloadEvent], wanted: &str) -> Option<String> {
    told.iter().rev().find_map(|line| match line {
        WorkloadEvent::Setting { name, value } if name == wanted => Some(value.to_string()),
        _ => None,
    })
}

/// All notes.
pub(crate) fn notes(told: &[WorkloadEvent]) -> String {
    let of = |line: &WorkloadEvent| match line {
        WorkloadEvent::Note { text, .. } => Some(text.clone()),
        _ => None,
    };
    told.iter().filter_map(of).collect::<Vec<_>>().join("\n")
}

/// Why a run failed, and what to do about it.
pub(crate) fn failure(told: &[WorkloadEvent]) -> Option<(String, Option<String>)> {
    told.iter().find_map(|line| match line {
        WorkloadEvent::Failed { reason, hint } => Some((reason.clone(), hint.clone())),
        _ => None,
    })
}

/// A path as a setting.
pub(crate) fn path(path: &Path) -> Value {
    Value::Text(path.to_str().unwrap().to_owned())
}
