//! The settings of `lm`, as campaigns, the command line and the documentation see them.

use assay_model::{SettingDescription, WorkloadDescription, names};

use super::NAME;
use super::shape::SIZES;
use crate::describe::{
    self, MOST, choice, command, engine_settings, integer, optional_text, positive, switch,
};

/// The words that `phase` takes.
pub(super) const PHASES: [&str; 3] = ["forward", "forward_backward", "step"];

/// `lm` with every setting.
pub fn description() -> WorkloadDescription {
    let settings: Vec<_> = [model_settings(), run_settings(), training_settings(), engine_settings()]
        .into_iter()
        .flatten()
        .collect();
    WorkloadDescription {
        name: NAME.to_owned(),
        summary: "Transformer language model: forward pass, forward and backward pass, or training step"
            .to_owned(),
        command: command(NAME, &settings),
        settings,
        headline: names::TIME_ITERATION.to_owned(),
    }
}

fn model_settings() -> Vec<SettingDescription> {
    let sizes: Vec<&str> = SIZES.iter().map(|size| size.name).chain(["custom"]).collect();
    let [width, hidden, layers, heads] = describe::dimensions();
    vec![
        choice("size", &sizes, "small", "Model size: sets width, hidden, layers and heads"),
        width,
        hidden,
        layers,
        heads,
        positive(
            "vocabulary",
            MOST,
            "Vocabulary size [default: 10000; 32000 for llama-7b; with `text`, that of the tokenizer, or 256]",
        ),
        integer("context", 1, MOST, 128, "Tokens of a sequence"),
        integer("batch_size", 1, MOST, 4, "Sequences per iteration and task"),
    ]
}

fn run_settings() -> Vec<SettingDescription> {
    vec![
        choice(
            "phase",
            &PHASES,
            "forward_backward",
            "What an iteration computes; `step` is a full training step",
        ),
        integer("iterations", 1, 1 << 40, 10, "Measured iterations"),
        integer("warmup", 0, 1 << 40, 3, "Warm-up iterations, excluded from timing"),
        describe::tasks(),
        describe::threads(),
        switch(
            "checkpointing",
            "Activation checkpointing: keep only the input of each layer and recompute the rest in the backward pass",
        ),
        describe::seed(),
        describe::profile(),
        describe::paced(),
    ]
}

fn training_settings() -> Vec<SettingDescription> {
    let [learning_rate, weight_decay, clip] = describe::adam_w(3e-4, "phase `step`");
    vec![
        learning_rate,
        weight_decay,
        clip,
        optional_text("text", "Text file to train on [default: random tokens]"),
        optional_text("tokenizer", "tokenizer.json for the text [default: bytes]"),
        optional_text("save", "Write a checkpoint to this file (safetensors)"),
        positive("save_every", 1 << 40, "Steps between checkpoints [default: only at the end]"),
        optional_text("resume", "Checkpoint to resume from"),
    ]
}
