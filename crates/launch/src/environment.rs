//! The environment as it is recorded: everything, with secrets masked.

use std::collections::BTreeMap;

/// Parts of names whose values are never written down.
const SECRET: [&str; 9] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "APIKEY", "PRIVATE", "COOKIE"];

/// What stands in a record for a secret.
const MASK: &str = "(masked)";

/// The environment of this process.
pub fn recorded() -> BTreeMap<String, String> {
    mask(
        std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())),
    )
}

fn mask(variables: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    variables
        .map(|(name, value)| {
            let upper = name.to_uppercase();
            let secret = SECRET.iter().any(|part| upper.contains(part)) || upper.ends_with("_KEY");
            (name, if secret { MASK.to_owned() } else { value })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_recorded() {
        let variables =
            [("PATH", "/bin"), ("HF_TOKEN", "hf_x"), ("OPENAI_API_KEY", "sk"), ("aws_secret", "s")];
        let masked = mask(variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(masked["PATH"], "/bin");
        assert!(["HF_TOKEN", "OPENAI_API_KEY", "aws_secret"].iter().all(|name| masked[*name] == MASK));
    }
}
