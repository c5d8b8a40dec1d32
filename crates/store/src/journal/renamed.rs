//! Metric names of older records, brought to the names that this version uses.

use assay_model::{Entry, names};

/// Gives the metrics of an entry the names that they have now.
pub(super) fn rename_metrics(entry: &mut Entry) {
    match entry {
        Entry::Finished { result, .. } => {
            result.observations.iter_mut().for_each(|observation| rename(&mut observation.metric));
            result.series.iter_mut().for_each(|series| rename(&mut series.metric));
        }
        Entry::Plan { plan, .. } => {
            rename(&mut plan.headline);
            plan.metrics.iter_mut().for_each(|metric| rename(&mut metric.name));
            plan.gates.iter_mut().for_each(|gate| rename(&mut gate.metric));
            plan.layout.columns.iter_mut().for_each(rename);
            plan.layout.published.iter_mut().for_each(|published| rename(&mut published.metric));
            plan.layout.series.iter_mut().for_each(rename);
            plan.layout.scaling.iter_mut().for_each(|study| rename(&mut study.metric));
        }
        _ => {}
    }
}

fn rename(name: &mut String) {
    let present = names::present(name);
    if present != name {
        *name = present.to_owned();
    }
}
