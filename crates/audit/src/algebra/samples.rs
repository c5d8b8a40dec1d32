//! Statistics of listed samples: a table of means beside the rows or lines that it summarizes.

use assay_model::{Source, Statistic};
use assay_stats::{median, quantile};

use crate::checks::Checks;
use crate::finding::{Level, Operand};
use crate::grid::{Cell, ColumnKind, Grid, Row, words};
use crate::number::shown;
use crate::quantity::{Quantity, quantities};
use crate::{Class, Finding};

/// Repeats of one thing.
#[derive(Debug, Clone)]
struct Samples {
    /// The label of their rows, in lower case.
    label: String,
    /// The setting that names them: words of its header and its value.
    setting: Option<(Vec<String>, f64)>,
    values: Vec<f64>,
    /// What the last digit of a sample is worth.
    step: f64,
    lines: Vec<u64>,
    file: String,
}

/// Samples of more values are data of their own.
const MOST_SAMPLES: usize = 5000;
const MOST_SETS: usize = 200;

const ALL: [Statistic; 5] =
    [Statistic::Mean, Statistic::Median, Statistic::Minimum, Statistic::Maximum, Statistic::Deviation];

/// The statistic that a text names.
fn named(text: &str) -> Option<Statistic> {
    words(text).iter().find_map(|word| match word.as_str() {
        "best" => Some(Statistic::Minimum),
        "worst" => Some(Statistic::Maximum),
        word => Statistic::named(word),
    })
}

/// The values that a statistic may have; a standard deviation is divided by n or by n - 1.
pub(super) fn values_of(statistic: Statistic, values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let percentile = |percent: f64| quantile(values, percent / 100.0).into_iter().collect();
    match statistic {
        Statistic::Mean => vec![mean],
        Statistic::Median => percentile(50.0),
        Statistic::Percentile(percent) => percentile(percent),
        Statistic::Minimum => vec![values.iter().copied().fold(f64::INFINITY, f64::min)],
        Statistic::Maximum => vec![values.iter().copied().fold(f64::NEG_INFINITY, f64::max)],
        Statistic::Deviation => vec![(square / (count - 1.0)).sqrt(), (square / count).sqrt()],
    }
}

/// Checks tables of statistics against the samples of other tables.
pub fn check(grids: &[Grid], checks: &mut Checks) {
    // Few tables hold samples; a document may have any number of tables.
    let sets: Vec<(usize, Vec<Samples>)> =
        grids.iter().map(samples).enumerate().filter(|(_, families)| !families.is_empty()).collect();
    for (index, grid) in grids.iter().enumerate() {
        if grid.rows.len() > 60 {
            continue;
        }
        for (other, families) in &sets {
            if *other != index {
                against(grid, families, checks);
            }
        }
    }
}

