//! Two records, cell by cell.

use assay_model::{Caveat, Estimate, Metric, Settings};
use assay_stats as stats;
use serde::Serialize;

use crate::answer::not_compared;
use crate::estimate::{caveat, estimate};
use crate::gather::{CellEvidence, Evidence, JudgeError, by_key, split_settings};
use crate::same_work;
use crate::verdict::{Effect, Sample, effect};

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
    /// Doubts about the whole table.
    pub caveats: Vec<Caveat>,
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
    /// The p-value after Holm's correction for the number of rows.
    pub adjusted_p: Option<f64>,
}

/// Compares two records by one metric. Cells are matched by point and platform; where platforms differ, by point;
/// where no point is the same (an edited command), by equal settings, with a caveat.
pub fn compare(base: &Evidence, other: &Evidence, seed: u64) -> Result<Comparison, JudgeError> {
    let (pairs, mut caveats) = matched(base, other);
    if pairs.is_empty() {
        return Err(JudgeError::NothingInCommon { a: base.name.clone(), b: other.name.clone() });
    }
    let (varied, _) = split_settings(pairs.iter().map(|(cell, _)| &cell.settings));
    // A seed per cell, so that no two are resampled in step.
    let seed_of = |cell: usize| seed.wrapping_add(cell as u64);
    let mut rows: Vec<ComparisonRow> = pairs
        .iter()
        .enumerate()
        .map(|(index, (a, b))| ComparisonRow {
            settings: varied
                .iter()
                .filter_map(|name| Some((name.clone(), a.settings.get(name)?.clone())))
                .collect(),
            platforms: (a.cell.platform.clone(), b.cell.platform.clone()),
            base: estimate(&a.values),
            other: estimate(&b.values),
            effect: match same_work::difference(&a.work(), &b.work()) {
                Some(why) => {
                    caveats.push(not_compared(&why));
                    None
                }
                None => effect(
                    &Sample::new(&a.values, seed_of(2 * index)),
                    &Sample::new(&b.values, seed_of(2 * index + 1)),
                    &base.metric,
                ),
            },
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

/// Holm's correction over all rows that have a p-value.
fn adjust(rows: &mut [ComparisonRow]) {
    let raw: Vec<f64> = rows.iter().filter_map(|row| row.effect.as_ref()?.p).collect();
    let mut adjusted = stats::holm(&raw).unwrap_or_default().into_iter();
    for row in rows {
        if row.effect.as_ref().is_some_and(|effect| effect.p.is_some()) {
            row.adjusted_p = adjusted.next();
        }
    }
}
