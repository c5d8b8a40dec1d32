//! Stochastic gradient descent, with momentum (no dampening, no look-ahead as Nesterov's) or without.

use crate::Threads;
use crate::dispatch::{Instructions, dispatch};
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// One update: `velocity = momentum * velocity + g`, then `w -= rate * velocity`. The velocity starts as zeros.
///
/// # Panics
/// If the lengths differ.
pub fn step(threads: &Threads, rate: f32, momentum: f32, w: &mut [f32], g: &[f32], velocity: &mut [f32]) {
    assert!(g.len() == w.len() && velocity.len() == w.len(), "w, g and velocity must have the same length");
    let length = threads.items_per_task(g.len(), LEAST_ELEMENTS);
    let parts = (Chunks::new(w, length), Chunks::new(velocity, length));
    threads.run_parts(parts, |part, (w, velocity)| {
        step_part(rate, momentum, w, &g[part * length..][..w.len()], velocity);
    });
}

dispatch! {
    fn step_part<I>(rate: f32, momentum: f32, w: &mut [f32], g: &[f32], velocity: &mut [f32]) {
        for ((w, &g), velocity) in w.iter_mut().zip(g).zip(velocity) {
            *velocity = I::mul_add(momentum, *velocity, g);
            *w = I::mul_add(-rate, *velocity, *w);
        }
    }
}

/// One update without momentum: `w -= rate * g`.
///
/// # Panics
/// If the lengths differ.
pub fn step_plain(threads: &Threads, rate: f32, w: &mut [f32], g: &[f32]) {
    assert!(g.len() == w.len(), "w and g must have the same length");
    let length = threads.items_per_task(g.len(), LEAST_ELEMENTS);
    threads.run_parts(Chunks::new(w, length), |part, w| {
        step_plain_part(rate, w, &g[part * length..][..w.len()]);
    });
}

dispatch! {
    fn step_plain_part<I>(rate: f32, w: &mut [f32], g: &[f32]) {
        for (w, &g) in w.iter_mut().zip(g) {
            *w = I::mul_add(-rate, g, *w);
        }
    }
}
