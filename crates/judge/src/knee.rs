//! Latency against load: where the knee is, or why there is none to be seen.

use assay_model::{CellId, Settings, Unit, Value};
use assay_stats::bootstrap::Bootstrap;
use assay_stats::knee::{LoadLaw, MINIMUM_LOADS, load_law};
use serde::Serialize;

use crate::CONFIDENCE;
use crate::gather::{CellEvidence, Evidence, split_settings};

/// Settings that say how large a load is, in the order in which they are looked for.
const LOADS: [&str; 7] = [
    "streams",
    assay_model::names::setting::CONCURRENCY,
    "max_concurrency",
    "clients",
    "users",
    "rate",
    "request_rate",
];
/// Latencies, of which the mean and the tails are studied.
const LATENCIES: [&str; 4] = ["e2e", "ttft", "tpot", "latency"];
/// How far latency may rise above that of the smallest load before it counts as risen: a tenth.
const RISEN: f64 = 1.1;

/// Latency over the loads of one combination of the other settings.
#[derive(Debug, Clone)]
pub struct LoadStudy {
    /// The other settings in which cells differ.
    pub settings: Settings,
    /// The setting that says how large the load is.
    pub over: String,
    /// The smallest and the largest load.
    pub range: (f64, f64),
    /// How many runs it rests on.
    pub runs: usize,
    /// The law.
    pub law: LoadLaw,
    /// By medians alone: the largest load at which latency is within a tenth of that at the smallest, and the next one.
    pub bracket: Bracket,
    /// The cells.
    pub cells: Vec<CellId>,
}

/// Two neighboring loads between which latency rises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bracket {
    /// The largest load without a rise.
    pub below: f64,
    /// The smallest with one; none where latency never rises.
    pub above: Option<f64>,
}

/// Studies a latency over load, for each combination of the other settings with enough loads.
pub fn load_studies(evidence: &Evidence) -> Vec<LoadStudy> {
    let name = evidence.metric.name.as_str();
    let is_latency = LATENCIES.iter().any(|latency| {
        name.strip_prefix(latency).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    if !is_latency || evidence.metric.unit != Unit::Seconds {
        return Vec::new();
    }
    let cells: Vec<&CellEvidence> =
        evidence.cells.iter().filter(|cell| cell.planned && !cell.values.is_empty()).collect();
    let (varied, _) = split_settings(cells.iter().map(|cell| &cell.settings));
    let Some(over) = LOADS.into_iter().find(|load| varied.iter().any(|name| name == load)) else {
        return Vec::new();
    };
    let mut groups: Vec<(Settings, Vec<(f64, &CellEvidence)>)> = Vec::new();
    for cell in cells {
        let Some(load) = cell.settings.get(over).and_then(Value::number) else { continue };
        let others = varied.iter().filter(|name| *name != over);
        let mut settings: Settings =
            others.filter_map(|name| Some((name.clone(), cell.settings.get(name)?.clone()))).collect();
        if evidence.cells.iter().any(|other| other.cell.platform != cell.cell.platform) {
            settings.insert("platform".to_owned(), cell.cell.platform.as_str().into());
        }
        match groups.iter_mut().find(|(known, _)| *known == settings) {
            Some((_, group)) => group.push((load, cell)),
            None => groups.push((settings, vec![(load, cell)])),
        }
    }
    groups.into_iter().filter_map(|(settings, group)| study(settings, over, group)).collect()
}

fn study(settings: Settings, over: &str, mut group: Vec<(f64, &CellEvidence)>) -> Option<LoadStudy> {
    if group.len() < MINIMUM_LOADS {
        return None;
    }
    group.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let runs: Vec<(f64, f64)> =
        group.iter().flat_map(|(load, cell)| cell.values.iter().map(move |value| (*load, *value))).collect();
    let law = load_law(&runs, &Bootstrap { confidence: CONFIDENCE, resamples: 1_000, seed: 1 })?;
    let medians: Vec<(f64, f64)> =
        group.iter().filter_map(|(load, cell)| Some((*load, assay_stats::median(&cell.values)?))).collect();
    let first = medians.first()?;
    let risen = medians.iter().position(|(_, latency)| *latency > RISEN * first.1);
    let below = medians.get(risen.unwrap_or(medians.len()).checked_sub(1)?)?.0;
    Some(LoadStudy {
        settings,
        over: over.to_owned(),
        range: (first.0, medians.last()?.0),
        runs: runs.len(),
        law,
        bracket: Bracket { below, above: risen.and_then(|place| medians.get(place)).map(|(load, _)| *load) },
        cells: group.iter().map(|(_, cell)| cell.cell.clone()).collect(),
    })
}
