//! The writing end of a journal.

use std::io;
use std::path::{Path, PathBuf};

use assay_model::Entry;

use super::finite::not_finite;
use super::line::{LONGEST_LINE, TORN_MARK, encode_after};
use crate::StoreError;
use crate::medium::Medium;

/// Appends entries to a medium, each in one write where the system allows it.
#[derive(Debug)]
pub struct Writer<M> {
    medium: M,
    path: PathBuf,
    buffer: Vec<u8>,
    /// The checksum of the last good line; 0 before the first.
    last: u32,
    /// Whether the medium may end in a piece of a line, which must be marked before the next entry.
    torn: bool,
    /// Whether a sync failed, after which no sync can be trusted.
    distrusted: bool,
    written: u64,
    durable: u64,
}

impl<M: Medium> Writer<M> {
    /// Writes on after what the medium holds: its number of entries, the checksum of its last good line, and a torn line
    /// if `torn`. The path is for messages.
    pub fn new(medium: M, path: &Path, entries: u64, last: u32, torn: bool) -> Writer<M> {
        Writer {
            medium,
            path: path.to_owned(),
            buffer: Vec::new(),
            last,
            torn,
            distrusted: false,
            written: entries,
            durable: 0,
        }
    }

    /// Writes an entry. When this returns, the entry survives the death of this process.
    pub fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.append_with_copy(entry, |_| Ok(()))
    }

    /// Like [`Writer::append`], with the line handed to `copy` before it is written to the journal.
    pub fn append_with_copy(
        &mut self,
        entry: &Entry,
        copy: impl FnOnce(&[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if self.distrusted {
            return Err(StoreError::Distrusted { path: self.path.clone() });
        }
        if let Some(what) = not_finite(entry) {
            return Err(StoreError::NotFinite { what });
        }
        let checksum = encode_after(entry, self.last, &mut self.buffer)
            .map_err(io::Error::from)
            .map_err(|source| self.write_error(source))?;
        if self.buffer.len() > LONGEST_LINE {
            return Err(StoreError::TooLong { what: name_of(entry), bytes: self.buffer.len() });
        }
        copy(&self.buffer)?;
        self.write_buffer().map_err(|source| self.write_error(source))?;
        self.last = checksum;
        self.written += 1;
        Ok(())
    }

    /// Writes an entry and makes it and all before it durable. When this returns, the entry is acknowledged.
    pub fn commit(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.append(entry)?;
        self.sync()
    }

    /// Makes all entries durable.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if self.distrusted {
            return Err(StoreError::Distrusted { path: self.path.clone() });
        }
        match self.medium.sync_data() {
            Ok(()) => {
                self.durable = self.written;
                Ok(())
            }
            Err(source) => {
                self.distrusted = true;
                Err(StoreError::Sync { path: self.path.clone(), entries: self.durable, source })
            }
        }
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        if self.torn {
            // If the mark itself is cut short the end stays torn, and the next mark ends the piece.
            write_all(&mut self.medium, TORN_MARK).map_err(|(_, source)| source)?;
            self.torn = false;
        }
        write_all(&mut self.medium, &self.buffer).map_err(|(written, source)| {
            self.torn = written > 0;
            source
        })
    }

    fn write_error(&self, source: io::Error) -> StoreError {
        StoreError::Write { path: self.path.clone(), entries: self.written, source }
    }
}

/// Writes all bytes, through short writes and interruptions. On failure says how many bytes were written.
fn write_all<M: Medium>(medium: &mut M, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match medium.write(rest) {
            Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}

fn name_of(entry: &Entry) -> String {
    match entry {
        Entry::Record { .. } => "the record line".to_owned(),
        Entry::Session { .. } => "the session entry".to_owned(),
        Entry::Plan { .. } => "the plan".to_owned(),
        Entry::Launching { run, .. } => format!("the launch of run {run}"),
        Entry::Started { run, .. } => format!("the start of run {run}"),
        Entry::Submitting { submission, .. } => format!("the submission {submission}"),
        Entry::Submitted { submission, .. } => format!("the job of submission {submission}"),
        Entry::Finished { run, .. } => format!("the result of run {run}"),
        Entry::AcceptedDamage { .. } => "the note of accepted damage".to_owned(),
        Entry::Scrubbed { .. } => "the note of a scrub".to_owned(),
    }
}
