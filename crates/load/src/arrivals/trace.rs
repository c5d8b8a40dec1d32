//! Recorded traces: when requests came, how long their prompts and answers were, and what they shared.
//!
//! Two shapes are read, by what the first line looks like:
//! - JSON lines with `timestamp` (milliseconds as in the Mooncake traces; seconds in traces with `chat_id`) or `at_s` in
//!   seconds, and where known `input_length` or `prompt_tokens`, `output_length` or `output_tokens`, `hash_ids` (one for
//!   each block of the prompt, the same for the same text) and `session_id`, `conversation_id` or `chat_id`;
//! - CSV with a header that has `Timestamp`, in seconds (as in BurstGPT) or as date and time (as in the Azure
//!   traces), and where known `Request tokens` or `ContextTokens`, `Response tokens` or `GeneratedTokens`, `Session ID`.
//!
//! What would change a request and cannot be sent is refused; other columns are named in [`Trace::unused`].

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

/// Sizes of the blocks that hashes of known traces stand for, the most usual first.
const BLOCK_TOKENS: [u32; 8] = [512, 16, 64, 128, 256, 32, 1024, 8];

/// What would change a request, and is not sent.
const REFUSED: [(&str, &str); 10] = [
    ("messages", "its texts"),
    ("text_input", "its texts"),
    ("prompt", "its texts"),
    ("text", "its texts"),
    ("images", "its images"),
    ("image", "its images"),
    ("audio", "its audio"),
    ("tools", "its tools"),
    ("delay", "delays after earlier answers"),
    ("delay_ms", "delays after earlier answers"),
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

/// One line of a trace before sessions have numbers.
struct Line {
    entry: TraceEntry,
    session: Option<String>,
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
fn numbered(mut lines: Vec<Line>) -> Vec<TraceEntry> {
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

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '_'], "")
}

const TIME: [&str; 3] = ["timestamp", "ats", "arrivedat"];
const PROMPT: [&str; 5] = ["requesttokens", "contexttokens", "prompttokens", "inputlength", "inputtokens"];
const OUTPUT: [&str; 4] = ["responsetokens", "generatedtokens", "outputtokens", "outputlength"];
const SESSION: [&str; 3] = ["sessionid", "conversationid", "chatid"];

/// Whether a key is honored, or says nothing that the others do not say.
fn is_used(key: &str) -> bool {
    let key = plain(key);
    let all = [&TIME[..], &PROMPT, &OUTPUT, &SESSION, &["hashids", "totaltokens", "turn", "parentchatid"]];
    all.iter().any(|names| names.contains(&key.as_str()))
}

fn located(line: usize) -> impl Fn(String) -> TraceError {
    move |problem| TraceError::Line { line, problem }
}

fn lines_of_json(input: impl BufRead, keys: &mut BTreeSet<String>) -> Result<Vec<Line>, TraceError> {
    let (mut lines, mut roots) = (Vec::new(), HashMap::new());
    for (index, text) in input.lines().enumerate() {
        let text = text?;
        if text.trim().is_empty() {
            continue;
        }
        let located = located(index + 1);
        let fields: Map<String, Value> =
            serde_json::from_str(&text).map_err(|error| located(error.to_string()))?;
        lines.push(line_of_json(&fields, &mut roots).map_err(located)?);
        keys.extend(fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key));
    }
    Ok(lines)
}

