//! `-o FILE` of `show` and `bench`: write-ups of records as HTML, Markdown and LaTeX, their answers as CSV and JSON.

use std::path::{Path, PathBuf};

use assay_report::document::{self, Report};
use assay_report::separated;
use assay_store::{Index, Record};

use crate::answer;
use crate::failure::Mistake;
use crate::output::{self, ending};
use crate::screen::Screen;
use crate::write_up;

/// Writes a report for each file, in the format of its ending. Nothing is written if one of them cannot be made.
pub fn write(
    files: &[PathBuf],
    records: &[Record],
    metrics: &[String],
    screen: &mut Screen,
) -> anyhow::Result<()> {
    files.iter().try_for_each(|file| check(file))?;
    let is_table = |file: &&PathBuf| matches!(ending(file), "csv" | "json");
    let report = match files.iter().all(|file| is_table(&file)) {
        true => Report::default(),
        false => document::write_up(&write_up::gather(records, metrics)?),
    };
    for file in files {
        match ending(file) {
            _ if is_standard(file) => screen.data(&document::markdown(&report, "report").text)?,
            "csv" => output::write(file, &csv(records, metrics)?, screen)?,
            "json" => output::write(file, &json(records, metrics)?, screen)?,
            _ => {
                if let Some(rendered) = write_up::render(&report, file) {
                    write_up::write(file, &rendered, screen)?;
                }
            }
        }
    }
    Ok(())
}

/// Refuses a file that cannot be written, before anything is measured for it.
pub fn check(file: &Path) -> Result<(), Mistake> {
    let known = ["html", "md", "tex", "csv", "json"];
    if !is_standard(file) && !known.contains(&ending(file)) {
        return Err(write_up::unknown_format(ending(file)));
    }
    output::refuse_record(file)?;
    match file.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        Some(parent) => {
            let text = format!("cannot write {}: no directory {}", file.display(), parent.display());
            Err(Mistake::new(text, "create the directory first"))
        }
        None => Ok(()),
    }
}

fn is_standard(file: &Path) -> bool {
    file == Path::new("-")
}

/// The metrics that were named, or the headline.
fn wanted(metrics: &[String]) -> Vec<Option<&str>> {
    match metrics {
        [] => vec![None],
        named => named.iter().map(|metric| Some(metric.as_str())).collect(),
    }
}

/// One table per record and metric; equal columns share one header, others follow after an empty line.
fn csv(records: &[Record], metrics: &[String]) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut header = String::new();
    for record in records {
        let index: Index = record.index()?;
        for metric in wanted(metrics) {
            let (answer, _) = answer::judged(&index, metric, usize::MAX)?;
            let table = separated::answer(&answer)?;
            let (names, rows) = table.split_once('\n').unwrap_or((&table, ""));
            if names != header {
                if !header.is_empty() {
                    text.push('\n');
                }
                text.push_str(&format!("{names}\n"));
                names.clone_into(&mut header);
            }
            text.push_str(rows);
        }
    }
    Ok(text)
}

/// One object, or a list of them for several records or metrics.
pub fn json(records: &[Record], metrics: &[String]) -> anyhow::Result<String> {
    let mut answers = Vec::new();
    for record in records {
        let index = record.index()?;
        for metric in wanted(metrics) {
            answers.push(answer::answer_json(record, &index, metric)?);
        }
    }
    Ok(match answers.as_slice() {
        [one] => output::json(one)?,
        many => output::json(many)?,
    })
}
