//! What the runs of all workloads share: how they are started, and how what they reported is looked at.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_model::{Settings, Value, WorkloadEvent};
use assay_workloads::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, run};

/// A machine whose memory nobody has looked at.
pub(crate) const MACHINE: SeriesLimits =
    SeriesLimits { memory_bytes: None, peak_flops: Some(1e11), threads: 2 };

/// Settings, the later ones in the place of earlier ones with the same name.
pub(crate) fn settings(base: &[(&str, Value)], extra: &[(&str, Value)]) -> Settings {
    base.iter().chain(extra).map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Runs a workload, whatever comes of it.
pub(crate) fn try_run(
    workload: &str,
    settings: &Settings,
    machine: &SeriesLimits,
) -> (Result<WorkloadEnd, WorkloadError>, Vec<WorkloadEvent>) {
    let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
    let ended = run(workload, settings, machine, &mut Emitter::new(&mut |line| events.push(line), &stop));
    (ended, events)
}

/// Runs a workload to its end.
pub(crate) fn done(workload: &str, settings: &Settings) -> Vec<WorkloadEvent> {
    let (ended, events) = try_run(workload, settings, &MACHINE);
    assert_eq!(ended.unwrap(), WorkloadEnd::Done, "{events:?}");
    events
}

/// The values of a series with their steps.
pub(crate) fn series(events: &[WorkloadEvent], name: &str) -> Vec<(u64, f64)> {
    let of = |line: &WorkloadEvent| match line {
        WorkloadEvent::Value { metric, value, step: Some(step), .. } if metric == name => {
            Some((*step, *value))
        }
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

/// The values of a series.
pub(crate) fn values(events: &[WorkloadEvent], name: &str) -> Vec<f64> {
    series(events, name).into_iter().map(|(_, value)| value).collect()
}

/// A value of the whole run.
pub(crate) fn value(events: &[WorkloadEvent], name: &str) -> Option<f64> {
    events.iter().rev().find_map(|line| match line {
        WorkloadEvent::Value { metric, value, step: None, .. } if metric == name => Some(*value),
        _ => None,
    })
}

/// A setting as it was in effect.
pub(crate) fn setting(events: &[WorkloadEvent], wanted: &str) -> Option<String> {
    events.iter().rev().find_map(|line| match line {
        WorkloadEvent::Setting { name, value } if name == wanted => Some(value.to_string()),
        _ => None,
    })
}

/// All notes.
pub(crate) fn notes(events: &[WorkloadEvent]) -> String {
    let of = |line: &WorkloadEvent| match line {
        WorkloadEvent::Note { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(of).collect::<Vec<_>>().join("\n")
}

/// Why a run failed, and what to do about it.
pub(crate) fn failure(events: &[WorkloadEvent]) -> Option<(String, Option<String>)> {
    events.iter().find_map(|line| match line {
        WorkloadEvent::Failed { reason, hint } => Some((reason.clone(), hint.clone())),
        _ => None,
    })
}

/// A path as a setting.
pub(crate) fn path(path: &Path) -> Value {
    Value::Text(path.to_str().unwrap().to_owned())
}
