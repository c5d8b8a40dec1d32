//! What a record supports, in sentences.

use assay_judge::findings::{self, Finding, of_answer};
use assay_judge::record::JudgedRecord;
use assay_store::Index;

use super::judged_for_people;

/// The findings of a record: about the metric it is judged by, and about rates, losses and iterations beside it.
pub fn findings(index: &Index, metric: Option<&str>) -> anyhow::Result<Vec<Finding>> {
    let (answer, subject) = judged_for_people(index, metric, super::MOST_ROWS)?;
    let record = JudgedRecord::new(index)?;
    let headline = record.evidence(&subject.metric)?;
    let mut found = of_answer(&answer, &headline);
    found.extend(findings::beside(&record, &headline)?);
    Ok(found)
}

/// What latencies do over the sizes of a load.
pub fn knees(index: &Index, latencies: &[&str]) -> anyhow::Result<Vec<Finding>> {
    Ok(findings::knees(&JudgedRecord::new(index)?, latencies)?)
}
