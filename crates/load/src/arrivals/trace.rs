//! Recorded traces: when requests came, and how long their prompts and answers were.
//!
//! Two shapes are read, by what the first line looks like:
//! - JSON lines with `timestamp` in milliseconds (as in the Mooncake traces) or `at_s` in seconds, and where known
//!   `input_length` or `prompt_tokens`, `output_length` or `output_tokens`;
//! - CSV with a header that has `Timestamp`, in seconds (as in BurstGPT) or as date and time (as in the Azure
//!   traces), and where known `Request tokens` or `ContextTokens`, `Response tokens` or `GeneratedTokens`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::io::BufRead;
use std::sync::Arc;

use serde::Deserialize;

/// A trace: requests in order of time, the first at 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    entries: Arc<[TraceEntry]>,
}

/// One request of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceEntry {
    /// When it came, in seconds since the first one.
    pub at_s: f64,
    /// How many tokens its prompt had.
    pub prompt_tokens: Option<u32>,
    /// How many tokens its answer had.
    pub output_tokens: Option<u32>,
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
}

/// A line of a trace in JSON. Other keys (hashes of blocks, session names) are left alone.
#[derive(Deserialize)]
struct Line {
    timestamp: Option<f64>,
    at_s: Option<f64>,
    #[serde(alias = "prompt_tokens")]
    input_length: Option<u32>,
    #[serde(alias = "output_tokens")]
    output_length: Option<u32>,
}

/// Where the columns of a trace in CSV are.
struct Columns {
    time: usize,
    prompt: Option<usize>,
    output: Option<usize>,
}

impl Trace {
    /// A trace of these entries: brought into order, the first moved to 0.
    pub fn new(mut entries: Vec<TraceEntry>) -> Self {
        entries.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let begin = entries.first().map_or(0.0, |entry| entry.at_s);
        for entry in &mut entries {
            entry.at_s -= begin;
        }
        Self { entries: entries.into() }
    }

    /// Reads a trace.
    pub fn read(input: impl BufRead) -> Result<Self, TraceError> {
        let mut entries = Vec::new();
        let mut columns = None;
        for (index, text) in input.lines().enumerate() {
            let text = text?;
            let text = text.trim();
            let located = |problem: String| TraceError::Line { line: index + 1, problem };
            if text.is_empty() {
                continue;
            }
            if text.starts_with('{') {
                entries.push(entry_of_json(text).map_err(located)?);
            } else if let Some(columns) = &columns {
                entries.push(entry_of_csv(text, columns).map_err(located)?);
            } else {
                columns = Some(columns_of(text).map_err(located)?);
            }
        }
        if entries.is_empty() { Err(TraceError::Empty) } else { Ok(Self::new(entries)) }
    }

    /// The same trace, faster by a factor.
    pub fn faster(&self, factor: f64) -> Self {
        Self {
            entries: self
                .entries
                .iter()
                .map(|entry| TraceEntry { at_s: entry.at_s / factor, ..*entry })
                .collect(),
        }
    }

    /// The requests in order of time.
    pub fn entries(&self) -> &[TraceEntry] {
        &self.entries
    }

    /// The requests, shared with whoever walks over them.
    pub(super) fn entries_shared(&self) -> Arc<[TraceEntry]> {
        Arc::clone(&self.entries)
    }
}

fn entry_of_json(text: &str) -> Result<TraceEntry, String> {
    let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let at_s = line.at_s.or(line.timestamp.map(|milliseconds| milliseconds / 1e3));
    Ok(TraceEntry {
        at_s: at_s.ok_or("neither `timestamp` (milliseconds) nor `at_s` (seconds)")?,
        prompt_tokens: line.input_length,
        output_tokens: line.output_length,
    })
}

fn columns_of(header: &str) -> Result<Columns, String> {
    let names: Vec<String> = header
        .trim_start_matches('\u{feff}')
        .split(',')
        .map(|name| name.trim().trim_matches('"').to_lowercase().replace([' ', '_'], ""))
        .collect();
    let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
    Ok(Columns {
        time: find(&["timestamp", "ats", "arrivedat"]).ok_or_else(|| {
            format!("`{header}` is neither JSON nor the header of a table with a column `Timestamp`")
        })?,
        prompt: find(&["requesttokens", "contexttokens", "prompttokens", "inputlength"]),
        output: find(&["responsetokens", "generatedtokens", "outputtokens", "outputlength"]),
    })
}

