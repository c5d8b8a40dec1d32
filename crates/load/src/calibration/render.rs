//! Bytes of answers. What every stream sends is made once and shared; only tails, which hold counts, are made per
//! request.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::plan::AnswerPart;
use super::request::RequestKind;
use super::schedule::{Close, MockSchedule};

/// How many different chunks of a part are made; a stream goes round them.
const DISTINCT: u32 = 64;

/// The words that answers are made of. Some have characters of several bytes.
const WORDS: [&str; 16] = [
    " gold", " ore", " für", " scale", " weighs", " naïve", " cupel", " and", " 東京", " fire", " the",
    " señor", " lead", " 🙂", " melts", " away",
];

/// Bytes of an event within the body of an answer, and where it may be broken.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// The event as one chunk of HTTP.
    pub whole: Box<[u8]>,
    /// The event as two chunks of HTTP, broken inside a character.
    pub pieces: Option<[Box<[u8]>; 2]>,
}

/// Everything that streams of one model and kind share.
#[derive(Debug)]
pub(super) struct Frames {
    /// The head of the answer, with the role chunk where there is one.
    pub head: Box<[u8]>,
    /// How many events the head has.
    pub head_events: u32,
    pub ping: Box<[u8]>,
    pub malformed: Box<[u8]>,
    pub error_end: Box<[u8]>,
    reasoning: Vec<Frame>,
    content: Vec<Frame>,
    tool: Vec<Frame>,
    writer: Writer,
}

/// Writes events of one model and kind.
#[derive(Debug)]
struct Writer {
    model: String,
    kind: RequestKind,
    crlf: bool,
    split: bool,
    words: Vec<String>,
    tokens_per_chunk: u32,
}

/// Counts at the end of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub prompt: u64,
    pub output: u32,
    pub reasoning: u32,
    pub prompt_s: f64,
    pub output_s: f64,
}

/// The end of the body of an answer.
pub(super) const END: &[u8] = b"0\r\n\r\n";

impl Frames {
    /// All shared bytes of streams of `kind` by `model`.
    pub(super) fn new(schedule: &MockSchedule, kind: RequestKind, model: &str) -> Self {
        let writer = Writer {
            model: model.to_owned(),
            kind,
            crlf: schedule.crlf,
            split: schedule.split_events,
            words: words(schedule),
            tokens_per_chunk: schedule.tokens_per_chunk.max(1),
        };
        let distinct = match &schedule.text {
            Some(_) => (writer.words.len() as u32).div_ceil(writer.tokens_per_chunk).max(1),
            None => DISTINCT,
        };
        let part = |part, wanted: bool| {
            let count = if wanted { distinct } else { 0 };
            (0..count).map(|index| writer.chunk(part, index, writer.tokens_per_chunk)).collect()
        };
        let error =
            json!({"error": {"message": "the engine stopped", "type": "internal_error", "code": 500}});
        let mut head = head(
            200,
            "text/event-stream",
            &[("Transfer-Encoding", "chunked")],
            schedule.close == Close::Announced,
        );
        let role = schedule.role_chunk && kind == RequestKind::Chat;
        if role {
            head.extend(writer.event(&writer.choice(json!({"role": "assistant", "content": ""}), None)));
        }
        Self {
            head: head.into(),
            head_events: u32::from(role),
            ping: framed(if schedule.crlf { b": ping\r\n\r\n" } else { b": ping\n\n" }).into(),
            malformed: writer.line("{\"choices\":[{\"delta\":{\"content\":\"unfin").into(),
            error_end: [writer.event(&error).as_slice(), END].concat().into(),
            reasoning: part(AnswerPart::Reasoning, schedule.reasoning_tokens > 0),
            content: part(AnswerPart::Content, true),
            tool: part(AnswerPart::Tool, schedule.tool_tokens > 0),
            writer,
        }
    }

    /// The bytes of a chunk, by its place in its part; none where it is shorter than the shared ones.
    pub(super) fn chunk(&self, part: AnswerPart, index: u32, tokens: u32) -> Option<&Frame> {
        let frames = match part {
            AnswerPart::Reasoning => &self.reasoning,
            AnswerPart::Content => &self.content,
            AnswerPart::Tool => &self.tool,
        };
        if tokens != self.writer.tokens_per_chunk || frames.is_empty() {
            return None;
        }
        frames.get(index as usize % frames.len())
    }

