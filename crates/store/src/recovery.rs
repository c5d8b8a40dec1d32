//! What a damaged journal lost, and what of it can be restored. Every run directory holds the journal line that
//! acknowledged its run, so a finished run is lost only if both are.

use std::fs;
use std::path::Path;

use assay_model::{Entry, RunId};
use serde::{Deserialize, Serialize};

use crate::journal::{Damage, Flaw, LONGEST_LINE, Troubles, decode};
use crate::layout::{RESULT, RUNS, run_of_directory};
use crate::{lock, regular};

/// How many damaged places are named one by one.
const PLACES_NAMED: usize = 5;

/// What the journal knows of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKnown {
    /// It has a result.
    Finished,
    /// It was launched and has no result.
    Open,
    /// The journal does not name it.
    No,
}

/// Results in run directories that the journal does not have.
#[derive(Debug, Default)]
pub(crate) struct Unrecorded {
    /// `finished` entries of runs that the journal does not name.
    pub(crate) lost: Vec<Entry>,
    /// `finished` entries of runs that the journal knows as launched: the coordinator was killed before it could
    /// acknowledge them, or the line that did is damaged.
    pub(crate) unacknowledged: Vec<Entry>,
    /// Run directories that neither the journal nor a result of their own explains, or whose result cannot be read.
    pub(crate) without_result: u64,
}

/// Looks through the run directories of a record. Only those that the journal has no result for are opened.
pub(crate) fn unrecorded(record: &Path, known: &mut dyn FnMut(&RunId) -> RunKnown) -> Unrecorded {
    let mut found = Unrecorded::default();
    let directories = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    for cell in directories(&record.join(RUNS)) {
        let cell_name = cell.file_name();
        for run_directory in directories(&cell.path()) {
            let leaf = run_directory.file_name();
            let (Some(cell_name), Some(leaf)) = (cell_name.to_str(), leaf.to_str()) else { continue };
            let Some(run) = run_of_directory(cell_name, leaf) else { continue };
            let state = known(&run);
            if state == RunKnown::Finished {
                continue;
            }
            match (stored_result(&run_directory.path(), &run), state) {
                (StoredResult::Whole(entry), RunKnown::Open) => found.unacknowledged.push(*entry),
                (StoredResult::Whole(entry), _) => found.lost.push(*entry),
                // A run that was killed has no result; one that cannot be read was damaged.
                (StoredResult::Absent, RunKnown::Open) => {}
                (StoredResult::Absent | StoredResult::Unreadable, _) => found.without_result += 1,
            }
        }
    }
    found
}

/// What a reader takes over from the run directories, and what it reports.
pub(crate) struct Restored {
    pub(crate) entries: Vec<Entry>,
    pub(crate) report: DamageReport,
}

/// What a reader of a record takes over from the run directories. While somebody writes the record, directories are
/// ahead of the journal and its end may be half a line; neither is damage then. Results that a killed coordinator could
/// not acknowledge are no sign of damage either, but a journal cut off between two lines looks the same: they are taken
/// over without a word, as the next `assay run` does.
pub(crate) fn restorable(found: Unrecorded, troubles: &Troubles, record: &Path) -> Restored {
    let suspicious = !troubles.damage.is_empty() || troubles.torn_tail.is_some();
    let counted = found.lost.len() + if suspicious { found.unacknowledged.len() } else { 0 };
    let report = DamageReport::new(troubles, counted as u64, found.without_result);
    let is_ahead = !report.is_clean() || !found.unacknowledged.is_empty();
    if is_ahead && troubles.damage.is_empty() && lock::is_held(record) {
        // Whoever holds the lock may be the one who asks, and must not be refused for what is no damage.
        let report = DamageReport { at_end: true, ..DamageReport::default() };
        return Restored { entries: Vec::new(), report };
    }
    let mut entries = found.lost;
    entries.extend(found.unacknowledged);
    Restored { entries, report }
}

/// What a run directory holds of its result.
enum StoredResult {
    /// The `finished` entry, whole and of this run.
    Whole(Box<Entry>),
    Unreadable,
    Absent,
}

fn stored_result(directory: &Path, run: &RunId) -> StoredResult {
    let exists = fs::symlink_metadata(directory.join(RESULT)).is_ok();
    match read_result(directory, run) {
        Some(entry) => StoredResult::Whole(Box::new(entry)),
        None if exists => StoredResult::Unreadable,
        None => StoredResult::Absent,
    }
}

