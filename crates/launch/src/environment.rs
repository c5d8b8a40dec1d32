//! The environment as it is recorded: what can change a measurement, without secrets.

use std::collections::BTreeMap;

use assay_campaign::Plan;
use assay_store::secrets::{Secrets, kept_environment};

/// The variables of this process, as text.
fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
}

/// The setting that names the variable a workload takes its token from.
const TOKEN_VARIABLE: &str = "token_env";

/// Values that must not be written: secrets by the names of their variables, and those that the plan uses as tokens.
pub fn secrets(plan: &Plan) -> Secrets {
    let named: Vec<String> = plan
        .cells
        .iter()
        .filter_map(|cell| cell.settings.get(TOKEN_VARIABLE).map(ToString::to_string))
        .collect();
    let mut all: Vec<(String, String)> = variables().collect();
    all.extend(plan.text.lines().filter_map(assigned));
    Secrets::among(all.iter().map(|(name, value)| (name.as_str(), value.as_str())), &named)
}

/// The variable that a line of a campaign file sets to a text, where the line sets one.
fn assigned(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim().trim_matches(['"', '\'']);
    let is_variable = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let value = value.trim();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let value = value.get(1..)?.split(quote).next()?;
    is_variable.then(|| (name.to_owned(), value.to_owned()))
}

/// The environment of this process as a record keeps it; `more` are variables that the user wants in it too.
pub fn recorded(secrets: &Secrets, more: &[String]) -> BTreeMap<String, String> {
    kept_environment(variables(), more, secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_campaign_files_are_found() {
        let found = |line: &str| assigned(line).map(|(_, value)| value);
        assert_eq!(found("MY_TOKEN = \"abc\" # why"), Some("abc".to_owned()));
        assert_eq!(found("\"HF_TOKEN\"='x y'"), Some("x y".to_owned()));
        assert_eq!(found("tokens = \"abc\""), None);
        assert_eq!(found("THREADS = 2"), None);
    }
}
