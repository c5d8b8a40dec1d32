//! What can go wrong with a record. Messages say what failed, on which thing and why; what to do about it is the
//! hint.

use std::io;
use std::path::PathBuf;

use assay_model::SCHEMA_VERSION;

use crate::layout::RUNS;
use crate::time::utc;

/// What went wrong with a record.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another coordinator writes this record.
    #[error("record {} is in use by process {pid} on {host} since {}", path.display(), utc(*since))]
    Held {
        /// The coordinator's process id.
        pid: u32,
        /// The machine it runs on.
        host: String,
        /// When it opened the record, in seconds since 1970 UTC.
        since: f64,
        /// The record.
        path: PathBuf,
    },
    /// Another coordinator writes this record, and has not said who it is.
    #[error("record {} is in use by another process, which left no name in its lock file", path.display())]
    HeldByUnknown {
        /// The record.
        path: PathBuf,
    },
    /// The file system has no locks.
    #[error("cannot lock {}: {source}", path.display())]
    LockRefused {
        /// The lock file.
        path: PathBuf,
        /// The reason, as the system gave it.
        source: io::Error,
    },
    /// A newer version of this program wrote the record.
    #[error("record {} was written by a newer assay: schema {found}, this one reads up to {SCHEMA_VERSION}", path.display())]
    Newer {
        /// The journal.
        path: PathBuf,
        /// The schema it is written in.
        found: u32,
    },
    /// The directory holds no record.
    #[error("no record in {}", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The journal's name is taken by something that is not a journal.
    #[error("{} is not a journal of assay: {reason}", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// How that shows.
        reason: String,
    },
    /// The journal lost something.
    #[error("the journal of {} is damaged: {report}", path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        report: Box<crate::DamageReport>,
    },
    /// A file or directory could not be made or opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file or directory.
        path: PathBuf,
        /// The reason, as the system gave it.
        source: io::Error,
    },
    /// The journal could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The journal.
        path: PathBuf,
        /// The reason, as the system gave it.
        source: io::Error,
    },
    /// An entry could not be written.
    #[error("cannot write to {}: {source}; the entry is not recorded, all {entries} before it are kept", path.display())]
    Write {
        /// The journal.
        path: PathBuf,
        /// How many entries the journal holds.
        entries: u64,
        /// The reason, as the system gave it.
        source: io::Error,
    },
    /// The system could not make entries durable.
    #[error("cannot sync {}: {source}; entries since the last sync may be lost, all {entries} before are kept", path.display())]
    Sync {
        /// The journal.
        path: PathBuf,
        /// How many entries are known to be durable.
        entries: u64,
        /// The reason, as the system gave it.
        source: io::Error,
    },
    /// An earlier sync failed, so no later one can be trusted.
    #[error("{} takes no more entries: an earlier sync failed", path.display())]
    Distrusted {
        /// The journal.
        path: PathBuf,
    },
    /// An entry holds a number that JSON cannot hold.
    #[error("{what} is not a finite number: the entry is not recorded")]
    NotFinite {
        /// Which number of which entry.
        what: String,
    },
    /// An entry is longer than readers accept.
    #[error("{what} takes {bytes} bytes, more than a journal line may have: the entry is not recorded")]
    TooLong {
        /// Which entry.
        what: String,
        /// Its length.
        bytes: usize,
    },
    /// The index could not answer.
    #[error("cannot read the index of {}: {reason}", path.display())]
    Index {
        /// The record.
        path: PathBuf,
        /// The reason, as SQLite gave it.
        reason: String,
    },
    /// A query of the user is wrong.
    #[error("query failed: {reason}")]
    Query {
        /// The reason, as SQLite gave it.
        reason: String,
        /// The tables there are, with their columns.
        tables: String,
    },
    /// A table could not be exported.
    #[error("cannot export {table} as {format}: {reason}")]
    Export {
        /// Which table.
        table: &'static str,
        /// Which format.
        format: &'static str,
        /// The reason.
        reason: String,
    },
}

impl StoreError {
    /// What to do about it, where there is something to be done.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            StoreError::Held { pid, host, .. } => {
                return Some(format!("wait for it to end, or end it on {host} with `kill {pid}`"));
            }
            StoreError::HeldByUnknown { path } => {
                return Some(format!(
                    "`fuser {}` shows who holds it",
                    path.join(crate::layout::LOCK).display()
                ));
            }
            StoreError::LockRefused { .. } => {
                "keep the record on a file system with locks, such as a local disk"
            }
            StoreError::Newer { .. } => "update assay; an older version must not write here",
            StoreError::Missing { path } if path.join(RUNS).is_dir() => {
                "its journal is missing: restore it from a backup, or make it again from the run directories with `assay \
                 run --accept-damage`"
            }
            StoreError::Missing { .. } => "`assay list` shows the records there are",
            StoreError::NotAJournal { .. } => "choose another directory for the record",
            StoreError::Damaged { .. } => {
                "restore the journal from a backup, or continue with `assay run --accept-damage`: restored runs are \
                 kept, runs that are lost are run again in new directories"
            }
            StoreError::Open { source, .. }
            | StoreError::Write { source, .. }
            | StoreError::Sync { source, .. } => {
                return write_hint(source);
            }
            StoreError::Distrusted { .. } => {
                "check the disk, then run the same command again: it continues from what is on disk"
            }
            StoreError::NotFinite { .. } => "a value that was not observed has no observation",
            StoreError::TooLong { .. } => "keep fewer values of each series",
            StoreError::Index { .. } => "the index can be deleted: it is made again from the journal",
            StoreError::Query { tables, .. } => return Some(format!("tables are {tables}")),
            StoreError::Read { .. } | StoreError::Export { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

fn write_hint(source: &io::Error) -> Option<String> {
    let hint = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, then run the same command again: it continues with what is missing"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "the record can still be read; to write, make its directory writable or copy the record elsewhere"
        }
        io::ErrorKind::NotFound => return None,
        _ => "check the disk, then run the same command again: it continues from what is on disk",
    };
    Some(hint.to_owned())
}
