//! The spool of a load: a line that says what it is, a line of JSON with the settings, then one frame for every request
//! as it finishes, and at the end a frame with how the load went. A frame is its length, its kind and its bytes. Only
//! whole frames count, so a program that was killed loses at most its last one.
//!
//! Files by earlier versions may hold several loads: a frame with the settings of the next load comes between the end
//! of one and the requests of the other.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::codec::{decode, encode};
use super::{Exchange, LoadSummary, RecordError};

/// The first line of every file.
const TITLE: &str = "assay load 1\n";
/// Bytes that gather before they are written.
const GATHERED_BYTES: usize = 64 << 10;
/// How long bytes gather at most, while requests finish.
const GATHERED_TIME: Duration = Duration::from_millis(500);
/// A frame that claims to be longer than this is damaged.
const LONGEST_FRAME: u32 = 1 << 30;

const EXCHANGE: u8 = 0;
const ENDING: u8 = 1;
const PART: u8 = 2;

/// Writes the spool of a load.
#[derive(Debug)]
pub struct SpoolWriter {
    file: File,
    bytes: Vec<u8>,
    written: Instant,
}

impl SpoolWriter {
    /// Makes a new file. One that exists is never replaced.
    pub fn create(path: &Path, settings: &Value) -> io::Result<SpoolWriter> {
        let mut file = super::file::create_new(path)?;
        file.write_all(format!("{TITLE}{settings}\n").as_bytes())?;
        Ok(SpoolWriter { file, bytes: Vec::with_capacity(GATHERED_BYTES * 2), written: Instant::now() })
    }

    /// Adds a finished request.
    pub fn add(&mut self, exchange: &Exchange) -> io::Result<()> {
        self.frame(EXCHANGE, |bytes| encode(exchange, bytes));
        if self.bytes.len() >= GATHERED_BYTES || self.written.elapsed() >= GATHERED_TIME {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds how the load went, and writes everything to the disk.
    pub fn end(&mut self, ending: &Value) -> io::Result<()> {
        self.frame(ENDING, |bytes| bytes.extend_from_slice(ending.to_string().as_bytes()));
        self.flush()?;
        self.file.sync_data()
    }

    fn frame(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&[0, 0, 0, 0, kind]);
        write(&mut self.bytes);
        let length = u32::try_from(self.bytes.len() - begin - 4).unwrap_or(u32::MAX);
        self.bytes[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Hands everything to the system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.bytes)?;
        self.bytes.clear();
        self.written = Instant::now();
        Ok(())
    }
}

impl Drop for SpoolWriter {
    fn drop(&mut self) {
        // Callers that need to know whether this works call `end` or `flush`.
        let _ = self.flush();
    }
}

/// Reads a spool, one request at a time.
#[derive(Debug)]
pub(super) struct SpoolReader {
    file: BufReader<File>,
    parts: Vec<LoadSummary>,
    /// Loads at the beginning whose requests are skipped.
    passed: usize,
    frame: Vec<u8>,
    read: u64,
    is_over: bool,
}

impl SpoolReader {
    /// Opens a file.
    pub(super) fn open(path: &Path) -> Result<SpoolReader, RecordError> {
        let mut file = BufReader::with_capacity(GATHERED_BYTES, File::open(path)?);
        let mut title = [0; TITLE.len()];
        file.read_exact(&mut title).map_err(|_| RecordError::NotARecord)?;
        if title != *TITLE.as_bytes() {
            return Err(RecordError::NotARecord);
        }
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line)?;
        let settings = serde_json::from_slice(&line).map_err(|_| RecordError::NotARecord)?;
        let parts = vec![summary(settings)];
        Ok(SpoolReader { file, parts, passed: 0, frame: Vec::new(), read: 0, is_over: false })
    }

    /// Skips the requests of the first `parts` loads.
    pub(super) fn after(self, parts: usize) -> SpoolReader {
        SpoolReader { passed: parts, ..self }
    }

    /// The loads that have begun so far. The last one is that of the request that was read last.
    pub(super) fn parts(&self) -> &[LoadSummary] {
        &self.parts
    }

    /// Everything but the requests, once they have been read.
    pub(super) fn into_parts(self) -> Vec<LoadSummary> {
        self.parts
    }

