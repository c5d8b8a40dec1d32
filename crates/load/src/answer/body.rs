//! The JSON of answers and of their events, as far as this program looks at it. Text is borrowed where it can be.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::record::{ChunkKind, ServerTimes, Usage};

/// An answer or an event of a stream.
#[derive(Deserialize)]
pub(super) struct Body<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    pub(super) choices: Vec<Choice<'a>>,
    #[serde(default)]
    pub(super) usage: Option<UsageBody>,
    #[serde(default)]
    timings: Option<Timings>,
    #[serde(borrow, default)]
    error: Option<Complaint<'a>>,
    /// What some servers call the reason when the status says that something is wrong.
    #[serde(borrow, default)]
    detail: Option<Complaint<'a>>,
    #[serde(borrow, default)]
    message: Option<Complaint<'a>>,
    /// Embeddings.
    #[serde(default)]
    data: Option<IgnoredAny>,
}

/// One of the choices.
#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default, alias = "message")]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    text: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<MessageText<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    role: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    content: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    refusal: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    reasoning: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<MessageText<'a>>,
    #[serde(borrow, default)]
    arguments: Option<MessageText<'a>>,
}

/// Counts of tokens, and times where a server reports them beside the counts.
#[derive(Deserialize)]
pub(super) struct UsageBody {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    pub(super) completion_tokens: Option<u64>,
    completion_tokens_details: Option<Details>,
    prompt_tokens_details: Option<Details>,
    #[serde(default, deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
    queue_time: Option<f64>,
    prompt_time: Option<f64>,
    completion_time: Option<f64>,
    #[serde(alias = "total_latency")]
    total_time: Option<f64>,
    time_to_first_token: Option<f64>,
    completion_tokens_per_sec: Option<f64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default, deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cached_tokens: Option<u64>,
}

/// What llama.cpp's server reports.
#[derive(Deserialize)]
struct Timings {
    #[serde(default, deserialize_with = "count")]
    prompt_n: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    cache_n: Option<u64>,
    prompt_ms: Option<f64>,
    #[serde(default, deserialize_with = "count")]
    predicted_n: Option<u64>,
    predicted_ms: Option<f64>,
    predicted_per_second: Option<f64>,
}

