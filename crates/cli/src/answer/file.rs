//! An answer as a file: Markdown, CSV or JSON, by the ending of the file's name.

use std::path::Path;

use assay_report::{markdown, separated};
use assay_store::{Index, Record};

use super::{answer_json, gates, judged, judged_for_people, layout, subject};
use crate::failure::Mistake;
use crate::output::{self, ending};
use crate::screen::Screen;

/// Refuses a file whose format is not known, before anything is measured.
pub fn check(path: &Path) -> Result<(), Mistake> {
    match ending(path) {
        "md" | "csv" | "json" => {}
        other => {
            let text = format!("no report format for the ending `.{other}`");
            let hint = "use .md, .csv or .json; `assay export` writes .jsonl and .parquet";
            return Err(Mistake::new(text, hint));
        }
    }
    match path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        Some(parent) => {
            let text = format!("cannot write {}: no directory {}", path.display(), parent.display());
            Err(Mistake::new(text, "create the directory first"))
        }
        None => Ok(()),
    }
}

/// Writes the answers for some metrics; none stands for the headline.
pub fn write(
    record: &Record,
    index: &Index,
    metrics: &[Option<&str>],
    path: &Path,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    check(path)?;
    let text = text(record, index, metrics, ending(path))?;
    output::write(path, &text, screen)
}

/// The answers for some metrics in the format of an ending.
pub fn text(
    record: &Record,
    index: &Index,
    metrics: &[Option<&str>],
    ending: &str,
) -> anyhow::Result<String> {
    match ending {
        "csv" => in_csv(index, metrics),
        "json" => in_json(record, index, metrics),
        _ => in_markdown(record, index, metrics),
    }
}

fn in_markdown(record: &Record, index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if *metrics == [None] {
        let tables = layout::tables(index, &subject(index, None)?)?;
        parts.extend(tables.iter().map(markdown::render));
    }
    for metric in metrics {
        let (answer, subject) = judged_for_people(index, *metric, usize::MAX)?;
        parts.push(markdown::render(&assay_report::answer::table(&answer, subject.question(), usize::MAX)));
    }
    let gates = gates(record, index)?;
    if !gates.is_empty() {
        parts.push(markdown::render(&assay_report::gates::table(&gates)));
    }
    Ok(parts.join("\n"))
}

/// One table for one metric; the columns are the same for all of a record's metrics, so they share one header.
fn in_csv(index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let mut text = String::new();
    for (position, metric) in metrics.iter().enumerate() {
        let (answer, _) = judged(index, *metric, usize::MAX)?;
        let table = separated::answer(&answer)?;
        let rows =
            if position == 0 { table.as_str() } else { table.split_once('\n').map_or("", |(_, rows)| rows) };
        text.push_str(rows);
    }
    Ok(text)
}

fn in_json(record: &Record, index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let answers: Result<Vec<_>, _> =
        metrics.iter().map(|metric| answer_json(record, index, *metric)).collect();
    let answers = answers?;
    let text = match answers.as_slice() {
        [one] => serde_json::to_string_pretty(one)?,
        many => serde_json::to_string_pretty(many)?,
    };
    Ok(format!("{text}\n"))
}
