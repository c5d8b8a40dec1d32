//! `query`: ask a record's index with SQL.

use assay_report::{Cell, Column, Table};
use assay_store::{Datum, SqlRows};

use crate::exit::Exit;
use crate::options::Query;
use crate::records;
use crate::screen::Screen;

/// Asks and prints the rows.
pub fn query(options: &Query, screen: &mut Screen) -> anyhow::Result<Exit> {
    let record = records::open(options.record.as_deref())?;
    let rows = record.index()?.query(&options.sql)?;
    if options.json {
        screen.json_text(&json_lines(&rows)?)?;
    } else if options.csv {
        screen.data(&assay_report::separated::rows(&rows.columns, &texts(&rows))?)?;
    } else {
        screen.table(&table(&rows))?;
    }
    Ok(Exit::Fine)
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
    let numeric = |column: usize| {
        rows.rows.iter().all(|row| !matches!(row.get(column), Some(Datum::Text(_) | Datum::Bytes(_))))
    };
    let columns = rows
        .columns
        .iter()
        .enumerate()
        .map(|(index, name)| if numeric(index) { Column::right(name) } else { Column::left(name) });
    Table {
        columns: columns.collect(),
        rows: texts(rows).into_iter().map(|row| row.into_iter().map(Cell::new).collect()).collect(),
        ..Table::default()
    }
}
