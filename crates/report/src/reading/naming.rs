//! Names for runs that stand side by side in a figure or a list: what distinguishes them.

use std::collections::HashMap;

use assay_model::{Document, ReadRun, Value};

use super::settings::effective;
use crate::words::{clean, shorten};

/// Settings that make up a name.
const FEW: usize = 2;
/// Columns of a name; more is not a name.
const WIDEST: usize = 48;

/// A name for each run: the settings in which the runs differ, else what the run says of itself. Where two would be
/// the same, the place of the run goes before.
pub fn names(runs: &[(&Document, &ReadRun)]) -> Vec<String> {
    let settings: Vec<Vec<(&str, &Value)>> = runs.iter().map(|(_, run)| effective(run)).collect();
    let varied = varied(&settings);
    let plain: Vec<String> =
        runs.iter().zip(&settings).map(|((_, run), settings)| name(run, settings, &varied)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &plain {
        *counts.entry(name).or_default() += 1;
    }
    let several_files = runs.windows(2).any(|pair| {
        let [(first, _), (second, _)] = pair else { return false };
        first.file != second.file
    });
    runs.iter()
        .zip(&plain)
        .map(|((document, run), name)| {
            if counts.get(name.as_str()).is_none_or(|count| *count < 2) {
                return name.clone();
            }
            let file = document.file.rsplit('/').next().unwrap_or_default();
            let place = if several_files {
                format!("{}:{}", shorten(&clean(file), 14), run.span.first)
            } else {
                format!("line {}", run.span.first)
            };
            format!("{place} {name}")
        })
        .collect()
}

/// The names of settings in which runs that have them differ.
fn varied<'a>(settings: &[Vec<(&'a str, &'a Value)>]) -> Vec<&'a str> {
    let mut seen: Vec<(&str, &Value)> = Vec::new();
    let mut varied: Vec<&str> = Vec::new();
    for (name, value) in settings.iter().flatten() {
        match seen.iter().find(|(other, _)| other == name) {
            Some((_, first)) if first != value && !varied.contains(name) => varied.push(name),
            Some(_) => {}
            None => seen.push((name, value)),
        }
    }
    varied
}

/// A title without the colon of a line that leads to what follows.
pub fn plain_title(title: &str) -> &str {
    title.trim().trim_end_matches(':').trim_end()
}

fn name(run: &ReadRun, settings: &[(&str, &Value)], varied: &[&str]) -> String {
    let telling: Vec<String> = settings
        .iter()
        .filter(|(name, _)| varied.contains(name))
        .take(FEW)
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if !telling.is_empty() {
        return shorten(&clean(&telling.join(" ")), WIDEST);
    }
    let title = run.title.as_deref().map(plain_title).filter(|title| !title.is_empty());
    let name = title.or(run.platform.as_deref()).or(run.dialects.first().map(String::as_str));
    shorten(&clean(name.unwrap_or("run")), WIDEST)
}
