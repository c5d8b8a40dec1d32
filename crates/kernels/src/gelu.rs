//! Gaussian error linear unit, exact or by its usual approximation.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use crate::Threads;
use crate::dispatch::{Instructions, dispatch};
use crate::math::{erf, exp_weight, tanh};
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// Which formula is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeluFormula {
    /// `x/2 * (1 + erf(x / sqrt(2)))`
    Exact,
    /// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x³)))`
    Tanh,
}

/// sqrt(2/pi), the factor inside the hyperbolic tangent.
const TANH_FACTOR: f32 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
/// The factor of the cube inside the hyperbolic tangent.
const TANH_CUBE: f32 = 0.044_715;

/// y = gelu(x)
///
/// # Panics
/// If the lengths differ.
pub fn forward(threads: &Threads, kind: GeluFormula, x: &[f32], y: &mut [f32]) {
    assert!(x.len() == y.len(), "x and y must have the same length");
    let length = threads.items_per_task(x.len(), LEAST_ELEMENTS);
    threads.run_parts(Chunks::new(y, length), |part, y| {
        let x = &x[part * length..][..y.len()];
        match kind {
            GeluFormula::Exact => forward_exact(x, y),
            GeluFormula::Tanh => forward_tanh(x, y),
        }
    });
}

/// One number by the exact formula.
#[inline(always)]
pub(crate) fn exact<I: Instructions>(x: f32) -> f32 {
    0.5 * x * (1.0 + erf::<I>(x * FRAC_1_SQRT_2))
}

/// One number by the approximation.
#[inline(always)]
pub(crate) fn approximate<I: Instructions>(x: f32) -> f32 {
    let cubic = TANH_FACTOR * I::mul_add(TANH_CUBE * x * x, x, x);
    0.5 * x * (1.0 + tanh::<I>(cubic))
}

dispatch! {
    fn forward_exact<I>(x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = exact::<I>(x);
        }
    }
}

dispatch! {
    fn forward_tanh<I>(x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = approximate::<I>(x);
        }
    }
}

/// dx = dy * gelu'(x)
///
/// # Panics
/// If the lengths differ.
pub fn backward(threads: &Threads, kind: GeluFormula, x: &[f32], dy: &[f32], dx: &mut [f32]) {
    assert!(dy.len() == x.len() && dx.len() == x.len(), "x, dy and dx must have the same length");
    let length = threads.items_per_task(x.len(), LEAST_ELEMENTS);
    threads.run_parts(Chunks::new(dx, length), |part, dx| {
        let begin = part * length;
        let (x, dy) = (&x[begin..][..dx.len()], &dy[begin..][..dx.len()]);
        match kind {
            GeluFormula::Exact => backward_exact(x, dy, dx),
            GeluFormula::Tanh => backward_tanh(x, dy, dx),
        }
    });
}

dispatch! {
    fn backward_exact<I>(x: &[f32], dy: &[f32], dx: &mut [f32]) {
        // 1 / sqrt(2 pi), the density at zero.
        const PEAK: f32 = 0.5 * TANH_FACTOR;
        for ((dx, &x), &dy) in dx.iter_mut().zip(x).zip(dy) {
            let below = 0.5 * (1.0 + erf::<I>(x * FRAC_1_SQRT_2));
            let density = PEAK * exp_weight::<I>(-0.5 * x * x);
            *dx = dy * I::mul_add(x, density, below);
        }
    }
}

dispatch! {
    fn backward_tanh<I>(x: &[f32], dy: &[f32], dx: &mut [f32]) {
        for ((dx, &x), &dy) in dx.iter_mut().zip(x).zip(dy) {
            let square = x * x;
            let tangent = tanh::<I>(TANH_FACTOR * I::mul_add(TANH_CUBE * square, x, x));
            let inner = TANH_FACTOR * I::mul_add(3.0 * TANH_CUBE, square, 1.0);
            let slope = 0.5 * x * (1.0 - tangent * tangent) * inner;
            *dx = dy * I::mul_add(0.5, 1.0 + tangent, slope);
        }
    }
}
