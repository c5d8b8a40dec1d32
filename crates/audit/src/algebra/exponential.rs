//! A column that is the exponential of another, as perplexity is of a loss in nats or in bits.

use super::interval;
use super::sum::scale;
use crate::checks::Check;
use crate::grid::Grid;
use crate::interval::Interval;

const MOST_COLUMNS: usize = 8;
/// The chance at which columns of random numbers would agree.
const CHANCE: f64 = 1e-4;
/// Larger exponents are no losses.
const LARGEST: f64 = 50.0;

/// The bases of losses.
const BASES: [(f64, &str); 2] = [(std::f64::consts::E, "exp"), (2.0, "2^")];

pub(super) fn check(grid: &Grid, broken: &mut Vec<Check>, holds: &mut Vec<(usize, usize)>) {
    let columns: Vec<usize> = grid.measures().take(MOST_COLUMNS).collect();
    for source in &columns {
        for target in columns.iter().filter(|target| *target != source) {
            for (base, name) in BASES {
                pair(grid, (*source, *target), (base, name), broken, holds);
            }
        }
    }
}

fn pair(
    grid: &Grid,
    (source, target): (usize, usize),
    (base, name): (f64, &str),
    broken: &mut Vec<Check>,
    holds: &mut Vec<(usize, usize)>,
) {
    let power = |row: usize| -> Option<Interval> {
        let own = interval(grid, row, source).filter(|own| own.low > 0.0 && own.high < LARGEST)?;
        Some(Interval::new(base.powf(own.low), base.powf(own.high)))
    };
    let (mut kept, mut failed, mut chance) = (Vec::new(), Vec::new(), 1.0);
    for row in 0..grid.rows.len() {
        let (Some(cell), Some(power)) = (interval(grid, row, target), power(row)) else { continue };
        if cell.meets(power) {
            kept.push(row);
            chance *= ((cell.relative_width() + power.relative_width()) / 2.3).min(1.0);
        } else if !power.widened(0.03).meets(cell) {
            failed.push(row);
            if failed.len() > 2 && failed.len() > kept.len() {
                return;
            }
        }
    }
    if kept.len() < 2 || failed.len() * 3 > kept.len() || chance > CHANCE {
        return;
    }
    holds.extend(kept.iter().flat_map(|row| [(*row, source), (*row, target)]));
    for row in failed {
        let expected = power(row).map(|power| (target, power.middle() / scale(grid, row, target)));
        broken.push(Check {
            row,
            others: Vec::new(),
            columns: vec![target, source],
            expected: expected.into_iter().collect(),
            law: format!("{} = {name}({})", grid.columns[target].header, grid.columns[source].header),
            kept: kept.len(),
            factor: 1.0,
            certain: kept.len() >= 3,
        });
    }
}
