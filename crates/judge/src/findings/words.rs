//! Numbers, counts and settings as sentences have them.

use assay_model::{Estimate, Metric, Settings, Unit};

pub(super) fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Settings as a sentence names them.
pub(super) fn label(settings: &Settings) -> String {
    if settings.is_empty() {
        return "the only cell".to_owned();
    }
    settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Two cells as a sentence compares them: by the settings that differ.
pub(super) fn labels_apart(one: &Settings, other: &Settings) -> (String, String) {
    let only = |settings: &Settings, against: &Settings| -> Settings {
        let differing = settings.iter().filter(|(name, value)| against.get(*name) != Some(value));
        differing.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let (here, there) = (only(one, other), only(other, one));
    match here.is_empty() || there.is_empty() {
        true => (label(one), label(other)),
        false => (label(&here), label(&there)),
    }
}

pub(super) fn with_interval(estimate: &Estimate, metric: &Metric) -> String {
    let show = |value: f64| shown(value, &metric.unit);
    let runs = counted(estimate.samples, "run");
    match estimate.samples {
        1 => format!("{} (1 run, no interval)", show(estimate.center)),
        _ => format!(
            "{} ({} – {}, {:.0} % interval of {runs})",
            show(estimate.center),
            show(estimate.low),
            show(estimate.high),
            (100.0 * estimate.confidence).floor()
        ),
    }
}

/// A difference of shares is in points: `0.3 %` of an accuracy might be taken for a share of it.
pub(super) fn difference_shown(difference: f64, unit: &Unit) -> String {
    match is_share(unit) {
        true => format!("{:.2} points", 100.0 * difference),
        false => shown(difference, unit),
    }
}

fn is_share(unit: &Unit) -> bool {
    *unit == Unit::parse("fraction").0
}

/// A value in its unit with four significant digits; times and large numbers in a unit that fits.
pub(super) fn shown(value: f64, unit: &Unit) -> String {
    if is_share(unit) {
        return format!("{:.2} %", 100.0 * value);
    }
    let (factor, prefix) = match (unit, value.abs()) {
        (Unit::Seconds, size) if size > 0.0 && size < 1e-3 => (1e6, "µ"),
        (Unit::Seconds, size) if size > 0.0 && size < 1.0 => (1e3, "m"),
        (Unit::Seconds, _) => (1.0, ""),
        (_, size) if size >= 1e9 => (1e-9, "G"),
        (_, size) if size >= 1e6 => (1e-6, "M"),
        (_, size) if size >= 1e4 => (1e-3, "k"),
        _ => (1.0, ""),
    };
    let scaled = value * factor;
    let digits = match scaled.abs() {
        size if size >= 1000.0 || size == 0.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        _ => 4,
    };
    let name = match unit {
        Unit::Other(name) if name == "unknown" => "(unit unknown)".to_owned(),
        unit => unit.to_string(),
    };
    // `12 ms` and `12 k samples/s`: only short symbols are written in one with their prefix.
    let parts = match unit {
        Unit::Seconds => vec![format!("{prefix}{name}")],
        _ => vec![prefix.to_owned(), name],
    };
    let words: Vec<String> = std::iter::once(format!("{scaled:.digits$}")).chain(parts).collect();
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
