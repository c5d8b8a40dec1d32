//! One record: the table of its cells, ranked only where the evidence allows.

use std::collections::BTreeMap;

use assay_model::{Caveat, CellId, Direction, Estimate, Metric, Settings, Value};
use serde::Serialize;

use crate::estimate::{caveat, estimate, spread};
use crate::gather::{CellEvidence, Counts, Evidence, split_settings};
use crate::verdict::{Effect, Sample, effect};

/// What a record says about one metric.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The record's name.
    pub name: String,
    /// The metric.
    pub metric: Metric,
    /// The settings in which cells differ, in the order to show them.
    pub varied: Vec<String>,
    /// The settings that all cells share.
    pub common: Settings,
    /// Whether cells are on more than one platform.
    pub several_platforms: bool,
    /// The cells.
    pub rows: Vec<Row>,
    /// The row that others are compared with: the best median.
    pub best: Option<usize>,
    /// Doubts about the whole table.
    pub caveats: Vec<Caveat>,
}

/// One cell.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Which cell.
    pub cell: CellId,
    /// The settings in which cells differ.
    pub settings: BTreeMap<String, Value>,
    /// Whether the campaign still asks for it.
    pub planned: bool,
    /// How its runs ended.
    pub counts: Counts,
    /// The estimate; none without a value.
    pub estimate: Option<Estimate>,
    /// The middle half of the values, as a share of the median.
    pub spread: Option<f64>,
    /// How it compares with the best row; none for the best row itself.
    pub against_best: Option<Effect>,
    /// Doubts about this cell.
    pub caveats: Vec<Caveat>,
}

/// Judges the cells of a record by one metric. At most `most_compared` rows are compared with the best one.
pub fn answer(evidence: &Evidence, order: &[String], most_compared: usize, seed: u64) -> Answer {
    let (mut varied, common) = split_settings(evidence.cells.iter().map(|cell| &cell.settings));
    varied.sort_by_key(|name| order.iter().position(|known| known == name).unwrap_or(usize::MAX));
    let mut cells: Vec<&CellEvidence> = evidence.cells.iter().collect();
    cells.sort_by(|a, b| (!a.planned).cmp(&!b.planned).then_with(|| natural(a, b, &varied)));
    let mut rows: Vec<Row> = cells.iter().map(|cell| row(cell, &varied)).collect();
    let best = best_row(&rows, evidence.metric.better);
    if let Some((best, cell)) = best.and_then(|index| Some((index, cells.get(index)?))) {
        // A seed per cell: the best one is resampled once for all comparisons, and never in step with another.
        let seed_of = |index: usize| seed.wrapping_add(index as u64);
        let base = Sample::new(&cell.values, seed_of(best));
        for (index, (row, cell)) in rows.iter_mut().zip(&cells).enumerate().take(most_compared) {
            if index != best && row.planned {
                let other = Sample::new(&cell.values, seed_of(index));
                row.against_best = effect(&base, &other, evidence.metric.better);
            }
        }
    }
    let mut platforms: Vec<&str> = cells.iter().map(|cell| cell.cell.platform.as_str()).collect();
    platforms.sort_unstable();
    platforms.dedup();
    Answer {
        name: evidence.name.clone(),
        metric: evidence.metric.clone(),
        several_platforms: platforms.len() > 1,
        varied,
        common,
        caveats: table_caveats(evidence),
        rows,
        best,
    }
}

fn row(cell: &CellEvidence, varied: &[String]) -> Row {
    let estimate = estimate(&cell.values);
    let mut caveats = estimate.as_ref().map(|estimate| estimate.caveats.clone()).unwrap_or_default();
    if cell.counts.failed + cell.counts.timed_out > 0 {
        caveats.push(caveat(
            "failed_runs",
            "some runs failed or timed out; the estimate rests on the others",
            "`assay show --runs` tells why; `assay run --only failed` tries them again",
        ));
    }
    if cell.without > 0 {
        caveats.push(caveat(
            "metric_not_seen",
            "some runs succeeded without printing the metric",
            "check the pattern or the dialect against the run's stdout.log",
        ));
    }
    if let Some(replayed) = &cell.replayed {
        caveats.push(caveat("replayed", replayed, "run the campaign on the machine itself to measure"));
    }
    Row {
        cell: cell.cell.clone(),
        settings: varied
            .iter()
            .filter_map(|name| Some((name.clone(), cell.settings.get(name)?.clone())))
            .collect(),
        planned: cell.planned,
        counts: cell.counts,
        spread: spread(&cell.values),
        estimate,
        against_best: None,
        caveats,
    }
}

fn natural(a: &CellEvidence, b: &CellEvidence, varied: &[String]) -> std::cmp::Ordering {
    for name in varied {
        let order = match (a.settings.get(name), b.settings.get(name)) {
            (Some(a), Some(b)) => a.natural_order(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
    a.cell.cmp(&b.cell)
}

/// The planned row with the best median, if the metric has a direction and there are two rows to choose from.
fn best_row(rows: &[Row], better: Option<Direction>) -> Option<usize> {
    let better = better?;
    let candidates = rows.iter().enumerate().filter(|(_, row)| row.planned);
    let centers: Vec<(usize, f64)> =
        candidates.filter_map(|(index, row)| Some((index, row.estimate.as_ref()?.center))).collect();
    if centers.len() < 2 {
        return None;
    }
    let best = match better {
        Direction::Lower => centers.iter().min_by(|a, b| a.1.total_cmp(&b.1)),
        Direction::Higher => centers.iter().max_by(|a, b| a.1.total_cmp(&b.1)),
    };
    best.map(|(index, _)| *index)
}

fn table_caveats(evidence: &Evidence) -> Vec<Caveat> {
    let mut found = Vec::new();
    if evidence.metric.better.is_none() {
        found.push(caveat(
            "no_direction",
            "whether more or less of this metric is better is not known, so nothing is ranked",
            "give the pattern `better = \"higher\"` or `better = \"lower\"`",
        ));
    }
    if evidence.cells.iter().any(|cell| !cell.planned) {
        found.push(caveat(
            "no_longer_planned",
            "rows marked † are no longer in the campaign; their runs are kept",
            "they are not compared with the others",
        ));
    }
    found
}
