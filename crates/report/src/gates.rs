//! How cells stand at their gates, as a table.

use std::path::Path;

use assay_judge::{GateResult, GateState};
use assay_model::{Bound, Estimate, Unit};

use crate::answer::marked;
use crate::number::{Scale, single};
use crate::table::{Cell, Column, Table, Tone};

/// The table of gates: how many are met, and a row for each that is not.
pub fn table(results: &[GateResult]) -> Table {
    let mut table = Table::default();
    let met = results.iter().filter(|result| result.state == GateState::Met).count();
    table.heading = vec![format!("gates: {met} of {} met", results.len())];
    if met == results.len() {
        return table;
    }
    table.columns =
        vec![Column::left("gate"), Column::left("cell"), Column::right("measured"), Column::left("state")];
    for result in results.iter().filter(|result| result.state != GateState::Met) {
        let settings: Vec<String> =
            result.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let estimate = result.estimate.as_ref();
        let (word, tone) = match result.state {
            GateState::Met => ("met", Tone::Good),
            GateState::Failed => ("FAILED", Tone::Bad),
            GateState::Undecided if estimate.is_some_and(|estimate| estimate.samples == 1) => {
                ("undecided: a single run has no interval", Tone::Doubt)
            }
            GateState::Undecided => ("undecided: the interval reaches over the bound", Tone::Doubt),
            GateState::Unknown => ("unknown: nothing to compare", Tone::Doubt),
        };
        let text = estimate.map_or_else(|| "-".to_owned(), |estimate| measured(&result.unit, estimate));
        let measured = marked(Cell::new(text), estimate, &mut table);
        let mark = result.note.as_ref().map(|note| {
            table.footnote(
                note,
                "make sure that both do the same work; `assay compare` shows the cells side by side",
            )
        });
        table.rows.push(vec![
            Cell::new(bound(result)),
            Cell::new(settings.join(" ")),
            measured,
            Cell::toned(format!("{word}{}", mark.map(|mark| format!(" {mark}")).unwrap_or_default()), tone),
        ]);
    }
    table
}

/// A value with its interval and the number of runs.
fn measured(unit: &Unit, estimate: &Estimate) -> String {
    let scale = Scale::for_value(unit, estimate.center);
    let decimals = scale.decimals(estimate.center, estimate.low, estimate.high);
    let show = |value: f64| scale.show(value, decimals);
    let center = format!("{} {}", show(estimate.center), scale.name);
    match estimate.samples {
        1 => format!("{center} (1 run)"),
        runs => format!("{center} ({} – {}; {runs} runs)", show(estimate.low), show(estimate.high)),
    }
}

fn bound(result: &GateResult) -> String {
    let metric = &result.gate.metric;
    let show = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |end| single(&result.unit, end));
    match &result.gate.bound {
        Bound::Range { max: None, .. } => format!("{metric} ≥ {}", show(result.low)),
        Bound::Range { min: None, .. } => format!("{metric} ≤ {}", show(result.high)),
        Bound::Range { .. } | Bound::Near { .. } => near(result, ""),
        Bound::NearRecord { record, .. } => {
            let name =
                Path::new(record).file_name().map_or(record.as_str().into(), |name| name.to_string_lossy());
            near(result, &format!(" (from {name})"))
        }
    }
}

/// A bound near an expectation: on one side only, where the metric has a direction.
fn near(result: &GateResult, whence: &str) -> String {
    let metric = &result.gate.metric;
    let show = |end: f64| single(&result.unit, end);
    match (result.low, result.high) {
        (Some(low), Some(high)) => format!("{metric} in {} – {}{whence}", show(low), show(high)),
        (Some(low), None) => format!("{metric} ≥ {}{whence}", show(low)),
        (None, Some(high)) => format!("{metric} ≤ {}{whence}", show(high)),
        (None, None) => format!("{metric}{whence}"),
    }
}
