//! Planted errors that were found, and alarms where nothing is wrong.
//!
//! An error counts as found if an alarm names its line or one beside it, or shows a number that only a right finding
//! shows. In sound documents every alarm is false; in others an alarm that matches no error counts as unmatched. A true
//! claim is flagged if an alarm that matches nothing begins at its line.

use std::collections::BTreeMap;

use super::alarms::Alarm;
use super::truth::{PlantedError, WriteUpCase};
use crate::planted::score::SuccessShare;

/// What the audits of some documents gave.
#[derive(Debug, Default)]
pub struct Score {
    pub documents: usize,
    pub found: SuccessShare,
    pub kinds: BTreeMap<String, SuccessShare>,
    /// Sound documents with an alarm.
    pub flagged: SuccessShare,
    /// Alarms in other documents that match nothing.
    pub unmatched: usize,
    pub true_claims: usize,
    pub true_flagged: usize,
    /// Of these, how many are called contradicted.
    pub true_contradicted: usize,
    /// What was missed and what was wrongly said, for people.
    pub notes: Vec<String>,
}

impl Score {
    /// Counts one document.
    pub fn count(&mut self, case: &WriteUpCase, alarms: &[Alarm]) {
        self.documents += 1;
        let mut used = vec![false; alarms.len()];
        for error in &case.errors {
            let hits: Vec<usize> = (0..alarms.len()).filter(|at| is_found(error, &alarms[*at])).collect();
            hits.iter().for_each(|at| used[*at] = true);
            self.found.count(!hits.is_empty());
            self.kinds.entry(error.kind.clone()).or_default().count(!hits.is_empty());
            if hits.is_empty() {
                self.notes.push(format!("{}: missed ({}) {}", case.file, error.kind, error.claim));
            }
        }
        let rest: Vec<&Alarm> =
            alarms.iter().zip(&used).filter(|(_, used)| !**used).map(|(alarm, _)| alarm).collect();
        self.count_true_claims(case, &rest);
        if case.sound {
            self.flagged.count(!alarms.is_empty());
        } else {
            self.unmatched += rest.len();
        }
        for alarm in rest {
            self.notes.push(format!("{}: wrongly {}: {}", case.file, alarm.level, alarm.summary));
        }
    }

    fn count_true_claims(&mut self, case: &WriteUpCase, rest: &[&Alarm]) {
        for claim in &case.true_claims {
            self.true_claims += 1;
            let Some(at) = case.text.find(&claim.quote).filter(|_| !case.is_notebook()) else { continue };
            let line = line_at(&case.text, at);
            if case.wrong_lines().any(|wrong| wrong.abs_diff(line) <= 1) {
                continue;
            }
            let mut flags = rest.iter().filter(|alarm| alarm.lines.first() == Some(&line)).peekable();
            self.true_flagged += usize::from(flags.peek().is_some());
            self.true_contradicted += usize::from(flags.any(|alarm| alarm.level == "contradicted"));
        }
    }
}

fn is_found(error: &PlantedError, alarm: &Alarm) -> bool {
    error.lines.iter().any(|line| alarm.is_near(*line))
        || error.marks.iter().any(|mark| alarm.printed.contains(mark.as_str()))
}

/// The line of a position, from 1.
pub fn line_at(text: &str, at: usize) -> u64 {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::truth::TrueClaim;

    fn alarm(level: &str, summary: &str, line: u64) -> Alarm {
        let summary = summary.to_owned();
        Alarm { level: level.to_owned(), printed: summary.clone(), summary, lines: vec![line] }
    }

    #[test]
    fn errors_are_found_by_line_or_by_number() {
        let error = |line: u64, mark: &str| PlantedError {
            kind: "a".to_owned(),
            lines: vec![line],
            marks: vec![mark.to_owned()],
            ..PlantedError::default()
        };
        let case = WriteUpCase {
            errors: vec![error(3, "37.5"), error(20, "1.09"), error(40, "999")],
            text: "a\nb\n".to_owned(),
            ..WriteUpCase::default()
        };
        let mut score = Score::default();
        score.count(
            &case,
            &[alarm("doubtful", "x", 4), alarm("doubtful", "gives 1.09", 90), alarm("doubtful", "y", 70)],
        );
        assert_eq!((score.found.hits, score.found.trials, score.unmatched), (2, 3, 1));
    }

    #[test]
    fn alarms_in_sound_documents_and_on_true_claims_count() {
        let claim = TrueClaim { quote: "twice".to_owned(), arithmetic: String::new() };
        let case = WriteUpCase {
            sound: true,
            text: "one\ntwice\n".to_owned(),
            true_claims: vec![claim],
            ..WriteUpCase::default()
        };
        let mut score = Score::default();
        score.count(&case, &[alarm("contradicted", "x", 2)]);
        score.count(&case, &[]);
        assert_eq!((score.flagged.hits, score.flagged.trials), (1, 2));
        assert_eq!((score.true_claims, score.true_flagged, score.true_contradicted), (2, 1, 1));
    }
}
