//! A load on disk. While it runs, finished requests are appended to a spool; when it has ended, the spool becomes two
//! Parquet tables and a summary, and is deleted. After a crash the spool is still there, and is read instead.
//!
//! Files by earlier versions (`load.assay`, one or several loads each) have the format of the spool.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spool::SpoolReader;
use super::tables::{CHUNKS_FILE, LoadTablesReader, LoadTablesWriter, REQUESTS_FILE};
use super::{Exchange, RecordError};

/// The file that requests are appended to while a load runs.
pub const SPOOL_FILE: &str = "load.assay";
/// The file with the settings of a load and how it ended.
pub const SUMMARY_FILE: &str = "load.json";

/// A summary is much smaller than this.
const LONGEST_SUMMARY: u64 = 16 << 20;

/// What is known of a load beside its requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    /// Its settings.
    pub settings: Value,
    /// How it ended; none if the program was killed.
    pub ending: Option<Value>,
    /// Checksums of its tables; none of those that were written before there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<TableChecksums>,
}

/// CRC-32 of each table. Parquet itself does not notice a changed byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableChecksums {
    pub requests: u32,
    pub chunks: u32,
}

impl TableChecksums {
    fn of(requests: &Path, chunks: &Path) -> io::Result<TableChecksums> {
        Ok(TableChecksums { requests: checksum(requests)?, chunks: checksum(chunks)? })
    }
}

fn checksum(path: &Path) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut file = fs::File::open(path)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finalize()),
            count => hasher.update(piece.get(..count).unwrap_or_default()),
        }
    }
}

/// A load that was kept.
#[derive(Debug)]
pub struct StoredLoad {
    /// Settings and ending.
    pub summary: LoadSummary,
    source: StoredSource,
}

#[derive(Debug)]
enum StoredSource {
    /// The tables in a directory.
    Tables(PathBuf),
    /// One of the loads of a spool.
    Spool { path: PathBuf, part: usize },
}

impl StoredLoad {
    /// The load of a run; none if the directory has none.
    pub fn in_run(directory: &Path) -> Result<Option<StoredLoad>, RecordError> {
        match read_small(&directory.join(SUMMARY_FILE)) {
            Ok(bytes) => {
                let summary = serde_json::from_slice(&bytes).map_err(|_| RecordError::Damaged(0))?;
                return Ok(Some(StoredLoad { summary, source: StoredSource::Tables(directory.to_owned()) }));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let path = directory.join(SUMMARY_FILE);
                return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())).into());
            }
        }
        let spool = directory.join(SPOOL_FILE);
        if !spool.is_file() {
            return Ok(None);
        }
        Ok(StoredLoad::in_file(&spool)?.into_iter().next())
    }

    /// The loads of a spool, or of a file by an earlier version.
    pub fn in_file(path: &Path) -> Result<Vec<StoredLoad>, RecordError> {
        let mut reader = SpoolReader::open(path)?.after(usize::MAX);
        while reader.next().transpose()?.is_some() {}
        let loads = reader.into_parts().into_iter().enumerate().map(|(part, summary)| StoredLoad {
            summary,
            source: StoredSource::Spool { path: path.to_owned(), part },
        });
        Ok(loads.collect())
    }

    /// Its requests, in the order in which they ended.
    pub fn requests(&self) -> Result<Requests, RecordError> {
        Ok(match &self.source {
            StoredSource::Tables(directory) => {
                let [requests, chunks] = [REQUESTS_FILE, CHUNKS_FILE].map(|name| directory.join(name));
                let reader = LoadTablesReader::open(&requests, &chunks);
                self.check(&requests, &chunks)?;
                Requests(StoredReading::Tables(Box::new(reader?)))
            }
            StoredSource::Spool { path, part } => {
                let reader = SpoolReader::open(path)?.after(*part);
                Requests(StoredReading::Spool { reader, last: part + 1 })
            }
        })
    }
}

impl StoredLoad {
    /// Refuses tables that are not as they were written.
    fn check(&self, requests: &Path, chunks: &Path) -> Result<(), RecordError> {
        let Some(written) = self.summary.checksums else { return Ok(()) };
        let found = TableChecksums::of(requests, chunks)?;
        let damaged = match (found.requests == written.requests, found.chunks == written.chunks) {
            (false, _) => requests,
            (_, false) => chunks,
            _ => return Ok(()),
        };
        Err(RecordError::DamagedTable(damaged.display().to_string()))
    }
}

/// The requests of a load, read one at a time.
pub struct Requests(StoredReading);

enum StoredReading {
    Tables(Box<LoadTablesReader>),
    /// A spool, up to its `last` part, counted from 1.
    Spool {
        reader: SpoolReader,
        last: usize,
    },
}

impl Iterator for Requests {
    type Item = Result<Exchange, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            StoredReading::Tables(tables) => tables.next_request().map_err(RecordError::from).transpose(),
            StoredReading::Spool { reader, last } => {
                let next = reader.next()?;
                (reader.parts().len() <= *last).then_some(next)
            }
        }
    }
}

