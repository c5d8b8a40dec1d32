//! Shares of a known count are multiples of one part of it (the GRIM test): 75.7 % of 250 tickets does not exist.

use super::{Constant, interval};
use crate::checks::Check;
use crate::grid::Grid;

/// Counts that are tried: a larger one has a multiple near everything.
const MOST_COUNTED: f64 = 100_000.0;
const LEAST_COUNTED: f64 = 8.0;
/// The chance at which random shares would all be multiples.
const CHANCE: f64 = 1e-3;
/// How many counts of the text are tried.
const MOST_COUNTS: usize = 20;

pub(super) fn check(grid: &Grid, constants: &[Constant], broken: &mut Vec<Check>) {
    let counts: Vec<f64> = constants
        .iter()
        .filter(|one| one.unit.is_count() && one.unit.scale == 1.0)
        .map(|one| one.interval.middle().round())
        .filter(|count| (LEAST_COUNTED..=MOST_COUNTED).contains(count))
        .take(MOST_COUNTS)
        .collect();
    if counts.is_empty() || grid.rows.len() > 200 {
        return;
    }
    for column in grid.measures().filter(|column| grid.columns[*column].unit.percent) {
        for count in &counts {
            multiples(grid, column, *count, counts.len(), broken);
        }
    }
}

/// Whether a share is a multiple of one part of a count, as far as its digits say.
fn multiples(grid: &Grid, column: usize, count: f64, tries: usize, broken: &mut Vec<Check>) {
    let (mut kept, mut failed) = (0, Vec::new());
    let mut chance = tries as f64;
    for row in 0..grid.rows.len() {
        let Some(cell) = interval(grid, row, column).filter(|cell| cell.low >= 0.0 && cell.high <= 1.01)
        else {
            continue;
        };
        // Authors round to even, up or down; the last digit may be one off.
        let slack = 0.02 * (cell.high - cell.low);
        let (low, high) = ((cell.low - slack) * count, (cell.high + slack) * count);
        if high.floor() >= low.ceil() {
            kept += 1;
            chance *= (high - low).min(1.0);
        } else {
            failed.push(row);
        }
    }
    if kept < 3 || failed.len() != 1 || chance > CHANCE {
        return;
    }
    for row in failed {
        broken.push(Check {
            row,
            others: Vec::new(),
            columns: vec![column],
            expected: Vec::new(),
            law: format!("{} is a multiple of 1/{count}", grid.columns[column].header),
            kept,
            factor: 1.0,
            certain: false,
        });
    }
}
