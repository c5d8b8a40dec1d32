//! `lm`, from `golden/lm_*.json`.

use assay_kernels::Threads;
use assay_model::{Settings, Value};
use assay_workloads::collective::Single;
use assay_workloads::lm::LmOptions;
use assay_workloads::lm::data::BatchSource;
use assay_workloads::lm::model::{IterationOutcome, Model};
use assay_workloads::profile::Profile;

use crate::case::Case;

const SHAPE: [&str; 8] =
    ["width", "hidden", "layers", "heads", "vocabulary", "context", "batch_size", "seed"];
const TRAINING: [&str; 3] = ["learning_rate", "weight_decay", "clip"];

fn cases() -> [Case; 3] {
    ["lm_narrow", "lm_uneven", "lm_wide"].map(Case::read)
}

fn options(case: &Case, phase: &str, checkpointing: bool) -> LmOptions {
    let shape = SHAPE.map(|name| (name.to_owned(), Value::Integer(case.setting(name))));
    let training = TRAINING.map(|name| (name.to_owned(), Value::Float(case.setting(name))));
    let more = [
        ("size".to_owned(), Value::from("custom")),
        ("phase".to_owned(), Value::from(phase)),
        ("checkpointing".to_owned(), Value::Switch(checkpointing)),
    ];
    let settings: Settings = shape.into_iter().chain(training).chain(more).collect();
    LmOptions::read(&settings, 2).unwrap()
}

/// Computes the iterations with these numbers, the first with the outputs measured.
fn iterate(options: &LmOptions, numbers: impl IntoIterator<Item = u64>) -> (Model, Vec<IterationOutcome>) {
    let LmOptions { shape, work, seed, .. } = options;
    let mut model = Model::new(Threads::new(2), shape, work, *seed, Profile::off()).unwrap();
    let source = BatchSource::new(None, shape.vocabulary, work.context, *seed, 0);
    let (mut inputs, mut targets) = (vec![0; work.tokens()], vec![0; work.tokens()]);
    let mut outcomes = Vec::new();
    for number in numbers {
        source.fill(number, &mut inputs, &mut targets);
        outcomes.push(model.iterate(
            &inputs,
            &targets,
            &options.training,
            outcomes.is_empty(),
            &mut Single::default(),
        ));
    }
    (model, outcomes)
}

#[test]
fn the_forward_pass_is_that_of_pytorch() {
    for case in cases() {
        let (_, outcomes) = iterate(&options(&case, "forward", false), [0]);
        case.close("loss", outcomes[0].loss, 1e-6);
        case.close("output", outcomes[0].output.unwrap(), 1e-5);
    }
}

#[test]
fn every_gradient_is_that_of_pytorch() {
    for case in cases() {
        for checkpointing in [false, true] {
            let options = options(&case, "forward_backward", checkpointing);
            // Other data between prove that gradients are set and not added to.
            let (model, outcomes) = iterate(&options, [0, 1, 0]);
            case.close("loss", outcomes[0].loss, 1e-6);
            assert_eq!(outcomes[0].loss, outcomes[2].loss, "{}", case.name);
            case.close("gradient_norm", model.gradient_norm().unwrap(), 1e-5);
            case.check_gradients(&options.shape.tensors(), model.gradients().unwrap().tensors(), 1e-5);
        }
    }
}

#[test]
fn training_steps_are_those_of_pytorch() {
    for case in cases() {
        let steps: Vec<serde_json::Value> = case.expected("steps");
        let (_, outcomes) = iterate(&options(&case, "step", false), 0..steps.len() as u64);
        for (outcome, step) in outcomes.iter().zip(&steps) {
            case.near("loss", outcome.loss, step["loss"].as_f64().unwrap(), 2e-6);
            let norm = step["gradient_norm"].as_f64().unwrap();
            case.near("gradient norm", outcome.gradient_norm.unwrap(), norm, 2e-5);
        }
        let (first, last) = (&outcomes[0], &outcomes[outcomes.len() - 1]);
        assert_ne!(first.loss, last.loss, "{}: the weights change", case.name);
    }
}
