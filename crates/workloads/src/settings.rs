//! Settings read as typed values. The description of a workload says what each may be; everything that does not agree
//! with it is an error that names the setting.

use std::time::Duration;

use assay_model::{SettingDescription, SettingKind, Settings, Value, WorkloadDescription, duration};

use crate::WorkloadError;

/// Settings that were checked against a description, with its defaults for those not given.
#[derive(Debug)]
pub struct CheckedSettings {
    values: Settings,
}

impl CheckedSettings {
    /// Checks settings: known names, right kinds, values in range.
    pub fn new(
        description: &WorkloadDescription,
        given: &Settings,
    ) -> Result<CheckedSettings, WorkloadError> {
        let names = || description.settings.iter().map(|setting| setting.name.as_str());
        for (name, value) in given {
            if !names().any(|known| known == name) {
                return Err(WorkloadError::Setting {
                    name: name.clone(),
                    value: written(value),
                    reason: format!("`{}` has no such setting", description.name),
                    hint: Some(
                        meant(name, names()).unwrap_or_else(|| {
                            format!("settings: {}", names().collect::<Vec<_>>().join(", "))
                        }),
                    ),
                });
            }
        }
        let mut values = Settings::new();
        for setting in &description.settings {
            let value = match (given.get(&setting.name), &setting.default) {
                (None, None) if setting.optional => continue,
                (Some(value), _) => conform(setting, value)?,
                (None, Some(default)) => default.clone(),
                (None, None) => return Err(missing(setting)),
            };
            values.insert(setting.name.clone(), value);
        }
        Ok(CheckedSettings { values })
    }

    /// An integer that is not negative.
    pub fn integer(&self, name: &str) -> u64 {
        match self.values.get(name) {
            Some(Value::Integer(number)) => u64::try_from(*number).unwrap_or(0),
            _ => 0,
        }
    }

    /// A size or count.
    pub fn count(&self, name: &str) -> usize {
        usize::try_from(self.integer(name)).unwrap_or(usize::MAX)
    }

    pub fn number(&self, name: &str) -> f64 {
        self.values.get(name).and_then(Value::number).unwrap_or(0.0)
    }

    /// Whether a switch is on.
    pub fn switch(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(Value::Switch(true)))
    }

    pub fn text(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// A setting that may be left out.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// An integer, where it was given.
    pub fn optional_integer(&self, name: &str) -> Option<u64> {
        self.get(name).map(|_| self.integer(name))
    }

    /// A number, where it was given.
    pub fn optional_number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::number)
    }

    /// A text, where it was given.
    pub fn optional_text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|_| self.text(name))
    }

    /// A length of time, where it was given.
    pub fn duration(&self, name: &str) -> Option<Duration> {
        let seconds = self.get(name).and_then(|value| duration::seconds(value).ok())?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// All settings, given ones and defaults.
    pub fn into_settings(self) -> Settings {
        self.values
    }
}

/// An error about one setting.
pub(crate) fn wrong(name: &str, value: &dyn std::fmt::Display, reason: impl Into<String>) -> WorkloadError {
    WorkloadError::Setting {
        name: name.to_owned(),
        value: value.to_string(),
        reason: reason.into(),
        hint: None,
    }
}

fn missing(setting: &SettingDescription) -> WorkloadError {
    wrong(&setting.name, &"nothing", "it has no default and was not given").or_hint(&setting.summary)
}

