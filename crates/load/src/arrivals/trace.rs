//! Recorded traces: when requests came, how long their prompts and answers were, and what they shared.
//!
//! Two shapes are read, by what the first line looks like:
//! - JSON lines with `timestamp` (milliseconds as in the Mooncake traces; seconds in traces with `chat_id`) or `at_s` in
//!   seconds, and where known `input_length` or `prompt_tokens`, `output_length` or `output_tokens`, `hash_ids` (one for
//!   each block of the prompt, the same for the same text), `session_id`, `conversation_id` or `chat_id`, and `delay` in
//!   milliseconds after the previous answer of the session, in place of a time or beside it;
//! - CSV with a header that has `Timestamp`, in seconds (as in BurstGPT) or as date and time (as in the Azure
//!   traces), and where known `Request tokens` or `ContextTokens`, `Response tokens` or `GeneratedTokens`, `Session ID`.
//!
//! What would change a request and cannot be sent is refused; other columns are named in [`Trace::unused`].

mod lines;

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::sync::Arc;

use lines::{TraceLine, is_used, lines_of_csv, lines_of_json, plain};

/// Sizes of the blocks that hashes of known traces stand for, the most usual first.
const BLOCK_TOKENS: [u32; 8] = [512, 16, 64, 128, 256, 32, 1024, 8];

/// What would change a request, and is not sent.
const REFUSED: [(&str, &str); 8] = [
    ("messages", "its texts"),
    ("text_input", "its texts"),
    ("prompt", "its texts"),
    ("text", "its texts"),
    ("images", "its images"),
    ("image", "its images"),
    ("audio", "its audio"),
    ("tools", "its tools"),
];

/// A trace: requests in order of time, the first at 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    entries: Arc<[TraceEntry]>,
    block_tokens: Option<u32>,
    unused: Vec<String>,
}

/// One request of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraceEntry {
    /// When it came, in seconds since the first one.
    pub at_s: f64,
    /// How many tokens its prompt had.
    pub prompt_tokens: Option<u32>,
    /// How many tokens its answer had.
    pub output_tokens: Option<u32>,
    /// The blocks of its prompt, in order; the same number is the same text.
    pub blocks: Vec<u64>,
    /// The session it belongs to, from 0, and its place in the session.
    pub session: Option<(u64, u32)>,
    /// How long after the previous answer of its session it is sent at least, in seconds.
    pub delay_s: Option<f64>,
}

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("the trace cannot be read")]
    Read(#[from] std::io::Error),
    /// A line that is not what the first line promised.
    #[error("line {line} of the trace: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Nothing in it.
    #[error("the trace has no entries")]
    Empty,
    /// Something that cannot be sent as it was.
    #[error("the trace has `{key}`: {what} cannot be replayed")]
    Refused {
        /// The key or column.
        key: String,
        /// What it says.
        what: &'static str,
    },
    /// Hashes that do not fit the lengths.
    #[error("the trace has `hash_ids`, and no size of their blocks fits every `input_length`")]
    Blocks,
}

impl Trace {
    /// A trace of these entries: brought into order, the first moved to 0.
    pub fn new(mut entries: Vec<TraceEntry>) -> Self {
        entries.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let begin = entries.first().map_or(0.0, |entry| entry.at_s);
        for entry in &mut entries {
            entry.at_s -= begin;
        }
        Self { entries: entries.into(), block_tokens: None, unused: Vec::new() }
    }

    /// Reads a trace.
    pub fn read(input: impl BufRead) -> Result<Self, TraceError> {
        let mut input = BufReader::new(input);
        let is_json = input.fill_buf()?.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let mut keys = BTreeSet::new();
        let lines = if is_json { lines_of_json(input, &mut keys)? } else { lines_of_csv(input, &mut keys)? };
        if lines.is_empty() {
            return Err(TraceError::Empty);
        }
        if let Some((key, what)) =
            REFUSED.into_iter().find(|(name, _)| keys.iter().any(|key| plain(key) == plain(name)))
        {
            return Err(TraceError::Refused { key: key.to_owned(), what });
        }
        let mut trace = Self::new(numbered(lines));
        trace.block_tokens = block_tokens(&trace.entries)?;
        trace.unused = keys.into_iter().filter(|key| !is_used(key)).collect();
        Ok(trace)
    }

