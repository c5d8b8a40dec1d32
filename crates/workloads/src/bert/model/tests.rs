use super::*;
use crate::bert::data::BatchSource;
use crate::bert::options::BertOptions;
use crate::bert::shape::tests::little;
use crate::bert::tokens::Special;
use crate::collective::{Single, team};

const CONTEXT: usize = 11;

fn options(batch: usize) -> BertOptions {
    let settings = [
        ("task".to_owned(), "pretrain".into()),
        ("batch_size".to_owned(), (batch as i64).into()),
        ("context".to_owned(), (CONTEXT as i64).into()),
    ];
    let mut options = BertOptions::read(&settings.into(), 1).unwrap();
    options.shape = little();
    options
}

/// A model whose weights are large enough that every tensor matters.
fn model(threads: usize, batch: usize) -> Model {
    let mut weights = Parameters::initial(&Threads::new(1), &little(), Task::Pretrain, 3).unwrap();
    for (number, tensor) in weights.tensors_mut(Task::Pretrain).enumerate() {
        for (place, value) in tensor.iter_mut().enumerate() {
            let factor = if *value == 1.0 { 1.0 } else { 15.0 };
            *value = *value * factor + ((number * 31 + place * 17) % 13) as f32 / 40.0 - 0.15;
        }
    }
    Model::new(Threads::new(threads), &little(), weights, batch, CONTEXT, Profile::off()).unwrap()
}

fn sequences(options: &BertOptions, rank: usize, iteration: u64) -> Sequences {
    let mut sequences = Sequences::default();
    BatchSource::new(options, None, Special::of_size(40), rank).fill(iteration, &mut sequences);
    sequences
}

/// Every tensor's gradient along a direction of its own against a central difference of the loss.
#[test]
fn gradients_of_every_tensor_are_those_of_finite_differences() {
    let data = sequences(&options(3), 0, 0);
    let mut model = model(2, 3);
    model.forward_backward(&data, false, &mut Single::default());
    let gradients = model.gradients_mut().clone();
    let names: Vec<String> = little().tensors(Task::Pretrain).into_iter().map(|tensor| tensor.name).collect();
    for (index, name) in names.iter().enumerate() {
        let gradient = gradients.clone().tensors_mut(Task::Pretrain).nth(index).unwrap().to_vec();
        let direction: Vec<f32> =
            (0..gradient.len()).map(|place| ((place * 7 + index) % 5) as f32 - 2.0).collect();
        let mut shifted = |by: f32| {
            let move_by = |model: &mut Model, by: f32| {
                let weights = model.weights_mut().tensors_mut(Task::Pretrain).nth(index).unwrap();
                weights.iter_mut().zip(&direction).for_each(|(weight, way)| *weight += by * way);
            };
            move_by(&mut model, by);
            let loss = model.forward_backward(&data, false, &mut Single::default()).0;
            move_by(&mut model, -by);
            loss
        };
        let step = 2e-3;
        let difference = (shifted(step) - shifted(-step)) / (2.0 * f64::from(step));
        let slope: f64 = gradient
            .iter()
            .zip(&direction)
            .map(|(gradient, way)| f64::from(*gradient) * f64::from(*way))
            .sum();
        assert!(
            (slope - difference).abs() < 3e-3 * (1.0 + difference.abs()),
            "{name}: {slope} instead of {difference}"
        );
    }
}

#[test]
fn several_tasks_train_as_one_on_the_joined_batch() {
    let training = options(1).training;
    let mut joined = model(1, 4);
    let expected: Vec<IterationOutcome> = (0..3)
        .map(|number| {
            joined.step(&sequences(&options(4), 0, number), &training, number == 0, &mut Single::default())
        })
        .collect();
    let outcomes: Vec<Vec<IterationOutcome>> = std::thread::scope(|scope| {
        let ranks: Vec<_> = team(2)
            .into_iter()
            .map(|mut member| {
                scope.spawn(move || {
                    let (mut model, options) = (model(1, 2), options(2));
                    let rank = member.rank();
                    (0..3)
                        .map(|number| {
                            let data = sequences(&options, rank, number);
                            model.step(&data, &training, number == 0, member.as_mut())
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    assert_eq!(outcomes[0], outcomes[1]);
    for (got, wanted) in outcomes[0].iter().zip(&expected) {
        assert!((got.loss - wanted.loss).abs() < 1e-5 * wanted.loss, "{got:?} {wanted:?}");
        let (norm, wanted) = (got.gradient_norm.unwrap(), wanted.gradient_norm.unwrap());
        assert!((norm - wanted).abs() < 1e-4 * wanted, "{norm} {wanted}");
    }
}

#[test]
fn training_is_the_same_again_and_lowers_the_loss() {
    let training = Training { learning_rate: 5e-3, weight_decay: 0.0, clip: None };
    let run = || {
        let mut model = model(2, 2);
        let data = sequences(&options(2), 0, 0);
        (0..20).map(|_| model.step(&data, &training, false, &mut Single::default()).loss).collect::<Vec<_>>()
    };
    let losses = run();
    assert_eq!(losses, run());
    assert!(losses[19] < 0.7 * losses[0], "{losses:?}");
}

#[test]
fn a_gradient_that_is_no_number_changes_no_weight() {
    let mut model = model(1, 1);
    model.weights_mut().decoder_bias[0] = f32::NAN;
    let before = model.weights_mut().layers[0].up.weight.clone();
    let outcome =
        model.step(&sequences(&options(1), 0, 0), &options(1).training, true, &mut Single::default());
    assert!(!outcome.loss.is_finite() || !outcome.gradient_norm.unwrap().is_finite());
    assert_eq!(model.weights_mut().layers[0].up.weight, before);
}