    fn next_frame(&mut self) -> Result<Option<Exchange>, RecordError> {
        loop {
            let mut length = [0; 4];
            if !read_all(&mut self.file, &mut length)? {
                return Ok(None);
            }
            let length = u32::from_le_bytes(length);
            if length == 0 || length > LONGEST_FRAME {
                return Err(RecordError::Damaged(self.read));
            }
            self.frame.clear();
            let taken = (&mut self.file).take(u64::from(length)).read_to_end(&mut self.frame)?;
            if taken < length as usize {
                // The program was killed while it wrote this one.
                return Ok(None);
            }
            match self.frame.split_first() {
                Some((&EXCHANGE, _)) if self.parts.len() <= self.passed => {}
                Some((&EXCHANGE, bytes)) => {
                    let exchange = decode(bytes).map_err(|_| RecordError::Damaged(self.read))?;
                    self.read += 1;
                    return Ok(Some(exchange));
                }
                Some((&ENDING, bytes)) => {
                    if let Some(part) = self.parts.last_mut() {
                        part.ending = serde_json::from_slice(bytes).ok();
                    }
                }
                Some((&PART, bytes)) => {
                    let settings = serde_json::from_slice(bytes);
                    self.parts.push(summary(settings.map_err(|_| RecordError::Damaged(self.read))?));
                }
                // A later version may have more kinds of frames.
                _ => {}
            }
        }
    }
}

impl Iterator for SpoolReader {
    type Item = Result<Exchange, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.next_frame().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Fills the buffer; false if the file ends before.
fn read_all(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn summary(settings: Value) -> LoadSummary {
    LoadSummary { settings, ending: None, checksums: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(index: u64) -> Exchange {
        Exchange { index, sent_at_s: 0.5, end_at_s: 1.25, attempts: 1, ..Exchange::default() }
    }

    fn written(requests: u64) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("load");
        let mut writer = SpoolWriter::create(&path, &json!({"streams": 4})).unwrap();
        (0..requests).for_each(|index| writer.add(&exchange(index)).unwrap());
        writer.end(&json!({"ended": "complete"})).unwrap();
        (directory, path)
    }

    #[test]
    fn several_loads_of_a_file_by_an_earlier_version_are_separate() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("load");
        let mut writer = SpoolWriter::create(&path, &json!({"streams": 1})).unwrap();
        writer.add(&exchange(7)).unwrap();
        writer.end(&json!({"ended": "complete"})).unwrap();
        writer.frame(PART, |bytes| bytes.extend_from_slice(b"{\"streams\": 2}"));
        (8..10).for_each(|index| writer.add(&exchange(index)).unwrap());
        drop(writer);
        let loads = crate::record::StoredLoad::in_file(&path).unwrap();
        let [first, second] = loads.as_slice() else { panic!("{loads:?}") };
        let indexes = |load: &crate::record::StoredLoad| -> Vec<u64> {
            load.requests().unwrap().map(|exchange| exchange.unwrap().index).collect()
        };
        assert_eq!((indexes(first), indexes(second)), (vec![7], vec![8, 9]));
        assert_eq!(first.summary.ending, Some(json!({"ended": "complete"})));
        assert_eq!((&second.summary.settings, &second.summary.ending), (&json!({"streams": 2}), &None));
    }

    #[test]
    fn a_whole_file_comes_back_and_is_never_replaced() {
        let (_directory, path) = written(5000);
        let mut reader = SpoolReader::open(&path).unwrap();
        assert_eq!(reader.parts()[0].settings, json!({"streams": 4}));
        let all: Vec<Exchange> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(all, (0..5000).map(exchange).collect::<Vec<_>>());
        assert_eq!(reader.parts()[0].ending, Some(json!({"ended": "complete"})));
        assert!(SpoolWriter::create(&path, &json!({})).is_err());
    }

    #[test]
    fn a_file_that_was_cut_gives_what_was_complete() {
        let (_directory, path) = written(100);
        let bytes = std::fs::read(&path).unwrap();
        for cut in [1, 30, 60, 2000] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            let mut reader = SpoolReader::open(&path).unwrap();
            let count = reader.by_ref().map(Result::unwrap).count();
            assert!(count <= 100 && (count > 95 || cut > 100), "{cut} {count}");
            assert_eq!(reader.parts()[0].ending, None);
        }
    }

    #[test]
    fn other_files_are_refused_and_damage_is_reported() {
        let (_directory, path) = written(3);
        let mut bytes = std::fs::read(&path).unwrap();
        let frame = bytes.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        bytes[frame..frame + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let mut reader = SpoolReader::open(&path).unwrap();
        assert!(matches!(reader.next(), Some(Err(RecordError::Damaged(0)))));
        assert!(reader.next().is_none());
        std::fs::write(&path, "{}").unwrap();
        assert!(matches!(SpoolReader::open(&path), Err(RecordError::NotARecord)));
    }
}