/// Numbers that a line lists together with their statistic: `71.0 70.4 72.3 69.8 (ms)  mean 71.0`.
pub fn check_line(text: &str, file: &str, line: u64, checks: &mut Checks) {
    let numbers = quantities(text);
    for (index, stated) in numbers.iter().enumerate() {
        let head = text.get(..stated.start).unwrap_or_default();
        let word = head.split_whitespace().next_back().unwrap_or_default();
        let word = word.trim_matches(|one: char| !one.is_alphanumeric());
        let Some(statistic) = named(word).filter(|one| *one != Statistic::Deviation) else {
            continue;
        };
        let decimals = |text: &str| {
            text.split_whitespace().next().and_then(|one| one.split_once('.')).map_or(0, |one| one.1.len())
        };
        let listed: Vec<&Quantity> =
            numbers[..index].iter().filter(|one| decimals(&one.text) == decimals(&numbers[0].text)).collect();
        // A list has commas or spaces between its numbers, nothing else.
        let bare = listed.windows(2).all(|pair| {
            let between = text.get(pair[0].end..pair[1].start).unwrap_or("?").trim();
            [",", "", "and", ", and", ";"].contains(&between)
        });
        if listed.len() < 3 || !bare || listed.len() != index {
            continue;
        }
        let values: Vec<f64> = listed.iter().map(|one| one.written).collect();
        let value = values_of(statistic, &values).first().copied().unwrap_or(f64::NAN);
        let half = 0.5 * (stated.high - stated.low) / stated.unit.factor();
        if (value - stated.written).abs() <= half.max(0.01 * value.abs()) {
            continue;
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let outside = !(low..=high).contains(&stated.written);
        let name = statistic.to_string();
        checks.push(Finding {
            class: Class::SampleStatistic,
            level: if outside { Level::Contradicted } else { Level::Doubtful },
            summary: format!(
                "the {name} of the {} listed values is {}, not {}",
                values.len(),
                shown(value),
                stated.text
            ),
            arithmetic: vec![format!("{name} of {} values = {}", values.len(), shown(value))],
            sources: vec![Source::new(file, line)],
            operands: vec![Operand { text: stated.text.clone(), value: stated.value, line }],
            advice: "recompute it from the listed values".to_owned(),
        });
    }
}

/// The samples of a table: rows of one label, column by column, or the unnamed numbers of each row.
fn samples(grid: &Grid) -> Vec<Samples> {
    let mut found: Vec<Samples> = Vec::new();
    if grid.rows.len() > MOST_SAMPLES {
        return found;
    }
    let bare: Vec<usize> = grid
        .numeric()
        .filter(|column| grid.columns[*column].words.is_empty() || grid.columns[*column].header.is_empty())
        .collect();
    if bare.len() >= 3 {
        let named = grid.numeric().find(|column| !bare.contains(column));
        for row in 0..grid.rows.len() {
            let cells: Vec<&Cell> = bare.iter().filter_map(|column| grid.cell(row, *column)).collect();
            let setting = named
                .and_then(|column| Some((grid.columns[column].words.clone(), grid.cell(row, column)?.value)));
            found.push(set(grid, row, &cells, setting));
        }
    }
    let measures: Vec<usize> = grid
        .columns
        .iter()
        .enumerate()
        .filter(|(_, one)| one.kind == ColumnKind::Measure)
        .map(|(at, _)| at)
        .collect();
    let mut labels: Vec<&str> = Vec::new();
    for column in (0..grid.columns.len()).filter(|column| grid.columns[*column].kind == ColumnKind::Label) {
        labels.extend(grid.rows.iter().filter_map(|row| row.texts.get(column)).map(String::as_str));
    }
    labels.sort_unstable();
    labels.dedup();
    if labels.len() > MOST_SETS {
        return found;
    }
    for label in labels.iter().filter(|label| !label.is_empty()) {
        let rows: Vec<usize> = (0..grid.rows.len())
            .filter(|row| grid.rows[*row].texts.iter().any(|text| text == label))
            .collect();
        if rows.len() < 2 || rows.len() == grid.rows.len() {
            continue;
        }
        for column in &measures {
            let cells: Vec<&Cell> = rows.iter().filter_map(|row| grid.cell(*row, *column)).collect();
            if cells.len() == rows.len() {
                let mut samples = set(grid, rows[0], &cells, None);
                samples.label = label.to_lowercase();
                found.push(samples);
            }
        }
    }
    found
}

fn set(grid: &Grid, row: usize, cells: &[&Cell], setting: Option<(Vec<String>, f64)>) -> Samples {
    let mut lines: Vec<u64> = cells.iter().map(|cell| cell.line).collect();
    lines.dedup();
    Samples {
        label: grid.rows[row].label.to_lowercase(),
        setting,
        values: cells.iter().map(|cell| cell.written).collect(),
        step: cells.iter().map(|cell| (cell.high - cell.low) / cell.unit.factor()).fold(0.0, f64::max),
        lines,
        file: grid.file.clone(),
    }
}

/// A cell and what the samples give for it.
struct Comparison<'a> {
    row: usize,
    column: usize,
    statistic: Statistic,
    samples: &'a Samples,
    agrees: bool,
}

