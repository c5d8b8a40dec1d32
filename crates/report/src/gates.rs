//! How cells stand at their gates, as a table.

use assay_judge::{GateResult, GateState};
use assay_model::Bound;

use crate::number::single;
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
        vec![Column::left("gate"), Column::left("cell"), Column::right("measured"), Column::left("stands")];
    for result in results.iter().filter(|result| result.state != GateState::Met) {
        let settings: Vec<String> =
            result.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (word, tone) = match result.state {
            GateState::Met => ("met", Tone::Good),
            GateState::Failed => ("FAILED", Tone::Bad),
            GateState::Unclear => ("~ the interval reaches over the bound", Tone::Doubt),
            GateState::Unknown => ("unknown: nothing to compare", Tone::Doubt),
        };
        let measured = result
            .estimate
            .as_ref()
            .map_or_else(|| "-".to_owned(), |estimate| single(&result.unit, estimate.center));
        table.rows.push(vec![
            Cell::new(bound(result)),
            Cell::new(settings.join(" ")),
            Cell::new(measured),
            Cell::toned(word, tone),
        ]);
    }
    table
}

fn bound(result: &GateResult) -> String {
    let metric = &result.gate.metric;
    let show = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |end| single(&result.unit, end));
    match &result.gate.bound {
        Bound::Range { max: None, .. } => format!("{metric} ≥ {}", show(result.low)),
        Bound::Range { min: None, .. } => format!("{metric} ≤ {}", show(result.high)),
        Bound::Range { .. } | Bound::Near { .. } => {
            format!("{metric} in {} – {}", show(result.low), show(result.high))
        }
        Bound::NearRecord { record, .. } => {
            format!("{metric} in {} – {} (from {record})", show(result.low), show(result.high))
        }
    }
}