impl Body<'_> {
    /// Whether it brings embeddings.
    pub(super) fn has_data(&self) -> bool {
        self.data.is_some()
    }

    /// What the server complains of.
    pub(super) fn complaint(&self) -> Option<String> {
        // A message or detail beside choices is not a complaint.
        let other = || self.detail.as_ref().or(self.message.as_ref()).filter(|_| self.choices.is_empty());
        self.error.as_ref().or_else(other).map(|complaint| complaint.0.to_string())
    }

    /// The text of an event that brings text of one kind and nothing else worth noting, if it is borrowed from the event.
    pub(super) fn only_text(&self) -> Option<&str> {
        let [choice] = self.choices.as_slice() else { return None };
        let is_plain = self.usage.is_none() && self.timings.is_none() && self.error.is_none();
        if !is_plain || choice.finish_reason.is_some() || choice.tool_bytes() > 0 {
            return None;
        }
        match (choice.content(), choice.reasoning()) {
            ("", text) | (text, "") if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Tokens as the server counts them.
    pub(super) fn tokens(&self) -> Option<Usage> {
        if let Some(usage) = &self.usage {
            let output = usage.completion_tokens_details.as_ref();
            let reasoning = output.and_then(|details| details.reasoning_tokens).or(usage.reasoning_tokens);
            let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
            let (prompt, output) = (usage.prompt_tokens, usage.completion_tokens);
            return Some(Usage { prompt, output, reasoning, cached });
        }
        let timings = self.timings.as_ref().filter(|timings| timings.predicted_n.is_some())?;
        // The prompt that was read, without what came from the cache.
        let prompt = timings.prompt_n.map(|read| read + timings.cache_n.unwrap_or(0));
        Some(Usage { prompt, output: timings.predicted_n, reasoning: None, cached: timings.cache_n })
    }

    /// Times that the server reported.
    pub(super) fn times(&self) -> Option<ServerTimes> {
        let from_usage = self.usage.as_ref().map(|usage| ServerTimes {
            queue_s: usage.queue_time,
            ttft_s: usage.time_to_first_token,
            prompt_s: usage.prompt_time,
            output_s: usage.completion_time,
            total_s: usage.total_time,
            output_rate: usage.completion_tokens_per_sec,
        });
        let from_timings = self.timings.as_ref().map(|timings| ServerTimes {
            prompt_s: timings.prompt_ms.map(|time| time * 1e-3),
            output_s: timings.predicted_ms.map(|time| time * 1e-3),
            output_rate: timings.predicted_per_second,
            ..ServerTimes::default()
        });
        let is_reported = |times: &ServerTimes| *times != ServerTimes::default();
        from_timings.filter(is_reported).or(from_usage.filter(is_reported))
    }
}

impl Choice<'_> {
    /// Text of the answer.
    pub(super) fn content(&self) -> &str {
        let delta = self.delta.as_ref();
        let texts = [
            delta.and_then(|delta| delta.content.as_ref()),
            self.text.as_ref(),
            delta.and_then(|delta| delta.refusal.as_ref()),
        ];
        first(texts)
    }

    /// Text of the reasoning.
    pub(super) fn reasoning(&self) -> &str {
        let delta = self.delta.as_ref();
        first([
            delta.and_then(|delta| delta.reasoning_content.as_ref()),
            delta.and_then(|delta| delta.reasoning.as_ref()),
        ])
    }

    /// Bytes of tool calls.
    pub(super) fn tool_bytes(&self) -> usize {
        let calls = self.delta.as_ref().and_then(|delta| delta.tool_calls.as_ref());
        let functions = calls.into_iter().flatten().filter_map(|call| call.function.as_ref());
        let texts = functions.flat_map(|function| [&function.name, &function.arguments]);
        texts.flatten().map(|text| text.len()).sum()
    }

    /// What it brings.
    pub(super) fn kind(&self) -> ChunkKind {
        let role = self.delta.as_ref().and_then(|delta| delta.role.as_ref());
        match () {
            () if !self.content().is_empty() => ChunkKind::Content,
            () if self.tool_bytes() > 0 => ChunkKind::ToolCall,
            () if !self.reasoning().is_empty() => ChunkKind::Reasoning,
            () if role.is_some() && self.finish_reason.is_none() => ChunkKind::Role,
            () => ChunkKind::Other,
        }
    }
}

/// A number of tokens. One that no request can have is none: sums of them would be no numbers any more.
fn count<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::deserialize(from)?.filter(|count| *count <= u64::from(u32::MAX)))
}

/// The first text that is not empty.
fn first<'a, const COUNT: usize>(texts: [Option<&'a MessageText<'_>>; COUNT]) -> &'a str {
    texts.into_iter().flatten().map(|text| &**text).find(|text| !text.is_empty()).unwrap_or("")
}

/// `null` where a list is expected is an empty list.
fn or_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A string, borrowed unless it has escapes. Parts of a message (`[{"type": "text", "text": …}]`) are joined, and
/// anything else is taken for nothing: no strange value may affect the rest.
pub(super) struct MessageText<'a>(Cow<'a, str>);

impl Deref for MessageText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// An error as a server words it: a string, or an object with a message in it.
struct Complaint<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for MessageText<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<MessageText<'a>, D::Error> {
        from.deserialize_any(Words { keys: &["text"] }).map(MessageText)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Complaint<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Complaint<'a>, D::Error> {
        from.deserialize_any(Words { keys: &["message", "msg", "detail"] }).map(Complaint)
    }
}

/// Looks for words: in a string, or in an object under one of these keys.
#[derive(Clone, Copy)]
struct Words {
    keys: &'static [&'static str],
}

impl<'de> serde::de::DeserializeSeed<'de> for Words {
    type Value = Cow<'de, str>;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Words {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut all = String::new();
        while let Some(part) = parts.next_element_seed(self)? {
            all.push_str(&part);
        }
        Ok(Cow::Owned(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Cow::Borrowed("");
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if self.keys.contains(&&*key) {
                found = map.next_value_seed(self)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }
}
