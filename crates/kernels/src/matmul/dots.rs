//! The product on AVX2 for a few rows, when both factors have their lines in one piece: scalar products of lines.
//! Packing would cost more than it gains here, as every packed element is used only a few times.

use std::arch::x86_64::{
    __m256, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps, _mm256_castps256_ps128,
    _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps,
};

use super::Problem;
use crate::threads::Threads;

/// With more rows than this, packing pays.
const FEW_ROWS: usize = 24;
/// Rows and columns computed at once: their sums and factors fit the sixteen registers.
const ROWS: usize = 4;
const COLUMNS: usize = 2;
/// Tasks with fewer multiplications than this are not worth handing out.
const LEAST_TASK: usize = 1 << 16;

/// Whether this is the better way for a problem.
pub(super) fn suits(problem: &Problem) -> bool {
    problem.m <= FEW_ROWS && problem.left.inner_stride == 1 && problem.right.inner_stride == 1
}

/// Computes a product that suits, with at least one row, column and inner element.
///
/// # Safety
/// AVX2 and FMA must be available, and the problem must describe valid memory whose result overlaps no factor.
pub(super) unsafe fn multiply(threads: &Threads, problem: &Problem) {
    let least = LEAST_TASK.div_ceil(problem.m * problem.k);
    let share = threads.items_per_task(problem.n, least).next_multiple_of(COLUMNS);
    threads.run(problem.n.div_ceil(share), |task| {
        let first = task * share;
        let end = (first + share).min(problem.n);
        // SAFETY: the caller's promise, and no two tasks share a column.
        unsafe { columns(problem, first, end) };
    });
}

/// Computes some columns of the result: a few lines of the right factor against all of the left, then the next.
#[target_feature(enable = "avx2,fma")]
unsafe fn columns(problem: &Problem, first: usize, end: usize) {
    let mut column = first;
    while column < end {
        let columns = COLUMNS.min(end - column);
        let mut row = 0;
        while row < problem.m {
            let rows = ROWS.min(problem.m - row);
            // SAFETY: these rows and columns are in the result and belong to the caller.
            unsafe {
                match (rows, columns) {
                    (4, 2) => tile::<4, 2>(problem, row, column),
                    (3, 2) => tile::<3, 2>(problem, row, column),
                    (2, 2) => tile::<2, 2>(problem, row, column),
                    (1, 2) => tile::<1, 2>(problem, row, column),
                    (4, _) => tile::<4, 1>(problem, row, column),
                    (3, _) => tile::<3, 1>(problem, row, column),
                    (2, _) => tile::<2, 1>(problem, row, column),
                    (_, _) => tile::<1, 1>(problem, row, column),
                }
            }
            row += rows;
        }
        column += columns;
    }
}

/// The scalar products of `R` lines of the left factor with `C` of the right.
#[target_feature(enable = "avx2,fma")]
unsafe fn tile<const R: usize, const C: usize>(problem: &Problem, row: usize, column: usize) {
    const LANES: usize = 8;
    let left = problem.left.start.wrapping_add(row * problem.k);
    let right = problem.right.start.wrapping_add(column * problem.k);
    let whole = problem.k / LANES * LANES;
    let mut sums = [[_mm256_setzero_ps(); C]; R];
    for inner in (0..whole).step_by(LANES) {
        let mut factors = [_mm256_setzero_ps(); C];
        for (c, factor) in factors.iter_mut().enumerate() {
            // SAFETY: eight elements of the line are left.
            *factor = unsafe { _mm256_loadu_ps(right.add(c * problem.k + inner)) };
        }
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: eight elements of the line are left.
            let value = unsafe { _mm256_loadu_ps(left.add(r * problem.k + inner)) };
            for (sum, factor) in sums.iter_mut().zip(factors) {
                *sum = _mm256_fmadd_ps(value, factor, *sum);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (c, sum) in sums.into_iter().enumerate() {
            let mut total = add_lanes(sum);
            // SAFETY: the rest of both lines is in the factors, and the element of the result belongs to the caller.
            unsafe {
                for inner in whole..problem.k {
                    let (a, b) = (*left.add(r * problem.k + inner), *right.add(c * problem.k + inner));
                    total = a.mul_add(b, total);
                }
                let target = problem.result.add((row + r) * problem.n + column + c);
                *target = if problem.add { *target + total } else { total };
            }
        }
    }
}

/// The sum of the eight lanes, by halves.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_lanes(lanes: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}
