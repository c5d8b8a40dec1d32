//! The check that an entry holds no infinite or undefined number. JSON has no way to write one, and a line that
//! cannot be read back must never be written.

use assay_model::gate::{Bound, Gate};
use assay_model::{Entry, RunResult, Settings, Status, Value};

/// Says which number of an entry is not finite, if one is not.
pub(super) fn not_finite(entry: &Entry) -> Option<String> {
    match entry {
        Entry::Record { at, .. } => time(*at, "the time of the record line"),
        Entry::Session { at, machine, .. } => time(*at, "the time of the session")
            .or_else(|| time(machine.load.unwrap_or(0.0), "the load of the machine")),
        Entry::Plan { plan, add, .. } => {
            let odd = plan.gates.iter().find(|gate| !is_bounded_by_numbers(gate));
            odd.map(|gate| format!("the gate on `{}`", gate.metric)).or_else(|| {
                add.iter().find_map(|planned| {
                    let name = setting(&planned.settings)?;
                    Some(format!("setting `{name}` of cell {}", planned.cell))
                })
            })
        }
        Entry::Launching { run, at, .. } => {
            (!at.is_finite()).then(|| format!("the launch time of run {run}"))
        }
        Entry::Started { .. } | Entry::Submitted { .. } => None,
        Entry::Submitting { at, .. } => time(*at, "the time of the submission"),
        Entry::AcceptedDamage { at, .. } => time(*at, "the time of the accepted damage"),
        Entry::Scrubbed { at, .. } => time(*at, "the time of the scrub"),
        Entry::Finished { run, result } => in_result(result).map(|what| format!("{what} of run {run}")),
    }
}

fn time(at: f64, what: &str) -> Option<String> {
    (!at.is_finite()).then(|| what.to_owned())
}

/// Whether a gate's bounds can be written. One that could not would read back as no bound at all.
fn is_bounded_by_numbers(gate: &Gate) -> bool {
    match &gate.bound {
        Bound::Range { min, max } => [min, max].into_iter().flatten().all(|bound| bound.is_finite()),
        Bound::Near { expect, within } => expect.is_finite() && within.is_finite(),
        Bound::NearRecord { within, .. } => within.is_finite(),
    }
}

fn setting(settings: &Settings) -> Option<&str> {
    settings
        .iter()
        .find(|(_, value)| matches!(value, Value::Float(number) if !number.is_finite()))
        .map(|(name, _)| name.as_str())
}

fn in_result(result: &RunResult) -> Option<String> {
    if let Status::TimedOut { after_s } = result.status
        && !after_s.is_finite()
    {
        return Some("the timeout".to_owned());
    }
    if !result.started_at.is_finite() {
        return Some("the start time".to_owned());
    }
    if let Some(usage) = &result.usage
        && ![usage.wall_s, usage.user_s, usage.system_s].iter().all(|number| number.is_finite())
    {
        return Some("the usage".to_owned());
    }
    if let Some(odd) = result.observations.iter().find(|observation| !observation.value.is_finite()) {
        return Some(format!("observation `{}`", odd.metric));
    }
    let odd = result.series.iter().find(|series| !series.values.iter().all(|value| value.is_finite()))?;
    Some(format!("a value of series `{}`", odd.metric))
}
