//! The settings of `lm`, as campaigns, the command line and the documentation see them.

use assay_model::{SettingDescription, WorkloadDescription, names};

use super::NAME;
use super::shape::SIZES;
use crate::describe::{MOST, choice, command, engine_settings, integer, number, switch, text};

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
    vec![
        choice(
            "size",
            &sizes,
            "small",
            "Size of the model: width, hidden width, layers and heads in one word",
        ),
        integer("width", 0, MOST, 0, "Width of the model; 0 = as the size says"),
        integer("hidden", 0, MOST, 0, "Width of the feed-forward layers; 0 = as the size says"),
        integer("layers", 0, 1 << 16, 0, "Layers; 0 = as the size says"),
        integer("heads", 0, MOST, 0, "Attention heads; 0 = as the size says"),
        integer(
            "vocabulary",
            0,
            MOST,
            0,
            "Tokens in the vocabulary; 0 = 10000, 32000 for llama-7b, and with a text 256 or as many as the tokenizer has",
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
        integer("tasks", 1, 4096, 1, "Tasks that train on their own data and average their gradients"),
        integer("threads", 0, 4096, 0, "Threads of all tasks together; 0 = as many as there are cores"),
        switch(
            "checkpointing",
            "Keep only the input of each layer and compute the rest again in the backward pass",
        ),
        integer("seed", 0, i64::MAX, 1, "Seed of the initial weights and of the data"),
        text("profile", "", "Where to write a Chrome trace of every operation; empty = no profile"),
        switch("paced", "Wait for one line on standard input before each iteration"),
    ]
}

fn training_settings() -> Vec<SettingDescription> {
    vec![
        number("learning_rate", 3e-4, "Learning rate of AdamW; only for phase `step`"),
        number("weight_decay", 0.01, "Weight decay of AdamW; only for phase `step`"),
        number(
            "clip",
            1.0,
            "Largest norm of the gradient, larger ones are scaled down; 0 = off; only for phase `step`",
        ),
        text("text", "", "Text file to train on; empty = random tokens from the seed"),
        text("tokenizer", "", "tokenizer.json to read the text with; empty = bytes"),
        text("save", "", "Where to write a checkpoint (safetensors); empty = nowhere"),
        integer(
            "save_every",
            0,
            1 << 40,
            0,
            "Write the checkpoint after every so many steps; 0 = only at the end",
        ),
        text("resume", "", "Checkpoint to go on from; empty = begin anew"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Checked;
    use assay_model::Settings;

    #[test]
    fn every_setting_is_in_the_command_and_every_default_is_allowed() {
        let description = description();
        let given: Settings = description
            .settings
            .iter()
            .map(|setting| (setting.name.clone(), setting.default.clone().unwrap()))
            .collect();
        assert!(Checked::new(&description, &given).is_ok());
        for setting in &description.settings {
            assert!(description.command.contains(&format!(" {0}={{{0}}}", setting.name)), "{}", setting.name);
        }
    }
}
