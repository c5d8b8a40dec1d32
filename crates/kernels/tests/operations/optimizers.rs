//! SGD and AdamW against plain versions over several steps.

use assay_kernels::adam_w::{self, Hyperparameters};
use assay_kernels::{Threads, sgd};

use crate::support::{assert_close, doubles, everywhere, numbers};

#[test]
fn sgd_agrees() {
    for length in [0, 1, 77, 50_001] {
        let start = numbers(length, 1);
        everywhere(|threads| {
            let (mut w, mut velocity) = (start.clone(), vec![0.0; length]);
            let (mut w64, mut velocity64) = (doubles(&start), vec![0.0; length]);
            for step in 0..3 {
                let g = numbers(length, 10 + step);
                sgd::step(threads, 0.1, 0.9, &mut w, &g, &mut velocity);
                for ((w, velocity), g) in w64.iter_mut().zip(&mut velocity64).zip(doubles(&g)) {
                    *velocity = 0.9 * *velocity + g;
                    *w -= 0.1 * *velocity;
                }
            }
            assert_close("w", &w, &w64, 1e-6);
            assert_close("velocity", &velocity, &velocity64, 1e-6);
            [w, velocity].concat()
        });
    }
}

#[test]
fn sgd_without_momentum_agrees() {
    for length in [0, 1, 77, 50_001] {
        let (start, g) = (numbers(length, 1), numbers(length, 2));
        everywhere(|threads| {
            let mut w = start.clone();
            sgd::step_plain(threads, 0.1, &mut w, &g);
            let wanted: Vec<f64> =
                start.iter().zip(&g).map(|(w, g)| f64::from(*w) - 0.1 * f64::from(*g)).collect();
            assert_close("w", &w, &wanted, 1e-6);
            w
        });
    }
}

#[test]
fn adam_w_agrees() {
    let hyper = Hyperparameters { rate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.1 };
    for length in [0, 1, 77, 50_001] {
        let start = numbers(length, 1);
        everywhere(|threads| {
            let (mut w, mut m, mut v) = (start.clone(), vec![0.0; length], vec![0.0; length]);
            let (mut w64, mut m64, mut v64) = (doubles(&start), vec![0.0; length], vec![0.0; length]);
            for step in 1..=4_u64 {
                let g = numbers(length, 10 + step);
                adam_w::step(threads, &hyper, step, &mut w, &g, &mut m, &mut v);
                let (bias1, bias2) = (1.0 - 0.9_f64.powi(step as i32), 1.0 - 0.999_f64.powi(step as i32));
                for ((g, w), (m, v)) in doubles(&g).iter().zip(&mut w64).zip(m64.iter_mut().zip(&mut v64)) {
                    *w -= 1e-2 * 0.1 * *w;
                    *m = 0.9 * *m + (1.0 - 0.9) * g;
                    *v = 0.999 * *v + (1.0 - 0.999) * g * g;
                    *w -= 1e-2 / bias1 * *m / (v.sqrt() / bias2.sqrt() + 1e-8);
                }
            }
            assert_close("w", &w, &w64, 1e-6);
            assert_close("m", &m, &m64, 1e-6);
            assert_close("v", &v, &v64, 1e-7);
            [w, m, v].concat()
        });
    }
}

/// Numbers that PyTorch 2.15's AdamW gave for the same start, gradients and settings.
#[test]
fn adam_w_does_what_pytorch_does() {
    let hyper = Hyperparameters { rate: 1e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01 };
    let (mut w, mut m, mut v) = ([0.5, -1.25, 2.0, 0.0], [0.0; 4], [0.0; 4]);
    let gradients = [[0.1, -0.2, 1e-4, 3.0], [-0.3, 0.4, 0.0, 1.0], [0.05, 0.05, -1e-6, -2.0]];
    for (step, g) in (1..).zip(&gradients) {
        adam_w::step(&Threads::new(1), &hyper, step, &mut w, g, &mut m, &mut v);
    }
    assert_close("w", &w, &PYTORCH_ADAM_W, 1e-7);
}

const PYTORCH_ADAM_W: [f64; 4] =
    [0.499_752_402_305_603, -1.249_679_803_848_266_6, 1.997_736_811_637_878_4, -0.002_109_186_258_167_028_4];

#[test]
fn nan_gradients_reach_the_weights() {
    let hyper = Hyperparameters { rate: 1e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01 };
    let (mut w, mut m, mut v) = ([1.0; 2], [0.0; 2], [0.0; 2]);
    adam_w::step(&Threads::new(1), &hyper, 1, &mut w, &[f32::NAN, 1.0], &mut m, &mut v);
    assert!(w[0].is_nan() && w[1].is_finite());
}

#[test]
#[should_panic(expected = "steps are counted from one")]
fn step_zero_is_refused() {
    let hyper = Hyperparameters { rate: 1e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01 };
    adam_w::step(&Threads::new(1), &hyper, 0, &mut [], &[], &mut [], &mut []);
}
