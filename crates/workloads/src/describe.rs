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

/// What computes it.
pub(crate) fn engine_settings() -> Vec<SettingDescription> {
    vec![
        choice(
            "engine",
            &["native", "torch"],
            "native",
            "What computes it: this program, or an installed PyTorch",
        ),
        choice(
            "device",
            &["cpu", "cuda", "mps", "xpu"],
            "cpu",
            "Where PyTorch computes; `native` knows only `cpu`",
        ),
        choice(
            "mode",
            &["eager", "sdpa", "compile"],
            "sdpa",
            "How PyTorch computes; no meaning for `native`",
        ),
        text("python", "python3", "The Python that has PyTorch; no meaning for `native`"),
    ]
}

fn setting(name: &str, kind: SettingKind, default: Value, summary: &str) -> SettingDescription {
    SettingDescription { name: name.to_owned(), summary: summary.to_owned(), kind, default: Some(default) }
}

/// A whole number from `min` to `max`.
pub fn integer(name: &str, min: i64, max: i64, default: i64, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Integer { min, max }, Value::Integer(default), summary)
}

/// A number.
pub fn number(name: &str, default: f64, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Number, Value::Float(default), summary)
}

/// A text.
pub fn text(name: &str, default: &str, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Text, default.into(), summary)
}

/// A switch that is off unless it is turned on.
pub fn switch(name: &str, summary: &str) -> SettingDescription {
    setting(name, SettingKind::Switch, Value::Switch(false), summary)
}

/// One of several words.
pub fn choice(name: &str, words: &[&str], default: &str, summary: &str) -> SettingDescription {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    setting(name, SettingKind::Choice(words), default.into(), summary)
}
