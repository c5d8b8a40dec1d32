//! The records below a directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::index::{Index, fresh};
use crate::layout::JOURNAL;
use crate::{DamageReport, Record, StatusCounts, StoreError};

/// A record in a list.
#[derive(Debug)]
pub struct RecordSummary {
    /// Its directory.
    pub path: PathBuf,
    /// What is known of it, or why it cannot be read.
    pub contents: Result<RecordContents, StoreError>,
}

/// What is known of a record without looking closer.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordContents {
    /// The campaign's name.
    pub name: String,
    /// When the record was made, in seconds since 1970 UTC.
    pub created: f64,
    /// When a coordinator last opened it, in seconds since 1970 UTC.
    pub last_session: Option<f64>,
    /// The campaign's question, if a plan was made.
    pub question: Option<String>,
    /// How the newest attempts ended.
    pub runs: StatusCounts,
    /// What is wrong with the journal.
    pub damage: DamageReport,
}

/// How far below a directory its records are looked for: `project/records/name`, and one more.
const DEPTH: usize = 4;

/// The records that are a directory itself or lie below it, by path. Hidden directories, build trees, links and the
/// insides of records are passed over. Indexes are used where they are up to date and not made where they are not.
pub fn list_records(root: &Path) -> Result<Vec<RecordSummary>, StoreError> {
    Ok(record_paths(root)?.into_iter().map(|path| summarize(&path)).collect())
}

/// What is known of one record.
pub fn summarize(path: &Path) -> RecordSummary {
    RecordSummary { contents: contents(path), path: path.to_owned() }
}

/// The directories of the records that [`list_records`] lists, without looking into them.
pub fn record_paths(root: &Path) -> Result<Vec<PathBuf>, StoreError> {
    fs::read_dir(root).map_err(|source| StoreError::Open { path: root.to_owned(), source })?;
    let mut paths = Vec::new();
    search(root, DEPTH, &mut paths);
    paths.sort();
    Ok(paths)
}

fn search(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if directory.join(JOURNAL).is_file() {
        return found.push(directory.to_owned());
    }
    // A directory that may not be read has no records that could be shown.
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let hidden = name.as_encoded_bytes().starts_with(b".") || name == "target" || name == "node_modules";
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && !hidden && depth > 0 {
            search(&entry.path(), depth - 1, found);
        }
    }
}

fn contents(path: &Path) -> Result<RecordContents, StoreError> {
    if let Some(connection) = fresh(path)
        && let Ok(summary) = Index::existing(path, connection).and_then(|index| index.summary())
    {
        return Ok(RecordContents {
            name: summary.name,
            created: summary.created,
            last_session: summary.last_session,
            question: summary.plan.map(|plan| plan.question),
            runs: summary.runs,
            damage: summary.damage,
        });
    }
    let state = Record::open(path)?.state()?;
    Ok(RecordContents {
        runs: state.counts(),
        name: state.name,
        created: state.created,
        last_session: state.last_session.map(|session| session.at),
        question: state.plan.map(|plan| plan.question),
        damage: state.damage,
    })
}
