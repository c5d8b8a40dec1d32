//! Parts from which the descriptions of workloads are made, and settings that all of them have.

use assay_model::{SettingDescription, SettingKind, Value};

/// The largest width, batch and so on that is taken at all: far beyond any machine, yet small enough that no product of
/// a few of them is beyond 128 bits.
pub(crate) const MOST: i64 = 1 << 24;

/// The command by which a campaign runs a workload.
pub(crate) fn command(name: &str, settings: &[SettingDescription]) -> String {
    let assignments: Vec<String> =
        settings.iter().map(|setting| format!("{0}={{{0}}}", setting.name)).collect();
    format!("{{assay}} work {name} {}", assignments.join(" "))
}

/// Tasks that train together.
pub fn tasks() -> SettingDescription {
    integer("tasks", 1, 4096, 1, "Data-parallel tasks, which average their gradients")
}

pub fn threads() -> SettingDescription {
    positive("threads", 4096, "Threads of all tasks together [default: all cores]")
}

pub fn profile() -> SettingDescription {
    optional_text("profile", "Write a Chrome trace of every operation to this file")
}

pub fn paced() -> SettingDescription {
    switch("paced", "Wait for a line on standard input before each iteration")
}

pub fn seed() -> SettingDescription {
    integer("seed", 0, i64::MAX, 1, "Random seed for weights and data")
}

/// The dimensions of a transformer, where the size does not say them.
pub fn dimensions() -> [SettingDescription; 4] {
    [
        positive("width", MOST, "Model dimension [default: from `size`]"),
        positive("hidden", MOST, "Feed-forward dimension [default: from `size`]"),
        positive("layers", 1 << 16, "Number of layers [default: from `size`]"),
        positive("heads", MOST, "Number of attention heads [default: from `size`]"),
    ]
}

/// How AdamW trains; `only` says when.
pub fn adam_w(learning_rate: f64, only: &str) -> [SettingDescription; 3] {
    let limit = "Clip gradients to this norm; 0 disables clipping";
    [
        number("learning_rate", learning_rate, &format!("Learning rate of AdamW; only for {only}")),
        number("weight_decay", 0.01, &format!("Weight decay of AdamW; only for {only}")),
        number("clip", 1.0, &format!("{limit}; only for {only}")),
    ]
}

/// What computes it.
pub(crate) fn engine_settings() -> Vec<SettingDescription> {
    vec![
        choice("engine", &["native", "torch"], "native", "Engine: built in, or an installed PyTorch"),
        choice(
            "device",
            &["cpu", "cuda", "mps", "xpu"],
            "cpu",
            "PyTorch device; `native` supports only `cpu`",
        ),
        choice("mode", &["eager", "sdpa", "compile"], "sdpa", "PyTorch execution mode; ignored by `native`"),
        text("python", "python3", "Python interpreter with PyTorch; ignored by `native`"),
    ]
}

fn setting(name: &str, kind: SettingKind, default: Value, summary: &str) -> SettingDescription {
    SettingDescription { default: Some(default), optional: false, ..optional(name, kind, summary) }
}

/// An integer from 1 to `max` that may be left out.
pub fn positive(name: &str, max: i64, summary: &str) -> SettingDescription {
    optional(name, SettingKind::Integer { min: 1, max }, summary)
}

/// A text that may be left out.
pub fn optional_text(name: &str, summary: &str) -> SettingDescription {
    optional(name, SettingKind::Text, summary)
}

/// A setting that may be left out.
pub fn optional(name: &str, kind: SettingKind, summary: &str) -> SettingDescription {
    SettingDescription {
        name: name.to_owned(),
        summary: summary.to_owned(),
        kind,
        default: None,
        optional: true,
    }
}

/// An integer from `min` to `max`.
pub fn integer(name: &str, min: i64, max: i64, default: i64, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Integer { min, max }, Value::Integer(default), summary)
}

pub fn number(name: &str, default: f64, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Number, Value::Float(default), summary)
}

pub fn text(name: &str, default: &str, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Text, default.into(), summary)
}

/// A switch that is off unless it is turned on.
pub fn switch(name: &str, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Switch, Value::Switch(false), summary)
}

/// A length of time.
pub fn duration(name: &str, default: &str, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Duration, default.into(), summary)
}

/// One of several words.
pub fn choice(name: &str, words: &[&str], default: &str, summary: &str) -> SettingDescription {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    setting(name, SettingKind::Choice(words), default.into(), summary)
}
