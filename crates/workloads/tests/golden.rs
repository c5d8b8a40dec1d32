//! The native model against numbers that PyTorch computed in 64 bits, from `golden/lm_*.json`; what the files hold and
//! how they are made is told in `scripts/golden_lm.py`.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;

use assay_kernels::Threads;
use assay_model::{Settings, Value};
use assay_workloads::collective::Single;
use assay_workloads::lm::data::Source;
use assay_workloads::lm::model::{Model, Outcome};
use assay_workloads::lm::{Options, parameters::Parameters};
use assay_workloads::profile::Profile;

const SHAPE: [&str; 8] =
    ["width", "hidden", "layers", "heads", "vocabulary", "context", "batch_size", "seed"];
const TRAINING: [&str; 3] = ["learning_rate", "weight_decay", "clip"];

/// One golden file, with the model that it describes.
struct Case {
    name: &'static str,
    golden: serde_json::Value,
}

fn cases() -> Vec<Case> {
    ["narrow", "uneven", "wide"].map(Case::read).into()
}

impl Case {
    fn read(name: &'static str) -> Case {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("golden/lm_{name}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        Case { name, golden: serde_json::from_str(&text).unwrap() }
    }

    fn options(&self, phase: &str, checkpointing: bool) -> Options {
        let golden = &self.golden["settings"];
        let shape = SHAPE.map(|name| (name.to_owned(), Value::Integer(golden[name].as_i64().unwrap())));
        let training = TRAINING.map(|name| (name.to_owned(), Value::Float(golden[name].as_f64().unwrap())));
        let more = [
            ("size".to_owned(), Value::from("custom")),
            ("phase".to_owned(), Value::from(phase)),
            ("checkpointing".to_owned(), Value::Switch(checkpointing)),
        ];
        let settings: Settings = shape.into_iter().chain(training).chain(more).collect();
        Options::read(&settings, 2).unwrap()
    }

    fn expected(&self, name: &str) -> f64 {
        self.golden["float64"][name].as_f64().unwrap()
    }

    fn close(&self, what: &str, value: f64, expected: f64, tolerance: f64) {
        let error = (value / expected - 1.0).abs();
        assert!(
            error <= tolerance,
            "{}: {what} is {value}, expected {expected}: off by {error:e}",
            self.name
        );
    }
}

/// Computes the iterations with these numbers, the first with the outputs measured.
fn iterate(options: &Options, numbers: impl IntoIterator<Item = u64>) -> (Model, Vec<Outcome>) {
    let Options { shape, work, seed, .. } = options;
    let mut model = Model::new(Threads::new(2), shape, work, *seed, Profile::off()).unwrap();
    let source = Source::new(None, shape.vocabulary, work.context, *seed, 0);
    let (mut inputs, mut targets) = (vec![0; work.tokens()], vec![0; work.tokens()]);
    let mut outcomes = Vec::new();
    for number in numbers {
        source.fill(number, &mut inputs, &mut targets);
        outcomes.push(model.iterate(&inputs, &targets, &options.training, outcomes.is_empty(), &mut Single));
    }
    (model, outcomes)
}

#[test]
fn the_forward_pass_is_that_of_pytorch() {
    for case in cases() {
        let (_, outcomes) = iterate(&case.options("forward", false), [0]);
        case.close("loss", outcomes[0].loss, case.expected("loss"), 1e-6);
        case.close("output", outcomes[0].output.unwrap(), case.expected("output"), 1e-5);
    }
}

#[test]
fn every_gradient_is_that_of_pytorch() {
    for case in cases() {
        for checkpointing in [false, true] {
            let options = case.options("forward_backward", checkpointing);
            // Other data between prove that gradients are set and not added to.
            let (model, outcomes) = iterate(&options, [0, 1, 0]);
            case.close("loss", outcomes[0].loss, case.expected("loss"), 1e-6);
            assert_eq!(outcomes[0].loss, outcomes[2].loss, "{}", case.name);
            case.close("gradient norm", model.gradient_norm().unwrap(), case.expected("gradient_norm"), 1e-5);
            check_gradients(&case, &options, model.gradients().unwrap());
        }
    }
}

fn check_gradients(case: &Case, options: &Options, gradients: &Parameters) {
    let tensors = options.shape.tensors();
    let expected = case.golden["float64"]["gradients"].as_object().unwrap();
    assert_eq!(tensors.len(), expected.len(), "{}: the golden file has every tensor", case.name);
    for (tensor, values) in tensors.iter().zip(gradients.tensors()) {
        let expected = &expected[&tensor.name];
        let norm = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        case.close(&tensor.name, norm, expected["norm"].as_f64().unwrap(), 1e-5);
        let pairs: Vec<(usize, f64)> = serde_json::from_value(expected["elements"].clone()).unwrap();
        let largest = pairs.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
        for (index, value) in pairs {
            // The largest element of the tensor is among them: rounding is relative to that.
            let error = (f64::from(values[index]) - value).abs() / largest;
            assert!(
                error <= 1e-5,
                "{}: {}[{index}] is {}, expected {value}",
                case.name,
                tensor.name,
                values[index]
            );
        }
    }
}

#[test]
fn training_steps_are_those_of_pytorch() {
    for case in cases() {
        let steps = case.golden["float64"]["steps"].as_array().unwrap();
        let (_, outcomes) = iterate(&case.options("step", false), 0..steps.len() as u64);
        for (outcome, step) in outcomes.iter().zip(steps) {
            case.close("loss", outcome.loss, step["loss"].as_f64().unwrap(), 2e-6);
            let norm = step["gradient_norm"].as_f64().unwrap();
            case.close("gradient norm", outcome.gradient_norm.unwrap(), norm, 2e-5);
        }
        let (first, last) = (&outcomes[0], &outcomes[outcomes.len() - 1]);
        assert_ne!(first.loss, last.loss, "{}: the weights change", case.name);
    }
}
