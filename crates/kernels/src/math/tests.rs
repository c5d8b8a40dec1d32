//! The functions against double precision, over all their range and on every path.

use super::*;
use crate::Isa;
use crate::dispatch::{dispatch, with_isa};

/// Applies a function to whole slices, as the kernels do.
macro_rules! over_slices {
    ($($name:ident: $function:ident;)*) => {
        $(dispatch! {
            fn $name<I>(x: &[f32], y: &mut [f32]) {
                for (y, &x) in y.iter_mut().zip(x) {
                    *y = $function::<I>(x);
                }
            }
        })*
    };
}
over_slices! {
    exp_all: exp;
    exp_weight_all: exp_weight;
    sigmoid_all: sigmoid;
    tanh_all: tanh;
    erf_all: erf;
}

/// The error function by its series, which needs no more than double precision up to 2.5, or by a continued fraction.
fn erf_reference(x: f64) -> f64 {
    let size = x.abs();
    let value = if size < 2.5 {
        let (mut term, mut sum) = (size, size);
        for n in 1..90 {
            term *= -size * size / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let fraction = (1..=80).rev().fold(size, |below, n| size + f64::from(n) / 2.0 / below);
        1.0 - (-size * size).exp() / fraction / std::f64::consts::PI.sqrt()
    };
    value.copysign(x)
}

/// The largest relative error over evenly spread arguments.
fn largest_error(
    function: fn(&[f32], &mut [f32]),
    wanted: fn(f64) -> f64,
    low: f32,
    high: f32,
) -> (f64, f32) {
    let count = 400_000;
    let x: Vec<f32> = (0..=count).map(|i| low + (high - low) * (i as f32 / count as f32)).collect();
    let mut y = vec![0.0; x.len()];
    function(&x, &mut y);
    let error = |(&x, &y): (&f32, &f32)| {
        let wanted = wanted(f64::from(x));
        (((f64::from(y) - wanted) / wanted.abs().max(1e-300)).abs(), x)
    };
    x.iter()
        .zip(&y)
        .filter(|(x, _)| **x != 0.0)
        .map(error)
        .fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
}

/// A function over slices, its exact version, a range of arguments and the error allowed there.
type Case = (&'static str, fn(&[f32], &mut [f32]), fn(f64) -> f64, f32, f32);

#[test]
fn relative_errors_are_small() {
    let cases: [Case; 9] = [
        ("exp", exp_all, f64::exp, -87.3, 88.7),
        ("exp near zero", exp_all, f64::exp, -1e-3, 1e-3),
        ("exp_weight", exp_weight_all, f64::exp, -87.0, 1.0),
        ("sigmoid", sigmoid_all, |x| 1.0 / (1.0 + (-x).exp()), -80.0, 80.0),
        ("tanh", tanh_all, f64::tanh, -12.0, 12.0),
        ("tanh near zero", tanh_all, f64::tanh, -0.7, 0.7),
        ("erf", erf_all, erf_reference, -6.0, 6.0),
        ("erf near one", erf_all, erf_reference, 0.9, 1.1),
        ("erf near zero", erf_all, erf_reference, -1e-3, 1e-3),
    ];
    for isa in Isa::available() {
        for (name, function, wanted, low, high) in cases {
            let (error, place) = with_isa(isa, || largest_error(function, wanted, low, high));
            assert!(error < 2e-7, "{name} on {}: {error:e} at {place}", isa.name());
        }
    }
}

#[test]
fn limits_are_reached() {
    let x = [f32::NEG_INFINITY, -1e30, -150.0, -100.0, 0.0, 89.0, 1e30, f32::INFINITY];
    for isa in Isa::available() {
        with_isa(isa, || {
            let mut y = [9.0; 8];
            exp_all(&x, &mut y);
            assert_eq!(y[..3], [0.0; 3]);
            // Subnormal, with the digits that are left.
            assert!((f64::from(y[3]) - (-100.0_f64).exp()).abs() < 1e-45);
            assert_eq!(y[4..], [1.0, f32::INFINITY, f32::INFINITY, f32::INFINITY]);
            exp_weight_all(&x, &mut y);
            assert_eq!(y[..5], [0.0, 0.0, 0.0, 0.0, 1.0]);
            sigmoid_all(&x, &mut y);
            assert_eq!(y[..3], [0.0; 3]);
            assert_eq!(y[4..], [0.5, 1.0, 1.0, 1.0]);
            for function in [tanh_all, erf_all] {
                function(&x, &mut y);
                assert_eq!(y, [-1.0, -1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0]);
            }
        });
    }
}

#[test]
fn nan_stays_nan() {
    for isa in Isa::available() {
        with_isa(isa, || {
            for function in [exp_all, exp_weight_all, sigmoid_all, tanh_all, erf_all] {
                let mut y = [0.0; 9];
                function(&[f32::NAN; 9], &mut y);
                assert!(y.iter().all(|y| y.is_nan()));
            }
        });
    }
}
