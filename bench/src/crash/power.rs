//! Loss of power, on a simulated disk: what was committed must be there exactly once, whatever the disk made of the
//! rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assay_model::{CellId, Entry, PointId, RunId, RunResult, Status};
use assay_store::fault::{InjectedFault, SimulatedDisk};
use assay_store::{Identity, Record, Store};

use crate::random::Random;

/// What the images came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Images that a loss of power left, each recovered.
    pub images: usize,
    /// Of these, images with a torn line at the end or damage that had to be skipped.
    pub torn: usize,
    /// Committed entries that were looked for, over all images.
    pub committed: usize,
    /// Committed entries that were gone.
    pub lost: usize,
    /// Entries that were there more than once.
    pub duplicated: usize,
    /// Entries that nobody had written.
    pub invented: usize,
}

/// Images that are made one after the other of the same record.
const CRASHES: usize = 4;
/// Entries written between two losses of power, at most.
const MOST_ENTRIES: usize = 24;

/// Makes at least this many images in a directory.
pub fn lose_power(directory: &Path, images: usize, seed: u64) -> anyhow::Result<Tally> {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    while tally.images < images {
        let mut chain = Chain::default();
        for _ in 0..CRASHES {
            chain.live_and_crash(directory, &mut random)?;
            chain.recover(directory, &mut tally)?;
        }
    }
    Ok(tally)
}

/// One record through several losses of power.
#[derive(Debug, Default)]
struct Chain {
    /// The journal as the last loss of power left it.
    image: Vec<u8>,
    next: u32,
    /// Every run whose result was tried to be written, and whether that was committed.
    tried: BTreeMap<RunId, bool>,
    /// Runs whose results were written and await the next sync.
    written: Vec<RunId>,
}

impl Chain {
    /// Opens the record on a simulated disk, writes some entries, some of them through faults, and pulls the plug.
    fn live_and_crash(&mut self, directory: &Path, random: &mut Random) -> anyhow::Result<()> {
        fs::write(directory.join("journal.jsonl"), &self.image)?;
        // The simulated disk holds the journal alone. Results that are in run directories on the real disk would hide
        // what the journal lost.
        match fs::remove_dir_all(directory.join("runs")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let disk = SimulatedDisk::holding(self.image.clone());
        let mut store = Store::open_with_medium(directory, &identity(), |_| Box::new(disk.clone()))?;
        for _ in 0..random.below(MOST_ENTRIES) {
            if random.below(12) == 0 {
                disk.inject(any_fault(random));
            }
            disk.free_space();
            self.write(&mut store, random);
        }
        self.image = disk.crash(random.next_number());
        self.written.clear();
        Ok(())
    }

    /// Writes one run down: its launch, and its result either committed or only appended.
    fn write(&mut self, store: &mut Store, random: &mut Random) {
        self.next += 1;
        let run = RunId { cell: cell(self.next % 7), repeat: self.next, attempt: 1 };
        let directory = assay_store::relative_run_directory(&run);
        // A failure here costs a launch, which is not acknowledged to anyone.
        let _ = store.append(&Entry::Launching { run: run.clone(), at: 0.0, directory });
        self.tried.insert(run.clone(), false);
        let entry = finished(&run, random.below(700));
        if random.below(3) == 0 {
            if store.append(&entry).is_ok() {
                self.written.push(run);
            }
        } else if store.commit(&entry).is_ok() {
            self.written.push(run);
            for durable in self.written.drain(..) {
                self.tried.insert(durable, true);
            }
        }
    }

    /// Reads the image as a new process would. What it finds is what it builds on.
    fn recover(&mut self, directory: &Path, tally: &mut Tally) -> anyhow::Result<()> {
        fs::write(directory.join("journal.jsonl"), &self.image)?;
        let mut found: BTreeMap<RunId, usize> = BTreeMap::new();
        let mut entries = Record::open(directory)?.entries()?;
        for entry in entries.by_ref() {
            if let Entry::Finished { run, .. } = entry? {
                *found.entry(run).or_default() += 1;
            }
        }
        let troubles = entries.troubles();
        tally.images += 1;
        tally.torn += usize::from(troubles.torn_tail.is_some() || !troubles.damage.is_empty());
        for (run, committed) in &self.tried {
            tally.committed += usize::from(*committed);
            tally.lost += usize::from(*committed && !found.contains_key(run));
        }
        tally.duplicated += found.values().filter(|&&count| count > 1).count();
        tally.invented += found.keys().filter(|run| !self.tried.contains_key(run)).count();
        // The next coordinator syncs what it found when it opens the record, so from then on it must stay.
        self.tried = found.into_keys().map(|run| (run, true)).collect();
        Ok(())
    }
}

fn any_fault(random: &mut Random) -> InjectedFault {
    match random.below(5) {
        0 => InjectedFault::Short(random.below(600)),
        1 => InjectedFault::Interrupted,
        2 => InjectedFault::Full(random.below(600)),
        3 => InjectedFault::Broken,
        _ => InjectedFault::SyncFails,
    }
}

fn identity() -> Identity {
    let (program, host) = (env!("CARGO_PKG_VERSION").to_owned(), "bench".to_owned());
    Identity { name: "power".to_owned(), now: 0.0, program, host, pid: std::process::id() }
}

fn cell(number: u32) -> CellId {
    CellId { point: PointId(format!("{number:016x}")), platform: "local".to_owned() }
}

/// A result of some length, so that lines fall on sectors in all ways.
fn finished(run: &RunId, length: usize) -> Entry {
    let bare = RunResult::bare(Status::Succeeded, 0.0);
    let result = RunResult { hints: vec!["x".repeat(length)], ..bare };
    Entry::Finished { run: run.clone(), result: Box::new(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_losses_of_power_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let tally = lose_power(directory.path(), 40, 1).unwrap();
        assert_eq!((tally.lost, tally.duplicated, tally.invented), (0, 0, 0));
        assert!(tally.images >= 40 && tally.torn > 0 && tally.committed > 100, "{tally:?}");
    }

    #[test]
    fn what_is_missing_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let mut chain = Chain::default();
        let mut random = Random::new(3);
        while !chain.tried.values().any(|committed| *committed) {
            chain.live_and_crash(directory.path(), &mut random).unwrap();
        }
        chain.image.clear();
        let mut tally = Tally::default();
        chain.recover(directory.path(), &mut tally).unwrap();
        assert!(tally.lost > 0);
    }
}
