//! Making and extending the index file.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::Entry;
use rusqlite::{Connection, OpenFlags};

use super::fill::Filler;
use super::freshness::{FileChecks, IndexFreshness, IndexedPart, checksum, freshness};
use super::schema::TABLES;
use super::shape::is_own;
use crate::journal::{Flaw, JournalReader, Troubles};
use crate::layout::{INDEX, INDEX_LOCK, JOURNAL};
use crate::recovery::{restorable, unrecorded};
use crate::{RecordPermissions, StoreError, regular};

/// How long to wait for another process that makes the index.
const PATIENCE: Duration = Duration::from_secs(3);

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
    let mut journal = regular::open(&record.join(JOURNAL)).ok()?;
    let connection = open_read_only(&record.join(INDEX)).ok()?;
    if !is_own(&connection).ok()? {
        return None;
    }
    let fresh = match freshness(&connection, record, &mut journal).ok()? {
        IndexFreshness::Fresh => true,
        IndexFreshness::Foreign => false,
        IndexFreshness::Behind(part) => nothing_settled_after(&part, journal, record).ok()?,
    };
    fresh.then_some(connection)
}

/// Whether all that follows in the journal is a torn tail, which adds nothing to the index.
fn nothing_settled_after(part: &IndexedPart, journal: File, record: &Path) -> io::Result<bool> {
    let mut journal = journal;
    journal.seek(SeekFrom::Start(part.offset))?;
    let mut reader =
        JournalReader::resume(journal, &record.join(JOURNAL), part.offset, part.lines, part.last);
    let ended = matches!(reader.next_entry(), Ok(None));
    let settled = reader.settled().0;
    Ok(ended && settled == part.offset && !needs_a_look(reader.troubles()))
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
    let mut options = RecordPermissions::of(record).options();
    let file = regular::open_to_write(options.write(true).create(true).truncate(false), &path)?;
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
    refuse_other(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    if !is_own(&connection)? {
        return Ok(false);
    }
    let mut journal = regular::open(&record.join(JOURNAL))?;
    match freshness(&connection, record, &mut journal)? {
        IndexFreshness::Fresh => Ok(true),
        IndexFreshness::Foreign => Ok(false),
        IndexFreshness::Behind(part) if part.restored => Ok(false),
        IndexFreshness::Behind(part) => {
            let journal = journal.metadata()?;
            fill(&mut connection, record, part)?;
            connection.close().map_err(|(_, error)| error)?;
            FileChecks::save(record, &journal)?;
            Ok(true)
        }
    }
}

/// Rebuilds the index beside its place and moves it there whole.
fn rebuild(record: &Path, path: &Path) -> Result<(), Obstacle> {
    let beside = beside(path, ".new");
    remove(&beside)?;
    let journal = regular::open(&record.join(JOURNAL))?.metadata()?;
    let outcome = build(record, &beside).and_then(|()| {
        // The rollback file of the index that was there would be applied to the new one.
        remove(&self::beside(path, "-journal"))?;
        fs::rename(&beside, path)?;
        Ok(FileChecks::save(record, &journal)?)
    });
    if outcome.is_err() {
        let _ = remove(&beside);
    }
    outcome
}

fn build(record: &Path, path: &Path) -> Result<(), Obstacle> {
    // SQLite would let everybody read the file.
    drop(RecordPermissions::of(record).create_file(path)?);
    let mut connection = Connection::open(path)?;
    // Nobody sees this file before it is whole and synced.
    connection.execute_batch(
        "pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive;",
    )?;
    create_and_fill(&mut connection, record)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(regular::open(path)?.sync_all()?)
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
    fill(connection, record, IndexedPart::default())
}

/// Reads the journal on from where the index ends, in one transaction. Where it is read from its start, results that
/// only the run directories have are taken over. An index that cannot be extended is rebuilt.
fn fill(connection: &mut Connection, record: &Path, mut part: IndexedPart) -> Result<(), Obstacle> {
    let path = record.join(JOURNAL);
    let journal_error = |source| Obstacle::Journal(StoreError::Read { path: path.clone(), source });
    let mut journal = regular::open(&path).map_err(journal_error)?;
    let mut source = regular::open(&path).map_err(journal_error)?;
    source.seek(SeekFrom::Start(part.offset)).map_err(journal_error)?;
    let from_start = part.offset == 0;
    let mut reader = match part.offset {
        0 => JournalReader::new(source, &path),
        offset => JournalReader::resume(source, &path, offset, part.lines, part.last),
    };
    let transaction = connection.transaction()?;
    let mut filler = Filler::new(&transaction)?;
    while let Some(located) = reader.next_entry().map_err(Obstacle::Journal)? {
        if !from_start && matches!(located.entry, Entry::AcceptedDamage { .. }) {
            return Err(Obstacle::Index);
        }
        filler.take(&located.entry)?;
    }
    let before = part.offset;
    (part.offset, part.lines) = reader.settled();
    part.last = reader.last_checksum();
    let troubles = reader.into_troubles();
    if !from_start && needs_a_look(&troubles) {
        // What is wrong is reported for the journal as a whole.
        return Err(Obstacle::Index);
    }
    if from_start {
        filler.write_open_runs()?;
        let found = unrecorded(record, &mut |run| filler.known(run));
        let restored = restorable(found, &troubles, record);
        part.restored = !restored.entries.is_empty();
        for entry in &restored.entries {
            filler.take(entry)?;
        }
        filler.damage(&restored.report)?;
    }
    for _ in &troubles.interrupted {
        filler.count("interrupted_writes")?;
    }
    filler.end()?;
    part.checksum =
        checksum(&mut journal, before, part.offset - before, part.checksum).map_err(journal_error)?;
    part.save(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// Whether a journal is damaged in more than the line that is being written.
fn needs_a_look(troubles: &Troubles) -> bool {
    let tail = troubles.torn_tail.as_ref();
    !troubles.damage.is_empty()
        || troubles.converted_lines > 0
        || tail.is_some_and(|tail| tail.lines > 1 || tail.flaw != Flaw::Unfinished)
}

fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    refuse_other(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// SQLite opens files by name: it would wait for the other end of a pipe, and write through a link.
fn refuse_other(path: &Path) -> rusqlite::Result<()> {
    if regular::is_other(path) { Err(rusqlite::Error::InvalidPath(path.to_owned())) } else { Ok(()) }
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
