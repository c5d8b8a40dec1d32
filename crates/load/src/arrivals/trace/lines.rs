//! The lines of a trace file: JSON lines, or a table with a header.

use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::{TraceEntry, TraceError};

/// One line of a trace before sessions have numbers.
pub(super) struct TraceLine {
    pub(super) entry: TraceEntry,
    pub(super) session: Option<String>,
}

/// A name without spaces, underscores and capitals.
pub(super) fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '_'], "")
}

const TIME: [&str; 3] = ["timestamp", "ats", "arrivedat"];
const PROMPT: [&str; 5] = ["requesttokens", "contexttokens", "prompttokens", "inputlength", "inputtokens"];
const OUTPUT: [&str; 4] = ["responsetokens", "generatedtokens", "outputtokens", "outputlength"];
const SESSION: [&str; 3] = ["sessionid", "conversationid", "chatid"];
const DELAY: [&str; 2] = ["delay", "delayms"];

/// Whether a key is honored, or says nothing that the others do not say.
pub(super) fn is_used(key: &str) -> bool {
    let key = plain(key);
    let all =
        [&TIME[..], &PROMPT, &OUTPUT, &SESSION, &DELAY, &["hashids", "totaltokens", "turn", "parentchatid"]];
    all.iter().any(|names| names.contains(&key.as_str()))
}

fn located(line: usize) -> impl Fn(String) -> TraceError {
    move |problem| TraceError::Line { line, problem }
}

/// Reads JSON lines, and notes their keys.
pub(super) fn lines_of_json(
    input: impl BufRead,
    keys: &mut BTreeSet<String>,
) -> Result<Vec<TraceLine>, TraceError> {
    let (mut lines, mut roots, mut last_at_s) = (Vec::new(), HashMap::new(), HashMap::new());
    for (index, text) in input.lines().enumerate() {
        let text = text?;
        if text.trim().is_empty() {
            continue;
        }
        let located = located(index + 1);
        let fields: Map<String, Value> =
            serde_json::from_str(&text).map_err(|error| located(error.to_string()))?;
        let mut line = line_of_json(&fields, &mut roots).map_err(&located)?;
        let session = line.session.clone();
        if line.entry.at_s.is_nan() {
            // A delay stands in place of the time: the request follows the one before it in its session.
            let previous = session.as_ref().and_then(|session| last_at_s.get(session)).copied();
            line.entry.at_s = previous.ok_or_else(|| {
                located("a `delay` without a time needs an earlier request of its session".into())
            })?;
        }
        last_at_s.extend(session.map(|session| (session, line.entry.at_s)));
        lines.push(line);
        keys.extend(fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key));
    }
    Ok(lines)
}

/// `roots` has the first chat of each chat that follows another one.
fn line_of_json(fields: &Map<String, Value>, roots: &mut HashMap<i64, i64>) -> Result<TraceLine, String> {
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
    let delay_s = match find(&DELAY) {
        None => None,
        Some((key, value)) => Some(
            delay_s(&value.to_string())
                .ok_or_else(|| format!("`{key}` is {value}, which is not a number of milliseconds"))?,
        ),
    };
    let at_s = match (find(&["ats"]), find(&["timestamp"])) {
        (Some((_, at)), _) => at.as_f64(),
        // Traces with `chat_id` count seconds, those of Mooncake milliseconds.
        (None, Some((_, at))) if fields.contains_key("chat_id") => at.as_f64(),
        (None, Some((_, Value::String(date)))) => seconds(date),
        (None, Some((_, at))) => at.as_f64().map(|milliseconds| milliseconds / 1e3),
        (None, None) if delay_s.is_some() => Some(f64::NAN),
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
        at_s: at_s.filter(|at_s| !at_s.is_infinite()).ok_or("the time is not a number")?,
        prompt_tokens: count(&PROMPT)?,
        output_tokens: count(&OUTPUT)?,
        blocks,
        session: None,
        delay_s,
    };
    Ok(TraceLine { entry, session })
}

/// Reads a table, and notes its columns.
pub(super) fn lines_of_csv(
    input: impl BufRead,
    keys: &mut BTreeSet<String>,
) -> Result<Vec<TraceLine>, TraceError> {
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
    let (prompt, output, session, delay) = (find(&PROMPT), find(&OUTPUT), find(&SESSION), find(&DELAY));
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
            delay_s: field(delay)
                .map(|text| {
                    delay_s(text).ok_or_else(|| located(format!("`{text}` is not a number of milliseconds")))
                })
                .transpose()?,
        };
        lines.push(TraceLine { entry, session: field(session).map(str::to_owned) });
    }
    Ok(lines)
}

/// A delay in milliseconds as seconds.
fn delay_s(text: &str) -> Option<f64> {
    let milliseconds: f64 = text.parse().ok()?;
    (milliseconds.is_finite() && milliseconds >= 0.0).then_some(milliseconds / 1e3)
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
