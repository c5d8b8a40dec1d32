//! `query`: query a record with SQL, or export one of its tables.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context;
use assay_report::{Cell, Column, Table};
use assay_store::{ColumnKind, Datum, ExportFormat, Index, Rows, SqlRows};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Query;
use crate::output::{create, ending, protect};
use crate::records;
use crate::screen::Screen;
use crate::signals::stop_flag;

/// How long a query may go on after its time limit or Ctrl-C. SQLite looks at neither inside one of its functions.
const GRACE: Duration = Duration::from_secs(1);
/// Time between two looks at a query.
const LOOK: Duration = Duration::from_millis(100);

/// Prints the rows, or writes them to files.
pub fn query(options: &Query, screen: &mut Screen) -> anyhow::Result<Exit> {
    let formats: Vec<ExportFormat> =
        options.output.iter().map(|file| format(file)).collect::<Result<_, _>>()?;
    protect(&options.output, &[])?;
    let record = records::open(options.record.as_deref())?;
    let index = record.index()?;
    records::warn_of_damage(&record, &index.summary()?.damage, screen);
    let limit = assay_model::duration::parse_duration(&options.timeout)
        .map_err(|reason| Mistake::new(reason, "for example `--timeout 90s`"))?;
    // From here on Ctrl-C ends the query, which the index looks for, and not the program.
    let stop = stop_flag()?;
    let limit = Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX);
    index.limit_queries(limit, Arc::clone(&stop))?;
    let limits = QueryLimits { limit, stop: Arc::clone(&stop) };
    match answer(options, &formats, index, &limits, screen) {
        Err(_) if stop.load(Ordering::Relaxed) => {
            screen.say("query interrupted");
            Ok(Exit::Interrupted)
        }
        other => other.map(|()| Exit::Fine),
    }
}

/// What ends a query.
struct QueryLimits {
    limit: Duration,
    stop: Arc<AtomicBool>,
}

impl QueryLimits {
    /// The rows of a query. One that cannot be stopped is left alone: it ends with the program.
    fn rows(&self, index: Index, sql: String) -> anyhow::Result<SqlRows> {
        let (sender, receiver) = mpsc::channel();
        std::thread::Builder::new()
            .spawn(move || sender.send(index.query(&sql)))
            .context("the system refused a thread for the query")?;
        let began = Instant::now();
        let mut stopped: Option<Instant> = None;
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(rows) => return Ok(rows?),
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the query ended without an answer"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if stopped.is_none() && (self.stop.load(Ordering::Relaxed) || began.elapsed() >= self.limit) {
                stopped = Some(Instant::now());
            }
            if stopped.is_some_and(|stopped| stopped.elapsed() >= GRACE) {
                let text = "query failed: it took longer than its time limit";
                return Err(Mistake::new(text, "`--timeout` sets another limit").into());
            }
        }
    }
}

fn answer(
    options: &Query,
    formats: &[ExportFormat],
    index: Index,
    limits: &QueryLimits,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    // Whole tables are exported row by row, so that their size does not matter.
    if let Some(table) = named(&options.sql).filter(|_| !options.output.is_empty()) {
        return write_each(options, formats, screen, &mut |format, writer| {
            Ok(assay_store::export(&index, table, format, writer)?)
        });
    }
    let rows = limits.rows(index, sql(&options.sql))?;
    if !options.output.is_empty() {
        return write_each(options, formats, screen, &mut |format, writer| write_rows(&rows, format, writer));
    }
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
fn named(text: &str) -> Option<assay_store::ExportTable> {
    assay_store::ExportTable::ALL.into_iter().find(|table| table.name() == text.trim())
}

/// The query as SQL: the name of a table stands for all its rows.
fn sql(text: &str) -> String {
    match named(text) {
        Some(assay_store::ExportTable::Runs) => "select * from runs".to_owned(),
        Some(assay_store::ExportTable::Observations) => "select * from observation".to_owned(),
        Some(assay_store::ExportTable::Series) => "select * from series".to_owned(),
        None => text.to_owned(),
    }
}

fn format(file: &Path) -> Result<ExportFormat, Mistake> {
    let ending = ending(file);
    ExportFormat::ALL.into_iter().find(|format| format.extension() == ending).ok_or_else(|| {
        let endings = ExportFormat::ALL.map(|format| format!(".{}", format.extension()));
        let hint = format!("use {}", endings.join(", "));
        Mistake::new(format!("no export format for the extension `.{ending}`"), hint)
    })
}

/// Writes every file that was asked for.
fn write_each(
    options: &Query,
    formats: &[ExportFormat],
    screen: &mut Screen,
    write: &mut dyn FnMut(ExportFormat, &mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for (file, format) in options.output.iter().zip(formats) {
        let mut writer = BufWriter::new(create(file)?);
        write(*format, &mut writer)?;
        writer.flush().with_context(|| format!("cannot write {}", file.display()))?;
        screen.say(&format!("wrote {}", file.display()));
    }
    Ok(())
}

fn write_rows(rows: &SqlRows, format: ExportFormat, out: &mut dyn Write) -> anyhow::Result<()> {
    let kinds: Vec<ColumnKind> = (0..rows.columns.len()).map(|column| kind(rows, column)).collect();
    let columns: Vec<(&str, ColumnKind)> = rows.columns.iter().map(String::as_str).zip(kinds).collect();
    let mut writer = Rows::new("query", &columns, format, out)?;
    for row in &rows.rows {
        let data: Vec<Datum> =
            row.iter().zip(&columns).map(|(datum, (_, kind))| fitting(datum, *kind)).collect();
        writer.row(&data)?;
    }
    Ok(writer.finish()?)
}

/// A kind that all values of a column fit.
fn kind(rows: &SqlRows, column: usize) -> ColumnKind {
    let data = || rows.rows.iter().filter_map(|row| row.get(column));
    if data().any(|datum| matches!(datum, Datum::Text(_) | Datum::Bytes(_))) {
        ColumnKind::Text
    } else if data().any(|datum| matches!(datum, Datum::Float(_))) {
        ColumnKind::Float
    } else {
        ColumnKind::Integer
    }
}

fn fitting(datum: &Datum, kind: ColumnKind) -> Datum {
    match (kind, datum) {
        (_, Datum::Null) => Datum::Null,
        (ColumnKind::Text, other) => Datum::Text(other.to_string()),
        (ColumnKind::Float, Datum::Integer(number)) => Datum::Float(*number as f64),
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
        ColumnKind::Text => Column::left(name),
        _ => Column::right(name),
    });
    Table {
        columns: columns.collect(),
        rows: texts(rows).into_iter().map(|row| row.into_iter().map(Cell::new).collect()).collect(),
        ..Table::default()
    }
}
