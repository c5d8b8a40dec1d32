//! Columns and rows that are sums or statistics of others.

use assay_model::Statistic;

use super::{interval, samples};
use crate::checks::Check;
use crate::grid::{Grid, is_numbered};
use crate::interval::Interval;

const MOST_COLUMNS: usize = 10;

pub(super) fn check(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    columns(grid, broken, holds);
    statistics(grid, broken, holds);
    total_row(grid, broken, holds);
}

/// A column that is the sum or the difference of two others, or the sum of all others of its unit.
fn columns(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    let numeric: Vec<usize> = grid.measures().take(MOST_COLUMNS).collect();
    for target in &numeric {
        let others: Vec<usize> = numeric
            .iter()
            .copied()
            .filter(|column| {
                column != target && grid.columns[*column].unit.same_measure(&grid.columns[*target].unit)
            })
            .collect();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for (position, one) in others.iter().enumerate() {
            sets.extend(others[position + 1..].iter().map(|two| vec![*one, *two]));
        }
        for length in 3..=others.len() {
            sets.extend(others.windows(length).map(<[usize]>::to_vec));
        }
        for set in sets {
            sum_of(grid, *target, &set, broken, holds);
        }
    }
}

fn sum_of(
    grid: &Grid,
    target: usize,
    set: &[usize],
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let sum = |row: usize| {
        set.iter().try_fold(Interval::exact(0.0), |sum, column| Some(sum.plus(interval(grid, row, *column)?)))
    };
    let (mut kept, mut failed) = (Vec::new(), Vec::new());
    let mut chance = 1.0;
    for row in 0..grid.rows.len() {
        let (Some(cell), Some(sum)) = (interval(grid, row, target), sum(row)) else { continue };
        if cell.meets(sum) {
            kept.push(row);
            chance *= ((cell.relative_width() + sum.relative_width()) / 2.0).min(1.0);
        } else if !sum.widened(0.015).meets(cell) {
            failed.push(row);
        }
    }
    // Zeros and small digits agree with anything.
    if kept.len() < 2 || kept.len() < 2 * failed.len() || chance > 1e-3 {
        return;
    }
    holds
        .extend(kept.iter().flat_map(|row| set.iter().map(|column| (*row, *column)).chain([(*row, target)])));
    let name = |column: usize| grid.columns[column].header.clone();
    let law = format!(
        "{} = {}",
        name(target),
        set.iter().map(|column| name(*column)).collect::<Vec<_>>().join(" + ")
    );
    for row in failed {
        let scale = grid
            .cell(row, target)
            .map_or(1.0, |cell| if cell.unit.scale == 0.0 { 1.0 } else { cell.unit.scale });
        let expected = sum(row).map(|sum| (target, sum.middle() / scale));
        let columns = std::iter::once(target).chain(set.iter().copied()).collect();
        broken.push(Check {
            row,
            others: Vec::new(),
            columns,
            expected: expected.into_iter().collect(),
            law: law.clone(),
            kept: kept.len(),
            factor: 1.0,
            certain: kept.len() >= 3,
        });
    }
}

/// Statistics of a group of columns beside them: `job 1 … job 4 | mean | std`.
fn statistics(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    let group: Vec<usize> =
        grid.measures().filter(|column| is_numbered(&grid.columns[*column].header)).collect();
    if group.len() < 2 {
        return;
    }
    for target in grid.measures().filter(|column| !group.contains(column)) {
        let header = grid.columns[target].header.to_lowercase();
        let Some(name) =
            ["mean", "average", "avg", "median", "min", "max", "std", "stdev", "sd", "sum", "total"]
                .into_iter()
                .find(|name| header.split(|one: char| !one.is_alphanumeric()).any(|word| word == *name))
        else {
            continue;
        };
        for row in 0..grid.rows.len() {
            let cells: Vec<Interval> =
                group.iter().filter_map(|column| interval(grid, row, *column)).collect();
            let Some(cell) = interval(grid, row, target) else { continue };
            if cells.len() < 2 || cells.len() < group.len() {
                continue;
            }
            let values: Vec<f64> = cells.iter().map(|cell| cell.middle()).collect();
            let slack = cells.iter().map(|cell| cell.high - cell.low).fold(0.0, f64::max);
            let candidates = statistic(name, &values);
            let agrees = |value: &f64| cell.low - slack <= *value && *value <= cell.high + slack;
            if candidates.iter().any(agrees) {
                holds.extend(group.iter().map(|column| (row, *column)).chain([(row, target)]));
                continue;
            }
            let Some(value) = candidates.first().copied() else { continue };
            if (value - cell.middle()).abs() <= 0.02 * value.abs() {
                continue;
            }
            let scale = grid.cell(row, target).map_or(1.0, |cell| cell.unit.scale);
            broken.push(Check {
                row,
                others: Vec::new(),
                columns: std::iter::once(target).chain(group.iter().copied()).collect(),
                expected: vec![(target, value / if scale == 0.0 { 1.0 } else { scale })],
                law: format!(
                    "{} = {name} of the {} values before it",
                    grid.columns[target].header,
                    values.len()
                ),
                kept: grid.rows.len() - 1,
                factor: 1.0,
                certain: values.len() >= 3 && ["mean", "median", "average", "avg"].contains(&name),
            });
        }
    }
}

