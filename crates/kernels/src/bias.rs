//! A bias: one number for each column, added to every row, and its gradient.

use crate::Threads;
use crate::dispatch::dispatch;
use crate::reduce::LEAST_ELEMENTS;
use crate::rms_norm::{PARTS_PER_THREAD, add_rows, rows_per_part};
use crate::threads::Chunks;

/// Adds the bias to every row of `y`.
///
/// # Panics
/// If `y` does not consist of whole rows.
pub fn forward(threads: &Threads, bias: &[f32], y: &mut [f32]) {
    let width = bias.len();
    assert!(width > 0 && y.len().is_multiple_of(width), "y must consist of whole rows");
    let rows = threads.items_per_task(y.len() / width, LEAST_ELEMENTS.div_ceil(width));
    threads.run_parts(Chunks::new(y, rows * width), |_, y| add_to_rows(bias, y));
}

dispatch! {
    fn add_to_rows<I>(bias: &[f32], y: &mut [f32]) {
        for row in y.chunks_exact_mut(bias.len()) {
            for (y, &bias) in row.iter_mut().zip(bias) {
                *y += bias;
            }
        }
    }
}

/// The length of the scratch that [`backward`] needs.
pub fn backward_scratch(threads: &Threads, width: usize) -> usize {
    (threads.count() * PARTS_PER_THREAD).saturating_mul(width)
}

/// Adds the sum of all rows of `dy` to `dbias`. The contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit together.
pub fn backward(threads: &Threads, dy: &[f32], dbias: &mut [f32], scratch: &mut [f32]) {
    let width = dbias.len();
    assert!(width > 0 && dy.len().is_multiple_of(width), "dy must consist of whole rows");
    let needed = backward_scratch(threads, width);
    assert!(scratch.len() >= needed, "the scratch must hold {needed} elements");
    if dy.is_empty() {
        return;
    }
    let rows = rows_per_part(threads, dy.len() / width, width);
    let sums = &mut scratch[..dy.len().div_ceil(rows * width) * width];
    threads.run_parts(Chunks::new(sums, width), |part, sums| {
        sums.fill(0.0);
        let first = part * rows * width;
        sum_rows(&dy[first..dy.len().min(first + rows * width)], sums);
    });
    add_rows(sums, dbias);
}

dispatch! {
    fn sum_rows<I>(rows: &[f32], sums: &mut [f32]) {
        for row in rows.chunks_exact(sums.len()) {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}
