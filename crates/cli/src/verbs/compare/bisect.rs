//! `compare --bisect`: which of a list of versions to measure next, and which was the first that is worse.

use std::path::Path;

use assay_judge::Effect;
use assay_model::Verdict;

use super::compared;
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Compare;
use crate::records;
use crate::screen::Screen;

/// How a version stands against the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Good,
    Worse,
    Unmeasured,
    /// It has too few runs to be compared.
    Unknown,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
enum BisectStep {
    /// This version is the first that is worse than the first of the list.
    Found(usize),
    /// Measure this version.
    Measure(usize),
    /// The last version is not worse.
    NothingToFind,
}

/// Prints the next version to measure, alone on a line of standard output, or the first that is worse.
pub fn bisect(options: &Compare, screen: &mut Screen) -> anyhow::Result<Exit> {
    let versions = &options.records;
    let Some(first) = versions.first().filter(|first| records::open(Some(first)).is_ok()) else {
        let text = "the first version has no record";
        return Err(Mistake::new(text, "measure it first: all others are compared with it").into());
    };
    let mut standings = vec![Standing::Good];
    for version in &versions[1..] {
        standings.push(standing(first, version, options)?);
    }
    let name = |index: usize| versions.get(index).map(|path| path.display().to_string()).unwrap_or_default();
    let is_unknown = |index: usize| standings.get(index) == Some(&Standing::Unknown);
    match step(&standings) {
        BisectStep::Measure(index) if is_unknown(index) => {
            screen.say(&format!(
                "this version or {} has too few runs to be compared; repeat it at least 4 times, then ask again:",
                name(0)
            ));
            screen.data(&format!("{}\n", name(index)))?;
            Ok(Exit::NotPrecise)
        }
        BisectStep::Found(index) => {
            screen.say(&format!("the first version that is worse than {}:", name(0)));
            screen.data(&format!("{}\n", name(index)))?;
            Ok(Exit::GateFailed)
        }
        BisectStep::Measure(index) => {
            screen.say("measure this version next, then ask again:");
            screen.data(&format!("{}\n", name(index)))?;
            Ok(Exit::NotPrecise)
        }
        BisectStep::NothingToFind => {
            screen.say(&format!("{} is not worse than {}", name(versions.len() - 1), name(0)));
            Ok(Exit::Fine)
        }
    }
}

fn standing(first: &Path, version: &Path, options: &Compare) -> anyhow::Result<Standing> {
    if records::open(Some(version)).is_err() {
        return Ok(Standing::Unmeasured);
    }
    let comparison = compared(first, version, options)?;
    let effects = || comparison.rows.iter().map(|row| row.effect.as_ref());
    let is_worse = |effect: Option<&Effect>| effect.is_some_and(|effect| effect.verdict == Verdict::Worse);
    let is_unknown = |effect: Option<&Effect>| effect.is_none_or(|effect| effect.interval.is_none());
    Ok(match (effects().any(is_worse), effects().any(is_unknown)) {
        (true, _) => Standing::Worse,
        (false, true) => Standing::Unknown,
        (false, false) => Standing::Good,
    })
}

/// Halves the versions between the last good one and the first that is worse after it.
fn step(standings: &[Standing]) -> BisectStep {
    let last = standings.len() - 1;
    match standings[last] {
        Standing::Unmeasured | Standing::Unknown => return BisectStep::Measure(last),
        Standing::Good => return BisectStep::NothingToFind,
        Standing::Worse => {}
    }
    let worse = standings.iter().position(|standing| *standing == Standing::Worse).unwrap_or(last);
    let good = standings[..worse].iter().rposition(|standing| *standing == Standing::Good).unwrap_or(0);
    if worse - good <= 1 { BisectStep::Found(worse) } else { BisectStep::Measure(good.midpoint(worse)) }
}

#[cfg(test)]
mod tests {
    use super::Standing::{Good, Unknown, Unmeasured, Worse};
    use super::*;

    #[test]
    fn the_middle_is_measured_until_two_neighbors_differ() {
        assert_eq!(step(&[Good, Unmeasured, Unmeasured, Unmeasured]), BisectStep::Measure(3));
        assert_eq!(step(&[Good, Unmeasured, Unmeasured, Good]), BisectStep::NothingToFind);
        assert_eq!(step(&[Good, Unmeasured, Unmeasured, Unmeasured, Worse]), BisectStep::Measure(2));
        assert_eq!(step(&[Good, Unmeasured, Good, Unmeasured, Worse]), BisectStep::Measure(3));
        assert_eq!(step(&[Good, Unmeasured, Worse, Unmeasured, Worse]), BisectStep::Measure(1));
        assert_eq!(step(&[Good, Good, Worse, Unmeasured, Worse]), BisectStep::Found(2));
        // What could not be compared is not good.
        assert_eq!(step(&[Good, Unknown, Worse]), BisectStep::Measure(1));
        assert_eq!(step(&[Good, Good, Unknown]), BisectStep::Measure(2));
    }
}
