//! Which columns a law may combine, with which exponents.

use crate::grid::{ColumnKind, Grid};

/// Columns with their exponents.
pub(super) type Terms = Vec<(usize, i32)>;

/// Two to four columns with exponents, each law once. The columns are positions in `columns`.
pub(super) fn combinations(grid: &Grid, columns: &[usize], rows: usize) -> Vec<Terms> {
    let is_setting = |column: usize| grid.columns[columns[column]].kind == ColumnKind::Setting;
    let count = columns.len();
    let mut found = Vec::new();
    for one in 0..count {
        for two in one + 1..count {
            found.extend([1, -1].map(|sign| vec![(one, 1), (two, sign)]));
            for three in two + 1..count {
                for (second, third) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                    found.push(vec![(one, 1), (two, second), (three, third)]);
                    // A handful of rows does not distinguish a law of four columns from chance.
                    if rows < LEAST_ROWS_OF_FOUR {
                        continue;
                    }
                    // Throughput × time = batch × length.
                    for four in three + 1..count {
                        found.extend(
                            [1, -1]
                                .map(|fourth| vec![(one, 1), (two, second), (three, third), (four, fourth)]),
                        );
                    }
                }
            }
        }
    }
    found.extend(powers(count, is_setting));
    // What was chosen follows no law.
    found.retain(|terms| terms.iter().any(|(column, _)| !is_setting(*column)));
    found
}

/// Rows that a law of four columns needs.
const LEAST_ROWS_OF_FOUR: usize = 8;

/// What was chosen may enter with its square or its cube: the work of a matrix product, the parameters of a layer.
fn powers(count: usize, is_setting: impl Fn(usize) -> bool) -> Vec<Terms> {
    let mut found = Vec::new();
    for chosen in (0..count).filter(|column| is_setting(*column)) {
        let others: Vec<usize> = (0..count).filter(|column| *column != chosen).collect();
        for power in [2, 3, -2, -3] {
            for (position, one) in others.iter().enumerate() {
                found.push(vec![(*one, 1), (chosen, power)]);
                for two in &others[position + 1..] {
                    found.extend([1, -1].map(|sign| vec![(*one, 1), (*two, sign), (chosen, power)]));
                }
            }
        }
    }
    found
}

/// Laws of one size compete with one another: two columns that agree are more than four that do.
pub(super) fn size(terms: &[(usize, i32)]) -> usize {
    terms.iter().map(|(_, exponent)| exponent.unsigned_abs() as usize).sum::<usize>().min(SIZES - 1)
}

/// One more than the largest size.
pub(super) const SIZES: usize = 6;
