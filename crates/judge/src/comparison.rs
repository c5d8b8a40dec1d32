//! Two records, cell by cell.

use assay_model::{Caveat, Direction, Estimate, Metric, Settings};
use assay_stats as stats;
use serde::Serialize;

use crate::answer::not_compared;
use crate::estimate::caveat;
use crate::gather::{CellEvidence, Evidence, JudgeError, by_key, split_settings, without};
use crate::same_work;
use crate::verdict::{CellSample, Effect, correct, effect};

/// How a record compares with a base.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The base record's name.
    pub base: String,
    /// The other record's name.
    pub other: String,
    /// The metric.
    pub metric: Metric,
    /// The settings in which the common cells differ.
    pub varied: Vec<String>,
    /// Cells in both.
    pub rows: Vec<ComparisonRow>,
    /// Cells only in the base.
    pub only_base: usize,
    /// Cells only in the other.
    pub only_other: usize,
    /// The ratios of all cells together; none for a single cell.
    pub overall: Option<Overall>,
    /// Doubts about the whole table.
    pub caveats: Vec<Caveat>,
}

/// The geometric mean of the ratios of all cells that both records have, and what it hides.
#[derive(Debug, Clone, Serialize)]
pub struct Overall {
    /// The geometric mean.
    pub ratio: f64,
    /// Its 95 % interval over cells, Student's on logarithms, from 4 cells on.
    pub interval: Option<(f64, f64)>,
    /// How many cells it covers.
    pub cells: usize,
    /// The worst cell.
    pub worst: WorstCell,
}

/// The cell with the worst ratio.
#[derive(Debug, Clone, Serialize)]
pub struct WorstCell {
    /// Its ratio.
    pub ratio: f64,
    /// Its settings.
    pub settings: Settings,
}

/// One cell in both records.
#[derive(Debug, Clone, Serialize)]
pub struct ComparisonRow {
    /// The settings in which the cells differ.
    pub settings: Settings,
    /// The platforms, base and other.
    pub platforms: (String, String),
    /// The base's estimate.
    pub base: Option<Estimate>,
    /// The other's estimate.
    pub other: Option<Estimate>,
    /// How they compare; none if one has no value.
    pub effect: Option<Effect>,
    /// The difference in the metric's own unit: the median of all differences of two runs (Hodges and Lehmann), with its
    /// interval. None below 4 runs a side.
    pub shift: Option<Shift>,
    /// Cliff's δ: the share of pairs of runs in which the other is higher, minus that in which it is lower.
    pub dominance: Option<f64>,
    /// The p-value after Holm's correction for the number of rows; a row that it does not pass is unclear.
    pub adjusted_p: Option<f64>,
}

/// A difference with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shift {
    /// The difference, other minus base.
    pub center: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Compares two records by one metric. Cells are matched by point and platform; where platforms differ, by point;
