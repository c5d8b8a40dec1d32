//! Whether an index still matches its journal and itself. The index keeps how far it has read and the checksum of
//! everything before that place. Beside it, `index.check` keeps length, change times and checksum of the index file:
//! SQLite notices few flipped bytes. A file whose length and change times are as noted is not read again.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use super::schema::INDEX_VERSION;
use crate::layout::{INDEX, INDEX_CHECK};
use crate::{RecordPermissions, regular};

/// How far the index has read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IndexedPart {
    /// Bytes of the journal that are in the index; a line starts there.
    pub(super) offset: u64,
    /// Lines before that.
    pub(super) lines: u64,
    /// The checksum of all bytes before the offset.
    pub(super) checksum: u32,
    /// The checksum of the last good line before the offset.
    pub(super) last: u32,
    /// Whether the index holds results that only the run directories have. It is then not extended but rebuilt.
    pub(super) restored: bool,
}

/// How an index matches its journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum IndexFreshness {
    /// Nothing is missing.
    Fresh,
    /// Right as far as it goes; entries may follow.
    Behind(IndexedPart),
    /// Of another journal or another version, or changed by somebody else.
    Foreign,
}

/// What `index.check` holds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct FileChecks {
    index: FileStamp,
    index_checksum: u32,
    journal: FileStamp,
}

/// What changes when a file is written to, as far as the system notes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileStamp {
    inode: u64,
    length: u64,
    modified_ns: i128,
    changed_ns: i128,
}

/// `index.check` is a few hundred bytes long.
const LONGEST_CHECK: u64 = 64 << 10;

/// Times of files advance in steps; a file that was changed this shortly before may be changed again unnoticed.
const UNSAFE_NS: i128 = 100_000_000;

impl FileStamp {
    fn of(found: &Metadata) -> FileStamp {
        let time =
            |seconds: i64, nanoseconds: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        FileStamp {
            inode: found.ino(),
            length: found.len(),
            modified_ns: time(found.mtime(), found.mtime_nsec()),
            changed_ns: time(found.ctime(), found.ctime_nsec()),
        }
    }

    /// The stamp of a file, unless it was changed so recently that a further change might not show.
    fn settled(found: &Metadata) -> FileStamp {
        let stamp = FileStamp::of(found);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        if now - stamp.changed_ns.max(stamp.modified_ns) < UNSAFE_NS { FileStamp::default() } else { stamp }
    }
}

impl FileChecks {
    fn load(record: &Path) -> Option<FileChecks> {
        serde_json::from_slice(&regular::read(&record.join(INDEX_CHECK), LONGEST_CHECK).ok()?).ok()
    }

    /// Notes the index as it is now. The journal was read up to what `journal` had.
    pub(super) fn save(record: &Path, journal: &Metadata) -> io::Result<()> {
        let mut index = regular::open(&record.join(INDEX))?;
        let found = index.metadata()?;
        let checks = FileChecks {
            index: FileStamp::settled(&found),
            index_checksum: checksum(&mut index, 0, found.len(), 0)?,
            journal: FileStamp::settled(journal),
        };
        let mut file = RecordPermissions::of(record).create_file(&record.join(INDEX_CHECK))?;
        file.write_all(&serde_json::to_vec(&checks)?)
    }

    /// Whether the index file is what was written last.
    fn index_is_whole(&self, record: &Path) -> io::Result<bool> {
        let mut index = regular::open(&record.join(INDEX))?;
        let found = index.metadata()?;
        Ok(FileStamp::of(&found) == self.index
            || checksum(&mut index, 0, found.len(), 0)? == self.index_checksum)
    }
}

/// The checksum of a piece of a file, going on from that of what is before it.
pub(super) fn checksum(file: &mut File, offset: u64, bytes: u64, before: u32) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new_with_initial(before);
    file.seek(SeekFrom::Start(offset))?;
    let mut buffer = vec![0; 1 << 17];
    let mut rest = file.take(bytes);
    loop {
        match rest.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl IndexedPart {
    pub(super) fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare("insert or replace into meta (key, value) values (?1, ?2)")?;
        let mut put = |key: &str, value: u64| statement.execute((key, value as i64)).map(drop);
        put("index_version", INDEX_VERSION as u64)?;
        put("journal_offset", self.offset)?;
        put("journal_lines", self.lines)?;
        put("journal_checksum", u64::from(self.checksum))?;
        put("journal_last", u64::from(self.last))?;
        put("restored", u64::from(self.restored))
    }

    /// Reads it from an index of this version.
    fn load(connection: &Connection) -> rusqlite::Result<Option<IndexedPart>> {
        let mut statement = connection.prepare("select value from meta where key = ?1")?;
        let mut get = |key: &str| statement.query_row([key], |row| row.get::<_, i64>(0)).optional();
        if get("index_version")? != Some(INDEX_VERSION) {
            return Ok(None);
        }
        let mut number = |key: &str| get(key).map(|value| value.unwrap_or(0) as u64);
        Ok(Some(IndexedPart {
            offset: number("journal_offset")?,
            lines: number("journal_lines")?,
            checksum: number("journal_checksum")? as u32,
            last: number("journal_last")? as u32,
            restored: number("restored")? != 0,
        }))
    }
}

/// Compares an index with its journal, and with what was noted when it was written.
pub(super) fn freshness(
    connection: &Connection,
    record: &Path,
    journal: &mut File,
) -> rusqlite::Result<IndexFreshness> {
    let Some(checks) = FileChecks::load(record) else { return Ok(IndexFreshness::Foreign) };
    if !checks.index_is_whole(record).unwrap_or(false) {
        return Ok(IndexFreshness::Foreign);
    }
    let Some(part) = IndexedPart::load(connection)? else { return Ok(IndexFreshness::Foreign) };
    // A journal that cannot be read is reported by whoever reads it next.
    Ok(compare(part, &checks, journal).unwrap_or(IndexFreshness::Foreign))
}

fn compare(part: IndexedPart, checks: &FileChecks, journal: &mut File) -> io::Result<IndexFreshness> {
    let found = journal.metadata()?;
    let own = part.offset > 0
        && found.len() >= part.offset
        && (FileStamp::of(&found) == checks.journal
            || checksum(journal, 0, part.offset, 0)? == part.checksum);
    Ok(match own {
        false => IndexFreshness::Foreign,
        true if found.len() == part.offset => IndexFreshness::Fresh,
        true => IndexFreshness::Behind(part),
    })
}
