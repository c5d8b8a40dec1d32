//! Bytes of files and streams, decompressed where they are gzip.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use assay_evidence::{DocumentReader, Readers, is_text_start};
use assay_model::Document;
use flate2::read::MultiGzDecoder;

/// Bytes that are read at once: few enough to stay in a processor's cache until they are looked at.
const BUFFER: usize = 256 << 10;
const PAGE: usize = 4096;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How files begin that are no text, though they may hold some.
const OTHERS: [(&[u8], &str); 7] = [
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"BZh9", "a bzip2 archive"),
    (b"%PDF-", "a PDF file"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite", "an SQLite database"),
];

/// Whether the first bytes of a file, decompressed, look like text.
pub fn is_text(path: &Path) -> io::Result<bool> {
    let mut start = [0; 1024];
    let mut file = File::open(path)?;
    let read = file.read(&mut start)?;
    let start = start.get(..read).unwrap_or_default();
    if !start.starts_with(&GZIP) {
        return Ok(is_text_start(start));
    }
    let mut inner = Vec::with_capacity(1024);
    // The head of a compressed file may end in the middle of a block.
    let _ = MultiGzDecoder::new(start).take(1024).read_to_end(&mut inner);
    Ok(is_text_start(&inner))
}

/// Reads a whole stream as one document.
pub fn document(mut from: impl Read, name: &str, readers: &Readers) -> io::Result<Document> {
    let mut magic = [0; 6];
    let mut length = 0;
    while length < magic.len() {
        match from.read(magic.get_mut(length..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let start = magic.get(..length).unwrap_or_default();
    if let Some((_, kind)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
        let text = format!("{kind}, which is not read");
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    if start.starts_with(&GZIP) {
        // The name inside says what is in it: `results.csv.gz` holds a CSV file.
        let reader = DocumentReader::new(readers, name);
        return feed(MultiGzDecoder::new(start.chain(from)), reader);
    }
    let mut reader = DocumentReader::new(readers, name);
    reader.feed(start);
    feed(from, reader)
}

fn feed(mut from: impl Read, mut reader: DocumentReader) -> io::Result<Document> {
    // Some processors copy several times more slowly to a place just behind the beginning of a page, which is where
    // large allocations begin.
    let mut room = vec![0; BUFFER + PAGE];
    let begin = room.as_ptr().align_offset(PAGE).min(PAGE);
    let buffer = room.get_mut(begin..begin + BUFFER).unwrap_or_default();
    loop {
        match from.read(buffer) {
            Ok(0) => return Ok(reader.finish()),
            Ok(count) => reader.feed(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const LOG: &[u8] = b"Accuracy on test set: 97.13%\n";

    #[test]
    fn gzip_is_read_like_the_text_in_it() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(LOG).unwrap();
        let compressed = encoder.finish().unwrap();
        let readers = Readers::all(&[]);
        let plain = document(LOG, "run.log", &readers).unwrap();
        let inflated = document(compressed.as_slice(), "run.log", &readers).unwrap();
        assert_eq!(inflated, plain);
        assert!(!plain.runs.is_empty());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.log.gz");
        std::fs::write(&path, &compressed).unwrap();
        assert!(is_text(&path).unwrap());
    }

    #[test]
    fn a_gzip_file_that_is_cut_off_is_an_error() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(LOG).unwrap();
        let compressed = encoder.finish().unwrap();
        let cut = compressed.get(..compressed.len() - 6).unwrap();
        assert!(document(cut, "run.log.gz", &Readers::all(&[])).is_err());
    }
}
