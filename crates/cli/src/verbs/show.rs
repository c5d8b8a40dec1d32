//! `show`: print what a record answers, or its runs.

use std::path::Path;

use assay_model::Status;
use assay_report::number::{duration, single};
use assay_report::{Cell, Column, Table, Tone};
use assay_store::{Index, Record, RunFilter};

use crate::answer;
use crate::exit::Exit;
use crate::options::Show;
use crate::records;
use crate::screen::Screen;
use crate::workloads::chat::report::{self, ReportOptions};

/// Prints the answer of a record.
pub fn show(options: &Show, screen: &mut Screen) -> anyhow::Result<Exit> {
    if let Some(path) = options.record.as_deref().filter(|path| is_load_file(path)) {
        let loads = report::of_file(path)?;
        let wanted = ReportOptions { json: options.json, ..ReportOptions::default() };
        report::print(&loads, &wanted, &path.display().to_string(), screen)?;
        return Ok(Exit::Fine);
    }
    let record = records::open(options.record.as_deref())?;
    let index = record.index()?;
    let metric = options.metric.as_deref();
    if options.json {
        screen.json(&answer::answer_json(&record, &index, metric)?)?;
    } else if options.runs {
        screen.table(&runs_table(&record, &index, metric, options.all)?)?;
    } else {
        answer::print::print_table(&record, &index, metric, options.all, screen)?;
        answer::print::print_gates(&record, &index, screen)?;
        answer::print::print_failures(&record, &index, screen)?;
        report::print_record(&record, &index, screen)?;
    }
    Ok(Exit::Fine)
}

/// Whether a path is a load that an earlier version kept in a file of its own.
fn is_load_file(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|ending| ending == "assay")
}

fn runs_table(record: &Record, index: &Index, metric: Option<&str>, all: bool) -> anyhow::Result<Table> {
    let subject = answer::subject(index, metric)?;
    let most = if all { None } else { Some(200) };
    let rows = index.runs(&RunFilter { last: most, ..RunFilter::default() })?;
    let total = subject.summary.runs.total();
    let mut table = Table {
        heading: vec![format!("Runs of {} in {}", subject.summary.name, records::shown(record.directory()))],
        columns: ["run", "status", "wall", &subject.metric, "directory"]
            .into_iter()
            .map(Column::left)
            .collect(),
        ..Table::default()
    };
    for row in &rows {
        let failed = !matches!(row.status, Some(Status::Succeeded) | None);
        let status = row.status.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string);
        let value = index.observations(&row.run)?.into_iter().find(|found| found.metric == subject.metric);
        let mark = if row.current { "" } else { " (redone)" };
        table.rows.push(vec![
            Cell::new(format!("{} {}{mark}", row.run.cell.short(), row.run.leaf())),
            Cell::toned(status, if failed { Tone::Bad } else { Tone::Plain }),
            Cell::new(row.usage.as_ref().map(|usage| duration(usage.wall_s)).unwrap_or_default()),
            Cell::new(value.map(|found| single(&found.unit, found.value)).unwrap_or_default()),
            Cell::toned(row.directory.clone(), Tone::Faint),
        ]);
    }
    if (rows.len() as u64) < total {
        table.notes.push(format!("the last {} of {total} runs; `--all` shows them all", rows.len()));
    }
    table.notes.push("each directory has run.sh, which redoes the run, and its output".to_owned());
    Ok(table)
}
