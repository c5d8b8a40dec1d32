//! Layer norm: `y = (x - mean) * inverse * weight + bias` with `inverse = 1 / sqrt(variance + epsilon)` of each row.

use crate::Threads;
use crate::dispatch::{Instructions, dispatch};
use crate::math::sums::sum;
use crate::reduce::LEAST_ELEMENTS;
use crate::rms_norm::{PARTS_PER_THREAD, add_rows, rows_per_part};
use crate::threads::Chunks;

/// Norms every row of `x`, whose width is the length of `weight`, and keeps mean and inverse deviation of each row for
/// the backward pass.
///
/// # Panics
/// If the lengths do not fit together.
#[expect(clippy::too_many_arguments, reason = "one argument for each buffer")]
pub fn forward(
    threads: &Threads,
    x: &[f32],
    weight: &[f32],
    bias: &[f32],
    epsilon: f32,
    y: &mut [f32],
    mean: &mut [f32],
    inverse: &mut [f32],
) {
    let width = weight.len();
    assert!(width > 0 && bias.len() == width, "weight and bias must have the same length");
    assert!(
        x.len() == inverse.len() * width && mean.len() == inverse.len(),
        "x must hold a row for every mean and inverse"
    );
    assert!(y.len() == x.len(), "x and y must have the same length");
    let rows = threads.items_per_task(inverse.len(), LEAST_ELEMENTS.div_ceil(width));
    let parts = (Chunks::new(y, rows * width), Chunks::new(mean, rows), Chunks::new(inverse, rows));
    threads.run_parts(parts, |part, (y, mean, inverse)| {
        let x = &x[part * rows * width..][..y.len()];
        forward_rows(x, weight, bias, epsilon, y, mean, inverse);
    });
}

dispatch! {
    fn forward_rows<I>(
        x: &[f32],
        weight: &[f32],
        bias: &[f32],
        epsilon: f32,
        y: &mut [f32],
        mean: &mut [f32],
        inverse: &mut [f32],
    ) {
        let width = weight.len();
        let rows = x.chunks_exact(width).zip(y.chunks_exact_mut(width));
        for (((x, y), mean), inverse) in rows.zip(mean).zip(inverse) {
            let center = sum([x], |sum, [x]| sum + x) / width as f32;
            // Squares of differences, not a difference of squares: rows far from zero keep their digits.
            let squares = sum([x], |sum, [x]| I::mul_add(x - center, x - center, sum));
            let factor = 1.0 / (squares / width as f32 + epsilon).sqrt();
            *mean = center;
            *inverse = factor;
            for (((y, &x), &weight), &bias) in y.iter_mut().zip(x).zip(weight).zip(bias) {
                *y = I::mul_add((x - center) * factor, weight, bias);
            }
        }
    }
}

/// Norms every row of `x` in its place, inside one task and with nothing kept.
///
/// # Panics
/// If the lengths do not fit together.
pub fn in_place(x: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    assert!(bias.len() == weight.len(), "weight and bias must have the same length");
    assert!(!weight.is_empty() && x.len().is_multiple_of(weight.len()), "x must consist of whole rows");
    in_place_rows(x, weight, bias, epsilon);
}

dispatch! {
    fn in_place_rows<I>(x: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
        let width = weight.len();
        for row in x.chunks_exact_mut(width) {
            let center = sum([&*row], |sum, [x]| sum + x) / width as f32;
            let squares = sum([&*row], |sum, [x]| I::mul_add(x - center, x - center, sum));
            let factor = 1.0 / (squares / width as f32 + epsilon).sqrt();
            for ((x, &weight), &bias) in row.iter_mut().zip(weight).zip(bias) {
                *x = I::mul_add((*x - center) * factor, weight, bias);
            }
        }
    }
}

/// The length of the scratch that [`backward`] needs.
pub fn backward_scratch(threads: &Threads, width: usize) -> usize {
    (2 * threads.count() * PARTS_PER_THREAD).saturating_mul(width)
}

/// Adds the gradients of input, weight and bias to `dx`, `dweight` and `dbias`. The contents of `scratch` do not
/// matter.
///
/// # Panics
/// If the lengths do not fit together.
#[expect(clippy::too_many_arguments, reason = "one argument for each buffer")]
pub fn backward(
    threads: &Threads,
    x: &[f32],
    weight: &[f32],
    mean: &[f32],
    inverse: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    dweight: &mut [f32],
    dbias: &mut [f32],
    scratch: &mut [f32],
) {
    let width = weight.len();
    assert!(
        width > 0 && dweight.len() == width && dbias.len() == width,
        "weight, dweight and dbias must have the same length"
    );
    assert!(
        x.len() == inverse.len() * width && mean.len() == inverse.len(),
        "x must hold a row for every mean and inverse"
    );
    assert!(dy.len() == x.len() && dx.len() == x.len(), "x, dy and dx must have the same length");
    let needed = backward_scratch(threads, width);
    assert!(scratch.len() >= needed, "the scratch must hold {needed} elements");
    if x.is_empty() {
        return;
    }
    let rows = rows_per_part(threads, inverse.len(), width);
    let count = inverse.len().div_ceil(rows);
    let (weight_sums, bias_sums) = scratch[..2 * count * width].split_at_mut(count * width);
    let parts =
        (Chunks::new(dx, rows * width), Chunks::new(weight_sums, width), Chunks::new(bias_sums, width));
    threads.run_parts(parts, |part, (dx, dweight, dbias)| {
        let elements = part * rows * width..part * rows * width + dx.len();
        let of_rows = part * rows..part * rows + dx.len() / width;
        dweight.fill(0.0);
        dbias.fill(0.0);
        backward_rows(
            &x[elements.clone()],
            weight,
            &mean[of_rows.clone()],
            &inverse[of_rows],
            &dy[elements],
            dx,
            dweight,
            dbias,
        );
    });
    add_rows(weight_sums, dweight);
    add_rows(bias_sums, dbias);
}

dispatch! {
    fn backward_rows<I>(
        x: &[f32],
        weight: &[f32],
        mean: &[f32],
        inverse: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        dweight: &mut [f32],
        dbias: &mut [f32],
    ) {
        let width = weight.len();
        let inputs = x.chunks_exact(width).zip(dy.chunks_exact(width)).zip(dx.chunks_exact_mut(width));
        for (((x, dy), dx), (&mean, &inverse)) in inputs.zip(mean.iter().zip(inverse)) {
            let total = sum([dy, weight], |sum, [dy, weight]| I::mul_add(dy, weight, sum));
            let projection = sum([x, dy, weight], |sum, [x, dy, weight]| {
                I::mul_add(dy * weight, (x - mean) * inverse, sum)
            });
            let shift = -total / width as f32;
            let pull = -projection / width as f32;
            let columns = x.iter().zip(dy).zip(weight).zip(dx).zip(&mut *dweight).zip(&mut *dbias);
            for (((((&x, &dy), &weight), dx), dweight), dbias) in columns {
                let normed = (x - mean) * inverse;
                *dx = I::mul_add(inverse, I::mul_add(normed, pull, I::mul_add(dy, weight, shift)), *dx);
                *dweight = I::mul_add(dy, normed, *dweight);
                *dbias += dy;
            }
        }
    }
}
