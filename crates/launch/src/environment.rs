//! The environment as it is recorded: what can change a measurement, without secrets.

use std::collections::BTreeMap;

use assay_campaign::Plan;
use assay_store::secrets::{Secrets, is_secret_name, kept_environment};

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

/// Shorter values may be words that a command has anyway, such as the name of a desktop session.
const SHORTEST_CERTAIN: usize = 16;

/// The variable whose secret value one of these texts holds, where there is one: a shell that expanded `"$TOKEN"` before
/// this program saw it leaves no variable to ask for.
pub fn expanded_secret(texts: &[&str]) -> Option<String> {
    expanded(variables(), texts)
}

fn expanded(mut variables: impl Iterator<Item = (String, String)>, texts: &[&str]) -> Option<String> {
    let is_certain = |value: &str| value.len() >= SHORTEST_CERTAIN && !value.starts_with('/');
    let found = variables.find(|(name, value)| {
        is_secret_name(name) && is_certain(value) && texts.iter().any(|text| text.contains(value.as_str()))
    });
    found.map(|(name, _)| name)
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
    fn secrets_that_a_shell_expanded_are_found() {
        let variables = || {
            let all = [
                ("API_TOKEN", "sk-0123456789abcdef"),
                ("DESKTOP_SESSION", "plain"),
                ("MODE", "0123456789abcdefgh"),
            ];
            all.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter()
        };
        let found = |text: &str| expanded(variables(), &[text]);
        assert_eq!(
            found("curl -H 'Authorization: Bearer sk-0123456789abcdef'"),
            Some("API_TOKEN".to_owned())
        );
        assert_eq!(found("curl -H \"Authorization: Bearer $API_TOKEN\" plain 0123456789abcdefgh"), None);
    }

    #[test]
    fn variables_of_campaign_files_are_found() {
        let found = |line: &str| assigned(line).map(|(_, value)| value);
        assert_eq!(found("MY_TOKEN = \"abc\" # why"), Some("abc".to_owned()));
        assert_eq!(found("\"HF_TOKEN\"='x y'"), Some("x y".to_owned()));
        assert_eq!(found("tokens = \"abc\""), None);
        assert_eq!(found("THREADS = 2"), None);
    }
}
