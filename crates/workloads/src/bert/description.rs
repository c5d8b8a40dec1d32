//! The settings of `bert`, as campaigns, the command line and the documentation see them.

use assay_model::{SettingDescription, WorkloadDescription, names};

use super::NAME;
use super::shape::SIZES;
use crate::describe::{
    self, MOST, choice, command, engine_settings, integer, number, optional_text, positive,
};

/// The words that `task` takes.
const TASKS: [&str; 3] = ["classify", "embed", "pretrain"];

/// `bert` with every setting.
pub fn description() -> WorkloadDescription {
    let settings: Vec<_> =
        [task_settings(), model_settings(), run_settings(), training_settings(), engine_settings()]
            .into_iter()
            .flatten()
            .collect();
    WorkloadDescription {
        name: NAME.to_owned(),
        summary: "BERT: sentence classification, sentence embedding, or masked language model pre-training"
            .to_owned(),
        command: command(NAME, &settings),
        settings,
        headline: names::TIME_ITERATION.to_owned(),
    }
}

fn task_settings() -> Vec<SettingDescription> {
    vec![
        choice("task", &TASKS, "classify", "What to compute; `pretrain` trains"),
        optional_text("text", "A sentence to classify or embed [default: those of `data`]"),
        optional_text(
            "data",
            "Sentences (CSV with text and label, or plain lines), or a text to pre-train on; random tokens from \
             the seed unless given",
        ),
        positive("sentences", MOST, "Sentences per iteration [default: all of `data`, or 100 without it]"),
        integer("batch_size", 1, MOST, 1, "Sentences per batch; in pre-training, per task"),
        positive("length", MOST, "Pad every sentence to this many tokens [default: no padding]"),
        integer(
            "context",
            3,
            MOST,
            128,
            "Sequence length for synthetic sentences and pre-training, in tokens",
        ),
    ]
}

fn model_settings() -> Vec<SettingDescription> {
    let sizes: Vec<&str> = SIZES.iter().map(|size| size.name).chain(["custom"]).collect();
    let [width, hidden, layers, heads] = describe::dimensions();
    vec![
        optional_text(
            "model",
            "Directory with config.json, model.safetensors, and vocab.txt or tokenizer.json [default: random weights]",
        ),
        optional_text(
            "head",
            "Classification head written by `assay bench bert train-head` [default: that of the model]",
        ),
        optional_text(
            "tokenizer",
            "vocab.txt or tokenizer.json [default: that of the model; random token ids without one]",
        ),
        choice("size", &sizes, "tiny", "Model size: sets width, layers and heads; ignored with `model`"),
        width,
        hidden,
        layers,
        heads,
        positive("vocabulary", MOST, "Vocabulary size [default: that of `tokenizer`, or 30522]"),
        positive("positions", MOST, "Maximum tokens per sentence [default: 512]"),
        integer("classes", 2, 1 << 16, 2, "Number of classes; ignored with `model`"),
        choice(
            "activation",
            &["gelu", "gelu_tanh"],
            "gelu",
            "Activation function; `gelu_tanh` is the tanh approximation",
        ),
        number("epsilon", 1e-12, "Epsilon of layer normalization"),
    ]
}

fn run_settings() -> Vec<SettingDescription> {
    vec![
        integer(
            "iterations",
            1,
            1 << 40,
            10,
            "Measured iterations: passes over the sentences, or training steps",
        ),
        integer("warmup", 0, 1 << 40, 1, "Warm-up iterations, excluded from timing"),
        describe::tasks(),
        describe::threads(),
        describe::seed(),
        describe::profile(),
        describe::paced(),
    ]
}

fn training_settings() -> Vec<SettingDescription> {
    describe::adam_w(1e-4, "task `pretrain`").into()
}
