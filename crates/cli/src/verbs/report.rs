//! `report`: write what a record says to a file.

use assay_report::{markdown, separated};
use assay_store::{Index, Record};

use crate::answer::{self, layout};
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Report;
use crate::output::{self, ending};
use crate::records;
use crate::screen::Screen;

/// Writes a report in the format that the file's ending asks for.
pub fn report(options: &Report, screen: &mut Screen) -> anyhow::Result<Exit> {
    let record = records::open(options.record.as_deref())?;
    let index = record.index()?;
    let metrics: Vec<Option<&str>> = match options.metric.as_slice() {
        [] => vec![None],
        named => named.iter().map(|metric| Some(metric.as_str())).collect(),
    };
    let ending = options.output.as_deref().map_or("md", ending);
    let text = match ending {
        "md" => in_markdown(&record, &index, &metrics)?,
        "csv" => in_csv(&index, &metrics)?,
        "json" => in_json(&record, &index, &metrics)?,
        other => {
            let text = format!("no report format for the ending `.{other}`");
            return Err(Mistake::new(
                text,
                "use .md, .csv or .json; `assay export` writes .jsonl and .parquet",
            )
            .into());
        }
    };
    match &options.output {
        None => screen.data(&text)?,
        Some(path) => {
            output::write(path, &text, screen)?;
        }
    }
    Ok(Exit::Fine)
}

fn in_markdown(record: &Record, index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if *metrics == [None] {
        let tables = layout::tables(index, &answer::subject(index, None)?)?;
        parts.extend(tables.iter().map(markdown::render));
    }
    for metric in metrics {
        let (answer, subject) = answer::judged_for_people(index, *metric, usize::MAX)?;
        parts.push(markdown::render(&assay_report::answer::table(&answer, subject.question(), usize::MAX)));
    }
    let gates = answer::gates(record, index)?;
    if !gates.is_empty() {
        parts.push(markdown::render(&assay_report::gates::table(&gates)));
    }
    Ok(parts.join("\n"))
}

/// One table for one metric; the columns are the same for all of a record's metrics, so they share one header.
fn in_csv(index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
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

fn in_json(record: &Record, index: &Index, metrics: &[Option<&str>]) -> anyhow::Result<String> {
    let answers: Result<Vec<_>, _> =
        metrics.iter().map(|metric| answer::answer_json(record, index, *metric)).collect();
    let answers = answers?;
    let text = match answers.as_slice() {
        [one] => serde_json::to_string_pretty(one)?,
        many => serde_json::to_string_pretty(many)?,
    };
    Ok(format!("{text}\n"))
}
