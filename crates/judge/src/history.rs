//! The newest record of a cell against the noise that its earlier records show.

use std::collections::BTreeMap;

use assay_model::{Direction, Estimate, Metric, Settings, Verdict};
use assay_stats::change_point::{ChangePointSearch, change_points};
use assay_stats::history::{MINIMUM_CHANGES, WINDOW, threshold};
use serde::Serialize;

use crate::comparison::same_units;
use crate::estimate::median;
use crate::gather::{Evidence, JudgeError, split_settings, without};
use crate::verdict::{CellSample, Effect, correct, effect};

/// The fewest values of a segment between two change points.
const SHORTEST_SEGMENT: usize = 3;

/// The newest of several records against those before it.
#[derive(Debug, Clone, Serialize)]
pub struct History {
    /// The names of the records, oldest first; the last one is judged.
    pub records: Vec<String>,
    /// The metric.
    pub metric: Metric,
    /// The settings in which the cells differ.
    pub varied: Vec<String>,
    /// The cells of the newest record that an earlier one has, too.
    pub rows: Vec<HistoryRow>,
}

/// One cell over its records.
#[derive(Debug, Clone, Serialize)]
pub struct HistoryRow {
    /// The settings in which the cells differ.
    pub settings: Settings,
    /// The newest estimate.
    pub latest: Estimate,
    /// The median of each record, oldest first; none where a record does not have the cell.
    pub medians: Vec<Option<f64>>,
    /// The newest median over the one before it, minus 1; none where a median is not above zero.
    pub change: Option<f64>,
    /// The 95 % interval of the ratio of the two records' runs, minus 1; none below 4 runs a side.
    pub change_interval: Option<(f64, f64)>,
    /// The largest change that is usual between neighbors in this history; none where it is too short.
    pub usual: Option<f64>,
    /// The change in units of what is usual.
    pub severity: Option<f64>,
    /// Whether the change is beyond what is usual and beyond the margin, and in which direction.
    pub verdict: Verdict,
    /// Why nothing may be said, where that is so.
    pub reason: Option<String>,
    /// The records from which on the level was another one.
    pub shifts: Vec<String>,
}

/// Judges the newest of some records of the same cells, given oldest first. `ignored` settings do not distinguish cells.
///
/// A change is unusual if it is larger than Q3 + 3·IQR of the sizes of the last 30 changes between neighbors.
pub fn history(records: &[Evidence], ignored: &[String]) -> Result<History, JudgeError> {
    let [earlier @ .., newest] = records else {
        return Err(JudgeError::NothingInCommon { a: String::new(), b: String::new() });
    };
    for record in earlier {
        same_units(record, newest)?;
    }
    let key = |settings: &Settings, platform: &str| format!("{platform} {:?}", without(settings, ignored));
    let values: Vec<BTreeMap<String, &[f64]>> = records
        .iter()
        .map(|record| {
            let cells = record.cells.iter().filter(|cell| !cell.values.is_empty());
            cells.map(|cell| (key(&cell.settings, &cell.cell.platform), cell.values.as_slice())).collect()
        })
        .collect();
    let (varied, _) = split_settings(newest.cells.iter().map(|cell| &cell.settings));
    let names: Vec<String> = records.iter().map(|record| record.name.clone()).collect();
    let rows: Vec<HistoryRow> = newest
        .cells
        .iter()
        .filter_map(|cell| {
            let key = key(&cell.settings, &cell.cell.platform);
            let of_cell: Vec<Option<&[f64]>> =
                values.iter().map(|record| record.get(&key).copied()).collect();
            let settings =
                varied.iter().filter_map(|name| Some((name.clone(), cell.settings.get(name)?.clone())));
            row(settings.collect(), cell.estimate()?, &of_cell, &newest.metric, &names)
        })
        .collect();
    if rows.is_empty() {
        let earliest = earlier.last().map(|record| record.name.clone()).unwrap_or_default();
        return Err(JudgeError::NothingInCommon { a: earliest, b: newest.name.clone() });
    }
    Ok(History { records: names, metric: newest.metric.clone(), varied, rows })
}

