//! `rm`: remove records, after asking.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use assay_report::number::counted;
use assay_report::{Cell, Column, Table};
use assay_store::{RecordSummary, list_records, remove_record};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Rm;
use crate::records::{self, last_used, last_used_ago, shown};
use crate::screen::Screen;

/// Lists the chosen records, asks, and removes them.
pub fn rm(options: &Rm, screen: &mut Screen) -> anyhow::Result<Exit> {
    let now = assay_launch::worker::now();
    let chosen = match options.older_than {
        Some(age_s) => older_than(age_s, now)?,
        None => named(&options.records)?,
    };
    if chosen.is_empty() {
        screen.say("no records to remove");
        return Ok(Exit::Fine);
    }
    screen.table(&table(&chosen, now))?;
    if !options.yes && !confirmed(chosen.len(), screen)? {
        screen.say("nothing removed");
        return Ok(Exit::Fine);
    }
    let writer = records::writer(String::new(), assay_launch::probe::machine().host);
    for record in &chosen {
        match remove_record(&record.path, &writer)? {
            true => screen.say(&format!("removed {}", shown(&record.path))),
            false => {
                screen.say(&format!("removed the record in {}; other files were kept", shown(&record.path)))
            }
        }
    }
    Ok(Exit::Fine)
}

/// Records that were last used longer ago than this. Those that cannot be read or are damaged have no known age and are
/// kept.
fn older_than(age_s: f64, now: f64) -> anyhow::Result<Vec<RecordSummary>> {
    let mut records = list_records(Path::new("."))?;
    let is_readable = |record: &RecordSummary| {
        record.contents.as_ref().is_ok_and(|contents| contents.created > 0.0 && contents.damage.is_harmless())
    };
    records.retain(|record| is_readable(record) && now - last_used(record) > age_s);
    Ok(records)
}

fn named(names: &[PathBuf]) -> anyhow::Result<Vec<RecordSummary>> {
    let mut chosen: Vec<RecordSummary> = Vec::new();
    for name in names {
        let record = records::open(Some(name))?;
        if record.directory().is_symlink() {
            let text = format!("{} is a link", shown(record.directory()));
            return Err(Mistake::new(text, "name the record that it leads to").into());
        }
        let found = list_records(record.directory())?;
        let new = |summary: &RecordSummary| !chosen.iter().any(|other| other.path == summary.path);
        let found: Vec<RecordSummary> = found.into_iter().filter(new).collect();
        chosen.extend(found);
    }
    Ok(chosen)
}

fn table(chosen: &[RecordSummary], now: f64) -> Table {
    let rows = chosen.iter().map(|record| {
        let runs = record.contents.as_ref().map_or(0, |contents| contents.runs.total());
        let age = last_used_ago(record, now);
        vec![Cell::new(shown(&record.path)), Cell::new(runs.to_string()), Cell::new(age)]
    });
    Table {
        columns: vec![Column::left("record"), Column::right("runs"), Column::right("last used")],
        rows: rows.collect(),
        ..Table::default()
    }
}

fn confirmed(count: usize, screen: &mut Screen) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        let text = "cannot ask for confirmation: standard input is not a terminal";
        return Err(Mistake::new(text, "`--yes` removes without asking").into());
    }
    screen.say(&format!("Remove {} with all their runs? [y/N]", counted(count as u64, "record")));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
