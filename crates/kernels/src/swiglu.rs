//! SwiGLU: `y = silu(gate) * up`, where `silu(x) = x / (1 + e^-x)`.

use crate::Threads;
use crate::dispatch::{Instructions, dispatch};
use crate::math::sigmoid;
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// The rows for one task, after a check of the lengths.
fn rows_per_task(threads: &Threads, gate_up: &[f32], hidden: usize, y: &[f32]) -> usize {
    assert!(hidden > 0, "the hidden width must not be zero");
    assert!(y.len().is_multiple_of(hidden), "y must consist of whole rows");
    assert!(gate_up.len() == 2 * y.len(), "gate_up must be twice as long as y");
    threads.items_per_task(y.len() / hidden, LEAST_ELEMENTS.div_ceil(hidden))
}

/// Rows `[gate | up]`, each half `hidden` wide, to rows of `hidden` elements.
///
/// # Panics
/// If the lengths do not fit together.
pub fn forward(threads: &Threads, gate_up: &[f32], hidden: usize, y: &mut [f32]) {
    let rows = rows_per_task(threads, gate_up, hidden, y);
    threads.run_parts(Chunks::new(y, rows * hidden), |part, y| {
        let gate_up = &gate_up[part * rows * 2 * hidden..][..2 * y.len()];
        forward_rows(gate_up, hidden, y);
    });
}

dispatch! {
    fn forward_rows<I>(gate_up: &[f32], hidden: usize, y: &mut [f32]) {
        for (gate_up, y) in gate_up.chunks_exact(2 * hidden).zip(y.chunks_exact_mut(hidden)) {
            let (gate, up) = gate_up.split_at(hidden);
            for ((y, &gate), &up) in y.iter_mut().zip(gate).zip(up) {
                *y = gate * sigmoid::<I>(gate) * up;
            }
        }
    }
}

/// Replaces the activations in `gate_up` by their gradients.
///
/// # Panics
/// If the lengths do not fit together.
pub fn backward(threads: &Threads, gate_up: &mut [f32], hidden: usize, dy: &[f32]) {
    let rows = rows_per_task(threads, gate_up, hidden, dy);
    threads.run_parts(Chunks::new(gate_up, rows * 2 * hidden), |part, gate_up| {
        let dy = &dy[part * rows * hidden..][..gate_up.len() / 2];
        for (gate_up, dy) in gate_up.chunks_exact_mut(2 * hidden).zip(dy.chunks_exact(hidden)) {
            let (gate, up) = gate_up.split_at_mut(hidden);
            backward_row(gate, up, dy);
        }
    });
}

dispatch! {
    /// One row for each call: over several rows the compiler takes the halves for overlapping and gives up on vectors.
    fn backward_row<I>(gate: &mut [f32], up: &mut [f32], dy: &[f32]) {
        for ((gate, up), &dy) in gate.iter_mut().zip(up).zip(dy) {
            let sigmoid = sigmoid::<I>(*gate);
            let silu = *gate * sigmoid;
            let slope = I::mul_add(silu, 1.0 - sigmoid, sigmoid);
            *gate = dy * *up * slope;
            *up = dy * silu;
        }
    }
}
