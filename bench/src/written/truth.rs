//! The documents, and what is known about them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

/// One document with its truth.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WriteUpCase {
    /// The file under the folder of the fixtures; one in a folder of its own is audited with its neighbors.
    pub file: String,
    pub text: String,
    pub sound: bool,
    pub format: String,
    pub errors: Vec<PlantedError>,
    pub true_claims: Vec<TrueClaim>,
}

/// An error that the author planted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlantedError {
    pub kind: String,
    pub claim: String,
    /// Where a finding may point.
    pub lines: Vec<u64>,
    /// Numbers that only a right finding shows.
    pub marks: Vec<String>,
}

/// A claim that holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrueClaim {
    pub quote: String,
    pub arithmetic: String,
}

impl WriteUpCase {
    /// Whether the document is one of those that rules are not fitted to: its number is divisible by 4.
    pub fn is_held_out(&self) -> bool {
        let digits: String = self.file.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().is_ok_and(|number| number % 4 == 0)
    }

    pub fn is_notebook(&self) -> bool {
        self.file.ends_with(".ipynb")
    }

    /// The folder of its own that the document stands in, if it does.
    pub fn folder(&self) -> Option<&str> {
        self.file.split_once('/').map(|(folder, _)| folder)
    }

    /// The lines of all planted errors.
    pub fn wrong_lines(&self) -> impl Iterator<Item = u64> {
        self.errors.iter().flat_map(|error| error.lines.iter().copied())
    }
}

/// Where the documents are.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/writeups")
}

/// Reads all documents.
pub fn cases(folder: &Path) -> anyhow::Result<Vec<WriteUpCase>> {
    let path = folder.join("truth.jsonl");
    let truth = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    truth
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| case(folder, &serde_json::from_str(line)?))
        .collect()
}

fn case(folder: &Path, value: &Value) -> anyhow::Result<WriteUpCase> {
    let file = text(value, "file");
    let path = folder.join(&file);
    let source = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(WriteUpCase {
        text: source,
        sound: value.get("sound").and_then(Value::as_bool).unwrap_or(false),
        format: text(value, "format"),
        errors: list(value, "errors").iter().map(planted_error).collect(),
        true_claims: list(value, "true_claims")
            .iter()
            .map(|claim| TrueClaim { quote: text(claim, "claim"), arithmetic: text(claim, "arithmetic") })
            .collect(),
        file,
    })
}

fn planted_error(value: &Value) -> PlantedError {
    let line = value.get("line").and_then(Value::as_u64);
    let others = list(value, "also_lines").iter().filter_map(Value::as_u64);
    let alternatives = value.get("mention_alternatives").and_then(Value::as_object);
    let alternatives =
        alternatives.into_iter().flat_map(|object| object.values()).flat_map(|value| match value {
            Value::Array(values) => values.iter().map(shown).collect::<Vec<String>>(),
            value => vec![shown(value)],
        });
    let mentioned = list(value, "must_mention").iter().map(shown).chain(alternatives);
    let marks = mentioned
        .flat_map(|text| text.split('|').map(str::to_owned).collect::<Vec<String>>())
        .filter(|mark| mark.chars().count() >= 3)
        .collect();
    PlantedError {
        kind: text(value, "kind"),
        claim: text(value, "claim"),
        lines: line.into_iter().chain(others).collect(),
        marks,
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixtures_can_be_read() {
        let cases = cases(&fixtures()).unwrap();
        assert_eq!(cases.len(), 50);
        assert_eq!(cases.iter().filter(|case| case.sound).count(), 20);
        assert!(cases.iter().all(|case| case.sound == case.errors.is_empty()));
        assert!(
            cases.iter().any(WriteUpCase::is_held_out) && cases.iter().any(|case| case.folder().is_some())
        );
    }
}
