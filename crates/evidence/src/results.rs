//! Result files in JSON: what benchmark clients, trainers and schedulers save at the end.
//!
//! | file | holds |
//! |---|---|
//! | `results/lines.rs` | the line that each key stands on |
//! | `results/keys.rs` | what keys mean: metrics and settings |
//! | `results/builder.rs` | the run that is put together |
//! | `results/leaves.rs` | the values of one object and its inner objects |
//! | `results/cut.rs` | files that end before their end |
//! | `results/history.rs` | values per step or per request |
//! | `results/named.rs` | lists of names with values and units |
//! | `results/requests.rs` | single requests to an endpoint |
//! | `results/strict.rs` | `NaN` and `Infinity`, which JSON does not know |
//! | `results/scheduler.rs` | jobs as Slurm and PBS write them |

mod builder;
mod cut;
mod history;
mod keys;
mod leaves;
mod lines;
mod named;
mod requests;
mod scheduler;
mod strict;

use assay_model::ReadRun;
use serde_json::{Map, Value};

use builder::Builder;
use keys::Tool;
use lines::Lines;

/// A variable with a longer name is none.
const LONGEST_NAME: usize = 80;

/// More runs than this are not read from one file.
const MOST_RUNS: usize = 100_000;

/// The runs that a file states, if it is JSON or holds results in JSON line by line; none for any other text.
pub(crate) fn runs(bytes: &[u8], file: &str) -> Option<Vec<ReadRun>> {
    let bytes = &*strict::strict(assigned(bytes).unwrap_or(bytes));
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes);
    let closed = |bytes: &[u8]| cut::closed(bytes).and_then(|closed| read(&closed).ok());
    match read(bytes).or_else(|error| match error.is_eof() {
        true => closed(bytes).ok_or(error),
        false => Err(error),
    }) {
        Ok(value) => {
            let lines = Lines::of(bytes);
            let mut found = Vec::new();
            let lists = named::lists(&value, MOST_RUNS);
            if !lists.is_empty() {
                for list in lists {
                    let mut builder = Builder::new(file, "json");
                    named::read(list, &lines, &mut builder);
                    found.extend(builder.finish());
                }
                return Some(found);
            }
            let reading = Reading { file, lines: &lines };
            reading.value(&value, "", &[], &mut found);
            Some(found)
        }
        Err(_) => json_lines(bytes, file),
    }
}

/// The object that a script assigns to a variable: `window.BENCHMARK_DATA = {…}`.
pub(crate) fn assigned(bytes: &[u8]) -> Option<&[u8]> {
    let (head, rest) = bytes.split_at(bytes.iter().take(LONGEST_NAME).position(|byte| *byte == b'=')?);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b' ' | b'$');
    let value = rest.get(1..)?.trim_ascii();
    let value = value.strip_suffix(b";").unwrap_or(value);
    let named = head.iter().all(plain) && head.first().is_some_and(u8::is_ascii_alphabetic);
    (named && value.starts_with(b"{")).then_some(value)
}

/// What all runs of a file share.
#[derive(Clone, Copy)]
struct Reading<'a> {
    file: &'a str,
    lines: &'a Lines,
}

/// An object whose plain values hold for the runs beside it, and its path.
type Shared<'v> = (&'v Map<String, Value>, String);

