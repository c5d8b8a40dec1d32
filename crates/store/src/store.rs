//! The one writer of a record.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use assay_model::{Entry, SCHEMA_VERSION};

use crate::journal::{Reader, Writer};
use crate::layout::JOURNAL;
use crate::lock::{self, Holder};
use crate::medium::{FileMedium, Medium};
use crate::{State, StoreError};

/// A file without one good line may be a record that a crash kept from being made, if it is no longer than this.
/// Anything longer was something else before.
const LONGEST_FALSE_START: u64 = 64 << 10;

/// Who opens a record, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The campaign's name, for a new record.
    pub name: String,
    /// Now, in seconds since 1970 UTC.
    pub now: f64,
    /// The version of this program.
    pub program: String,
    /// The host's name.
    pub host: String,
    /// The process id.
    pub pid: u32,
}

/// A record opened for writing. Only one process at a time can have one.
pub struct Store {
    directory: PathBuf,
    journal: Writer<Box<dyn Medium + Send>>,
    state: State,
    /// The lock lasts until this file is unlocked or closed in every process that has it.
    lock: File,
}

impl Store {
    /// Opens the record in a directory, or makes one there.
    pub fn open_or_create(directory: &Path, identity: &Identity) -> Result<Store, StoreError> {
        Store::open_with_medium(directory, identity, |file| Box::new(FileMedium(file)))
    }

    /// Like [`Store::open_or_create`], with the journal's file wrapped, so that faults can be put in.
    pub fn open_with_medium(
        directory: &Path,
        identity: &Identity,
        wrap: impl FnOnce(File) -> Box<dyn Medium + Send>,
    ) -> Result<Store, StoreError> {
        create_directories(directory)?;
        let holder = Holder { pid: identity.pid, host: identity.host.clone(), since: identity.now };
        let lock = lock::take(directory, &holder)?;
        let path = directory.join(JOURNAL);
        let open_error = |source| StoreError::Open { path: path.clone(), source };
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(open_error)?;
        let state = read(&path)?;
        let torn = state.troubles.torn_tail.is_some();
        let journal = Writer::new(wrap(file), &path, state.entries, torn);
        let mut store = Store { directory: directory.to_owned(), journal, state, lock };
        store.settle(identity)?;
        sync_directory(directory)?;
        Ok(store)
    }

    /// Makes durable what was found, and names this schema unless the journal has done so. It has not in a new
    /// record, in one that a crash kept from being made, and in one that an older program made.
    fn settle(&mut self, identity: &Identity) -> Result<(), StoreError> {
        if self.state.schema >= SCHEMA_VERSION {
            return self.journal.sync();
        }
        let name = if self.state.name.is_empty() { &identity.name } else { &self.state.name };
        self.commit(&Entry::Record {
            schema: SCHEMA_VERSION,
            name: name.clone(),
            at: identity.now,
            program: identity.program.clone(),
        })
    }

    /// What the journal adds up to, with everything written since.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The record's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes an entry. When this returns, the entry survives the death of this process, but not the loss of power.
    pub fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.journal.append(entry)?;
        self.state.apply(entry);
        Ok(())
    }

    /// Writes an entry and syncs. When this returns, the entry and all before it are acknowledged: they survive the
    /// loss of power.
    pub fn commit(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.journal.commit(entry)?;
        self.state.apply(entry);
        Ok(())
    }

    /// The run directory inside this record.
    pub fn run_directory(&self, relative: &str) -> PathBuf {
        crate::layout::run_directory(&self.directory, relative)
    }
}

impl Drop for Store {
    /// Closing alone would leave the lock to a process that is just being started, until it has let go of the file.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

/// Folds the journal, and refuses a file that never was one.
fn read(path: &Path) -> Result<State, StoreError> {
    let file = File::open(path).map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
    let mut reader = Reader::new(file, path);
    let mut state = State::default();
    while let Some(located) = reader.next_entry()? {
        state.apply(&located.entry);
    }
    if state.entries == 0 && reader.offset() > LONGEST_FALSE_START {
        let reason = format!("none of its {} bytes are a line that checks", reader.offset());
        return Err(StoreError::NotAJournal { path: path.to_owned(), reason });
    }
    state.troubles = reader.into_troubles();
    Ok(state)
}

/// Makes a directory and those above it, each durable in its parent.
fn create_directories(directory: &Path) -> Result<(), StoreError> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .collect();
    fs::create_dir_all(directory)
        .map_err(|source| StoreError::Open { path: directory.to_owned(), source })?;
    for made in missing {
        let parent = made.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync_directory(parent.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Makes the names in a directory durable. File systems that cannot do that are left to their own ways.
fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    let outcome = File::open(directory).and_then(|open| open.sync_all());
    match outcome {
        Err(source) if !matches!(source.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Err(StoreError::Open { path: directory.to_owned(), source })
        }
        _ => Ok(()),
    }
}
