//! Root-mean-square norm and layer norm.

use assay_kernels::{layer_norm, rms_norm};

use crate::support::{assert_close, assert_slopes, doubles, everywhere, inner, numbers};

const EPSILON: f64 = 1e-5;
/// Rows and widths: single ones, odd ones, and enough for several tasks.
const SIZES: [(usize, usize); 6] = [(1, 1), (1, 7), (3, 33), (5, 64), (0, 8), (130, 701)];

fn rms_reference(x: &[f64], weight: &[f64]) -> Vec<f64> {
    let row = |x: &[f64]| {
        let inverse = 1.0 / (inner(x, x) / x.len() as f64 + EPSILON).sqrt();
        x.iter().zip(weight).map(|(x, weight)| x * inverse * weight).collect::<Vec<_>>()
    };
    x.chunks(weight.len()).flat_map(row).collect()
}

fn layer_reference(x: &[f64], weight: &[f64], bias: &[f64]) -> Vec<f64> {
    let row = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64;
        let inverse = 1.0 / (variance + EPSILON).sqrt();
        let normed = x.iter().map(|x| (x - mean) * inverse);
        normed.zip(weight.iter().zip(bias)).map(|(x, (weight, bias))| x * weight + bias).collect::<Vec<_>>()
    };
    x.chunks(weight.len()).flat_map(row).collect()
}

#[test]
fn rms_norm_agrees() {
    for (rows, width) in SIZES {
        let (x, weight, dy) = (numbers(rows * width, 1), numbers(width, 2), numbers(rows * width, 3));
        let (before_x, before_weight) = (numbers(rows * width, 4), numbers(width, 5));
        everywhere(|threads| {
            let (mut y, mut inverse) = (vec![0.0; x.len()], vec![0.0; rows]);
            rms_norm::forward(threads, &x, &weight, EPSILON as f32, &mut y, &mut inverse);
            let (x64, weight64, dy64) = (doubles(&x), doubles(&weight), doubles(&dy));
            assert_close("y", &y, &rms_reference(&x64, &weight64), 2e-6);

            let (mut dx, mut dweight) = (before_x.clone(), before_weight.clone());
            let mut scratch = vec![f32::NAN; rms_norm::backward_scratch(threads, width)];
            rms_norm::backward(threads, &x, &weight, &inverse, &dy, &mut dx, &mut dweight, &mut scratch);
            if rows > 0 && rows * width < 1000 {
                let by_x =
                    |x: &[f64]| inner(&rms_reference(x, &weight64), &dy64) + inner(x, &doubles(&before_x));
                assert_slopes("dx", &dx, by_x, &x64, 20, 2e-5);
            }
            let by_weight = |weight: &[f64]| {
                inner(&rms_reference(&x64, weight), &dy64) + inner(weight, &doubles(&before_weight))
            };
            assert_slopes("dweight", &dweight, by_weight, &weight64, 5, 2e-5);
            [y, inverse, dx, dweight].concat()
        });
    }
}

#[test]
fn layer_norm_agrees() {
    for (rows, width) in SIZES {
        let (x, weight, bias) = (numbers(rows * width, 1), numbers(width, 2), numbers(width, 6));
        let (dy, before) = (numbers(rows * width, 3), numbers(rows * width, 4));
        everywhere(|threads| {
            let (mut y, mut mean, mut inverse) = (vec![0.0; x.len()], vec![0.0; rows], vec![0.0; rows]);
            layer_norm::forward(threads, &x, &weight, &bias, EPSILON as f32, &mut y, &mut mean, &mut inverse);
            let (x64, weight64, bias64, dy64) = (doubles(&x), doubles(&weight), doubles(&bias), doubles(&dy));
            assert_close("y", &y, &layer_reference(&x64, &weight64, &bias64), 2e-6);

            let (mut dx, mut dweight, mut dbias) = (before.clone(), vec![1.0; width], vec![2.0; width]);
            let mut scratch = vec![f32::NAN; layer_norm::backward_scratch(threads, width)];
            layer_norm::backward(
                threads,
                &x,
                &weight,
                &mean,
                &inverse,
                &dy,
                &mut dx,
                &mut dweight,
                &mut dbias,
                &mut scratch,
            );
            // A row of one element is constant, and a difference quotient of it would only show rounding.
            if rows > 0 && width > 1 && rows * width < 1000 {
                let by_x = |x: &[f64]| {
                    inner(&layer_reference(x, &weight64, &bias64), &dy64) + inner(x, &doubles(&before))
                };
                assert_slopes("dx", &dx, by_x, &x64, 20, 5e-5);
            }
            let by_weight = |weight: &[f64]| {
                inner(&layer_reference(&x64, weight, &bias64), &dy64) + weight.iter().sum::<f64>()
            };
            assert_slopes("dweight", &dweight, by_weight, &weight64, 5, 2e-5);
            let by_bias = |bias: &[f64]| {
                inner(&layer_reference(&x64, &weight64, bias), &dy64) + 2.0 * bias.iter().sum::<f64>()
            };
            assert_slopes("dbias", &dbias, by_bias, &bias64, 5, 2e-5);
            [y, mean, inverse, dx, dweight, dbias].concat()
        });
    }
}

#[test]
fn a_row_far_from_zero_keeps_its_digits() {
    let threads = assay_kernels::Threads::new(1);
    let x: Vec<f32> = numbers(64, 9).iter().map(|x| x + 1000.0).collect();
    let (mut y, mut mean, mut inverse) = (vec![0.0; 64], [0.0], [0.0]);
    layer_norm::forward(
        &threads,
        &x,
        &[1.0; 64],
        &[0.0; 64],
        EPSILON as f32,
        &mut y,
        &mut mean,
        &mut inverse,
    );
    assert_close("y", &y, &layer_reference(&doubles(&x), &[1.0; 64], &[0.0; 64]), 2e-4);
}

#[test]
fn nan_stays_in_its_row() {
    everywhere(|threads| {
        let mut x = numbers(30, 1);
        x[12] = f32::NAN;
        let (mut y, mut inverse) = (vec![0.0; 30], vec![0.0; 3]);
        rms_norm::forward(threads, &x, &[1.0; 10], 1e-5, &mut y, &mut inverse);
        assert!(y[10..20].iter().all(|y| y.is_nan()));
        assert!(y[..10].iter().chain(&y[20..]).all(|y| y.is_finite()));
        y[..10].to_vec()
    });
}
