//! The product without any special instructions: the reference that every other way is checked against. Not the `gemm`
//! crate, because that one picks the instructions of the processor by itself.

use super::Problem;
use crate::threads::Threads;

/// Rows and columns of the tile whose sums are kept in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 16;
/// Inner indices whose part of the right factor is copied at once; the copy stays in the first-level cache.
const DEPTH: usize = 256;
/// Tasks with fewer multiplications than this are not worth handing out.
const LEAST_TASK: usize = 1 << 17;

/// Computes a product with at least one row, column and inner element.
///
/// # Safety
/// The problem must describe valid memory whose result overlaps no factor.
pub(super) unsafe fn multiply(threads: &Threads, problem: &Problem) {
    let least = LEAST_TASK.div_ceil(problem.m * problem.k);
    let share = threads.items_per_task(problem.n, least).next_multiple_of(COLUMNS);
    threads.run(problem.n.div_ceil(share), |task| {
        let end = problem.n.min((task + 1) * share);
        for column in (task * share..end).step_by(COLUMNS) {
            // SAFETY: the columns are in the result, and no two tasks share one.
            unsafe { panel(problem, column, COLUMNS.min(end - column)) };
        }
    });
}

/// Computes up to [`COLUMNS`] columns of the result.
///
/// # Safety
/// The columns must be in the result, and nobody else may use them meanwhile.
unsafe fn panel(problem: &Problem, column: usize, columns: usize) {
    let (left, right) = (problem.left, problem.right);
    let mut copy = [[0.0; COLUMNS]; DEPTH];
    for first in (0..problem.k).step_by(DEPTH) {
        let depth = DEPTH.min(problem.k - first);
        for (inner, copy) in copy[..depth].iter_mut().enumerate() {
            for (line, copy) in copy[..columns].iter_mut().enumerate() {
                let place = (column + line) * right.line_stride + (first + inner) * right.inner_stride;
                // SAFETY: the line and the inner index are those of an element of the right factor.
                *copy = unsafe { *right.start.add(place) };
            }
        }
        for row in (0..problem.m).step_by(ROWS) {
            let rows = ROWS.min(problem.m - row);
            let mut sums = [[0.0; COLUMNS]; ROWS];
            for (inner, copy) in copy[..depth].iter().enumerate() {
                for (line, sums) in sums[..rows].iter_mut().enumerate() {
                    let place = (row + line) * left.line_stride + (first + inner) * left.inner_stride;
                    // SAFETY: the line and the inner index are those of an element of the left factor.
                    let factor = unsafe { *left.start.add(place) };
                    for (sum, value) in sums.iter_mut().zip(copy) {
                        *sum += factor * value;
                    }
                }
            }
            for (line, sums) in sums[..rows].iter().enumerate() {
                for (place, sum) in sums[..columns].iter().enumerate() {
                    // SAFETY: row and column are those of an element of the result, which belongs to this task.
                    let result =
                        unsafe { &mut *problem.result.add((row + line) * problem.n + column + place) };
                    *result = if problem.add || first > 0 { *result + sum } else { *sum };
                }
            }
        }
    }
}
