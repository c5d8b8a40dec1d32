//! The settings of `bert`, as campaigns, the command line and the documentation see them.

use assay_model::{SettingDescription, WorkloadDescription, names};

use super::NAME;
use super::shape::SIZES;
use crate::describe::{MOST, choice, command, engine_settings, integer, number, switch, text};

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
        text("text", "", "A sentence to classify or embed; empty = those of `data`"),
        text(
            "data",
            "",
            "Sentences (CSV with text and label, or plain lines), or a text to pre-train on; empty = random tokens from \
             the seed",
        ),
        integer(
            "sentences",
            0,
            MOST,
            0,
            "Sentences that one iteration goes through; 0 = all of `data`, and 100 without",
        ),
        integer(
            "batch_size",
            1,
            MOST,
            1,
            "Sentences that are computed at once; in pre-training those of one task",
        ),
        integer(
            "length",
            0,
            MOST,
            0,
            "Pad sentences to so many tokens, as other systems do; 0 = each at its own length, without padding",
        ),
        integer("context", 3, MOST, 128, "Tokens of a sequence that is made up or pre-trained on"),
    ]
}

fn model_settings() -> Vec<SettingDescription> {
    let sizes: Vec<&str> = SIZES.iter().map(|size| size.name).chain(["custom"]).collect();
    vec![
        text(
            "model",
            "",
            "Folder with config.json, model.safetensors and vocab.txt or tokenizer.json; empty = random weights",
        ),
        text("head", "", "Head that `assay train bert-head` wrote; empty = that of the model"),
        text(
            "tokenizer",
            "",
            "vocab.txt or tokenizer.json; empty = that of the model, and without one ids are made up",
        ),
        choice(
            "size",
            &sizes,
            "tiny",
            "Size of the model: width, layers and heads in one word; no meaning with `model`",
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
            "Tokens in the vocabulary; 0 = 30522, or as many as `tokenizer` has",
        ),
        integer("positions", 0, MOST, 0, "Most tokens of a sentence; 0 = 512"),
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
        integer("tasks", 1, 4096, 1, "Tasks that train on their own data and average their gradients"),
        integer("threads", 0, 4096, 0, "Threads of all tasks together; 0 = as many as there are cores"),
        integer("seed", 0, i64::MAX, 1, "Seed of the initial weights and of the data"),
        text("profile", "", "Where to write a Chrome trace of every operation; empty = no profile"),
        switch("paced", "Wait for one line on standard input before each iteration"),
    ]
}

fn training_settings() -> Vec<SettingDescription> {
    vec![
        number("learning_rate", 1e-4, "Learning rate of AdamW; only for task `pretrain`"),
        number("weight_decay", 0.01, "Weight decay of AdamW; only for task `pretrain`"),
        number(
            "clip",
            1.0,
            "Largest norm of the gradient, larger ones are scaled down; 0 = off; only for task `pretrain`",
        ),
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
