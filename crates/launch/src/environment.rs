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
    let all: Vec<(String, String)> = variables().collect();
    Secrets::among(all.iter().map(|(name, value)| (name.as_str(), value.as_str())), &named)
}

/// The environment of this process as a record keeps it; `more` are variables that the user wants in it too.
pub fn recorded(secrets: &Secrets, more: &[String]) -> BTreeMap<String, String> {
    kept_environment(variables(), more, secrets)
}
