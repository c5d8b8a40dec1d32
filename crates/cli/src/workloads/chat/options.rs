//! Settings to options. They go through the command line's own reader, so that both mean the same and are refused for
//! the same reasons.

use assay_model::{SettingKind, Settings, Value};
use assay_workloads::settings::Checked;
use clap::{Args, Command};
use serde_json::Map;

use super::description::description;
use crate::failure::Mistake;
use crate::options::load::{Load, ServeMock};

/// Settings that are no options of `load`.
const OWN: [&str; 5] = ["endpoint", "url", "mock", "headers", "fields"];
/// Options of the calibration endpoint that have no meaning inside a run.
const OUTER: [&str; 2] = ["listen", "sends"];
/// Where the options are read as if a URL had been given.
const ANY_URL: &str = "http://localhost/v1";

/// What the settings of a run ask for.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The load, its URL not yet filled in.
    pub(super) load: Load,
    /// The calibration endpoint, if one is to be asked.
    pub(super) mock: Option<ServeMock>,
    url: String,
}

impl Wanted {
    /// Reads settings.
    pub(super) fn read(settings: &Settings) -> Result<Wanted, Mistake> {
        let description = description();
        let checked = Checked::new(&description, settings)?;
        let (url, mock) = (checked.text("url").to_owned(), checked.text("mock"));
        match (url.is_empty(), mock.is_empty()) {
            (true, true) => {
                return Err(Mistake::new(
                    "`chat` has no endpoint to ask",
                    "give `url`, or `mock` for a calibration endpoint",
                ));
            }
            (false, false) => {
                return Err(Mistake::new(
                    "`url` and `mock` are both given",
                    "leave one of them empty where the other is given",
                ));
            }
            _ => {}
        }
        let mock = Some(mock).filter(|mock| !mock.is_empty()).map(calibration).transpose()?;
        let mut words = vec![ANY_URL.to_owned()];
        for (name, option) in [("headers", "--header"), ("fields", "--field")] {
            for (key, value) in object(name, checked.text(name))? {
                // A header is a text; a field is JSON, in which a text has quotes.
                let value = match value {
                    serde_json::Value::String(text) if name == "headers" => text,
                    other => other.to_string(),
                };
                words.push(format!("{option}={key}={value}"));
            }
        }
        let values = checked.into_settings();
        for setting in description.settings.iter().filter(|setting| !OWN.contains(&setting.name.as_str())) {
            let Some(value) =
                values.get(&setting.name).filter(|value| Some(*value) != setting.default.as_ref())
            else {
                continue;
            };
            let option = format!("--{}", setting.name.replace('_', "-"));
            words.push(match (&setting.kind, value) {
                (SettingKind::Switch, Value::Switch(true)) => option,
                (_, value) => format!("{option}={value}"),
            });
        }
        Ok(Wanted { load: parsed(words)?, mock, url })
    }

    /// The URL, from the environment where the setting says so.
    pub(super) fn url(&self) -> Result<String, Mistake> {
        let Some(name) = self.url.strip_prefix('$') else { return Ok(self.url.clone()) };
        std::env::var(name).ok().filter(|url| !url.is_empty()).ok_or_else(|| {
            Mistake::new(
                format!("the environment variable {name}, which holds the URL, is not set"),
                format!("set it, for example: export {name}=https://host/v1"),
            )
        })
    }
}

/// The options of a calibration endpoint: `first-token=20,gap=2,crlf`.
fn calibration(text: &str) -> Result<ServeMock, Mistake> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let words: Vec<String> = parts.map(|part| format!("--{}", part.replace('_', "-"))).collect();
    let is_outer = |word: &&String| {
        OUTER.iter().any(|name| word.trim_start_matches('-').split('=').next() == Some(*name))
    };
    if let Some(word) = words.iter().find(is_outer) {
        let text = format!("`mock` takes no `{}`", word.trim_start_matches('-'));
        return Err(Mistake::new(
            text,
            "`assay serve-mock` has it; in a run the endpoint is started by the run",
        ));
    }
    parsed(words)
}

