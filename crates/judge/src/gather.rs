//! The runs of a record as samples by cell. Failed and missing runs are counted, never dropped silently.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::metric::{BUSY_ELSEWHERE, usual_direction};
use assay_model::{Caveat, CellId, CurrentPlan, Estimate, Metric, Settings, Status, Unit, names};
use assay_store::{Index, StoreError};
use serde::Serialize;

use crate::estimate::{caveat, caveats as caveats_of_values, estimate};
use crate::origin;
use crate::same_work::Work;

/// Why a record cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The record could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No run has this metric.
    #[error("no run of `{record}` has the metric `{metric}`")]
    NoSuchMetric {
        /// The record's name.
        record: String,
        /// The metric asked for.
        metric: String,
        /// The metrics that exist.
        known: Vec<String>,
    },
    /// Two records give the metric in different units.
    #[error("`{metric}` is in {a} in one record and in {b} in the other")]
    DifferentUnits {
        /// The metric.
        metric: String,
        /// One unit.
        a: String,
        /// The other.
        b: String,
    },
    /// Two records have nothing to compare.
    #[error("`{a}` and `{b}` have no cell in common")]
    NothingInCommon {
        /// One record.
        a: String,
        /// The other.
        b: String,
    },
}

/// How the runs of a cell ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Ran to their end, or nothing says that they did not.
    pub succeeded: u64,
    /// Ended badly.
    pub failed: u64,
    /// Took longer than their timeout.
    pub timed_out: u64,
    /// Were not begun, because they would not fit.
    pub unfit: u64,
    /// Were stopped by the user or a dying coordinator.
    pub interrupted: u64,
    /// Planned but not run yet.
    pub missing: u64,
}

/// What a record knows about one cell and one metric.
#[derive(Debug, Clone)]
pub struct CellEvidence {
    /// Which cell.
    pub cell: CellId,
    /// Its workload.
    pub workload: String,
    /// Its settings.
    pub settings: Settings,
    /// Whether the campaign still asks for it.
    pub planned: bool,
    /// How its runs ended.
    pub counts: Counts,
    /// The metric's values over succeeded runs, in the order of the repeats.
    pub values: Vec<f64>,
    /// Succeeded runs that do not have the metric.
    pub without: u64,
    /// How many repeats were planned, if those are fewer than of the other cells and no more were made.
    pub fewer: Option<u32>,
    /// What to say of values that were replayed from a log, if any were.
    pub replayed: Option<String>,
    /// What the cell's runs computed, by the metrics that engines are checked by.
    pub parity: BTreeMap<String, f64>,
    /// How much the cell's runs did, by the metrics that count work.
    pub amounts: BTreeMap<String, f64>,
    /// Doubts about how its runs were made: a busy machine, a changed program, mixed versions.
    pub doubts: Vec<Caveat>,
}

impl CellEvidence {
    /// A planned cell all of whose runs succeeded and have the metric.
    pub fn new(cell: CellId, workload: &str, settings: Settings, values: Vec<f64>) -> CellEvidence {
        CellEvidence {
            cell,
            workload: workload.to_owned(),
            settings,
            planned: true,
            counts: Counts { succeeded: values.len() as u64, ..Counts::default() },
            values,
            without: 0,
            fewer: None,
            replayed: None,
            parity: BTreeMap::new(),
            amounts: BTreeMap::new(),
            doubts: Vec::new(),
        }
    }

    /// The estimate of its values with all doubts about them; none without a value.
    pub fn estimate(&self) -> Option<Estimate> {
        let mut estimate = estimate(&self.values)?;
        estimate.caveats = self.caveats();
        Some(estimate)
    }

    /// All doubts about its number: about the values, and about the runs that they are of.
    pub fn caveats(&self) -> Vec<Caveat> {
        let mut found = caveats_of_values(&self.values);
        if self.counts.failed + self.counts.timed_out > 0 {
            let text = match self.values.is_empty() {
                false => "some runs failed or timed out; the estimate rests on the others",
                true => "its runs failed or timed out",
            };
            let hint = "`assay show --runs` lists the runs with their reasons";
            found.push(caveat("failed_runs", text, hint));
        }
        if self.without > 0 {
            found.push(caveat(
                "metric_not_seen",
                "some runs succeeded without a number of the metric (missing, not a number or infinite)",
                "check the pattern or the dialect against the run's stdout.log",
            ));
        }
        if let Some(repeats) = self.fewer {
            let repeats = if repeats == 1 { "1 repeat".to_owned() } else { format!("{repeats} repeats") };
            found.push(caveat(
                "fewer_repeats",
                &format!("planned with {repeats}, fewer than the rest"),
                "`[[repeats.fewer]]` asks for that; raise its `at_least` and run again: only the missing runs are made",
            ));
        }
        found.extend(self.doubts.iter().cloned());
        if let Some(replayed) = &self.replayed {
            found.push(caveat("replayed", replayed, "run the campaign on the machine itself to measure"));
        }
        found
    }