    /// Makes the bytes of a chunk that is shorter than the shared ones.
    pub(super) fn short_chunk(&self, part: AnswerPart, index: u32, tokens: u32) -> Frame {
        self.writer.chunk(part, index, tokens)
    }

    /// Everything after the last token, and how many events that is.
    pub(super) fn tail(
        &self,
        reason: &str,
        counts: &Counts,
        usage: bool,
        timings: bool,
        out: &mut Vec<u8>,
    ) -> u32 {
        let writer = &self.writer;
        let delta = if writer.kind == RequestKind::Chat { json!({}) } else { json!("") };
        let mut finish = writer.choice(delta, Some(reason));
        if timings {
            finish["timings"] = counts.timings();
        }
        out.extend(writer.event(&finish));
        if usage {
            let mut value = writer.envelope();
            value["choices"] = json!([]);
            value["usage"] = counts.usage();
            out.extend(writer.event(&value));
        }
        out.extend(writer.line("[DONE]"));
        out.extend(END);
        2 + u32::from(usage)
    }

    /// The body of a whole answer.
    pub(super) fn whole(&self, reason: &str, counts: &Counts, usage: bool) -> Vec<u8> {
        let writer = &self.writer;
        let mut value = writer.envelope();
        let text =
            |from: u32, count: u32| (from..from + count).map(|word| writer.word(word)).collect::<String>();
        let content = text(0, counts.output - counts.reasoning);
        value["choices"] = match writer.kind {
            RequestKind::Chat => {
                let mut message = json!({"role": "assistant", "content": content.trim_start()});
                if counts.reasoning > 0 {
                    message["reasoning_content"] = json!(text(0, counts.reasoning).trim_start());
                }
                json!([{"index": 0, "message": message, "finish_reason": reason}])
            }
            _ => json!([{"index": 0, "text": content, "finish_reason": reason}]),
        };
        if usage {
            value["usage"] = counts.usage();
        }
        value.to_string().into_bytes()
    }
}

impl Counts {
    fn usage(&self) -> Value {
        let mut usage = json!({
            "prompt_tokens": self.prompt,
            "completion_tokens": self.output,
            "total_tokens": self.prompt + u64::from(self.output),
        });
        if self.reasoning > 0 {
            usage["completion_tokens_details"] = json!({"reasoning_tokens": self.reasoning});
        }
        usage
    }

    fn timings(&self) -> Value {
        json!({
            "prompt_n": self.prompt,
            "prompt_ms": self.prompt_s * 1e3,
            "predicted_n": self.output,
            "predicted_ms": self.output_s * 1e3,
            "predicted_per_second": if self.output_s > 0.0 { f64::from(self.output) / self.output_s } else { 0.0 },
        })
    }
}

impl Writer {
    fn word(&self, index: u32) -> &str {
        &self.words[index as usize % self.words.len()]
    }

    /// A chunk of tokens of a part.
    fn chunk(&self, part: AnswerPart, index: u32, tokens: u32) -> Frame {
        let first = index * self.tokens_per_chunk;
        let text: String = (first..first + tokens).map(|word| self.word(word)).collect();
        let delta = match (self.kind, part) {
            (RequestKind::Chat, AnswerPart::Reasoning) => json!({"reasoning_content": text}),
            (RequestKind::Chat, AnswerPart::Content) => json!({"content": text}),
            (RequestKind::Chat, AnswerPart::Tool) if index == 0 => {
                json!({"tool_calls": [{"index": 0, "id": "call_1",
                "type": "function", "function": {"name": "weigh", "arguments": text}}]})
            }
            (RequestKind::Chat, AnswerPart::Tool) => {
                json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})
            }
            _ => json!(text),
        };
        let event = self.bare(&self.choice(delta, None).to_string());
        let pieces = self.split.then(|| {
            let inside =
                event.iter().position(|byte| *byte >= 0x80).map_or(event.len() / 2, |first| first + 1);
            let (first, second) = event.split_at(inside);
            [framed(first).into(), framed(second).into()]
        });
        Frame { whole: framed(&event).into(), pieces }
    }

    /// What all events of a stream begin with.
    fn envelope(&self) -> Value {
        let (id, object) = match self.kind {
            RequestKind::Chat => ("chatcmpl-calibration", "chat.completion.chunk"),
            _ => ("cmpl-calibration", "text_completion"),
        };
        json!({"id": id, "object": object, "created": 1_767_225_600, "model": self.model})
    }

    /// An event with one choice: a delta of a chat, or a text.
    fn choice(&self, delta: Value, reason: Option<&str>) -> Value {
        let mut value = self.envelope();
        let key = if self.kind == RequestKind::Chat { "delta" } else { "text" };
        value["choices"] = json!([{"index": 0, key: delta, "finish_reason": reason}]);
        value
    }

    fn event(&self, value: &Value) -> Vec<u8> {
        self.line(&value.to_string())
    }

    /// An event as one chunk of HTTP.
    fn line(&self, data: &str) -> Vec<u8> {
        framed(&self.bare(data))
    }

    /// An event without the framing of HTTP.
    fn bare(&self, data: &str) -> Vec<u8> {
        let end = if self.crlf { "\r\n" } else { "\n" };
        format!("data: {data}{end}{end}").into_bytes()
    }
}