/// `roots` has the first chat of each chat that follows another one.
fn line_of_json(fields: &Map<String, Value>, roots: &mut HashMap<i64, i64>) -> Result<Line, String> {
    let find = |names: &[&str]| {
        let mut pairs = fields.iter();
        pairs.find(|(key, value)| names.contains(&plain(key).as_str()) && !value.is_null())
    };
    let count = |names: &[&str]| match find(names) {
        None => Ok(None),
        Some((key, value)) => {
            let tokens = value.as_u64().and_then(|tokens| u32::try_from(tokens).ok());
            tokens.map(Some).ok_or_else(|| format!("`{key}` is {value}, which is not a number of tokens"))
        }
    };
    let at_s = match (find(&["ats"]), find(&["timestamp"])) {
        (Some((_, at)), _) => at.as_f64(),
        // Traces with `chat_id` count seconds, those of Mooncake milliseconds.
        (None, Some((_, at))) if fields.contains_key("chat_id") => at.as_f64(),
        (None, Some((_, Value::String(date)))) => seconds(date),
        (None, Some((_, at))) => at.as_f64().map(|milliseconds| milliseconds / 1e3),
        (None, None) => return Err("neither `timestamp` (milliseconds) nor `at_s` (seconds)".to_owned()),
    };
    let blocks = match fields.get("hash_ids") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(all)) => all
            .iter()
            .map(|one| {
                one.as_u64().or(one.as_i64().map(|id| id as u64)).ok_or("`hash_ids` are not all numbers")
            })
            .collect::<Result<_, _>>()?,
        Some(other) => return Err(format!("`hash_ids` is {other}, which is not a list of numbers")),
    };
    let chat = |key: &str| fields.get(key).and_then(Value::as_i64);
    let session = match (chat("chat_id"), chat("parent_chat_id").filter(|parent| *parent >= 0)) {
        (Some(chat), Some(parent)) => {
            let root = roots.get(&parent).copied().unwrap_or(parent);
            roots.insert(chat, root);
            Some(root.to_string())
        }
        _ => find(&SESSION).map(|(_, value)| value.to_string()),
    };
    let entry = TraceEntry {
        at_s: at_s.filter(|at_s| at_s.is_finite()).ok_or("the time is not a number")?,
        prompt_tokens: count(&PROMPT)?,
        output_tokens: count(&OUTPUT)?,
        blocks,
        session: None,
    };
    Ok(Line { entry, session })
}

fn lines_of_csv(input: impl BufRead, keys: &mut BTreeSet<String>) -> Result<Vec<Line>, TraceError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(input);
    let unreadable =
        |line: usize| move |error: csv::Error| TraceError::Line { line, problem: error.to_string() };
    let header = reader.headers().map_err(unreadable(1))?.clone();
    let header: Vec<&str> = header.iter().map(|name| name.trim_start_matches('\u{feff}')).collect();
    let names: Vec<String> = header.iter().map(|name| plain(name)).collect();
    let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
    let time = find(&TIME).ok_or_else(|| {
        let header = header.join(",");
        located(1)(format!("`{header}` is neither JSON nor the header of a table with a column `Timestamp`"))
    })?;
    let (prompt, output, session) = (find(&PROMPT), find(&OUTPUT), find(&SESSION));
    keys.extend(header.iter().map(|name| (*name).to_owned()));
    let mut lines = Vec::new();
    for (index, fields) in reader.records().enumerate() {
        let fields = fields.map_err(unreadable(index + 2))?;
        let located = located(index + 2);
        let field = |column: Option<usize>| {
            column.and_then(|column| fields.get(column)).filter(|text| !text.is_empty())
        };
        let count = |column: Option<usize>| {
            let tokens = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number of tokens"));
            field(column).map(tokens).transpose()
        };
        let at = field(Some(time)).unwrap_or_default();
        let at_s = seconds(at).ok_or_else(|| format!("`{at}` is neither seconds nor date and time"));
        let entry = TraceEntry {
            at_s: at_s.map_err(&located)?,
            prompt_tokens: count(prompt).map_err(&located)?,
            output_tokens: count(output).map_err(&located)?,
            blocks: Vec::new(),
            session: None,
        };
        lines.push(Line { entry, session: field(session).map(str::to_owned) });
    }
    Ok(lines)
}

/// Seconds of `123.4`, of `2023-11-16 18:17:03.97996` or of `2024-05-10T00:00:00.009930+00:00`.
fn seconds(text: &str) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return seconds.is_finite().then_some(seconds);
    }
    let of = |stamp: Timestamp| stamp.as_nanosecond() as f64 * 1e-9;
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Some(of(stamp));
    }
    let local: DateTime = text.parse().ok()?;
    local.to_zoned(TimeZone::UTC).ok().map(|zoned| of(zoned.timestamp()))
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
    fn tables_with_dates_cross_the_end_of_a_year_and_heed_offsets() {
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
        assert!(problem("{\"timestamp\": 1, \"delay\": 3}").contains("delays"));
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