    /// What the cell computed.
    pub fn work(&self) -> Work<'_> {
        Work { settings: &self.settings, parity: &self.parity, amounts: &self.amounts }
    }
}

/// A metric that a record has, and how many runs have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricSummary {
    /// The metric.
    pub metric: Metric,
    /// Runs that have it.
    pub runs: u64,
}

/// All cells of a record, for one metric.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The record's name.
    pub name: String,
    /// The metric.
    pub metric: Metric,
    /// The cells.
    pub cells: Vec<CellEvidence>,
    /// A rate that the record has, by which cells can be ranked whose amounts of work differ.
    pub rate: Option<String>,
    /// Cells of files that were read which do not have the metric: they are of another study, and left out.
    pub of_other_studies: usize,
}

/// The metrics of a record, with the directions that its campaign declares.
pub fn metrics(index: &Index, plan: Option<&CurrentPlan>) -> Result<Vec<MetricSummary>, JudgeError> {
    let declared: &[Metric] = plan.map_or(&[], |plan| &plan.metrics);
    let known = index.metrics()?;
    Ok(known
        .into_iter()
        .map(|found| MetricSummary { metric: described(found.name, found.unit, declared), runs: found.runs })
        .collect())
}

fn described(name: String, unit: Unit, declared: &[Metric]) -> Metric {
    let better = match declared.iter().find(|metric| metric.name == name) {
        Some(metric) => metric.better,
        None => usual_direction(&name, &unit),
    };
    Metric { name, unit, better }
}

/// Gathers the values of one metric.
pub fn gather(
    index: &Index,
    name: &str,
    plan: Option<&CurrentPlan>,
    metric: &str,
) -> Result<Evidence, JudgeError> {
    let metrics = metrics(index, plan)?;
    let metric = match metrics.iter().find(|summary| summary.metric.name == metric) {
        Some(summary) => summary.metric.clone(),
        None if index.cells()?.iter().all(|cell| cell.runs.succeeded == 0) => {
            // Nothing ran well yet: an empty table is the true answer, not an error.
            let declared: &[Metric] = plan.map_or(&[], |plan| &plan.metrics);
            described(metric.to_owned(), Unit::One, declared)
        }
        None => {
            let known = metrics.into_iter().map(|summary| summary.metric.name).collect();
            return Err(JudgeError::NoSuchMetric {
                record: name.to_owned(),
                metric: metric.to_owned(),
                known,
            });
        }
    };
    let mut values = index.values(&metric.name)?;
    let mut parities = of_first_runs(index, &metrics, &PARITY)?;
    let mut amounts = of_first_runs(index, &metrics, &AMOUNTS)?;
    let mut busy = busy_elsewhere(index, &metrics)?;
    let mut origins = origin::doubts(index)?;
    let usual = plan.map_or(0, |plan| plan.repeats);
    let mut fewer: BTreeMap<&CellId, u32> =
        plan.iter().flat_map(|plan| &plan.fewer).map(|(cell, repeats)| (cell, *repeats)).collect();
    // What was read from files follows no plan: not every file or table has every metric.
    let is_read = plan.is_some_and(|plan| plan.hash.is_empty());
    let (summaries, elsewhere): (Vec<_>, Vec<_>) = index.cells()?.into_iter().partition(|summary| {
        let runs = &summary.runs;
        let is_fine = runs.failed + runs.timed_out + runs.unfit + runs.interrupted == 0;
        !(is_read && is_fine && !values.contains_key(&summary.cell))
    });
    let cells = summaries
        .into_iter()
        .map(|summary| {
            let of_cell = values.remove(&summary.cell).unwrap_or_default();
            let values: Vec<f64> = of_cell
                .iter()
                .filter(|run| run.status.as_ref().is_some_and(Status::is_usable))
                .map(|run| run.value)
                .collect();
            let runs = summary.runs;
            let done = runs.succeeded + runs.failed + runs.timed_out + runs.unfit;
            let fewer = fewer.remove(&summary.cell).filter(|_| summary.planned);
            let wanted = u64::from(fewer.unwrap_or(usual));
            let missing = if summary.planned { wanted.saturating_sub(done) } else { 0 };
            CellEvidence {
                fewer: fewer.filter(|_| done < u64::from(usual)),
                doubts: busy
                    .remove(&summary.cell)
                    .into_iter()
                    .chain(origins.remove(&summary.cell).unwrap_or_default())
                    .collect(),
                amounts: amounts.remove(&summary.cell).unwrap_or_default(),
                parity: parities.remove(&summary.cell).unwrap_or_default(),
                replayed: of_cell.iter().find_map(|run| run.replayed.clone()),
                without: runs.succeeded.saturating_sub(values.len() as u64),
                counts: Counts {
                    succeeded: runs.succeeded,
                    failed: runs.failed,
                    timed_out: runs.timed_out,
                    unfit: runs.unfit,
                    interrupted: runs.interrupted,
                    missing,
                },
                cell: summary.cell,
                workload: summary.workload,
                settings: summary.settings,
                planned: summary.planned,
                values,
            }
        })
        .collect();
    let has = |name: &&&str| metrics.iter().any(|summary| summary.metric.name == ***name);
    let rate = RATES.iter().find(has).map(|rate| (*rate).to_owned());
    Ok(Evidence { name: name.to_owned(), metric, cells, rate, of_other_studies: elsewhere.len() })
}

