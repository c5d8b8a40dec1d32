//! What an answer says, found out after its bytes have come: chunks with their kinds and times, the first token, usage,
//! the server's own times, and whether the answer is complete.

mod body;
mod template;

use std::borrow::Cow;

use crate::clock::seconds;
use crate::fault::{Fault, FaultKind};
use crate::record::{Chunk, ChunkKind, Exchange, ServerTimes, Usage};
use crate::sse::Event;
use body::{Body, Choice};
use template::Template;

/// How much of a strange answer is shown in a fault.
const SHOWN_BYTES: usize = 200;

/// What is known of an answer so far.
#[derive(Debug, Default)]
pub(crate) struct PartialAnswer {
    chunks: Vec<Chunk>,
    first_token_at_s: Option<f64>,
    first_output_at_s: Option<f64>,
    last_token_at_s: Option<f64>,
    usage: Option<Usage>,
    server: Option<ServerTimes>,
    finish: Option<String>,
    is_done: bool,
    /// Whether it brought embeddings.
    has_data: bool,
    fault: Option<Fault>,
    /// Events that came, `[DONE]` included.
    events: u32,
    merged: u32,
    last_at_ns: Option<(i64, bool)>,
    /// The text, if somebody wants it.
    text: Option<Texts>,
    /// What events look like that bring only text.
    template: Option<Template>,
}

/// The text of an answer.
#[derive(Debug, Default)]
struct Texts {
    content: String,
    reasoning: String,
}

impl Texts {
    fn push(&mut self, kind: ChunkKind, text: &str) {
        match kind {
            ChunkKind::Reasoning => self.reasoning.push_str(text),
            _ => self.content.push_str(text),
        }
    }
}

impl PartialAnswer {
    /// An answer of which nothing has come. `keep` keeps its text.
    pub(crate) fn new(keep: bool) -> PartialAnswer {
        PartialAnswer { text: keep.then(Texts::default), ..PartialAnswer::default() }
    }

    /// Events that came.
    pub(crate) fn events(&self) -> u32 {
        self.events
    }

    /// All text that came: the reasoning, then the answer.
    pub(crate) fn text(&self) -> Option<String> {
        self.text.as_ref().map(|texts| format!("{}{}", texts.reasoning, texts.content))
    }

