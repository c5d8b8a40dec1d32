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
        summary: "BERT: sentences classified or embedded, and pre-training as a masked language model"
            .to_owned(),
        command: command(NAME, &settings),
        settings,
        headline: names::TIME_ITERATION.to_owned(),
    }
}

fn task_settings() -> Vec<SettingDescription> {
    vec![
        choice("task", &TASKS, "classify", "What is computed; `pretrain` trains"),
        optional_text("text", "A sentence to classify or embed; those of `data` unless given"),
        optional_text(
            "data",
            "Sentences (CSV with text and label, or plain lines), or a text to pre-train on; random tokens from \
             the seed unless given",
        ),
        positive(
            "sentences",
            MOST,
            "Sentences that one iteration goes through; unless given, all of `data`, or 100 without",
        ),
        integer(
            "batch_size",
            1,
            MOST,
            1,
            "Sentences that are computed at once; in pre-training those of one task",
        ),
        positive(
            "length",
            MOST,
            "Pad sentences to this many tokens, as other systems do; each at its own length unless given",
        ),
        integer("context", 3, MOST, 128, "Tokens of a sequence that is made up or pre-trained on"),
    ]
}

fn model_settings() -> Vec<SettingDescription> {
    let sizes: Vec<&str> = SIZES.iter().map(|size| size.name).chain(["custom"]).collect();
    let [width, hidden, layers, heads] = describe::dimensions();
    vec![
        optional_text(
            "model",
            "Folder with config.json, model.safetensors and vocab.txt or tokenizer.json; random weights unless given",
        ),
        optional_text(
            "head",
            "Head that `assay bench bert train-head` wrote; that of the model unless given",
        ),
        optional_text(
            "tokenizer",
            "vocab.txt or tokenizer.json; unless given, that of the model, and without one ids are made up",
        ),
        choice(
            "size",
            &sizes,
            "tiny",
            "Size of the model: width, layers and heads in one word; no meaning with `model`",
        ),
        width,
        hidden,
        layers,
        heads,
        positive(
            "vocabulary",
            MOST,
            "Tokens in the vocabulary; unless given, as many as `tokenizer` has, or 30522",
        ),
        positive("positions", MOST, "Most tokens of a sentence; 512 unless given"),
        integer("classes", 2, 1 << 16, 2, "Classes to choose from; no meaning with `model`"),
        choice(
            "activation",
            &["gelu", "gelu_tanh"],
            "gelu",
            "Activation, exact or by its usual approximation",
        ),
        number("epsilon", 1e-12, "What keeps the norms from a division by zero"),
    ]
}

fn run_settings() -> Vec<SettingDescription> {
    vec![
        integer(
            "iterations",
            1,
            1 << 40,
            10,
            "Iterations that count: passes over the sentences, or training steps",
        ),
        integer("warmup", 0, 1 << 40, 1, "Iterations before those that count"),
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
