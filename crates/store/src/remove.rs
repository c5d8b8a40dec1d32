//! Removing a record. Only what this program wrote is deleted, so that a record made in a directory with other files
//! does not take them with it.

use std::fs;
use std::io;
use std::path::Path;

use crate::layout::{INDEX, INDEX_CHECK, INDEX_LOCK, JOBS, JOURNAL, LOCK, RUNS};
use crate::lock::{self, Holder};
use crate::{Identity, Record, StoreError};

/// Removes the record in a directory, unless another process writes it. Returns whether the directory is gone, which it
/// is not where it has other files.
pub fn remove_record(directory: &Path, identity: &Identity) -> Result<bool, StoreError> {
    Record::open(directory)?;
    let holder = Holder { pid: identity.pid, host: identity.host.clone(), since: identity.now };
    let _lock = lock::take(directory, &holder)?;
    let failed = |source| StoreError::Open { path: directory.to_owned(), source };
    let absent = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    for name in [RUNS, JOBS] {
        absent(fs::remove_dir_all(directory.join(name))).map_err(failed)?;
    }
    let index = ["", "-wal", "-shm", "-journal"].map(|suffix| format!("{INDEX}{suffix}"));
    // The journal goes after everything else: a removal that was interrupted leaves a record that can be removed again.
    let files = index.iter().map(String::as_str).chain([INDEX_CHECK, INDEX_LOCK, JOURNAL, LOCK]);
    for file in files {
        absent(fs::remove_file(directory.join(file))).map_err(failed)?;
    }
    Ok(fs::remove_dir(directory).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use crate::sample::{append_all, record};

    fn identity() -> Identity {
        Identity { name: "a".into(), now: 1.0, program: "1".into(), host: "here".into(), pid: 7 }
    }

    #[test]
    fn a_record_is_removed_and_other_files_stay() {
        let place = tempfile::tempdir().unwrap();
        let (alone, shared) = (place.path().join("alone"), place.path().join("shared"));
        for path in [&alone, &shared] {
            fs::create_dir_all(path.join("runs/a/r1")).unwrap();
            fs::create_dir_all(path.join("jobs/1")).unwrap();
            append_all(path, &[record()]);
            Record::open(path).unwrap().index().unwrap();
        }
        fs::write(shared.join("notes.txt"), "mine").unwrap();
        assert!(remove_record(&alone, &identity()).unwrap());
        assert!(!alone.exists());
        assert!(!remove_record(&shared, &identity()).unwrap());
        let left: Vec<_> = fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
        assert!(matches!(remove_record(&shared, &identity()), Err(StoreError::Missing { .. })));
    }

    #[test]
    fn a_record_in_use_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(place.path(), &identity()).unwrap();
        assert!(matches!(remove_record(place.path(), &identity()), Err(StoreError::Held { .. })));
        drop(store);
        remove_record(place.path(), &identity()).unwrap();
        assert!(!place.path().exists());
    }
}
