//! The product by OpenBLAS, for comparisons. It uses its own threads, which spin for a while after each call: do not time
//! it in one process with other engines. The last bits of its results depend on the number of threads.

use std::ffi::c_int;

use super::{Matrix, Problem};
use crate::threads::Threads;

const ROW_MAJOR: c_int = 101;
const AS_IT_IS: c_int = 111;
const TRANSPOSED: c_int = 112;

#[link(name = "openblas")]
unsafe extern "C" {
    fn openblas_set_num_threads(threads: c_int);
    fn cblas_sgemm(
        order: c_int,
        transpose_a: c_int,
        transpose_b: c_int,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: f32,
        a: *const f32,
        a_stride: c_int,
        b: *const f32,
        b_stride: c_int,
        beta: f32,
        c: *mut f32,
        c_stride: c_int,
    );
}

/// Whether the library can take a problem: its sizes are C integers.
pub(super) fn suits(problem: &Problem) -> bool {
    let sizes = [problem.m, problem.n, problem.k];
    sizes.into_iter().all(|size| c_int::try_from(size).is_ok())
}

/// Computes a product that suits, with at least one row, column and inner element.
///
/// # Safety
/// The problem must describe valid memory whose result overlaps no factor.
pub(super) unsafe fn multiply(threads: &Threads, problem: &Problem) {
    let integer = |size: usize| size as c_int;
    // The stride of a matrix that has one row only means nothing, and must still be as large as the row.
    let stride = |matrix: Matrix, row: usize| integer(matrix.line_stride.max(matrix.inner_stride).max(row));
    // The lines of the left factor are its rows, those of the right factor its columns.
    let Problem { m, n, k, .. } = *problem;
    let (left, left_row) = if problem.left.inner_stride == 1 { (AS_IT_IS, k) } else { (TRANSPOSED, m) };
    let (right, right_row) = if problem.right.inner_stride == 1 { (TRANSPOSED, k) } else { (AS_IT_IS, n) };
    // SAFETY: the caller's promise.
    unsafe {
        openblas_set_num_threads(integer(threads.count()));
        cblas_sgemm(
            ROW_MAJOR,
            left,
            right,
            integer(m),
            integer(n),
            integer(k),
            1.0,
            problem.left.start,
            stride(problem.left, left_row),
            problem.right.start,
            stride(problem.right, right_row),
            if problem.add { 1.0 } else { 0.0 },
            problem.result,
            integer(n),
        );
    }
}
