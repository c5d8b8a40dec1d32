//! What a record answers: the evidence for one metric, the answer judged from it, its gates and its JSON form. The verbs
//! that show results all use this.
//!
//! | file | holds |
//! |---|---|
//! | `answer/findings.rs` | what a record supports, in sentences |
//! | `answer/print.rs` | tables, gates and failures on the terminal |
//! | `answer/layout.rs` | the additional tables that a campaign's `[report]` asks for |

pub mod findings;
pub mod layout;
pub mod print;

use assay_judge::answer::UNEQUAL_WORK;
use assay_judge::findings::Finding;
use assay_judge::gather::metrics;
use assay_judge::record::{JudgedRecord, rate_instead};
use assay_judge::{Answer, Evidence, GateResult, MetricSummary};
use assay_store::{Index, IndexSummary, Record};
use serde::Serialize;

use crate::screen::JSON_SCHEMA;

/// Rows that are shown, and compared with the best, unless `--all` is given.
pub const MOST_ROWS: usize = 60;

/// The record that an answer is about, and the metric it is judged by.
pub struct Subject {
    /// Name, plan and counts of the record.
    pub summary: IndexSummary,
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
    let record = JudgedRecord::new(index)?;
    let metric = metric.unwrap_or(record.headline()).to_owned();
    Ok(Subject { summary: record.summary, metric })
}

/// The evidence of a record for one metric: the named one, else the campaign's headline, else wall time.
pub fn evidence(index: &Index, metric: Option<&str>) -> anyhow::Result<(Evidence, Subject)> {
    let record = JudgedRecord::new(index)?;
    let metric = metric.unwrap_or(record.headline()).to_owned();
    Ok((record.evidence(&metric)?, Subject { summary: record.summary, metric }))
}

/// The answer of a record for one metric.
pub fn judged(
    index: &Index,
    metric: Option<&str>,
    most_compared: usize,
) -> anyhow::Result<(Answer, Subject)> {
    let record = JudgedRecord::new(index)?;
    let metric = metric.unwrap_or(record.headline()).to_owned();
    let answer = record.answer(&record.evidence(&metric)?, most_compared);
    Ok((answer, Subject { summary: record.summary, metric }))
}

/// The same for people, by the rate instead of a time where cells do different amounts of work.
pub fn judged_for_people(
    index: &Index,
    metric: Option<&str>,
    most_compared: usize,
) -> anyhow::Result<(Answer, Subject)> {
    let record = JudgedRecord::new(index)?;
    let judged =
        |evidence: &Evidence| record.answer_for_people(evidence, most_compared, &crate::write_up::defaults);
    let name = metric.unwrap_or(record.headline()).to_owned();
    let evidence = record.evidence(&name)?;
    let mut answer = judged(&evidence)?;
    let rate = rate_instead(&evidence, &answer).filter(|_| metric.is_none());
    if let Some(rate) = &rate {
        let why = answer.caveats;
        answer = judged(&record.evidence(rate)?)?;
        answer.caveats.extend(why.into_iter().filter(|caveat| caveat.code == UNEQUAL_WORK));
    }
    Ok((answer, Subject { summary: record.summary, metric: rate.unwrap_or(name) }))
}

/// Checks a record against the gates of its campaign.
pub fn gates(record: &Record, index: &Index) -> anyhow::Result<Vec<GateResult>> {
    Ok(JudgedRecord::new(index)?.gates(record)?)
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
