//! Keeps a run's output in its directory: `stdout.log` and `stderr.log` hold the bytes as they came, and
//! `arrival.tsv` says when each piece came (seconds after the start, stream, offset in its file, bytes), so that the
//! order between the two streams can be reconstructed. A file is made when there is something to put into it, and
//! `arrival.tsv` when there is a second piece: making files is most of what a short run costs, and when the first piece
//! came is in the run's result. Of a compact run even the directory is made only when its output does not fit into the
//! journal: until then it is held here.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_evidence::Stream;
use assay_model::ShortOutput;
use assay_store::RecordPermissions;

/// The files of one run's output.
pub struct Capture {
    directory: PathBuf,
    permissions: RecordPermissions,
    stdout: Option<Log>,
    stderr: Option<Log>,
    first: Option<OutputChunk>,
    arrival: Option<BufWriter<File>>,
    /// Output that is in no file so far, because there is no directory for it.
    held: Option<Vec<(Stream, f64, Vec<u8>)>>,
}

/// The most output that is held without a file.
const MOST_HELD: u64 = 4096;

struct Log {
    file: File,
    bytes: u64,
}

/// One piece of output.
#[derive(Clone, Copy)]
struct OutputChunk {
    at_s: f64,
    stream: Stream,
    offset: u64,
    bytes: usize,
}

impl Capture {
    /// Starts with nothing kept.
    pub fn new(directory: &Path, permissions: RecordPermissions) -> Capture {
        let directory = directory.to_owned();
        Capture { directory, permissions, stdout: None, stderr: None, first: None, arrival: None, held: None }
    }

    /// Like [`Capture::new`], without a directory until [`Capture::write_held`].
    pub fn without_directory(directory: &Path, permissions: RecordPermissions) -> Capture {
        Capture { held: Some(Vec::new()), ..Capture::new(directory, permissions) }
    }

    /// Whether all output so far is held and in no file.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Whether this many more bytes can be held, or go to a file anyway.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        let held = self.held.iter().flatten().map(|(_, _, piece)| piece.len() as u64).sum::<u64>();
        !self.is_held() || held + bytes as u64 <= MOST_HELD
    }

    /// Puts held output into files. The directory is there now.
    pub fn write_held(&mut self) -> io::Result<()> {
        for (stream, at_s, bytes) in self.held.take().unwrap_or_default() {
            self.take(stream, at_s, &bytes)?;
        }
        Ok(())
    }

    /// The held output as texts; none where it is in files or is not text.
    pub fn short_output(&self) -> Option<ShortOutput> {
        let text = |wanted: Stream| {
            let pieces = self.held.as_ref()?.iter().filter(|(stream, ..)| *stream == wanted);
            String::from_utf8(pieces.flat_map(|(_, _, bytes)| bytes.iter().copied()).collect()).ok()
        };
        Some(ShortOutput { stdout: text(Stream::Stdout)?, stderr: text(Stream::Stderr)? })
    }

    /// Reads back what was kept of a stream from an offset on. Gives how many bytes were read.
    pub fn read(&self, stream: Stream, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let log = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        log.as_ref().map_or(Ok(0), |log| log.file.read_at(buffer, offset))
    }

    /// Keeps bytes that came `at_s` seconds after the start.
    pub fn take(&mut self, stream: Stream, at_s: f64, bytes: &[u8]) -> io::Result<()> {
        if let Some(held) = &mut self.held {
            held.push((stream, at_s, bytes.to_vec()));
            return Ok(());
        }
        let slot = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let log = match slot {
            Some(log) => log,
            None => {
                let file = self.permissions.create_readable_file(&self.directory.join(stream.file()))?;
                slot.insert(Log { file, bytes: 0 })
            }
        };
        let piece = OutputChunk { at_s, stream, offset: log.bytes, bytes: bytes.len() };
        log.file.write_all(bytes)?;
        log.bytes += bytes.len() as u64;
        self.note(piece)
    }

    fn note(&mut self, piece: OutputChunk) -> io::Result<()> {
        let Some(first) = self.first else {
            self.first = Some(piece);
            return Ok(());
        };
        let arrival = match &mut self.arrival {
            Some(arrival) => arrival,
            None => {
                let file = self.permissions.create_file(&self.directory.join("arrival.tsv"))?;
                let arrival = self.arrival.insert(BufWriter::new(file));
                first.write(arrival)?;
                arrival
            }
        };
        piece.write(arrival)
    }

    /// Bytes kept of a stream.
    pub fn bytes(&self, stream: Stream) -> u64 {
        let log = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        let held = self.held.iter().flatten().filter(|(of, ..)| *of == stream);
        let held: u64 = held.map(|(_, _, bytes)| bytes.len() as u64).sum();
        held + log.as_ref().map_or(0, |log| log.bytes)
    }

    /// When the first piece of output came, in seconds after the start.
    pub fn first_output_s(&self) -> Option<f64> {
        let held = self.held.as_ref().and_then(|held| held.first()).map(|(_, at_s, _)| *at_s);
        held.or(self.first.map(|piece| piece.at_s))
    }

    /// Writes out what is buffered and, if asked, syncs the logs.
    pub fn finish(mut self, sync: bool) -> io::Result<()> {
        if let Some(arrival) = &mut self.arrival {
            arrival.flush()?;
        }
        for log in [&self.stdout, &self.stderr].into_iter().flatten().filter(|_| sync) {
            log.file.sync_data()?;
        }
        Ok(())
    }
}

