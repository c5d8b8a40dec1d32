//! What a record supports beside the ranking of its headline: laws, losses, sizes, endpoints, knees and iterations.

use assay_model::{Unit, names};
use assay_store::Index;

use super::{Finding, of_iterations, of_load, of_loss, of_requests, of_scaling, of_size};
use crate::gather::{Evidence, JudgeError};
use crate::iterations::iterations;
use crate::record::JudgedRecord;

/// The series that iterations are studied in.
const SERIES: [&str; 5] = [
    names::TIME_ITERATION,
    names::STEP_S,
    names::TIME_FORWARD,
    names::TIME_FORWARD_BACKWARD,
    names::TIME_STEP,
];
/// Records with more cells get no study of their iterations: reading every series would take longer than the answer.
const MOST_STUDIED: usize = 200;

/// The findings about a record that is judged by `headline`, beside those about that metric alone.
pub fn beside(record: &JudgedRecord<'_>, headline: &Evidence) -> Result<Vec<Finding>, JudgeError> {
    let index = record.index();
    let has = index.metrics()?;
    let mut found = Vec::new();
    for other in &has {
        let is_rate = matches!(other.unit, Unit::PerSecond(_)) && !other.name.contains("instant");
        if is_rate || other.name.starts_with("loss") {
            let evidence = record.evidence(&other.name)?;
            found.extend(of_scaling(&evidence));
            found.extend(of_loss(&evidence));
        }
    }
    let of = |name: &str| -> Result<Option<Evidence>, JudgeError> {
        let is_known = has.iter().any(|metric| metric.name == name);
        is_known.then(|| record.evidence(name)).transpose()
    };
    let (flops, peak) = (of(names::FLOPS_PER_S)?, of(names::MFU)?);
    for other in has.iter().filter(|other| other.name.starts_with("time.")) {
        if let Some(time) = of(&other.name)? {
            found.extend(of_size(&time, flops.as_ref(), peak.as_ref()));
        }
    }
    found.extend(of_requests(index)?);
    let subject = headline.metric.name.as_str();
    let mut latencies = vec![names::E2E, names::TTFT, names::LATENCY];
    if !latencies.contains(&subject) {
        latencies.push(subject);
    }
    found.extend(knees(record, &latencies)?);
    found.extend(within_runs(index, headline)?);
    Ok(found)
}

/// What latencies do over the sizes of a load.
pub fn knees(record: &JudgedRecord<'_>, latencies: &[&str]) -> Result<Vec<Finding>, JudgeError> {
    let has = record.index().metrics()?;
    let mut found = Vec::new();
    for latency in latencies.iter().filter(|latency| has.iter().any(|metric| metric.name == **latency)) {
        found.extend(of_load(&record.evidence(latency)?));
    }
    Ok(found)
}

/// What the iterations of runs say, of records that are small enough to read all of them.
fn within_runs(index: &Index, headline: &Evidence) -> Result<Vec<Finding>, JudgeError> {
    if index.cells()?.len() > MOST_STUDIED {
        return Ok(Vec::new());
    }
    let has = index.metrics()?;
    let mut all: Vec<&str> =
        SERIES.into_iter().filter(|series| has.iter().any(|metric| metric.name == *series)).collect();
    let subject = headline.metric.name.as_str();
    let is_cost = matches!(headline.metric.unit, Unit::Seconds | Unit::PerSecond(_));
    if is_cost && !all.contains(&subject) {
        all.push(subject);
    }
    let mut found = Vec::new();
    for series in all {
        found.extend(of_iterations(&iterations(index, series)?));
    }
    Ok(found)
}
