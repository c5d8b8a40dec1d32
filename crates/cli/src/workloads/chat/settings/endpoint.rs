//! Where a load goes: URL, model, headers and token.

use assay_load::metrics::models;
use assay_load::request::{Api, Endpoint, EndpointError};
use assay_load::token::TokenSource;
use serde_json::Value;

use super::ChatSettings;
use crate::failure::Mistake;

impl ChatSettings {
    /// The endpoint at a URL.
    pub fn endpoint(&self, url: &str) -> Result<Endpoint, Mistake> {
        let checked = &self.checked;
        let api = match checked.text("api") {
            "completions" => Api::Completions,
            "embeddings" => Api::Embeddings,
            _ => Api::Chat,
        };
        let token =
            checked.optional_text("token_command").map(|command| TokenSource::Command(command.to_owned()));
        let variable =
            || checked.optional_text("token_env").map(|name| TokenSource::Environment(name.to_owned()));
        let headers = self.headers.iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Ok((name.clone(), from_environment(&text, "a header", "value")?))
        });
        // What came from the environment may be a secret, so a server that quotes it must not make it known.
        let secrets = self.headers.values().filter_map(Value::as_str).filter(|text| text.starts_with('$'));
        let secrets = secrets.filter_map(|text| from_environment(text, "a header", "value").ok()).collect();
        Ok(Endpoint {
            secrets,
            insecure: checked.switch("insecure"),
            api,
            stream: !checked.switch("no_stream") && api != Api::Embeddings,
            headers: headers.collect::<Result<_, Mistake>>()?,
            fields: self.fields.clone(),
            token: token.or_else(variable),
            token_lifetime: checked.duration("token_lifetime"),
            authority: checked.optional_text("ca").map(Into::into),
            ..Endpoint::new(url, checked.optional_text("model").unwrap_or_default())
        })
    }

    /// The endpoint with the model that it lists, unless one is given or it lists none.
    pub fn with_model(&self, endpoint: Endpoint) -> Result<Endpoint, Mistake> {
        if !endpoint.model.is_empty() || self.mock.is_some() {
            return Ok(endpoint);
        }
        match models(&endpoint).unwrap_or_default().as_slice() {
            [] => Ok(endpoint),
            [only] => Ok(Endpoint { model: only.clone(), ..endpoint }),
            several => {
                let shown = several.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if several.len() > 8 { ", …" } else { "" };
                Err(Mistake::new(
                    format!("the endpoint serves {} models: {shown}{more}", several.len()),
                    "name one with --model",
                ))
            }
        }
    }
}

/// `$NAME` is the environment variable NAME.
pub(super) fn from_environment(text: &str, what: &str, example: &str) -> Result<String, Mistake> {
    let Some(name) = text.strip_prefix('$') else { return Ok(text.to_owned()) };
    std::env::var(name).ok().filter(|value| !value.is_empty()).ok_or_else(|| {
        Mistake::new(
            format!("the environment variable {name} for {what} is not set"),
            format!("set it, for example: export {name}={example}"),
        )
    })
}

/// An endpoint that cannot be used, with what to do about it.
pub fn endpoint_mistake(error: EndpointError) -> Mistake {
    let hint = match &error {
        EndpointError::Dns { .. } => assay_load::FaultKind::Dns.hint(),
        EndpointError::Token(_) => assay_load::FaultKind::Token.hint(),
        _ => "a base URL looks like https://host:8000/v1",
    };
    Mistake::new(error.to_string(), hint)
}
