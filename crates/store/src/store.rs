//! The one writer of a record.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assay_model::{Entry, SCHEMA_VERSION};

use crate::journal::{JournalReader, Writer};
use crate::layout::{JOURNAL, RESULT, relative_run_directory};
use crate::lock::{self, Holder};
use crate::medium::{FileMedium, Medium};
use crate::recovery::{DamageReport, Unrecorded, unrecorded};
use crate::{JournalState, RecordPermissions, StoreError, regular};

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
    state: JournalState,
    /// The lock lasts until this file is unlocked or closed in every process that has it.
    lock: File,
    permissions: RecordPermissions,
}

/// Results of at least this many seconds are synced in their run directory before they are acknowledged. Syncing the
/// copy of a shorter run would cost more than making the run again, and the journal is synced in any case.
const COPY_SYNCED_FROM_S: f64 = 0.02;

/// What to do about a journal that lost something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDamage {
    Refuse,
    Accept,
}

impl Store {
    /// Opens the record in a directory, or makes one there. A journal that lost something is refused.
    pub fn open_or_create(directory: &Path, identity: &Identity) -> Result<Store, StoreError> {
        Store::open(directory, identity, OnDamage::Refuse, |file| Box::new(FileMedium(file)))
    }

    /// Like [`Store::open_or_create`], but a journal that lost something is repaired from the run directories as far
    /// as that is possible, and the rest is accepted as lost.
    pub fn open_accepting_damage(directory: &Path, identity: &Identity) -> Result<Store, StoreError> {
        Store::open(directory, identity, OnDamage::Accept, |file| Box::new(FileMedium(file)))
    }

    /// Like [`Store::open_accepting_damage`], with the journal's file wrapped, so that faults can be put in.
    pub fn open_with_medium(
        directory: &Path,
        identity: &Identity,
        wrap: impl FnOnce(File) -> Box<dyn Medium + Send>,
    ) -> Result<Store, StoreError> {
        Store::open(directory, identity, OnDamage::Accept, wrap)
    }

    fn open(
        directory: &Path,
        identity: &Identity,
        on_damage: OnDamage,
        wrap: impl FnOnce(File) -> Box<dyn Medium + Send>,
    ) -> Result<Store, StoreError> {
        create_directories(directory)?;
        let holder = Holder { pid: identity.pid, host: identity.host.clone(), since: identity.now };
        let lock = lock::take(directory, &holder)?;
        let path = directory.join(JOURNAL);
        let open_error = |source| StoreError::Open { path: path.clone(), source };
        let permissions = RecordPermissions::of(directory);
        let mut options = permissions.options();
        let file = regular::open_to_write(options.read(true).append(true).create(true), &path)
            .map_err(open_error)?;
        let (mut state, bytes, last) = read(&path)?;
        let found = unrecorded(directory, &mut |run| state.known(run));
        // A run that was launched and not acknowledged is no sign of damage: its coordinator was killed.
        let suspicious = state.troubles.damage.len() + usize::from(state.troubles.torn_tail.is_some()) > 0;
        let restored = found.lost.len() + if suspicious { found.unacknowledged.len() } else { 0 };
        state.damage = DamageReport::new(&state.troubles, restored as u64, found.without_result);
        if state.entries == 0 && bytes > LONGEST_FALSE_START && restored == 0 {
            let reason = format!("none of its {bytes} bytes are a valid journal line");
            return Err(StoreError::NotAJournal { path, reason });
        }
        if on_damage == OnDamage::Refuse && !state.damage.is_harmless() {
            return Err(StoreError::Damaged { path: directory.to_owned(), report: Box::new(state.damage) });
        }
        let torn = state.troubles.torn_tail.is_some();
        let journal = Writer::new(wrap(file), &path, state.entries, last, torn);
        let mut store = Store { directory: directory.to_owned(), journal, state, lock, permissions };
        store.settle(identity)?;
        store.restore(&found, bytes, identity)?;
        sync_directory(directory)?;
        Ok(store)
    }

    /// Takes over results that only the run directories have, and notes the damage that was accepted.
    fn restore(&mut self, found: &Unrecorded, bytes: u64, identity: &Identity) -> Result<(), StoreError> {
        let report = &self.state.damage;
        if !report.is_harmless() || report.without_result > 0 {
            let note = Entry::AcceptedDamage {
                at: identity.now,
                before_byte: bytes,
                lines: report.lines,
                restored: report.restored,
                without_result: report.without_result,
            };
            self.append(&note)?;
        }
        if found.lost.is_empty() && found.unacknowledged.is_empty() {
            return Ok(());
        }
        for entry in found.lost.iter().chain(&found.unacknowledged) {
            self.append(entry)?;
        }
        self.journal.sync()
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
    pub fn state(&self) -> &JournalState {
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
        self.keep(entry)?;
        self.sync()
    }

    /// Acknowledges all entries that were written so far.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.journal.sync()
    }

    /// Like [`Store::append`], with the result of a run put into its run directory first, so that a journal that is
    /// damaged later can be repaired. A run without a directory took less time than repairing would.
    pub fn keep(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let Store { journal, directory, permissions, .. } = self;
        journal.append_with_copy(entry, |line| match entry {
            Entry::Finished { run, result } if result.output.is_none() => {
                let run_directory = crate::layout::run_directory(directory, &relative_run_directory(run));
                let sync = result.usage.as_ref().is_some_and(|usage| usage.wall_s >= COPY_SYNCED_FROM_S);
                write_copy(&run_directory, line, *permissions, sync)
            }
            _ => Ok(()),
        })?;
        self.state.apply(entry);
        Ok(())
    }

    /// Who may read what is written into this record.
    pub fn permissions(&self) -> RecordPermissions {
        self.permissions
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

/// Writes the line that acknowledges a run into its run directory, which is made again if the run removed it. A run that
/// put something else in its place, or took away the right to write there, goes without: the journal has its result.
fn write_copy(
    directory: &Path,
    line: &[u8],
    permissions: RecordPermissions,
    sync: bool,
) -> Result<(), StoreError> {
    let path = directory.join(RESULT);
    let write = || -> io::Result<()> {
        // Through a link the copy would land somewhere else.
        if fs::symlink_metadata(directory).is_ok_and(|found| !found.is_dir()) {
            return Ok(());
        }
        let mut file = match permissions.create_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                permissions.create_directory(directory)?;
                permissions.create_file(&path)?
            }
            other => other?,
        };
        let written = file.write_all(line).and_then(|()| if sync { file.sync_data() } else { Ok(()) });
        if written.is_err() {
            // Half a copy would look like damage.
            let _ = fs::remove_file(&path);
        }
        written
    };
    match write() {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::PermissionDenied) =>
        {
            Ok(())
        }
        other => other.map_err(|source| StoreError::Open { path: path.clone(), source }),
    }
}

/// Folds the journal, and gives its length and the checksum of its last good line.
fn read(path: &Path) -> Result<(JournalState, u64, u32), StoreError> {
    let file = regular::open(path).map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
    let mut reader = JournalReader::new(file, path);
    let mut state = JournalState::default();
    while let Some(located) = reader.next_entry()? {
        state.apply(&located.entry);
    }
    let (bytes, last) = (reader.offset(), reader.last_checksum());
    state.troubles = reader.into_troubles();
    Ok((state, bytes, last))
}

/// Makes a directory and those above it, each durable in its parent.
fn create_directories(directory: &Path) -> Result<(), StoreError> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .collect();
    RecordPermissions::PRIVATE
        .create_directory(directory)
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
