//! Rows of the index into the nouns.

use std::collections::HashMap;
use std::str::FromStr;

use assay_model::{Origin, RunId, Scope, Status, Usage};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

use super::typed::RunRow;
use crate::state::StatusCounts;

pub(super) fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let wall: Option<f64> = row.get(5)?;
    let usage = match wall {
        None => None,
        Some(wall_s) => Some(Usage {
            wall_s,
            user_s: row.get(6)?,
            system_s: row.get(7)?,
            peak_resident_bytes: row.get(8)?,
            peak_group_bytes: row.get(9)?,
        }),
    };
    Ok(RunRow {
        run: parsed(row, 0)?,
        workload: row.get(1)?,
        status: status(row, 2, 3)?,
        started_at: row.get(4)?,
        usage,
        stdout_bytes: row.get(10)?,
        stderr_bytes: row.get(11)?,
        directory: row.get(12)?,
        hints: hints(row, 13)?,
        current: row.get(14)?,
        planned: row.get(15)?,
    })
}

pub(super) fn run_number(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<i64>> {
    let sql = "select run_data.id from run_data join cell_data on cell_data.id = cell_id
               where cell = ?1 and repeat = ?2 and attempt = ?3";
    let values = params![run.cell.to_string(), run.repeat, run.attempt];
    connection.query_row(sql, values, |row| row.get(0)).optional()
}

pub(super) fn counts(connection: &Connection) -> rusqlite::Result<StatusCounts> {
    let mut counts = StatusCounts::default();
    let mut statement =
        connection.prepare("select status, count(*) from run_data where current group by status")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        put_count(&mut counts, row, 0)?;
    }
    Ok(counts)
}

/// How the newest attempts of each cell ended, by the cell's number.
pub(super) fn counts_by_cell(connection: &Connection) -> rusqlite::Result<HashMap<i64, StatusCounts>> {
    let mut cells: HashMap<i64, StatusCounts> = HashMap::new();
    let mut statement = connection.prepare(
        "select cell_id, status, count(*) from run_data where current group by cell_id + 0, status",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        put_count(cells.entry(row.get(0)?).or_default(), row, 1)?;
    }
    Ok(cells)
}

/// Takes in a status and its count, which stand next to each other from a place on.
fn put_count(counts: &mut StatusCounts, row: &Row<'_>, place: usize) -> rusqlite::Result<()> {
    let word: String = row.get(place)?;
    let count = match word.as_str() {
        "succeeded" | "gate_failed" | "unknown" => &mut counts.succeeded,
        "failed" | "aborted" | "cancelled" | "truncated" => &mut counts.failed,
        "timed_out" => &mut counts.timed_out,
        "does_not_fit" => &mut counts.unfit,
        "interrupted" => &mut counts.interrupted,
        "open" => &mut counts.open,
        _ => return Err(wrong(format!("`{word}` is not a status"))),
    };
    *count += row.get::<_, u64>(place + 1)?;
    Ok(())
}

pub(super) fn status(row: &Row<'_>, word: usize, detail: usize) -> rusqlite::Result<Option<Status>> {
    Ok(match row.get::<_, String>(word)?.as_str() {
        "open" => None,
        "succeeded" => Some(Status::Succeeded),
        "interrupted" => Some(Status::Interrupted),
        "truncated" => Some(Status::Truncated),
        "unknown" => Some(Status::Unknown),
        _ => Some(parse_json(&row.get::<_, String>(detail)?)?),
    })
}

pub(super) fn scope(row: &Row<'_>, place: usize) -> rusqlite::Result<Option<Scope>> {
    let word: Option<String> = row.get(place)?;
    word.map(|word| match word.as_str() {
        "instant" => Ok(Scope::Instant),
        "loop" => Ok(Scope::Loop),
        "fit" => Ok(Scope::Fit),
        "job" => Ok(Scope::Job),
        _ => Err(wrong(format!("`{word}` is not a scope"))),
    })
    .transpose()
}

pub(super) fn origin(row: &Row<'_>, place: usize) -> rusqlite::Result<Origin> {
    let word: String = row.get(place)?;
    match word.as_str() {
        "measured" => Ok(Origin::Measured),
        "reported" => Ok(Origin::Reported),
        "derived" => Ok(Origin::Derived),
        "prediction" => Ok(Origin::Prediction),
        _ => Err(wrong(format!("`{word}` is not an origin"))),
    }
}

pub(super) fn hints(row: &Row<'_>, place: usize) -> rusqlite::Result<Vec<String>> {
    let json: Option<String> = row.get(place)?;
    json.map_or(Ok(Vec::new()), |json| parse_json(&json))
}

pub(super) fn parsed<T: FromStr<Err = String>>(row: &Row<'_>, place: usize) -> rusqlite::Result<T> {
    row.get::<_, String>(place)?.parse().map_err(wrong)
}

pub(crate) fn parse_json<T: DeserializeOwned>(json: &str) -> rusqlite::Result<T> {
    serde_json::from_str(json).map_err(wrong)
}

fn wrong(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into())
}
