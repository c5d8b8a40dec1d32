//! Laws between the columns of two tables whose rows have the same names: times in one, speedups in the other.

use super::{Constant, interval, product, reference, sum};
use crate::checks::{Check, Checks};
use crate::grid::{ColumnKind, Grid};

/// Tables that are compared with one another; a document of thousands is a collection.
const MOST_TABLES: usize = 12;
const MOST_ROWS: usize = 60;
const MOST_COLUMNS: usize = 8;
const LEAST_ROWS: usize = 3;

/// Checks the tables of a document pairwise.
pub fn check(grids: &[Grid], constants: &[Constant], checks: &mut Checks) {
    let small = |grid: &&Grid| {
        (LEAST_ROWS..=MOST_ROWS).contains(&grid.rows.len()) && grid.columns.len() <= MOST_COLUMNS
    };
    let tables: Vec<&Grid> = grids.iter().filter(small).take(MOST_TABLES).collect();
    for (index, one) in tables.iter().enumerate() {
        for other in &tables[index + 1..] {
            if let Some((joined, from)) = joined(one, other) {
                let mut broken: Vec<Check> = Vec::new();
                let mut holds: Vec<(usize, usize)> = Vec::new();
                sum::check(&joined, &mut broken, &mut holds);
                reference::check(&joined, &mut broken, &mut holds);
                product::check(&joined, constants, &mut broken, &mut holds);
                equal(&joined, from, &mut broken, &mut holds);
                // What one table says alone was checked there.
                let spans = |check: &Check| {
                    check.columns.iter().any(|column| *column >= from)
                        && check.columns.iter().any(|column| *column < from)
                };
                broken.retain(spans);
                checks.settle_joined(&joined, broken, &holds);
            }
        }
    }
}

/// The rows that two tables share, with the columns of both, and where the columns of the second begin.
fn joined(one: &Grid, other: &Grid) -> Option<(Grid, usize)> {
    let name = |grid: &Grid, row: usize| grid.row_name(row).to_lowercase();
    let names = |grid: &Grid| -> Vec<String> { (0..grid.rows.len()).map(|row| name(grid, row)).collect() };
    let (first, second) = (names(one), names(other));
    let unique = |names: &[String], name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let mut rows = Vec::new();
    for (row, name) in first.iter().enumerate() {
        let Some(partner) = second.iter().position(|other| other == name) else { continue };
        if name.starts_with("row ") || !unique(&first, name) || !unique(&second, name) {
            return None;
        }
        let mut whole = one.rows[row].clone();
        whole.cells.extend(other.rows[partner].cells.iter().cloned());
        whole.texts.extend(other.rows[partner].texts.iter().cloned());
        rows.push(whole);
    }
    if rows.len() < LEAST_ROWS || 2 * rows.len() < first.len().max(second.len()) {
        return None;
    }
    let from = one.columns.len();
    let mut columns = one.columns.clone();
    columns.extend(other.columns.iter().cloned());
    // What both tables chose is in both.
    let is_again =
        |column: usize, columns: &[crate::grid::Column]| columns[column].kind == ColumnKind::Setting;
    for column in from..columns.len() {
        if is_again(column, &columns) {
            rows.iter_mut().for_each(|row| row.cells[column] = None);
        }
    }
    let grid = Grid { columns, rows, repeats: false, ..one.clone() };
    Some((grid, from))
}

/// A column that both tables have: equal in most rows, so it should be in all.
fn equal(grid: &Grid, from: usize, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    for one in grid.measures().filter(|column| *column < from) {
        for other in grid.measures().filter(|column| *column >= from) {
            let (first, second) = (&grid.columns[one], &grid.columns[other]);
            if !first.unit.same_symbols(&second.unit)
                || !first.words.iter().any(|word| second.words.contains(word))
            {
                continue;
            }
            let rows: Vec<usize> = (0..grid.rows.len()).collect();
            let both = |row: &&usize| Some((interval(grid, **row, one)?, interval(grid, **row, other)?));
            let kept: Vec<usize> =
                rows.iter().filter(|row| both(row).is_some_and(|(a, b)| a.meets(b))).copied().collect();
            let failed: Vec<usize> = rows
                .iter()
                .filter(|row| both(row).is_some_and(|(a, b)| !a.widened(0.02).meets(b)))
                .copied()
                .collect();
            let differing = kept
                .iter()
                .filter_map(|row| interval(grid, *row, one))
                .any(|cell| interval(grid, kept[0], one).is_some_and(|first| !first.meets(cell)));
            if kept.len() < 2 || !differing || failed.len() * 3 > kept.len() + 1 || failed.len() > 1 {
                continue;
            }
            holds.extend(kept.iter().flat_map(|row| [(*row, one), (*row, other)]));
            for row in failed {
                broken.push(Check {
                    row,
                    others: Vec::new(),
                    columns: vec![one, other],
                    expected: Vec::new(),
                    law: format!("{} is the same in both tables", first.header),
                    kept: kept.len(),
                    factor: 1.0,
                    certain: false,
                });
            }
        }
    }
}
