//! A record with some settings as columns, as a write-up would print it.

use std::collections::BTreeMap;

use assay_judge::pivot::{Pivot, PivotCell, PivotRow};
use assay_model::{Estimate, Settings, Value, Verdict};

use crate::answer::{equal_within, estimate_cells, estimators, interval_note, metric_title, scale};
use crate::number::Scale;
use crate::table::{Cell, Column, Table, Tone};

/// One row for each combination of the other settings; medians with their intervals, ratios, and what was published.
pub fn table(pivot: &Pivot, question: Option<&str>) -> Table {
    let title = question.filter(|question| !question.is_empty());
    let title = title.map_or_else(|| pivot.name.clone(), |question| format!("{}: {question}", pivot.name));
    let mut table = Table { heading: vec![title, metric_title(&pivot.metric)], ..Table::default() };
    let cells = pivot.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let scale = scale(&pivot.metric, cells.filter_map(|cell| cell.estimate.as_ref()));
    table.columns = columns(pivot, &scale);
    table.keys = pivot.down.len();
    let usual = usual_runs(pivot);
    for row in &pivot.rows {
        let cells = row_cells(pivot, row, (&scale, usual), &mut table);
        table.rows.push(cells);
    }
    let estimates = || pivot.rows.iter().flat_map(|row| row.cells.iter().flatten()).filter_map(estimated);
    table.notes.push(interval_note(estimates()));
    if estimates().any(|estimate| estimate.samples == usual && usual > 1) {
        table.notes.push(format!("{usual} runs each where a cell has no other number"));
    }
    if let Some(against) = &pivot.against {
        table.notes.push(format!(
            "ratio: to {} = {} at equal settings, {}, with its 95 % interval; ~ indistinguishable from 1; ? too few runs; {}",
            against.setting,
            against.value,
            estimators(pivot.rows.iter().flat_map(|row| &row.cells).flatten().filter_map(|cell| cell.against.as_ref())),
            equal_within(&pivot.metric)
        ));
    }
    if !pivot.published.is_empty() {
        table.notes.push("published numbers have no interval and are not compared".to_owned());
    }
    table
}

fn estimated(cell: &PivotCell) -> Option<&Estimate> {
    cell.estimate.as_ref()
}

/// The number of runs that most cells have; cells with another one show theirs.
fn usual_runs(pivot: &Pivot) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for estimate in pivot.rows.iter().flat_map(|row| row.cells.iter().flatten()).filter_map(estimated) {
        *counts.entry(estimate.samples).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, cells)| *cells).map_or(0, |(runs, _)| runs)
}

fn columns(pivot: &Pivot, scale: &Scale) -> Vec<Column> {
    let mut columns: Vec<Column> = pivot.down.iter().map(Column::left).collect();
    for column in &pivot.columns {
        let (group, name) = parts(column);
        let below =
            |name: &str| if group.is_empty() { Column::right(name) } else { Column::below(&group, name) };
        columns.push(below(&scale.titled(&name)));
        if has_ratio(pivot, column) {
            columns.push(Column { name: "ratio".to_owned(), ..below("ratio") });
        }
    }
    for (label, column) in &pivot.published {
        let words = words(column);
        let space = if words.is_empty() { "" } else { ": " };
        columns.push(Column::right(scale.titled(&format!("{label}{space}{words}"))));
    }
    columns.push(Column::left(""));
    columns
}

fn has_ratio(pivot: &Pivot, column: &Settings) -> bool {
    pivot.against.as_ref().is_some_and(|against| column.get(&against.setting) != Some(&against.value))
}

/// What a column has of the settings that go across; a number needs the name of its setting.
fn words(settings: &Settings) -> String {
    settings.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word((name, value): (&String, &Value)) -> String {
    match value {
        Value::Text(text) => text.clone(),
        value => format!("{name} {value}"),
    }
}

/// The first setting, below which columns that share it stand, and the others; the first is empty where there is one setting.
fn parts(settings: &Settings) -> (String, String) {
    let words: Vec<String> = settings.iter().map(word).collect();
    match words.as_slice() {
        [first, others @ ..] if !others.is_empty() => (first.clone(), others.join(" ")),
        _ => (String::new(), words.concat()),
    }
}

fn row_cells(pivot: &Pivot, row: &PivotRow, (scale, usual): (&Scale, usize), table: &mut Table) -> Vec<Cell> {
    let setting = |name: &String| row.settings.get(name).map(ToString::to_string).unwrap_or_default();
    let mut cells: Vec<Cell> = pivot.down.iter().map(|name| Cell::new(setting(name))).collect();
    let mut marks: Vec<String> = Vec::new();
    for (column, cell) in pivot.columns.iter().zip(&row.cells) {
        cells.push(value_cell(cell.as_ref(), scale, usual));
        if has_ratio(pivot, column) {
            cells.push(ratio_cell(cell.as_ref()));
        }
        for caveat in cell.iter().flat_map(|cell| &cell.caveats) {
            marks.push(table.footnote(&caveat.text, &caveat.hint));
        }
    }
    for value in &row.published {
        let show = |value: f64| scale.show(value, scale.decimals(value, value, value));
        cells.push(value.map_or_else(Cell::default, |value| Cell::toned(show(value), Tone::Faint)));
    }
    marks.dedup();
    cells.push(Cell::toned(marks.join(" "), Tone::Doubt));
    cells
}

/// The median and its interval, or why there is none.
fn value_cell(cell: Option<&PivotCell>, scale: &Scale, usual: usize) -> Cell {
    let Some(cell) = cell else { return Cell::default() };
    if cell.estimate.is_none() && cell.counts.unfit > 0 {
        return Cell::toned("does not fit", Tone::Doubt);
    }
    if cell.estimate.is_none() && cell.counts.failed + cell.counts.timed_out > 0 {
        return Cell::toned("failed", Tone::Bad);
    }
    let runs = cell.estimate.as_ref().map_or(0, |estimate| estimate.samples);
    let [median, interval] = estimate_cells(cell.estimate.as_ref(), scale);
    match runs {
        0 => median,
        1 => Cell::new(format!("{} (1 run)", median.text)),
        runs if runs == usual => Cell::new(format!("{} ({})", median.text, interval.text)),
        runs => Cell::new(format!("{} ({}; {runs} runs)", median.text, interval.text)),
    }
}

fn ratio_cell(cell: Option<&PivotCell>) -> Cell {
    let Some(effect) = cell.and_then(|cell| cell.against.as_ref()) else { return Cell::default() };
    let text = match effect.interval {
        Some(ends) => format!("{:.2} ({:.2} – {:.2})", effect.ratio, ends.low, ends.high),
        None => format!("{:.2}", effect.ratio),
    };
    match effect.verdict {
        Verdict::Unclear if effect.interval.is_none() => Cell::toned(format!("? {text}"), Tone::Doubt),
        Verdict::Same => Cell::toned(format!("= {text}"), Tone::Doubt),
        Verdict::Unclear => Cell::toned(format!("~ {text}"), Tone::Doubt),
        Verdict::Better => Cell::toned(text, Tone::Good),
        Verdict::Worse => Cell::toned(text, Tone::Bad),
    }
}
