//! Endpoints, and requests to them as bytes.
//!
//! | file | holds |
//! |---|---|
//! | `request/place.rs` | where a URL leads |

mod place;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use serde_json::{Map, Value, json};

use crate::fault::{Fault, FaultKind};
use crate::record::Exchange;
use crate::tls::{TlsError, Trust, other_protocol};
use crate::token::{Token, TokenError, TokenSource, redact};
use place::EndpointAddress;

pub(crate) use place::Page;
pub use place::without_credentials;

/// What is asked of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `/chat/completions`
    Chat,
    /// `/completions`
    Completions,
    /// `/embeddings`
    Embeddings,
}

impl Api {
    /// The end of its path.
    pub fn path(self) -> &'static str {
        match self {
            Api::Chat => "/chat/completions",
            Api::Completions => "/completions",
            Api::Embeddings => "/embeddings",
        }
    }
}

/// An endpoint as a user describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The base URL, for example `https://host/v1`; without a path, `/v1` is meant. The full path of an interface may be
    /// given too.
    pub url: String,
    /// The name of the model.
    pub model: String,
    /// What is asked.
    pub api: Api,
    /// Whether answers are streamed.
    pub stream: bool,
    /// Whether the server is asked for its token counts at the end of a stream.
    pub ask_usage: bool,
    /// More headers.
    pub headers: Vec<(String, String)>,
    /// More fields of the body; they take the place of ours.
    pub fields: Map<String, Value>,
    /// Where the bearer token comes from.
    pub token: Option<TokenSource>,
    /// How old a token may become before a new one is got.
    pub token_lifetime: Option<Duration>,
    /// A file with certificates to trust beside the system's.
    pub authority: Option<PathBuf>,
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Values of headers that must not be kept or shown.
    pub secrets: Vec<String>,
}

impl Endpoint {
    /// Whether its URL can be used, as far as that is known without asking anybody.
    pub fn check(&self) -> Result<(), EndpointError> {
        EndpointAddress::of(self).map(|_| ())
    }

    /// Whether its URL can be used and its host has an address.
    pub fn find(&self) -> Result<(), EndpointError> {
        let place = EndpointAddress::of(self)?;
        let address = place.address();
        address.map(|_| ()).map_err(|reason| EndpointError::Dns { host: place.host.clone(), reason })
    }

    /// Whether everything that a request needs is there: a token, headers that can be sent, certificates that can be
    /// read. A token command is run for it.
    pub fn prepare(&self) -> Result<(), EndpointError> {
        Target::new(self).map(|_| ())
    }

    /// An endpoint that streams chat completions.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Endpoint {
        Endpoint {
            url: url.into(),
            model: model.into(),
            api: Api::Chat,
            stream: true,
            ask_usage: true,
            headers: Vec::new(),
            fields: Map::new(),
            token: None,
            token_lifetime: None,
            authority: None,
            insecure: false,
            secrets: Vec::new(),
        }
    }
}

/// Why an endpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The URL is none, or not one that can be used.
    #[error("invalid endpoint URL `{url}`: {reason}")]
    Url {
        /// The URL.
        url: String,
        /// Why not.
        reason: String,
    },
    /// The host has no address.
    #[error("the host `{host}` cannot be found: {reason}")]
    Dns {
        /// The host.
        host: String,
        /// Why not.
        reason: String,
    },
    /// A header that cannot be sent.
    #[error("the header `{0}` cannot be sent")]
    Header(String),
    /// No token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// No secure channel.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// What a request says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// One message of a user, or the text of a completion or embedding.
    Text(String),
    /// Messages of a chat: role and text.
    Messages(Vec<(String, String)>),
}

/// One thing to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What it says.
    pub content: Content,
    /// How many tokens the answer may have at most.
    pub output_tokens: Option<u32>,
}

/// An endpoint that is ready to be asked.
#[derive(Debug)]
pub(crate) struct Target {
    host: String,
    /// The address, or why there is none.
    address: Result<SocketAddr, String>,
    pub(crate) trust: Option<Trust>,
    pub(crate) token: Option<Token>,
    path: http::Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    endpoint: Endpoint,
    /// Whether the port speaks another protocol than the URL says, once somebody had to look.
    other_protocol: OnceLock<Option<Fault>>,
}

impl Target {
    /// Finds the address and the token, once and beforehand.
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Target, EndpointError> {
        let place = EndpointAddress::of(endpoint)?;
        let address = place.address();
        let trust = || Trust::new(&place.host, endpoint.authority.as_deref(), endpoint.insecure);
        let trust = place.is_secure.then(trust).transpose()?;
        let token = endpoint.token.clone();
        let token = token.map(|source| Token::new(source, endpoint.token_lifetime)).transpose()?;
        let headers = headers(endpoint, &place.authority)?;
        Ok(Target {
            host: place.host,
            address,
            trust,
            token,
            path: place.path,
            headers,
            endpoint: endpoint.clone(),
            other_protocol: OnceLock::new(),
        })
    }

    /// The address of the host, which may have none.
    pub(crate) fn address(&self) -> Result<SocketAddr, Fault> {
        self.address.clone().map_err(|reason| Fault::new(FaultKind::Dns, format!("{}: {reason}", self.host)))
    }

