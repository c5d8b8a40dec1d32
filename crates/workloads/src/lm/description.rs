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
        choice(
            "size",
            &sizes,
            "small",
            "Size of the model: width, hidden width, layers and heads in one word",
        ),
        width,
        hidden,
        layers,
        heads,
        positive(
            "vocabulary",
            MOST,
            "Tokens in the vocabulary; unless given 10000, 32000 for llama-7b, and with a text 256 or as many as the tokenizer has",
        ),
        integer("context", 1, MOST, 128, "Tokens of a sequence"),
        integer("batch_size", 1, MOST, 4, "Sequences in one iteration of one task"),
    ]
}

fn run_settings() -> Vec<SettingDescription> {
    vec![
        choice("phase", &PHASES, "forward_backward", "What one iteration computes; `step` trains"),
        integer("iterations", 1, 1 << 40, 10, "Iterations that count"),
        integer("warmup", 0, 1 << 40, 3, "Iterations before those that count"),
        describe::tasks(),
        describe::threads(),
        switch(
            "checkpointing",
            "Keep only the input of each layer and compute the rest again in the backward pass",
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
        optional_text("text", "Text file to train on; random tokens from the seed unless given"),
        optional_text("tokenizer", "tokenizer.json to read the text with; bytes unless given"),
        optional_text("save", "File to write a checkpoint to (safetensors)"),
        positive("save_every", 1 << 40, "Steps between checkpoints; only at the end unless given"),
        optional_text("resume", "Checkpoint to resume from"),
    ]
}
