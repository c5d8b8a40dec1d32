//! A record whose journal, index and results are damaged. What is read must be whole, or the damage reported.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{CellId, Entry, PointId, RunId, RunResult, Status};
use assay_store::{Identity, Record, Store, StoreError};
use tempfile::TempDir;

const RUNS: u32 = 3;
const FILES: [&str; 3] = ["journal.jsonl", "index.sqlite", "index.check"];

/// The record of this thread, and its files as they were.
struct SampleRecord {
    directory: TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
}

thread_local! {
    static SAMPLE: RefCell<Option<SampleRecord>> = const { RefCell::new(None) };
}

/// Each 4 bytes are one change: which file, what is done, and where. No run may be lost without a report.
///
/// # Panics
/// If one is.
pub(crate) fn damage(bytes: &[u8]) {
    SAMPLE.with_borrow_mut(|sample| {
        // A place where no record can be made says nothing about damage.
        if sample.is_none() {
            *sample = make().ok();
        }
        if let Some(sample) = sample {
            sample.damage(bytes);
        }
    });
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    vec![vec![0, 0, 9, 9], vec![0, 1, 2, 0, 1, 2, 0, 40], vec![3, 3, 0, 0, 0, 4, 1, 1], vec![2, 2, 0, 3]]
}

/// A whole journal, to start from.
pub(crate) fn journal() -> Vec<u8> {
    make().ok().and_then(|sample| sample.files.into_iter().next()).map(|(_, bytes)| bytes).unwrap_or_default()
}

fn make() -> Result<SampleRecord, StoreError> {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let directory = place.map_err(|source| StoreError::Open { path: memory.to_owned(), source })?;
    let mut store = Store::open_or_create(directory.path(), &identity())?;
    let mut paths: Vec<PathBuf> = FILES.iter().map(|name| directory.path().join(name)).collect();
    for repeat in 1..=RUNS {
        let cell = CellId { point: PointId("00000000000000aa".to_owned()), platform: "local".to_owned() };
        let run = RunId { cell, repeat, attempt: 1 };
        let relative = assay_store::relative_run_directory(&run);
        paths.push(directory.path().join(&relative).join("result.jsonl"));
        store.append(&Entry::Launching { run: run.clone(), at: 0.0, directory: relative })?;
        let result = Box::new(RunResult::bare(Status::Succeeded, 0.0));
        store.commit(&Entry::Finished { run, result })?;
    }
    drop(store);
    Record::open(directory.path())?.index()?;
    let files = paths.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect();
    Ok(SampleRecord { directory, files })
}

impl SampleRecord {
    fn damage(&self, bytes: &[u8]) {
        let mut contents: Vec<Vec<u8>> = self.files.iter().map(|(_, bytes)| bytes.clone()).collect();
        let mut results_are_whole = true;
        for change in bytes.chunks_exact(4) {
            let &[which, action, high, low] = change else { continue };
            let which = usize::from(which) % contents.len();
            results_are_whole &= which < FILES.len();
            if let Some(content) = contents.get_mut(which) {
                apply(content, action, usize::from(u16::from_be_bytes([high, low])));
            }
        }
        for ((path, _), content) in self.files.iter().zip(&contents) {
            assert!(fs::write(path, content).is_ok(), "cannot write the sample");
        }
        self.examine(results_are_whole);
    }

    fn examine(&self, results_are_whole: bool) {
        let directory = self.directory.path();
        let Ok(record) = Record::open(directory) else { return };
        let Ok(state) = record.state() else { return };
        let kept = state.counts().succeeded;
        let reported = state.damage.is_worth_reporting();
        assert!(kept == u64::from(RUNS) || reported, "runs are lost without a word");
        assert!(kept == u64::from(RUNS) || !results_are_whole, "runs are lost that their directories have");
        let summary = record.index().and_then(|index| index.summary());
        assert!(summary.is_ok_and(|summary| summary.runs.succeeded == kept), "the index disagrees");
        if let Ok(store) = Store::open_or_create(directory, &identity()) {
            let found = store.state().counts().succeeded;
            assert!(
                found == u64::from(RUNS) || store.state().damage.is_worth_reporting(),
                "run goes on without"
            );
        }
    }
}

fn apply(content: &mut Vec<u8>, action: u8, place: usize) {
    let place = place % (content.len() + 1);
    let end = (place + usize::from(action) * 4).min(content.len());
    match action % 8 {
        0 => content.truncate(place),
        1 => drop(content.drain(place..end)),
        2 => content.iter_mut().take(end).skip(place).for_each(|byte| *byte = 0),
        3 => content.clear(),
        4 => content.splice(place..place, *b"\n").for_each(drop),
        5 => *content = String::from_utf8_lossy(content).replace('\n', "\r\n").into_bytes(),
        6 => content.extend_from_within(place..end),
        _ => content.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= action | 1),
    }
}

fn identity() -> Identity {
    let (program, host) = (env!("CARGO_PKG_VERSION").to_owned(), "fuzz".to_owned());
    Identity { name: "fuzz".to_owned(), now: 0.0, program, host, pid: std::process::id() }
}

/// CRC-32 as the journal has it, bit by bit.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}
