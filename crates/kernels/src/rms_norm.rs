//! Root-mean-square norm: `y = x * inverse * weight` with `inverse = 1 / sqrt(mean(x²) + epsilon)` of each row.

use crate::Threads;
use crate::dispatch::{Instructions, dispatch};
use crate::math::sums::sum;
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// Parts the rows are split into for the gradients of weights, for each thread; of every norm.
pub(crate) const PARTS_PER_THREAD: usize = 4;

/// Rows of each part of a backward pass.
pub(crate) fn rows_per_part(threads: &Threads, rows: usize, width: usize) -> usize {
    rows.div_ceil(threads.count() * PARTS_PER_THREAD).max(LEAST_ELEMENTS.div_ceil(width))
}

/// Norms every row of `x`, whose width is the length of `weight`, and keeps the inverse root mean square of each row
/// for the backward pass.
///
/// # Panics
/// If the lengths do not fit together.
pub fn forward(
    threads: &Threads,
    x: &[f32],
    weight: &[f32],
    epsilon: f32,
    y: &mut [f32],
    inverse: &mut [f32],
) {
    let width = weight.len();
    assert!(width > 0, "the weight must not be empty");
    assert!(x.len() == inverse.len() * width, "x must hold a row for every inverse");
    assert!(y.len() == x.len(), "x and y must have the same length");
    let rows = threads.items_per_task(inverse.len(), LEAST_ELEMENTS.div_ceil(width));
    let parts = (Chunks::new(y, rows * width), Chunks::new(inverse, rows));
    threads.run_parts(parts, |part, (y, inverse)| {
        forward_rows(&x[part * rows * width..][..y.len()], weight, epsilon, y, inverse);
    });
}

dispatch! {
    fn forward_rows<I>(x: &[f32], weight: &[f32], epsilon: f32, y: &mut [f32], inverse: &mut [f32]) {
        let width = weight.len();
        let rows = x.chunks_exact(width).zip(y.chunks_exact_mut(width));
        for ((x, y), inverse) in rows.zip(inverse) {
            let squares = sum([x], |sum, [x]| I::mul_add(x, x, sum));
            let factor = 1.0 / (squares / width as f32 + epsilon).sqrt();
            *inverse = factor;
            for ((y, &x), &weight) in y.iter_mut().zip(x).zip(weight) {
                *y = x * factor * weight;
            }
        }
    }
}

/// The length of the scratch that [`backward`] needs.
pub fn backward_scratch(threads: &Threads, width: usize) -> usize {
    (threads.count() * PARTS_PER_THREAD).saturating_mul(width)
}

/// Adds the gradients of input and weight to `dx` and `dweight`. The contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit together.
#[expect(clippy::too_many_arguments, reason = "one argument for each buffer")]
pub fn backward(
    threads: &Threads,
    x: &[f32],
    weight: &[f32],
    inverse: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    dweight: &mut [f32],
    scratch: &mut [f32],
) {
    let width = weight.len();
    assert!(width > 0, "the weight must not be empty");
    assert!(x.len() == inverse.len() * width, "x must hold a row for every inverse");
    assert!(dy.len() == x.len() && dx.len() == x.len(), "x, dy and dx must have the same length");
    assert!(dweight.len() == width, "dweight must be as long as the weight");
    let needed = backward_scratch(threads, width);
    assert!(scratch.len() >= needed, "the scratch must hold {needed} elements");
    if x.is_empty() {
        return;
    }
    let rows = rows_per_part(threads, inverse.len(), width);
    let sums = &mut scratch[..inverse.len().div_ceil(rows) * width];
    let parts = (Chunks::new(dx, rows * width), Chunks::new(sums, width));
    threads.run_parts(parts, |part, (dx, sums)| {
        let elements = part * rows * width..part * rows * width + dx.len();
        let inverse = &inverse[part * rows..][..dx.len() / width];
        sums.fill(0.0);
        backward_rows(&x[elements.clone()], weight, inverse, &dy[elements], dx, sums);
    });
    add_rows(sums, dweight);
}

dispatch! {
    fn backward_rows<I>(
        x: &[f32],
        weight: &[f32],
        inverse: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        dweight: &mut [f32],
    ) {
        let width = weight.len();
        let inputs = x.chunks_exact(width).zip(dy.chunks_exact(width));
        for (((x, dy), dx), &inverse) in inputs.zip(dx.chunks_exact_mut(width)).zip(inverse) {
            let projection = sum([x, dy, weight], |sum, [x, dy, weight]| I::mul_add(dy * weight, x, sum));
            let pull = -projection * inverse * inverse * inverse / width as f32;
            let columns = x.iter().zip(dy).zip(weight).zip(dx).zip(&mut *dweight);
            for ((((&x, &dy), &weight), dx), dweight) in columns {
                *dx += I::mul_add(dy * weight, inverse, x * pull);
                *dweight = I::mul_add(dy, x * inverse, *dweight);
            }
        }
    }
}

dispatch! {
    /// Adds the rows of `sums` to `total`, in their order.
    pub(crate) fn add_rows<I>(sums: &[f32], total: &mut [f32]) {
        for row in sums.chunks_exact(total.len()) {
            for (total, &sum) in total.iter_mut().zip(row) {
                *total += sum;
            }
        }
    }
}
