//! Random damage of journal and index. A reader must find every acknowledged run or report that something is wrong, and
//! `assay run` must refuse to go on where something may be lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use assay_model::{CellId, Entry, Observation, Origin, PointId, RunId, RunResult, Status, Unit};
use assay_store::{Identity, Record, Store, StoreError};

use super::trial::AbuseGroup;
use crate::random::Random;

const RUNS: u32 = 12;
const JOURNAL: &str = "journal.jsonl";
const INDEX: [&str; 2] = ["index.sqlite", "index.check"];

/// Damages a record in every way, again and again, and reads it.
pub fn damage(directory: &Path, times: usize, seed: u64) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("damaged journals and indexes");
    let record = Sample::make(directory)?;
    let mut random = Random::new(seed);
    for number in 0..times {
        let what = record.corrupt(&mut random)?;
        group.attempt(&format!("damage {number} ({what})"), record.examine(&what));
    }
    record.rearrange(&mut group)?;
    Ok(group)
}

/// What is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Targets {
    journal: bool,
    index: bool,
    results: bool,
}

impl std::fmt::Display for Targets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = [(self.journal, "journal"), (self.index, "index"), (self.results, "results")];
        let names: Vec<&str> = named.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
        f.write_str(&names.join(" and "))
    }
}

/// A whole record, and how it reads.
struct Sample {
    directory: PathBuf,
    files: BTreeMap<PathBuf, Vec<u8>>,
    results: Vec<PathBuf>,
    values: Vec<String>,
}

impl Sample {
    fn make(directory: &Path) -> anyhow::Result<Sample> {
        let mut store = Store::open_or_create(directory, &identity())?;
        let mut results = Vec::new();
        for number in 1..=RUNS {
            let run = run(number);
            let relative = assay_store::relative_run_directory(&run);
            results.push(directory.join(&relative).join("result.jsonl"));
            store.append(&Entry::Launching { run: run.clone(), at: 0.0, directory: relative })?;
            store.commit(&finished(&run, number))?;
        }
        drop(store);
        let values = values(directory)?;
        let mut files = BTreeMap::new();
        let names = INDEX.iter().chain([&JOURNAL]).map(|name| directory.join(name));
        for path in names.chain(results.iter().cloned()) {
            files.insert(path.clone(), fs::read(&path)?);
        }
        Ok(Sample { directory: directory.to_owned(), files, results, values })
    }

    /// Puts everything back, then damages something.
    fn corrupt(&self, random: &mut Random) -> anyhow::Result<Targets> {
        self.put_back()?;
        let (journal, index, results) = random.pick([
            (true, false, false),
            (true, false, false),
            (true, false, false),
            (false, true, false),
            (true, true, false),
            (true, false, true),
        ]);
        let targets = Targets { journal, index, results };
        if journal {
            self.corrupt_file(&self.directory.join(JOURNAL), random)?;
        }
        if index {
            for name in INDEX {
                if name == INDEX[0] || random.below(3) == 0 {
                    self.corrupt_file(&self.directory.join(name), random)?;
                }
            }
        } else if random.below(2) == 0 {
            let _ = fs::remove_file(self.directory.join(INDEX[0]));
        }
        if results {
            for path in &self.results {
                if random.below(3) == 0 {
                    self.corrupt_file(path, random)?;
                }
            }
        }
        Ok(targets)
    }

    fn corrupt_file(&self, path: &Path, random: &mut Random) -> anyhow::Result<()> {
        let mut bytes = self.files.get(path).cloned().unwrap_or_default();
        for _ in 0..=random.below(3) {
            corrupt(&mut bytes, random);
        }
        Ok(fs::write(path, bytes)?)
    }

    /// Removes, repeats and swaps whole lines, which leaves the checksum of each right, and expects a report of each.
    /// Lines cut off at the end look like a coordinator that was killed earlier.
    fn rearrange(&self, group: &mut AbuseGroup) -> anyhow::Result<()> {
        let path = self.directory.join(JOURNAL);
        let whole = self.files.get(&path).cloned().unwrap_or_default();
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        let what = Targets { journal: true, index: false, results: false };
        for line in 0..lines.len().saturating_sub(1) {
            let (mut removed, mut repeated, mut swapped) = (lines.clone(), lines.clone(), lines.clone());
            removed.remove(line);
            repeated.insert(line, lines[line]);
            swapped.swap(line, line + 1);
            for (name, changed) in [("removed", removed), ("repeated", repeated), ("swapped", swapped)] {
                // A record line stands alone: a newer program writes another one. Twice the same says nothing new.
                if line == 0 && name == "repeated" {
                    continue;
                }
                self.put_back()?;
                fs::write(&path, changed.concat())?;
                let noticed = || -> anyhow::Result<()> {
                    let state = Record::open(&self.directory)?.state()?;
                    ensure!(state.damage.is_worth_reporting(), "nothing reports it");
                    self.examine(&what)
                };
                group.attempt(&format!("line {} {name}", line + 1), noticed());
            }
        }
        Ok(())
    }

    fn put_back(&self) -> anyhow::Result<()> {
        for (path, bytes) in &self.files {
            if !fs::read(path).is_ok_and(|found| found == *bytes) {
                fs::write(path, bytes)?;
            }
        }
        Ok(())
    }

