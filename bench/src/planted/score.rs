//! The audits of documents, and how many of the planted errors they found.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use assay_stats::proportion::wilson;

use super::document::Document;
use super::fault::Fault;
use crate::figures::table;
use crate::place::Place;

/// One thing that an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The word for its class.
    pub class: String,
    /// What the evidence says.
    pub level: String,
}

impl Finding {
    /// Whether it says that something is wrong.
    pub fn is_alarm(&self) -> bool {
        matches!(self.level.as_str(), "contradicted" | "doubtful")
    }
}

/// What an audit of one document gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// What it found.
    pub findings: Vec<Finding>,
    /// What it printed.
    pub printed: String,
    /// Why it cannot be counted on, where it failed.
    pub failure: Option<String>,
}

/// Exit codes of an audit: nothing is contradicted, or something is.
const EXITS: [Option<i32>; 2] = [Some(0), Some(4)];

/// Audits a document on its own.
pub fn audit(place: &Place, directory: &Path, document: &Document) -> anyhow::Result<Audited> {
    fs::write(directory.join(&document.name), &document.text)?;
    let output = place
        .assay(directory)
        .args(["audit", "--json", &document.name])
        .output()
        .with_context(|| format!("cannot start {}", place.assay.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let stated = String::from_utf8_lossy(&output.stderr);
    let ended = EXITS.contains(&output.status.code());
    let (findings, failure) = match findings(&printed) {
        Ok(findings) if ended => (findings, None),
        Ok(findings) => {
            (findings, Some(format!("{}: {}", output.status, stated.lines().next().unwrap_or_default())))
        }
        Err(error) => (Vec::new(), Some(format!("{error:#}"))),
    };
    Ok(Audited { findings, printed, failure })
}

/// The findings among the lines that an audit printed. Lines about other things, such as groups of repeats, have no
/// class.
fn findings(printed: &str) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (index, line) in printed.lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line)
            .with_context(|| format!("line {} of the audit is not JSON", index + 1))?;
        let word = |name: &str| value.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
        match (word("class"), word("level")) {
            (Some(class), Some(level)) => findings.push(Finding { class, level }),
            (None, _) => {}
            (Some(class), None) => {
                bail!("line {} of the audit has the class {class} and no level", index + 1)
            }
        }
    }
    Ok(findings)
}

/// Successes of trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SuccessShare {
    /// How many times it came out so.
    pub hits: usize,
    /// Of how many.
    pub trials: usize,
}

impl SuccessShare {
    /// Counts one trial.
    pub fn count(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.trials += 1;
    }

    /// The share in per cent; none without trials.
    pub fn percent(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.hits as f64 / self.trials as f64 * 100.0)
    }

    /// Wilson's 95 % interval in per cent, as text.
    pub fn interval(&self) -> String {
        wilson(self.hits, self.trials, 0.95).map_or_else(String::new, |interval| {
            format!("{:.0} – {:.0}", interval.low * 100.0, interval.high * 100.0)
        })
    }
}

/// What all audits together found.
#[derive(Debug, Default)]
pub struct Score {
    classes: BTreeMap<Fault, SuccessShare>,
    layouts: BTreeMap<(Fault, String), SuccessShare>,
    /// Sound documents with an alarm.
    pub alarms: SuccessShare,
    alarming: BTreeMap<String, usize>,
    /// Audits that failed, with the reason.
    pub failures: Vec<String>,
}

