//! Rectified linear unit: `y = max(x, 0)`. NaN stays NaN.

use crate::Threads;
use crate::dispatch::dispatch;
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// y = max(x, 0)
///
/// # Panics
/// If the lengths differ.
pub fn forward(threads: &Threads, x: &[f32], y: &mut [f32]) {
    assert!(x.len() == y.len(), "x and y must have the same length");
    let length = threads.items_per_task(x.len(), LEAST_ELEMENTS);
    threads.run_parts(Chunks::new(y, length), |part, y| {
        forward_part(&x[part * length..][..y.len()], y);
    });
}

dispatch! {
    fn forward_part<I>(x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = if x < 0.0 { 0.0 } else { x };
        }
    }
}

/// Sets `dx` to `dy` where `x` is positive and to zero elsewhere. The output of [`forward`] serves as `x` as well as
/// its input does.
///
/// # Panics
/// If the lengths differ.
pub fn backward(threads: &Threads, x: &[f32], dy: &[f32], dx: &mut [f32]) {
    assert!(dy.len() == x.len() && dx.len() == x.len(), "x, dy and dx must have the same length");
    let length = threads.items_per_task(x.len(), LEAST_ELEMENTS);
    threads.run_parts(Chunks::new(dx, length), |part, dx| {
        let begin = part * length;
        backward_part(&x[begin..][..dx.len()], &dy[begin..][..dx.len()], dx);
    });
}

dispatch! {
    fn backward_part<I>(x: &[f32], dy: &[f32], dx: &mut [f32]) {
        for ((dx, &x), &dy) in dx.iter_mut().zip(x).zip(dy) {
            *dx = if x <= 0.0 { 0.0 } else { dy };
        }
    }
}