/// Reads a file if it is a regular one that is no larger than a summary: a pipe in its place would be waited for, and a
/// device may never end.
fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LONGEST_SUMMARY + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LONGEST_SUMMARY {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than a summary ever is")),
        false => Ok(bytes),
    }
}

/// Turns the spool of a run into tables and a summary, and deletes it. Memory is bounded: a row group at a time.
pub fn finish_run(directory: &Path) -> Result<(), RecordError> {
    let [spool, requests, chunks, summary] =
        [SPOOL_FILE, REQUESTS_FILE, CHUNKS_FILE, SUMMARY_FILE].map(|name| directory.join(name));
    let mut reader = SpoolReader::open(&spool)?;
    let mut tables = LoadTablesWriter::create(&requests, &chunks)?;
    for exchange in reader.by_ref() {
        tables.add(&exchange?)?;
    }
    tables.finish()?;
    let parts = reader.into_parts();
    let described = parts.into_iter().next().ok_or(RecordError::NotARecord)?;
    let described = LoadSummary { checksums: Some(TableChecksums::of(&requests, &chunks)?), ..described };
    // The summary appears at once and last: where it is, the tables are complete.
    let unfinished = summary.with_extension("json.part");
    let mut file = super::file::create(&unfinished)?;
    file.write_all(&serde_json::to_vec(&described).map_err(io::Error::from)?)?;
    file.sync_data()?;
    fs::rename(&unfinished, &summary)?;
    Ok(fs::remove_file(&spool)?)
}

/// Writes every request as one line of JSON, chunks included, with the number of its load.
pub fn write_lines(load: u64, requests: Requests, out: &mut dyn Write) -> Result<u64, RecordError> {
    let mut lines = 0;
    for exchange in requests {
        let mut line = serde_json::to_value(exchange?).map_err(io::Error::from)?;
        if let Value::Object(fields) = &mut line {
            fields.insert("load".to_owned(), load.into());
        }
        serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        lines += 1;
    }
    out.flush()?;
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::SpoolWriter;
    use super::*;

    fn exchange(index: u64) -> Exchange {
        Exchange { index, sent_at_s: 0.5, end_at_s: 1.25, attempts: 1, ..Exchange::default() }
    }

    fn spooled(directory: &Path, requests: u64, ended: bool) {
        let path = directory.join(SPOOL_FILE);
        let mut writer = SpoolWriter::create(&path, &json!({"streams": 4})).unwrap();
        (0..requests).for_each(|index| writer.add(&exchange(index)).unwrap());
        if ended {
            writer.end(&json!({"ended": "complete"})).unwrap();
        }
    }

    fn indexes(load: &StoredLoad) -> Vec<u64> {
        load.requests().unwrap().map(|exchange| exchange.unwrap().index).collect()
    }

    #[test]
    fn a_spool_becomes_tables_and_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        assert!(StoredLoad::in_run(directory.path()).unwrap().is_none());
        spooled(directory.path(), 5, true);
        finish_run(directory.path()).unwrap();
        let load = StoredLoad::in_run(directory.path()).unwrap().unwrap();
        assert_eq!(load.summary.settings, json!({"streams": 4}));
        assert_eq!(load.summary.ending, Some(json!({"ended": "complete"})));
        assert_eq!(indexes(&load), [0, 1, 2, 3, 4]);
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [CHUNKS_FILE, SUMMARY_FILE, REQUESTS_FILE]);
        let mut lines = Vec::new();
        assert_eq!(write_lines(2, load.requests().unwrap(), &mut lines).unwrap(), 5);
        let first: Value =
            serde_json::from_slice(lines.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        assert_eq!((&first["load"], &first["sent_at_s"]), (&json!(2), &json!(0.5)));
    }

    #[test]
    fn a_changed_byte_in_a_table_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        spooled(directory.path(), 50, true);
        finish_run(directory.path()).unwrap();
        let path = directory.path().join(REQUESTS_FILE);
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 20) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            let load = StoredLoad::in_run(directory.path()).unwrap().unwrap();
            assert!(matches!(load.requests(), Err(RecordError::DamagedTable(_))), "byte {at}");
        }
    }

    #[test]
    fn only_a_regular_summary_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(SUMMARY_FILE);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(StoredLoad::in_run(directory.path()).is_err());
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(StoredLoad::in_run(directory.path()).is_err());
    }

    #[test]
    fn what_a_killed_program_left_is_read_from_its_spool() {
        let directory = tempfile::tempdir().unwrap();
        spooled(directory.path(), 3, false);
        // It was killed while it wrote the tables.
        fs::write(directory.path().join(REQUESTS_FILE), b"PAR1").unwrap();
        let load = StoredLoad::in_run(directory.path()).unwrap().unwrap();
        assert_eq!((load.summary.ending.as_ref(), indexes(&load)), (None, vec![0, 1, 2]));
    }
}
