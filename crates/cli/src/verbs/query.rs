//! `query`: query a record with SQL, or export one of its tables.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use assay_report::{Cell, Column, Table};
use assay_store::{Datum, Format, Index, Kind, Rows, SqlRows};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Query;
use crate::output::{create, ending};
use crate::records;
use crate::screen::Screen;
use crate::signals::stop_flag;

/// Prints the rows, or writes them to files.
pub fn query(options: &Query, screen: &mut Screen) -> anyhow::Result<Exit> {
    let formats: Vec<Format> = options.output.iter().map(|file| format(file)).collect::<Result<_, _>>()?;
    let record = records::open(options.record.as_deref())?;
    let index = record.index()?;
    records::warn_of_damage(&record, &index.summary()?.damage, screen);
    let limit = assay_model::duration::parse_duration(&options.timeout)
        .map_err(|reason| Mistake::new(reason, "for example `--timeout 90s`"))?;
    // From here on Ctrl-C ends the query, which the index looks for, and not the program.
    let stop = stop_flag()?;
    let limit = Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX);
    index.limit_queries(limit, Arc::clone(&stop))?;
    match answer(options, &formats, &index, screen) {
        Err(_) if stop.load(Ordering::Relaxed) => {
            screen.say("query interrupted");
            Ok(Exit::Interrupted)
        }
        other => other.map(|()| Exit::Fine),
    }
}

fn answer(options: &Query, formats: &[Format], index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    for (file, format) in options.output.iter().zip(formats) {
        export(index, &options.sql, *format, file)?;
        screen.say(&format!("wrote {}", file.display()));
    }
    if !options.output.is_empty() {
        return Ok(());
    }
    let rows = index.query(&sql(&options.sql))?;
    if options.json {
        screen.json_text(&json_lines(&rows)?)?;
    } else if options.csv {
        screen.data(&assay_report::separated::rows(&rows.columns, &texts(&rows))?)?;
    } else {
        screen.wide_table(&table(&rows))?;
    }
    Ok(())
}

/// The table of this name.
fn named(text: &str) -> Option<assay_store::Table> {
    assay_store::Table::ALL.into_iter().find(|table| table.name() == text.trim())
}

/// The query as SQL: the name of a table stands for all its rows.
fn sql(text: &str) -> String {
    match named(text) {
        Some(assay_store::Table::Runs) => "select * from runs".to_owned(),
        Some(assay_store::Table::Observations) => "select * from observation".to_owned(),
        Some(assay_store::Table::Series) => "select * from series".to_owned(),
        None => text.to_owned(),
    }
}

fn format(file: &Path) -> Result<Format, Mistake> {
    let ending = ending(file);
    Format::ALL.into_iter().find(|format| format.extension() == ending).ok_or_else(|| {
        let endings = Format::ALL.map(|format| format!(".{}", format.extension()));
        let hint = format!("use {}", endings.join(", "));
        Mistake::new(format!("no export format for the ending `.{ending}`"), hint)
    })
}

/// Writes a table, or the rows that SQL gives, to a file.
fn export(index: &Index, text: &str, format: Format, file: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", file.display());
    // A wrong query must not leave an empty file behind.
    let rows = match named(text) {
        Some(_) => None,
        None => Some(index.query(text)?),
    };
    let mut writer = BufWriter::new(create(file)?);
    match (named(text), rows) {
        (Some(table), _) => assay_store::export(index, table, format, &mut writer)?,
        (None, Some(rows)) => write_rows(&rows, format, &mut writer)?,
        (None, None) => {}
    }
    writer.flush().with_context(failed)
}

fn write_rows(rows: &SqlRows, format: Format, out: &mut dyn Write) -> anyhow::Result<()> {
    let kinds: Vec<Kind> = (0..rows.columns.len()).map(|column| kind(rows, column)).collect();
    let columns: Vec<(&str, Kind)> = rows.columns.iter().map(String::as_str).zip(kinds).collect();
    let mut writer = Rows::new("query", &columns, format, out)?;
    for row in &rows.rows {
        let data: Vec<Datum> =
            row.iter().zip(&columns).map(|(datum, (_, kind))| fitting(datum, *kind)).collect();
        writer.row(&data)?;
    }
    Ok(writer.finish()?)
}

/// A kind that all values of a column fit.
fn kind(rows: &SqlRows, column: usize) -> Kind {
    let data = || rows.rows.iter().filter_map(|row| row.get(column));
    if data().any(|datum| matches!(datum, Datum::Text(_) | Datum::Bytes(_))) {
        Kind::Text
    } else if data().any(|datum| matches!(datum, Datum::Float(_))) {
        Kind::Float
    } else {
        Kind::Integer
    }
}

fn fitting(datum: &Datum, kind: Kind) -> Datum {
    match (kind, datum) {
        (_, Datum::Null) => Datum::Null,
        (Kind::Text, other) => Datum::Text(other.to_string()),
        (Kind::Float, Datum::Integer(number)) => Datum::Float(*number as f64),
        (_, other) => other.clone(),
    }
}

fn json_lines(rows: &SqlRows) -> anyhow::Result<String> {
    let mut text = String::new();
    for row in &rows.rows {
        let object: serde_json::Map<String, serde_json::Value> =
            rows.columns.iter().cloned().zip(row.iter().map(json)).collect();
        text.push_str(&serde_json::to_string(&object)?);
        text.push('\n');
    }
    Ok(text)
}

fn json(datum: &Datum) -> serde_json::Value {
    match datum {
        Datum::Null => serde_json::Value::Null,
        Datum::Integer(number) => (*number).into(),
        Datum::Float(number) => (*number).into(),
        Datum::Text(_) | Datum::Bytes(_) => datum.to_string().into(),
    }
}

fn texts(rows: &SqlRows) -> Vec<Vec<String>> {
    rows.rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

fn table(rows: &SqlRows) -> Table {
    let columns = rows.columns.iter().enumerate().map(|(index, name)| match kind(rows, index) {
        Kind::Text => Column::left(name),
        _ => Column::right(name),
    });
    Table {
        columns: columns.collect(),
        rows: texts(rows).into_iter().map(|row| row.into_iter().map(Cell::new).collect()).collect(),
        ..Table::default()
    }
}
