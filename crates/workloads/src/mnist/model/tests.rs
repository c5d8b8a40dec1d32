//! The network against finite differences, against itself, and against chance.

use super::*;
use crate::collective::{Single, team};
use crate::data::digits;
use crate::mnist::network;

const TRAINING: Training =
    Training { learning_rate: 0.05, momentum: 0.0, dropout: 0.5, softmax: false, seed: 3 };

fn model(training: Training, batch: usize, threads: usize) -> Model {
    Model::new(Threads::new(threads), training, batch, 7, 3, Profile::off()).unwrap()
}

/// Some digits with their labels.
fn digits(count: usize) -> (Vec<u8>, Vec<u32>) {
    let images = digits::draw(&Threads::new(2), "train", 3, count).unwrap();
    (images.pixels, images.labels.iter().map(|label| u32::from(*label)).collect())
}

fn batch((pixels, labels): &(Vec<u8>, Vec<u32>), step: u64) -> Batch<'_> {
    Batch { pixels, labels, first: 0, total: labels.len(), step }
}

#[test]
fn gradients_agree_with_finite_differences_in_every_tensor() {
    let data = digits(6);
    for softmax in [false, true] {
        let mut model = model(Training { learning_rate: 0.0, softmax, ..TRAINING }, 6, 2);
        for (tensor, description) in network::tensors().iter().enumerate() {
            let (mut compared, mut apart) = (0, Vec::new());
            for element in (0..description.len()).step_by(description.len().div_ceil(30)) {
                let mut loss_with = |change: f32| {
                    model.weights.tensors[tensor][element] += change;
                    let loss = model.step(&batch(&data, 0), false, &mut Single::default()).loss;
                    model.weights.tensors[tensor][element] -= change;
                    loss
                };
                let step = 1e-3;
                let expected = (loss_with(step) - loss_with(-step)) / (2.0 * f64::from(step));
                model.step(&batch(&data, 0), false, &mut Single::default());
                let gradient = f64::from(model.gradients.tensors[tensor][element]);
                if (gradient - expected).abs() > 3e-4 + 0.08 * expected.abs() {
                    apart.push((element, gradient, expected));
                }
                compared += usize::from(expected.abs() > 5e-4);
            }
            // Where a rectifier opens or the largest of a window changes within the step, differences mean nothing.
            assert!(apart.len() <= 6, "{}: {apart:?}", description.name);
            // A second softmax makes all gradients small.
            assert!(softmax || compared > 0, "{} has no gradient that could be compared", description.name);
        }
    }
}

#[test]
fn training_is_the_same_bit_for_bit_every_time() {
    let data = digits(9);
    let train = || {
        let mut model = model(Training { momentum: 0.9, learning_rate: 0.01, ..TRAINING }, 9, 2);
        let losses: Vec<u64> = (0..5)
            .map(|step| model.step(&batch(&data, step), false, &mut Single::default()).loss.to_bits())
            .collect();
        let weights = model.weights.tensors.iter().flatten().map(|weight| weight.to_bits());
        (losses, weights.collect::<Vec<u32>>())
    };
    assert_eq!(train(), train());
}

#[test]
fn repeated_digits_are_learned_and_a_test_reports_so() {
    let data = digits(20);
    let labels: Vec<u8> = data.1.iter().map(|label| *label as u8).collect();
    let mut model = model(Training { learning_rate: 0.1, dropout: 0.2, ..TRAINING }, 20, 1);
    let before = model.test(&data.0, &labels);
    assert!((before.loss / 20.0 - 10f64.ln()).abs() < 0.3, "{before:?}");
    assert_eq!(before.images, 20);
    for step in 0..300 {
        model.step(&batch(&data, step), false, &mut Single::default());
    }
    let after = model.test(&data.0, &labels);
    assert_eq!(after.right, 20, "{after:?}");
    assert!(after.loss < 0.2 * before.loss, "{before:?} to {after:?}");
}

#[test]
fn an_infinite_weight_shows_in_the_loss() {
    let data = digits(4);
    for tensor in 0..8 {
        let mut model = model(Training { dropout: 0.0, ..TRAINING }, 4, 2);
        model.weights.tensors[tensor].fill(f32::NAN);
        assert!(model.step(&batch(&data, 0), false, &mut Single::default()).loss.is_nan(), "tensor {tensor}");
    }
}

/// Ranks with the parts of a batch, uneven and empty ones included, against one rank with the whole of it: losses,
/// outputs, gradients and weights after some steps. Masks of dropout are those of the whole.
#[test]
fn several_tasks_train_as_one_on_the_joined_batch() {
    let data = digits(7);
    let train = |ranks: &mut dyn Collective| {
        let mut model = model(TRAINING, 7, 1);
        let (first, last) = (7 * ranks.rank() / ranks.size(), 7 * (ranks.rank() + 1) / ranks.size());
        let outcomes: Vec<IterationOutcome> = (0..4)
            .map(|step| {
                let pixels = &data.0[first * PIXELS..last * PIXELS];
                let part = Batch { pixels, labels: &data.1[first..last], first, total: 7, step };
                model.step(&part, true, ranks)
            })
            .collect();
        (outcomes, model.weights.tensors.concat())
    };
    let (expected, weights) = train(&mut Single::default());
    for tasks in [2, 3, 9] {
        let results: Vec<_> = std::thread::scope(|scope| {
            let train = &train;
            let start = |mut member: Box<dyn Collective + Send>| scope.spawn(move || train(member.as_mut()));
            let threads: Vec<_> = team(tasks).into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (outcomes, of_rank) in &results {
            for (outcome, expected) in outcomes.iter().zip(&expected) {
                assert!((outcome.loss - expected.loss).abs() < 1e-5, "{outcome:?} {expected:?}");
                assert!((outcome.output.unwrap() - expected.output.unwrap()).abs() < 1e-5);
                assert!((outcome.gradient_norm.unwrap() - expected.gradient_norm.unwrap()).abs() < 1e-4);
            }
            assert_eq!(of_rank, &results[0].1, "all ranks have the same weights, bit for bit");
            let apart = of_rank.iter().zip(&weights).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart < 1e-5, "{apart}");
        }
    }
}
