//! `mnist`, from `golden/mnist_*.json`.

use assay_kernels::Threads;
use assay_workloads::collective::Single;
use assay_workloads::initial::DrawKey;
use assay_workloads::mnist::Model;
use assay_workloads::mnist::model::{Batch, IterationOutcome, Training};
use assay_workloads::mnist::network::{published, tensors};
use assay_workloads::profile::Profile;
use assay_workloads::schedule::{StepSchedule, order};

use crate::case::Case;

const PIXELS: usize = 784;

fn cases() -> [Case; 2] {
    ["mnist_plain", "mnist_softmax"].map(Case::read)
}

fn model(case: &Case) -> Model {
    let training = Training {
        learning_rate: case.setting("learning_rate"),
        momentum: case.setting("momentum"),
        dropout: case.setting("dropout"),
        softmax: case.setting("softmax"),
        seed: case.setting("seed"),
    };
    let batch = case.setting("batch_size");
    Model::new(Threads::new(2), training, batch, 4, training.seed, Profile::off()).unwrap()
}

fn images(case: &Case) -> (Vec<u8>, Vec<u8>) {
    let (seed, count): (u64, u64) = (case.setting("seed"), case.setting("train_samples"));
    let (pixels, labels) = (DrawKey::new("golden.pixels", seed), DrawKey::new("golden.labels", seed));
    let pixels = (0..PIXELS as u64 * count).map(|place| (pixels.draw(place) >> 56) as u8);
    (pixels.collect(), (0..count).map(|place| (labels.draw(place) % 10) as u8).collect())
}

/// Trains as the settings say, and calls `after` after every step with the number of the iteration.
fn train(case: &Case, model: &mut Model, mut after: impl FnMut(&Model, u64, u64, &IterationOutcome)) {
    let (pixels, labels) = images(case);
    let batch = case.setting("batch_size");
    let schedule = StepSchedule::new(
        labels.len() as u64,
        batch,
        case.setting("steps"),
        case.setting("steps_per_iteration"),
    );
    let mut numbers = vec![0; labels.len()];
    let mut step = 0;
    for iteration in 0..schedule.iterations() {
        let block = schedule.block(iteration);
        order(case.setting("seed"), block.epoch, &mut numbers);
        for samples in schedule.batches(&block) {
            let mine = &numbers[samples.start as usize..samples.end as usize];
            let pixels: Vec<u8> = mine
                .iter()
                .flat_map(|number| pixels[*number as usize * PIXELS..][..PIXELS].iter().copied())
                .collect();
            let labels: Vec<u32> = mine.iter().map(|number| u32::from(labels[*number as usize])).collect();
            let batch = Batch { pixels: &pixels, labels: &labels, first: 0, total: labels.len(), step };
            let outcome = model.step(&batch, step == 0, &mut Single::default());
            after(model, iteration, samples.end - samples.start, &outcome);
            step += 1;
        }
    }
}

#[test]
fn loss_outputs_and_every_gradient_of_the_first_step_are_those_of_pytorch() {
    for case in cases() {
        let mut seen = false;
        train(&case, &mut model(&case), |model, _, _, outcome| {
            if std::mem::replace(&mut seen, true) {
                return;
            }
            case.close("loss", outcome.loss, 1e-6);
            case.close("output", outcome.output.unwrap(), 1e-5);
            case.close("gradient_norm", outcome.gradient_norm.unwrap(), 1e-5);
            let gradients = model.gradients().tensors.iter().enumerate();
            let gradients = gradients.map(|(number, values)| published(number, values));
            case.check_gradients(&tensors(), gradients, 2e-5);
        });
        assert!(seen);
    }
}

#[test]
fn training_and_the_test_after_it_are_those_of_pytorch() {
    for case in cases() {
        let mut model = model(&case);
        let mut sums: Vec<(f64, f64)> = Vec::new();
        train(&case, &mut model, |_, iteration, samples, outcome| {
            sums.resize(iteration as usize + 1, (0.0, 0.0));
            let sum = &mut sums[iteration as usize];
            *sum = (sum.0 + outcome.loss * samples as f64, sum.1 + samples as f64);
        });
        let expected: Vec<f64> = case.expected("iterations");
        assert_eq!(sums.len(), expected.len(), "{}", case.name);
        for ((sum, samples), expected) in sums.iter().zip(&expected) {
            case.near("loss", sum / samples, *expected, 2e-5);
        }
        assert_ne!(expected[0], expected[expected.len() - 1], "{}: the weights change", case.name);
        let (pixels, labels) = images(&case);
        let count = case.setting::<usize>("test_samples");
        let tested = model.test(&pixels[..count * PIXELS], &labels[..count]);
        let expected: serde_json::Value = case.expected("tested");
        assert_eq!(Some(tested.right), expected["right"].as_u64(), "{}", case.name);
        case.near("test loss", tested.loss / count as f64, expected["loss"].as_f64().unwrap(), 5e-5);
    }
}
