//! `show`: print what records answer, list their runs, or write a report.

mod runs;

use std::path::Path;

use assay_report::document::{Drawing, figures};
use assay_report::plots;
use assay_store::Record;

use crate::answer::print;
use crate::exit::Exit;
use crate::options::Show;
use crate::screen::Screen;
use crate::workloads::chat::report::{self as loads, ReportOptions};
use crate::{records, report_file, write_up};

/// Prints the answers of records.
pub fn show(options: &Show, screen: &mut Screen) -> anyhow::Result<Exit> {
    if let [path] = options.records.as_slice()
        && is_load_file(path)
    {
        let read = loads::of_file(path)?;
        let wanted = ReportOptions { json: options.json, ..ReportOptions::default() };
        loads::print(&read, &wanted, &path.display().to_string(), screen)?;
        return Ok(Exit::Fine);
    }
    let opened: Vec<Record> = match options.records.as_slice() {
        [] => vec![records::open(None)?],
        named => named.iter().map(|path| records::open(Some(path))).collect::<Result<_, _>>()?,
    };
    if !options.output.is_empty() {
        report_file::write(&options.output, &opened, &options.metric, screen)?;
        return Ok(Exit::Fine);
    }
    if options.json {
        screen.json_text(&report_file::json(&opened, &options.metric)?)?;
        return Ok(Exit::Fine);
    }
    for (position, record) in opened.iter().enumerate() {
        if position > 0 {
            screen.data("\n")?;
        }
        print(options, record, screen)?;
    }
    Ok(Exit::Fine)
}

/// Prints the answer of one record.
fn print(options: &Show, record: &Record, screen: &mut Screen) -> anyhow::Result<()> {
    let index = record.index()?;
    if options.runs {
        let metric = options.metric.first().map(String::as_str);
        return Ok(screen.table(&runs::table(record, &index, metric, options.all)?)?);
    }
    let metrics: Vec<Option<&str>> = match options.metric.as_slice() {
        [] => vec![None],
        named => named.iter().map(|metric| Some(metric.as_str())).collect(),
    };
    for (position, metric) in metrics.iter().enumerate() {
        if position > 0 {
            screen.data("\n")?;
        }
        print::print_table(record, &index, *metric, options.all, screen)?;
    }
    if options.plot || screen.has_terminal() {
        print_plots(record, &options.metric, screen)?;
    }
    print::print_gates(record, &index, screen)?;
    print::print_failures(record, &index, screen)?;
    loads::print_record(record, &index, screen)
}

/// Prints every run as a dot, and the ratios with their intervals.
fn print_plots(record: &Record, metrics: &[String], screen: &mut Screen) -> anyhow::Result<()> {
    let gathered = write_up::gather(std::slice::from_ref(record), metrics)?;
    for figure in gathered.studies.iter().flat_map(figures) {
        let (title, lines) = match &figure.drawing {
            Drawing::Cells(cells) => (&cells.title, plots::cells(cells, screen.width())),
            Drawing::Forest(forest) => (&forest.title, plots::ratios(forest, screen.width())),
            _ => continue,
        };
        if !lines.is_empty() {
            screen.data(&format!("\n{title}\n{}\n", lines.join("\n")))?;
        }
    }
    Ok(())
}

/// Whether a path is a load that an earlier version kept in a file of its own.
fn is_load_file(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|ending| ending == "assay")
}