/// where no point is the same (an edited command), by equal settings, with a caveat. Where settings are ignored, cells
/// are matched by the others.
pub fn compare(base: &Evidence, other: &Evidence, ignored: &[String]) -> Result<Comparison, JudgeError> {
    same_units(base, other)?;
    let (pairs, mut caveats) = if ignored.is_empty() {
        matched(base, other)
    } else {
        let key =
            |cell: &CellEvidence| format!("{:?} {}", without(&cell.settings, ignored), cell.cell.platform);
        (join(base, other, key), Vec::new())
    };
    if pairs.is_empty() {
        return Err(JudgeError::NothingInCommon { a: base.name.clone(), b: other.name.clone() });
    }
    let kept: Vec<Settings> = pairs.iter().map(|(cell, _)| without(&cell.settings, ignored)).collect();
    let (varied, _) = split_settings(kept.iter());
    let mut rows: Vec<ComparisonRow> = pairs
        .iter()
        .map(|(a, b)| ComparisonRow {
            settings: varied
                .iter()
                .filter_map(|name| Some((name.clone(), a.settings.get(name)?.clone())))
                .collect(),
            platforms: (a.cell.platform.clone(), b.cell.platform.clone()),
            base: a.estimate(),
            other: b.estimate(),
            effect: match not_comparable(a, b, &base.metric) {
                Some(why) => {
                    caveats.push(not_compared(&why));
                    None
                }
                None => effect(&CellSample::new(&a.values), &CellSample::new(&b.values), &base.metric),
            },
            shift: stats::hodges_lehmann_interval(&a.values, &b.values, crate::CONFIDENCE)
                .map(|found| Shift { center: found.center, low: found.low, high: found.high }),
            dominance: stats::cliffs_delta(&a.values, &b.values),
            adjusted_p: None,
        })
        .collect();
    adjust(&mut rows);
    rows.sort_by(|a, b| {
        let differing = varied.iter().map(|name| match (a.settings.get(name), b.settings.get(name)) {
            (Some(a), Some(b)) => a.natural_order(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        differing.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    Ok(Comparison {
        overall: overall(&rows, &base.metric),
        base: base.name.clone(),
        other: other.name.clone(),
        metric: base.metric.clone(),
        varied,
        only_base: base.cells.len() - rows.len(),
        only_other: other.cells.len() - rows.len(),
        rows,
        caveats,
    })
}

/// Why two cells must not be compared by a metric.
pub(crate) fn not_comparable(a: &CellEvidence, b: &CellEvidence, metric: &Metric) -> Option<String> {
    same_work::difference(&a.work(), &b.work()).or_else(|| same_work::unequal(&a.work(), &b.work(), metric))
}

/// Numbers in different units have no ratio.
pub(crate) fn same_units(base: &Evidence, other: &Evidence) -> Result<(), JudgeError> {
    let (a, b) = (&base.metric.unit, &other.metric.unit);
    let has_values = |evidence: &Evidence| evidence.cells.iter().any(|cell| !cell.values.is_empty());
    if a == b || !has_values(base) || !has_values(other) {
        return Ok(());
    }
    Err(JudgeError::DifferentUnits { metric: base.metric.name.clone(), a: a.to_string(), b: b.to_string() })
}

type Pairs<'a> = Vec<(&'a CellEvidence, &'a CellEvidence)>;

fn matched<'a>(base: &'a Evidence, other: &'a Evidence) -> (Pairs<'a>, Vec<Caveat>) {
    let exact = join(base, other, |cell| cell.cell.to_string());
    if !exact.is_empty() {
        return (exact, Vec::new());
    }
    let by_point = join(base, other, |cell| cell.cell.point.to_string());
    if !by_point.is_empty() {
        return (by_point, Vec::new());
    }
    let by_settings = join(base, other, |cell| format!("{:?}", cell.settings));
    let doubt = caveat(
        "workload_differs",
        "the commands of the two records differ: cells were matched by their settings alone",
        "make sure that both do the same work, or the ratio means nothing",
    );
    (by_settings, vec![doubt])
}

fn join<'a>(base: &'a Evidence, other: &'a Evidence, key: impl Fn(&CellEvidence) -> String) -> Pairs<'a> {
    let others = by_key(&other.cells, &key);
    by_key(&base.cells, &key).into_iter().filter_map(|(key, cell)| Some((cell, *others.get(&key)?))).collect()
}

/// The fewest cells over which an interval is worth printing.
const FEWEST_CELLS: usize = 4;

fn overall(rows: &[ComparisonRow], metric: &Metric) -> Option<Overall> {
    let known: Vec<(&ComparisonRow, f64)> =
        rows.iter().filter_map(|row| Some((row, row.effect.as_ref()?.ratio))).collect();
    let ratios: Vec<f64> = known.iter().map(|(_, ratio)| *ratio).collect();
    let summary = stats::geometric_summary(&ratios).filter(|summary| summary.count > 1)?;
    let worst = if metric.better? == Direction::Lower { summary.highest } else { summary.lowest };
    let (row, ratio) = known.get(worst)?;
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let interval =
        stats::mean_interval(&logarithms, crate::CONFIDENCE).filter(|_| ratios.len() >= FEWEST_CELLS);
    Some(Overall {
        ratio: summary.center,
        interval: interval.map(|interval| (interval.low.exp(), interval.high.exp())),
        cells: summary.count,
        worst: WorstCell { ratio: *ratio, settings: row.settings.clone() },
    })
}

/// Holm's correction over all rows that have a p-value.
fn adjust(rows: &mut [ComparisonRow]) {
    let mut effects: Vec<&mut Effect> = rows.iter_mut().filter_map(|row| row.effect.as_mut()).collect();
    let mut corrected = correct(&mut effects).into_iter();
    for row in rows.iter_mut().filter(|row| row.effect.is_some()) {
        row.adjusted_p = corrected.next().flatten();
    }
}