impl OutputChunk {
    fn write(self, out: &mut impl Write) -> io::Result<()> {
        let word = match self.stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        writeln!(out, "{:.6}\t{word}\t{}\t{}", self.at_s, self.offset, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_without_a_directory_is_text_until_there_is_one() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("r1");
        let mut capture = Capture::without_directory(&directory, RecordPermissions::PRIVATE);
        capture.take(Stream::Stdout, 0.001, b"one\n").unwrap();
        capture.take(Stream::Stderr, 0.002, b"oh\n").unwrap();
        capture.take(Stream::Stdout, 0.003, b"two\n").unwrap();
        let expected = ShortOutput { stdout: "one\ntwo\n".to_owned(), stderr: "oh\n".to_owned() };
        assert_eq!(capture.short_output(), Some(expected));
        assert_eq!((capture.bytes(Stream::Stdout), capture.first_output_s()), (8, Some(0.001)));
        assert!(capture.has_room_for(4000) && !capture.has_room_for(4096) && !directory.exists());
        std::fs::create_dir(&directory).unwrap();
        capture.write_held().unwrap();
        assert!(capture.short_output().is_none() && capture.has_room_for(1 << 20));
        assert_eq!((capture.bytes(Stream::Stdout), capture.first_output_s()), (8, Some(0.001)));
        capture.finish(true).unwrap();
        assert_eq!(std::fs::read_to_string(directory.join("stdout.log")).unwrap(), "one\ntwo\n");
        assert!(directory.join("arrival.tsv").exists());
    }

    #[test]
    fn arrival_tells_the_order_once_there_is_one() {
        let directory = tempfile::tempdir().unwrap();
        let arrival = directory.path().join("arrival.tsv");
        let mut capture = Capture::new(directory.path(), RecordPermissions::PRIVATE);
        capture.take(Stream::Stderr, 0.5, b"warning\n").unwrap();
        assert!(!arrival.exists() && capture.first_output_s() == Some(0.5));
        capture.take(Stream::Stdout, 1.0, b"one\n").unwrap();
        capture.take(Stream::Stdout, 2.0, b"two\n").unwrap();
        assert_eq!((capture.bytes(Stream::Stdout), capture.bytes(Stream::Stderr)), (8, 8));
        capture.finish(true).unwrap();
        let expected = "0.500000\tstderr\t0\t8\n1.000000\tstdout\t0\t4\n2.000000\tstdout\t4\t4\n";
        assert_eq!(std::fs::read_to_string(arrival).unwrap(), expected);
        assert_eq!(std::fs::read_to_string(directory.path().join("stdout.log")).unwrap(), "one\ntwo\n");
    }
}