/// Where the course of a cell over records changed: the later record of each two neighbors that differ, and how. The
/// comparisons of one course are a family (Holm), so that a long history of equal records names a change in at most one of
/// twenty cases.
pub fn changes(course: &[(usize, Vec<f64>)], metric: &Metric) -> Vec<(usize, Effect)> {
    let mut found: Vec<(usize, Effect)> = course
        .windows(2)
        .filter_map(|pair| {
            let [(_, before), (record, after)] = pair else { return None };
            Some((*record, effect(&CellSample::new(before), &CellSample::new(after), metric)?))
        })
        .collect();
    let mut effects: Vec<&mut Effect> = found.iter_mut().map(|(_, effect)| effect).collect();
    correct(&mut effects);
    found.retain(|(_, effect)| matches!(effect.verdict, Verdict::Better | Verdict::Worse));
    found
}

fn row(
    settings: Settings,
    latest: Estimate,
    values: &[Option<&[f64]>],
    metric: &Metric,
    names: &[String],
) -> Option<HistoryRow> {
    let medians: Vec<Option<f64>> = values.iter().map(|values| median((*values)?)).collect();
    let known: Vec<f64> = medians.iter().copied().flatten().collect();
    let with_values: Vec<&[f64]> = values.iter().copied().flatten().collect();
    let [.., before, newest] = with_values.as_slice() else { return None };
    let ratio = effect(&CellSample::new(before), &CellSample::new(newest), metric);
    let ends = ratio.and_then(|effect| effect.interval).map(|ends| (ends.low - 1.0, ends.high - 1.0));
    let changes = changes_of(&known);
    let change = changes.as_ref().and_then(|changes| changes.last().copied());
    let learned = changes.as_ref().and_then(|changes| threshold(changes.split_last()?.1));
    let (verdict, reason) = match (change, learned) {
        (None, _) => {
            let reason = "unknown, because changes need values above zero, and a median is not";
            (Verdict::Unclear, Some(reason.to_owned()))
        }
        (Some(_), None) => {
            let (needed, have) = (MINIMUM_CHANGES + 2, known.len());
            let reason = format!("the noise is learned from {needed} records on, and there are {have}");
            (Verdict::Unclear, Some(reason))
        }
        (Some(change), Some(usual)) if change.abs() <= usual.value.max(metric.margin()) => {
            (Verdict::Same, None)
        }
        (Some(change), Some(_)) => match (metric.better, change > 0.0) {
            (Some(Direction::Lower), true) | (Some(Direction::Higher), false) => (Verdict::Worse, None),
            (Some(_), _) => (Verdict::Better, None),
            (None, _) => (Verdict::Unclear, Some("the metric has no direction".to_owned())),
        },
    };
    let labels = names.iter().zip(&medians).filter(|(_, median)| median.is_some()).map(|(name, _)| name);
    Some(HistoryRow {
        settings,
        latest,
        change,
        change_interval: ends,
        usual: learned.map(|usual| usual.value),
        severity: learned.zip(change).and_then(|(usual, change)| usual.severity(change)),
        verdict,
        reason,
        shifts: shifts(&known, &labels.collect::<Vec<_>>()),
        medians,
    })
}

/// The changes between neighbors; none where one of the last [`WINDOW`] has no ratio.
fn changes_of(medians: &[f64]) -> Option<Vec<f64>> {
    let latest = medians.get(medians.len().saturating_sub(WINDOW + 2)..)?;
    let all_positive = latest.iter().all(|median| *median > 0.0);
    all_positive.then(|| latest.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect())
}

/// The records at which the level of a history changed, by the last [`WINDOW`] of them.
fn shifts(medians: &[f64], names: &[&String]) -> Vec<String> {
    let from = medians.len().saturating_sub(WINDOW + 1);
    let Some(latest) = medians.get(from..).filter(|latest| latest.len() >= 2 * SHORTEST_SEGMENT) else {
        return Vec::new();
    };
    let mean = latest.iter().sum::<f64>() / latest.len() as f64;
    let search = ChangePointSearch {
        penalty: 5.0 * (latest.len() as f64).ln(),
        minimum_length: SHORTEST_SEGMENT,
        // A thousandth of the level: what nobody would act upon.
        variance_floor: (0.001 * mean).powi(2),
    };
    let ends = change_points(latest, &search).unwrap_or_default();
    dated(latest, &ends).iter().filter_map(|end| names.get(from + end).map(|name| (*name).clone())).collect()
}