impl Reading<'_> {
    fn value(self, value: &Value, path: &str, shared: &[Shared<'_>], found: &mut Vec<ReadRun>) {
        match value {
            Value::Array(entries) => self.entries(entries, path, shared, found),
            Value::Object(object) => self.object(object, path, shared, found),
            _ => {}
        }
    }

    /// A list: of steps, or of runs.
    fn entries(self, entries: &[Value], path: &str, shared: &[Shared<'_>], found: &mut Vec<ReadRun>) {
        let objects: Vec<&Map<String, Value>> = entries.iter().filter_map(Value::as_object).collect();
        if history::is_history(&objects) {
            let mut builder = Builder::new(self.file, "json");
            self.share(shared, &mut builder);
            history::read(&objects, path, self.lines, &mut builder);
            found.extend(builder.finish());
            return;
        }
        for (index, entry) in entries.iter().enumerate() {
            if found.len() >= MOST_RUNS {
                return;
            }
            if let Value::Object(object) = entry {
                self.object(object, &format!("{path}/{index}"), shared, found);
            }
        }
    }

    fn object(
        self,
        object: &Map<String, Value>,
        path: &str,
        shared: &[Shared<'_>],
        found: &mut Vec<ReadRun>,
    ) {
        if scheduler::read(object, path, self.file, self.lines, found) {
            return;
        }
        // Tools that save several runs keep them in a list, with what holds for all of them beside it.
        if self.systems(object, path, shared, found) {
            return;
        }
        let mut single = None;
        for list in ["benchmarks", "results", "runs", "requests", "log_history"] {
            let Some(Value::Array(entries)) = object.get(list) else { continue };
            let objects: Vec<&Map<String, Value>> = entries.iter().filter_map(Value::as_object).collect();
            if requests::are_requests(&objects) {
                single = Some((objects, format!("{path}/{list}")));
                break;
            }
            if list == "requests" {
                continue;
            }
            if entries.iter().any(Value::is_object) {
                let mut shared = shared.to_vec();
                shared.push((object, path.to_owned()));
                return self.entries(entries, &format!("{path}/{list}"), &shared, found);
            }
        }
        let tool = Tool::of(object, path);
        let mut builder = Builder::new(self.file, tool.name());
        self.share(shared, &mut builder);
        leaves::read(object, path, tool, self.lines, &mut builder);
        if let Some((objects, path)) = single {
            requests::read(&objects, &path, self.lines, &mut builder);
        }
        if let Some(mut run) = builder.finish() {
            if let Some(name) = path.rsplit('/').next().filter(|name| !name.is_empty() && run.title.is_none())
            {
                run.title = name.parse::<usize>().is_err().then(|| name.to_owned());
            }
            found.push(run);
        }
    }

    /// Objects of one form under names of their own are systems that were measured alike: each is a run.
    fn systems(
        self,
        object: &Map<String, Value>,
        path: &str,
        shared: &[Shared<'_>],
        found: &mut Vec<ReadRun>,
    ) -> bool {
        let members: Vec<(&String, &Map<String, Value>)> = object
            .iter()
            .filter_map(|(key, value)| Some((key, value.as_object()?)))
            .filter(|(_, inner)| inner.get("results").is_some_and(Value::is_array))
            .collect();
        if members.len() < 2 {
            return false;
        }
        let mut shared = shared.to_vec();
        shared.push((object, path.to_owned()));
        for (key, inner) in members {
            self.object(inner, &format!("{path}/{key}"), &shared, found);
        }
        true
    }

    fn share(self, shared: &[Shared<'_>], builder: &mut Builder) {
        for (object, path) in shared {
            leaves::settings(object, path, self.lines, builder);
        }
    }
}

/// A result on each line. Only what is clearly that is taken: programs also log in JSON, and logs are read as such.
fn json_lines(bytes: &[u8], file: &str) -> Option<Vec<ReadRun>> {
    let mut objects = Vec::new();
    let mut numbers = Vec::new();
    let mut failed = false;
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        // Only the last line may be cut off.
        if failed || objects.len() >= MOST_RUNS {
            return None;
        }
        match serde_json::from_slice::<Map<String, Value>>(line) {
            Ok(object) => {
                objects.push(object);
                numbers.push(number as u64 + 1);
            }
            Err(_) => failed = true,
        }
    }
    let all: Vec<&Map<String, Value>> = objects.iter().collect();
    let lines = Lines::of_entries(&numbers);
    if history::is_history(&all) || history::are_requests(&all) {
        let mut builder =
            Builder::new(file, if history::are_requests(&all) { Tool::Aiperf.name() } else { "json" });
        history::read(&all, "", &lines, &mut builder);
        return builder.finish().map(|run| vec![run]);
    }
    let known = !all.is_empty() && all.iter().all(|object| Tool::of(object, "") != Tool::Unknown);
    let mut found = Vec::new();
    if known {
        let reading = Reading { file, lines: &lines };
        for (index, object) in all.iter().enumerate() {
            reading.object(object, &format!("/{index}"), &[], &mut found);
        }
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests;
