//! Cross-entropy.

use assay_kernels::{Threads, cross_entropy};

use crate::support::{assert_close, doubles, everywhere, numbers, slopes, whole_numbers};

fn reference(logits: &[f64], vocabulary: usize, targets: &[u32]) -> Vec<f64> {
    let row = |(row, &target): (&[f64], &u32)| {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: f64 = row.iter().map(|x| (x - largest).exp()).sum();
        largest - row[target as usize] + powers.ln()
    };
    logits.chunks(vocabulary).zip(targets).map(row).collect()
}

#[test]
fn cross_entropy_agrees() {
    for (rows, vocabulary) in [(1, 1), (3, 7), (0, 5), (4, 101), (9, 2001), (40, 1000)] {
        let logits: Vec<f32> = numbers(rows * vocabulary, 1).iter().map(|x| x * 6.0).collect();
        let targets = whole_numbers(rows, vocabulary as u32, 2);
        let wanted = reference(&doubles(&logits), vocabulary, &targets);
        everywhere(|threads| {
            let mut row_loss = vec![0.0; rows];
            let total = cross_entropy::forward(threads, &logits, vocabulary, &targets, &mut row_loss);
            assert_close("loss", &row_loss, &wanted, 5e-7);
            assert!((total - wanted.iter().sum::<f64>()).abs() < 1e-6 * (1.0 + total.abs()));

            let (mut gradient, mut again) = (logits.clone(), vec![0.0; rows]);
            let scale = 0.25;
            let total_again = cross_entropy::forward_backward(
                threads,
                &mut gradient,
                vocabulary,
                &targets,
                scale,
                &mut again,
            );
            assert_close("loss", &again, &wanted, 5e-7);
            assert!((total - total_again).abs() < 1e-6 * (1.0 + total.abs()));
            if rows * vocabulary < 1000 {
                let loss = |x: &[f64]| 0.25 * reference(x, vocabulary, &targets).iter().sum::<f64>();
                assert_close("gradient", &gradient, &slopes(loss, &doubles(&logits)), 1e-7);
            }
            [row_loss, gradient].concat()
        });
    }
}

#[test]
fn huge_logits_are_no_problem() {
    everywhere(|threads| {
        let mut logits = vec![0.0; 3 * 50];
        logits[3] = 1e4;
        logits[50 + 7] = -1e4;
        logits[100..].fill(1e4);
        let mut row_loss = vec![0.0; 3];
        cross_entropy::forward_backward(threads, &mut logits, 50, &[0, 7, 20], 1.0, &mut row_loss);
        assert_close("loss", &row_loss, &[1e4, 1e4 + 49_f64.ln(), 50_f64.ln()], 1e-6);
        assert_eq!(logits[..4], [-1.0, 0.0, 0.0, 1.0]);
        assert_eq!(logits[57], -1.0);
        assert!(logits.iter().all(|x| x.is_finite()));
        row_loss
    });
}

#[test]
fn nan_and_infinity_show_in_their_row() {
    everywhere(|threads| {
        let mut logits = numbers(4 * 40, 1);
        logits[5] = f32::NAN;
        logits[47] = f32::INFINITY;
        logits[81] = f32::NEG_INFINITY;
        let mut row_loss = vec![0.0; 4];
        let total = cross_entropy::forward(threads, &logits, 40, &[0, 0, 0, 0], &mut row_loss);
        assert!(total.is_nan());
        assert!(!row_loss[0].is_finite() && !row_loss[1].is_finite());
        // Minus infinity is a logit like any other: its probability is zero.
        assert!(row_loss[2].is_finite() && row_loss[3].is_finite());
        row_loss[2..].to_vec()
    });
}

#[test]
#[should_panic(expected = "targets must lie in the vocabulary")]
fn a_target_outside_the_vocabulary_is_refused() {
    cross_entropy::forward(&Threads::new(1), &[0.0; 4], 4, &[4], &mut [0.0]);
}
