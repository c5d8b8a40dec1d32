//! Names whose values are secrets.

/// Parts of names whose values are secrets, whatever else the name says.
const SECRET_PARTS: [&str; 22] = [
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
    "PW",
    "PWD",
    "CREDS",
    "DSN",
    "WEBHOOK",
    "CERT",
];

/// How words of such names begin.
const BEGINNINGS: [&str; 4] = ["PASSW", "PASSP", "PASSC", "AUTH"];

/// What stands before `KEY` in one word.
const KEYS: [&str; 8] = ["ACCESS", "DEPLOY", "SSH", "GPG", "ENCRYPTION", "SIGNING", "MASTER", "ACCOUNT"];

/// Whether the value of a variable or a URL's parameter of this name is taken for a secret. Parts count as whole words between underscores
/// where they are short, so that `PATH` is not taken for a personal access token.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_uppercase();
    let words: Vec<&str> = upper.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let is_key = words.iter().any(|word| KEYS.iter().any(|kind| *word == format!("{kind}KEY")));
    is_key
        || SECRET_PARTS.iter().any(|part| match part.len() {
            0..=3 => words.contains(part),
            // `PASSES` and the like are settings of compilers and optimizers.
            4 => words
                .iter()
                .any(|word| word.ends_with(part) || BEGINNINGS.iter().any(|start| word.starts_with(start))),
            _ => upper.contains(part) && !upper.contains("TOKENIZER"),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_and_others_are_not() {
        for name in ["GPG_PASSPHRASE", "MINIO_ACCESSKEY", "DB_PW", "DB_CREDS", "DEPLOYKEY"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["api_key", "key", "sig", "X-Amz-Signature", "access_token", "auth"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["api-version", "model", "design", "PATH", "keyboard", "tokenizer"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
