//! The product by the `gemm` crate, for the instruction sets without a loop of our own. The crate is called on one thread at a
//! time and the result is split here, since its own threading loses on small shapes.

use gemm_common::Parallelism;

use super::Problem;
use crate::threads::Threads;

/// Tasks with fewer multiplications than this are not worth handing out.
const LEAST_TASK: usize = 1 << 19;
/// Rows and columns of a task are multiples of this, so that the crate's tiles fit.
const GRAIN: usize = 48;

/// Computes a product with at least one row, column and inner element. The result is split along its longer side.
///
/// # Safety
/// The problem must describe valid memory whose result overlaps no factor.
pub(super) unsafe fn multiply(threads: &Threads, problem: &Problem) {
    let along_rows = problem.m > problem.n;
    let (long, short) = if along_rows { (problem.m, problem.n) } else { (problem.n, problem.m) };
    let least = LEAST_TASK.div_ceil(short * problem.k).next_multiple_of(GRAIN);
    let share = threads.items_per_task(long, least).next_multiple_of(GRAIN);
    threads.run(long.div_ceil(share), |task| {
        let first = task * share;
        let size = share.min(long - first);
        let (row, rows, column, columns) =
            if along_rows { (first, size, 0, problem.n) } else { (0, problem.m, first, size) };
        // SAFETY: the parts are in the matrices, and no two tasks share an element of the result.
        unsafe { part(problem, row, rows, column, columns) };
    });
}

/// Computes some rows and columns of the result.
///
/// # Safety
/// The part must lie in the result, and nobody else may use it meanwhile.
unsafe fn part(problem: &Problem, row: usize, rows: usize, column: usize, columns: usize) {
    let (left, right) = (problem.left, problem.right);
    // SAFETY: the caller promises that the part lies in the result, so its lines lie in the factors.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            rows,
            columns,
            problem.k,
            problem.result.add(row * problem.n + column),
            1,
            problem.n as isize,
            problem.add,
            left.start.add(row * left.line_stride),
            left.inner_stride as isize,
            left.line_stride as isize,
            right.start.add(column * right.line_stride),
            right.line_stride as isize,
            right.inner_stride as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
