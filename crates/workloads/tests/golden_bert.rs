//! `bert` against numbers that PyTorch computed in 64 bits, from `golden/bert_*.json`; what the files hold and how they
//! are made is told in `scripts/golden_bert.py`.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;

use assay_kernels::Threads;
use assay_model::{Settings, Value};
use assay_workloads::bert::data::{Sequences, Source};
use assay_workloads::bert::encoder::Encoder;
use assay_workloads::bert::head::Head;
use assay_workloads::bert::model::Model;
use assay_workloads::bert::options::{Options, Task};
use assay_workloads::bert::parameters::Parameters;
use assay_workloads::bert::sentences::{Batch, Sentences};
use assay_workloads::bert::tokens::Tokens;
use assay_workloads::collective::Single;
use assay_workloads::profile::Profile;

/// Settings of the golden files that are no settings of the workload, or another one for each test.
const NOT_SETTINGS: [&str; 7] = ["kinds", "pad", "begin", "end", "mask", "first", "task"];

struct Case {
    name: &'static str,
    golden: serde_json::Value,
}

fn cases() -> Vec<Case> {
    let read = |name: &'static str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("golden/bert_{name}.json"));
        Case { name, golden: serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() }
    };
    ["exact", "tanh"].map(read).into()
}

impl Case {
    fn options(&self, task: &str) -> Options {
        let golden = self.golden["settings"].as_object().unwrap();
        let mut settings: Settings = golden
            .iter()
            .filter(|(name, _)| !NOT_SETTINGS.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), serde_json::from_value::<Value>(value.clone()).unwrap()))
            .collect();
        settings.insert("iterations".to_owned(), Value::Integer(1));
        settings.insert("size".to_owned(), "custom".into());
        settings.insert("task".to_owned(), task.into());
        Options::read(&settings, 2).unwrap()
    }

    fn of<T: serde::de::DeserializeOwned>(&self, name: &str) -> T {
        serde_json::from_value(self.golden["float64"][name].clone()).unwrap()
    }

    fn close(&self, what: &str, value: f64, expected: f64, tolerance: f64) {
        let error = (value / expected - 1.0).abs();
        assert!(
            error <= tolerance,
            "{}: {what} is {value}, expected {expected}: off by {error:e}",
            self.name
        );
    }

    fn model(&self, options: &Options) -> Model {
        let weights =
            Parameters::initial(&Threads::new(1), &options.shape, Task::Pretrain, options.seed).unwrap();
        let Options { shape, batch, context, .. } = options;
        Model::new(Threads::new(2), shape, weights, *batch, *context, Profile::off()).unwrap()
    }
}

fn sequences(options: &Options, iteration: u64) -> Sequences {
    let special = Tokens::made_up(options.shape.vocabulary).special();
    let mut sequences = Sequences::default();
    Source::new(options, None, special, 0).fill(iteration, &mut sequences);
    sequences
}

#[test]
fn sentences_and_masks_are_those_of_the_adapter() {
    for case in cases() {
        let data = sequences(&case.options("pretrain"), 0);
        assert_eq!(data.ids, case.of::<Vec<u32>>("ids"), "{}", case.name);
        assert_eq!(data.places, case.of::<Vec<u32>>("places"), "{}", case.name);
        assert_eq!(data.targets, case.of::<Vec<u32>>("targets"), "{}", case.name);
        let options = case.options("classify");
        let sentences = Sentences::open(&options, &Tokens::made_up(options.shape.vocabulary), &[]).unwrap();
        let ids: Vec<Vec<u32>> = sentences.list.into_iter().map(|sentence| sentence.ids).collect();
        assert_eq!(ids, case.of::<Vec<Vec<u32>>>("sentences"), "{}", case.name);
    }
}

#[test]
fn answers_are_those_of_pytorch() {
    for case in cases() {
        for (name, task) in [("classify", Task::Classify), ("embed", Task::Embed)] {
            let options = case.options(name);
            let weights = Parameters::initial(&Threads::new(1), &options.shape, task, options.seed).unwrap();
            let width = options.shape.width;
            let head = match task {
                Task::Classify => Head::pooled(width, &weights.pooler, &weights.classifier),
                _ => Head::Embedding,
            };
            let mut encoder = Encoder::new(Threads::new(2), &options.shape, weights, Profile::off());
            let sentences =
                Sentences::open(&options, &Tokens::made_up(options.shape.vocabulary), &[]).unwrap();
            let (mut batch, mut scratch, mut answers) = (Batch::default(), Vec::new(), Vec::new());
            batch.fill(sentences.list.iter(), None, 0);
            let tokens = encoder.encode(&batch).unwrap();
            head.answer(width, &batch, tokens, &mut scratch, &mut answers);
            let expected: Vec<f64> = case.of::<Vec<Vec<f64>>>(name).concat();
            let largest = expected.iter().copied().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            assert_eq!(answers.len(), expected.len());
            for (place, (got, wanted)) in answers.iter().zip(&expected).enumerate() {
                let error = (f64::from(*got) - wanted).abs() / largest;
                assert!(error < 2e-6, "{} {name} {place}: {got} instead of {wanted}", case.name);
            }
        }
    }
}

#[test]
fn every_gradient_is_that_of_pytorch() {
    for case in cases() {
        let options = case.options("pretrain");
        let mut model = case.model(&options);
        // Other data before prove that gradients are set and not added to.
        model.forward_backward(&sequences(&options, 1), false);
        let (loss, output) = model.forward_backward(&sequences(&options, 0), true);
        case.close("loss", loss, case.of("loss"), 1e-6);
        case.close("output", output.unwrap(), case.of("output"), 1e-5);
        case.close("gradient norm", model.gradient_norm(), case.of("gradient_norm"), 1e-5);
        let expected: serde_json::Value = case.of("gradients");
        let tensors = options.shape.tensors(Task::Pretrain);
        assert_eq!(tensors.len(), expected.as_object().unwrap().len());
        for (tensor, values) in tensors.iter().zip(model.gradients_mut().tensors_mut(Task::Pretrain)) {
            let expected = &expected[&tensor.name];
            let norm = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
            case.close(&tensor.name, norm, expected["norm"].as_f64().unwrap(), 2e-5);
            let pairs: Vec<(usize, f64)> = serde_json::from_value(expected["elements"].clone()).unwrap();
            let largest = pairs.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
            for (index, value) in pairs {
                let error = (f64::from(values[index]) - value).abs() / largest;
                assert!(
                    error <= 2e-5,
                    "{}: {}[{index}] is {}, expected {value}",
                    case.name,
                    tensor.name,
                    values[index]
                );
            }
        }
    }
}

#[test]
fn training_steps_are_those_of_pytorch() {
    for case in cases() {
        let options = case.options("pretrain");
        let mut model = case.model(&options);
        let steps: Vec<serde_json::Value> = case.of("steps");
        for (number, step) in (0..).zip(&steps) {
            let outcome = model.step(&sequences(&options, number), &options.training, false, &mut Single);
            case.close("loss", outcome.loss, step["loss"].as_f64().unwrap(), 5e-6);
            case.close("norm", outcome.gradient_norm.unwrap(), step["gradient_norm"].as_f64().unwrap(), 1e-4);
        }
    }
}
