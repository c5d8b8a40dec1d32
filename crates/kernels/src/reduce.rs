//! Sums and checks over whole buffers.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::Threads;
use crate::dispatch::dispatch;
use crate::threads::Chunks;

/// The fewest elements worth a task of their own.
pub(crate) const LEAST_ELEMENTS: usize = 1 << 14;

/// The parts of a sum over a whole buffer. Their number is fixed, so the sum does not depend on the thread count.
const SUM_PARTS: usize = 256;

/// The sum of the squares of all elements, in double precision.
pub fn sum_of_squares(threads: &Threads, x: &[f32]) -> f64 {
    let mut sums = [0.0; SUM_PARTS];
    let length = x.len().div_ceil(SUM_PARTS).max(LEAST_ELEMENTS);
    let sums = &mut sums[..x.len().div_ceil(length)];
    threads.run_parts(Chunks::new(sums, 1), |part, sum| {
        let begin = part * length;
        sum[0] = squares(&x[begin..x.len().min(begin + length)]);
    });
    sums.iter().sum()
}

dispatch! {
    fn squares<I>(x: &[f32]) -> f64 {
        const LANES: usize = 16;
        let mut partial = [0.0_f64; LANES];
        let (blocks, rest) = x.as_chunks::<LANES>();
        for block in blocks {
            for lane in 0..LANES {
                let value = f64::from(block[lane]);
                partial[lane] += value * value;
            }
        }
        for (sum, &value) in partial.iter_mut().zip(rest) {
            *sum += f64::from(value) * f64::from(value);
        }
        partial.iter().sum()
    }
}

pub fn scale(threads: &Threads, x: &mut [f32], factor: f32) {
    let length = threads.items_per_task(x.len(), LEAST_ELEMENTS);
    threads.run_parts(Chunks::new(x, length), |_, x| scale_part(x, factor));
}

dispatch! {
    fn scale_part<I>(x: &mut [f32], factor: f32) {
        for x in x {
            *x *= factor;
        }
    }
}

/// y += x
///
/// # Panics
/// If the lengths differ.
pub fn add(threads: &Threads, x: &[f32], y: &mut [f32]) {
    assert!(x.len() == y.len(), "x and y must have the same length");
    let length = threads.items_per_task(x.len(), LEAST_ELEMENTS);
    threads.run_parts(Chunks::new(y, length), |part, y| {
        add_part(&x[part * length..][..y.len()], y);
    });
}

dispatch! {
    fn add_part<I>(x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}

/// Whether no element is NaN or infinite.
pub fn all_finite(threads: &Threads, x: &[f32]) -> bool {
    let finite = AtomicBool::new(true);
    let length = threads.items_per_task(x.len(), LEAST_ELEMENTS);
    threads.run(x.len().div_ceil(length), |part| {
        let begin = part * length;
        let part = &x[begin..x.len().min(begin + length)];
        // Checked in pieces, so that the first bad one ends the search.
        let is_finite = |piece| finite.load(Ordering::Relaxed) && finite_part(piece);
        if !part.chunks(LEAST_ELEMENTS).all(is_finite) {
            finite.store(false, Ordering::Relaxed);
        }
    });
    finite.into_inner()
}

dispatch! {
    fn finite_part<I>(x: &[f32]) -> bool {
        // The exponent of NaN and infinity is all ones, the largest there is.
        x.iter().fold(0, |largest, x| largest.max(x.to_bits() & 0x7f80_0000)) < 0x7f80_0000
    }
}
