//! Whether an index has the tables and views that this program makes, and nothing else. An index comes with a record
//! that may be a stranger's, and a view in the place of a table could run without end.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rusqlite::Connection;

use super::schema::TABLES;

/// Kind, name and definition of each part of an index.
type Shape = BTreeSet<(String, String, Option<String>)>;

/// Whether an index is made as this program makes it.
pub(super) fn is_own(index: &Connection) -> rusqlite::Result<bool> {
    static OWN: OnceLock<Shape> = OnceLock::new();
    let own = match OWN.get() {
        Some(own) => own,
        None => {
            let made = Connection::open_in_memory()?;
            made.execute_batch(TABLES)?;
            let shape = shape(&made)?;
            OWN.get_or_init(|| shape)
        }
    };
    Ok(shape(index)? == *own)
}

fn shape(connection: &Connection) -> rusqlite::Result<Shape> {
    let mut statement = connection.prepare("select type, name, sql from main.sqlite_master")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}