fn read_result(directory: &Path, run: &RunId) -> Option<Entry> {
    // A run may have put anything there.
    let line = regular::read(&directory.join(RESULT), LONGEST_LINE as u64).ok()?;
    let entry = decode(line.strip_suffix(b"\n")?).ok()?;
    matches!(&entry, Entry::Finished { run: own, .. } if own == run).then_some(entry)
}

/// Damage of a journal, as it is reported to people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamageReport {
    /// Damaged places that nobody accepted yet.
    pub places: u64,
    /// The first of them: line, number of lines, byte.
    pub first_places: Vec<(u64, u64, u64)>,
    /// Lines that could not be read.
    pub lines: u64,
    /// Whether all of it is one line at the end that has no newline: a write that was cut short.
    pub unfinished_line: bool,
    /// Whether all of it is at the end.
    pub at_end: bool,
    /// Finished runs that were restored from their run directories.
    pub restored: u64,
    /// Run directories that have no result, neither in the journal nor in the directory.
    pub without_result: u64,
    /// Lines that were converted to Windows line endings and are whole otherwise.
    pub converted_lines: u64,
}

impl DamageReport {
    pub(crate) fn new(troubles: &Troubles, restored: u64, without_result: u64) -> DamageReport {
        let all: Vec<&Damage> = troubles.damage.iter().chain(&troubles.torn_tail).collect();
        DamageReport {
            places: all.len() as u64,
            first_places: all
                .iter()
                .take(PLACES_NAMED)
                .map(|place| (place.line, place.lines, place.offset))
                .collect(),
            lines: all.iter().map(|place| place.lines).sum(),
            unfinished_line: matches!(all.as_slice(), [one] if one.lines == 1 && one.flaw == Flaw::Unfinished),
            at_end: troubles.damage.is_empty(),
            restored,
            without_result: without_result.saturating_sub(troubles.accepted_directories),
            converted_lines: troubles.converted_lines,
        }
    }

    /// Whether nothing is wrong with the journal.
    pub fn is_clean(&self) -> bool {
        self.places == 0 && self.restored == 0 && self.converted_lines == 0 && self.without_result == 0
    }

    /// Whether no finished run is lost as far as can be seen: only the end is damaged, and no run directory has or
    /// may have had a result that the journal lacks. A write that was cut short leaves the result that it was about.
    pub fn is_harmless(&self) -> bool {
        if self.unfinished_line {
            return self.restored <= 1;
        }
        self.at_end && self.restored == 0 && (self.places == 0 || self.without_result == 0)
    }

    /// Whether it is worth a warning: a write that was cut short and cost nothing is not.
    pub fn is_worth_reporting(&self) -> bool {
        let cut_write = self.unfinished_line && self.is_harmless();
        self.converted_lines > 0
            || self.without_result > 0
            || ((self.places > 0 || self.restored > 0) && !cut_write)
    }
}

impl std::fmt::Display for DamageReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if self.places > 0 {
            let named: Vec<String> = self
                .first_places
                .iter()
                .map(|(line, lines, offset)| match lines {
                    0 => format!("lines missing or moved before line {line} (byte {offset})"),
                    1 => format!("line {line} (byte {offset})"),
                    _ => format!("lines {line}-{} (byte {offset})", line + lines - 1),
                })
                .collect();
            let more = if self.places > self.first_places.len() as u64 { ", …" } else { "" };
            let named = named.join(", ");
            parts.push(match self.lines {
                0 => format!("{named}{more}"),
                1 => format!("1 unreadable line: {named}{more}"),
                lines => format!("{lines} unreadable lines: {named}{more}"),
            });
        }
        if self.converted_lines > 0 {
            parts.push(format!("{} lines with Windows line endings, read anyway", self.converted_lines));
        }
        match self.restored {
            0 => {}
            1 => parts.push("1 finished run restored from its run directory".to_owned()),
            runs => parts.push(format!("{runs} finished runs restored from their run directories")),
        }
        match self.without_result {
            0 => {}
            1 => parts.push("1 run directory without a result".to_owned()),
            directories => parts.push(format!("{directories} run directories without a result")),
        }
        f.write_str(&parts.join("; "))
    }
}
