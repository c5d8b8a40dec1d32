//! The native network against numbers that PyTorch computed in 64 bits, from `golden/mnist_*.json`; what the files hold
//! and how they are made is told in `scripts/golden_mnist.py`.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;

use assay_kernels::Threads;
use assay_workloads::collective::Single;
use assay_workloads::initial::Key;
use assay_workloads::mnist::Model;
use assay_workloads::mnist::model::{Batch, Outcome, Training};
use assay_workloads::mnist::network::{published, tensors};
use assay_workloads::profile::Profile;
use assay_workloads::schedule::{Schedule, order};

const PIXELS: usize = 784;

/// One golden file.
struct Case {
    name: &'static str,
    golden: serde_json::Value,
}

fn cases() -> [Case; 2] {
    ["plain", "softmax"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("golden/mnist_{name}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        Case { name, golden: serde_json::from_str(&text).unwrap() }
    })
}

impl Case {
    fn setting(&self, name: &str) -> f64 {
        self.golden["settings"][name].as_f64().unwrap()
    }

    fn count(&self, name: &str) -> u64 {
        self.golden["settings"][name].as_u64().unwrap()
    }

    fn model(&self) -> Model {
        let training = Training {
            learning_rate: self.setting("learning_rate") as f32,
            momentum: self.setting("momentum") as f32,
            dropout: self.setting("dropout") as f32,
            softmax: self.golden["settings"]["softmax"].as_bool().unwrap(),
            seed: self.count("seed"),
        };
        let batch = self.count("batch_size") as usize;
        Model::new(Threads::new(2), training, batch, 4, training.seed, Profile::off()).unwrap()
    }

    fn images(&self) -> (Vec<u8>, Vec<u8>) {
        let (seed, count) = (self.count("seed"), self.count("train_samples"));
        let (pixels, labels) = (Key::new("golden.pixels", seed), Key::new("golden.labels", seed));
        let pixels = (0..PIXELS as u64 * count).map(|place| (pixels.draw(place) >> 56) as u8);
        (pixels.collect(), (0..count).map(|place| (labels.draw(place) % 10) as u8).collect())
    }

    fn close(&self, what: &str, value: f64, expected: &serde_json::Value, tolerance: f64) {
        let expected = expected.as_f64().unwrap();
        let error = (value / expected - 1.0).abs();
        let name = self.name;
        assert!(error <= tolerance, "{name}: {what} is {value}, expected {expected}: off by {error:e}");
    }
}

/// Trains as the settings say, and calls `after` after every step with the number of the iteration.
fn train(case: &Case, model: &mut Model, mut after: impl FnMut(&Model, u64, u64, &Outcome)) {
    let (pixels, labels) = case.images();
    let batch = case.count("batch_size");
    let schedule =
        Schedule::new(labels.len() as u64, batch, case.count("steps"), case.count("steps_per_iteration"));
    let mut numbers = vec![0; labels.len()];
    let mut step = 0;
    for iteration in 0..schedule.iterations() {
        let block = schedule.block(iteration);
        order(case.count("seed"), block.epoch, &mut numbers);
        for samples in schedule.batches(&block) {
            let mine = &numbers[samples.start as usize..samples.end as usize];
            let pixels: Vec<u8> = mine
                .iter()
                .flat_map(|number| pixels[*number as usize * PIXELS..][..PIXELS].iter().copied())
                .collect();
            let labels: Vec<u32> = mine.iter().map(|number| u32::from(labels[*number as usize])).collect();
            let batch = Batch { pixels: &pixels, labels: &labels, first: 0, total: labels.len(), step };
            let outcome = model.step(&batch, step == 0, &mut Single);
            after(model, iteration, samples.end - samples.start, &outcome);
            step += 1;
        }
    }
}

#[test]
fn loss_outputs_and_every_gradient_of_the_first_step_are_those_of_pytorch() {
    for case in cases() {
        let golden = &case.golden["float64"];
        let mut seen = false;
        train(&case, &mut case.model(), |model, _, _, outcome| {
            if std::mem::replace(&mut seen, true) {
                return;
            }
            case.close("loss", outcome.loss, &golden["loss"], 1e-6);
            case.close("output", outcome.output.unwrap(), &golden["output"], 1e-5);
            case.close("gradient norm", outcome.gradient_norm.unwrap(), &golden["gradient_norm"], 1e-5);
            for (number, tensor) in tensors().iter().enumerate() {
                let expected = &golden["gradients"][&tensor.name];
                let values = published(number, &model.gradients().tensors[number]);
                let norm = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
                case.close(&tensor.name, norm, &expected["norm"], 2e-5);
                let pairs: Vec<(usize, f64)> = serde_json::from_value(expected["elements"].clone()).unwrap();
                let largest = pairs.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
                for (index, value) in pairs {
                    let error = (f64::from(values[index]) - value).abs() / largest;
                    let (name, got) = (&tensor.name, values[index]);
                    assert!(error <= 2e-5, "{}: {name}[{index}] is {got}, expected {value}", case.name);
                }
            }
        });
        assert!(seen);
    }
}

#[test]
fn training_and_the_test_after_it_are_those_of_pytorch() {
    for case in cases() {
        let golden = &case.golden["float64"];
        let mut model = case.model();
        let mut sums: Vec<(f64, f64)> = Vec::new();
        train(&case, &mut model, |_, iteration, samples, outcome| {
            sums.resize(iteration as usize + 1, (0.0, 0.0));
            let sum = &mut sums[iteration as usize];
            *sum = (sum.0 + outcome.loss * samples as f64, sum.1 + samples as f64);
        });
        let expected = golden["iterations"].as_array().unwrap();
        assert_eq!(sums.len(), expected.len(), "{}", case.name);
        for ((sum, samples), expected) in sums.iter().zip(expected) {
            case.close("loss", sum / samples, expected, 2e-5);
        }
        assert_ne!(expected[0], expected[expected.len() - 1], "{}: the weights change", case.name);
        let (pixels, labels) = case.images();
        let count = case.count("test_samples") as usize;
        let tested = model.test(&pixels[..count * PIXELS], &labels[..count]);
        assert_eq!(Some(tested.right), golden["tested"]["right"].as_u64(), "{}", case.name);
        case.close("test loss", tested.loss / count as f64, &golden["tested"]["loss"], 5e-5);
    }
}
