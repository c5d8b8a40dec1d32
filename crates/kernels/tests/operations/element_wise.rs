//! Operations on single elements.

use assay_kernels::{dropout, gelu, relu, swiglu};

use crate::support::{assert_close, doubles, everywhere, inner, numbers, slopes};

/// The error function, by its series or by the continued fraction of its complement.
fn erf(x: f64) -> f64 {
    let size = x.abs();
    let value = if size < 2.5 {
        let mut term = size;
        let mut sum = size;
        for n in 1..80 {
            let n = f64::from(n);
            term *= -size * size / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let fraction = (1..=60).rev().fold(size, |below, n| size + f64::from(n) / 2.0 / below);
        1.0 - (-size * size).exp() / fraction / std::f64::consts::PI.sqrt()
    };
    value.copysign(x)
}

fn gelu_reference(kind: gelu::GeluFormula, x: f64) -> f64 {
    match kind {
        gelu::GeluFormula::Exact => 0.5 * x * (1.0 + erf(x / 2.0_f64.sqrt())),
        gelu::GeluFormula::Tanh => {
            0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
        }
    }
}

fn swiglu_reference(gate_up: &[f64], hidden: usize) -> Vec<f64> {
    let row = |row: &[f64]| {
        let (gate, up) = row.split_at(hidden);
        gate.iter().zip(up).map(|(gate, up)| gate / (1.0 + (-gate).exp()) * up).collect::<Vec<_>>()
    };
    gate_up.chunks(2 * hidden).flat_map(row).collect()
}

/// Numbers between -8 and 8.
fn wide(count: usize, seed: u64) -> Vec<f32> {
    numbers(count, seed).iter().map(|x| x * 8.0).collect()
}

#[test]
fn swiglu_agrees() {
    for (rows, hidden) in [(1, 1), (3, 7), (0, 4), (2, 40), (40, 1003)] {
        let (gate_up, dy) = (wide(rows * 2 * hidden, 1), numbers(rows * hidden, 2));
        everywhere(|threads| {
            let mut y = vec![0.0; rows * hidden];
            swiglu::forward(threads, &gate_up, hidden, &mut y);
            assert_close("y", &y, &swiglu_reference(&doubles(&gate_up), hidden), 1e-6);
            let mut gradients = gate_up.clone();
            swiglu::backward(threads, &mut gradients, hidden, &dy);
            if rows < 5 {
                let loss = |gate_up: &[f64]| inner(&swiglu_reference(gate_up, hidden), &doubles(&dy));
                assert_close("gradients", &gradients, &slopes(loss, &doubles(&gate_up)), 2e-6);
            }
            [y, gradients].concat()
        });
    }
}

#[test]
fn gelu_agrees() {
    for kind in [gelu::GeluFormula::Exact, gelu::GeluFormula::Tanh] {
        for length in [0, 1, 13, 333, 40_003] {
            let (x, dy) = (wide(length, 1), numbers(length, 2));
            everywhere(|threads| {
                let (mut y, mut dx) = (vec![0.0; length], vec![0.0; length]);
                gelu::forward(threads, kind, &x, &mut y);
                let wanted: Vec<f64> = doubles(&x).iter().map(|&x| gelu_reference(kind, x)).collect();
                assert_close("y", &y, &wanted, 5e-7);
                gelu::backward(threads, kind, &x, &dy, &mut dx);
                let slope = |x: f64| (gelu_reference(kind, x + 1e-5) - gelu_reference(kind, x - 1e-5)) / 2e-5;
                let wanted: Vec<f64> =
                    x.iter().zip(&dy).map(|(&x, &dy)| f64::from(dy) * slope(x.into())).collect();
                assert_close("dx", &dx, &wanted, 1e-6);
                [y, dx].concat()
            });
        }
    }
}

#[test]
fn large_numbers_reach_their_limits() {
    everywhere(|threads| {
        let x = [-1e30, -200.0, 200.0, 1e30, f32::INFINITY, f32::NAN];
        let mut results = Vec::new();
        for kind in [gelu::GeluFormula::Exact, gelu::GeluFormula::Tanh] {
            let mut y = [0.0; 6];
            gelu::forward(threads, kind, &x, &mut y);
            assert_eq!(y[..5], [0.0, 0.0, 200.0, 1e30, f32::INFINITY]);
            assert!(y[5].is_nan());
            results.extend(y);
        }
        let mut y = [0.0; 6];
        let gate_up = [x, [1.0; 6]].concat();
        swiglu::forward(threads, &gate_up, 6, &mut y);
        assert_eq!(y[..5], [0.0, 0.0, 200.0, 1e30, f32::INFINITY]);
        assert!(y[5].is_nan());
        results.extend(y);
        results
    });
}

#[test]
fn relu_passes_positive_numbers_and_nan() {
    everywhere(|threads| {
        let x = [-1.0, 0.0, 2.0, f32::NAN, f32::NEG_INFINITY, f32::INFINITY, -0.5];
        let (mut y, mut dx) = ([9.0; 7], [9.0; 7]);
        relu::forward(threads, &x, &mut y);
        assert_eq!(y[..3], [0.0, 0.0, 2.0]);
        assert!(y[3].is_nan());
        assert_eq!(y[4..], [0.0, f32::INFINITY, 0.0]);
        relu::backward(threads, &x, &[3.0; 7], &mut dx);
        assert_eq!(dx, [0.0, 0.0, 3.0, 3.0, 0.0, 3.0, 0.0]);
        [y, dx].concat()
    });
    let x = numbers(100_001, 3);
    everywhere(|threads| {
        let (mut y, mut dx) = (vec![9.0; x.len()], vec![9.0; x.len()]);
        relu::forward(threads, &x, &mut y);
        relu::backward(threads, &y, &x, &mut dx);
        assert_eq!(dx, y);
        assert!(x.iter().zip(&y).all(|(&x, &y)| y == x.max(0.0)));
        y
    });
}

#[test]
fn dropout_keeps_the_right_part_and_the_mean() {
    let x = vec![1.0; 300_000];
    for probability in [0.0, 0.1, 0.5, 0.9] {
        everywhere(|threads| {
            let (mut y, mut dx) = (vec![9.0; x.len()], vec![9.0; x.len()]);
            dropout::forward(threads, 7, probability, &x, &mut y);
            dropout::backward(threads, 7, probability, &x, &mut dx);
            assert_eq!(y, dx);
            let kept = y.iter().filter(|&&y| y != 0.0).count() as f64 / x.len() as f64;
            assert!((kept - (1.0 - f64::from(probability))).abs() < 0.005, "{kept} kept at {probability}");
            let scale = 1.0 / (1.0 - probability);
            assert!(y.iter().all(|&y| y == 0.0 || y == scale));
            y
        });
    }
}

#[test]
fn the_mask_follows_from_seed_and_index_alone() {
    let mask = |threads, seed, length| {
        let mut y = vec![0.0; length];
        dropout::forward(&assay_kernels::Threads::new(threads), seed, 0.5, &vec![1.0; length], &mut y);
        y
    };
    let whole = mask(1, 5, 200_000);
    assert_eq!(whole, mask(3, 5, 200_000));
    assert_eq!(whole[..70_001], mask(2, 5, 70_001));
    // Masks of neighboring seeds, and of neighboring elements and blocks, agree as often as by chance.
    let other = mask(1, 6, 200_000);
    let agreement =
        |a: &[f32], b: &[f32]| a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64;
    assert!((agreement(&whole, &other) - 0.5).abs() < 0.006);
    for distance in [1, 2, 3, 4, 8, 16, 256, 4096, 65_536] {
        let share = agreement(&whole[..100_000], &whole[distance..][..100_000]);
        assert!((share - 0.5).abs() < 0.008, "{share} at distance {distance}");
    }
}

#[test]
fn dropout_hides_no_nan() {
    everywhere(|threads| {
        let mut y = vec![0.0; 1000];
        dropout::forward(threads, 1, 0.5, &vec![f32::NAN; 1000], &mut y);
        assert!(y.iter().all(|y| y.is_nan()));
        Vec::new()
    });
}
