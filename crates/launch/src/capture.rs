//! Keeps a run's output in its directory: `stdout.log` and `stderr.log` hold the bytes as they came, and
//! `arrival.tsv` says when each piece came (seconds after the start, stream, offset in its file, bytes), so that the
//! order between the two streams can be told.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use assay_evidence::Stream;

/// The files of one run's output.
pub struct Capture {
    stdout: Log,
    stderr: Log,
    arrival: BufWriter<File>,
}

struct Log {
    file: File,
    bytes: u64,
}

impl Capture {
    /// Makes the files.
    pub fn create(directory: &Path) -> io::Result<Capture> {
        let log = |stream: Stream| -> io::Result<Log> {
            Ok(Log { file: File::create(directory.join(stream.file()))?, bytes: 0 })
        };
        let arrival = BufWriter::new(File::create(directory.join("arrival.tsv"))?);
        Ok(Capture { stdout: log(Stream::Stdout)?, stderr: log(Stream::Stderr)?, arrival })
    }

    /// Keeps bytes that came `at_s` seconds after the start.
    pub fn take(&mut self, stream: Stream, at_s: f64, bytes: &[u8]) -> io::Result<()> {
        let log = self.log(stream);
        let offset = log.bytes;
        log.file.write_all(bytes)?;
        log.bytes += bytes.len() as u64;
        let word = if stream == Stream::Stdout { "stdout" } else { "stderr" };
        writeln!(self.arrival, "{at_s:.6}\t{word}\t{offset}\t{}", bytes.len())
    }

    /// Bytes kept of a stream.
    pub fn bytes(&self, stream: Stream) -> u64 {
        match stream {
            Stream::Stdout => self.stdout.bytes,
            Stream::Stderr => self.stderr.bytes,
        }
    }

    /// Writes out what is buffered and syncs what has content: a result that is acknowledged keeps its evidence.
    pub fn finish(mut self) -> io::Result<()> {
        self.arrival.flush()?;
        for log in [&self.stdout, &self.stderr] {
            if log.bytes > 0 {
                log.file.sync_data()?;
            }
        }
        Ok(())
    }

    fn log(&mut self, stream: Stream) -> &mut Log {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}