    /// Reads what is left in all ways.
    fn examine(&self, targets: &Targets) -> anyhow::Result<()> {
        let record = match Record::open(&self.directory) {
            Ok(record) => record,
            Err(error) => return refusal(&error, *targets),
        };
        let state = match record.state() {
            Ok(state) => state,
            Err(error) => return refusal(&error, *targets),
        };
        let reported = state.damage.is_worth_reporting();
        let found = values(&self.directory)?;
        let summary = record.index()?.summary()?;
        // The index leaves out a last line that is being written, which costs nothing.
        ensure!(
            summary.damage == state.damage || !(reported || summary.damage.is_worth_reporting()),
            "the index reports {}, the journal {}",
            summary.damage,
            state.damage
        );
        ensure!(state.counts().succeeded == summary.runs.succeeded, "index and journal disagree");
        ensure!(found.iter().all(|value| self.values.contains(value)), "values were invented");
        let lost = self.values.len() - found.len();
        ensure!(lost == 0 || targets.results, "{lost} runs are lost though their directories have them");
        ensure!(lost == 0 || reported, "{lost} runs are lost and nothing reports it");
        self.reopen(lost, targets)
    }

    /// What `assay run` would make of it.
    fn reopen(&self, lost: usize, targets: &Targets) -> anyhow::Result<()> {
        match Store::open_or_create(&self.directory, &identity()) {
            Ok(store) => {
                let missing = RUNS as usize - store.state().counts().succeeded as usize;
                let reported = store.state().damage.is_worth_reporting();
                ensure!(
                    missing == 0 || reported,
                    "run goes on without {missing} runs and does not report it"
                );
            }
            Err(StoreError::Damaged { .. }) => {
                let store = Store::open_accepting_damage(&self.directory, &identity())?;
                let kept = store.state().counts().succeeded as usize;
                ensure!(kept == RUNS as usize - lost, "{kept} runs are left after --accept-damage");
                drop(store);
                let after = Record::open(&self.directory)?.state()?.damage;
                ensure!(after.is_harmless(), "accepted damage is still refused: {after}");
            }
            Err(error) => refusal(&error, *targets)?,
        }
        Ok(())
    }
}

/// A refusal is a report, unless the journal is whole.
fn refusal(error: &StoreError, targets: Targets) -> anyhow::Result<()> {
    ensure!(targets.journal, "refused though the journal is whole: {error}");
    match error {
        StoreError::Newer { .. } | StoreError::NotAJournal { .. } | StoreError::Damaged { .. } => Ok(()),
        other => bail!("{other}"),
    }
}

/// What a query shows of the runs.
fn values(directory: &Path) -> anyhow::Result<Vec<String>> {
    let sql = "select run.run, run.status, value from run join observation using (run) order by run.run";
    let answer = Record::open(directory)?.index()?.query(sql)?;
    Ok(answer.rows.iter().map(|row| format!("{row:?}")).collect())
}

fn corrupt(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = random.below(bytes.len());
    let to = (from + random.magnitude(4000) as usize).min(bytes.len());
    match random.below(12) {
        0 => bytes.iter_mut().skip(from).take(1).for_each(|byte| *byte ^= 1 << (from % 8)),
        1 => bytes.truncate(from),
        2 => drop(bytes.drain(from..to)),
        3 => bytes.iter_mut().take(to).skip(from).for_each(|byte| *byte = 0),
        4 => bytes.iter_mut().take(to).skip(from).for_each(|byte| *byte = random.next_number() as u8),
        5 => {
            let copy: Vec<u8> = bytes.iter().take(to).skip(from).copied().collect();
            bytes.splice(from..from, copy);
        }
        6 => *bytes = String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes(),
        7 => bytes.extend((0..to - from).map(|_| random.next_number() as u8)),
        8 => bytes.clear(),
        9 => flip_in_last_lines(bytes, random.below(30)),
        10 => bytes.fill(0),
        _ => whole_lines(bytes, random),
    }
}

fn flip_in_last_lines(bytes: &mut [u8], lines: usize) {
    let mut left = lines;
    for place in (0..bytes.len()).rev() {
        if left == 0 {
            break;
        }
        if bytes.get(place) == Some(&b'\n') {
            left -= 1;
            if let Some(byte) = bytes.get_mut(place.saturating_sub(3)) {
                *byte ^= 1;
            }
        }
    }
}

/// Removes, repeats or reorders whole lines, which leaves every checksum right. The first line stays.
fn whole_lines(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.len() > 2 {
        let from = 1 + random.below(lines.len() - 1);
        let to = (from + 1 + random.below(6)).min(lines.len());
        match random.below(3) {
            0 => drop(lines.drain(from..to)),
            1 => lines.extend_from_within(from..to),
            _ => lines.truncate(from),
        }
    }
    *bytes = lines.concat();
}

fn identity() -> Identity {
    let (program, host) = (env!("CARGO_PKG_VERSION").to_owned(), "bench".to_owned());
    Identity { name: "damaged".to_owned(), now: 0.0, program, host, pid: std::process::id() }
}

fn run(number: u32) -> RunId {
    let point = PointId(format!("{:016x}", number % 3));
    RunId { cell: CellId { point, platform: "local".to_owned() }, repeat: number, attempt: 1 }
}

fn finished(run: &RunId, number: u32) -> Entry {
    let observation = Observation::new("rate", f64::from(number), Unit::One, Origin::Reported);
    let result = RunResult { observations: vec![observation], ..RunResult::bare(Status::Succeeded, 0.0) };
    Entry::Finished { run: run.clone(), result: Box::new(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_damage_is_reported_or_repaired() {
        let directory = tempfile::tempdir().unwrap();
        let group = damage(directory.path(), 100, 7).unwrap();
        assert_eq!((group.tried > 100, group.failures), (true, Vec::new()));
    }

    #[test]
    fn lost_runs_are_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let sample = Sample::make(directory.path()).unwrap();
        fs::write(directory.path().join(JOURNAL), "").unwrap();
        fs::remove_dir_all(directory.path().join("runs")).unwrap();
        let targets = Targets { journal: true, index: false, results: false };
        assert!(sample.examine(&targets).is_err());
    }
}
