//! Softmax and cross-entropy in one: `loss = ln(sum(e^x)) - x[target]` of each row of logits.
//!
//! The largest logit of a row is taken away before any power, so logits may be as large as they like.

use crate::Threads;
use crate::dispatch::dispatch;
use crate::math::exp_weight;
use crate::math::sums::{maximum, sum};
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// The rows for one task, after a check of the lengths and targets.
fn rows_per_task(
    threads: &Threads,
    logits: &[f32],
    vocabulary: usize,
    targets: &[u32],
    row_loss: &[f32],
) -> usize {
    assert!(vocabulary > 0, "the vocabulary must not be empty");
    assert!(logits.len() == targets.len() * vocabulary, "logits must hold a row for every target");
    assert!(row_loss.len() == targets.len(), "row_loss must have an element for every target");
    assert!(
        targets.iter().all(|&target| (target as usize) < vocabulary),
        "targets must lie in the vocabulary"
    );
    threads.items_per_task(targets.len(), LEAST_ELEMENTS.div_ceil(vocabulary))
}

/// The sum of all losses, in the order of the rows.
fn total(row_loss: &[f32]) -> f64 {
    row_loss.iter().map(|&loss| f64::from(loss)).sum()
}

/// The loss of every row, and their sum.
///
/// # Panics
/// If the lengths do not fit together or a target is not in the vocabulary.
pub fn forward(
    threads: &Threads,
    logits: &[f32],
    vocabulary: usize,
    targets: &[u32],
    row_loss: &mut [f32],
) -> f64 {
    let rows = rows_per_task(threads, logits, vocabulary, targets, row_loss);
    threads.run_parts(Chunks::new(row_loss, rows), |part, row_loss| {
        let first = part * rows;
        let logits = &logits[first * vocabulary..][..row_loss.len() * vocabulary];
        let targets = &targets[first..][..row_loss.len()];
        for ((row, &target), loss) in logits.chunks_exact(vocabulary).zip(targets).zip(row_loss) {
            *loss = row_loss_of(row, target as usize);
        }
    });
    total(row_loss)
}

/// The loss of every row, and their sum; logits become their gradients `(softmax - onehot) * scale` in place.
///
/// # Panics
/// If the lengths do not fit together or a target is not in the vocabulary.
pub fn forward_backward(
    threads: &Threads,
    logits: &mut [f32],
    vocabulary: usize,
    targets: &[u32],
    scale: f32,
    row_loss: &mut [f32],
) -> f64 {
    let rows = rows_per_task(threads, logits, vocabulary, targets, row_loss);
    let parts = (Chunks::new(logits, rows * vocabulary), Chunks::new(row_loss, rows));
    threads.run_parts(parts, |part, (logits, row_loss)| {
        let targets = &targets[part * rows..][..row_loss.len()];
        for ((row, &target), loss) in logits.chunks_exact_mut(vocabulary).zip(targets).zip(row_loss) {
            *loss = row_gradient(row, target as usize, scale);
        }
    });
    total(row_loss)
}

/// Powers are made a block at a time and then summed while they are at hand: two simple loops are faster than one that
/// does both.
const BLOCK: usize = 512;

dispatch! {
    fn row_loss_of<I>(row: &[f32], target: usize) -> f32 {
        let largest = maximum(row);
        let mut block = [0.0; BLOCK];
        let mut powers = 0.0;
        for piece in row.chunks(BLOCK) {
            let block = &mut block[..piece.len()];
            for (power, &x) in block.iter_mut().zip(piece) {
                *power = exp_weight::<I>(x - largest);
            }
            powers += sum([&*block], |sum, [power]| sum + power);
        }
        (largest - row[target]) + powers.ln()
    }
}

dispatch! {
    fn row_gradient<I>(row: &mut [f32], target: usize, scale: f32) -> f32 {
        let largest = maximum(row);
        let of_target = row[target];
        let mut powers = 0.0;
        for block in row.chunks_mut(BLOCK) {
            for x in &mut *block {
                *x = exp_weight::<I>(*x - largest);
            }
            powers += sum([&*block], |sum, [power]| sum + power);
        }
        let factor = scale / powers;
        for x in &mut *row {
            *x *= factor;
        }
        row[target] -= scale;
        (largest - of_target) + powers.ln()
    }
}
