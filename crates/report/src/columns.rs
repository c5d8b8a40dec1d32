//! Several metrics of a record side by side: the table as a write-up would print it.

use assay_judge::Answer;

use crate::answer::{estimate_cells, scale, with_unit};
use crate::number::Scale;
use crate::table::{Cell, Column, Table, Tone};

/// One row a cell, one column a metric: the median, and its interval where there is one. The answers must be of one
/// record, so that they have the same rows.
pub fn table(answers: &[Answer], question: Option<&str>) -> Table {
    let mut table = Table::default();
    let Some(first) = answers.first() else { return table };
    let title = question.filter(|question| !question.is_empty());
    table
        .heading
        .push(title.map_or_else(|| first.name.clone(), |question| format!("{}: {question}", first.name)));
    table.columns = first.varied.iter().map(Column::right).collect();
    if first.several_platforms || first.varied.is_empty() {
        table.columns.push(Column::left("platform"));
    }
    let scales: Vec<Scale> = answers
        .iter()
        .map(|answer| scale(&answer.metric, answer.rows.iter().filter_map(|row| row.estimate.as_ref())))
        .collect();
    for (answer, scale) in answers.iter().zip(&scales) {
        table.columns.push(Column::right(with_unit(&answer.metric.name, scale)));
    }
    table.columns.push(Column::right("runs"));
    for row in &first.rows {
        let setting = |name: &String| {
            row.settings
                .get(name)
                .map_or_else(|| Cell::toned("-", Tone::Faint), |value| Cell::new(value.to_string()))
        };
        let mut cells: Vec<Cell> = first.varied.iter().map(setting).collect();
        if first.several_platforms || first.varied.is_empty() {
            cells.push(Cell::new(row.cell.platform.clone()));
        }
        for (answer, scale) in answers.iter().zip(&scales) {
            let same = answer.rows.iter().find(|other| other.cell == row.cell);
            let [median, interval] = estimate_cells(same.and_then(|row| row.estimate.as_ref()), scale);
            let spreads = !interval.text.is_empty()
                && !interval.text.starts_with(&format!("{} – {}", median.text, median.text));
            let text = if spreads { format!("{} ({})", median.text, interval.text) } else { median.text };
            cells.push(Cell::toned(text, median.tone));
        }
        cells.push(Cell::new(row.counts.succeeded.to_string()));
        table.rows.push(cells);
    }
    table.notes.push("medians, with the interval of the median in brackets".to_owned());
    table
}