/// The metrics by which engines are checked against each other.
const PARITY: [&str; 3] = [names::PARITY_LOSS, names::PARITY_OUTPUT, names::PARITY_GRADIENT];
/// The metrics that count work: the same in all repeats of a cell.
const AMOUNTS: [&str; 4] = [names::PARAMETERS, names::SAMPLES, names::TOKENS, names::STEPS];
/// Rates of work done, in the order of preference.
const RATES: [&str; 9] = [
    names::TOKENS_PER_S,
    names::SAMPLES_PER_S_LOOP,
    names::SAMPLES_PER_S_FIT,
    names::SAMPLES_PER_S,
    names::INFERENCES_PER_S,
    names::OUTPUT_THROUGHPUT,
    names::FLOPS_PER_S,
    names::BYTES_PER_S,
    names::STEPS_PER_S,
];

/// More of the machine than this used by others is a reason for doubt.
const BUSY: f64 = 0.1;

/// The doubt about cells during whose runs others used the machine.
fn busy_elsewhere(index: &Index, metrics: &[MetricSummary]) -> Result<BTreeMap<CellId, Caveat>, JudgeError> {
    if metrics.iter().all(|summary| summary.metric.name != BUSY_ELSEWHERE) {
        return Ok(BTreeMap::new());
    }
    let doubt = |runs: Vec<assay_store::RunValue>| {
        let is_disturbed = runs.iter().any(|run| run.value > BUSY);
        let text = format!(
            "others used more than {:.0} % of the machine's CPU time during some or all runs",
            100.0 * BUSY
        );
        is_disturbed.then(|| {
            caveat("busy_machine", &text, "run on an idle machine, or one run at a time (`--jobs 1`)")
        })
    };
    let values = index.values(BUSY_ELSEWHERE)?;
    Ok(values.into_iter().filter_map(|(cell, runs)| Some((cell, doubt(runs)?))).collect())
}

/// Some metrics of each cell's first usable run that has them, for what repeats have in common.
fn of_first_runs(
    index: &Index,
    metrics: &[MetricSummary],
    wanted: &[&str],
) -> Result<BTreeMap<CellId, BTreeMap<String, f64>>, JudgeError> {
    let mut found: BTreeMap<CellId, BTreeMap<String, f64>> = BTreeMap::new();
    for name in wanted {
        if metrics.iter().any(|summary| summary.metric.name == *name) {
            for (cell, runs) in index.values(name)? {
                let usable = |status: &Option<Status>| status.as_ref().is_some_and(Status::is_usable);
                if let Some(run) = runs.iter().find(|run| usable(&run.status)) {
                    found.entry(cell).or_default().insert((*name).to_owned(), run.value);
                }
            }
        }
    }
    Ok(found)
}

/// The settings in which the cells differ, and those that are the same in all of them.
pub fn split_settings<'a>(cells: impl Iterator<Item = &'a Settings>) -> (Vec<String>, Settings) {
    let mut common: Option<Settings> = None;
    let mut names: BTreeSet<&String> = BTreeSet::new();
    for settings in cells {
        names.extend(settings.keys());
        match &mut common {
            None => common = Some(settings.clone()),
            Some(common) => common.retain(|name, value| settings.get(name) == Some(value)),
        }
    }
    let common = common.unwrap_or_default();
    let varied = names.into_iter().filter(|name| !common.contains_key(*name)).cloned().collect();
    (varied, common)
}

/// Settings without some of them.
pub(crate) fn without(settings: &Settings, ignored: &[String]) -> Settings {
    settings
        .iter()
        .filter(|(name, _)| !ignored.contains(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Groups cells by a key.
pub(crate) fn by_key<K: Ord>(
    cells: &[CellEvidence],
    key: impl Fn(&CellEvidence) -> K,
) -> BTreeMap<K, &CellEvidence> {
    cells.iter().map(|cell| (key(cell), cell)).collect()
}
