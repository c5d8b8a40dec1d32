//! Requests as the calibration endpoint reads them: HTTP/1.1 by hand, since requests are few and small and every
//! microsecond of this thread belongs to the streams.

use serde::Deserialize;
use serde_json::Value;

/// The longest head and the longest body that are taken.
const MOST_HEAD: usize = 64 * 1024;
const MOST_BODY: usize = 64 * 1024 * 1024;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum RequestKind {
    Chat,
    Completion,
    Embedding,
    Models,
    Metrics,
    Health,
    Unknown,
}

/// One request.
#[derive(Debug, PartialEq)]
pub(super) struct ParsedRequest {
    pub kind: RequestKind,
    pub bearer: Option<String>,
    /// The number that the client gave the request: at the end of its `X-Request-Id`, or after the last `#` of what it
    /// says.
    pub client: Option<u64>,
    /// Whether the connection is to be closed after the answer.
    pub close: bool,
    pub body: Option<Body>,
}

/// What is used of the body.
#[derive(Debug, PartialEq)]
pub(super) struct Body {
    pub model: String,
    pub stream: bool,
    pub usage: bool,
    pub tokens: Option<u32>,
    pub prompt_tokens: u64,
    /// How many texts are to be embedded.
    pub inputs: usize,
    /// The number after the last `#` of what is said.
    number: Option<u64>,
}

/// What the bytes of a connection are.
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    /// More bytes are needed. The client may be waiting to be asked to go on.
    Partial { wants_continue: bool },
    /// A request and how many bytes it took.
    Whole(Box<ParsedRequest>, usize),
    /// Nothing that can be answered in any other way than with this status.
    Bad(u16, &'static str),
}

#[derive(Deserialize)]
struct RawBody {
    #[serde(default)]
    model: String,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    messages: Vec<Message>,
    #[serde(default)]
    prompt: Value,
    #[serde(default)]
    input: Value,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
}

/// The headers that matter.
#[derive(Default)]
struct Headers {
    length: usize,
    chunked: bool,
    wants_continue: bool,
    close: bool,
    bearer: Option<String>,
    client: Option<u64>,
}

/// How many bytes a whole request took, for fuzzing.
pub(crate) fn used(bytes: &[u8]) -> Option<usize> {
    match parse(bytes) {
        Parsed::Whole(_, used) => Some(used),
        Parsed::Partial { .. } | Parsed::Bad(..) => None,
    }
}

/// Reads what is at the beginning of `bytes`.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let Some(head) = memchr::memmem::find(bytes, b"\r\n\r\n") else {
        if bytes.len() > MOST_HEAD {
            return Parsed::Bad(413, "the head of the request is too long");
        }
        return Parsed::Partial { wants_continue: false };
    };
    let Ok(text) = std::str::from_utf8(&bytes[..head]) else {
        return Parsed::Bad(400, "the head of the request is not text");
    };
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path), Some(version)) = (words.next(), words.next(), words.next()) else {
        return Parsed::Bad(400, "the first line is not that of a request");
    };
    let headers = match headers(lines, version) {
        Ok(headers) => headers,
        Err(problem) => return Parsed::Bad(400, problem),
    };
    if headers.chunked {
        return Parsed::Bad(411, "a request needs a length here");
    }
    if headers.length > MOST_BODY {
        return Parsed::Bad(413, "the body of the request is too long");
    }
    let end = head + 4 + headers.length;
    let Some(body) = bytes.get(head + 4..end) else {
        return Parsed::Partial { wants_continue: headers.wants_continue };
    };
    let kind = kind(method, path);
    let body = match (kind, read_body(body)) {
        (RequestKind::Chat | RequestKind::Completion | RequestKind::Embedding, None) => {
            return Parsed::Bad(400, "the body is not the JSON of such a request");
        }
        (RequestKind::Chat | RequestKind::Completion | RequestKind::Embedding, body) => body,
        _ => None,
    };
    let Headers { bearer, client, close, .. } = headers;
    let client = client.or_else(|| body.as_ref()?.number);
    Parsed::Whole(Box::new(ParsedRequest { kind, bearer, client, close, body }), end)
}

fn headers<'a>(lines: impl Iterator<Item = &'a str>, version: &str) -> Result<Headers, &'static str> {
    let mut headers = Headers { close: version == "HTTP/1.0", ..Headers::default() };
    for line in lines {
        let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
        let value = value.trim();
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
        if is("content-length") {
            headers.length = value.parse().map_err(|_| "a length that is not a number")?;
        } else if is("transfer-encoding") {
            headers.chunked = true;
        } else if is("connection") {
            headers.close = value.eq_ignore_ascii_case("close");
        } else if is("expect") {
            headers.wants_continue = value.eq_ignore_ascii_case("100-continue");
        } else if is("authorization") {
            headers.bearer = value.split_once(' ').map(|(_, token)| token.trim().to_owned());
        } else if is("x-request-id") {
            let digits = value.trim_start_matches(|character: char| !character.is_ascii_digit());
            headers.client = digits.parse().ok();
        }
    }
    Ok(headers)
}

