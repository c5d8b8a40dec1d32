//! Branch-free elementary functions and sums that the compiler can vectorize.
//!
//! A call of the C library per element would cost more than everything else in most operations, and its results
//! differ between systems. The functions here are short polynomials without branches or table look-ups, generic over
//! the [`Instructions`] of the path they are inlined into. Relative errors are below 2e-7 (tested against `f64`), NaN
//! gives NaN, and infinities give the limits.
//!
//! The coefficients are minimax fits to the functions named beside them.

pub(crate) mod product;
pub(crate) mod sums;

use crate::dispatch::Instructions;

/// Adding this number to a small `f32` rounds it to an integer, which then stands in the low bits of the sum.
const ROUNDING: f32 = 12_582_912.0;
/// The logarithm of 2 in two pieces: a multiple of the first by a small integer is exact.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// A polynomial of five terms, the lowest coefficient first. Pairs of terms are computed side by side (Estrin's
/// scheme), because a chain of additions would leave the processor waiting.
#[inline(always)]
fn polynomial5<I: Instructions>(x: f32, c: [f32; 5]) -> f32 {
    let square = x * x;
    let low = I::mul_add(c[1], x, c[0]);
    let high = I::mul_add(c[4], square, I::mul_add(c[3], x, c[2]));
    I::mul_add(high, square, low)
}

/// A polynomial of seven terms, in the same way.
#[inline(always)]
fn polynomial7<I: Instructions>(x: f32, c: [f32; 7]) -> f32 {
    let square = x * x;
    let low = I::mul_add(I::mul_add(c[3], x, c[2]), square, I::mul_add(c[1], x, c[0]));
    let high = I::mul_add(c[6], square, I::mul_add(c[5], x, c[4]));
    I::mul_add(high, square * square, low)
}

/// Splits `e^x` into a number near 1 and a power of two, given by its exponent. Needs |x| below some hundred.
#[inline(always)]
fn exp_parts<I: Instructions>(x: f32) -> (f32, i32) {
    let shifted = I::mul_add(x, std::f32::consts::LOG2_E, ROUNDING);
    let whole = shifted - ROUNDING;
    let rest = I::mul_add(whole, -LN_2_HIGH, x);
    let rest = I::mul_add(whole, -LN_2_LOW, rest);
    // (e^r - 1 - r) / r² for |r| up to ln(2)/2.
    let tail =
        polynomial5::<I>(rest, [0.499_999_94, 0.166_665_21, 0.041_668_39, 0.008_368_718, 0.001_381_459_4]);
    let fraction = I::mul_add(rest * rest, tail, rest) + 1.0;
    let exponent = (shifted.to_bits() as i32).wrapping_sub(ROUNDING.to_bits() as i32);
    (fraction, exponent)
}

/// 2 to the power of an integer from -126 to 127.
#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits((exponent.wrapping_add(127) as u32) << 23)
}

/// `e^x`, over the whole range, subnormal results included.
#[inline(always)]
pub(crate) fn exp<I: Instructions>(x: f32) -> f32 {
    // The comparisons are written so that NaN passes.
    let x = if 89.0 < x { 89.0 } else { x };
    let x = if -104.0 > x { -104.0 } else { x };
    let (fraction, exponent) = exp_parts::<I>(x);
    // The power of two is applied in halves, since it may lie outside the range of normal numbers.
    let half = exponent >> 1;
    fraction * power_of_two(half) * power_of_two(exponent.wrapping_sub(half))
}

/// `e^x` for softmax, where x is at most about zero: results below the normal range become zero, which is cheaper
/// and avoids the slow path that subnormal numbers take on some processors.
#[inline(always)]
pub(crate) fn exp_weight<I: Instructions>(x: f32) -> f32 {
    let limited = if 88.0 < x { 88.0 } else { x };
    let limited = if -87.0 > limited { -87.0 } else { limited };
    let (fraction, exponent) = exp_parts::<I>(limited);
    let value = fraction * power_of_two(exponent);
    if x < -87.0 { 0.0 } else { value }
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub(crate) fn sigmoid<I: Instructions>(x: f32) -> f32 {
    1.0 / (1.0 + exp::<I>(-x))
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh<I: Instructions>(x: f32) -> f32 {
    let size = x.abs();
    let square = x * x;
    // (tanh(x)/x - 1) / x² in x², for |x| up to 0.625.
    let tail =
        polynomial5::<I>(square, [-0.333_332_8, 0.133_314_42, -0.053_739_708, 0.020_639_068, -0.005_704_968]);
    let near = I::mul_add(x * square, tail, x);
    let far = (1.0 - 2.0 / (exp::<I>(2.0 * size) + 1.0)).copysign(x);
    if size < 0.625 { near } else { far }
}

/// The error function.
#[inline(always)]
pub(crate) fn erf<I: Instructions>(x: f32) -> f32 {
    // Beyond 4 the result is 1 to the last bit.
    let size = x.abs();
    let size = if 4.0 < size { 4.0 } else { size };
    // erf(x)/x - 1 in x², for |x| up to 1.
    let tail = polynomial7::<I>(
        size * size,
        [
            0.128_379_16,
            -0.376_126_26,
            0.112_835_854,
            -0.026_853_81,
            0.005_188_327_3,
            -8.010_191_4e-4,
            7.853_853_5e-5,
        ],
    );
    let near = I::mul_add(x, tail, x);
    // -ln(1 - erf(x)) for x from 1 to 4.
    let logarithm = polynomial7::<I>(
        size,
        [
            3.414_995_2e-4,
            1.127_089_3,
            0.638_144_7,
            0.103_106_91,
            -0.021_838_138,
            0.002_947_677_4,
            -1.863_812e-4,
        ],
    );
    let far = (1.0 - exp_weight::<I>(-logarithm)).copysign(x);
    if size < 1.0 { near } else { far }
}

#[cfg(test)]
mod tests;
