//! Several metrics of a record side by side: the table as a write-up would print it.

use std::collections::BTreeMap;

use assay_judge::{Answer, AnswerRow};
use assay_model::{Caveat, CellId, Published};

use crate::answer::{estimate_cells, interval_note, scale};
use crate::number::Scale;
use crate::table::{Cell, Column, Table, Tone};

/// One row a cell, one column a metric: the median, and its interval where there is one; then what others published,
/// which has none. The answers must be of one record, so that they have the same rows.
pub fn table(answers: &[Answer], question: Option<&str>, published: &[Published]) -> Table {
    let mut table = Table::default();
    let Some(first) = answers.first() else { return table };
    let title = question.filter(|question| !question.is_empty());
    table
        .heading
        .push(title.map_or_else(|| first.name.clone(), |question| format!("{}: {question}", first.name)));
    let is_number = |name: &String| {
        first.rows.iter().all(|row| row.settings.get(name).is_none_or(|value| value.number().is_some()))
    };
    let column = |name| if is_number(name) { Column::right(name) } else { Column::left(name) };
    table.columns = first.varied.iter().map(column).collect();
    if first.several_platforms || first.varied.is_empty() {
        table.columns.push(Column::left("platform"));
    }
    table.keys = table.columns.len();
    let scales: Vec<Scale> = answers
        .iter()
        .map(|answer| scale(&answer.metric, answer.rows.iter().filter_map(|row| row.estimate.as_ref())))
        .collect();
    for (answer, scale) in answers.iter().zip(&scales) {
        table.columns.push(Column::right(scale.titled(&answer.metric.name)));
    }
    let others = others(answers, &scales, published);
    let labels: Vec<&str> = others.iter().fold(Vec::new(), |mut labels, (label, ..)| {
        if !labels.contains(label) {
            labels.push(label);
        }
        labels
    });
    for (label, answer, scale) in &others {
        let head = short_label(label, &labels);
        table.columns.push(Column::right(scale.titled(&format!("{head}: {}", answer.metric.name))));
    }
    table.columns.extend([Column::right("runs"), Column::left("")]);
    let rows: Vec<BTreeMap<&CellId, &AnswerRow>> =
        answers.iter().map(|answer| answer.rows.iter().map(|row| (&row.cell, row)).collect()).collect();
    for row in &first.rows {
        let setting = |name: &String| {
            row.settings
                .get(name)
                .map_or_else(|| Cell::toned("-", Tone::Faint), |value| Cell::new(value.to_string()))
        };
        // A doubt about the runs concerns all their numbers: it stands once, at the end of the row.
        let is_shared = |caveat: &Caveat| {
            let has = |rows: &BTreeMap<_, &AnswerRow>| {
                rows.get(&row.cell).is_some_and(|row| row.caveats.contains(caveat))
            };
            rows.iter().all(has)
        };
        let mut cells: Vec<Cell> = first.varied.iter().map(setting).collect();
        if first.several_platforms || first.varied.is_empty() {
            cells.push(Cell::new(row.cell.platform.clone()));
        }
        for (rows, scale) in rows.iter().zip(&scales) {
            let same = rows.get(&row.cell);
            let [median, interval] = estimate_cells(same.and_then(|row| row.estimate.as_ref()), scale);
            let spreads = !interval.text.is_empty()
                && !interval.text.starts_with(&format!("{} – {}", median.text, median.text));
            let mut text = if spreads { format!("{} ({})", median.text, interval.text) } else { median.text };
            for caveat in same.into_iter().flat_map(|row| &row.caveats).filter(|caveat| !is_shared(caveat)) {
                text.push_str(&format!(" {}", table.footnote(&caveat.text, &caveat.hint)));
            }
            cells.push(Cell::toned(text, median.tone));
        }
        for (label, answer, scale) in &others {
            let stated = |number: &&Published| {
                number.label == *label
                    && number.metric == answer.metric.name
                    && number.belongs_to(&row.settings, &first.common)
            };
            let show = |value: f64| scale.show(value, scale.decimals(value, value, value));
            let value = published.iter().find(stated).map(|number| show(number.value));
            cells.push(Cell::toned(value.unwrap_or_default(), Tone::Faint));
        }
        cells.push(Cell::new(row.counts.succeeded.to_string()));
        let shared = row.caveats.iter().filter(|caveat| is_shared(caveat));
        let marks: Vec<String> = shared.map(|caveat| table.footnote(&caveat.text, &caveat.hint)).collect();
        cells.push(Cell::toned(marks.join(" "), Tone::Doubt));
        table.rows.push(cells);
    }
    let estimates = answers.iter().flat_map(|answer| &answer.rows).filter_map(|row| row.estimate.as_ref());
    table.notes.push(interval_note(estimates));
    for label in labels.iter().filter(|label| short_label(label, &labels) != **label) {
        table.notes.push(format!("{}: {label}", short_label(label, &labels)));
    }
    if !others.is_empty() {
        table.notes.push("published numbers have no interval and are not compared".to_owned());
    }
    table
}

/// What a column of published numbers is headed: its source, or a number that a note below the table explains.
fn short_label(label: &str, labels: &[&str]) -> String {
    const LONGEST: usize = 16;
    match labels.iter().position(|known| *known == label) {
        Some(place) if label.chars().count() > LONGEST => format!("published {}", place + 1),
        _ => label.to_owned(),
    }
}

/// The columns of published numbers that belong to a row: whose they are, and the metric they belong to.
fn others<'a>(
    answers: &'a [Answer],
    scales: &'a [Scale],
    published: &'a [Published],
) -> Vec<(&'a str, &'a Answer, &'a Scale)> {
    let mut columns: Vec<(&str, &Answer, &Scale)> = Vec::new();
    let is_shown = |number: &&Published| {
        let belongs =
            |answer: &Answer| answer.rows.iter().any(|row| number.belongs_to(&row.settings, &answer.common));
        answers.first().is_some_and(belongs)
    };
    for number in published.iter().filter(is_shown) {
        let known = |column: &(&str, &Answer, &Scale)| {
            column.0 == number.label && column.1.metric.name == number.metric
        };
        let metric = answers.iter().zip(scales).find(|(answer, _)| answer.metric.name == number.metric);
        if let Some((answer, scale)) = metric.filter(|_| !columns.iter().any(known)) {
            columns.push((&number.label, answer, scale));
        }
    }
    columns
}
