//! Secrets are in no file of a record, and records are for their owner alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assay_model::{Entry, Machine, Status};
use assay_store::{Record, Store, scrub};

use crate::common::{finished, identity, launching, run};

const CANARY: &str = "canary-7f3a91";

/// Every file below a directory that holds the canary.
fn leaks(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(leaks(&path));
        } else if fs::read(&path).unwrap().windows(CANARY.len()).any(|piece| piece == CANARY.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn modes(directory: &Path, found: &mut Vec<(bool, u32)>) {
    let mode = fs::metadata(directory).unwrap().permissions().mode() & 0o777;
    found.push((directory.is_dir(), mode));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        modes(&entry.path(), found);
    }
}

#[test]
fn scrubbing_removes_every_secret_and_keeps_every_run() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("record");
    let mut store = Store::open_or_create(&path, &identity()).unwrap();
    let environment = [
        ("GH_PAT", format!("pat-{CANARY}")),
        ("DATABASE_URL", format!("postgres://me:{CANARY}@db/x")),
        ("AUTHORIZATION", format!("Bearer {CANARY}")),
        ("OMP_NUM_THREADS", "4".to_owned()),
        ("LD_PRELOAD", format!("http://u:{CANARY}@host/lib.so")),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    store
        .append(&Entry::Session {
            at: 1.0,
            pid: 1,
            machine: Box::new(Machine::default()),
            environment: environment.into(),
            directory: "/tmp".into(),
            program: "0.1.0".into(),
        })
        .unwrap();
    store.append(&launching(&run(1))).unwrap();
    store.commit(&finished(&run(1), Status::Succeeded)).unwrap();
    let failure = assay_model::Failure::Reported { reason: format!("401 for pat-{CANARY}") };
    store.commit(&finished(&run(2), Status::Failed { failure })).unwrap();
    drop(store);
    let script = path.join("runs/00000000000000aa@local/r1/run.sh");
    fs::write(&script, format!("#!/bin/sh\nexport GH_PAT=pat-{CANARY}\ncurl -H pat-{CANARY}\n")).unwrap();
    let record = Record::open(&path).unwrap();
    let before = record.state().unwrap();
    record.index().unwrap();
    assert_eq!(leaks(&path).len(), 4, "{:?}", leaks(&path));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();

    let summary = scrub(&path, &identity()).unwrap();
    assert_eq!((summary.variables, summary.files), (3, 2));
    let after = record.state().unwrap();
    assert_eq!(after.counts(), before.counts());
    record.index().unwrap();
    assert_eq!(leaks(&path), Vec::<String>::new());
    let text = fs::read_to_string(&script).unwrap();
    assert!(text.contains("${GH_PAT:?") && text.contains("curl -H (masked)"), "{text}");
    let entries: Vec<Entry> = record.entries().unwrap().collect::<Result<_, _>>().unwrap();
    assert!(entries.iter().any(|entry| matches!(entry, Entry::Scrubbed { removed: 5.., .. })), "{entries:?}");
    let kept = entries.iter().find_map(|entry| match entry {
        Entry::Session { environment, .. } => Some(environment),
        _ => None,
    });
    assert_eq!(kept.unwrap()["OMP_NUM_THREADS"], "4");
    assert_eq!(kept.unwrap()["LD_PRELOAD"], "http://(masked)@host/lib.so");
    let mut found = Vec::new();
    modes(&path, &mut found);
    assert!(
        found.iter().all(|(directory, mode)| *mode == if *directory { 0o700 } else { 0o600 }),
        "{found:?}"
    );
}

#[test]
fn new_records_are_private_and_the_group_reads_on_request() {
    let root = tempfile::tempdir().unwrap();
    for (asked, directory_mode, file_mode) in [(None, 0o700, 0o600), (Some(0o750), 0o750, 0o640)] {
        let path = root.path().join(format!("record-{directory_mode:o}"));
        if let Some(mode) = asked {
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut store = Store::open_or_create(&path, &identity()).unwrap();
        store.commit(&finished(&run(1), Status::Succeeded)).unwrap();
        drop(store);
        Record::open(&path).unwrap().index().unwrap();
        let mut found = Vec::new();
        modes(&path, &mut found);
        let expected = |directory: bool| if directory { directory_mode } else { file_mode };
        assert!(found.iter().all(|(directory, mode)| *mode == expected(*directory)), "{found:?}");
    }
}

/// A run or a stranger may have put a link where a run directory was.
#[test]
fn scrubbing_changes_nothing_outside_the_record() {
    let root = tempfile::tempdir().unwrap();
    let (path, outside) = (root.path().join("record"), root.path().join("outside"));
    let mut store = Store::open_or_create(&path, &identity()).unwrap();
    store.append(&launching(&run(1))).unwrap();
    store.commit(&finished(&run(1), Status::Succeeded)).unwrap();
    drop(store);
    let text = format!("export GH_PAT=pat-{CANARY}\n");
    fs::create_dir_all(outside.join("r1")).unwrap();
    fs::write(outside.join("r1/run.sh"), &text).unwrap();
    let cell = path.join("runs/00000000000000aa@local");
    std::os::unix::fs::symlink(outside.join("r1"), cell.join("r2")).unwrap();
    std::os::unix::fs::symlink(&outside, path.join("runs/other")).unwrap();
    // The script that runs without directories share, and the script of a job.
    fs::create_dir_all(path.join("jobs/1")).unwrap();
    for own in [cell.join("run.sh"), path.join("jobs/1/job.sh")] {
        fs::write(&own, &text).unwrap();
    }
    let summary = scrub(&path, &identity()).unwrap();
    assert_eq!(summary.files, 2);
    assert_eq!(fs::read_to_string(outside.join("r1/run.sh")).unwrap(), text);
    assert!(!fs::read_to_string(cell.join("run.sh")).unwrap().contains(CANARY));
}
