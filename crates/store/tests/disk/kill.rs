//! A writer killed at any instant. The writer is this test program, started again for one test.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assay_model::Status;
use assay_store::{Identity, Record, Store, StoreError};

use crate::common::{finished, identity, launching, run};

/// Names the record to a writer that is started.
const DIRECTORY: &str = "ASSAY_TEST_RECORD";

/// Not a test of its own: the writer, when started as one. It says each entry that was acknowledged.
#[test]
fn writer() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let identity = Identity { pid: std::process::id(), ..identity() };
    let mut store = Store::open_or_create(Path::new(&directory), &identity).unwrap();
    let mut out = std::io::stdout();
    let first = store.state().counts().succeeded as u32 + 1;
    for repeat in first.. {
        store.append(&launching(&run(repeat))).unwrap();
        store.commit(&finished(&run(repeat), Status::Succeeded)).unwrap();
        if writeln!(out, "acknowledged {repeat}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn start_writer(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::writer", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_writer_loses_nothing_acknowledged_and_its_successor_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let mut known = 0;
    for round in 0..8 {
        let mut child = start_writer(root.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = || {
            let number = |line: &String| line.rsplit_once("acknowledged ")?.1.parse::<u32>().ok();
            lines.by_ref().map_while(Result::ok).find_map(|line| number(&line))
        };
        for _ in 0..1 + round * 7 {
            known = acknowledged().unwrap();
        }
        if round == 0 {
            let error = Store::open_or_create(root.path(), &identity()).err().unwrap();
            assert!(matches!(error, StoreError::Held { pid, .. } if pid == child.id()), "{error}");
        }
        child.kill().unwrap();
        while let Some(number) = acknowledged() {
            known = number;
        }
        child.wait().unwrap();

        let state = Record::open(root.path()).unwrap().state().unwrap();
        let succeeded = state.counts().succeeded as u32;
        assert!(succeeded == known || succeeded == known + 1, "{succeeded} of {known}");
        assert!(state.troubles.damage.is_empty());
        assert_eq!(state.repeated_results, 0);
        assert!(state.open_runs.len() <= 1);
    }
    let index = Record::open(root.path()).unwrap().index().unwrap();
    let values = index.values("duration.wall").unwrap();
    let values: Vec<f64> = values[&run(1).cell].iter().map(|value| value.value).collect();
    assert_eq!(values, (1..=values.len()).map(|repeat| repeat as f64).collect::<Vec<_>>());
}
