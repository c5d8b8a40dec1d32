//! What a record answers: the evidence for one metric, the answer judged from it, its gates and its JSON form. The verbs
//! that show results all use this.
//!
//! | file | holds |
//! |---|---|
//! | `answer/file.rs` | Markdown, CSV and JSON files |
//! | `answer/findings.rs` | what a record supports, in sentences |
//! | `answer/print.rs` | tables, gates and failures on the terminal |
//! | `answer/layout.rs` | the additional tables that a campaign's `[report]` asks for |

pub mod file;
pub mod findings;
pub mod layout;
pub mod print;

use assay_judge::answer::UNEQUAL_WORK;
use assay_judge::findings::Finding;
use assay_judge::gather::{gather, metrics};
use assay_judge::{Answer, Evidence, GateResult, MetricSummary};
use assay_store::{Index, Record, Summary};
use serde::Serialize;

use crate::screen::JSON_SCHEMA;

/// Rows that are shown, and compared with the best, unless `--all` is given.
pub const MOST_ROWS: usize = 60;

/// The record that an answer is about, and the metric it is judged by.
pub struct Subject {
    /// Name, plan and counts of the record.
    pub summary: Summary,
    pub metric: String,
}

impl Subject {
    /// The campaign's question, if it has one.
    pub fn question(&self) -> Option<&str> {
        self.summary.plan.as_ref().map(|plan| plan.question.as_str())
    }
}

/// The record and the metric to judge it by: the named one, else the campaign's headline, else wall time.
pub fn subject(index: &Index, metric: Option<&str>) -> anyhow::Result<Subject> {
    let summary = index.summary()?;
    let headline = summary.plan.as_ref().map(|plan| plan.headline.clone());
    let metric =
        metric.map(str::to_owned).or(headline).unwrap_or_else(|| assay_model::metric::WALL.to_owned());
    Ok(Subject { summary, metric })
}

/// The evidence of a record for one metric.
pub fn evidence(index: &Index, metric: Option<&str>) -> anyhow::Result<(Evidence, Subject)> {
    let subject = subject(index, metric)?;
    let evidence = gather(index, &subject.summary.name, subject.summary.plan.as_ref(), &subject.metric)?;
    Ok((evidence, subject))
}

/// The answer of a record for one metric.
pub fn judged(
    index: &Index,
    metric: Option<&str>,
    most_compared: usize,
) -> anyhow::Result<(Answer, Subject)> {
    let (evidence, subject) = evidence(index, metric)?;
    let plan = subject.summary.plan.as_ref();
    let order = plan.map(|plan| plan.varied.clone()).unwrap_or_default();
    Ok((assay_judge::answer(&evidence, &order, most_compared), subject))
}

/// The same for people: without settings that have the workload's default in all cells, and without a best cell where
/// the campaign names the baseline of each comparison.
pub fn judged_for_people(
    index: &Index,
    metric: Option<&str>,
    most_compared: usize,
) -> anyhow::Result<(Answer, Subject)> {
    let is_ranked = index.summary()?.plan.is_none_or(|plan| plan.layout.against.is_none());
    let most_compared = if is_ranked { most_compared } else { 0 };
    let (mut answer, mut subject) = judged(index, metric, most_compared)?;
    if metric.is_none()
        && let Some(rate) = ranked_instead(index, &answer)?
    {
        let why = answer.caveats;
        (answer, subject) = judged(index, Some(&rate), most_compared)?;
        answer.caveats.extend(why.into_iter().filter(|caveat| caveat.code == UNEQUAL_WORK));
    }
    if !is_ranked {
        (answer.best, answer.may_be_best) = (None, Vec::new());
    }
    let cells = index.cells()?;
    let workload = cells.first().map_or("", |cell| cell.workload.as_str());
    if cells.iter().all(|cell| cell.workload == workload)
        && let Ok(description) = crate::workloads::description(workload)
    {
        for setting in &description.settings {
            if answer.common.get(&setting.name) == setting.default.as_ref() {
                answer.common.remove(&setting.name);
            }
        }
    }
    Ok((answer, subject))
}

/// The rate by which cells are ranked that a time must not rank, because they do different amounts of work.
fn ranked_instead(index: &Index, answer: &Answer) -> anyhow::Result<Option<String>> {
    if answer.caveats.iter().all(|caveat| caveat.code != UNEQUAL_WORK) {
        return Ok(None);
    }
    Ok(evidence(index, Some(&answer.metric.name))?.0.rate)
}

/// Checks a record against the gates of its campaign.
pub fn gates(record: &Record, index: &Index) -> anyhow::Result<Vec<GateResult>> {
    Ok(assay_page::study::gates(record, index)?)
}

/// An answer as JSON.
#[derive(Serialize)]
pub struct AnswerJson {
    schema: u32,
    record: String,
    question: Option<String>,
    answer: Answer,
    metrics: Vec<MetricSummary>,
    gates: Vec<GateResult>,
    findings: Vec<Finding>,
}

/// The answer of a record as JSON.
pub fn answer_json(record: &Record, index: &Index, metric: Option<&str>) -> anyhow::Result<AnswerJson> {
    let (answer, subject) = judged(index, metric, usize::MAX)?;
    Ok(AnswerJson {
        schema: JSON_SCHEMA,
        record: record.directory().display().to_string(),
        question: subject.question().map(str::to_owned),
        metrics: metrics(index, subject.summary.plan.as_ref())?,
        gates: gates(record, index)?,
        findings: findings::findings(index, metric)?,
        answer,
    })
}
