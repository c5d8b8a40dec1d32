//! Records made, refused, continued, read while written, on full and read-only disks.

use std::fs;
use std::io::Write;
use std::path::Path;

use assay_model::{Entry, SCHEMA_VERSION, Status};
use assay_store::fault::{InjectedFault, SimulatedDisk};
use assay_store::{Record, RunFilter, Store, StoreError, list_records};

use crate::common::{Mount, finished, identity, launching, run};

fn store(directory: &Path) -> Store {
    Store::open_or_create(directory, &identity()).unwrap()
}

#[test]
fn a_record_is_made_written_closed_and_continued() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("deep/down/nightly");
    let mut first = store(&directory);
    assert_eq!((first.state().name.as_str(), first.state().schema), ("nightly", SCHEMA_VERSION));
    first.append(&launching(&run(1))).unwrap();
    first.commit(&finished(&run(1), Status::Succeeded)).unwrap();
    first.append(&launching(&run(2))).unwrap();
    let state = first.state().clone();
    drop(first);

    let second = store(&directory);
    assert_eq!(*second.state(), state);
    assert_eq!(second.state().open_runs.keys().collect::<Vec<_>>(), [&run(2)]);
    assert_eq!(Record::open(&directory).unwrap().state().unwrap(), state);
    assert_eq!(second.run_directory("runs/x/r1"), directory.join("runs/x/r1"));
}

#[test]
fn a_second_writer_is_refused_by_name_and_readers_are_not() {
    let root = tempfile::tempdir().unwrap();
    let first = store(root.path());
    let error = Store::open_or_create(root.path(), &identity()).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "record {} is in use by process 4711 on here since 2026-03-01 12:34:56 UTC",
            root.path().display()
        )
    );
    assert!(error.hint().unwrap().contains("kill 4711"));
    assert_eq!(Record::open(root.path()).unwrap().state().unwrap().entries, 1);
    drop(first);
    store(root.path());
}

#[test]
fn a_nameless_holder_is_refused_too() {
    let root = tempfile::tempdir().unwrap();
    let lock = fs::File::create(root.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let error = Store::open_or_create(root.path(), &identity()).err().unwrap();
    assert!(matches!(error, StoreError::HeldByUnknown { .. }), "{error}");
}

#[test]
fn a_record_that_a_crash_kept_from_being_made_is_made() {
    let made = tempfile::tempdir().unwrap();
    store(made.path());
    let line = fs::read(made.path().join("journal.jsonl")).unwrap();
    for cut in 0..line.len() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("journal.jsonl"), &line[..cut]).unwrap();
        Record::open(root.path()).unwrap();
        let again = store(root.path());
        assert_eq!((again.state().name.as_str(), again.state().entries), ("nightly", 1), "cut at {cut}");
    }
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("journal.jsonl"), [0; 512]).unwrap();
    assert_eq!(store(root.path()).state().entries, 1);
}

#[test]
fn a_file_that_never_was_a_journal_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("journal.jsonl");
    let foreign = "{\"someone\": \"else's\"}\n".repeat(10_000);
    fs::write(&path, &foreign).unwrap();
    let error = Store::open_or_create(root.path(), &identity()).err().unwrap();
    assert!(matches!(error, StoreError::NotAJournal { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
}

#[test]
fn an_older_record_opens_and_is_marked_when_written_to() {
    let root = tempfile::tempdir().unwrap();
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/disk/schema-0.jsonl"),
        root.path().join("journal.jsonl"),
    )
    .unwrap();
    let record = Record::open(root.path()).unwrap();
    let state = record.state().unwrap();
    assert_eq!((state.name.as_str(), state.schema, state.counts().succeeded), ("early", 0, 1));
    assert_eq!(record.index().unwrap().runs(&RunFilter::default()).unwrap().len(), 1);
    let store = store(root.path());
    assert_eq!((store.state().name.as_str(), store.state().schema), ("early", SCHEMA_VERSION));
    let schemas: Vec<u32> = record
        .entries()
        .unwrap()
        .filter_map(
            |entry| if let Entry::Record { schema, .. } = entry.unwrap() { Some(schema) } else { None },
        )
        .collect();
    assert_eq!(schemas, [0, SCHEMA_VERSION]);
}

#[test]
fn a_newer_record_is_refused_by_writers_readers_and_lists_it() {
    let root = tempfile::tempdir().unwrap();
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/disk/schema-99.jsonl"),
        root.path().join("journal.jsonl"),
    )
    .unwrap();
    let before = fs::read(root.path().join("journal.jsonl")).unwrap();
    for error in [
        Store::open_or_create(root.path(), &identity()).err().unwrap(),
        Record::open(root.path()).unwrap_err(),
        list_records(root.path()).unwrap().remove(0).contents.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    }
    assert_eq!(fs::read(root.path().join("journal.jsonl")).unwrap(), before);
}

#[test]
fn a_missing_record_is_said_to_be_missing() {
    let root = tempfile::tempdir().unwrap();
    let error = Record::open(&root.path().join("nowhere")).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
}

