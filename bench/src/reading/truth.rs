//! What a log holds, by a plain scan of its bytes, and what a reader says it holds.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use memchr::memmem::Finder;

/// The losses of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Losses {
    /// How many there are.
    pub count: u64,
    /// The last one.
    pub last: Option<f64>,
}

/// The text in front of every loss, in logs of a kind; none where there are none.
fn key(kind: &str) -> Option<&'static str> {
    match kind {
        "cerebras" => Some(", Loss="),
        "tqdm" => Some(", loss="),
        _ => None,
    }
}

/// The losses of a log of a kind.
pub fn losses(path: &Path, kind: &str) -> anyhow::Result<Losses> {
    let mut losses = Losses::default();
    let Some(key) = key(kind) else { return Ok(losses) };
    let finder = Finder::new(key.as_bytes());
    let mut lines = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        for at in finder.find_iter(&line) {
            losses.count += 1;
            losses.last = line.get(at + key.len()..).and_then(number);
        }
        line.clear();
    }
    Ok(losses)
}

fn number(bytes: &[u8]) -> Option<f64> {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.').unwrap_or(bytes.len());
    std::str::from_utf8(bytes.get(..end)?).ok()?.parse().ok()
}

/// What a reader printed: the losses of all runs, and the files that runs stand in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkloadEvent {
    /// The losses.
    pub losses: Losses,
    /// Files with at least one run.
    pub files: usize,
}

/// What the lines that `assay read --json` prints say.
pub fn reported(printed: &[u8]) -> anyhow::Result<WorkloadEvent> {
    let mut reported = WorkloadEvent::default();
    let mut files = BTreeSet::new();
    for line in printed.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let run: serde_json::Value = serde_json::from_slice(line).context("assay read printed no JSON")?;
        if let Some(file) = run["span"]["file"].as_str() {
            files.insert(file.to_owned());
        }
        // A long series is thinned, so its count is what was seen, and the last loss is the run's metric.
        for series in losses_among(&run["series"]) {
            reported.losses.count += series["seen"].as_u64().unwrap_or(0);
        }
        for metric in losses_among(&run["observations"]) {
            reported.losses.last = metric["value"].as_f64().or(reported.losses.last);
        }
    }
    reported.files = files.len();
    Ok(reported)
}

/// Those of some series or metrics that are training losses.
fn losses_among(all: &serde_json::Value) -> impl Iterator<Item = &serde_json::Value> {
    all.as_array().into_iter().flatten().filter(|one| one["metric"] == assay_model::names::LOSS_TRAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_counts_losses_over_lines_and_carriage_returns() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        std::fs::write(&path, "bar, loss=2.5]\rbar, loss=1.25]\nbar, loss=0.5]\rbar").unwrap();
        assert_eq!(losses(&path, "tqdm").unwrap(), Losses { count: 3, last: Some(0.5) });
        assert_eq!(losses(&path, "prose").unwrap(), Losses::default());
    }

    #[test]
    fn what_a_reader_says_is_added_up_over_runs() {
        let line = |file: &str, last: f64| {
            format!(
                "{{\"span\":{{\"file\":\"{file}\"}},\"series\":[{{\"metric\":\"loss.train\",\"seen\":10,\
                 \"values\":[3.0]}},{{\"metric\":\"other\",\"seen\":99,\"values\":[1.0]}}],\
                 \"observations\":[{{\"metric\":\"loss.train\",\"value\":{last}}}]}}\n"
            )
        };
        let reported = reported(format!("{}{}", line("a", 2.0), line("b", 1.5)).as_bytes()).unwrap();
        assert_eq!(reported, WorkloadEvent { losses: Losses { count: 20, last: Some(1.5) }, files: 2 });
        assert!(super::reported(b"nothing\n").is_err());
    }
}