fn against(grid: &Grid, families: &[Samples], checks: &mut Checks) {
    let mut found: Vec<Comparison<'_>> = Vec::new();
    for row in 0..grid.rows.len() {
        let own: Vec<&Samples> = families.iter().filter(|samples| names(grid, row, samples)).collect();
        for column in grid.measures() {
            let Some(cell) = grid.cell(row, column) else { continue };
            let named = named(&grid.columns[column].header);
            // Of several columns of samples, the one whose values the cell could belong to.
            let size = |samples: &&&Samples| {
                let middle = median(&samples.values).unwrap_or(f64::NAN);
                named == Some(Statistic::Deviation)
                    || middle > 0.0 && (0.3..3.0).contains(&(cell.written / middle))
            };
            for samples in own.iter().filter(size) {
                let tried: Vec<Statistic> = named.map_or_else(|| ALL[..4].to_vec(), |one| vec![one]);
                found.extend(tried.into_iter().map(|statistic| {
                    let agrees = agrees(cell, statistic, samples);
                    Comparison { row, column, statistic, samples, agrees }
                }));
            }
        }
    }
    report(grid, &found, checks);
}

/// Whether samples are named like a row: by its label or by a setting.
fn names(grid: &Grid, row: usize, samples: &Samples) -> bool {
    let found = &grid.rows[row];
    if !samples.label.is_empty() {
        // A summary has one row for a name; a table that repeats it holds other settings of the same thing.
        let is_named = |row: &Row| row.label.to_lowercase() == samples.label;
        return is_named(found) && grid.rows.iter().filter(|row| is_named(row)).count() == 1;
    }
    let Some((header, value)) = &samples.setting else { return false };
    grid.settings().any(|column| {
        grid.columns[column].words.iter().any(|word| header.contains(word))
            && grid.cell(row, column).is_some_and(|cell| cell.value == *value)
    })
}

fn agrees(cell: &Cell, statistic: Statistic, samples: &Samples) -> bool {
    let half = 0.5 * (cell.high - cell.low) / cell.unit.factor() + 0.5 * samples.step;
    values_of(statistic, &samples.values)
        .iter()
        .any(|value| (value - cell.written).abs() <= half.max(1e-9 * value.abs()) * 1.01)
}

/// Reports cells that break a statistic which at least twice as many others keep.
fn report(grid: &Grid, found: &[Comparison<'_>], checks: &mut Checks) {
    for column in grid.measures() {
        let named = named(&grid.columns[column].header).is_some();
        let kept_elsewhere = found.iter().filter(|one| one.agrees && one.column != column).count();
        for statistic in ALL {
            let of: Vec<&Comparison<'_>> =
                found.iter().filter(|one| one.column == column && one.statistic == statistic).collect();
            let kept = of.iter().filter(|one| one.agrees).count();
            let rows_kept: Vec<usize> = of.iter().filter(|one| one.agrees).map(|one| one.row).collect();
            let evidence = if named { kept + kept_elsewhere } else { kept };
            let broken: Vec<&&Comparison<'_>> = of
                .iter()
                .filter(|one| !one.agrees && !rows_kept.contains(&one.row))
                .filter(|one| named || !follows(found, one.row, column))
                .collect();
            if evidence < 2 || broken.is_empty() || evidence < 2 * broken.len() {
                continue;
            }
            for one in broken {
                push(grid, one, checks);
            }
        }
    }
}

/// Whether a cell is some statistic of its samples.
fn follows(found: &[Comparison<'_>], row: usize, column: usize) -> bool {
    found.iter().any(|one| one.row == row && one.column == column && one.agrees)
}

fn push(grid: &Grid, one: &Comparison<'_>, checks: &mut Checks) {
    let Some(cell) = grid.cell(one.row, one.column) else { return };
    let value = values_of(one.statistic, &one.samples.values).first().copied().unwrap_or(f64::NAN);
    if (value - cell.written).abs() <= 0.01 * value.abs() {
        return;
    }
    let mut sources = vec![Source::new(grid.file.clone(), cell.line)];
    sources
        .extend(one.samples.lines.iter().take(20).map(|line| Source::new(one.samples.file.clone(), *line)));
    let name = one.statistic.to_string();
    checks.push(Finding {
        class: Class::SampleStatistic,
        level: Level::Contradicted,
        summary: format!(
            "{}: {} is {}, but the {name} of its {} samples is {}",
            grid.row_name(one.row),
            grid.columns[one.column].header,
            cell.text,
            one.samples.values.len(),
            shown(value)
        ),
        arithmetic: vec![format!("{name} of {} values = {}", one.samples.values.len(), shown(value))],
        sources,
        operands: vec![Operand { text: cell.text.clone(), value: cell.value, line: cell.line }],
        advice: "recompute it from the samples".to_owned(),
    });
}
