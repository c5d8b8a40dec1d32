//! Columns that are sums or means of others: side by side, and running down the table.

use assay_model::Statistic;

use super::{interval, samples};
use crate::checks::Check;
use crate::grid::{Grid, is_numbered, is_statistic};
use crate::interval::Interval;

const MOST_COLUMNS: usize = 10;
/// The longest table in which running sums are looked for row by row.
const MOST_ROWS: usize = 5000;
/// The chance at which sums of random numbers are taken for a law.
const CHANCE: f64 = 1e-3;

pub(super) fn check(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    columns(grid, broken, holds);
    running(grid, broken, holds);
    statistics(grid, broken, holds);
}

/// How a column follows from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Sum,
    Mean,
    /// Twice the product over the sum, as precision and recall make F1.
    Harmonic,
    Geometric,
}

/// A column that is the sum, the mean or the harmonic mean of others of its unit.
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
        let mut sets: Vec<(Vec<usize>, Form)> = Vec::new();
        for (position, one) in others.iter().enumerate() {
            for two in &others[position + 1..] {
                sets.push((vec![*one, *two], Form::Sum));
                // A mean often lies in the middle of minimum and maximum, and need not.
                if ![*one, *two, *target].iter().any(|column| is_statistic(&grid.columns[*column].header)) {
                    sets.extend([Form::Harmonic, Form::Mean].map(|form| (vec![*one, *two], form)));
                }
            }
        }
        for length in 3..=others.len() {
            let windows = others.windows(length);
            sets.extend(windows.flat_map(|set| [Form::Sum, Form::Mean].map(|form| (set.to_vec(), form))));
        }
        // Only a column that says so is one.
        let header = grid.columns[*target].header.to_lowercase();
        if others.len() > 1 && (header.contains("geomean") || header.starts_with("geo")) {
            sets = vec![(others.clone(), Form::Geometric)];
        }
        let tries = sets.len() as f64;
        for (set, form) in sets {
            follows(grid, *target, (&set, form), tries, broken, holds);
        }
    }
}

/// What a form of some cells of a row gives.
fn combined(grid: &Grid, row: usize, set: &[usize], form: Form) -> Option<Interval> {
    let cells: Option<Vec<Interval>> = set.iter().map(|column| interval(grid, row, *column)).collect();
    let cells = cells?;
    let sum = cells.iter().fold(Interval::exact(0.0), |sum, cell| sum.plus(*cell));
    match form {
        Form::Sum => Some(sum),
        Form::Mean => sum.over(Interval::exact(cells.len() as f64)),
        Form::Geometric => {
            let mean = |end: fn(&Interval) -> f64| {
                let logs: f64 = cells.iter().map(|cell| end(cell).ln()).sum();
                (logs / cells.len() as f64).exp()
            };
            let positive = cells.iter().all(|cell| cell.is_positive());
            positive.then(|| Interval::new(mean(|cell| cell.low), mean(|cell| cell.high)))
        }
        Form::Harmonic => {
            let [one, two] = cells.as_slice() else { return None };
            // It grows with both, so its ends are those of the cells.
            let of = |one: f64, two: f64| 2.0 * one * two / (one + two);
            (one.is_positive() && two.is_positive())
                .then(|| Interval::new(of(one.low, two.low), of(one.high, two.high)))
        }
    }
}

/// Whether every part of a sum is far larger than what the digits leave open, and no two parts are equal to all digits
/// where a mean of them says nothing.
fn is_telling(grid: &Grid, row: usize, set: &[usize], form: Form, slack: f64) -> bool {
    let cells: Vec<f64> =
        set.iter().filter_map(|column| interval(grid, row, *column)).map(Interval::middle).collect();
    match form {
        Form::Sum => cells.iter().filter(|cell| cell.abs() > 2.0 * slack).count() >= 2,
        Form::Mean | Form::Harmonic | Form::Geometric => {
            cells.iter().any(|cell| (cell - cells[0]).abs() > 2.0 * slack)
        }
    }
}

