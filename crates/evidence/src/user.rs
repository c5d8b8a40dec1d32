//! Dialects of the user's own, written in TOML: no code, no new build.

use std::sync::Arc;

use assay_model::{Failure, Keep, Origin, Scope, Status, Unit, names};
use regex::Regex;
use serde::Deserialize;

use crate::collector::Value;
use crate::dialects::{DialectReader, Taken};
use crate::facts::Facts;
use crate::line::Line;
use crate::text::number;

/// A dialect file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserDialectFile {
    /// Its name.
    pub name: String,
    /// One line on what it reads.
    #[serde(default)]
    pub summary: String,
    /// The make of machine it is about.
    pub platform: Option<String>,
    /// Lines that begin a run hold one of these.
    #[serde(default)]
    pub begins: Vec<String>,
    /// The rules, tried in order on every line that holds their key.
    #[serde(default)]
    pub rule: Vec<RuleFile>,
}

/// One rule as it is written. Every named group of the pattern is a metric, unless `setting`, `phase` or `status` says
/// what the line shows instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// A key string that lines of this shape hold; it makes looking fast.
    pub contains: String,
    /// A regular expression.
    pub pattern: String,
    /// For each named group: the metric's canonical name and, in brackets, its unit as written: `step_s (ms)`.
    #[serde(default)]
    pub metrics: std::collections::BTreeMap<String, String>,
    /// The group that holds the step.
    pub step: Option<String>,
    /// The scope of the metrics.
    pub scope: Option<Scope>,
    /// Whether the metrics are predictions.
    #[serde(default)]
    pub prediction: bool,
    /// For each named group: the setting it shows to be in effect.
    #[serde(default)]
    pub observes: std::collections::BTreeMap<String, String>,
    /// For each named group: the setting it declares.
    #[serde(default)]
    pub declares: std::collections::BTreeMap<String, String>,
    /// The phase that begins on such a line.
    pub starts: Option<String>,
    /// The phase that ends on such a line.
    pub ends: Option<String>,
    /// How such a line says that the run ended: `succeeded`, `failed`, `gate_failed`, `aborted` or `cancelled`.
    pub status: Option<String>,
    /// The hint for the user.
    pub hint: Option<String>,
}

/// What is wrong with a dialect file.
#[derive(Debug, thiserror::Error)]
pub enum UserDialectError {
    /// A pattern is not a regular expression.
    #[error("rule {rule}: not a regular expression: {error}")]
    Pattern {
        /// The rule, from 1.
        rule: usize,
        /// What is wrong.
        error: Box<regex::Error>,
    },
    /// A group that the pattern does not have.
    #[error("rule {rule}: the pattern has no group named `{group}`")]
    Group {
        /// The rule, from 1.
        rule: usize,
        /// The group.
        group: String,
    },
    /// A word that is not one of a list.
    #[error("rule {rule}: `{word}` is not a {kind}")]
    Word {
        /// The rule, from 1.
        rule: usize,
        /// The word.
        word: String,
        /// What it should be.
        kind: &'static str,
    },
    /// A name that cannot be used.
    #[error("`{0}` is not a name for a dialect")]
    Name(String),
}

/// A dialect of the user's own, ready to use.
#[derive(Debug)]
pub struct UserDialect {
    name: String,
    platform: Option<String>,
    begins: Vec<String>,
    needles: Vec<String>,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    contains: String,
    pattern: Regex,
    metrics: Vec<(String, String, Unit, f64)>,
    step: Option<String>,
    scope: Option<Scope>,
    origin: Origin,
    observes: Vec<(String, String)>,
    declares: Vec<(String, String)>,
    starts: Option<&'static str>,
    ends: Option<&'static str>,
    status: Option<String>,
    hint: Option<String>,
}

const STATUSES: [&str; 5] = ["succeeded", "failed", "gate_failed", "aborted", "cancelled"];

