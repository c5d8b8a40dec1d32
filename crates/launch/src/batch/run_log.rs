//! Reads the output of a run from its directory while the run's job writes it.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use assay_evidence::{Findings, Progress, Reading, Stream};

use crate::small_file;
use crate::worker::{OutputReader, RunJob};

/// What is read of a file at once.
const PIECE: usize = 64 * 1024;
/// What is read of a run at one look, so that one run cannot keep the others waiting.
const AT_ONE_LOOK: u64 = 4 << 20;
/// The end of the output that is searched for error texts.
const TAIL: usize = 16 * 1024;

/// The output of a run, as far as it was read.
pub struct RunLog {
    reading: Option<Reading>,
    stdout: u64,
    stderr: u64,
    tail: Vec<u8>,
    /// When the first output was seen, in seconds since 1970 UTC.
    pub first_output_at: Option<f64>,
    /// When the first metric was seen, likewise.
    pub first_metric_at: Option<f64>,
}

/// All that was found in a run's output.
pub struct RunLogReading {
    /// What the readers found.
    pub findings: Findings,
    /// Bytes of standard output.
    pub stdout_bytes: u64,
    /// Bytes of standard error.
    pub stderr_bytes: u64,
    /// The end of the output.
    pub tail: Vec<u8>,
}

impl RunLog {
    /// Nothing was read yet.
    pub fn new() -> RunLog {
        RunLog {
            reading: None,
            stdout: 0,
            stderr: 0,
            tail: Vec::new(),
            first_output_at: None,
            first_metric_at: None,
        }
    }

    /// Reads what was added. Gives how far the run is, if anything was.
    pub fn look(&mut self, job: &RunJob, now: f64) -> io::Result<Option<Progress>> {
        let before = self.stdout + self.stderr;
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.read(stream, &job.directory, &job.reader, AT_ONE_LOOK)?;
        }
        if self.stdout + self.stderr == before {
            return Ok(None);
        }
        self.first_output_at.get_or_insert(now);
        let progress = self.reading.as_ref().map(Reading::progress).unwrap_or_default();
        if progress.loss.is_some() || progress.rate.is_some() || progress.latest.is_some() {
            self.first_metric_at.get_or_insert(now);
        }
        Ok(Some(progress))
    }

    /// Reads the rest, and the files that the run wrote its log to.
    pub fn finish(mut self, job: &RunJob) -> io::Result<RunLogReading> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.read(stream, &job.directory, &job.reader, u64::MAX)?;
        }
        let mut reading = self.reading.take().unwrap_or_else(|| Reading::new(&job.reader.readers));
        // Where run directories are on another host, so are these files, unless they are among those copied back.
        for path in job
            .invocation
            .follow
            .iter()
            .filter(|path| job.there.is_none() || path.starts_with(&job.directory))
        {
            // The file may be a link, but only to a file.
            let file = path.canonicalize().and_then(|path| small_file::read(&path, u64::MAX));
            if let Ok(bytes) = file {
                let name =
                    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let number = reading.add_file(&name);
                reading.feed_file(number, &bytes);
            }
        }
        let (stdout_bytes, stderr_bytes) = (self.stdout, self.stderr);
        Ok(RunLogReading { findings: reading.finish(), stdout_bytes, stderr_bytes, tail: self.tail })
    }

    fn read(&mut self, stream: Stream, directory: &Path, reader: &OutputReader, most: u64) -> io::Result<()> {
        let offset = match stream {
            Stream::Stdout => self.stdout,
            Stream::Stderr => self.stderr,
        };
        let mut file = match assay_store::open_unlinked(&directory.join(stream.file())) {
            Ok(file) => file,
            // A pipe that the run put in its place has nothing to read, and would be waited for.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let size = file.metadata()?.len();
        if size < offset {
            // The scheduler began the job again: what was read is of an attempt that does not count.
            *self = RunLog::new();
            return self.read(stream, directory, reader, most);
        }
        if size == offset {
            return Ok(());
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut source = file.take(most.min(size - offset));
        let mut buffer = vec![0; PIECE];
        loop {
            let count = source.read(&mut buffer)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                return Ok(());
            }
            self.reading.get_or_insert_with(|| Reading::new(&reader.readers)).feed(stream, bytes);
            self.tail.extend_from_slice(bytes);
            let excess = self.tail.len().saturating_sub(TAIL);
            self.tail.drain(..excess);
            match stream {
                Stream::Stdout => self.stdout += count as u64,
                Stream::Stderr => self.stderr += count as u64,
            }
        }
    }
}
