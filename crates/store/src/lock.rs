//! The lock that lets one coordinator write a record.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Identity;
use crate::RecordPermissions;
use crate::StoreError;
use crate::layout::LOCK;
use crate::regular;

/// A process that is being started holds the lock of its parent for a moment, even if the parent just died, so one
/// look is not enough.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Who holds a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    pub(crate) host: String,
    pub(crate) since: f64,
}

/// Takes the lock of a record. It lasts as long as the file is open, so the kernel ends it with its holder.
pub(crate) fn take(record: &Path, holder: &Holder) -> Result<File, StoreError> {
    let path = record.join(LOCK);
    let open_error = |source| StoreError::Open { path: path.clone(), source };
    let mut attempts_left = ATTEMPTS;
    let mut file = loop {
        let mut options = RecordPermissions::of(record).options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = regular::open_to_write(&mut options, &path).map_err(open_error)?;
        attempts_left -= 1;
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => break file,
            Ok(()) | Err(TryLockError::WouldBlock) if attempts_left == 0 => {
                return Err(held(&mut file, record));
            }
            // The record was removed or renamed while this waited: the lock of what stands here now is another.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(source)) => return Err(StoreError::LockRefused { path, source }),
        }
    };
    let mut text = serde_json::to_vec(holder).map_err(|error| open_error(error.into()))?;
    text.push(b'\n');
    // A full disk must not keep anyone from continuing later, and the name is only for messages to others.
    let _ = file.set_len(0).and_then(|()| file.write_all(&text));
    Ok(file)
}

/// A record that nobody else writes while this exists.
#[derive(Debug)]
pub struct HeldRecord {
    _lock: File,
}

/// Takes the lock of a record without opening its journal, so that it can be moved.
pub fn hold(record: &Path, identity: &Identity) -> Result<HeldRecord, StoreError> {
    let holder = Holder { pid: identity.pid, host: identity.host.clone(), since: identity.now };
    Ok(HeldRecord { _lock: take(record, &holder)? })
}

/// Whether an open file is the one that a path leads to.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().ok().map(identity) == path.symlink_metadata().ok().map(identity)
}

/// Whether somebody writes the record now.
pub fn is_held(record: &Path) -> bool {
    regular::open(&record.join(LOCK))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The refusal, with the holder's name. A holder writes its name right after it took the lock, so an empty name
/// is waited for.
fn held(file: &mut File, record: &Path) -> StoreError {
    for _ in 0..ATTEMPTS {
        let mut text = String::new();
        let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
        if read.is_ok()
            && let Ok(Holder { pid, host, since }) = serde_json::from_str(&text)
        {
            return StoreError::Held { pid, host, since, path: record.to_owned() };
        }
        thread::sleep(PAUSE);
    }
    StoreError::HeldByUnknown { path: record.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_of_a_record_that_was_moved_away_is_not_the_lock_of_what_took_its_place() {
        let place = tempfile::tempdir().unwrap();
        let (record, aside) = (place.path().join("a"), place.path().join("a.old-1"));
        let holder = Holder { pid: 1, host: "h".into(), since: 0.0 };
        std::fs::create_dir(&record).unwrap();
        let first = take(&record, &holder).unwrap();
        let waiting = thread::spawn({
            let (record, holder) = (record.clone(), holder.clone());
            move || take(&record, &holder)
        });
        thread::sleep(PAUSE * 2);
        std::fs::rename(&record, &aside).unwrap();
        std::fs::create_dir(&record).unwrap();
        let now = take(&record, &holder).unwrap();
        drop(first);
        let waited = waiting.join().unwrap();
        assert!(matches!(waited, Err(StoreError::Held { .. })), "two have the lock of one record");
        assert!(is_at(&now, &record.join(LOCK)));
    }
}
