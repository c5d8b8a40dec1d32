//! Configuration files rendered per run from a base file. Values are set by key path, so that only what is named
//! changes: every other byte of the base file, comments and spellings included, stays as it is.

mod document;
mod json;
mod path;
mod toml;
mod yaml;

use std::ops::Range;

use assay_model::Value;

use crate::template::{Lookup, Template};
use document::{Document, Node, ValueKind};
pub use path::KeyPath;

/// How a configuration file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigurationFormat {
    /// `.yaml` and `.yml`.
    Yaml,
    /// `.json`.
    Json,
    /// `.toml`.
    Toml,
}

impl ConfigurationFormat {
    /// The format that goes with a file name.
    pub fn of(name: &str) -> Option<ConfigurationFormat> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Some(ConfigurationFormat::Yaml),
            "json" => Some(ConfigurationFormat::Json),
            "toml" => Some(ConfigurationFormat::Toml),
            _ => None,
        }
    }

    fn read(self, text: &str) -> Result<Document, String> {
        match self {
            ConfigurationFormat::Yaml => yaml::read(text),
            ConfigurationFormat::Json => json::read(text),
            ConfigurationFormat::Toml => toml::read(text),
        }
    }
}

/// A value to set, with placeholders in its texts.
#[derive(Debug, Clone, PartialEq)]
pub enum Assignment {
    /// A number or switch that is the same in every run.
    Fixed(Value),
    /// Text with placeholders. One placeholder alone keeps the type of its setting.
    Text(Template),
    List(Vec<Assignment>),
    Table(Vec<(String, Assignment)>),
}

impl Assignment {
    /// The templates inside.
    pub fn templates(&self) -> Vec<&Template> {
        match self {
            Assignment::Fixed(_) => Vec::new(),
            Assignment::Text(template) => vec![template],
            Assignment::List(list) => list.iter().flat_map(Assignment::templates).collect(),
            Assignment::Table(table) => table.iter().flat_map(|(_, value)| value.templates()).collect(),
        }
    }

    /// A text that is the same for equal assignments and different for all others, for hashing.
    pub(crate) fn canonical(&self) -> serde_json::Value {
        match self {
            Assignment::Fixed(value) => serde_json::json!({ "fixed": value }),
            Assignment::Text(template) => serde_json::json!({ "text": template.text() }),
            Assignment::List(list) => list.iter().map(Assignment::canonical).collect(),
            Assignment::Table(table) => {
                let mut entries: Vec<_> = table.iter().map(|(key, value)| (key, value.canonical())).collect();
                entries.sort_by_key(|(key, _)| key.as_str());
                entries.into_iter().map(|(key, value)| serde_json::json!([key, value])).collect()
            }
        }
    }

    fn fill(&self, lookup: &Lookup<'_>) -> Result<Filled, String> {
        match self {
            Assignment::Fixed(value) => Ok(Filled::Scalar(value.clone())),
            Assignment::Text(template) => match template.single() {
                Some(name) => lookup(name).map(Filled::Scalar).ok_or_else(|| name.to_owned()),
                None => template.render(lookup).map(|text| Filled::Scalar(Value::Text(text))),
            },
            Assignment::List(list) => {
                list.iter().map(|value| value.fill(lookup)).collect::<Result<_, _>>().map(Filled::List)
            }
            Assignment::Table(table) => table
                .iter()
                .map(|(key, value)| Ok((key.clone(), value.fill(lookup)?)))
                .collect::<Result<_, _>>()
                .map(Filled::Table),
        }
    }
}

/// An assignment with its placeholders filled in.
enum Filled {
    Scalar(Value),
    List(Vec<Filled>),
    Table(Vec<(String, Filled)>),
}

impl Filled {
    fn write(&self, format: ConfigurationFormat, out: &mut String) {
        match self {
            Filled::Scalar(Value::Text(text))
                if format == ConfigurationFormat::Yaml && yaml::is_plain_text(text) =>
            {
                out.push_str(text);
            }
            Filled::Scalar(Value::Text(text)) => out.push_str(&quoted(text)),
            Filled::Scalar(Value::Float(number)) if format == ConfigurationFormat::Yaml => {
                out.push_str(&yaml::float(*number))
            }
            Filled::Scalar(value) => out.push_str(&value.to_string()),
            Filled::List(list) => {
                out.push('[');
                for (index, value) in list.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    value.write(format, out);
                }
                out.push(']');
            }
            Filled::Table(table) => {
                let colon = if format == ConfigurationFormat::Toml { " = " } else { ": " };
                out.push('{');
                for (index, (key, value)) in table.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    out.push_str(&quoted(key));
                    out.push_str(colon);
                    value.write(format, out);
                }
                out.push('}');
            }
        }
    }

    /// The tree that reading the written value gives.
    fn tree(&self, format: ConfigurationFormat) -> ValueKind {
        let node = |value: &Filled| Node { kind: value.tree(format), place: Err(""), anchor: 0 };
        match self {
            Filled::Scalar(Value::Text(text)) => ValueKind::Text(text.clone()),
            Filled::Scalar(_) => {
                let mut text = String::new();
                self.write(format, &mut text);
                ValueKind::Literal(text)
            }
            Filled::List(list) => ValueKind::List(list.iter().map(node).collect()),
            Filled::Table(table) => {
                let mut entries: Vec<_> =
                    table.iter().map(|(key, value)| (Some(key.clone()), node(value))).collect();
                // The TOML reader gives keys in the order of the alphabet.
                if format == ConfigurationFormat::Toml {
                    entries.sort_by(|a, b| a.0.cmp(&b.0));
                }
                ValueKind::Map(entries)
            }
        }
    }
}