    /// The requests in order of time.
    pub fn entries(&self) -> &[TraceEntry] {
        &self.entries
    }

    /// Tokens of a block of a prompt, where the trace has blocks.
    pub fn block_tokens(&self) -> Option<u32> {
        self.block_tokens
    }

    /// Keys or columns that say nothing about how a request is sent.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// Whether the trace says how long prompts are.
    pub fn has_prompt_lengths(&self) -> bool {
        self.entries.iter().any(|entry| entry.prompt_tokens.is_some())
    }

    /// Whether the trace says how long answers are.
    pub fn has_output_lengths(&self) -> bool {
        self.entries.iter().any(|entry| entry.output_tokens.is_some())
    }

    /// The requests, shared with whoever walks over them.
    pub(crate) fn entries_shared(&self) -> Arc<[TraceEntry]> {
        Arc::clone(&self.entries)
    }
}

/// Gives sessions numbers in the order in which they begin.
fn numbered(mut lines: Vec<TraceLine>) -> Vec<TraceEntry> {
    lines.sort_by(|a, b| a.entry.at_s.total_cmp(&b.entry.at_s));
    let mut known: HashMap<String, (u64, u32)> = HashMap::new();
    for line in &mut lines {
        let Some(session) = line.session.take() else { continue };
        let next = known.len() as u64;
        let (number, turn) = known.entry(session).or_insert((next, 0));
        line.entry.session = Some((*number, *turn));
        *turn += 1;
    }
    lines.into_iter().map(|line| line.entry).collect()
}

