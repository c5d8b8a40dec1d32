//! What a record supports, in sentences.

use assay_judge::Evidence;
use assay_judge::findings::{
    Finding, of_answer, of_iterations, of_load, of_loss, of_requests, of_scaling, of_size,
};
use assay_judge::iterations::iterations;
use assay_model::{Unit, names};
use assay_store::Index;

use super::{evidence, judged_for_people};

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

/// The findings of a record: about the metric it is judged by, and about rates, losses and iterations beside it.
pub fn findings(index: &Index, metric: Option<&str>) -> anyhow::Result<Vec<Finding>> {
    let (answer, subject) = judged_for_people(index, metric, super::MOST_ROWS)?;
    let (headline, _) = evidence(index, Some(&subject.metric))?;
    let mut found = of_answer(&answer, &headline);
    let has = index.metrics()?;
    for other in &has {
        let is_rate = matches!(other.unit, Unit::PerSecond(_)) && !other.name.contains("instant");
        if is_rate || other.name.starts_with("loss") {
            let (evidence, _) = evidence(index, Some(&other.name))?;
            found.extend(of_scaling(&evidence));
            found.extend(of_loss(&evidence));
        }
    }
    let of = |name: &str| -> anyhow::Result<Option<Evidence>> {
        let is_known = has.iter().any(|metric| metric.name == name);
        Ok(is_known.then(|| evidence(index, Some(name))).transpose()?.map(|(evidence, _)| evidence))
    };
    let (flops, peak) = (of(names::FLOPS_PER_S)?, of(names::MFU)?);
    for other in has.iter().filter(|other| other.name.starts_with("time.")) {
        if let Some(time) = of(&other.name)? {
            found.extend(of_size(&time, flops.as_ref(), peak.as_ref()));
        }
    }
    found.extend(of_requests(index)?);
    let mut latencies = vec![names::E2E, names::TTFT, names::LATENCY];
    if !latencies.contains(&subject.metric.as_str()) {
        latencies.push(&subject.metric);
    }
    found.extend(knees(index, &latencies)?);
    if index.cells()?.len() <= MOST_STUDIED {
        let mut all: Vec<&str> =
            SERIES.into_iter().filter(|series| has.iter().any(|metric| metric.name == *series)).collect();
        let is_cost = matches!(headline.metric.unit, Unit::Seconds | Unit::PerSecond(_));
        if is_cost && !all.contains(&subject.metric.as_str()) {
            all.push(&subject.metric);
        }
        for series in all {
            found.extend(of_iterations(&iterations(index, series)?));
        }
    }
    Ok(found)
}

/// What latencies do over the sizes of a load.
pub fn knees(index: &Index, latencies: &[&str]) -> anyhow::Result<Vec<Finding>> {
    let has = index.metrics()?;
    let mut found = Vec::new();
    for latency in latencies.iter().filter(|latency| has.iter().any(|metric| metric.name == **latency)) {
        let (evidence, _) = evidence(index, Some(latency))?;
        found.extend(of_load(&evidence));
    }
    Ok(found)
}