    /// What a fault of a connection that never brought an answer really means: a server that gets the wrong protocol
    /// closes, keeps silent or answers with what cannot be read. The port is tried once.
    pub(crate) fn diagnosed(&self, fault: Fault) -> Fault {
        let may_be_protocol = matches!(
            fault.kind,
            FaultKind::Closed | FaultKind::Malformed | FaultKind::Tls | FaultKind::NoAnswer
        );
        let Some(address) = self.address.as_ref().ok().filter(|_| may_be_protocol) else { return fault };
        let found = self.other_protocol.get_or_init(|| other_protocol(*address, self.trust.is_some()));
        found.clone().unwrap_or(fault)
    }

    /// Removes secrets from what the server wrote: some servers quote the token that they refuse.
    pub(crate) fn redact(&self, exchange: &mut Exchange) {
        let texts = [
            exchange.fault.as_mut().map(|fault| &mut fault.message),
            exchange.finish.as_mut(),
            exchange.answer.as_mut(),
        ];
        for text in texts.into_iter().flatten() {
            if let Some(token) = &self.token {
                token.redact(text);
            }
            self.endpoint.secrets.iter().for_each(|secret| redact(text, secret));
        }
    }

    /// Why the host cannot be found, if it cannot.
    pub(crate) fn unfound(&self) -> Option<EndpointError> {
        let reason = self.address.as_ref().err()?.clone();
        Some(EndpointError::Dns { host: self.host.clone(), reason })
    }

    /// The head of a request. It carries a name, so that the request can be found in the server's log.
    pub(crate) fn head(&self, name: &str) -> http::Request<()> {
        let mut request = http::Request::new(());
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.path.clone();
        let headers = request.headers_mut();
        if let Ok(name) = HeaderValue::from_str(name) {
            headers.insert("x-request-id", name);
        }
        if let Some(token) = &self.token {
            headers.insert(AUTHORIZATION, token.header());
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        request
    }

    /// The body of a request.
    pub(crate) fn body(&self, question: &Question) -> Bytes {
        let endpoint = &self.endpoint;
        let mut body = Map::new();
        body.insert("model".to_owned(), endpoint.model.clone().into());
        match endpoint.api {
            Api::Chat => body.insert("messages".to_owned(), messages(&question.content)),
            Api::Completions => body.insert("prompt".to_owned(), text(&question.content).into()),
            Api::Embeddings => body.insert("input".to_owned(), text(&question.content).into()),
        };
        if endpoint.api != Api::Embeddings {
            if let Some(count) = question.output_tokens {
                body.insert("max_tokens".to_owned(), count.into());
            }
            if endpoint.stream {
                body.insert("stream".to_owned(), true.into());
                if endpoint.ask_usage {
                    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
                }
            }
        }
        for (name, value) in &endpoint.fields {
            // A field can be taken out of the request by giving it no value.
            match value {
                Value::Null => body.shift_remove(name),
                value => body.insert(name.clone(), value.clone()),
            };
        }
        Value::Object(body).to_string().into()
    }
}

fn headers(endpoint: &Endpoint, authority: &str) -> Result<Vec<(HeaderName, HeaderValue)>, EndpointError> {
    let host = HeaderValue::from_str(authority).map_err(|_| EndpointError::Header("host".to_owned()))?;
    let accepted = if endpoint.stream { "text/event-stream" } else { "application/json" };
    let mut headers = vec![
        (HOST, host),
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (ACCEPT, HeaderValue::from_static(accepted)),
        (USER_AGENT, HeaderValue::from_static(concat!("assay/", env!("CARGO_PKG_VERSION")))),
    ];
    for (name, value) in &endpoint.headers {
        let unusable = || EndpointError::Header(name.clone());
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
        headers.push((header, HeaderValue::from_str(value).map_err(|_| unusable())?));
    }
    Ok(headers)
}

fn messages(content: &Content) -> Value {
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    match content {
        Content::Text(text) => json!([message("user", text)]),
        Content::Messages(all) => all.iter().map(|(role, text)| message(role, text)).collect(),
    }
}

/// Messages as one text, for interfaces that know no messages.
fn text(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Messages(all) => all.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_what_the_interface_wants() {
        let mut endpoint = Endpoint::new("http://127.0.0.1:1/v1", "m");
        endpoint.fields.insert("temperature".to_owned(), json!(0));
        endpoint.fields.insert("stream_options".to_owned(), Value::Null);
        endpoint.headers.push(("X-Team".to_owned(), "a".to_owned()));
        let question = Question { content: Content::Text("hi".to_owned()), output_tokens: Some(5) };
        let target = Target::new(&endpoint).unwrap();
        let chat = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"stream":true,"temperature":0}"#;
        assert_eq!(target.body(&question), chat);
        assert_eq!(target.head("assay-7").headers()["x-team"], "a");
        assert_eq!(target.head("assay-7").headers()["x-request-id"], "assay-7");
        let target = Target::new(&Endpoint { api: Api::Embeddings, ..endpoint }).unwrap();
        assert_eq!(target.body(&question), r#"{"model":"m","input":"hi","temperature":0}"#);
    }
}
