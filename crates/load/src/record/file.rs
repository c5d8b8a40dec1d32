//! The file of a load: a line that says what it is, a line of JSON with the settings, then one frame for every request as it
//! finishes, and at the end a frame with how the load went. A frame is its length, its kind and its bytes. What was
//! written when a program was killed can be read; only the last frame may be missing.
//!
//! Several loads, one after the other, are parts of one file: a frame with the settings of the next part stands between
//! the end of one and the requests of the other.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Exchange;
use super::codec::{decode, encode};

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

/// Writes the file of a load.
#[derive(Debug)]
pub struct RecordWriter {
    file: File,
    bytes: Vec<u8>,
    written: Instant,
}

impl RecordWriter {
    /// Makes a new file; one that exists is replaced.
    pub fn create(path: &Path, settings: &Value) -> io::Result<RecordWriter> {
        let mut file = File::create(path)?;
        file.write_all(format!("{TITLE}{settings}\n").as_bytes())?;
        Ok(RecordWriter { file, bytes: Vec::with_capacity(GATHERED_BYTES * 2), written: Instant::now() })
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

    /// Begins the next part: another load, with settings of its own.
    pub fn begin(&mut self, settings: &Value) {
        self.frame(PART, |bytes| bytes.extend_from_slice(settings.to_string().as_bytes()));
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

impl Drop for RecordWriter {
    fn drop(&mut self) {
        // Who wants to know whether this works calls `end` or `flush`.
        let _ = self.flush();
    }
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refuses.
    #[error("the file cannot be read")]
    Read(#[from] io::Error),
    /// Something else.
    #[error("this is no file of a load")]
    NotARecord,
    /// Damaged in the middle.
    #[error("the file is damaged after {0} requests")]
    Damaged(u64),
}

/// One load of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its settings.
    pub settings: Value,
    /// How it went. Known when all its requests have been read, and only if it came to its end.
    pub ending: Option<Value>,
}

impl Part {
    fn new(settings: Value) -> Part {
        Part { settings, ending: None }
    }
}

/// Reads the file of a load, one request at a time.
#[derive(Debug)]
pub struct RecordReader {
    file: BufReader<File>,
    parts: Vec<Part>,
    /// Parts at the beginning whose requests are passed over.
    passed: usize,
    frame: Vec<u8>,
    read: u64,
    is_over: bool,
}

impl RecordReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<RecordReader, RecordError> {
        let mut file = BufReader::with_capacity(GATHERED_BYTES, File::open(path)?);
        let mut title = [0; TITLE.len()];
        file.read_exact(&mut title).map_err(|_| RecordError::NotARecord)?;
        if title != *TITLE.as_bytes() {
            return Err(RecordError::NotARecord);
        }
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line)?;
        let settings = serde_json::from_slice(&line).map_err(|_| RecordError::NotARecord)?;
        let parts = vec![Part::new(settings)];
        Ok(RecordReader { file, parts, passed: 0, frame: Vec::new(), read: 0, is_over: false })
    }

    /// The same without the requests of so many parts at the beginning.
    pub fn after(self, parts: usize) -> RecordReader {
        RecordReader { passed: parts, ..self }
    }

    /// The parts that have begun so far. The last one is that of the request that was read last.
    pub fn parts(&self) -> &[Part] {
        &self.parts
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
                    self.parts.push(Part::new(settings.map_err(|_| RecordError::Damaged(self.read))?));
                }
                // A later version may have more kinds.
                _ => {}
            }
        }
    }
}

impl Iterator for RecordReader {
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

/// Writes every request as one line of JSON, with the part that it belongs to, from 1.
pub fn write_lines(mut record: RecordReader, out: &mut impl Write) -> Result<u64, RecordError> {
    let mut lines = 0;
    while let Some(exchange) = record.next() {
        let mut line = serde_json::to_value(exchange?).map_err(io::Error::from)?;
        if let Value::Object(fields) = &mut line {
            fields.insert("part".to_owned(), record.parts().len().into());
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

    use super::*;

    fn exchange(index: u64) -> Exchange {
        Exchange { index, sent_s: 0.5, end_s: 1.25, attempts: 1, ..Exchange::default() }
    }

    fn written(requests: u64) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("load");
        let mut writer = RecordWriter::create(&path, &json!({"streams": 4})).unwrap();
        (0..requests).for_each(|index| writer.add(&exchange(index)).unwrap());
        writer.end(&json!({"ended": "complete"})).unwrap();
        (directory, path)
    }

    #[test]
    fn loads_after_each_other_are_parts() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("load");
        let mut writer = RecordWriter::create(&path, &json!({"streams": 1})).unwrap();
        writer.add(&exchange(7)).unwrap();
        writer.end(&json!({"ended": "complete"})).unwrap();
        writer.begin(&json!({"streams": 2}));
        (8..10).for_each(|index| writer.add(&exchange(index)).unwrap());
        drop(writer);
        let mut reader = RecordReader::open(&path).unwrap();
        let mut seen = Vec::new();
        while let Some(exchange) = reader.next() {
            seen.push((reader.parts().len(), exchange.unwrap().index));
        }
        assert_eq!(seen, [(1, 7), (2, 8), (2, 9)]);
        let later = RecordReader::open(&path).unwrap().after(1);
        assert_eq!(later.map(|exchange| exchange.unwrap().index).collect::<Vec<_>>(), [8, 9]);
        let [first, second] = reader.parts() else { panic!("{:?}", reader.parts()) };
        assert_eq!(first.ending, Some(json!({"ended": "complete"})));
        assert_eq!((&second.settings, &second.ending), (&json!({"streams": 2}), &None));
        let mut lines = Vec::new();
        write_lines(RecordReader::open(&path).unwrap(), &mut lines).unwrap();
        let last = lines.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap();
        assert_eq!(serde_json::from_slice::<Value>(last).unwrap()["part"], 2);
    }

    #[test]
    fn a_whole_file_comes_back() {
        let (_directory, path) = written(5000);
        let mut reader = RecordReader::open(&path).unwrap();
        assert_eq!(reader.parts()[0].settings, json!({"streams": 4}));
        let all: Vec<Exchange> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(all, (0..5000).map(exchange).collect::<Vec<_>>());
        assert_eq!(reader.parts()[0].ending, Some(json!({"ended": "complete"})));
        let mut lines = Vec::new();
        assert_eq!(write_lines(RecordReader::open(&path).unwrap(), &mut lines).unwrap(), 5000);
        let first: Exchange =
            serde_json::from_slice(lines.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        assert_eq!(first, exchange(0));
    }

    #[test]
    fn a_file_that_was_cut_gives_what_was_complete() {
        let (_directory, path) = written(100);
        let bytes = std::fs::read(&path).unwrap();
        for cut in [1, 30, 60, 2000] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            let mut reader = RecordReader::open(&path).unwrap();
            let count = reader.by_ref().map(Result::unwrap).count();
            assert!(count <= 100 && (count > 95 || cut > 100), "{cut} {count}");
            assert_eq!(reader.parts()[0].ending, None);
        }
    }

    #[test]
    fn other_files_are_refused_and_damage_is_told() {
        let (_directory, path) = written(3);
        let mut bytes = std::fs::read(&path).unwrap();
        let frame = bytes.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        bytes[frame..frame + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let mut reader = RecordReader::open(&path).unwrap();
        assert!(matches!(reader.next(), Some(Err(RecordError::Damaged(0)))));
        assert!(reader.next().is_none());
        std::fs::write(&path, "{}").unwrap();
        assert!(matches!(RecordReader::open(&path), Err(RecordError::NotARecord)));
    }
}
