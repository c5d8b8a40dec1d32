//! Columns that follow a simple curve but for one value: settings in equal steps, and measurements that all but one lie
//! on a smooth curve. Only a value between others can stand out, and only if it is very far off.

use super::interval;
use super::sum::scale;
use crate::checks::Check;
use crate::grid::{ColumnKind, Grid};

/// The longest table whose columns are looked at.
const MOST_ROWS: usize = 200;
/// Rows that equal steps need.
const LEAST_STEPS: usize = 5;
/// Rows that a curve needs.
const LEAST_CURVE: usize = 6;
/// How many times further than all others a value must be from the curve.
const APART: f64 = 12.0;
/// How far it must be from the curve at least, as a logarithm.
const FAR: f64 = 0.2;

pub(super) fn check(grid: &Grid, holds: &[(usize, usize)], broken: &mut Vec<Check>) {
    let rows = grid.rows.len();
    if !(LEAST_STEPS..=MOST_ROWS).contains(&rows) {
        return;
    }
    for column in grid.numeric().filter(|column| grid.lawful(*column)) {
        let values: Option<Vec<f64>> =
            (0..rows).map(|row| interval(grid, row, column).map(|cell| cell.middle())).collect();
        let Some(values) = values else { continue };
        if values.iter().any(|value| *value <= 0.0) {
            continue;
        }
        if let Some((row, value)) = steps(&values) {
            report(grid, (row, column), value, "grows in equal steps", broken);
        } else if rows >= LEAST_CURVE
            && grid.columns[column].kind == ColumnKind::Measure
            && let Some((row, value)) = curve(&values)
            && !holds.contains(&(row, column))
        {
            report(grid, (row, column), value, "follows a smooth curve in the other rows", broken);
        }
    }
}

fn report(grid: &Grid, (row, column): (usize, usize), value: f64, law: &str, broken: &mut Vec<Check>) {
    broken.push(Check {
        row,
        others: Vec::new(),
        columns: vec![column],
        expected: vec![(column, value / scale(grid, row, column))],
        law: format!("{} {law}, which", grid.columns[column].header),
        kept: grid.rows.len() - 1,
        factor: 1.0,
        certain: false,
    });
}

/// The one value that is not where equal steps or equal factors put it. The first two or the last two fix the steps.
fn steps(values: &[f64]) -> Option<(usize, f64)> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let plain = one_off(values).filter(|_| values.windows(2).any(|pair| pair[0] != pair[1]));
    plain.or_else(|| one_off(&logs).map(|(row, value)| (row, value.exp())))
}

/// All but one inner value lie on a line through the others, exactly.
fn one_off(values: &[f64]) -> Option<(usize, f64)> {
    let last = values.len() - 1;
    let step = (values[last] - values[0]) / last as f64;
    if step == 0.0 {
        return None;
    }
    let at = |row: usize| values[0] + step * row as f64;
    let off: Vec<usize> =
        (0..=last).filter(|row| (values[*row] - at(*row)).abs() > 1e-6 * step.abs().max(1e-12)).collect();
    match off.as_slice() {
        [one] if *one > 0 && *one < last && last >= LEAST_STEPS - 1 => Some((*one, at(*one))),
        _ => None,
    }
}

/// The one inner value that lies far from a parabola through the logarithms, which all others are close to.
fn curve(values: &[f64]) -> Option<(usize, f64)> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let ordered = |values: &mut dyn Iterator<Item = f64>| {
        let values: Vec<f64> = values.collect();
        values.windows(2).all(|pair| pair[0] < pair[1]) || values.windows(2).all(|pair| pair[0] > pair[1])
    };
    for row in 1..values.len() - 1 {
        let mut others = logs.iter().enumerate().filter(|(other, _)| *other != row).map(|(_, value)| *value);
        // The others rise or fall without exception, and this value is not between its neighbors.
        if (logs[row - 1]..=logs[row + 1]).contains(&logs[row])
            || (logs[row + 1]..=logs[row - 1]).contains(&logs[row])
            || !ordered(&mut others)
        {
            continue;
        }
        let points: Vec<(f64, f64)> = logs
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != row)
            .map(|(other, value)| (other as f64, *value))
            .collect();
        let Some(fit) = parabola(&points) else { continue };
        let at = |x: f64| fit[0] + fit[1] * x + fit[2] * x * x;
        let worst = points.iter().map(|(x, y)| (y - at(*x)).abs()).fold(0.0, f64::max);
        let off = (logs[row] - at(row as f64)).abs();
        if off > FAR && off > APART * worst {
            return Some((row, at(row as f64).exp()));
        }
    }
    None
}

/// The parabola with the least squares.
fn parabola(points: &[(f64, f64)]) -> Option<[f64; 3]> {
    let sum = |power: i32| points.iter().map(|(x, _)| x.powi(power)).sum::<f64>();
    let moment = |power: i32| points.iter().map(|(x, y)| x.powi(power) * y).sum::<f64>();
    let (s0, s1, s2, s3, s4) = (sum(0), sum(1), sum(2), sum(3), sum(4));
    let (t0, t1, t2) = (moment(0), moment(1), moment(2));
    let determinant = |m: [[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = determinant([[s0, s1, s2], [s1, s2, s3], [s2, s3, s4]]);
    if whole.abs() < 1e-9 {
        return None;
    }
    Some([
        determinant([[t0, s1, s2], [t1, s2, s3], [t2, s3, s4]]) / whole,
        determinant([[s0, t0, s2], [s1, t1, s3], [s2, t2, s4]]) / whole,
        determinant([[s0, s1, t0], [s1, s2, t1], [s2, s3, t2]]) / whole,
    ])
}