/// The value in the kind that the description asks for.
fn conform(setting: &SettingDescription, value: &Value) -> Result<Value, WorkloadError> {
    let bad = |reason: String| Err(wrong(&setting.name, &written(value), reason).or_hint(&setting.summary));
    match (&setting.kind, value) {
        (SettingKind::Integer { min, max }, Value::Integer(number)) => {
            if (min..=max).contains(&number) {
                Ok(value.clone())
            } else {
                bad(format!("it must be an integer from {min} to {max}"))
            }
        }
        (SettingKind::Integer { min, max }, _) => bad(format!("it must be an integer from {min} to {max}")),
        (SettingKind::Number, Value::Integer(_) | Value::Float(_)) => match value.number() {
            Some(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => bad("it must be a finite number".to_owned()),
        },
        (SettingKind::Number, _) => bad("it must be a number".to_owned()),
        (SettingKind::Duration, _) => match duration::seconds(value) {
            Ok(_) => Ok(value.clone()),
            Err(reason) => bad(reason),
        },
        (SettingKind::Switch, Value::Switch(_)) => Ok(value.clone()),
        (SettingKind::Switch, _) => bad("it must be true or false".to_owned()),
        (SettingKind::Text, _) => Ok(Value::Text(value.to_string())),
        (SettingKind::Choice(words), _) => {
            let word = value.to_string();
            if words.contains(&word) {
                Ok(Value::Text(word))
            } else {
                let error =
                    wrong(&setting.name, &written(value), format!("it must be one of {}", words.join(", ")));
                let hint = meant(&word, words.iter().map(String::as_str));
                Err(error.or_hint(hint.as_ref().unwrap_or(&setting.summary)))
            }
        }
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}

/// A question for the known word that was probably meant: one that begins alike, or is a few edits away.
fn meant<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let edits = |candidate: &str| {
        if word.len() > 2 && candidate.starts_with(word) { 0 } else { strsim::levenshtein(word, candidate) }
    };
    let (edits, candidate) = known.map(|candidate| (edits(candidate), candidate)).min()?;
    (edits <= 1 + word.len() / 4).then(|| format!("did you mean `{candidate}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description() -> WorkloadDescription {
        let setting = |name: &str, kind, default| SettingDescription {
            name: name.to_owned(),
            summary: format!("what {name} does"),
            kind,
            default,
            optional: false,
        };
        WorkloadDescription {
            name: "demo".to_owned(),
            summary: String::new(),
            settings: vec![
                setting("layers", SettingKind::Integer { min: 0, max: 9 }, Some(Value::Integer(2))),
                setting("rate", SettingKind::Number, Some(Value::Float(0.5))),
                setting("size", SettingKind::Choice(vec!["1".to_owned(), "big".to_owned()]), None),
                crate::describe::optional("wait", SettingKind::Duration, "how long it waits"),
            ],
            command: String::new(),
            headline: String::new(),
        }
    }

    fn check(pairs: &[(&str, Value)]) -> Result<CheckedSettings, WorkloadError> {
        let given = pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        CheckedSettings::new(&description(), &given)
    }

    #[test]
    fn defaults_fill_in_and_kinds_are_converted_where_nothing_is_lost() {
        let checked = check(&[("size", Value::Integer(1)), ("rate", Value::Integer(3))]).unwrap();
        assert_eq!((checked.count("layers"), checked.number("rate"), checked.text("size")), (2, 3.0, "1"));
    }

    #[test]
    fn what_may_be_left_out_is_absent_and_durations_have_units() {
        let without = check(&[("size", "big".into())]).unwrap();
        assert_eq!((without.duration("wait"), without.get("wait")), (None, None));
        let with = check(&[("size", "big".into()), ("wait", "90s".into())]).unwrap();
        assert_eq!(with.duration("wait"), Some(Duration::from_secs(90)));
        assert!(check(&[("size", "big".into()), ("wait", "90".into())]).is_err());
    }

    #[test]
    fn errors_name_the_setting_and_help() {
        let hint = |result: Result<CheckedSettings, WorkloadError>| result.err().unwrap().hint().unwrap();
        let message = |result: Result<CheckedSettings, WorkloadError>| result.err().unwrap().to_string();
        assert_eq!(hint(check(&[("layer", Value::Integer(1))])), "did you mean `layers`?");
        assert_eq!(hint(check(&[("lay", Value::Integer(1))])), "did you mean `layers`?");
        assert_eq!(hint(check(&[("other", Value::Integer(1))])), "settings: layers, rate, size, wait");
        assert_eq!(hint(check(&[("size", "bigg".into())])), "did you mean `big`?");
        assert!(message(check(&[])).contains("`size`"));
        assert!(message(check(&[("size", "huge".into())])).contains("one of 1, big"));
        assert!(message(check(&[("size", "big".into()), ("layers", Value::Float(1.5))])).contains("integer"));
        assert!(message(check(&[("size", "big".into()), ("layers", Value::Integer(10))])).contains("0 to 9"));
        assert!(message(check(&[("size", "big".into()), ("rate", "x".into())])).contains("a number"));
    }
}