fn follows(
    grid: &Grid,
    target: usize,
    (set, form): (&[usize], Form),
    tries: f64,
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let (mut kept, mut failed, mut telling) = (Vec::new(), Vec::new(), 0);
    let mut chance = tries;
    for row in 0..grid.rows.len() {
        let (Some(cell), Some(found)) = (interval(grid, row, target), combined(grid, row, set, form)) else {
            continue;
        };
        if cell.meets(found) {
            kept.push(row);
            let slack = (cell.high - cell.low) + (found.high - found.low);
            if is_telling(grid, row, set, form, slack) {
                telling += 1;
                chance *= ((cell.relative_width() + found.relative_width()) / 2.0).min(1.0);
            }
        } else if !found.widened(0.015).meets(cell) {
            failed.push(row);
        }
        // Long tables that are no such sum are left early.
        if failed.len() > 20 && failed.len() > kept.len() {
            return;
        }
    }
    // Zeros and small digits agree with anything.
    if telling < 2 || kept.len() < 2 * failed.len() || chance > CHANCE {
        return;
    }
    holds
        .extend(kept.iter().flat_map(|row| set.iter().map(|column| (*row, *column)).chain([(*row, target)])));
    let law = formula(grid, target, set, form);
    for row in failed {
        let columns = std::iter::once(target).chain(set.iter().copied()).collect();
        let expected =
            combined(grid, row, set, form).map(|sum| (target, sum.middle() / scale(grid, row, target)));
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

fn formula(grid: &Grid, target: usize, set: &[usize], form: Form) -> String {
    let target = &grid.columns[target].header;
    let names: Vec<&str> = set.iter().map(|column| grid.columns[*column].header.as_str()).collect();
    match form {
        Form::Sum => format!("{target} = {}", names.join(" + ")),
        Form::Mean => format!("{target} = mean of {}", names.join(", ")),
        Form::Geometric => format!("{target} = geometric mean of {}", names.join(", ")),
        Form::Harmonic => format!("{target} = harmonic mean of {}", names.join(" and ")),
    }
}

/// What a cell's value is divided by to be written.
pub(super) fn scale(grid: &Grid, row: usize, column: usize) -> f64 {
    grid.cell(row, column).map_or(1.0, |cell| cell.unit.factor())
}

/// A column that adds up another one down the table: `time | cumulative`.
fn running(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    let rows = grid.rows.len();
    if !(4..=MOST_ROWS).contains(&rows) {
        return;
    }
    let numeric: Vec<usize> = grid.measures().take(MOST_COLUMNS).collect();
    for target in &numeric {
        for source in numeric.iter().filter(|source| *source != target) {
            if grid.columns[*source].unit.same_measure(&grid.columns[*target].unit) {
                runs_on(grid, *source, *target, broken, holds);
            }
        }
    }
}

fn runs_on(
    grid: &Grid,
    source: usize,
    target: usize,
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let (mut kept, mut failed) = (Vec::new(), Vec::new());
    let mut chance = 1.0;
    for row in 1..grid.rows.len() {
        let before = interval(grid, row - 1, target);
        let (Some(before), Some(cell), Some(added)) =
            (before, interval(grid, row, target), interval(grid, row, source))
        else {
            continue;
        };
        let sum = before.plus(added);
        if sum.meets(cell) && added.middle() > 2.0 * (cell.high - cell.low) {
            kept.push(row);
            chance *= ((sum.relative_width() + cell.relative_width()) / 2.0).min(1.0);
        } else if !sum.widened(0.015).meets(cell) {
            failed.push(row);
        }
        if failed.len() > 4 && failed.len() > kept.len() {
            return;
        }
    }
    // One wrong cell of the sums breaks its row and the next; one wrong part breaks its row.
    let one = failed.len() == 1 || matches!(failed.as_slice(), [first, second] if second - first == 1);
    if kept.len() < 2 || chance > CHANCE {
        return;
    }
    if !(failed.is_empty() || one) {
        return;
    }
    holds.extend(kept.iter().flat_map(|row| [(*row, target), (*row, source)]));
    let Some(row) = failed.first().copied() else { return };
    let expected = interval(grid, row - 1, target)
        .zip(interval(grid, row, source))
        .map(|(before, added)| (target, (before.middle() + added.middle()) / scale(grid, row, target)));
    broken.push(Check {
        row,
        others: vec![row - 1],
        columns: vec![target, source],
        expected: expected.into_iter().collect(),
        law: format!(
            "{} = {} of the row before + {}",
            grid.columns[target].header, grid.columns[target].header, grid.columns[source].header
        ),
        kept: kept.len(),
        factor: 1.0,
        certain: kept.len() >= 4,
    });
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
            statistic_of_row(grid, row, target, (name, &group), broken, holds);
        }
    }
}

fn statistic_of_row(
    grid: &Grid,
    row: usize,
    target: usize,
    (name, group): (&str, &[usize]),
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let cells: Vec<Interval> = group.iter().filter_map(|column| interval(grid, row, *column)).collect();
    let Some(cell) = interval(grid, row, target) else { return };
    if cells.len() < 2 || cells.len() < group.len() {
        return;
    }
    let values: Vec<f64> = cells.iter().map(|cell| cell.middle()).collect();
    let half = cells.iter().map(|cell| 0.5 * (cell.high - cell.low)).fold(0.0, f64::max);
    // No cell is further off than half its last digit, so no mean is; a deviation may be a little more, a sum is the more.
    let slack = match name {
        "sum" | "total" => half * values.len() as f64,
        "std" | "stdev" | "sd" => 1.5 * half,
        _ => 1.01 * half,
    };
    let candidates = statistic(name, &values);
    let agrees = |value: &f64| cell.low - slack <= *value && *value <= cell.high + slack;
    if candidates.iter().any(agrees) {
        holds.extend(group.iter().map(|column| (row, *column)).chain([(row, target)]));
        return;
    }
    let Some(value) = candidates.first().copied() else { return };
    if (value - cell.middle()).abs() <= 0.02 * value.abs() {
        return;
    }
    broken.push(Check {
        row,
        others: Vec::new(),
        columns: std::iter::once(target).chain(group.iter().copied()).collect(),
        expected: vec![(target, value / scale(grid, row, target))],
        law: format!("{} = {name} of the {} values before it", grid.columns[target].header, values.len()),
        kept: grid.rows.len() - 1,
        factor: 1.0,
        certain: values.len() >= 3 && ["mean", "median", "average", "avg"].contains(&name),
    });
}

/// The values that a statistic of this name may have.
fn statistic(name: &str, values: &[f64]) -> Vec<f64> {
    match Statistic::named(name) {
        Some(statistic) => samples::values_of(statistic, values),
        // A sum or a total.
        None => vec![values.iter().sum()],
    }
}
