//! `export`: runs, observations or series as CSV, JSON lines or Parquet.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Context;
use assay_store::{Format, Table};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::{Export, Exported};
use crate::output::ending;
use crate::records;
use crate::screen::Screen;

/// Writes one table of a record to a file.
pub fn export(options: &Export, screen: &mut Screen) -> anyhow::Result<Exit> {
    let ending = ending(&options.output);
    let format = Format::ALL.into_iter().find(|format| format.extension() == ending).ok_or_else(|| {
        let endings: Vec<String> =
            Format::ALL.iter().map(|format| format!(".{}", format.extension())).collect();
        Mistake::new(
            format!("no export format for the ending `.{ending}`"),
            format!("use {}", endings.join(", ")),
        )
    })?;
    let table = match options.table {
        Exported::Runs => Table::Runs,
        Exported::Observations => Table::Observations,
        Exported::Series => Table::Series,
    };
    let record = records::open(options.record.as_deref())?;
    let path = options.output.display();
    let file = File::create(&options.output).with_context(|| format!("cannot write {path}"))?;
    let mut writer = BufWriter::new(file);
    assay_store::export(&record.index()?, table, format, &mut writer)?;
    writer.flush().with_context(|| format!("cannot write {path}"))?;
    screen.say(&format!("wrote {path}"));
    Ok(Exit::Fine)
}
