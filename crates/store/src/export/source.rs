//! The rows to export.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use super::{ColumnKind, ExportColumn, ExportTable, Obstacle};
use crate::index::{is_broken, parse_json, wide};
use crate::{Datum, Index, StoreError};

type Take<'t> = dyn FnMut(&[Datum]) -> Result<(), Obstacle> + 't;

const OBSERVATIONS: [(&str, ColumnKind); 9] = [
    ("run", ColumnKind::Text),
    ("metric", ColumnKind::Text),
    ("value", ColumnKind::Float),
    ("unit", ColumnKind::Text),
    ("scope", ColumnKind::Text),
    ("origin", ColumnKind::Text),
    ("file", ColumnKind::Text),
    ("line", ColumnKind::Integer),
    ("counts", ColumnKind::Switch),
];

const SERIES: [(&str, ColumnKind); 5] = [
    ("run", ColumnKind::Text),
    ("metric", ColumnKind::Text),
    ("unit", ColumnKind::Text),
    ("step", ColumnKind::Integer),
    ("value", ColumnKind::Float),
];

/// The columns of a table. Those of runs depend on what settings and metrics there are.
pub(super) fn columns(index: &Index, table: ExportTable) -> Result<Vec<ExportColumn>, StoreError> {
    let fixed: &[(&str, ColumnKind)] = match table {
        ExportTable::Runs => &wide::FIXED,
        ExportTable::Observations => &OBSERVATIONS,
        ExportTable::Series => &SERIES,
    };
    let mut columns: Vec<ExportColumn> =
        fixed.iter().map(|(name, kind)| ExportColumn { name: (*name).to_owned(), kind: *kind }).collect();
    if table == ExportTable::Runs {
        let settings = index.ask(setting_kinds)?;
        let (names, kinds): (Vec<String>, Vec<ColumnKind>) = settings.into_iter().unzip();
        let names = wide::with_columns("setting", &names).map(|(_, name)| name).zip(kinds);
        columns.extend(names.map(|(name, kind)| ExportColumn { name, kind }));
        let metrics = index.ask(wide::metrics)?;
        let names = wide::with_columns("metric", &metrics).map(|(_, name)| name);
        columns.extend(names.map(|name| ExportColumn { name, kind: ColumnKind::Float }));
    }
    Ok(columns)
}

/// The settings by name, each with a kind that all its values fit.
fn setting_kinds(connection: &Connection) -> rusqlite::Result<BTreeMap<String, ColumnKind>> {
    let mut statement = connection.prepare("select distinct name, kind from setting_data")?;
    let mut rows = statement.query([])?;
    let mut kinds: BTreeMap<String, ColumnKind> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let kind = match row.get::<_, String>(1)?.as_str() {
            "integer" => ColumnKind::Integer,
            "number" => ColumnKind::Float,
            "switch" => ColumnKind::Switch,
            _ => ColumnKind::Text,
        };
        let place = kinds.entry(row.get(0)?).or_insert(kind);
        *place = match (*place, kind) {
            (before, now) if before == now => now,
            (ColumnKind::Integer | ColumnKind::Float, ColumnKind::Integer | ColumnKind::Float) => {
                ColumnKind::Float
            }
            _ => ColumnKind::Text,
        };
    }
    Ok(kinds)
}

/// Hands out all rows of a table, in the order they were recorded.
pub(super) fn each_row(
    index: &Index,
    table: ExportTable,
    columns: &[ExportColumn],
    take: &mut Take<'_>,
) -> Result<(), Obstacle> {
    let mut broken = false;
    let outcome = {
        let connection = index.connection.borrow();
        let mut note = |error: rusqlite::Error| {
            broken |= is_broken(&error);
            Obstacle::from(error)
        };
        match table {
            ExportTable::Runs => runs(&connection, columns, take, &mut note),
            ExportTable::Observations => observations(&connection, columns, take, &mut note),
            ExportTable::Series => series(&connection, take, &mut note),
        }
    };
    match outcome {
        Err(_) if broken => {
            index.renew().map_err(|error| Obstacle(error.to_string()))?;
            Err(Obstacle("the index was broken; it has been made again, so try once more".to_owned()))
        }
        other => other,
    }
}

