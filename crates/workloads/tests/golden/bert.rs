//! `bert`, from `golden/bert_*.json`.

use assay_kernels::Threads;
use assay_model::{Settings, Value};
use assay_workloads::bert::data::{BatchSource, Sequences};
use assay_workloads::bert::encoder::Encoder;
use assay_workloads::bert::head::Head;
use assay_workloads::bert::model::Model;
use assay_workloads::bert::options::{BertOptions, Task};
use assay_workloads::bert::parameters::Parameters;
use assay_workloads::bert::sentences::{Batch, Sentences};
use assay_workloads::bert::tokens::Tokens;
use assay_workloads::collective::Single;
use assay_workloads::profile::Profile;

use crate::case::Case;

/// Settings of the golden files that are no settings of the workload, or another one for each test.
const NOT_SETTINGS: [&str; 7] = ["kinds", "pad", "begin", "end", "mask", "first", "task"];

fn cases() -> [Case; 2] {
    ["bert_exact", "bert_tanh"].map(Case::read)
}

fn options(case: &Case, task: &str) -> BertOptions {
    let mut settings: Settings = case
        .settings()
        .iter()
        .filter(|(name, _)| !NOT_SETTINGS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), serde_json::from_value::<Value>(value.clone()).unwrap()))
        .collect();
    settings.insert("iterations".to_owned(), Value::Integer(1));
    settings.insert("size".to_owned(), "custom".into());
    settings.insert("task".to_owned(), task.into());
    BertOptions::read(&settings, 2).unwrap()
}

fn model(options: &BertOptions) -> Model {
    let BertOptions { shape, batch, context, seed, .. } = options;
    let weights = Parameters::initial(&Threads::new(1), shape, Task::Pretrain, *seed).unwrap();
    Model::new(Threads::new(2), shape, weights, *batch, *context, Profile::off()).unwrap()
}

fn sequences(options: &BertOptions, iteration: u64) -> Sequences {
    let special = Tokens::made_up(options.shape.vocabulary).special();
    let mut sequences = Sequences::default();
    BatchSource::new(options, None, special, 0).fill(iteration, &mut sequences);
    sequences
}

#[test]
fn sentences_and_masks_are_those_of_the_adapter() {
    for case in cases() {
        let data = sequences(&options(&case, "pretrain"), 0);
        assert_eq!(data.ids, case.expected::<Vec<u32>>("ids"), "{}", case.name);
        assert_eq!(data.places, case.expected::<Vec<u32>>("places"), "{}", case.name);
        assert_eq!(data.targets, case.expected::<Vec<u32>>("targets"), "{}", case.name);
        let options = options(&case, "classify");
        let sentences = Sentences::open(&options, &Tokens::made_up(options.shape.vocabulary), &[]).unwrap();
        let ids: Vec<Vec<u32>> = sentences.list.into_iter().map(|sentence| sentence.ids).collect();
        assert_eq!(ids, case.expected::<Vec<Vec<u32>>>("sentences"), "{}", case.name);
    }
}

#[test]
fn answers_are_those_of_pytorch() {
    for case in cases() {
        for (name, task) in [("classify", Task::Classify), ("embed", Task::Embed)] {
            let options = options(&case, name);
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
            let expected: Vec<f64> = case.expected::<Vec<Vec<f64>>>(name).concat();
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
        let options = options(&case, "pretrain");
        let mut model = model(&options);
        // Other data before prove that gradients are set and not added to.
        model.forward_backward(&sequences(&options, 1), false, &mut Single::default());
        let (loss, output) = model.forward_backward(&sequences(&options, 0), true, &mut Single::default());
        case.close("loss", loss, 1e-6);
        case.close("output", output.unwrap(), 1e-5);
        case.close("gradient_norm", model.gradient_norm(), 1e-5);
        let tensors = options.shape.tensors(Task::Pretrain);
        case.check_gradients(&tensors, model.gradients_mut().tensors_mut(Task::Pretrain), 2e-5);
    }
}

#[test]
fn training_steps_are_those_of_pytorch() {
    for case in cases() {
        let options = options(&case, "pretrain");
        let mut model = model(&options);
        let steps: Vec<serde_json::Value> = case.expected("steps");
        for (number, step) in (0..).zip(&steps) {
            let outcome =
                model.step(&sequences(&options, number), &options.training, false, &mut Single::default());
            case.near("loss", outcome.loss, step["loss"].as_f64().unwrap(), 5e-6);
            case.near("norm", outcome.gradient_norm.unwrap(), step["gradient_norm"].as_f64().unwrap(), 1e-4);
        }
    }
}
