//! The product of matrices, in which nearly all the time of a training step is spent.
//!
//! On AVX2 it is computed by a loop of our own (`plan`, `pack`, `micro`, `blocked`; `dots` for a few rows); on the
//! other paths by the `gemm` crate (`library`), called on one thread at a time. Why both: on one Zen 3 core, measured in
//! turns in one process while the machine was busy, as percent of the FMA peak by processor time, our loop reaches 79 %
//! in the mean of six shapes of transformer training, the crate 60 % (43 to 78, by shape). Against PyTorch's MKL, over
//! eleven shapes, it was 76 % beside 68 %.
//!
//! Results do not depend on the number of threads: the inner dimension is cut by its length alone, and each element
//! is summed in one order.

#![expect(unsafe_code, reason = "the product works on raw pointers")]

#[cfg(target_arch = "x86_64")]
mod blocked;
#[cfg(target_arch = "x86_64")]
mod buffer;
#[cfg(target_arch = "x86_64")]
mod dots;
mod library;
#[cfg(target_arch = "x86_64")]
mod micro;
#[cfg(feature = "openblas")]
mod openblas;
#[cfg(target_arch = "x86_64")]
mod pack;
mod plain;
#[cfg(target_arch = "x86_64")]
mod plan;

use crate::dispatch::{Isa, isa};
use crate::threads::Threads;

/// How the factors are stored: as they are (N) or transposed (T).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// `a` holds m rows of k, `b` holds k rows of n.
    NN,
    /// `a` holds m rows of k, `b` holds n rows of k.
    NT,
    /// `a` holds k rows of m, `b` holds k rows of n.
    TN,
    /// `a` holds k rows of m, `b` holds n rows of k.
    TT,
}

/// What happens to the former values of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// They are replaced.
    Set,
    /// The product is added to them.
    Add,
}

/// Buffers of the product that a pool keeps from call to call; they grow when a larger shape comes.
#[derive(Default)]
pub(crate) struct Workspace {
    #[cfg(target_arch = "x86_64")]
    blocked: blocked::Workspace,
}

/// A factor in memory. A line is a row of the left factor or a column of the right one; both have the inner dimension
/// as their length, so that both are packed by the same code.
#[derive(Clone, Copy)]
struct Matrix {
    start: *const f32,
    /// Floats from line to line.
    line_stride: usize,
    /// Floats from one inner index to the next.
    inner_stride: usize,
}

impl Matrix {
    /// A factor whose lines of `inner` elements are contiguous.
    fn by_lines(start: &[f32], inner: usize) -> Self {
        Self { start: start.as_ptr(), line_stride: inner, inner_stride: 1 }
    }

    /// A factor with the elements of one inner index in all `lines` side by side.
    fn by_inner(start: &[f32], lines: usize) -> Self {
        Self { start: start.as_ptr(), line_stride: 1, inner_stride: lines }
    }
}

/// A product to compute.
struct Problem {
    m: usize,
    n: usize,
    k: usize,
    left: Matrix,
    right: Matrix,
    /// Row-major, m by n.
    result: *mut f32,
    add: bool,
}

impl Problem {
    /// The product of two factors whose lengths fit the shape.
    fn new(
        layout: Layout,
        (m, n, k): (usize, usize, usize),
        a: &[f32],
        b: &[f32],
        c: &mut [f32],
        write: Write,
    ) -> Self {
        Self {
            m,
            n,
            k,
            left: match layout {
                Layout::NN | Layout::NT => Matrix::by_lines(a, k),
                Layout::TN | Layout::TT => Matrix::by_inner(a, m),
            },
            right: match layout {
                Layout::NT | Layout::TT => Matrix::by_lines(b, k),
                Layout::NN | Layout::TN => Matrix::by_inner(b, n),
            },
            result: c.as_mut_ptr(),
            add: write == Write::Add,
        }
    }
}

// SAFETY: whoever shares a problem takes care that threads write different elements of the result.
unsafe impl Sync for Problem {}

/// `c = a b` or `c += a b`, where `a` is m by k, `b` is k by n and `c` is m by n.
///
/// # Panics
/// If a slice has another length than its shape.
#[expect(clippy::too_many_arguments, reason = "the customary arguments of a matrix product")]
pub fn matmul(
    threads: &Threads,
    layout: Layout,
    m: usize,
    n: usize,
    k: usize,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    write: Write,
) {
    assert!(a.len() == m * k, "a has {} elements, not {m} x {k}", a.len());
    assert!(b.len() == k * n, "b has {} elements, not {k} x {n}", b.len());
    assert!(c.len() == m * n, "c has {} elements, not {m} x {n}", c.len());
    if c.is_empty() {
        return;
    }
    if k == 0 {
        if write == Write::Set {
            c.fill(0.0);
        }
        return;
    }
    let problem = Problem::new(layout, (m, n, k), a, b, c, write);
    // SAFETY: the lengths were checked above, and `c` is borrowed exclusively.
    unsafe { multiply(threads, &problem) };
}

/// Computes a product with at least one row, column and inner element in the way that suits it.
///
/// # Safety
/// The problem must describe valid memory whose result overlaps no factor.
unsafe fn multiply(threads: &Threads, problem: &Problem) {
    // SAFETY: the caller's promise; and where it is AVX2, its instructions were detected.
    unsafe {
        match isa() {
            Isa::Plain => plain::multiply(threads, problem),
            #[cfg(feature = "openblas")]
            _ if openblas::suits(problem) => openblas::multiply(threads, problem),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 if dots::suits(problem) => dots::multiply(threads, problem),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => threads.with_workspace(|workspace| {
                blocked::multiply(threads, &mut workspace.blocked, problem);
            }),
            _ => library::multiply(threads, problem),
        }
    }
}

#[cfg(test)]
mod tests;
