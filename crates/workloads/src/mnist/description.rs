//! The settings of `mnist`, as campaigns, the command line and the documentation see them.

use assay_model::{SettingDescription, WorkloadDescription, names};

use super::NAME;
use crate::describe::{
    self, MOST, choice, command, engine_settings, integer, number, optional_text, positive, switch,
};

/// The words that `data_set` takes.
pub(super) const DATA_SETS: [&str; 4] = ["auto", "mnist", "fashion-mnist", "synthetic"];

/// Which repeat of its cell a run is, from 1. It is not a setting: whoever starts a run fills it in.
pub(super) const REPEAT: &str = "repeat";

/// `mnist` with every setting.
pub fn description() -> WorkloadDescription {
    let mut engine = engine_settings();
    engine.iter_mut().filter(|setting| setting.name == "mode").for_each(|setting| *setting = mode());
    let settings: Vec<_> =
        [training_settings(), data_settings(), run_settings(), engine].into_iter().flatten().collect();
    WorkloadDescription {
        name: NAME.to_owned(),
        summary: "Train an MNIST convolutional network, with a test after every epoch".to_owned(),
        // Repeats with the same seed would give the same accuracy, and hide how much chance is in it.
        command: format!("{} {REPEAT}={{{REPEAT}}}", command(NAME, &settings)),
        settings,
        headline: names::TIME_ITERATION.to_owned(),
    }
}

/// How PyTorch computes: there is no attention here, and convolutions may have their channels last.
fn mode() -> SettingDescription {
    choice(
        "mode",
        &["eager", "channels_last", "compile"],
        "eager",
        "PyTorch execution mode; ignored by `native`",
    )
}

fn training_settings() -> Vec<SettingDescription> {
    vec![
        number("learning_rate", 0.03, "Learning rate"),
        number("momentum", 0.0, "Momentum"),
        integer("epochs", 1, 1 << 24, 10, "Passes over the training samples"),
        positive("steps", 1 << 40, "Training steps, instead of `epochs`"),
        integer("batch_size", 1, MOST, 8, "Images per step and task"),
        integer("test_batch_size", 1, MOST, 80, "Images per batch in testing"),
        number("dropout", 0.5, "Dropout probability of the hidden layer"),
        switch(
            "softmax",
            "Apply softmax before the cross-entropy loss, which applies it again (a common mistake, to measure its cost)",
        ),
        integer(
            "seed",
            0,
            1 << 62,
            1,
            "Random seed for weights, shuffling, dropout and synthetic digits; each repeat adds 1",
        ),
    ]
}

fn data_settings() -> Vec<SettingDescription> {
    vec![
        choice(
            "data_set",
            &DATA_SETS,
            "auto",
            "Data set; `auto` is MNIST if downloaded, otherwise synthetic digits (see `assay doctor data`)",
        ),
        optional_text("data", "Directory with the four files of the data set [default: the data directory]"),
        positive("train_samples", MOST, "Train on the first N images [default: all]"),
        positive("test_samples", MOST, "Test on the first N images [default: all]"),
    ]
}

fn run_settings() -> Vec<SettingDescription> {
    vec![
        integer("steps_per_iteration", 1, MOST, 125, "Steps per timed iteration; at most one epoch"),
        integer("warmup", 0, 1 << 40, 1, "Warm-up iterations, excluded from timing"),
        describe::tasks(),
        describe::threads(),
        describe::profile(),
        describe::paced(),
    ]
}
