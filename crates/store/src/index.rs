//! The SQL index of a record. It is derived: deleted, stale, broken or unwritable, it is made again from the
//! journal, in the record's directory or, where that is not possible, in a temporary file.

mod decode;
mod fill;
mod freshness;
mod query;
mod schema;
mod shape;
mod typed;
mod upkeep;
pub(crate) mod wide;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};

use crate::StoreError;
pub(crate) use decode::parse_json;
pub use query::{Datum, SqlRows};
pub use typed::{
    CellSummary, FailureReason, IndexSummary, MetricSummary, RunDoubt, RunFilter, RunOrigin, RunRow,
    RunValue, SessionFacts,
};
pub(crate) use upkeep::fresh;

/// The index of a record.
#[derive(Debug)]
pub struct Index {
    record: PathBuf,
    pub(crate) connection: RefCell<Connection>,
}

impl Index {
    /// Opens the index of a record and brings it up to date with the journal.
    pub(crate) fn open(record: &Path) -> Result<Index, StoreError> {
        Index::existing(record, upkeep::up_to_date(record)?)
    }

    /// An index in the state it was found in.
    pub(crate) fn existing(record: &Path, mut connection: Connection) -> Result<Index, StoreError> {
        query::restrict(&mut connection).map_err(|error| index_error(record, &error))?;
        Ok(Index { record: record.to_owned(), connection: RefCell::new(connection) })
    }

    /// Asks the index. If that shows it to be broken, it is made again and asked once more.
    pub(crate) fn ask<T>(
        &self,
        question: impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let first = question(&self.connection.borrow());
        let answer = match first {
            Err(error) if is_broken(&error) => {
                self.renew()?;
                question(&self.connection.borrow())
            }
            other => other,
        };
        answer.map_err(|error| index_error(&self.record, &error))
    }

    /// Makes a broken index again.
    pub(crate) fn renew(&self) -> Result<(), StoreError> {
        let renewed = Index::existing(&self.record, upkeep::replace(&self.record)?)?;
        // Still borrowed if this is asked from within an answer; then the new index serves the next opener.
        if let Ok(mut connection) = self.connection.try_borrow_mut() {
            *connection = renewed.connection.into_inner();
        }
        Ok(())
    }
}

fn index_error(record: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError::Index { path: record.to_owned(), reason: error.to_string() }
}

pub(crate) fn is_broken(error: &rusqlite::Error) -> bool {
    let broken_file = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure)
    );
    // Text or numbers of a kind that this program never writes.
    let broken_value = matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    );
    broken_file || broken_value
}

#[cfg(test)]
mod tests;
