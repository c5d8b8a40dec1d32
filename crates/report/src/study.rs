//! All that a write-up says about one record, as plain data. Rooms that know records fill it; nothing here opens files.

use std::collections::BTreeMap;

use assay_judge::findings::Finding;
use assay_judge::{Answer, Comparison, Evidence, GateResult, pivot::Pivot, scaling::Scaling};
use assay_model::{CellId, Machine, Phase, Published, Series, Source};

use crate::figure::Roofline;

/// One record.
#[derive(Debug, Clone)]
pub struct Study {
    pub name: String,
    /// Its directory, as the user would type it.
    pub path: String,
    pub question: Option<String>,
    /// The answers, the headline first.
    pub answers: Vec<Judged>,
    pub pivot: Option<Pivot>,
    /// Numbers that others published, to stand beside ours.
    pub published: Vec<Published>,
    pub scaling: Option<Scaling>,
    /// Where cells stand below the machine's limits, where the record has both rates that takes.
    pub roofline: Option<Roofline>,
    pub gates: Vec<GateResult>,
    /// What the record says beside the ranking of its headline.
    pub findings: Vec<Finding>,
    pub failures: Vec<FailedRuns>,
    /// The first usable run of each cell, in the order of the cells.
    pub examples: Vec<ExampleRun>,
    /// The runs behind the headline's numbers, by cell.
    pub numbers: BTreeMap<CellId, Vec<RunNumber>>,
    pub origin: StudyOrigin,
}

/// An answer with the values it was judged from.
#[derive(Debug, Clone)]
pub struct Judged {
    pub answer: Answer,
    pub evidence: Evidence,
}

/// One way in which runs failed.
#[derive(Debug, Clone)]
pub struct FailedRuns {
    pub reason: String,
    pub runs: u64,
    pub example: String,
    pub hints: Vec<String>,
}

/// One run with what it printed over time.
#[derive(Debug, Clone, Default)]
pub struct ExampleRun {
    pub run: String,
    /// What distinguishes its cell from the others.
    pub label: String,
    pub phases: Vec<Phase>,
    pub series: Vec<SeriesCourse>,
    /// Seconds of the whole job, where they are known.
    pub job_s: Option<f64>,
}

/// A series with what was found in it.
#[derive(Debug, Clone, Default)]
pub struct SeriesCourse {
    pub series: Series,
    /// How many of its first values are warm-up; none where that is not known.
    pub warm_up: Option<usize>,
    /// Where its level changes, by position.
    pub changes: Vec<usize>,
}

/// One value of the headline and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNumber {
    pub run: String,
    /// The run directory, relative to the record.
    pub directory: String,
    /// The script that repeats it, relative to the record; known of the first run of each cell.
    pub script: Option<String>,
    pub status: String,
    pub value: Option<f64>,
    /// The line that states the value; none where this program measured it.
    pub source: Option<Source>,
}

/// How a record came about.
#[derive(Debug, Clone, Default)]
pub struct StudyOrigin {
    /// When the record was made, in UTC.
    pub created: Option<String>,
    /// The program that wrote it.
    pub program: Option<String>,
    pub machine: Option<Machine>,
    /// The campaign file's text.
    pub campaign: Option<String>,
    /// The seed of the order of runs.
    pub seed: Option<u64>,
    /// What is wrong with the journal, if anything is.
    pub damage: Option<String>,
}

/// Several records, the later ones compared with the first.
#[derive(Debug, Clone, Default)]
pub struct Studies {
    pub studies: Vec<Study>,
    pub comparisons: Vec<Comparison>,
    /// Why a record could not be compared with the first.
    pub not_compared: Vec<String>,
}

impl Studies {
    /// What each record is called beside the others: its campaign, or its path where several have the same one.
    pub fn names(&self) -> Vec<&str> {
        let is_shared = |name: &str| self.studies.iter().filter(|study| study.name == name).count() > 1;
        let studies = self.studies.iter();
        studies
            .map(|study| if is_shared(&study.name) { study.path.as_str() } else { study.name.as_str() })
            .collect()
    }
}