/// The words that answers are made of.
fn words(schedule: &MockSchedule) -> Vec<String> {
    let own: Vec<String> = match &schedule.text {
        Some(text) => text.split_whitespace().map(|word| format!(" {word}")).collect(),
        // Broken events need a character to be broken in.
        None if schedule.split_events => {
            WORDS.iter().filter(|word| !word.is_ascii()).map(|word| (*word).to_owned()).collect()
        }
        None => Vec::new(),
    };
    if own.is_empty() { WORDS.iter().map(|word| (*word).to_owned()).collect() } else { own }
}

/// How many tokens the text has that is answered, if one is set.
pub(super) fn text_tokens(schedule: &MockSchedule) -> Option<u32> {
    let text = schedule.text.as_ref()?;
    u32::try_from(text.split_whitespace().count()).ok().filter(|count| *count > 0)
}

/// Bytes as one chunk of HTTP.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend(bytes);
    out.extend(b"\r\n");
    out
}

/// The head of an answer.
pub(super) fn head(status: u16, content_type: &str, headers: &[(&str, &str)], close: bool) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\n", reason(status));
    for (name, value) in headers {
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if close {
        text.push_str("Connection: close\r\n");
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// A whole answer with its length.
pub(super) fn answer(
    status: u16,
    content_type: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    close: bool,
) -> Vec<u8> {
    let length = body.len().to_string();
    let mut all = headers.to_vec();
    all.push(("Content-Length", &length));
    let mut out = head(status, content_type, &all, close);
    out.extend(body);
    out
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_events_are_broken_inside_a_character() {
        let schedule = MockSchedule { split_events: true, ..MockSchedule::default() };
        let frames = Frames::new(&schedule, RequestKind::Chat, "m");
        for index in 0..DISTINCT {
            let frame = frames.chunk(AnswerPart::Content, index, 1).unwrap();
            let [first, second] = frame.pieces.as_ref().unwrap();
            let body = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').nth(1).map(<[u8]>::to_vec).unwrap();
            assert!(std::str::from_utf8(&body(first)).is_err(), "{:?}", String::from_utf8_lossy(first));
            assert!(std::str::from_utf8(second).is_err());
        }
    }

    #[test]
    fn a_text_is_answered_word_by_word() {
        let schedule = MockSchedule { text: Some("Denver  Broncos won".into()), ..MockSchedule::default() };
        assert_eq!(text_tokens(&schedule), Some(3));
        let frames = Frames::new(&schedule, RequestKind::Completion, "m");
        let seen = |index| {
            String::from_utf8(frames.chunk(AnswerPart::Content, index, 1).unwrap().whole.to_vec()).unwrap()
        };
        assert!(seen(0).contains("\"text\":\" Denver\""), "{}", seen(0));
        assert!(seen(2).contains("\"text\":\" won\""));
    }

    #[test]
    fn chunks_of_http_have_their_length() {
        assert_eq!(framed(b"0123456789abcdef"), b"10\r\n0123456789abcdef\r\n");
    }
}
