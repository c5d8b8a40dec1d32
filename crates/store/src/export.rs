//! Tables of the index as CSV, JSON lines or Parquet. Rows are written as they are read, so memory stays flat.

mod parquet;
mod source;
mod text;

use std::io::{self, Write};

use crate::{Datum, Index, StoreError};

/// Which table to export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportTable {
    /// One row a run, with its settings as columns `setting.<name>` and its metrics as columns `metric.<name>`.
    Runs,
    /// One row a fact found in a run.
    Observations,
    /// One row a value of a series.
    Series,
}

impl ExportTable {
    /// All tables.
    pub const ALL: [ExportTable; 3] = [ExportTable::Runs, ExportTable::Observations, ExportTable::Series];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ExportTable::Runs => "runs",
            ExportTable::Observations => "observations",
            ExportTable::Series => "series",
        }
    }
}

/// How to write a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Values separated by commas, with a line of names first. What is missing is an empty field.
    Csv,
    /// One JSON object a line. What is missing is `null`.
    JsonLines,
    /// Apache Parquet, uncompressed with dictionaries. What is missing is null.
    Parquet,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [ExportFormat; 3] = [ExportFormat::Csv, ExportFormat::JsonLines, ExportFormat::Parquet];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Csv => "CSV",
            ExportFormat::JsonLines => "JSON lines",
            ExportFormat::Parquet => "Parquet",
        }
    }

    /// The usual ending of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            ExportFormat::Csv => "csv",
            ExportFormat::JsonLines => "jsonl",
            ExportFormat::Parquet => "parquet",
        }
    }
}

/// Writes a table.
pub fn export(
    index: &Index,
    table: ExportTable,
    format: ExportFormat,
    out: &mut dyn Write,
) -> Result<(), StoreError> {
    let failed = failed(table.name(), format);
    let columns = source::columns(index, table)?;
    let mut sink = sink(&columns, format, out).map_err(failed)?;
    source::each_row(index, table, &columns, &mut |row| sink.row(row)).map_err(failed)?;
    sink.finish().map_err(failed)
}

fn sink<'o>(
    columns: &[ExportColumn],
    format: ExportFormat,
    out: &'o mut dyn Write,
) -> Result<Box<dyn Sink + 'o>, Obstacle> {
    Ok(match format {
        ExportFormat::Csv => Box::new(text::Csv::new(out, columns)?),
        ExportFormat::JsonLines => Box::new(text::JsonLines::new(out, columns)?),
        ExportFormat::Parquet => Box::new(parquet::Parquet::new(out, columns)?),
    })
}

/// A table of somebody else's, written row by row in any of the formats.
pub struct Rows<'o> {
    table: &'static str,
    format: ExportFormat,
    sink: Box<dyn Sink + 'o>,
}

impl<'o> Rows<'o> {
    /// Begins a table with these columns.
    pub fn new(
        table: &'static str,
        columns: &[(&str, ColumnKind)],
        format: ExportFormat,
        out: &'o mut dyn Write,
    ) -> Result<Rows<'o>, StoreError> {
        let named = columns.iter().map(|(name, kind)| ExportColumn { name: (*name).to_owned(), kind: *kind });
        let sink = sink(&named.collect::<Vec<_>>(), format, out).map_err(failed(table, format))?;
        Ok(Rows { table, format, sink })
    }

    /// Adds a row: a value for each column, nothing or of the column's kind, where a switch is the number 0 or 1.
    pub fn row(&mut self, row: &[Datum]) -> Result<(), StoreError> {
        self.sink.row(row).map_err(failed(self.table, self.format))
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<(), StoreError> {
        self.sink.finish().map_err(failed(self.table, self.format))
    }
}

fn failed(table: &'static str, format: ExportFormat) -> impl Fn(Obstacle) -> StoreError + Copy {
    move |obstacle| StoreError::Export { table, format: format.name(), reason: obstacle.0 }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ExportColumn {
    name: String,
    kind: ColumnKind,
}

/// What a column holds, apart from nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Texts.
    Text,
    /// Integers.
    Integer,
    /// Numbers.
    Float,
    /// Yes or no, as the numbers 1 and 0.
    Switch,
}

/// Takes the rows of a table. Each row has a value for each column: nothing, or of the column's kind, where a switch
/// is the number 0 or 1.
trait Sink {
    fn row(&mut self, row: &[Datum]) -> Result<(), Obstacle>;

    fn finish(self: Box<Self>) -> Result<(), Obstacle>;
}

/// Why a row could not be written or read.
struct Obstacle(String);

impl From<io::Error> for Obstacle {
    fn from(error: io::Error) -> Obstacle {
        Obstacle(error.to_string())
    }
}

impl From<rusqlite::Error> for Obstacle {
    fn from(error: rusqlite::Error) -> Obstacle {
        Obstacle(error.to_string())
    }
}

#[cfg(test)]
mod tests;
