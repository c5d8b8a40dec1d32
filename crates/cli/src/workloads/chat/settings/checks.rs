//! Settings that exclude or need each other.

use assay_load::arrivals::Trace;
use assay_model::is_secret_name;
use assay_workloads::settings::CheckedSettings;
use serde_json::{Map, Value};

use crate::failure::Mistake;

/// Settings that exclude or need each other.
pub(super) fn check_combinations(checked: &CheckedSettings) -> Result<(), Mistake> {
    let is_given = |name: &str| checked.get(name).is_some();
    let mistake = |text: String, hint: &str| Err(Mistake::new(text, hint));
    match (is_given("url"), is_given("mock")) {
        (false, false) => {
            return mistake(
                "`chat` has no endpoint".to_owned(),
                "give `url`, or `mock` for a calibration endpoint",
            );
        }
        (true, true) => {
            return mistake("`url` and `mock` are both given".to_owned(), "leave one of them out");
        }
        _ => {}
    }
    let exclusive = [
        ("streams", "rate"),
        ("streams", "trace"),
        ("rate", "trace"),
        ("prompts", "prompt"),
        ("prompts", "prompt_tokens"),
        ("prompt", "prompt_tokens"),
        ("token_env", "token_command"),
    ];
    if let Some((one, other)) = exclusive.into_iter().find(|(one, other)| is_given(one) && is_given(other)) {
        return mistake(format!("`{one}` and `{other}` cannot be used together"), "leave one of them out");
    }
    let needed = [
        ("gaps", "rate"),
        ("shape", "gaps"),
        ("ramp_from", "rate"),
        ("ramp_from", "ramp_over"),
        ("ramp_over", "ramp_from"),
        ("min_requests", "rate"),
    ];
    if let Some((one, other)) = needed.into_iter().find(|(one, other)| is_given(one) && !is_given(other)) {
        return mistake(format!("`{one}` needs `{other}`"), "give both, or neither");
    }
    if is_given("trace") && checked.integer("turns") > 1 {
        return mistake(
            "`turns` and `trace` cannot be used together".to_owned(),
            "a trace says itself which requests belong to a session",
        );
    }
    if is_given("shared_tokens") && (is_given("prompts") || is_given("prompt")) {
        return mistake(
            "`shared_tokens` is for synthetic prompts".to_owned(),
            "leave out the prompts, or shared_tokens",
        );
    }
    for name in ["rate", "ramp_from", "shape"] {
        let is_possible = checked.optional_number(name).is_none_or(|number| {
            number.is_finite() && (number > 0.0 || (name == "ramp_from" && number == 0.0))
        });
        if !is_possible {
            return mistake(format!("`{name}` must be above 0"), "rates are requests per second");
        }
    }
    Ok(())
}

/// A value that is a secret by its name must not be written down.
pub(super) fn check_headers(headers: &Map<String, Value>) -> Result<(), Mistake> {
    const SECRET: [&str; 7] = ["auth", "key", "token", "secret", "cookie", "password", "credential"];
    let is_secret = |name: &str| SECRET.iter().any(|word| name.to_ascii_lowercase().contains(word));
    let is_literal = |value: &Value| !value.as_str().is_some_and(|text| text.starts_with('$'));
    match headers.iter().find(|(name, value)| is_secret(name) && is_literal(value)) {
        None => Ok(()),
        Some((name, _)) => Err(Mistake::new(
            format!("the header `{name}` looks like a secret, which a record would keep"),
            format!("put it into an environment variable: {name}=$VARIABLE, or use token_env"),
        )),
    }
}

/// A command that holds the token itself, which the record would keep with the command.
pub(super) fn check_token_command(command: &str) -> Result<(), Mistake> {
    /// How tokens of well-known services begin.
    const TOKENS: [&str; 10] =
        ["sk-", "sk_", "hf_", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "eyJ", "nvapi-"];
    let is_boundary = |letter: char| letter.is_whitespace() || "'\"=:;".contains(letter);
    let has_token = command
        .split(is_boundary)
        .any(|word| word.len() >= 16 && TOKENS.iter().any(|start| word.starts_with(start)));
    let mut words = command.split_whitespace();
    let prints = matches!(words.next(), Some("echo" | "printf"));
    if has_token || (prints && !command.contains(['$', '`', '<'])) {
        return Err(Mistake::new(
            "`token_command` contains the token itself, which a record would keep".to_owned(),
            "put the token into an environment variable and name it with `token_env`, or print it from a file",
        ));
    }
    Ok(())
}

/// A field that is a secret by its name and holds a text, unlike `max_tokens`.
pub(super) fn check_fields(fields: &Map<String, Value>) -> Result<(), Mistake> {
    match fields.iter().find(|(name, value)| value.is_string() && is_secret_name(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Mistake::new(
            format!("the field `{name}` looks like a secret, which a record would keep"),
            "send secrets with `token_env`, or as a header with $VARIABLE",
        )),
    }
}

/// Settings that would change what a trace says.
pub(super) fn check_trace(checked: &CheckedSettings, trace: &Trace) -> Result<(), Mistake> {
    let is_given = |name: &str| checked.get(name).is_some();
    let lengths = [
        ("prompts", trace.has_prompt_lengths(), "prompt lengths"),
        ("prompt", trace.has_prompt_lengths(), "prompt lengths"),
        ("prompt_tokens", trace.has_prompt_lengths(), "prompt lengths"),
        ("shared_tokens", trace.has_prompt_lengths(), "prompt lengths"),
        ("output_tokens", trace.has_output_lengths(), "output lengths"),
    ];
    match lengths.into_iter().find(|(name, has, _)| *has && is_given(name)) {
        None => Ok(()),
        Some((name, _, what)) => Err(Mistake::new(
            format!("the trace has {what}, and `{name}` says otherwise"),
            format!("leave out {name}, or remove that column from the trace"),
        )),
    }
}
