//! Generated logs to embed, and the numbers that a careful author would copy out of them.

use std::collections::BTreeMap;

use anyhow::{Context, bail};

/// A generated log with these options.
pub fn sample(kind: &str, options: &[(&str, String)], seed: u64) -> anyhow::Result<String> {
    let options: BTreeMap<String, String> =
        options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let mut bytes = Vec::new();
    assay_samples::write(kind, &options, seed, None, &mut bytes)?;
    String::from_utf8(bytes).with_context(|| format!("a generated {kind} log is no text"))
}

/// All numbers that stand directly behind a key, in the order of the text.
pub fn numbers(text: &str, key: &str) -> Vec<f64> {
    let behind = text.match_indices(key).filter_map(|(at, _)| text.get(at + key.len()..));
    behind.filter_map(leading_number).collect()
}

/// The last number that stands directly behind a key.
pub fn last_number(text: &str, key: &str) -> anyhow::Result<f64> {
    numbers(text, key).pop().with_context(|| format!("a generated log has no number behind `{key}`"))
}

/// Writes other text in place of the last number behind a key.
pub fn replace_last(text: &str, key: &str, with: &str) -> anyhow::Result<String> {
    let Some(start) = text.rfind(key).map(|at| at + key.len()) else {
        bail!("a generated log has no `{key}`");
    };
    let (before, behind) = text.split_at(start);
    let rest = behind.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    Ok(format!("{before}{with}{rest}"))
}

/// Writes `nan` in place of every number behind a key, from a share of their count on.
pub fn diverged(text: &str, key: &str, from: f64) -> String {
    let first = (numbers(text, key).len() as f64 * from).floor() as usize;
    let mut parts = text.split(key);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        out.push_str(key);
        if index >= first && leading_number(part).is_some() {
            out.push_str("nan");
            out.push_str(part.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.'));
        } else {
            out.push_str(part);
        }
    }
    out
}

fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(text.len());
    text.get(..end)?.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str =
        "Step=1, Loss=9.5, Rate=10.25 x\nStep=2, Loss=8.25, Rate=11.5 x\nStep=3, Loss=8., end";

    #[test]
    fn numbers_behind_keys_are_found_and_replaced() {
        assert_eq!(numbers(LINES, "Loss="), [9.5, 8.25, 8.0]);
        assert_eq!(last_number(LINES, "Rate=").unwrap(), 11.5);
        assert!(last_number(LINES, "Speed=").is_err());
        assert_eq!(numbers(&replace_last(LINES, "Rate=", "7.0").unwrap(), "Rate="), [10.25, 7.0]);
    }

    #[test]
    fn a_diverged_log_keeps_its_beginning_and_its_other_numbers() {
        let text = diverged(LINES, "Loss=", 0.4);
        assert_eq!(numbers(&text, "Loss="), [9.5]);
        assert!(text.contains("Step=2, Loss=nan, Rate=11.5 x"), "{text}");
    }
}
