//! Repeats in a table: rows that differ in nothing but a name or a number of the run, as one row with their mean.

use super::cell::Cell;
use super::{ColumnKind, Grid, Row, words};
use crate::interval::Interval;

/// The longest table whose repeats are summarized.
const MOST_ROWS: usize = 2000;
/// The most groups that a claim may compare.
const MOST_GROUPS: usize = 60;

/// What is computed of the repeats.
#[derive(Clone, Copy)]
enum Summary {
    Mean,
    Median,
}

/// The means and the medians of the repeats of a table; empty where its rows are no repeats.
pub fn groups(grid: &Grid) -> Vec<Grid> {
    let Some(members) = members(grid) else { return Vec::new() };
    let summaries: &[Summary] = if members.iter().any(|(_, rows)| rows.len() > 2) {
        &[Summary::Mean, Summary::Median]
    } else {
        &[Summary::Mean]
    };
    summaries.iter().map(|summary| summarized(grid, &members, *summary)).collect()
}

/// The rows of each group with its name. Groups are distinguished by the label columns whose texts repeat.
fn members(grid: &Grid) -> Option<Vec<(String, Vec<usize>)>> {
    let rows = grid.rows.len();
    if !(4..=MOST_ROWS).contains(&rows) || grid.is_list() {
        return None;
    }
    let labels = grid.columns.iter().enumerate().filter(|(_, column)| column.kind == ColumnKind::Label);
    let repeating = labels.map(|(index, _)| index).filter(|column| {
        let mut texts: Vec<&str> =
            grid.rows.iter().filter_map(|row| Some(row.texts.get(*column)?.as_str())).collect();
        texts.sort_unstable();
        texts.dedup();
        texts.len() >= 2 && 2 * texts.len() <= rows
    });
    let keys: Vec<usize> = repeating.collect();
    if keys.is_empty() {
        return None;
    }
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, row) in grid.rows.iter().enumerate() {
        let texts: Vec<&str> = keys.iter().filter_map(|key| Some(row.texts.get(*key)?.as_str())).collect();
        let name = texts.join(" ");
        match found.iter_mut().find(|(other, _)| *other == name) {
            Some((_, rows)) => rows.push(index),
            None => found.push((name, vec![index])),
        }
        if found.len() > MOST_GROUPS {
            return None;
        }
    }
    let repeated = found.iter().all(|(_, rows)| rows.len() >= 2) && same_settings(grid, &found);
    (found.len() >= 2 && repeated).then_some(found)
}

/// Whether the rows of each group have the same settings, but for numbers that count the runs.
fn same_settings(grid: &Grid, members: &[(String, Vec<usize>)]) -> bool {
    grid.settings().all(|column| {
        let counts = grid.columns[column].words.iter().any(|word| {
            ["run", "seed", "repeat", "trial", "rep", "fold", "job", "pass"].contains(&word.as_str())
        });
        counts
            || members.iter().all(|(_, rows)| {
                let mut values = rows.iter().map(|row| grid.cell(*row, column).map(|cell| cell.value));
                let first = values.next();
                values.all(|value| Some(value) == first)
            })
    })
}

fn summarized(grid: &Grid, members: &[(String, Vec<usize>)], summary: Summary) -> Grid {
    let rows = members.iter().filter_map(|(name, rows)| {
        let first = grid.rows.get(*rows.first()?)?;
        let cells = (0..grid.columns.len()).map(|column| {
            let cells: Vec<&Cell> = rows.iter().filter_map(|row| grid.cell(*row, column)).collect();
            let complete = cells.len() == rows.len();
            if complete { summarize(&cells, summary) } else { None }
        });
        let cells: Vec<Option<Cell>> = cells.collect();
        let texts = cells.iter().map(|cell| cell.as_ref().map_or(String::new(), |cell| cell.text.clone()));
        Some(Row { line: first.line, words: words(name), label: name.clone(), texts: texts.collect(), cells })
    });
    Grid { rows: rows.collect(), repeats: false, ..grid.clone() }
}

/// The mean or the median of some cells.
fn summarize(cells: &[&Cell], summary: Summary) -> Option<Cell> {
    let first = (*cells.first()?).clone();
    if cells.iter().any(|cell| cell.unit != first.unit) {
        return None;
    }
    let count = cells.len() as f64;
    let half = cells.iter().map(|cell| 0.5 * (cell.high - cell.low)).fold(0.0, f64::max);
    let value = match summary {
        Summary::Mean => cells.iter().map(|cell| cell.value).sum::<f64>() / count,
        Summary::Median => {
            let mut values: Vec<f64> = cells.iter().map(|cell| cell.value).collect();
            values.sort_by(f64::total_cmp);
            let middle = values.len() / 2;
            if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) }
        }
    };
    let name = match summary {
        Summary::Mean => "mean",
        Summary::Median => "median",
    };
    let written = value / first.unit.factor();
    let interval = Interval::new(value - half, value + half);
    let text = format!("{} ({name} of {})", crate::number::shown(written), cells.len());
    Some(Cell { value, low: interval.low, high: interval.high, written, text, ..first })
}
