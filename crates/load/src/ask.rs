//! One question to an endpoint, answered whole. Nothing is measured by it; size and time have bounds.

use std::io;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fault::{Fault, FaultKind};
use crate::metrics::fetch::{FetchLimits, exchange, joined};
use crate::request::{Endpoint, EndpointError, Question, Target};
use crate::token::redact;

/// What an answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// From the connection to the last byte.
    pub deadline: Duration,
    /// Head and body together.
    pub most_bytes: usize,
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswer {
    pub text: String,
    /// Whether the model stopped because it reached its limit of tokens.
    pub is_cut: bool,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The endpoint cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// It did not answer as it should.
    #[error("{0}")]
    Fault(Fault),
}

impl AskError {
    /// What to do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            AskError::Endpoint(_) => None,
            AskError::Fault(fault) => Some(fault.kind.hint()),
        }
    }
}

/// Asks an endpoint one question.
pub fn ask(endpoint: &Endpoint, question: &Question, bounds: &AnswerLimits) -> Result<ModelAnswer, AskError> {
    let target = Target::new(&Endpoint { stream: false, ..endpoint.clone() })?;
    answered(&target, question, bounds).map_err(|mut fault| {
        // Some servers quote the token that they refuse.
        if let Some(token) = &target.token {
            token.redact(&mut fault.message);
        }
        endpoint.secrets.iter().for_each(|secret| redact(&mut fault.message, secret));
        AskError::Fault(fault)
    })
}

fn answered(target: &Target, question: &Question, bounds: &AnswerLimits) -> Result<ModelAnswer, Fault> {
    let address = target.address()?;
    let limits = FetchLimits { deadline: Instant::now() + bounds.deadline, most_bytes: bounds.most_bytes };
    let request = request(target, question);
    let bytes = exchange(&address, target.trust.as_ref(), &request, &limits).map_err(|error| {
        let late = matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock);
        let fault = if late {
            let seconds = bounds.deadline.as_secs_f64();
            Fault::new(FaultKind::Timeout, format!("not complete after {seconds} s"))
        } else {
            Fault::of_connecting(&error)
        };
        target.diagnosed(fault)
    })?;
    if bytes.len() >= bounds.most_bytes {
        let text = format!("more than {} bytes", bounds.most_bytes);
        return Err(Fault::new(FaultKind::TooLarge, text));
    }
    if bytes.is_empty() {
        return Err(target.diagnosed(Fault::new(FaultKind::Closed, String::new())));
    }
    read(&bytes)
}

