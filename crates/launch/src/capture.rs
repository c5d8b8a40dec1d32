//! Keeps a run's output in its directory: `stdout.log` and `stderr.log` hold the bytes as they came, and
//! `arrival.tsv` says when each piece came (seconds after the start, stream, offset in its file, bytes), so that the
//! order between the two streams can be told. A file is made when there is something to put into it: making files is
//! most of what a short run costs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use assay_evidence::Stream;

/// The files of one run's output.
pub struct Capture {
    directory: PathBuf,
    stdout: Option<Log>,
    stderr: Option<Log>,
    arrival: Option<BufWriter<File>>,
}

struct Log {
    file: File,
    bytes: u64,
}

impl Capture {
    /// Starts with nothing kept.
    pub fn new(directory: &Path) -> Capture {
        Capture { directory: directory.to_owned(), stdout: None, stderr: None, arrival: None }
    }

    /// Keeps bytes that came `at_s` seconds after the start.
    pub fn take(&mut self, stream: Stream, at_s: f64, bytes: &[u8]) -> io::Result<()> {
        let (word, slot) = match stream {
            Stream::Stdout => ("stdout", &mut self.stdout),
            Stream::Stderr => ("stderr", &mut self.stderr),
        };
        let log = match slot {
            Some(log) => log,
            None => slot.insert(Log { file: File::create(self.directory.join(stream.file()))?, bytes: 0 }),
        };
        let offset = log.bytes;
        log.file.write_all(bytes)?;
        log.bytes += bytes.len() as u64;
        let arrival = match &mut self.arrival {
            Some(arrival) => arrival,
            None => {
                let file = File::create(self.directory.join("arrival.tsv"))?;
                self.arrival.insert(BufWriter::new(file))
            }
        };
        writeln!(arrival, "{at_s:.6}\t{word}\t{offset}\t{}", bytes.len())
    }

    /// Bytes kept of a stream.
    pub fn bytes(&self, stream: Stream) -> u64 {
        let log = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        log.as_ref().map_or(0, |log| log.bytes)
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
