//! The model against finite differences, against itself, and against chance.

use super::*;
use crate::lm::data::Source;

const SHAPE: Shape = Shape { width: 8, hidden: 12, layers: 2, heads: 2, vocabulary: 13 };
const TRAINING: Training = Training { learning_rate: 1e-2, weight_decay: 0.0, clip: Some(1.0) };

fn work(phase: Phase, checkpointing: bool) -> Work {
    Work { batch: 2, context: 5, phase, checkpointing }
}

fn model(shape: &Shape, work: &Work, threads: usize) -> Model {
    Model::new(Threads::new(threads), shape, work, 3, Profile::off()).unwrap()
}

fn tokens(shape: &Shape, work: &Work, iteration: u64) -> (Vec<u32>, Vec<u32>) {
    let (mut inputs, mut targets) = (vec![0; work.tokens()], vec![0; work.tokens()]);
    Source::new(None, shape.vocabulary, work.context, 3).fill(iteration, &mut inputs, &mut targets);
    (inputs, targets)
}

/// The loss after `change` was added to one weight.
fn loss_with(
    model: &mut Model,
    tensor: usize,
    element: usize,
    change: f32,
    data: &(Vec<u32>, Vec<u32>),
) -> f64 {
    let weight = |model: &mut Model, value: Option<f32>| {
        let place = &mut model.weights.tensors_mut().nth(tensor).unwrap()[element];
        std::mem::replace(place, value.unwrap_or(*place))
    };
    let before = weight(model, None);
    weight(model, Some(before + change));
    let loss = model.iterate(&data.0, &data.1, &TRAINING, false).loss;
    weight(model, Some(before));
    loss
}

#[test]
fn gradients_agree_with_finite_differences_in_every_tensor() {
    let work = work(Phase::ForwardBackward, false);
    let data = tokens(&SHAPE, &work, 0);
    let mut model = model(&SHAPE, &work, 2);
    let names = SHAPE.tensors();
    for (tensor, description) in names.iter().enumerate() {
        let length = description.len();
        let mut compared = 0;
        for element in (0..length).step_by(length.div_ceil(12)) {
            let step = 4e-3;
            let above = loss_with(&mut model, tensor, element, step, &data);
            let below = loss_with(&mut model, tensor, element, -step, &data);
            let expected = (above - below) / (2.0 * f64::from(step));
            model.iterate(&data.0, &data.1, &TRAINING, false);
            let gradient = f64::from(model.gradients().unwrap().tensors().nth(tensor).unwrap()[element]);
            let tolerance = 2e-4 + 5e-3 * expected.abs();
            assert!(
                (gradient - expected).abs() < tolerance,
                "{} [{element}]: {gradient} instead of {expected}",
                description.name
            );
            compared += usize::from(expected.abs() > 1e-3);
        }
        assert!(compared > 0, "{} has no gradient that could be compared", description.name);
    }
}

#[test]
fn the_loss_is_the_same_in_every_phase_and_near_chance() {
    let data = tokens(&SHAPE, &work(Phase::Forward, false), 0);
    let losses = [Phase::Forward, Phase::ForwardBackward, Phase::Step].map(|phase| {
        let outcome = model(&SHAPE, &work(phase, false), 2).iterate(&data.0, &data.1, &TRAINING, true);
        (outcome.loss, outcome.output)
    });
    assert!(losses.iter().all(|loss| *loss == losses[0]), "{losses:?}");
    assert!((losses[0].0 - 13f64.ln()).abs() < 0.7, "{losses:?}");
}

#[test]
fn checkpointing_gives_the_same_gradients_bit_for_bit() {
    let data = tokens(&SHAPE, &work(Phase::ForwardBackward, false), 0);
    let [plain, recomputed] = [false, true].map(|checkpointing| {
        let mut model = model(&SHAPE, &work(Phase::ForwardBackward, checkpointing), 2);
        let loss = model.iterate(&data.0, &data.1, &TRAINING, false).loss;
        (loss, model)
    });
    assert_eq!(plain.0, recomputed.0);
    assert!(plain.1.gradients().unwrap().tensors().eq(recomputed.1.gradients().unwrap().tensors()));
}

#[test]
fn logits_in_pieces_give_the_same_as_all_at_once() {
    let work = work(Phase::ForwardBackward, false);
    let data = tokens(&SHAPE, &work, 0);
    let outcomes = [10, 3].map(|rows| {
        let mut model = model(&SHAPE, &work, 1);
        model.buffers.rows = rows;
        let outcome = model.iterate(&data.0, &data.1, &TRAINING, true);
        (outcome, model)
    });
    let [(whole, whole_model), (pieces, pieces_model)] = &outcomes;
    assert!((whole.loss - pieces.loss).abs() < 1e-6);
    assert!((whole.output.unwrap() - pieces.output.unwrap()).abs() < 1e-6);
    let gradients =
        |model: &Model| model.gradients().unwrap().tensors().flatten().copied().collect::<Vec<f32>>();
    for (a, b) in gradients(whole_model).iter().zip(&gradients(pieces_model)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn training_is_the_same_bit_for_bit_every_time() {
    let shape = Shape { width: 48, hidden: 100, layers: 2, heads: 3, vocabulary: 211 };
    let work = Work { batch: 3, context: 17, phase: Phase::Step, checkpointing: false };
    let train = || {
        let mut model = model(&shape, &work, 2);
        let losses: Vec<u64> = (0..6)
            .map(|iteration| {
                let data = tokens(&shape, &work, iteration);
                model.iterate(&data.0, &data.1, &TRAINING, false).loss.to_bits()
            })
            .collect();
        (losses, model.weights.tensors().flatten().map(|weight| weight.to_bits()).collect::<Vec<u32>>())
    };
    assert_eq!(train(), train());
}

#[test]
fn repeated_data_are_learned() {
    let work = work(Phase::Step, false);
    let data = tokens(&SHAPE, &work, 0);
    let mut model = model(&SHAPE, &work, 1);
    let losses: Vec<f64> = (0..150).map(|_| model.iterate(&data.0, &data.1, &TRAINING, false).loss).collect();
    assert!(losses[149] < 0.3 * losses[0], "{} to {}", losses[0], losses[149]);
}

#[test]
fn an_infinite_weight_shows_in_the_loss_and_leaves_the_others_alone() {
    let work = work(Phase::Step, false);
    let data = tokens(&SHAPE, &work, 0);
    let mut model = model(&SHAPE, &work, 1);
    model.weights.head[0] = f32::INFINITY;
    let before = model.weights.layers[0].down.clone();
    let outcome = model.iterate(&data.0, &data.1, &TRAINING, false);
    assert!(!outcome.loss.is_finite() || !outcome.gradient_norm.unwrap().is_finite());
    assert_eq!(model.weights.layers[0].down, before);
}
