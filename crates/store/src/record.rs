//! A record opened for reading: without a lock, on read-only directories too, and while a writer is at work.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::Entry;

use crate::journal::{JournalReader, Troubles};
use crate::layout::{JOURNAL, SCRIPT, run_directory};
use crate::recovery::{restorable, unrecorded};
use crate::regular;
use crate::{Index, JournalState, StoreError};

/// A record opened for reading.
#[derive(Debug, Clone)]
pub struct Record {
    directory: PathBuf,
}

impl Record {
    /// Opens the record in a directory. Reads no more than is needed to know that this program can read it.
    pub fn open(directory: &Path) -> Result<Record, StoreError> {
        let record = Record { directory: directory.to_owned() };
        record.entries()?.reader.next_entry()?;
        Ok(record)
    }

    /// The record's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Length and time of the last change of the journal: as long as they stay, so does what the record says.
    pub fn stamp(directory: &Path) -> Option<(u64, std::time::SystemTime)> {
        let known = std::fs::metadata(directory.join(JOURNAL)).ok()?;
        Some((known.len(), known.modified().ok()?))
    }

    /// The run directory inside this record.
    pub fn run_directory(&self, relative: &str) -> PathBuf {
        run_directory(&self.directory, relative)
    }

    /// The script of the run with this directory: its own, or the one that the compact runs of its cell share.
    pub fn script(&self, relative: &str) -> PathBuf {
        let own = self.run_directory(relative).join(SCRIPT);
        match own.ancestors().nth(2) {
            Some(cell) if !own.exists() && cell.join(SCRIPT).exists() => cell.join(SCRIPT),
            _ => own,
        }
    }

    /// The fold of the journal as it is now, with what only the run directories still have.
    pub fn state(&self) -> Result<JournalState, StoreError> {
        let mut entries = self.entries()?;
        let mut state = JournalState::default();
        for entry in entries.by_ref() {
            state.apply(&entry?);
        }
        state.troubles = entries.reader.into_troubles();
        let found = unrecorded(&self.directory, &mut |run| state.known(run));
        let restored = restorable(found, &state.troubles, &self.directory);
        state.damage = restored.report;
        for entry in &restored.entries {
            state.apply(entry);
        }
        Ok(state)
    }

    /// The entries of the journal as it is now, in order; what does not check is left out.
    pub fn entries(&self) -> Result<Entries, StoreError> {
        let path = self.directory.join(JOURNAL);
        let file = regular::open(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                StoreError::Missing { path: self.directory.clone() }
            }
            _ => StoreError::Open { path: path.clone(), source },
        })?;
        Ok(Entries { reader: JournalReader::new(file, &path), ended: false })
    }

    /// The index, brought up to date with the journal.
    pub fn index(&self) -> Result<Index, StoreError> {
        Index::open(&self.directory)
    }
}

/// The entries of a journal, one after the other.
#[derive(Debug)]
pub struct Entries {
    reader: JournalReader<File>,
    ended: bool,
}

impl Entries {
    /// What had to be skipped; complete once all entries are read.
    pub fn troubles(&self) -> &Troubles {
        self.reader.troubles()
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.reader.next_entry();
        self.ended = !matches!(next, Ok(Some(_)));
        Some(next.transpose()?.map(|located| located.entry))
    }
}
