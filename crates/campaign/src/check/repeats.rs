//! How often each cell is run at least: as often as all, or as the first entry of `repeats.fewer` says that is for it.

use assay_model::entry::PlannedCell;

use crate::campaign::{Fewer, Repeats};
use crate::expression::NameScope;
use crate::problem::{Problem, Severity};

/// The least number of runs of each cell.
pub(super) fn least(repeats: &Repeats, cells: &[PlannedCell], problems: &mut Vec<Problem>) -> Vec<u32> {
    let mut least = vec![None; cells.len()];
    for entry in &repeats.fewer {
        match apply(entry, cells, &mut least) {
            Ok(Reach { counts: 0, holds }) if !cells.is_empty() => problems.push(idle(entry, holds)),
            Ok(_) => {}
            Err(problem) => problems.push(*problem),
        }
    }
    least.into_iter().map(|found| found.unwrap_or(repeats.at_least)).collect()
}

/// How far an entry reaches.
struct Reach {
    /// Cells for which it holds.
    holds: usize,
    /// Cells for which it is the first that holds.
    counts: usize,
}

/// Gives an entry's number to the cells it holds for and that no entry before it was for. The first error of
/// evaluation is enough: those of other cells will be like it.
fn apply(entry: &Fewer, cells: &[PlannedCell], least: &mut [Option<u32>]) -> Result<Reach, Box<Problem>> {
    let mut reach = Reach { holds: 0, counts: 0 };
    for (cell, found) in cells.iter().zip(least) {
        let scope = NameScope { settings: &cell.settings, platform: Some(&cell.cell.platform) };
        let holds = entry.condition.expression.holds(scope);
        if holds.map_err(|error| Box::new(entry.condition.failure(error)))? {
            reach.holds += 1;
            if found.is_none() {
                reach.counts += 1;
                *found = Some(entry.at_least);
            }
        }
    }
    Ok(reach)
}

/// An entry that changes nothing.
fn idle(entry: &Fewer, holds: usize) -> Problem {
    let (message, hint) = match holds {
        0 => ("[[repeats.fewer]] holds for no cell: it changes nothing", None),
        _ => (
            "[[repeats.fewer]] changes nothing: entries above it hold for all its cells",
            Some(
                "the first entry that holds for a cell counts; move this one up, or leave it out".to_owned(),
            ),
        ),
    };
    Problem { severity: Severity::Warning, ..entry.condition.problem(message).maybe_hint(hint) }
}