fn entry_of_csv(text: &str, columns: &Columns) -> Result<TraceEntry, String> {
    let fields: Vec<&str> = text.split(',').map(|field| field.trim().trim_matches('"')).collect();
    let count = |column: Option<usize>| match column.and_then(|column| fields.get(column)) {
        None | Some(&"") => Ok(None),
        Some(field) => field.parse().map(Some).map_err(|_| format!("`{field}` is not a number of tokens")),
    };
    let time = fields.get(columns.time).copied().unwrap_or_default();
    Ok(TraceEntry {
        at_s: seconds(time).ok_or_else(|| format!("`{time}` is neither seconds nor date and time"))?,
        prompt_tokens: count(columns.prompt)?,
        output_tokens: count(columns.output)?,
    })
}

/// Seconds of `123.4`, or of a date and time with or without a UTC offset such as `2023-11-16 18:17:03.97996+00:00`. Without one,
/// the time is taken as UTC: only differences are used.
fn seconds(text: &str) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return seconds.is_finite().then_some(seconds);
    }
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()?,
    };
    Some(at.as_duration().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Trace, TraceError> {
        Trace::read(text.as_bytes())
    }

    #[test]
    fn json_lines_in_milliseconds() {
        let trace = read(concat!(
            "{\"timestamp\": 3000, \"input_length\": 20, \"output_length\": 5, \"hash_ids\": [1]}\n\n",
            "{\"timestamp\": 1500, \"input_length\": 10}\n"
        ))
        .unwrap();
        let first = TraceEntry { at_s: 0.0, prompt_tokens: Some(10), output_tokens: None };
        let second = TraceEntry { at_s: 1.5, prompt_tokens: Some(20), output_tokens: Some(5) };
        assert_eq!(trace.entries(), [first, second]);
        assert_eq!(trace.faster(3.0).entries()[1].at_s, 0.5);
    }

    #[test]
    fn tables_with_dates_cross_the_end_of_a_year() {
        let trace = read(concat!(
            "TIMESTAMP,ContextTokens,GeneratedTokens\n",
            "2023-12-31 23:59:59.5000000,4808,10\n",
            "2024-01-01 00:00:01,3180,8\n"
        ))
        .unwrap();
        assert_eq!(
            trace.entries()[1],
            TraceEntry { at_s: 1.5, prompt_tokens: Some(3180), output_tokens: Some(8) }
        );
    }

    #[test]
    fn offsets_from_utc_count() {
        let apart = |a: &str, b: &str| seconds(b).unwrap() - seconds(a).unwrap();
        assert_eq!(apart("2024-02-28 12:00:00", "2024-03-01T12:00:00"), 2.0 * 86_400.0);
        assert_eq!(apart("2023-11-16 18:00:00+01:00", "2023-11-16 18:00:00Z"), 3600.0);
        assert_eq!(seconds("2023-02-30 18:00:00"), None);
    }

    #[test]
    fn tables_in_seconds() {
        let trace =
            read("Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n45.5,GPT-4,,\n").unwrap();
        assert_eq!(trace.entries()[0].prompt_tokens, Some(472));
        assert_eq!(trace.entries()[1], TraceEntry { at_s: 40.5, prompt_tokens: None, output_tokens: None });
    }

    #[test]
    fn problems_name_their_line() {
        let problem = |text: &str| read(text).unwrap_err().to_string();
        assert!(problem("{\"timestamp\": 1}\n{\"time\": 1}").starts_with("line 2 of the trace: neither"));
        assert!(problem("a,b\n").contains("column `Timestamp`"));
        assert!(problem("Timestamp\nsoon\n").contains("line 2 of the trace: `soon`"));
        assert!(matches!(read("\n"), Err(TraceError::Empty)));
    }
}
