//! `show -o FILE`: the answer of a record as Markdown, CSV or JSON.

use std::path::{Path, PathBuf};

use assay_report::{markdown, separated};
use assay_store::{Index, Record};

use crate::answer::{self, layout};
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::output::{self, ending};
use crate::screen::Screen;

/// Writes a report for each file, in the format of its ending.
pub fn write(
    files: &[PathBuf],
    record: &Record,
    index: &Index,
    metrics: &[Option<&str>],
    screen: &mut Screen,
) -> anyhow::Result<Exit> {
    let mut texts = Vec::new();
    for file in files {
        let text = match ending(file) {
            _ if file == Path::new("-") => markdown(record, index, metrics)?,
            "md" => markdown(record, index, metrics)?,
            "csv" => csv(index, metrics)?,
            "json" => json(record, index, metrics)?,
            other => {
                let text = format!("no report format for the ending `.{other}`");
                let hint = "use .md, .csv or .json; `assay query runs -o` writes .jsonl and .parquet";
                return Err(Mistake::new(text, hint).into());
            }
        };
        texts.push((file, text));
    }
    for (file, text) in texts {
        match file == Path::new("-") {
            true => screen.data(&text)?,
            false => output::write(file, &text, screen)?,
        }
    }
    Ok(Exit::Fine)
}

fn markdown(record: &Record, index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let mut tables = match *metrics == [None] {
        true => layout::tables(index, &answer::subject(index, None)?)?,
        false => Vec::new(),
    };
    for metric in metrics {
        let (answer, subject) = answer::judged_for_people(index, *metric, usize::MAX)?;
        tables.push(assay_report::answer::table(&answer, subject.question(), usize::MAX));
    }
    let gates = answer::gates(record, index)?;
    if !gates.is_empty() {
        tables.push(assay_report::gates::table(&gates));
    }
    layout::without_repeated_titles(&mut tables);
    let mut parts: Vec<String> = tables.iter().map(markdown::render).collect();
    let mut found = Vec::new();
    for metric in metrics {
        found.extend(answer::findings::findings(index, *metric)?);
    }
    if !found.is_empty() {
        let lines: Vec<String> = found.iter().map(|finding| format!("- {}\n", finding.text)).collect();
        parts.push(format!("## Findings\n\n{}", lines.concat()));
    }
    Ok(parts.join("\n"))
}

/// One table per metric; the columns are the same for all metrics of a record, so they share one header.
fn csv(index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let mut text = String::new();
    for (position, metric) in metrics.iter().enumerate() {
        let (answer, _) = answer::judged(index, *metric, usize::MAX)?;
        let table = separated::answer(&answer)?;
        let rows =
            if position == 0 { table.as_str() } else { table.split_once('\n').map_or("", |(_, rows)| rows) };
        text.push_str(rows);
    }
    Ok(text)
}

/// One object, or a list of them for several metrics.
pub fn json(record: &Record, index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let answers: Result<Vec<_>, _> =
        metrics.iter().map(|metric| answer::answer_json(record, index, *metric)).collect();
    let text = match answers?.as_slice() {
        [one] => serde_json::to_string_pretty(one)?,
        many => serde_json::to_string_pretty(many)?,
    };
    Ok(format!("{text}\n"))
}