#[test]
fn readers_follow_a_writer_at_work() {
    let root = tempfile::tempdir().unwrap();
    let mut store = store(root.path());
    let record = Record::open(root.path()).unwrap();
    for repeat in 1..20 {
        store.append(&launching(&run(repeat))).unwrap();
        assert_eq!(record.state().unwrap(), *store.state());
        store.commit(&finished(&run(repeat), Status::Succeeded)).unwrap();
        assert_eq!(record.index().unwrap().summary().unwrap().runs, store.state().counts());
    }
}

#[test]
fn a_fault_while_writing_reaches_the_caller_and_the_next_session_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let disk = SimulatedDisk::default();
    let mut store = Store::open_with_medium(root.path(), &identity(), |_| Box::new(disk.clone())).unwrap();
    store.commit(&finished(&run(1), Status::Succeeded)).unwrap();
    disk.inject(InjectedFault::Full(50));
    let error = store.commit(&finished(&run(2), Status::Succeeded)).unwrap_err();
    assert!(error.to_string().contains("the entry is not recorded, all 2 before it are kept"), "{error}");
    assert_eq!(store.state().counts().succeeded, 1);
    drop(store);
    fs::write(root.path().join("journal.jsonl"), disk.bytes()).unwrap();
    // The result had reached its run directory, so that the run need not be made again.
    let next = self::store(root.path());
    assert_eq!(next.state().counts().succeeded, 2);
    assert!(next.state().troubles.torn_tail.is_some());
}

#[test]
fn a_really_full_disk_keeps_the_journal_readable() {
    let mount = Mount::tmpfs("size=64k");
    let mut store = store(mount.path());
    let mut kept = 0;
    let error = loop {
        match store.commit(&finished(&run(kept + 1), Status::Succeeded)) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(error.hint().unwrap().starts_with("free some space"), "{error}");
    let record = Record::open(mount.path()).unwrap();
    assert_eq!(record.state().unwrap().counts().succeeded, u64::from(kept));
    // There is no room for an index either.
    assert_eq!(record.index().unwrap().summary().unwrap().runs.succeeded, u64::from(kept));
    drop(store);
    self::store(mount.path());
    mount.remount("size=1m");
    let mut store = self::store(mount.path());
    store.commit(&finished(&run(kept + 1), Status::Succeeded)).unwrap();
    let state = record.state().unwrap();
    assert_eq!(state.counts().succeeded, u64::from(kept) + 1);
    assert!(state.troubles.damage.is_empty());
}

#[test]
fn a_read_only_directory_can_be_read_and_asked_but_not_written() {
    let mount = Mount::tmpfs("size=1m");
    let mut store = store(mount.path());
    store.commit(&finished(&run(1), Status::Succeeded)).unwrap();
    drop(store);
    mount.remount("ro");
    let error = Store::open_or_create(mount.path(), &identity()).err().unwrap();
    assert!(error.hint().unwrap().contains("can still be read"), "{error}");
    let record = Record::open(mount.path()).unwrap();
    assert_eq!(record.index().unwrap().summary().unwrap().runs.succeeded, 1);
    assert!(!mount.path().join("index.sqlite").exists());
    mount.remount("rw");
    record.index().unwrap();
    mount.remount("ro");
    assert_eq!(record.index().unwrap().summary().unwrap().runs.succeeded, 1);
}

#[test]
fn records_are_listed_with_and_without_an_index() {
    let root = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        store(&root.path().join(name)).commit(&finished(&run(1), Status::Succeeded)).unwrap();
    }
    fs::create_dir(root.path().join("c")).unwrap();
    fs::write(root.path().join("d"), "a file").unwrap();
    let without: Vec<_> =
        list_records(root.path()).unwrap().into_iter().map(|summary| summary.contents.unwrap()).collect();
    Record::open(&root.path().join("a")).unwrap().index().unwrap();
    let with = list_records(root.path()).unwrap();
    assert_eq!(with[0].path, root.path().join("a"));
    let with: Vec<_> = with.into_iter().map(|summary| summary.contents.unwrap()).collect();
    assert_eq!(with, without);
    assert_eq!((with.len(), with[0].runs.succeeded), (2, 1));
    assert!(!root.path().join("b/index.sqlite").exists());
    assert!(list_records(&root.path().join("nowhere")).is_err());
}

#[test]
fn accepted_damage_does_not_stop_a_writer() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("journal.jsonl");
    let mut store = store(root.path());
    for repeat in 1..4 {
        store.commit(&finished(&run(repeat), Status::Succeeded)).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    fs::write(&path, &bytes).unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"torn").unwrap();

    let damaged = Record::open(root.path()).unwrap().index().unwrap().summary().unwrap().damage;
    assert_eq!((damaged.places, damaged.lines, damaged.restored), (2, 2, 1));
    let mut store = Store::open_accepting_damage(root.path(), &identity()).unwrap();
    let troubles = &store.state().troubles;
    assert_eq!((troubles.damage.len(), troubles.damage[0].line), (1, 3));
    assert_eq!(troubles.torn_tail.as_ref().unwrap().bytes, 4);
    store.commit(&finished(&run(2), Status::Succeeded)).unwrap();
    let record = Record::open(root.path()).unwrap();
    let state = record.state().unwrap();
    assert_eq!((state.counts().succeeded, state.troubles.interrupted.len()), (3, 1));
    assert_eq!((state.troubles.accepted.len(), state.repeated_results), (1, 1));
    assert!(record.index().unwrap().summary().unwrap().damage.is_clean());
}
