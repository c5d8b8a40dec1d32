//! The environment as it is recorded: what can change a measurement, without secrets.

use std::collections::BTreeMap;

use assay_campaign::Plan;
use assay_store::secrets::{Secrets, is_path, is_secret_name, kept_environment};

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
    let own: Vec<(String, String)> = variables().collect();
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Secrets::among(own.chain(plan.variables()), &named)
}

/// Shorter values may be words that a command has anyway, such as the name of a desktop session.
const SHORTEST_CERTAIN: usize = 16;

/// The variable whose secret value one of these texts holds, where there is one: a shell that expanded `"$TOKEN"` before
/// this program saw it leaves no variable to ask for.
pub fn expanded_secret(texts: &[&str]) -> Option<String> {
    expanded(variables(), texts)
}

fn expanded(mut variables: impl Iterator<Item = (String, String)>, texts: &[&str]) -> Option<String> {
    let is_certain = |value: &str| value.len() >= SHORTEST_CERTAIN && !is_path(value);
    let found = variables.find(|(name, value)| {
        is_secret_name(name) && is_certain(value) && texts.iter().any(|text| text.contains(value.as_str()))
    });
    found.map(|(name, _)| name)
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
                ("AWS_SECRET_ACCESS_KEY", "/slash0123456789abc"),
                ("SSL_CERT", "/proc/self/status"),
            ];
            all.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter()
        };
        let found = |text: &str| expanded(variables(), &[text]);
        assert_eq!(
            found("curl -H 'Authorization: Bearer sk-0123456789abcdef'"),
            Some("API_TOKEN".to_owned())
        );
        assert_eq!(found("aws /slash0123456789abc"), Some("AWS_SECRET_ACCESS_KEY".to_owned()));
        assert_eq!(found("cat /proc/self/status"), None);
        assert_eq!(found("curl -H \"Authorization: Bearer $API_TOKEN\" plain 0123456789abcdefgh"), None);
    }
}
