//! Questions that people ask in SQL.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode};

use super::schema::described;
use super::{Index, is_broken, wide};
use crate::StoreError;

/// Steps of SQLite's machine between two looks at the clock: about a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 100_000;

/// The largest answer that is held in memory, and the longest value: no line of a journal is longer.
const LARGEST_ANSWER: usize = 256 << 20;
const LONGEST_VALUE: i32 = 256 << 20;

/// One value of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// Nothing: it was not observed.
    Null,
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes that are not a text.
    Bytes(Vec<u8>),
}

impl Datum {
    /// The memory it takes.
    fn size(&self) -> usize {
        let text = match self {
            Datum::Text(text) => text.len(),
            Datum::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        size_of::<Datum>() + text
    }

    pub(crate) fn from_sql(value: ValueRef<'_>) -> Datum {
        match value {
            ValueRef::Null => Datum::Null,
            ValueRef::Integer(number) => Datum::Integer(number),
            ValueRef::Real(number) => Datum::Float(number),
            ValueRef::Text(bytes) => Datum::Text(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Blob(bytes) => Datum::Bytes(bytes.to_owned()),
        }
    }
}

/// As people read it; nothing for what was not observed.
impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Null => Ok(()),
            Datum::Integer(number) => write!(f, "{number}"),
            Datum::Float(number) => write!(f, "{number:?}"),
            Datum::Text(text) => f.write_str(text),
            Datum::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// An answer: a table.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlRows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Datum>>,
}

impl Index {
    /// Answers a question in SQL. The question can change nothing.
    pub fn query(&self, sql: &str) -> Result<SqlRows, StoreError> {
        let mut rows = Vec::new();
        let mut bytes = 0;
        let columns = self.query_each(sql, &mut |row| {
            bytes += row.iter().map(Datum::size).sum::<usize>();
            rows.push(row);
            bytes <= LARGEST_ANSWER
        })?;
        if bytes > LARGEST_ANSWER {
            let reason = format!("the answer is larger than {} MB", LARGEST_ANSWER >> 20);
            let tables = format!("{}; select fewer rows or columns", described());
            return Err(StoreError::Query { reason, tables });
        }
        Ok(SqlRows { columns, rows })
    }

    /// Like [`Index::query`], with each row given away as it is found, until the taker has had enough. Returns the
    /// names of the columns.
    pub fn query_each(
        &self,
        sql: &str,
        take: &mut dyn FnMut(Vec<Datum>) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        if sql.trim().is_empty() {
            return Err(StoreError::Query { reason: "empty query".to_owned(), tables: described() });
        }
        let mut given = false;
        let first = self.each_row(sql, &mut |row| {
            given = true;
            take(row)
        });
        let answer = match first {
            Err(error) if is_broken(&error) && !given => {
                self.renew()?;
                self.each_row(sql, take)
            }
            other => other,
        };
        answer.map_err(|error| StoreError::Query { reason: reason(&error), tables: described() })
    }

    /// Ends queries that take longer than this, or are asked to stop.
    pub fn limit_queries(&self, limit: Duration, stop: Arc<AtomicBool>) -> Result<(), StoreError> {
        let mut connection = self.connection.borrow_mut();
        let deadline = Instant::now().checked_add(limit);
        let is_over = move || {
            stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline)
        };
        connection
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over))
            .map_err(|error| StoreError::Query { reason: reason(&error), tables: described() })
    }

    fn each_row(&self, sql: &str, take: &mut dyn FnMut(Vec<Datum>) -> bool) -> rusqlite::Result<Vec<String>> {
        if wide::is_named(sql) {
            wide::create(&mut self.connection.borrow_mut())?;
        }
        let connection = self.connection.borrow();
        let mut statement = connection.prepare(sql)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let width = columns.len();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let data: rusqlite::Result<Vec<Datum>> =
                (0..width).map(|place| row.get_ref(place).map(Datum::from_sql)).collect();
            if !take(data?) {
                break;
            }
        }
        Ok(columns)
    }
}

/// Forbids a connection everything but reading, whatever SQL it is given.
pub(super) fn restrict(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    // SQLite takes a quoted name that no column has for a text, so that a misspelled metric would come out as its name.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.authorizer(Some(only_reading))
}

/// Functions that reach out of the database: `fts3_tokenizer` gives and takes addresses of code.
const DANGEROUS: [&str; 2] = ["load_extension", "fts3_tokenizer"];

fn only_reading(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !DANGEROUS.contains(&function_name) => Authorization::Allow,
        AuthAction::Pragma { pragma_name: "table_info" | "table_xinfo" | "table_list", .. } => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// SQLite's own words, without those of the layer between.
fn reason(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) if message == "not authorized" => {
            "only questions are allowed here: a query must not change anything".to_owned()
        }
        error if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            "it took longer than its time limit".to_owned()
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, offset, .. } if *offset >= 0 => {
            format!("{msg} (at character {})", offset + 1)
        }
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}
