//! Dropout whose mask is a function of seed and element index.
//!
//! Nothing is stored: the backward pass makes the same mask again. The generator is counter-based, so any element can
//! be decided on its own, in any order and on any thread:
//!
//! 1. The elements are taken in blocks of 65536. A block has a 64-bit key: the SplitMix64 finalizer of
//!    `seed + (block + 1) * 0x9E3779B97F4A7C15`.
//! 2. For the element at `place` in its block, `mix(mix(place + low half of the key) ^ high half of the key)` is a
//!    32-bit number, where `mix` is a bijection of two multiplications and three shifts. Its upper 24 bits are the
//!    draw.
//! 3. The element is dropped if the draw is below `probability * 2^24`, rounded.
//!
//! Elements that are kept are scaled by `1 / (1 - probability)`.

use crate::Threads;
use crate::dispatch::dispatch;
use crate::threads::Chunks;

/// Elements that share a key. One of them is the least a task handles.
const BLOCK: usize = 1 << 16;

/// Drops elements of `x` with the given probability, and scales the others so that the mean stays the same.
///
/// # Panics
/// If the lengths differ, or the probability is not at least 0 and below 1.
pub fn forward(threads: &Threads, seed: u64, probability: f32, x: &[f32], y: &mut [f32]) {
    assert!(x.len() == y.len(), "x and y must have the same length");
    assert!((0.0..1.0).contains(&probability), "the probability must be at least 0 and below 1");
    let threshold = (f64::from(probability) * f64::from(1 << 24)).round() as u32;
    let scale = 1.0 / (1.0 - probability);
    threads.run_parts(Chunks::new(y, BLOCK), |block, y| {
        let x = &x[block * BLOCK..][..y.len()];
        forward_block(key(seed, block as u64), threshold, scale, x, y);
    });
}

/// The gradient: the same elements dropped and scaled as by [`forward`] with the same seed and probability.
///
/// # Panics
/// If the lengths differ, or the probability is not at least 0 and below 1.
pub fn backward(threads: &Threads, seed: u64, probability: f32, dy: &[f32], dx: &mut [f32]) {
    forward(threads, seed, probability, dy, dx);
}

fn key(seed: u64, block: u64) -> u64 {
    assay_random::draw(seed, block)
}

/// Spreads every bit over the integer.
#[inline(always)]
fn mix(number: u32) -> u32 {
    let number = (number ^ (number >> 16)).wrapping_mul(0x7feb_352d);
    let number = (number ^ (number >> 15)).wrapping_mul(0x846c_a68b);
    number ^ (number >> 16)
}

dispatch! {
    fn forward_block<I>(key: u64, threshold: u32, scale: f32, x: &[f32], y: &mut [f32]) {
        let (low, high) = (key as u32, (key >> 32) as u32);
        for (place, (y, &x)) in y.iter_mut().zip(x).enumerate() {
            let draw = mix(mix((place as u32).wrapping_add(low)) ^ high) >> 8;
            // A product, so that NaN stays NaN also where it is dropped.
            *y = x * if draw < threshold { 0.0 } else { scale };
        }
    }
}