    /// Takes one event of a stream that was complete at this time.
    pub(crate) fn event(&mut self, event: &Event<'_>, at_ns: i64) {
        self.events += 1;
        if event.data.as_ref() == b"[DONE]" {
            self.is_done = true;
            return self.chunk(ChunkKind::Other, at_ns, 0, None);
        }
        if let Some((kind, text)) = self.template.as_ref().and_then(|template| template.text(&event.data)) {
            if let Some(texts) = &mut self.text {
                texts.push(kind, text);
            }
            self.token(kind, at_ns);
            return self.chunk(kind, at_ns, text.len(), None);
        }
        let mut text = Cow::Borrowed("");
        let body: Body<'_> = match parsed(&event.data, &mut text) {
            Ok(body) => body,
            Err(error) => {
                self.chunk(ChunkKind::Other, at_ns, 0, None);
                let shown = shortened(&utf8(&event.data));
                let (kind, message) = match event.is_error {
                    true => (FaultKind::ErrorEvent, shown),
                    false => (FaultKind::Malformed, format!("an event is not valid JSON ({error}): {shown}")),
                };
                return self.fail(Fault::new(kind, message));
            }
        };
        let before = self.usage.and_then(|usage| usage.output);
        self.common(&body);
        if event.is_error && self.fault.is_none() {
            self.fail(Fault::new(FaultKind::ErrorEvent, shortened(&utf8(&event.data))));
        }
        let (kind, bytes) = self.delta(&body, at_ns);
        if let Some(text) = body.only_text() {
            self.template = Template::of(&event.data, text, kind);
        }
        // A server that reports its count with every chunk says how many tokens the chunk has.
        let counted =
            body.usage.as_ref().filter(|_| kind.is_token()).and_then(|usage| usage.completion_tokens);
        let tokens = counted.map(|now| now.saturating_sub(before.unwrap_or(0)));
        self.chunk(kind, at_ns, bytes, tokens.and_then(|tokens| u32::try_from(tokens).ok()));
    }

    /// Takes a whole answer that was not a stream.
    pub(crate) fn whole(&mut self, bytes: &[u8], at_ns: i64) {
        let text = utf8(bytes);
        let body: Body<'_> = match serde_json::from_str(&text) {
            Ok(body) => body,
            Err(error) => {
                let message = format!("the response is not valid JSON ({error}): {}", shortened(&text));
                return self.fail(Fault::new(FaultKind::Malformed, message));
            }
        };
        self.common(&body);
        if body.choices.is_empty() && !body.has_data() && self.fault.is_none() {
            let message = format!("the answer has neither choices nor data: {}", shortened(&text));
            return self.fail(Fault::new(FaultKind::Malformed, message));
        }
        self.has_data = body.has_data();
        let mut size = 0;
        for choice in &body.choices {
            size += self.keep(choice);
        }
        self.is_done = true;
        self.chunks.push(Chunk {
            at_s: seconds(at_ns),
            events: 1,
            tokens: None,
            kind: if size > 0 { ChunkKind::Content } else { ChunkKind::Other },
            bytes: count(size),
        });
    }

    /// Takes the body of an answer whose status is not success, for what it says about the reason.
    pub(crate) fn refused(&mut self, kind: FaultKind, status: u16, bytes: &[u8], retry_after_s: Option<f64>) {
        let text = utf8(bytes);
        let stated = serde_json::from_str::<Body<'_>>(&text).ok().and_then(|body| body.complaint());
        let message = shortened(&stated.unwrap_or_else(|| text.into_owned()));
        let message = if message.is_empty() {
            format!("status {status}")
        } else {
            format!("status {status}: {message}")
        };
        self.fail(Fault { kind, message, retry_after_s });
    }

    /// Notes a fault; the first one counts.
    pub(crate) fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Whether the answer said that it is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    /// Whether it brought anything: text, a tool call, embeddings, or tokens that the server counts and hides.
    pub(crate) fn has_content(&self) -> bool {
        let counted = self.usage.and_then(|usage| usage.output);
        self.has_data
            || self.chunks.iter().any(|chunk| chunk.kind.is_token())
            || counted.is_some_and(|count| count > 1)
    }

    /// Puts what is known into the record of the request.
    pub(crate) fn finish(mut self, exchange: &mut Exchange, keep: bool) {
        self.chunks.shrink_to_fit();
        exchange.chunks = self.chunks;
        exchange.first_token_at_s = self.first_token_at_s;
        exchange.first_output_at_s = self.first_output_at_s;
        exchange.last_token_at_s = self.last_token_at_s;
        exchange.usage = self.usage;
        exchange.server = self.server;
        exchange.finish = self.finish;
        exchange.fault = self.fault;
        exchange.merged_stamps = self.merged;
        exchange.answer = self.text.filter(|_| keep).map(|texts| texts.content);
    }

    /// What events and whole answers have in common.
    fn common(&mut self, body: &Body<'_>) {
        if let Some(usage) = body.tokens() {
            self.usage = Some(usage);
        }
        if let Some(server) = body.times() {
            self.server = Some(server);
        }
        if let Some(reason) = body.choices.iter().rev().find_map(|choice| choice.finish_reason.as_ref()) {
            self.finish = Some(reason.to_string());
        }
        if let Some(message) = body.complaint() {
            self.fail(Fault::new(FaultKind::ErrorEvent, shortened(&message)));
        }
    }

    /// What an event brings, and how much of it; the times of the first tokens are noted on the way.
    fn delta(&mut self, body: &Body<'_>, at_ns: i64) -> (ChunkKind, usize) {
        let (mut kind, mut bytes) = (ChunkKind::Other, 0);
        for choice in &body.choices {
            bytes += self.keep(choice);
            kind = stronger(kind, choice.kind());
        }
        if body.choices.is_empty() && body.usage.is_some() {
            kind = ChunkKind::Usage;
        }
        if kind.is_token() {
            self.token(kind, at_ns);
        }
        (kind, bytes)
    }

    /// Notes the time of a token.
    fn token(&mut self, kind: ChunkKind, at_ns: i64) {
        let at_s = seconds(at_ns);
        self.first_token_at_s.get_or_insert(at_s);
        self.last_token_at_s = Some(at_s);
        if kind != ChunkKind::Reasoning {
            self.first_output_at_s.get_or_insert(at_s);
        }
    }

    /// Keeps the text of a choice if it is wanted, and gives its length.
    fn keep(&mut self, choice: &Choice<'_>) -> usize {
        let (content, reasoning) = (choice.content(), choice.reasoning());
        if let Some(texts) = &mut self.text {
            texts.content.push_str(content);
            texts.reasoning.push_str(reasoning);
        }
        content.len() + reasoning.len() + choice.tool_bytes()
    }

    /// Adds to the chunks: events of one kind that arrived together are one chunk.
    fn chunk(&mut self, kind: ChunkKind, at_ns: i64, bytes: usize, tokens: Option<u32>) {
        if self.last_at_ns == Some((at_ns, true)) && kind.is_token() {
            self.merged += 1;
        }
        self.last_at_ns = Some((at_ns, kind.is_token()));
        let at_s = seconds(at_ns);
        match self.chunks.last_mut() {
            Some(last) if last.at_s == at_s && last.kind == kind => {
                last.events += 1;
                last.bytes = last.bytes.saturating_add(count(bytes));
                last.tokens = last.tokens.zip(tokens).map(|(before, more)| before + more);
            }
            _ => self.chunks.push(Chunk { at_s, events: 1, tokens, kind, bytes: count(bytes) }),
        }
    }
}

/// Of two kinds in one event, the one that says more about it.
fn stronger(first: ChunkKind, second: ChunkKind) -> ChunkKind {
    let rank = |kind| match kind {
        ChunkKind::Content => 5,
        ChunkKind::ToolCall => 4,
        ChunkKind::Reasoning => 3,
        ChunkKind::Role => 2,
        ChunkKind::Usage => 1,
        ChunkKind::Other => 0,
    };
    if rank(second) > rank(first) { second } else { first }
}

fn count(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The JSON of an event. Only where a character is broken is a repaired copy needed, which is kept in `repaired`.
fn parsed<'a>(bytes: &'a [u8], repaired: &'a mut Cow<'a, str>) -> Result<Body<'a>, serde_json::Error> {
    match serde_json::from_slice(bytes) {
        Err(_) if std::str::from_utf8(bytes).is_err() => {
            *repaired = utf8(bytes);
            serde_json::from_str(repaired)
        }
        other => other,
    }
}

/// The text of bytes; a broken character becomes a mark; all around it stays.
fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= SHOWN_BYTES {
        return line;
    }
    let end = (0..=SHOWN_BYTES).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &line[..end])
}

#[cfg(test)]
mod tests;