type Note<'n> = dyn FnMut(rusqlite::Error) -> Obstacle + 'n;

fn runs(
    connection: &Connection,
    columns: &[ExportColumn],
    take: &mut Take<'_>,
    note: &mut Note<'_>,
) -> Result<(), Obstacle> {
    let known = wide::settings(connection).and_then(|settings| Ok((settings, wide::metrics(connection)?)));
    let (settings, metrics) = known.map_err(&mut *note)?;
    let sql = wide::select(&settings, &metrics);
    each(connection, &sql, columns, take, note)
}

fn observations(
    connection: &Connection,
    columns: &[ExportColumn],
    take: &mut Take<'_>,
    note: &mut Note<'_>,
) -> Result<(), Obstacle> {
    let sql = "select run, name, value, unit, scope, origin, file, line, counts
               from observation_data cross join run_data on run_data.id = run_id
                   cross join metric_data on metric_data.id = metric_id
               order by observation_data.id";
    each(connection, sql, columns, take, note)
}

fn each(
    connection: &Connection,
    sql: &str,
    columns: &[ExportColumn],
    take: &mut Take<'_>,
    note: &mut Note<'_>,
) -> Result<(), Obstacle> {
    let mut statement = connection.prepare(sql).map_err(&mut *note)?;
    let mut rows = statement.query([]).map_err(&mut *note)?;
    let mut data = Vec::with_capacity(columns.len());
    while let Some(row) = rows.next().map_err(&mut *note)? {
        data.clear();
        for (place, column) in columns.iter().enumerate() {
            data.push(fitting(datum(row, place).map_err(&mut *note)?, column.kind));
        }
        take(&data)?;
    }
    Ok(())
}

/// The values of all series. They are kept as text, which is read here and not by SQLite, because only this way
/// every number comes back bit for bit.
fn series(connection: &Connection, take: &mut Take<'_>, note: &mut Note<'_>) -> Result<(), Obstacle> {
    let sql = "select run, name, unit, numbers
               from series_data cross join run_data on run_data.id = run_id
                   cross join metric_data on metric_data.id = metric_id
               order by series_data.id";
    let mut statement = connection.prepare(sql).map_err(&mut *note)?;
    let mut rows = statement.query([]).map_err(&mut *note)?;
    while let Some(row) = rows.next().map_err(&mut *note)? {
        let numbers: Vec<f64> =
            row.get::<_, String>(3).and_then(|text| parse_json(&text)).map_err(&mut *note)?;
        let mut name = |place| datum(row, place).map_err(&mut *note);
        let mut data = [name(0)?, name(1)?, name(2)?, Datum::Null, Datum::Null];
        for (step, number) in (1..).zip(numbers) {
            let [.., place, value] = &mut data;
            (*place, *value) = (Datum::Integer(step), Datum::Float(number));
            take(&data)?;
        }
    }
    Ok(())
}

fn datum(row: &Row<'_>, place: usize) -> rusqlite::Result<Datum> {
    row.get_ref(place).map(Datum::from_sql)
}

/// The same value as the column's kind.
fn fitting(datum: Datum, kind: ColumnKind) -> Datum {
    match (kind, datum) {
        (_, Datum::Null) => Datum::Null,
        (ColumnKind::Float, Datum::Integer(number)) => Datum::Float(number as f64),
        (ColumnKind::Switch, Datum::Text(word)) => Datum::Integer(i64::from(word == "true")),
        (ColumnKind::Text, Datum::Text(text)) => Datum::Text(text),
        (ColumnKind::Text, other) => Datum::Text(other.to_string()),
        (_, other) => other,
    }
}