impl UserDialect {
    /// Checks a file and makes it ready.
    pub fn new(file: UserDialectFile) -> Result<UserDialect, UserDialectError> {
        let named = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if file.name.is_empty() || file.name == "auto" || !file.name.chars().all(named) {
            return Err(UserDialectError::Name(file.name));
        }
        let rules: Vec<Rule> = file
            .rule
            .into_iter()
            .enumerate()
            .map(|(index, rule)| Rule::new(index + 1, rule))
            .collect::<Result<_, _>>()?;
        let mut needles: Vec<String> = rules.iter().map(|rule| rule.contains.clone()).collect();
        needles.extend(file.begins.iter().cloned());
        Ok(UserDialect { name: file.name, platform: file.platform, begins: file.begins, needles, rules })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn needles(&self) -> &[String] {
        &self.needles
    }

    pub(crate) fn reader(this: &Arc<UserDialect>) -> Box<dyn DialectReader> {
        Box::new(UserReader { dialect: Arc::clone(this) })
    }
}

impl Rule {
    fn new(rule: usize, file: RuleFile) -> Result<Rule, UserDialectError> {
        let pattern = Regex::new(&file.pattern)
            .map_err(|error| UserDialectError::Pattern { rule, error: Box::new(error) })?;
        let groups =
            file.metrics.keys().chain(file.observes.keys()).chain(file.declares.keys()).chain(&file.step);
        for group in groups {
            if !pattern.capture_names().flatten().any(|name| name == group) {
                return Err(UserDialectError::Group { rule, group: group.clone() });
            }
        }
        let phase = |word: &Option<String>| match word {
            None => Ok(None),
            Some(word) => assay_model::document::PHASES
                .iter()
                .find(|phase| *phase == word)
                .map(|phase| Some(*phase))
                .ok_or_else(|| UserDialectError::Word { rule, word: word.clone(), kind: "phase" }),
        };
        if let Some(word) = file.status.iter().find(|word| !STATUSES.contains(&word.as_str())) {
            return Err(UserDialectError::Word { rule, word: word.clone(), kind: "status" });
        }
        Ok(Rule {
            starts: phase(&file.starts)?,
            ends: phase(&file.ends)?,
            contains: file.contains,
            pattern,
            metrics: file.metrics.into_iter().map(|(group, metric)| described(group, &metric)).collect(),
            step: file.step,
            scope: file.scope,
            origin: if file.prediction { Origin::Prediction } else { Origin::Reported },
            observes: file.observes.into_iter().collect(),
            declares: file.declares.into_iter().collect(),
            status: file.status,
            hint: file.hint,
        })
    }

    fn apply(&self, text: &str, facts: &mut Facts<'_>) -> bool {
        let Some(found) = self.pattern.captures(text) else { return false };
        let written = |group: &str| found.name(group).map(|group| group.as_str());
        let value = |group: &str| written(group).and_then(|text| number(text)).map(|(value, _)| value);
        let step = self.step.as_deref().and_then(value);
        for (group, metric, unit, factor) in &self.metrics {
            if let Some(read) = value(group) {
                facts.value(Value {
                    unit: Some(unit),
                    scope: self.scope,
                    origin: self.origin,
                    step,
                    written: written(group),
                    keep: Keep::Last,
                    ..Value::reported(metric, read * factor)
                });
            }
        }
        for (group, setting) in &self.observes {
            if let Some(text) = written(group) {
                facts.observe(setting, setting_value(text), "log");
            }
        }
        for (group, setting) in &self.declares {
            if let Some(text) = written(group) {
                facts.declare(setting, setting_value(text), "log");
            }
        }
        if let Some(phase) = self.ends {
            facts.end(phase);
        }
        if let Some(phase) = self.starts {
            facts.start(phase);
        }
        if let Some(word) = &self.status {
            facts.status(status(word, text));
        }
        if let Some(hint) = &self.hint {
            facts.hint(text, hint);
        }
        true
    }
}

/// `step_s (ms)`: the metric, its base unit and the factor to it.
fn described(group: String, text: &str) -> (String, String, Unit, f64) {
    match text.split_once('(') {
        Some((metric, unit)) => {
            let (unit, factor) = Unit::parse(unit.trim().trim_end_matches(')'));
            (group, metric.trim().to_owned(), unit, factor)
        }
        None => (group, text.trim().to_owned(), names::unit(text.trim()), 1.0),
    }
}

fn status(word: &str, text: &str) -> Status {
    let reason = crate::facts::shortened(text);
    match word {
        "succeeded" => Status::Succeeded,
        "gate_failed" => Status::GateFailed { reason },
        "aborted" => Status::Aborted { reason },
        "cancelled" => Status::Cancelled { reason },
        _ => Status::Failed { failure: Failure::Reported { reason } },
    }
}

/// A setting's value as it is written: a whole number, a number, a switch or a text.
pub(crate) fn setting_value(text: &str) -> assay_model::Value {
    use assay_model::Value;
    let text = text.trim().trim_matches(['\'', '"', '`']);
    let plain = text.replace([',', '_'], "");
    match (text.parse::<i64>(), plain.parse::<i64>(), text.parse::<f64>(), text) {
        (Ok(whole), ..) => Value::Integer(whole),
        (_, Ok(whole), ..) if text.starts_with(|first: char| first.is_ascii_digit()) => Value::Integer(whole),
        (_, _, Ok(number), _) if number.is_finite() => Value::Float(number),
        (.., "true" | "True") => Value::Switch(true),
        (.., "false" | "False") => Value::Switch(false),
        _ => Value::Text(text.to_owned()),
    }
}

struct UserReader {
    dialect: Arc<UserDialect>,
}

impl DialectReader for UserReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let mut taken = Taken::Nothing;
        if self.dialect.begins.iter().any(|key| line.text.contains(key.as_str())) {
            facts.begin();
            taken = Taken::Part;
        }
        for rule in &self.dialect.rules {
            if line.text.contains(rule.contains.as_str()) && rule.apply(line.text, facts) {
                taken = Taken::Part;
            }
        }
        if taken == Taken::Part
            && let Some(platform) = &self.dialect.platform
        {
            facts.platform(platform);
        }
        taken
    }
}