/// The request as bytes; the connection ends with the answer.
fn request(target: &Target, question: &Question) -> Vec<u8> {
    let head = target.head("assay-ask");
    let body = target.body(question);
    let mut bytes = format!("POST {} HTTP/1.1\r\n", head.uri()).into_bytes();
    for (name, value) in head.headers() {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
        .extend_from_slice(format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

/// Reads an answer: its status, and what the model said.
fn read(bytes: &[u8]) -> Result<ModelAnswer, Fault> {
    let malformed = |why: &str| Fault::new(FaultKind::Malformed, why.to_owned());
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(|| malformed("no HTTP"))?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status: u16 = head
        .strip_prefix("http/1.")
        .and_then(|head| head.split_whitespace().nth(1)?.parse().ok())
        .ok_or_else(|| malformed("no HTTP"))?;
    let body = &bytes[end + 4..];
    let body = if head.contains("transfer-encoding: chunked") {
        joined(body).ok_or_else(|| Fault::new(FaultKind::Cut, "the answer breaks off".to_owned()))?
    } else {
        body.to_vec()
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    if length.is_some_and(|length: usize| body.len() < length) {
        return Err(Fault::new(FaultKind::Cut, "the answer breaks off".to_owned()));
    }
    let value = serde_json::from_slice::<Value>(&body);
    if let Some(kind) = FaultKind::of_status(status) {
        let said = value.ok().and_then(|value| {
            let error = value.get("error")?;
            error.get("message").unwrap_or(error).as_str().map(str::to_owned)
        });
        let said: String = said.unwrap_or_default().chars().take(200).collect();
        return Err(Fault::new(kind, format!("status {status} {said}").trim_end().to_owned()));
    }
    let value = value.map_err(|error| malformed(&error.to_string()))?;
    let choice = value.pointer("/choices/0").ok_or_else(|| malformed("no choices"))?;
    let text = choice.pointer("/message/content").and_then(Value::as_str).unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Fault::new(FaultKind::Empty, String::new()));
    }
    let is_cut = choice.get("finish_reason").and_then(Value::as_str) == Some("length");
    Ok(ModelAnswer { text: text.to_owned(), is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Close, Failure, MockSchedule, Server, When};
    use crate::request::Content;
    use crate::token::TokenSource;

    const BOUNDS: AnswerLimits = AnswerLimits { deadline: Duration::from_secs(5), most_bytes: 1 << 20 };

    fn asked(
        schedule: MockSchedule,
        bounds: &AnswerLimits,
        token: Option<&str>,
    ) -> Result<ModelAnswer, AskError> {
        let server = Server::bind("127.0.0.1:0", schedule).unwrap();
        let mut endpoint = Endpoint::new(server.url(), "m");
        endpoint.token = token.map(|token| TokenSource::Command(format!("echo {token}")));
        let running = server.start().unwrap();
        let question = Question { content: Content::Text("hi".to_owned()), output_tokens: Some(400) };
        let answer = ask(&endpoint, &question, bounds);
        drop(running);
        answer
    }

    fn failing(kind: crate::calibration::FailureKind) -> FaultKind {
        let failures = vec![Failure { when: When::Every(1), kind }];
        let schedule = MockSchedule { failures, ..MockSchedule::instant() };
        let bounds = AnswerLimits { deadline: Duration::from_millis(300), ..BOUNDS };
        match asked(schedule, &bounds, None) {
            Err(AskError::Fault(fault)) => fault.kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_text_is_answered() {
        let text = Some("{\"claims\": [1]}".to_owned());
        for close in [Close::Never, Close::Announced] {
            let schedule = MockSchedule { text: text.clone(), close, ..MockSchedule::instant() };
            let answer = asked(schedule, &BOUNDS, None).unwrap();
            assert_eq!((answer.text.trim(), answer.is_cut), ("{\"claims\": [1]}", false));
        }
    }

    #[test]
    fn what_goes_wrong_has_its_kind() {
        use crate::calibration::FailureKind as Planned;
        assert_eq!(failing(Planned::Status { status: 500, retry_after: None }), FaultKind::Server);
        assert_eq!(failing(Planned::Silence), FaultKind::Timeout);
        assert_eq!(failing(Planned::Cut { after: 2 }), FaultKind::Cut);
        assert!(matches!(failing(Planned::Stall { after: 2 }), FaultKind::Timeout | FaultKind::Cut));
        assert_eq!(failing(Planned::Malformed { after: 2 }), FaultKind::Malformed);
    }

    #[test]
    fn answers_beyond_their_size_are_refused() {
        let schedule = MockSchedule { text: Some("word ".repeat(20_000)), ..MockSchedule::instant() };
        let bounds = AnswerLimits { most_bytes: 10_000, ..BOUNDS };
        let question = Question { content: Content::Text("hi".to_owned()), output_tokens: None };
        let server = Server::bind("127.0.0.1:0", schedule).unwrap();
        let endpoint = Endpoint::new(server.url(), "m");
        let running = server.start().unwrap();
        let error = ask(&endpoint, &question, &bounds).unwrap_err();
        drop(running);
        assert!(error.to_string().contains("10000 bytes"), "{error}");
    }

    #[test]
    fn a_refused_token_is_not_shown() {
        let schedule = MockSchedule { bearers: vec!["right".to_owned()], ..MockSchedule::instant() };
        let error = asked(schedule.clone(), &BOUNDS, Some("sk-canary-77")).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
        assert!(asked(MockSchedule { text: Some("ok".into()), ..schedule }, &BOUNDS, Some("right")).is_ok());
    }
}
