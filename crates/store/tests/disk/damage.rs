//! Damage of a journal is reported or repaired, never passed over in silence.

use std::fs;
use std::path::Path;

use assay_model::{Entry, Status};
use assay_store::{Record, Store, StoreError};

use crate::common::{finished, identity, launching, run};

const RUNS: u32 = 12;

/// A record of finished runs with their run directories, as the launcher leaves it.
fn record(directory: &Path) {
    let mut store = Store::open_or_create(directory, &identity()).unwrap();
    for repeat in 1..=RUNS {
        store.append(&launching(&run(repeat))).unwrap();
        store.commit(&finished(&run(repeat), Status::Succeeded)).unwrap();
    }
}

fn journal(directory: &Path) -> Vec<u8> {
    fs::read(directory.join("journal.jsonl")).unwrap()
}

fn put(directory: &Path, bytes: &[u8]) {
    fs::write(directory.join("journal.jsonl"), bytes).unwrap();
}

/// Finished runs as each way of reading sees them.
fn counts(directory: &Path) -> [u64; 2] {
    let record = Record::open(directory).unwrap();
    let state = record.state().unwrap();
    let summary = record.index().unwrap().summary().unwrap();
    assert_eq!(state.damage, summary.damage, "both readers report the same");
    [state.counts().succeeded, summary.runs.succeeded]
}

fn refused(directory: &Path) -> String {
    let error = Store::open_or_create(directory, &identity()).err().expect("a damaged journal is refused");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--accept-damage"));
    error.to_string()
}

fn flip_in_last_lines(bytes: &mut [u8], lines: usize) {
    let ends: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] == b'\n').collect();
    for end in ends.iter().rev().take(lines) {
        bytes[end - 3] ^= 1;
    }
}

#[test]
fn flipped_bytes_in_the_last_lines_are_reported_and_repaired() {
    for keep_index in [true, false] {
        let root = tempfile::tempdir().unwrap();
        record(root.path());
        assert_eq!(counts(root.path()), [12, 12]);
        let mut bytes = journal(root.path());
        flip_in_last_lines(&mut bytes, 10);
        put(root.path(), &bytes);
        if !keep_index {
            fs::remove_file(root.path().join("index.sqlite")).unwrap();
        }
        assert_eq!(counts(root.path()), [12, 12]);
        let message = refused(root.path());
        assert!(message.contains("10 unreadable lines: lines 16-25"), "{message}");
        assert!(message.contains("5 finished runs restored"), "{message}");
        assert_eq!(journal(root.path()), bytes, "a refusal changes nothing");
        let store = Store::open_accepting_damage(root.path(), &identity()).unwrap();
        assert_eq!(store.state().counts().succeeded, 12);
        drop(store);
        drop(Store::open_or_create(root.path(), &identity()).unwrap());
        assert_eq!(counts(root.path()), [12, 12]);
        assert!(!Record::open(root.path()).unwrap().state().unwrap().damage.is_worth_reporting());
    }
}

#[test]
fn a_journal_of_zeros_an_empty_one_and_a_cut_one_are_restored() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    let whole = journal(root.path());
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    for bytes in [vec![0; whole.len()], Vec::new(), lines[..9].concat()] {
        put(root.path(), &bytes);
        let _ = fs::remove_file(root.path().join("index.sqlite"));
        assert_eq!(counts(root.path()), [12, 12], "{} bytes", bytes.len());
        assert!(refused(root.path()).contains("restored from"));
        let mut store = Store::open_accepting_damage(root.path(), &identity()).unwrap();
        assert_eq!(store.state().counts().succeeded, 12);
        store.commit(&finished(&run(RUNS + 1), Status::Succeeded)).unwrap();
        drop(store);
        assert_eq!(counts(root.path()), [13, 13]);
        fs::remove_dir_all(root.path().join("runs/00000000000000aa@local/r13")).unwrap();
    }
}

#[test]
fn windows_line_endings_cost_nothing_and_are_reported() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    let bytes = String::from_utf8(journal(root.path())).unwrap().replace('\n', "\r\n");
    put(root.path(), bytes.as_bytes());
    assert_eq!(counts(root.path()), [12, 12]);
    let store = Store::open_or_create(root.path(), &identity()).unwrap();
    assert_eq!(store.state().counts().succeeded, 12);
    assert!(store.state().damage.is_worth_reporting());
    assert!(store.state().damage.to_string().contains("Windows line endings"));
}

