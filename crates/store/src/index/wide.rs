//! The view `runs`: one row per run with its settings and metrics as columns. What columns it has depends on the record,
//! so it is made when a query names it, in the temporary schema of the connection.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::hooks::{AuthContext, Authorization};

use crate::ColumnKind;

/// The columns that every record has.
pub(crate) const FIXED: [(&str, ColumnKind); 20] = [
    ("run", ColumnKind::Text),
    ("cell", ColumnKind::Text),
    ("point", ColumnKind::Text),
    ("platform", ColumnKind::Text),
    ("workload", ColumnKind::Text),
    ("repeat", ColumnKind::Integer),
    ("attempt", ColumnKind::Integer),
    ("status", ColumnKind::Text),
    ("reason", ColumnKind::Text),
    ("started_at", ColumnKind::Float),
    ("wall_s", ColumnKind::Float),
    ("user_s", ColumnKind::Float),
    ("system_s", ColumnKind::Float),
    ("peak_resident_bytes", ColumnKind::Integer),
    ("peak_group_bytes", ColumnKind::Integer),
    ("stdout_bytes", ColumnKind::Integer),
    ("stderr_bytes", ColumnKind::Integer),
    ("directory", ColumnKind::Text),
    ("current", ColumnKind::Switch),
    ("planned", ColumnKind::Switch),
];

/// SQLite has at most 2000 columns; a record of read logs may have more metrics than that.
const MOST_METRICS: usize = 1000;

/// The settings that cells of this record have, by name.
pub(crate) fn settings(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    names(connection, "select distinct name from setting_data order by name")
}

/// The metrics that runs of this record have a value of, by name.
pub(crate) fn metrics(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut names = names(
        connection,
        "select distinct name from metric_data where exists
             (select 1 from observation_data where metric_id = metric_data.id and counts) order by name",
    )?;
    names.truncate(MOST_METRICS);
    Ok(names)
}

fn names(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// The query behind the view: fixed columns, then `setting.NAME`, then `metric.NAME` in base units.
pub(crate) fn select(settings: &[String], metrics: &[String]) -> String {
    let mut columns: Vec<String> = FIXED.map(|(name, _)| name.to_owned()).to_vec();
    columns.extend(with_columns("setting", settings).map(|(name, column)| {
        format!(
            "(select value from setting_data where setting_data.cell_id = run_data.cell_id and name = {}) as {}",
            text(name),
            identifier(&column)
        )
    }));
    columns.extend(with_columns("metric", metrics).map(|(name, column)| {
        format!(
            "(select value from observation_data where observation_data.id >= first_observation
                  and observation_data.id < first_observation + observations and counts
                  and metric_id in (select id from metric_data where name = {})) as {}",
            text(name),
            identifier(&column)
        )
    }));
    format!(
        "select {} from run_data join cell_data on cell_data.id = cell_id order by run_data.id",
        columns.join(", ")
    )
}

fn text(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}

/// Names with the columns that they get, as text. SQLite takes columns that differ only in case for one and would answer with
/// the value of the first, so such names are numbered.
pub(crate) fn with_columns<'a>(
    kind: &str,
    names: &'a [String],
) -> impl Iterator<Item = (&'a String, String)> {
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *alike.entry(name.to_ascii_lowercase()).or_default() += 1;
    }
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    names.iter().map(move |name| {
        let key = name.to_ascii_lowercase();
        let is_alone = alike.get(&key) == Some(&1);
        let number = numbers.entry(key).and_modify(|number| *number += 1).or_insert(1);
        let column = if is_alone { format!("{kind}.{name}") } else { format!("{kind}.{name} ({number})") };
        (name, column)
    })
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Whether a query may name the view.
pub(super) fn is_named(sql: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    sql.split(|letter| !is_part(letter)).any(|word| word.eq_ignore_ascii_case("runs"))
}

/// Makes the view. The connection may do nothing but read before and after.
pub(super) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let (settings, metrics) = (settings(connection)?, metrics(connection)?);
    let sql = format!("create temp view if not exists runs as {}", select(&settings, &metrics));
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    let made = connection.execute_batch(&sql);
    super::query::restrict(connection)?;
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_in_case_get_columns_of_their_own() {
        let names = ["N", "n", "rate"].map(str::to_owned);
        let columns: Vec<String> = with_columns("setting", &names).map(|(_, column)| column).collect();
        assert_eq!(columns, ["setting.N (1)", "setting.n (2)", "setting.rate"]);
    }
}