/// What is asked for, whatever path the base has.
fn kind(method: &str, path: &str) -> RequestKind {
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    let ends = |end: &str| path.ends_with(end);
    match method {
        "POST" if ends("/chat/completions") => RequestKind::Chat,
        "POST" if ends("/completions") => RequestKind::Completion,
        "POST" if ends("/embeddings") => RequestKind::Embedding,
        "GET" if ends("/models") => RequestKind::Models,
        "GET" if ends("/metrics") => RequestKind::Metrics,
        "GET" if ends("/health") => RequestKind::Health,
        _ => RequestKind::Unknown,
    }
}

fn read_body(bytes: &[u8]) -> Option<Body> {
    let raw: RawBody = serde_json::from_slice(bytes).ok()?;
    let last = raw.messages.last().map_or(&raw.prompt, |message| &message.content);
    let number = last.as_str().and_then(|text| text.rsplit_once('#')?.1.parse().ok());
    let messages: u64 = raw.messages.iter().map(|message| words(&message.content)).sum();
    Some(Body {
        model: raw.model,
        stream: raw.stream.unwrap_or(false),
        usage: raw.stream_options.is_some_and(|options| options.include_usage),
        tokens: raw.max_completion_tokens.or(raw.max_tokens),
        prompt_tokens: messages + words(&raw.prompt) + words(&raw.input),
        inputs: match &raw.input {
            Value::Array(inputs) if inputs.iter().any(Value::is_string) => inputs.len(),
            _ => 1,
        },
        number,
    })
}

/// Tokens of a prompt: words of texts, wherever they stand, and numbers, which are tokens already.
fn words(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.split_ascii_whitespace().count() as u64,
        Value::Number(_) => 1,
        Value::Array(values) => values.iter().map(words).sum(),
        Value::Object(part) => part.get("text").map_or(0, words),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
        format!("POST {path} HTTP/1.1\r\nHost: h\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
            .into_bytes()
    }

    fn whole(bytes: &[u8]) -> (ParsedRequest, usize) {
        match parse(bytes) {
            Parsed::Whole(request, used) => (*request, used),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_is_whole_only_with_its_last_byte() {
        let bytes = post("/deep/base/v1/chat/completions", "", "{\"model\":\"m\",\"stream\":true}");
        for end in 0..bytes.len() {
            assert!(matches!(parse(&bytes[..end]), Parsed::Partial { .. }), "{end}");
        }
        let two = [bytes.as_slice(), b"POST"].concat();
        let (request, used) = whole(&two);
        assert_eq!((request.kind, used), (RequestKind::Chat, bytes.len()));
        assert!(request.body.unwrap().stream);
    }

    #[test]
    fn what_matters_is_read() {
        let headers = "Authorization: Bearer s3cret\r\nX-Request-Id: assay-17\r\nConnection: close\r\n";
        let body = "{\"messages\":[{\"role\":\"user\",\"content\":\"a b c\"},{\"content\":[{\"type\":\"text\",\
            \"text\":\"d e\"}]}],\"max_tokens\":9,\"stream_options\":{\"include_usage\":true}}";
        let (request, _) = whole(&post("/v1/chat/completions?x=1", headers, body));
        assert_eq!(request.bearer.as_deref(), Some("s3cret"));
        assert_eq!((request.client, request.close), (Some(17), true));
        let body = request.body.unwrap();
        assert_eq!((body.prompt_tokens, body.tokens, body.usage, body.stream), (5, Some(9), true, false));
        let said = "{\"messages\":[{\"content\":\"calibration #4711\"}]}";
        assert_eq!(whole(&post("/v1/chat/completions", "", said)).0.client, Some(4711));
    }

    #[test]
    fn what_cannot_be_answered_gets_its_status() {
        assert!(matches!(parse(b"nonsense\r\n\r\n"), Parsed::Bad(400, _)));
        assert!(matches!(parse(&post("/v1/completions", "", "{")), Parsed::Bad(400, _)));
        assert!(matches!(
            parse(&post("/v1/completions", "Transfer-Encoding: chunked\r\n", "")),
            Parsed::Bad(411, _)
        ));
        assert_eq!(whole(b"GET /nowhere HTTP/1.1\r\n\r\n").0.kind, RequestKind::Unknown);
        let waiting = b"POST /v1/completions HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(parse(waiting), Parsed::Partial { wants_continue: true });
    }
}
