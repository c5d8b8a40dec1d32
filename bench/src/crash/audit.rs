//! What a record must hold after a kill: every acknowledged run exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assay_model::{CellId, Entry, RunId, Status};
use assay_store::Record;

/// A run as the progress lines name it: settings and the run's last part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acknowledged {
    /// The settings, as `name=value`.
    pub settings: BTreeSet<String>,
    /// `r3`, or `r3.2` for a second attempt.
    pub leaf: String,
    /// Whether the line is of a run that succeeded.
    pub succeeded: bool,
}

/// Reads a progress line, such as `[3/160] kind=talk item=2 r1  12 ms`.
pub fn acknowledged(line: &str) -> Option<Acknowledged> {
    let (counter, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (finished, total) = counter.split_once('/')?;
    finished.parse::<u64>().ok().and(total.parse::<u64>().ok())?;
    let (label, outcome) = rest.split_once("  ")?;
    let (settings, leaf) = label.rsplit_once(' ').unwrap_or(("", label));
    let bad = ["failed", "timed out", "interrupted"].iter().any(|word| outcome.starts_with(word));
    Some(Acknowledged {
        settings: settings.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
        leaf: leaf.to_owned(),
        succeeded: !bad,
    })
}

/// What is wrong with a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// Acknowledged runs that the record does not have as succeeded.
    pub lost: usize,
    /// Repeats that have more than one final result, and results that came twice.
    pub duplicated: usize,
    /// Runs that failed although nothing was wrong with them.
    pub failed: usize,
    /// Damaged places in the journal, which a kill must not leave.
    pub damaged: usize,
    /// Repeats that succeeded.
    pub succeeded: usize,
    /// The runs that succeeded.
    pub runs: BTreeSet<RunId>,
    /// Runs that were launched and have no result: those that were under way.
    pub open: usize,
}

impl Audit {
    /// Audits a record against what was acknowledged. A record that was not made yet has nothing.
    pub fn of(record: &Path, acknowledged: &[Acknowledged]) -> anyhow::Result<Audit> {
        if !record.join("journal.jsonl").exists() {
            return Ok(Audit { lost: acknowledged.len(), ..Audit::default() });
        }
        let mut tally = Tally::default();
        let mut entries = Record::open(record)?.entries()?;
        for entry in entries.by_ref() {
            tally.take(&entry?);
        }
        let mut audit = tally.audit(acknowledged);
        audit.damaged = entries.troubles().damage.len();
        Ok(audit)
    }

    /// Adds the faults of another audit.
    pub fn add(&mut self, other: &Audit) {
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.failed += other.failed;
        self.damaged += other.damaged;
        self.succeeded += other.succeeded;
    }
}

/// What the entries of a journal say of runs.
#[derive(Debug, Default)]
struct Tally {
    settings: BTreeMap<CellId, BTreeSet<String>>,
    /// How often each run has a result.
    results: BTreeMap<RunId, usize>,
    /// The attempts of each repeat with a final result.
    finals: BTreeMap<(CellId, u32), Vec<u32>>,
    succeeded: BTreeSet<RunId>,
    launched: BTreeSet<RunId>,
    failed: usize,
}

impl Tally {
    fn take(&mut self, entry: &Entry) {
        match entry {
            Entry::Plan { add, .. } => {
                for planned in add {
                    let settings = planned.settings.iter().map(|(name, value)| format!("{name}={value}"));
                    self.settings.insert(planned.cell.clone(), settings.collect());
                }
            }
            Entry::Launching { run, .. } => {
                self.launched.insert(run.clone());
            }
            Entry::Finished { run, result } => {
                *self.results.entry(run.clone()).or_default() += 1;
                if result.status.is_final() {
                    self.finals.entry((run.cell.clone(), run.repeat)).or_default().push(run.attempt);
                    match result.status {
                        Status::Succeeded => {
                            self.succeeded.insert(run.clone());
                        }
                        _ => self.failed += 1,
                    }
                }
            }
            _ => {}
        }
    }

    fn audit(&self, acknowledged: &[Acknowledged]) -> Audit {
        let in_record: BTreeSet<Acknowledged> = self
            .succeeded
            .iter()
            .filter_map(|run| {
                let settings = self.settings.get(&run.cell)?.clone();
                Some(Acknowledged { settings, leaf: run.leaf(), succeeded: true })
            })
            .collect();
        let twice_final = self.finals.values().filter(|attempts| attempts.len() > 1).count();
        let twice_told = self.results.values().filter(|&&count| count > 1).count();
        Audit {
            lost: acknowledged.iter().filter(|run| run.succeeded && !in_record.contains(run)).count(),
            duplicated: twice_final.max(twice_told),
            failed: self.failed,
            damaged: 0,
            succeeded: self.finals.len() - self.failed.min(self.finals.len()),
            runs: self.succeeded.clone(),
            open: self.launched.iter().filter(|run| !self.results.contains_key(run)).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::RunResult;

    fn finished(run: &str, status: Status) -> Entry {
        let result = RunResult::bare(status, 0.0);
        Entry::Finished { run: run.parse().unwrap(), result: Box::new(result) }
    }

    fn tally(entries: &[Entry]) -> Tally {
        let mut tally = Tally::default();
        let settings = BTreeSet::from(["kind=talk".to_owned(), "item=2".to_owned()]);
        tally.settings.insert("aa@local".parse().unwrap(), settings);
        entries.iter().for_each(|entry| tally.take(entry));
        tally
    }

    #[test]
    fn progress_lines_are_read() {
        let found = acknowledged("[3/160] kind=talk item=2 r1.2  12 ms  metric 1.0").unwrap();
        assert_eq!((found.leaf.as_str(), found.succeeded), ("r1.2", true));
        assert!(found.settings.contains("item=2"));
        assert!(!acknowledged("[3/160] kind=talk item=2 r1  failed: exit code 1").unwrap().succeeded);
        assert_eq!(acknowledged("3 runs are in the record already"), None);
        assert_eq!(acknowledged("[x/y] a  b"), None);
    }

    #[test]
    fn what_was_acknowledged_must_be_there_once() {
        let known = acknowledged("[1/2] kind=talk item=2 r1.2  1 ms").unwrap();
        let good =
            [finished("aa@local/r1", Status::Interrupted), finished("aa@local/r1.2", Status::Succeeded)];
        let audit = tally(&good).audit(std::slice::from_ref(&known));
        let runs = BTreeSet::from(["aa@local/r1.2".parse().unwrap()]);
        assert_eq!(audit, Audit { succeeded: 1, runs, ..Audit::default() });
        assert_eq!(tally(&good[..1]).audit(&[known]).lost, 1);
    }

    #[test]
    fn a_run_without_a_result_is_under_way() {
        let run = "aa@local/r1";
        let launching = Entry::Launching { run: run.parse().unwrap(), at: 0.0, directory: String::new() };
        assert_eq!(tally(std::slice::from_ref(&launching)).audit(&[]).open, 1);
        assert_eq!(tally(&[launching, finished(run, Status::Interrupted)]).audit(&[]).open, 0);
    }

    #[test]
    fn a_second_final_result_is_a_duplicate() {
        let twice =
            [finished("aa@local/r1", Status::Succeeded), finished("aa@local/r1.2", Status::Succeeded)];
        assert_eq!(tally(&twice).audit(&[]).duplicated, 1);
        let same = [finished("aa@local/r1", Status::Succeeded), finished("aa@local/r1", Status::Succeeded)];
        assert_eq!(tally(&same).audit(&[]).duplicated, 1);
    }
}