/// The size of blocks with which every prompt has as many blocks as hashes.
fn block_tokens(entries: &[TraceEntry]) -> Result<Option<u32>, TraceError> {
    let mut with_blocks = entries.iter().filter(|entry| !entry.blocks.is_empty()).peekable();
    if with_blocks.peek().is_none() {
        return Ok(None);
    }
    let with_blocks: Vec<&TraceEntry> = with_blocks.collect();
    let fits = |size: &u32| {
        let fits = |entry: &&TraceEntry| {
            entry.prompt_tokens.is_some_and(|tokens| tokens.div_ceil(*size) as usize == entry.blocks.len())
        };
        with_blocks.iter().all(fits)
    };
    BLOCK_TOKENS.into_iter().find(fits).map(Some).ok_or(TraceError::Blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Trace, TraceError> {
        Trace::read(text.as_bytes())
    }

    fn entry(at_s: f64, prompt_tokens: u32, output_tokens: u32) -> TraceEntry {
        let (prompt_tokens, output_tokens) = (Some(prompt_tokens), Some(output_tokens));
        TraceEntry { at_s, prompt_tokens, output_tokens, ..TraceEntry::default() }
    }

    #[test]
    fn json_lines_in_milliseconds_with_blocks() {
        let trace = read(concat!(
            "{\"timestamp\": 3000, \"input_length\": 700, \"output_length\": 5, \"hash_ids\": [0, 7]}\n\n",
            "{\"timestamp\": 1500, \"input_length\": 10, \"output_length\": 2, \"hash_ids\": [3], \"user\": 1}\n"
        ))
        .unwrap();
        let first = TraceEntry { blocks: vec![3], ..entry(0.0, 10, 2) };
        let second = TraceEntry { blocks: vec![0, 7], ..entry(1.5, 700, 5) };
        assert_eq!((trace.entries(), trace.block_tokens()), (&[first, second][..], Some(512)));
        assert_eq!(trace.unused(), ["user"]);
    }

    #[test]
    fn sessions_have_numbers_and_turns() {
        let trace = read(concat!(
            "{\"at_s\": 0, \"session_id\": \"b\"}\n{\"at_s\": 1, \"session_id\": \"a\"}\n",
            "{\"at_s\": 2, \"session_id\": \"b\"}\n{\"at_s\": 3}\n"
        ))
        .unwrap();
        let sessions: Vec<_> = trace.entries().iter().map(|entry| entry.session).collect();
        assert_eq!(sessions, [Some((0, 0)), Some((1, 0)), Some((0, 1)), None]);
        let chats = read(concat!(
            "{\"chat_id\": 4, \"parent_chat_id\": -1, \"timestamp\": 61.5, \"input_length\": 30, \"hash_ids\": [1, 2]}\n",
            "{\"chat_id\": 9, \"parent_chat_id\": 4, \"timestamp\": 71.5, \"input_length\": 33, \"hash_ids\": [1, 2, 3]}\n"
        ))
        .unwrap();
        assert_eq!((chats.entries()[1].at_s, chats.block_tokens()), (10.0, Some(16)));
        assert_eq!(chats.entries()[1].session, Some((0, 1)));
    }

    #[test]
    fn a_delay_may_stand_in_place_of_a_time() {
        let trace = read(concat!(
            "{\"timestamp\": 1000, \"session_id\": \"a\"}\n{\"session_id\": \"a\", \"delay\": 250}\n",
            "{\"timestamp\": 3000, \"session_id\": \"a\", \"delay_ms\": 500}\n"
        ))
        .unwrap();
        let entries: Vec<_> =
            trace.entries().iter().map(|entry| (entry.at_s, entry.session, entry.delay_s)).collect();
        let expected =
            [(0.0, Some((0, 0)), None), (0.0, Some((0, 1)), Some(0.25)), (2.0, Some((0, 2)), Some(0.5))];
        assert_eq!(entries, expected);
        assert_eq!(trace.unused(), [""; 0]);
    }

    #[test]
    fn tables_with_dates_cross_the_end_of_a_year_and_honor_offsets() {
        let trace = read(concat!(
            "TIMESTAMP,ContextTokens,GeneratedTokens\n",
            "2023-12-31 23:59:59.5000000,4808,10\n",
            "2024-01-01 00:00:01,3180,8\n"
        ))
        .unwrap();
        assert_eq!(trace.entries()[1], entry(1.5, 3180, 8));
        let zones = read("TIMESTAMP\n2024-05-10T00:00:00.5+00:00\n2024-05-10T03:00:01.5+02:00\n").unwrap();
        assert!((zones.entries()[1].at_s - 3601.0).abs() < 1e-3, "{zones:?}");
    }

    #[test]
    fn tables_in_seconds() {
        let text = "Timestamp,\"Session ID\",Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                    5,\"x,1\",ChatGPT,472,18,490,Conversation log\n45.5,\"x,1\",GPT-4,,,,API log\n";
        let trace = read(text).unwrap();
        assert_eq!(trace.entries()[0], TraceEntry { session: Some((0, 0)), ..entry(0.0, 472, 18) });
        assert_eq!((trace.entries()[1].at_s, trace.entries()[1].session), (40.5, Some((0, 1))));
        assert_eq!(trace.unused(), ["Log Type", "Model"]);
    }

    #[test]
    fn what_cannot_be_replayed_is_refused_with_the_reason() {
        let problem = |text: &str| read(text).unwrap_err().to_string();
        assert!(problem("{\"timestamp\": 1, \"messages\": []}").contains("`messages`: its texts cannot"));
        assert!(problem("{\"timestamp\": 1, \"delay\": -3}").contains("`delay` is -3"));
        assert!(problem("{\"delay\": 3, \"session_id\": 1}").contains("an earlier request of its session"));
        let odd = "{\"timestamp\": 1, \"input_length\": 700, \"hash_ids\": [1, 2, 3, 4, 5]}";
        assert!(problem(odd).contains("no size of their blocks"));
        assert!(problem("{\"timestamp\": 1, \"input_length\": -4}").contains("`input_length` is -4"));
    }

    #[test]
    fn problems_name_their_line() {
        let problem = |text: &str| read(text).unwrap_err().to_string();
        assert!(problem("{\"timestamp\": 1}\n{\"time\": 1}").starts_with("line 2 of the trace: neither"));
        assert!(problem("a,b\n").contains("column `Timestamp`"));
        assert!(problem("Timestamp\nsoon\n").contains("line 2 of the trace: `soon`"));
        assert!(matches!(read("Timestamp\n"), Err(TraceError::Empty)));
    }
}