#[test]
fn a_run_that_was_not_acknowledged_is_taken_over_and_is_no_damage() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    let whole = journal(root.path());
    // Killed after the result was put into the run directory and before the journal had it, or cut off there later.
    let cut = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    put(root.path(), &whole[..cut]);
    let state = Record::open(root.path()).unwrap().state().unwrap();
    assert_eq!((state.counts().succeeded, state.counts().open), (12, 0));
    assert!(!state.damage.is_worth_reporting());
    assert_eq!(counts(root.path()), [12, 12]);
    let store = Store::open_or_create(root.path(), &identity()).unwrap();
    assert_eq!((store.state().counts().succeeded, store.state().open_runs.len()), (12, 0));
}

#[test]
fn damage_in_the_middle_is_refused_once_and_a_cut_write_at_the_end_never() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    let whole = journal(root.path());
    put(root.path(), &[whole.as_slice(), b"1234abcd {\"fini"].concat());
    let store = Store::open_or_create(root.path(), &identity()).unwrap();
    assert!(!store.state().damage.is_worth_reporting());
    drop(store);
    let mut middle = whole.clone();
    middle[400] ^= 4;
    put(root.path(), &middle);
    assert_eq!(counts(root.path()), [12, 12]);
    assert!(refused(root.path()).contains("1 unreadable line: line"));
    drop(Store::open_accepting_damage(root.path(), &identity()).unwrap());
    drop(Store::open_or_create(root.path(), &identity()).unwrap());
    let entries: Vec<Entry> =
        Record::open(root.path()).unwrap().entries().unwrap().collect::<Result<_, _>>().unwrap();
    assert!(entries.iter().any(|entry| matches!(entry, Entry::AcceptedDamage { lines: 1, .. })));
}

#[test]
fn every_damaged_index_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    let before = counts(root.path());
    let whole = fs::read(root.path().join("index.sqlite")).unwrap();
    let sum = |directory: &Path| {
        let index = Record::open(directory).unwrap().index().unwrap();
        index.query("select sum(value), count(*), group_concat(unit) from observation").unwrap().rows
    };
    let expected = sum(root.path());
    for step in 0..60 {
        let mut bytes = whole.clone();
        let place = (step * 7919 + 101) % bytes.len();
        bytes[place] ^= 1 << (step % 8);
        fs::write(root.path().join("index.sqlite"), &bytes).unwrap();
        assert_eq!(sum(root.path()), expected, "byte {place}");
        assert_eq!(counts(root.path()), before, "byte {place}");
    }
}

#[test]
fn a_directory_without_a_result_does_not_stop_a_run_unless_the_journal_is_damaged() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    fs::create_dir_all(root.path().join("runs/00000000000000aa@local/r99")).unwrap();
    drop(Store::open_or_create(root.path(), &identity()).unwrap());
    let mut bytes = journal(root.path());
    flip_in_last_lines(&mut bytes, 1);
    put(root.path(), &bytes);
    assert!(refused(root.path()).contains("1 run directory without a result"));
}

#[test]
fn run_directories_that_nothing_explains_are_reported_once() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    // The journal ends between two lines, and the copies of the results are gone too.
    let bytes = journal(root.path());
    let half = bytes[..bytes.len() / 2].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    put(root.path(), &bytes[..half]);
    for repeat in 1..=RUNS {
        let relative = assay_store::relative_run_directory(&run(repeat));
        fs::remove_file(root.path().join(relative).join("result.jsonl")).unwrap();
    }
    let state = Record::open(root.path()).unwrap().state().unwrap();
    assert!(state.damage.is_worth_reporting());
    assert!(state.damage.to_string().contains("run directories without a result"), "{}", state.damage);
    counts(root.path());
    drop(Store::open_or_create(root.path(), &identity()).unwrap());
    assert!(!Record::open(root.path()).unwrap().state().unwrap().damage.is_worth_reporting());
    counts(root.path());
}

