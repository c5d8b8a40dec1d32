//! `show`: print what a record answers, list its runs, or write a report.

mod report;
mod runs;

use std::path::Path;

use crate::answer::print;
use crate::exit::Exit;
use crate::options::Show;
use crate::records;
use crate::screen::Screen;
use crate::workloads::chat::report::{self as loads, ReportOptions};

/// Prints the answer of a record.
pub fn show(options: &Show, screen: &mut Screen) -> anyhow::Result<Exit> {
    if let Some(path) = options.record.as_deref().filter(|path| is_load_file(path)) {
        let read = loads::of_file(path)?;
        let wanted = ReportOptions { json: options.json, ..ReportOptions::default() };
        loads::print(&read, &wanted, &path.display().to_string(), screen)?;
        return Ok(Exit::Fine);
    }
    let record = records::open(options.record.as_deref())?;
    let index = record.index()?;
    let metrics: Vec<Option<&str>> = match options.metric.as_slice() {
        [] => vec![None],
        named => named.iter().map(|metric| Some(metric.as_str())).collect(),
    };
    if !options.output.is_empty() {
        return report::write(&options.output, &record, &index, &metrics, screen);
    }
    if options.json {
        screen.json_text(&report::json(&record, &index, &metrics)?)?;
    } else if options.runs {
        let metric = options.metric.first().map(String::as_str);
        screen.table(&runs::table(&record, &index, metric, options.all)?)?;
    } else {
        for (position, metric) in metrics.iter().enumerate() {
            if position > 0 {
                screen.data("\n")?;
            }
            print::print_table(&record, &index, *metric, options.all, screen)?;
        }
        print::print_gates(&record, &index, screen)?;
        print::print_failures(&record, &index, screen)?;
        loads::print_record(&record, &index, screen)?;
    }
    Ok(Exit::Fine)
}

/// Whether a path is a load that an earlier version kept in a file of its own.
fn is_load_file(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|ending| ending == "assay")
}
