//! The events that the runs of a scene wrote down themselves, in the order they happened.

use std::collections::BTreeMap;

use assay_model::{CellId, RunId};

/// One line: what happened, and in which run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashEvent {
    /// `start`, `tick` or `end`.
    pub what: String,
    /// Which run.
    pub run: RunId,
}

/// Reads the lines. What is not an event (a line that a kill cut short) is left out.
pub fn read(text: &str) -> Vec<CrashEvent> {
    text.lines()
        .filter_map(|line| {
            let (what, token) = line.split_once(' ')?;
            let (_, run) = token.rsplit_once('#')?;
            Some(CrashEvent { what: what.to_owned(), run: run.parse().ok()? })
        })
        .collect()
}

/// The runs that were seen alive after a later attempt at the same repeat had begun.
pub fn overlaps(events: &[CrashEvent]) -> Vec<RunId> {
    let mut newest: BTreeMap<(&CellId, u32), u32> = BTreeMap::new();
    let mut found = Vec::new();
    for event in events {
        let run = &event.run;
        let attempt = newest.entry((&run.cell, run.repeat)).or_insert(run.attempt);
        if run.attempt < *attempt {
            if !found.contains(run) {
                found.push(run.clone());
            }
        } else {
            *attempt = run.attempt;
        }
    }
    found
}

/// Runs that began more than once.
pub fn repeated_starts(events: &[CrashEvent]) -> usize {
    let mut starts: BTreeMap<&RunId, usize> = BTreeMap::new();
    for event in events.iter().filter(|event| event.what == "start") {
        *starts.entry(&event.run).or_default() += 1;
    }
    starts.values().filter(|&&count| count > 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: &str = "start /r#aa@local/r1\nend /r#aa@local/r1\n";

    #[test]
    fn an_earlier_attempt_seen_after_a_later_one_began_overlaps() {
        let text = format!("{ONE}start /r#aa@local/r2\nstart /r#aa@local/r2.2\ntick /r#aa@local/r2\n");
        let found = overlaps(&read(&text));
        assert_eq!(found, ["aa@local/r2".parse().unwrap()]);
        assert!(overlaps(&read(ONE)).is_empty());
    }

    #[test]
    fn attempts_one_after_the_other_do_not_overlap() {
        let text = format!("{ONE}start /r#aa@local/r1.2\nstart /r#bb@local/r1\ntick /r#aa@local/r1.2\n");
        assert!(overlaps(&read(&text)).is_empty());
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "\\PC*") {
            overlaps(&read(&text));
        }
    }
}
