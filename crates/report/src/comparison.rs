//! What two records say, as a table.

use assay_judge::Comparison;
use assay_judge::comparison::Shift;
use assay_model::Estimate;

use crate::answer::{
    MORE_RUNS, effect_cell, equal_within, estimate_cell, estimators, interval_note, marked, metric_title,
    scale,
};
use crate::number::Scale;
use crate::table::{Cell, Column, Table, Tone};

/// The table of the cells that two records share.
pub fn table(comparison: &Comparison) -> Table {
    let estimates = comparison.rows.iter().flat_map(|row| row.base.iter().chain(&row.other));
    let scale = scale(&comparison.metric, estimates);
    let across = comparison.rows.iter().any(|row| row.platforms.0 != row.platforms.1);
    let mut table = Table {
        heading: vec![
            format!("{} vs {}", comparison.other, comparison.base),
            metric_title(&comparison.metric),
        ],
        ..Table::default()
    };
    table.columns = comparison.varied.iter().map(Column::right).collect();
    table.keys = comparison.varied.len();
    if across {
        table.columns.push(Column::left("platforms"));
    }
    table.columns.extend([
        Column::right(scale.titled(&comparison.base)),
        Column::right(scale.titled(&comparison.other)),
        Column::right("runs"),
        Column::left("change"),
        Column::right(scale.titled("difference")).secondary(),
        Column::right("p").secondary(),
    ]);
    for row in &comparison.rows {
        let mut cells: Vec<Cell> = comparison
            .varied
            .iter()
            .map(|name| Cell::new(row.settings.get(name).map(ToString::to_string).unwrap_or_default()))
            .collect();
        if across {
            cells.push(Cell::new(format!("{} → {}", row.platforms.0, row.platforms.1)));
        }
        for side in [&row.base, &row.other] {
            cells.push(marked(estimate_cell(side.as_ref(), &scale), side.as_ref(), &mut table));
        }
        let runs = |side: &Option<Estimate>| side.as_ref().map_or(0, |e| e.samples);
        cells.push(Cell::new(format!("{} / {}", runs(&row.base), runs(&row.other))));
        let effect = row.effect.as_ref();
        cells.push(effect.map_or_else(Cell::default, |effect| effect_cell(effect, &comparison.metric)));
        cells.push(Cell::new(row.shift.map(|shift| difference(&shift, &scale)).unwrap_or_default()));
        cells.push(Cell::toned(row.adjusted_p.map(probability).unwrap_or_default(), Tone::Faint));
        if let Some(reason) = effect.and_then(|effect| effect.reason.as_ref())
            && let Some(cell) = cells.iter_mut().rfind(|cell| cell.text == "~" || cell.text == "?")
        {
            let mark = table.footnote(reason, MORE_RUNS);
            cell.text.push_str(&format!(" {mark}"));
        }
        table.rows.push(cells);
    }
    table.notes = notes(comparison);
    for caveat in &comparison.caveats {
        table.doubt(&caveat.text, &caveat.hint);
    }
    table
}

/// A difference in the metric's unit, with its interval.
fn difference(shift: &Shift, scale: &Scale) -> String {
    let decimals = scale.decimals(shift.center, shift.low, shift.high);
    let show = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, scale.show(value, decimals));
    format!("{} ({} – {})", show(shift.center), show(shift.low), show(shift.high))
}

/// A p-value as it deserves to be read.
fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

fn notes(comparison: &Comparison) -> Vec<String> {
    let estimates = comparison.rows.iter().flat_map(|row| row.base.iter().chain(&row.other));
    let mut notes = vec![
        interval_note(estimates),
        format!(
            "change: {}, with its 95 % interval; ~ indistinguishable; ? too few runs; {}",
            estimators(comparison.rows.iter().filter_map(|row| row.effect.as_ref())),
            equal_within(&comparison.metric)
        ),
        "p: Mann–Whitney (Welch where ranks of so few runs could not pass), corrected for the number of rows (Holm); \
         a row needs both its interval and p < 0.05"
            .to_owned(),
    ];
    if let Some(overall) = &comparison.overall {
        let ends = match overall.interval {
            Some((low, high)) => format!(" ({low:.3} – {high:.3}, 95 % over cells)"),
            None => " (no interval: that takes 4 cells)".to_owned(),
        };
        let worst: Vec<String> =
            overall.worst.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        notes.push(format!(
            "all {} cells: geometric mean of the ratios {:.3}{}; worst {:.3} at {}",
            overall.cells,
            overall.ratio,
            ends,
            overall.worst.ratio,
            if worst.is_empty() { "the only cell".to_owned() } else { worst.join(" ") }
        ));
    }
    for (count, record) in
        [(comparison.only_base, &comparison.base), (comparison.only_other, &comparison.other)]
    {
        if count > 0 {
            let cells = if count == 1 { "cell is" } else { "cells are" };
            notes.push(format!("{count} {cells} only in {record}"));
        }
    }
    notes
}