/// The values that a statistic of this name may have.
fn statistic(name: &str, values: &[f64]) -> Vec<f64> {
    match Statistic::named(name) {
        Some(statistic) => samples::values_of(statistic, values),
        // A sum or a total.
        None => vec![values.iter().sum()],
    }
}

/// Whether a header names a quantile or an extreme, which neither add up nor average.
fn is_quantile(header: &str) -> bool {
    let header = header.to_lowercase();
    let mut words = header.split(|one: char| !one.is_alphanumeric());
    words.any(|word| {
        let digits = word.strip_prefix('p').unwrap_or_default();
        matches!(word, "median" | "max" | "min" | "maximum" | "minimum" | "peak")
            || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// A last row that is called a sum or a mean of the rows above it.
fn total_row(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    let Some(last) = grid.rows.len().checked_sub(1).filter(|last| (2..200).contains(last)) else { return };
    let label = grid.rows[last].label.to_lowercase();
    let name = ["total", "sum", "mean", "average", "median"]
        .into_iter()
        .find(|name| label.split(|one: char| !one.is_alphanumeric()).any(|word| word == *name));
    let Some(name) = name else { return };
    let (mut kept, mut failed) = (Vec::new(), Vec::new());
    for column in grid.numeric().filter(|column| !is_quantile(&grid.columns[*column].header)) {
        let cells: Option<Vec<Interval>> = (0..last).map(|row| interval(grid, row, column)).collect();
        let (Some(cells), Some(cell)) = (cells, interval(grid, last, column)) else { continue };
        let values: Vec<f64> = cells.iter().map(|cell| cell.middle()).collect();
        let slack = cells.iter().map(|cell| 0.5 * (cell.high - cell.low)).sum::<f64>();
        let value = match name {
            "total" | "sum" => values.iter().sum::<f64>(),
            "median" => assay_stats::median(&values).unwrap_or(f64::NAN),
            _ => values.iter().sum::<f64>() / values.len() as f64,
        };
        // Every mean of equal values is that value.
        let varied = values.iter().any(|value| *value != values[0]);
        if cell.low - slack <= value && value <= cell.high + slack {
            if varied {
                kept.push(column);
            }
        } else if (value - cell.middle()).abs() > 0.015 * value.abs() {
            failed.push((column, value));
        }
    }
    holds.extend(kept.iter().map(|column| (last, *column)));
    // The only column, or one beside others that add up. A rate or a percentage does not add up.
    for (column, value) in failed {
        let adds = !grid.columns[column].unit.is_rate() && !grid.columns[column].unit.is_relative();
        // A mean may be weighted; only means of other columns say that it is not.
        if kept.is_empty() && !(adds && matches!(name, "total" | "sum"))
            || !adds && matches!(name, "total" | "sum")
        {
            continue;
        }
        let scale = grid.cell(last, column).map_or(1.0, |cell| cell.unit.scale);
        broken.push(Check {
            row: last,
            others: (0..last).collect(),
            columns: vec![column],
            expected: vec![(column, value / if scale == 0.0 { 1.0 } else { scale })],
            law: format!("{} = {name} of the {last} rows above", grid.columns[column].header),
            kept: kept.len(),
            factor: 1.0,
            certain: !kept.is_empty(),
        });
    }
}
