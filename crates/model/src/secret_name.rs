//! Names whose values are secrets.

/// Parts of names whose values are secrets, whatever else the name says.
const SECRET_PARTS: [&str; 20] = [
    "JWT",
    "SIG",
    "TOKEN",
    "SECRET",
    "PASS",
    "CREDENTIAL",
    "APIKEY",
    "PRIVATE",
    "COOKIE",
    "AUTH",
    "PAT",
    "SESSION",
    "SIGNATURE",
    "BEARER",
    "LICENSE",
    "KEY",
    "PWD",
    "DSN",
    "WEBHOOK",
    "CERT",
];

/// Whether the value of a variable or a URL's parameter of this name is taken for a secret. Parts count as whole words between underscores
/// where they are short, so that `PATH` is not taken for a personal access token.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_uppercase();
    let words: Vec<&str> = upper.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    SECRET_PARTS.iter().any(|part| match part.len() {
        0..=3 => words.contains(part),
        // `PASSES` and the like are settings of compilers and optimizers.
        4 => words
            .iter()
            .any(|word| word.ends_with(part) || word.starts_with("PASSW") || word.starts_with("AUTH")),
        _ => upper.contains(part) && !upper.contains("TOKENIZER"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_and_others_are_not() {
        for name in ["api_key", "key", "sig", "X-Amz-Signature", "access_token", "auth"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["api-version", "model", "design", "PATH", "keyboard", "tokenizer"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