/// Each change at the place between its neighbors that leaves the least scatter: a segment has a least length, so that a
/// change in the newest records would be dated too early.
fn dated(values: &[f64], ends: &[usize]) -> Vec<usize> {
    let scatter = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let places = starts.zip(ends.iter().skip(1)).filter_map(|(start, end)| {
        let of = |place: &usize| {
            scatter(values.get(start..*place).unwrap_or_default())
                + scatter(values.get(*place..*end).unwrap_or_default())
        };
        (start + 1..*end).min_by(|a, b| of(a).total_cmp(&of(b)))
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::CellEvidence;
    use assay_model::{CellId, PointId, Unit};

    fn record(name: &str, median: f64) -> Evidence {
        let id = CellId { point: PointId(name.to_owned()), platform: "local".to_owned() };
        let settings = Settings::from([("size".to_owned(), 1.into()), ("binary".to_owned(), name.into())]);
        let values = [0.99, 1.0, 1.01, 1.0, 0.995, 1.005].map(|noise| noise * median).to_vec();
        let cell = CellEvidence::new(id, "command", settings, values);
        let metric = Metric { name: "time".to_owned(), unit: Unit::Seconds, better: Some(Direction::Lower) };
        Evidence { name: name.to_owned(), metric, cells: vec![cell], rate: None, of_other_studies: 0 }
    }

    fn records(newest: f64) -> Vec<Evidence> {
        let noise = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 0.99, 1.01, 1.0, 1.01, 1.0, 0.99];
        let mut all: Vec<Evidence> =
            noise.iter().enumerate().map(|(index, level)| record(&format!("r{index}"), *level)).collect();
        all.push(record("new", newest));
        all
    }

    #[test]
    fn a_change_beyond_the_usual_noise_is_named() {
        let ignored = ["binary".to_owned()];
        let judged = |newest| history(&records(newest), &ignored).unwrap().rows[0].verdict;
        assert_eq!(judged(1.01), Verdict::Same);
        assert_eq!(judged(1.3), Verdict::Worse);
        assert_eq!(judged(0.7), Verdict::Better);
    }

    #[test]
    fn a_short_history_teaches_nothing_and_says_so() {
        let all = records(1.3);
        let short = history(&all[8..], &["binary".to_owned()]).unwrap();
        assert_eq!(short.rows[0].verdict, Verdict::Unclear);
        assert!(short.rows[0].reason.as_ref().unwrap().contains("12 records"));
        // Without ignoring the setting that always differs there is nothing to compare.
        assert!(history(&all, &[]).is_err());
    }

    #[test]
    fn a_change_has_an_interval_and_values_of_zero_have_no_change() {
        let ignored = ["binary".to_owned()];
        let found = history(&records(1.3), &ignored).unwrap();
        let (low, high) = found.rows[0].change_interval.unwrap();
        let change = found.rows[0].change.unwrap();
        assert!(low < change && change < high && low > 0.2 && high < 0.4, "{low} {change} {high}");
        let mut all = records(1.0);
        for record in &mut all {
            record.cells[0].values.fill(0.0);
        }
        let row = &history(&all, &ignored).unwrap().rows[0];
        assert_eq!((row.verdict, row.change, row.severity), (Verdict::Unclear, None, None));
        assert!(row.reason.as_ref().unwrap().contains("above zero"), "{:?}", row.reason);
    }

    #[test]
    fn changes_between_neighbors_are_named_with_the_later_record() {
        let values =
            |level: f64| [0.99, 1.0, 1.01, 1.0, 0.995, 1.005, 1.002, 0.998].map(|noise| noise * level);
        let course: Vec<(usize, Vec<f64>)> = [1.0, 1.0, 1.3, 1.3]
            .iter()
            .enumerate()
            .map(|(place, level)| (place, values(*level).to_vec()))
            .collect();
        let metric = &record("r", 1.0).metric;
        let found = changes(&course, metric);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0, found[0].1.verdict), (2, Verdict::Worse));
        assert!(changes(&course[..2], metric).is_empty());
    }

    #[test]
    fn a_level_that_stayed_is_dated() {
        let mut all = records(1.3);
        all.extend(
            [1.31, 1.3, 1.29, 1.3].iter().enumerate().map(|(i, level)| record(&format!("n{i}"), *level)),
        );
        let found = history(&all, &["binary".to_owned()]).unwrap();
        assert_eq!(found.rows[0].shifts, ["new"]);
        // The newest record alone is on another level.
        let found = history(&records(1.3), &["binary".to_owned()]).unwrap();
        assert_eq!(found.rows[0].shifts, ["new"]);
        assert!(history(&records(1.0), &["binary".to_owned()]).unwrap().rows[0].shifts.is_empty());
    }
}