/// Options as the command line reads them.
fn parsed<Options: Args>(words: Vec<String>) -> Result<Options, Mistake> {
    let command = Options::augment_args(Command::new(super::NAME).no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    matches.and_then(|matches| Options::from_arg_matches(&matches)).map_err(|error| {
        let told = error.to_string();
        // What is wrong stands before the first empty line; then comes how the command line is used.
        let first: Vec<&str> = told.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let first = first.join(" ");
        Mistake::new(
            format!("settings of `chat`: {}", first.strip_prefix("error: ").unwrap_or(&first)),
            "settings are options of `assay load`, those of `mock` options of `assay serve-mock`; see --help there",
        )
    })
}

fn object(name: &str, text: &str) -> Result<Map<String, serde_json::Value>, Mistake> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(text).map_err(|error| {
        Mistake::new(format!("`{name}` is no JSON object: {error}"), "it looks like {\"temperature\": 0}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, Value)]) -> Result<Wanted, Mistake> {
        Wanted::read(&pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    #[test]
    fn every_setting_is_an_option_and_every_default_is_none() {
        let url = [("url", Value::from("http://a/v1"))];
        assert_eq!(read(&url).unwrap().load.arrivals.streams, [1]);
        // Numbers that differ from the defaults and are allowed everywhere.
        for setting in description().settings.iter().filter(|one| !OWN.contains(&one.name.as_str())) {
            let value = match &setting.kind {
                SettingKind::Integer { .. } => Value::Integer(2),
                SettingKind::Number | SettingKind::Duration => Value::Float(2.5),
                SettingKind::Text => Value::from("word"),
                SettingKind::Switch => Value::Switch(true),
                SettingKind::Choice(words) => Value::from(words.last().unwrap().as_str()),
            };
            let mut pairs = vec![url[0].clone(), (setting.name.as_str(), value)];
            // Options that need others.
            match setting.name.as_str() {
                "gaps" => pairs.push(("rate", Value::Float(3.0))),
                "ramp_from" => pairs.extend([("rate", Value::Float(3.0)), ("ramp_over", Value::Float(1.0))]),
                "ramp_over" => pairs.extend([("rate", Value::Float(3.0)), ("ramp_from", Value::Float(1.0))]),
                "shared_tokens" => pairs.push(("prompt_tokens", Value::Integer(9))),
                _ => {}
            }
            assert!(read(&pairs).is_ok(), "{}: {:?}", setting.name, read(&pairs));
        }
    }

    #[test]
    fn a_calibration_endpoint_has_the_options_of_its_verb() {
        let wanted = read(&[("mock", "first-token=30, gap=1.5,crlf".into())]).unwrap();
        let mock = wanted.mock.unwrap();
        assert_eq!((mock.first_token, mock.gap, mock.crlf), (30.0, 1.5, true));
        for (mock, part) in [("first=30", "--first"), ("sends=a", "sends"), ("gap=x", "gap")] {
            let error = read(&[("mock", mock.into())]).unwrap_err();
            assert!(error.text.contains(part), "{}", error.text);
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let url = || ("url", Value::from("http://a/v1"));
        let text = |pairs: &[(&str, Value)]| read(pairs).unwrap_err().text;
        assert!(text(&[]).contains("no endpoint"));
        assert!(text(&[url(), ("mock", "gap=1".into())]).contains("both"));
        assert!(text(&[url(), ("rate", Value::Float(1.0)), ("trace", "a".into())]).contains("--rate"));
        assert!(text(&[url(), ("fields", "[1]".into())]).contains("`fields`"));
    }

    #[test]
    fn fields_and_headers_come_apart_and_a_url_may_stand_in_the_environment() {
        let wanted = read(&[
            ("url", "$NO_SUCH_URL_IS_SET".into()),
            ("fields", r#"{"temperature": 0, "stop": "x"}"#.into()),
            ("headers", r#"{"X-A": "b"}"#.into()),
        ])
        .unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(wanted.load.reach.header, [pair("X-A", "b")]);
        let mut fields = wanted.load.reach.field.clone();
        fields.sort();
        assert_eq!(fields, [pair("stop", "\"x\""), pair("temperature", "0")]);
        assert!(wanted.url().unwrap_err().text.contains("NO_SUCH_URL_IS_SET"));
    }
}