/// Calls something on another thread, so that a call that never returns fails the test instead of holding it.
fn within_seconds<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(call()));
    receive.recv_timeout(std::time::Duration::from_secs(20)).expect("it never returned")
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_never_waited_for() {
    let names = ["journal.jsonl", "lock", "index.sqlite", "index.check", "index.lock"];
    for name in names {
        let root = tempfile::tempdir().unwrap();
        record(root.path());
        counts(root.path());
        let path = root.path().join(name);
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let directory = root.path().to_owned();
        let shown =
            within_seconds(move || Record::open(&directory).and_then(|record| record.index()).is_ok());
        assert_eq!(shown, name != "journal.jsonl", "{name}");
        let directory = root.path().to_owned();
        let opened = within_seconds(move || Store::open_or_create(&directory, &identity()).is_ok());
        assert_eq!(opened, !["journal.jsonl", "lock"].contains(&name), "{name}");
    }
}

/// A view in the place of a table could run without end, and a checksum that fits is easily made.
#[test]
fn an_index_with_other_tables_than_its_own_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    let before = counts(root.path());
    let index = rusqlite::Connection::open(root.path().join("index.sqlite")).unwrap();
    index
        .execute_batch(
            "drop view run; create view run as with recursive n(i) as (select 1 union all select i + 1 from n) \
             select i as run from n;",
        )
        .unwrap();
    drop(index);
    let _ = fs::remove_file(root.path().join("index.check"));
    assert_eq!(counts(root.path()), before);
}

/// Writing through a link would change a file that somebody else's record names.
#[test]
fn a_link_in_the_place_of_a_lock_or_journal_is_not_written_through() {
    for name in ["journal.jsonl", "lock", "index.lock", "index.sqlite"] {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("record");
        record(&place);
        counts(&place);
        let outside = root.path().join("outside");
        fs::copy(place.join(name), &outside).unwrap();
        fs::remove_file(place.join(name)).unwrap();
        std::os::unix::fs::symlink(&outside, place.join(name)).unwrap();
        let before = fs::read(&outside).unwrap();
        let opened = Store::open_or_create(&place, &identity());
        assert_eq!(opened.is_ok(), name.starts_with("index"), "{name}");
        if let Ok(mut store) = opened {
            // The index is extended by what the journal has more.
            store.append(&launching(&run(RUNS + 1))).unwrap();
        }
        let _ = Record::open(&place).and_then(|record| record.index());
        assert_eq!(fs::read(&outside).unwrap(), before, "{name}");
    }
}

#[test]
fn a_pipe_or_link_in_the_place_of_a_result_is_replaced_not_followed() {
    let root = tempfile::tempdir().unwrap();
    record(root.path());
    put(root.path(), b"");
    let outside = root.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    let result =
        |repeat| root.path().join(assay_store::relative_run_directory(&run(repeat))).join("result.jsonl");
    fs::remove_file(result(1)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(result(1)).status().unwrap().success());
    let directory = root.path().to_owned();
    let restored = within_seconds(move || Record::open(&directory).unwrap().state().unwrap().damage.restored);
    assert_eq!(restored, u64::from(RUNS) - 1);
    let next = RUNS + 1;
    fs::create_dir_all(result(next).parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&outside, result(next)).unwrap();
    let mut store = Store::open_accepting_damage(root.path(), &identity()).unwrap();
    store.append(&launching(&run(next))).unwrap();
    store.commit(&finished(&run(next), Status::Succeeded)).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
    assert!(fs::read_to_string(result(next)).unwrap().contains("finished"));
}

#[test]
fn a_run_that_replaced_its_directory_costs_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    record(root.path());
    let mut store = Store::open_or_create(root.path(), &identity()).unwrap();
    let directory = |repeat| root.path().join(assay_store::relative_run_directory(&run(repeat)));
    fs::write(directory(RUNS + 1), "a file").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), directory(RUNS + 2)).unwrap();
    fs::create_dir_all(directory(RUNS + 3).join("result.jsonl")).unwrap();
    for repeat in RUNS + 1..=RUNS + 3 {
        store.append(&launching(&run(repeat))).unwrap();
        store.commit(&finished(&run(repeat), Status::Succeeded)).unwrap();
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is written through a link");
    drop(store);
    assert_eq!(counts(root.path()), [u64::from(RUNS) + 3; 2]);
}
