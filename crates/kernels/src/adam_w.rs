//! AdamW: Adam with decoupled weight decay and bias correction (Loshchilov and Hutter, 2019).

use crate::Threads;
use crate::dispatch::{Instructions, dispatch};
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// The settings of the optimizer. They are doubles because `1 - beta2` would lose four digits in single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hyperparameters {
    /// The learning rate.
    pub rate: f64,
    /// How slowly the mean of the gradients moves.
    pub beta1: f64,
    /// How slowly the mean of their squares moves.
    pub beta2: f64,
    /// What keeps the denominator from zero.
    pub epsilon: f64,
    /// The part of a weight that is taken away in each step, before the multiplication by the rate.
    pub weight_decay: f64,
}

/// What one step needs of the settings, in single precision.
#[derive(Clone, Copy)]
struct Factors {
    keep: f32,
    beta1: f32,
    other1: f32,
    beta2: f32,
    other2: f32,
    root: f32,
    epsilon: f32,
    size: f32,
}

/// One update of the weights `w` by the gradients `g`, with the moments `m` and `v` (zeros at first):
///
/// ```text
/// w -= rate * weight_decay * w
/// m  = beta1 * m + (1 - beta1) * g
/// v  = beta2 * v + (1 - beta2) * g²
/// w -= rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
/// ```
///
/// `step_number` is t, which is 1 for the first update.
///
/// # Panics
/// If the lengths differ or the step number is zero.
pub fn step(
    threads: &Threads,
    hyper: &Hyperparameters,
    step_number: u64,
    w: &mut [f32],
    g: &[f32],
    m: &mut [f32],
    v: &mut [f32],
) {
    assert!(step_number > 0, "steps are counted from one");
    assert!(
        g.len() == w.len() && m.len() == w.len() && v.len() == w.len(),
        "w, g, m and v must have the same length"
    );
    let time = step_number as f64;
    let factors = Factors {
        keep: (1.0 - hyper.rate * hyper.weight_decay) as f32,
        beta1: hyper.beta1 as f32,
        other1: (1.0 - hyper.beta1) as f32,
        beta2: hyper.beta2 as f32,
        other2: (1.0 - hyper.beta2) as f32,
        root: (1.0 / (1.0 - hyper.beta2.powf(time)).sqrt()) as f32,
        epsilon: hyper.epsilon as f32,
        size: (hyper.rate / (1.0 - hyper.beta1.powf(time))) as f32,
    };
    let length = threads.items_per_task(g.len(), LEAST_ELEMENTS);
    let parts = (Chunks::new(w, length), Chunks::new(m, length), Chunks::new(v, length));
    threads.run_parts(parts, |part, (w, m, v)| {
        step_part(factors, w, &g[part * length..][..w.len()], m, v);
    });
}

dispatch! {
    fn step_part<I>(factors: Factors, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32]) {
        for (((w, &g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            let mean = I::mul_add(factors.beta1, *m, factors.other1 * g);
            let square = I::mul_add(factors.beta2, *v, factors.other2 * g * g);
            let denominator = I::mul_add(square.sqrt(), factors.root, factors.epsilon);
            *m = mean;
            *v = square;
            *w = I::mul_add(-factors.size, mean / denominator, *w * factors.keep);
        }
    }
}
