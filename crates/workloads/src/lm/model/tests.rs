//! The model against finite differences, against itself, and against chance.

use super::*;
use crate::collective::{Single, team};
use crate::lm::data::BatchSource;
use crate::lm::plan::Policy;

const SHAPE: LmShape = LmShape { width: 8, hidden: 12, layers: 2, heads: 2, vocabulary: 13 };
const TRAINING: Training = Training { learning_rate: 1e-2, weight_decay: 0.0, clip: Some(1.0) };

fn work(phase: Phase, checkpointing: bool) -> LmWork {
    LmWork { batch: 2, context: 5, phase, checkpointing, tasks: 1 }
}

fn model(shape: &LmShape, work: &LmWork, threads: usize) -> Model {
    Model::new(Threads::new(threads), shape, work, 3, Profile::off()).unwrap()
}

fn tokens(shape: &LmShape, work: &LmWork, iteration: u64) -> (Vec<u32>, Vec<u32>) {
    let (mut inputs, mut targets) = (vec![0; work.tokens()], vec![0; work.tokens()]);
    BatchSource::new(None, shape.vocabulary, work.context, 3, 0).fill(iteration, &mut inputs, &mut targets);
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
    let loss = model.iterate(&data.0, &data.1, &TRAINING, false, &mut Single::default()).loss;
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
            model.iterate(&data.0, &data.1, &TRAINING, false, &mut Single::default());
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
        let outcome = model(&SHAPE, &work(phase, false), 2).iterate(
            &data.0,
            &data.1,
            &TRAINING,
            true,
            &mut Single::default(),
        );
        (outcome.loss, outcome.output)
    });
    assert!(losses.iter().all(|loss| *loss == losses[0]), "{losses:?}");
    assert!((losses[0].0 - 13f64.ln()).abs() < 0.7, "{losses:?}");
}

/// The first work keeps activations in places of their own, the second in the gradients of the layer before.
#[test]
fn checkpointing_gives_the_same_gradients_bit_for_bit() {
    let shape = LmShape { layers: 3, ..SHAPE };
    for (batch, policy) in [(2, Policy::Own), (1, Policy::Lent)] {
        let works = [false, true]
            .map(|checkpointing| LmWork { batch, ..work(Phase::ForwardBackward, checkpointing) });
        assert_eq!(works.map(|work| Policy::of(&shape, &work)), [policy, Policy::Shared]);
        let [plain, recomputed] = works.map(|work| {
            let (inputs, targets) = tokens(&shape, &work, 0);
            let mut model = model(&shape, &work, 2);
            // Twice, so that what the first time left in the gradients is there the second time.
            for _ in 0..2 {
                model.iterate(&inputs, &targets, &TRAINING, false, &mut Single::default());
            }
            model
        });
        assert!(plain.gradients().unwrap().tensors().eq(recomputed.gradients().unwrap().tensors()));
    }
}

#[test]
fn logits_in_pieces_give_the_same_as_all_at_once() {
    let work = work(Phase::ForwardBackward, false);
    let data = tokens(&SHAPE, &work, 0);
    let outcomes = [10, 3].map(|rows| {
        let mut model = model(&SHAPE, &work, 1);
        model.buffers.rows = rows;
        let outcome = model.iterate(&data.0, &data.1, &TRAINING, true, &mut Single::default());
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
    let shape = LmShape { width: 48, hidden: 100, layers: 2, heads: 3, vocabulary: 211 };
    let work = LmWork { batch: 3, context: 17, phase: Phase::Step, checkpointing: false, tasks: 1 };
    let train = || {
        let mut model = model(&shape, &work, 2);
        let losses: Vec<u64> = (0..6)
            .map(|iteration| {
                let data = tokens(&shape, &work, iteration);
                model.iterate(&data.0, &data.1, &TRAINING, false, &mut Single::default()).loss.to_bits()
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
    let losses: Vec<f64> = (0..150)
        .map(|_| model.iterate(&data.0, &data.1, &TRAINING, false, &mut Single::default()).loss)
        .collect();
    assert!(losses[149] < 0.3 * losses[0], "{} to {}", losses[0], losses[149]);
}

#[test]
fn an_infinite_weight_shows_in_the_loss_and_leaves_the_others_alone() {
    let work = work(Phase::Step, false);
    let data = tokens(&SHAPE, &work, 0);
    let mut model = model(&SHAPE, &work, 1);
    model.weights.head[0] = f32::INFINITY;
    let before = model.weights.layers[0].down.clone();
    let outcome = model.iterate(&data.0, &data.1, &TRAINING, false, &mut Single::default());
    assert!(!outcome.loss.is_finite() || !outcome.gradient_norm.unwrap().is_finite());
    assert_eq!(model.weights.layers[0].down, before);
}

/// Two and three ranks with the parts of a batch, against one rank with the whole of it: losses, outputs and weights
/// after some steps.
#[test]
fn several_tasks_train_as_one_on_the_joined_batch() {
    let shape = LmShape { width: 32, hidden: 48, layers: 2, heads: 2, vocabulary: 50 };
    let part = |batch, tasks| LmWork { batch, context: 9, phase: Phase::Step, checkpointing: false, tasks };
    let train = |batch: usize, tasks: usize, ranks: &mut dyn Collective| {
        let work = part(batch, tasks);
        let mut model = model(&shape, &work, 1);
        let (mut inputs, mut targets) = (vec![0; work.tokens()], vec![0; work.tokens()]);
        let source = BatchSource::new(None, shape.vocabulary, work.context, 3, ranks.rank() * batch);
        let outcomes: Vec<IterationOutcome> = (0..4)
            .map(|step| {
                source.fill(step, &mut inputs, &mut targets);
                model.iterate(&inputs, &targets, &TRAINING, true, ranks)
            })
            .collect();
        (outcomes, model.weights().tensors().flatten().copied().collect::<Vec<f32>>())
    };
    let (expected, weights) = train(6, 1, &mut Single::default());
    for tasks in [2, 3] {
        let results: Vec<_> = std::thread::scope(|scope| {
            let train = &train;
            let start = |mut member: Box<dyn Collective + Send>| {
                scope.spawn(move || train(6 / tasks, tasks, member.as_mut()))
            };
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
            // A step of AdamW moves a weight by the learning rate however small its gradient is.
            assert!(apart < 0.02, "{apart}");
        }
    }
}