impl Score {
    /// Counts the audit of a document. Says whether all went as it should.
    pub fn count(&mut self, document: &Document, audited: &Audited) -> bool {
        if let Some(failure) = &audited.failure {
            self.failures.push(format!("{}: {failure}", document.name));
        }
        let mut right = audited.failure.is_none();
        for &(fault, kind) in &document.planted {
            let found =
                audited.findings.iter().any(|finding| fault.is_found_by(&finding.class, &finding.level));
            self.classes.entry(fault).or_default().count(found);
            self.layouts.entry((fault, format!("{kind:?}").to_lowercase())).or_default().count(found);
            right &= found;
        }
        if document.planted.is_empty() {
            let mut classes: Vec<&str> = audited
                .findings
                .iter()
                .filter(|finding| finding.is_alarm())
                .map(|finding| finding.class.as_str())
                .collect();
            self.alarms.count(!classes.is_empty());
            right &= classes.is_empty();
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                *self.alarming.entry(class.to_owned()).or_default() += 1;
            }
        }
        right
    }

    /// How many of all planted errors were found.
    pub fn overall(&self) -> SuccessShare {
        let add = |sum: SuccessShare, share: &SuccessShare| SuccessShare {
            hits: sum.hits + share.hits,
            trials: sum.trials + share.trials,
        };
        self.classes.values().fold(SuccessShare::default(), add)
    }

    /// The class of which the smallest share was found.
    pub fn worst(&self) -> Option<(Fault, f64)> {
        let shares = self.classes.iter().filter_map(|(&fault, share)| Some((fault, share.percent()?)));
        shares.min_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// One row a class, and the sections in which it was missed.
    pub fn table(&self) -> String {
        let row = |(fault, share): (&Fault, &SuccessShare)| {
            let missed: Vec<String> = self
                .layouts
                .iter()
                .filter(|((own, _), share)| own == fault && share.hits < share.trials)
                .map(|((_, kind), share)| format!("{kind} {} of {}", share.trials - share.hits, share.trials))
                .collect();
            vec![
                fault.name().to_owned(),
                share.trials.to_string(),
                share.hits.to_string(),
                share.percent().map_or_else(String::new, |percent| format!("{percent:.1}")),
                share.interval(),
                missed.join(", "),
            ]
        };
        let rows: Vec<Vec<String>> = self.classes.iter().map(row).collect();
        table(&["planted", "times", "found", "recall %", "95 % interval", "missed in"], &rows)
    }

    /// What was wrongly said of sound documents: classes with their counts.
    pub fn alarm_classes(&self) -> String {
        let parts: Vec<String> =
            self.alarming.iter().map(|(class, count)| format!("{class} {count}")).collect();
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::section::SectionKind;
    use super::*;

    fn document(planted: Vec<(Fault, SectionKind)>) -> Document {
        Document { name: "a.md".to_owned(), text: String::new(), planted }
    }

    fn audited(printed: &str) -> Audited {
        Audited { findings: findings(printed).unwrap(), printed: printed.to_owned(), failure: None }
    }

    const WARM: &str = r#"{"file":"a.md","class":"warm_up","level":"doubtful","summary":"x"}"#;
    const FINE: &str = r#"{"file":"a.md","class":"sound","level":"supported","summary":"x"}"#;

    #[test]
    fn findings_are_read_and_other_lines_are_passed_over() {
        assert_eq!(findings(&format!("{WARM}\n{{\"label\":\"repeats\"}}\n")).unwrap().len(), 1);
        assert!(findings("no JSON").is_err());
        assert!(findings(r#"{"class":"warm_up"}"#).is_err());
    }

    #[test]
    fn hits_misses_and_alarms_are_counted() {
        let mut score = Score::default();
        assert!(score.count(&document(vec![(Fault::WarmUp, SectionKind::Timings)]), &audited(WARM)));
        assert!(!score.count(&document(vec![(Fault::Outlier, SectionKind::Rates)]), &audited(WARM)));
        assert!(score.count(&document(Vec::new()), &audited(FINE)));
        assert!(!score.count(&document(Vec::new()), &audited(WARM)));
        assert_eq!(score.overall(), SuccessShare { hits: 1, trials: 2 });
        assert_eq!(score.alarms, SuccessShare { hits: 1, trials: 2 });
        assert_eq!(score.worst(), Some((Fault::Outlier, 0.0)));
        assert_eq!(score.alarm_classes(), "warm_up 1");
        assert!(score.table().contains("rates 1 of 1"), "{}", score.table());
    }
}
