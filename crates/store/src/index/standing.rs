//! How an index stands to its journal. The index keeps how far it has read, with fingerprints of the first line and
//! of the last line read, so that it notices a journal that was exchanged.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use rusqlite::{Connection, OptionalExtension};

use super::schema::INDEX_VERSION;

/// How far the index has read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Bytes of the journal that are in the index; a line starts there.
    pub(super) offset: u64,
    /// Lines before that.
    pub(super) lines: u64,
    /// The first line.
    pub(super) head: Fingerprint,
    /// The last line that is in the index.
    pub(super) last: Fingerprint,
}

/// A piece of the journal and its checksum.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) checksum: u32,
}

/// How an index stands to its journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing is missing.
    Fresh,
    /// Right as far as it goes; entries may follow.
    Behind(Progress),
    /// Of another journal or another version.
    Foreign,
}

impl Fingerprint {
    /// Takes the fingerprint of a piece of a journal.
    pub(super) fn take(journal: &mut File, offset: u64, bytes: u64) -> io::Result<Fingerprint> {
        let mut hasher = crc32fast::Hasher::new();
        let mut left = bytes;
        let mut buffer = vec![0; 1 << 16];
        journal.seek(SeekFrom::Start(offset))?;
        while left > 0 {
            let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let count = journal.read(buffer.get_mut(..wanted).unwrap_or_default())?;
            if count == 0 {
                break;
            }
            hasher.update(buffer.get(..count).unwrap_or_default());
            left -= count as u64;
        }
        Ok(Fingerprint { offset, bytes: bytes - left, checksum: hasher.finalize() })
    }

    fn fits(&self, journal: &mut File) -> io::Result<bool> {
        Ok(Fingerprint::take(journal, self.offset, self.bytes)? == *self)
    }
}

impl Progress {
    /// Writes the progress into the index.
    pub(super) fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare("insert or replace into meta (key, value) values (?1, ?2)")?;
        let mut put = |key: &str, value: u64| statement.execute((key, value as i64)).map(drop);
        put("index_version", INDEX_VERSION as u64)?;
        put("journal_offset", self.offset)?;
        put("journal_lines", self.lines)?;
        for (name, print) in [("head", &self.head), ("last", &self.last)] {
            put(&format!("{name}_offset"), print.offset)?;
            put(&format!("{name}_bytes"), print.bytes)?;
            put(&format!("{name}_checksum"), u64::from(print.checksum))?;
        }
        Ok(())
    }

    /// Reads the progress from an index of this version.
    fn load(connection: &Connection) -> rusqlite::Result<Option<Progress>> {
        let mut statement = connection.prepare("select value from meta where key = ?1")?;
        let mut get = |key: &str| statement.query_row([key], |row| row.get::<_, i64>(0)).optional();
        if get("index_version")? != Some(INDEX_VERSION) {
            return Ok(None);
        }
        let mut number = |key: &str| get(key).map(|value| value.unwrap_or(0) as u64);
        let mut print = |name: &str| -> rusqlite::Result<Fingerprint> {
            Ok(Fingerprint {
                offset: number(&format!("{name}_offset"))?,
                bytes: number(&format!("{name}_bytes"))?,
                checksum: number(&format!("{name}_checksum"))? as u32,
            })
        };
        let (head, last) = (print("head")?, print("last")?);
        Ok(Some(Progress { offset: number("journal_offset")?, lines: number("journal_lines")?, head, last }))
    }
}

/// Compares an index with its journal.
pub(super) fn standing(connection: &Connection, journal: &mut File) -> rusqlite::Result<Standing> {
    let Some(progress) = Progress::load(connection)? else { return Ok(Standing::Foreign) };
    // A journal that cannot be read is reported by whoever reads it next.
    Ok(compare(progress, journal).unwrap_or(Standing::Foreign))
}

fn compare(progress: Progress, journal: &mut File) -> io::Result<Standing> {
    let length = journal.metadata()?.len();
    let own = progress.offset > 0
        && length >= progress.offset
        && progress.head.fits(journal)?
        && progress.last.fits(journal)?;
    Ok(match own {
        false => Standing::Foreign,
        true if length == progress.offset => Standing::Fresh,
        true => Standing::Behind(progress),
    })
}