/// A text in double quotes, with escapes that YAML, JSON and TOML all read alike.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What is wrong with one of the assignments, or with the base file itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigurationError {
    /// Which assignment, counted from 0; none for the base file.
    pub assignment: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A base file, cut at the values to set: rendering is concatenation.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    format: ConfigurationFormat,
    base: String,
    /// The places in the base file in order, each with what to put before and the assignment's number.
    slots: Vec<(Range<usize>, &'static str, usize)>,
    assignments: Vec<(KeyPath, Assignment)>,
}

impl Skeleton {
    /// Finds the values to set in a base file. Every wrong path is reported.
    pub fn new(
        format: ConfigurationFormat,
        base: &str,
        assignments: Vec<(KeyPath, Assignment)>,
    ) -> Result<Skeleton, Vec<ConfigurationError>> {
        let document = format
            .read(base)
            .map_err(|message| vec![ConfigurationError { assignment: None, message, hint: None }])?;
        let mut errors = Vec::new();
        let mut slots = Vec::new();
        for (index, (path, _)) in assignments.iter().enumerate() {
            let mut wrong = |message: String, hint: Option<String>| {
                errors.push(ConfigurationError { assignment: Some(index), message, hint });
            };
            if let Some((other, _)) = assignments.iter().take(index).find(|(other, _)| other.overlaps(path)) {
                wrong(format!("`{path}` and `{other}` set the same value"), None);
                continue;
            }
            match document.find(path).map(|node| &node.place) {
                Ok(Ok(place)) => slots.push((place.range.clone(), place.before, index)),
                Ok(Err(reason)) => wrong(format!("`{path}` {reason}"), None),
                Err(lost) => wrong(lost.message, lost.hint),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        slots.sort_by_key(|(range, ..)| (range.start, range.end));
        Ok(Skeleton { format, base: base.to_owned(), slots, assignments })
    }

    /// The file of one run. The error is the name of a placeholder without a value.
    pub fn render(&self, lookup: &Lookup<'_>) -> Result<String, String> {
        let mut out = String::with_capacity(self.base.len() + 64);
        let mut at = 0;
        for (range, before, index) in &self.slots {
            out.push_str(self.base.get(at..range.start).unwrap_or_default());
            out.push_str(before);
            if let Some((_, assignment)) = self.assignments.get(*index) {
                assignment.fill(lookup)?.write(self.format, &mut out);
            }
            at = range.end;
        }
        out.push_str(self.base.get(at..).unwrap_or_default());
        Ok(out)
    }

    /// Renders, reads the result again, and makes sure that it holds the values set and nothing else changed.
    pub fn verify(&self, lookup: &Lookup<'_>) -> Result<(), String> {
        let rendered = self.render(lookup).map_err(|name| format!("unknown placeholder `{{{name}}}`"))?;
        let broken = |reason: String| format!("setting the values breaks the file: {reason}");
        let read = self.format.read(&rendered).map_err(broken)?;
        let mut wanted = self.format.read(&self.base).map_err(broken)?.root;
        for (path, assignment) in &self.assignments {
            let filled =
                assignment.fill(lookup).map_err(|name| format!("unknown placeholder `{{{name}}}`"))?;
            if let Some(node) = wanted.find_mut(path) {
                node.kind = filled.tree(self.format);
            }
        }
        match wanted.kind.same(&read.root.kind) {
            true => Ok(()),
            false => Err(broken("what is read back is not what was set".to_owned())),
        }
    }
}

impl Node {
    fn find_mut(&mut self, path: &KeyPath) -> Option<&mut Node> {
        path.0.iter().try_fold(self, |node, step| match (&mut node.kind, step) {
            (ValueKind::Map(entries), path::PathStep::Key(key)) => {
                entries.iter_mut().find(|(name, _)| name.as_ref() == Some(key)).map(|(_, value)| value)
            }
            (ValueKind::List(items), path::PathStep::Index(index)) => items.get_mut(*index),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
