//! Making and extending the index file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::fill::Filler;
use super::schema::TABLES;
use super::standing::{Fingerprint, Progress, Standing, standing};
use crate::StoreError;
use crate::journal::Reader;
use crate::layout::{INDEX, INDEX_LOCK, JOURNAL};

/// How long to wait for another process that makes the index.
const PATIENCE: Duration = Duration::from_secs(3);

/// How much of the start of a journal is compared: it holds the checksum of the record line.
const HEAD: u64 = 64;

/// Why an index could not be made in its place: only the journal's troubles are the user's.
enum Obstacle {
    Journal(StoreError),
    Index,
}

impl From<rusqlite::Error> for Obstacle {
    fn from(_: rusqlite::Error) -> Obstacle {
        Obstacle::Index
    }
}

impl From<io::Error> for Obstacle {
    fn from(_: io::Error) -> Obstacle {
        Obstacle::Index
    }
}

/// The index, if it is up to date as it is.
pub(crate) fn fresh(record: &Path) -> Option<Connection> {
    let mut journal = File::open(record.join(JOURNAL)).ok()?;
    let connection = open_read_only(&record.join(INDEX)).ok()?;
    let fresh = match standing(&connection, &mut journal).ok()? {
        Standing::Fresh => true,
        Standing::Foreign => false,
        Standing::Behind(progress) => nothing_settled_after(&progress, journal, record).ok()?,
    };
    fresh.then_some(connection)
}

/// Whether all that follows in the journal is a torn tail, which adds nothing to the index.
fn nothing_settled_after(progress: &Progress, journal: File, record: &Path) -> io::Result<bool> {
    let mut journal = journal;
    journal.seek(SeekFrom::Start(progress.offset))?;
    let mut reader = Reader::resume(journal, &record.join(JOURNAL), progress.offset, progress.lines);
    let ended = matches!(reader.next_entry(), Ok(None));
    Ok(ended && reader.settled().0 == progress.offset)
}

/// An index that is up to date: the one on disk if possible, else a temporary one.
pub(super) fn up_to_date(record: &Path) -> Result<Connection, StoreError> {
    if let Some(connection) = fresh(record) {
        return Ok(connection);
    }
    fall_back(record, on_disk(record, false))
}

/// A new index in place of one that turned out to be broken.
pub(super) fn replace(record: &Path) -> Result<Connection, StoreError> {
    fall_back(record, on_disk(record, true))
}

fn fall_back(record: &Path, outcome: Result<Connection, Obstacle>) -> Result<Connection, StoreError> {
    match outcome {
        Ok(connection) => Ok(connection),
        Err(Obstacle::Journal(error)) => Err(error),
        Err(Obstacle::Index) => temporary(record),
    }
}

/// Brings the index in the record's directory up to date.
fn on_disk(record: &Path, broken: bool) -> Result<Connection, Obstacle> {
    let _lock = lock(record)?;
    let path = record.join(INDEX);
    if !broken {
        match extend(record, &path) {
            Ok(true) => return Ok(open_read_only(&path)?),
            Err(Obstacle::Journal(error)) => return Err(Obstacle::Journal(error)),
            Ok(false) | Err(Obstacle::Index) => {}
        }
    }
    rebuild(record, &path)?;
    Ok(open_read_only(&path)?)
}

/// Waits for the right to change the index. Two processes that did so at once could apply the rollback file of one
/// index to the other.
fn lock(record: &Path) -> io::Result<File> {
    let path = record.join(INDEX_LOCK);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Adds to the index what the journal has more. Says whether there was an index of this journal to add to.
fn extend(record: &Path, path: &Path) -> Result<bool, Obstacle> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    let mut journal = File::open(record.join(JOURNAL))?;
    match standing(&connection, &mut journal)? {
        Standing::Fresh => Ok(true),
        Standing::Foreign => Ok(false),
        Standing::Behind(progress) => {
            fill(&mut connection, record, progress)?;
            Ok(true)
        }
    }
}

/// Makes the index anew beside its place and moves it there whole.
fn rebuild(record: &Path, path: &Path) -> Result<(), Obstacle> {
    let beside = beside(path, ".new");
    remove(&beside)?;
    let outcome = build(record, &beside).and_then(|()| {
        // The rollback file of the index that was there would be applied to the new one.
        remove(&self::beside(path, "-journal"))?;
        Ok(fs::rename(&beside, path)?)
    });
    if outcome.is_err() {
        let _ = remove(&beside);
    }
    outcome
}

fn build(record: &Path, path: &Path) -> Result<(), Obstacle> {
    let mut connection = Connection::open(path)?;
    // Nobody sees this file before it is whole and synced.
    connection.execute_batch(
        "pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive;",
    )?;
    create_and_fill(&mut connection, record)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(File::open(path)?.sync_all()?)
}

/// An index that goes with its connection, in a temporary file that SQLite makes when its memory is full.
fn temporary(record: &Path) -> Result<Connection, StoreError> {
    let error = |error: rusqlite::Error| StoreError::Index {
        path: record.to_owned(),
        reason: format!("cannot make a temporary one: {error}"),
    };
    let mut connection = Connection::open("").map_err(error)?;
    connection.execute_batch("pragma journal_mode = off; pragma synchronous = off;").map_err(error)?;
    match create_and_fill(&mut connection, record) {
        Ok(()) => Ok(connection),
        Err(Obstacle::Journal(error)) => Err(error),
        Err(Obstacle::Index) => Err(StoreError::Index {
            path: record.to_owned(),
            reason: "cannot make a temporary one".to_owned(),
        }),
    }
}

fn create_and_fill(connection: &mut Connection, record: &Path) -> Result<(), Obstacle> {
    connection.execute_batch("pragma cache_size = -32000;")?;
    connection.execute_batch(TABLES)?;
    fill(connection, record, Progress::default())
}

/// Reads the journal on from where the index ends, in one transaction.
fn fill(connection: &mut Connection, record: &Path, mut progress: Progress) -> Result<(), Obstacle> {
    let path = record.join(JOURNAL);
    let journal_error = |source| Obstacle::Journal(StoreError::Read { path: path.clone(), source });
    let mut journal = File::open(&path).map_err(journal_error)?;
    let mut source = journal.try_clone().map_err(journal_error)?;
    source.seek(SeekFrom::Start(progress.offset)).map_err(journal_error)?;
    let mut reader = match progress.offset {
        0 => Reader::new(source, &path),
        offset => Reader::resume(source, &path, offset, progress.lines),
    };
    let transaction = connection.transaction()?;
    let mut filler = Filler::new(&transaction)?;
    let mut last = None;
    while let Some(located) = reader.next_entry().map_err(Obstacle::Journal)? {
        filler.take(&located.entry)?;
        last = Some((located.offset, located.bytes));
    }
    for _ in &reader.troubles().damage {
        filler.count("damaged_places")?;
    }
    for _ in &reader.troubles().interrupted {
        filler.count("interrupted_writes")?;
    }
    filler.end()?;
    if progress.offset == 0 {
        progress.head = Fingerprint::take(&mut journal, 0, HEAD).map_err(journal_error)?;
    }
    (progress.offset, progress.lines) = reader.settled();
    if let Some((offset, bytes)) = last {
        progress.last = Fingerprint::take(&mut journal, offset, bytes).map_err(journal_error)?;
    }
    progress.save(&transaction)?;
    transaction.commit()?;
    Ok(())
}

fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
