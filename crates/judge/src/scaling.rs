//! One record as a scaling study: how a rate grows with one setting, such as the number of tasks.

use assay_model::{Caveat, CellId, Direction, Estimate, Metric, Settings};
use assay_stats::Family;
use assay_stats::scaling::efficiency;
use serde::Serialize;

use crate::gather::{CellEvidence, Evidence, split_settings};
use crate::law::{self, FittedLaw};
use crate::verdict::{CellSample, Effect, effect_in};

/// A record as a scaling study.
#[derive(Debug, Clone, Serialize)]
pub struct Scaling {
    /// The record's name.
    pub name: String,
    /// The rate.
    pub metric: Metric,
    /// The setting that counts workers.
    pub over: String,
    /// The other settings in which cells differ.
    pub others: Vec<String>,
    /// The rows: for each combination of the other settings, from few workers to many.
    pub rows: Vec<ScalingRow>,
    /// The law that describes each combination best, or why there is none.
    pub laws: Vec<(Settings, Result<FittedLaw, String>)>,
    /// Whether the setting is a batch size: then there is a half-performance law instead of an efficiency.
    pub is_batch: bool,
}

/// One number of workers.
#[derive(Debug, Clone, Serialize)]
pub struct ScalingRow {
    /// Which cell.
    pub cell: CellId,
    /// The other settings in which cells differ.
    pub settings: Settings,
    /// Workers.
    pub workers: f64,
    /// The estimate; none without a value.
    pub estimate: Option<Estimate>,
    /// The rate by that of the fewest workers; none for those themselves.
    pub speedup: Option<Effect>,
    /// The share of perfect scaling: the speedup by how many times the workers there are, with its interval.
    pub efficiency: Option<Share>,
    /// Doubts.
    pub caveats: Vec<Caveat>,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// The share.
    pub center: f64,
    /// The ends of its interval, where there is one.
    pub ends: Option<(f64, f64)>,
}

/// The cells of one combination of the other settings, each with its number of workers.
type Study<'a> = (Settings, Vec<(f64, &'a CellEvidence)>);

/// What a cell is called by one of its parts.
type Part = fn(&CellEvidence) -> &str;

/// Looks at a record as a scaling study over a setting; none if the metric is not a rate, or cells do not differ in the
/// setting.
pub fn scaling(evidence: &Evidence, over: &str, order: &[String]) -> Option<Scaling> {
    if evidence.metric.better != Some(Direction::Higher) {
        return None;
    }
    let is_batch = is_batch(over);
    let cells: Vec<&CellEvidence> = evidence.cells.iter().filter(|cell| cell.planned).collect();
    let (mut others, _) = split_settings(cells.iter().map(|cell| &cell.settings));
    if !others.iter().any(|name| name == over) {
        return None;
    }
    others.retain(|name| name != over && !is_tied(&cells, over, name));
    others.sort_by_key(|name| order.iter().position(|known| known == name).unwrap_or(usize::MAX));
    let of_study: Vec<(f64, &CellEvidence)> = cells
        .into_iter()
        .filter(|cell| !cell.values.is_empty())
        .filter_map(|cell| Some((cell.settings.get(over).and_then(assay_model::Value::number)?, cell)))
        .collect();
    let different =
        |part: Part| of_study.windows(2).any(|pair| matches!(pair, [(_, a), (_, b)] if part(a) != part(b)));
    // What runs on another platform, or was read from another kind of file, is another study.
    let apart: Vec<(&str, Part)> = [
        ("platform", (|cell| cell.cell.platform.as_str()) as Part),
        ("workload", |cell| cell.workload.as_str()),
    ]
    .into_iter()
    .filter(|(_, part)| different(*part))
    .collect();
    let of_others = |cell: &CellEvidence| -> Settings {
        let named = others.iter().filter_map(|name| Some((name.clone(), cell.settings.get(name)?.clone())));
        let apart = apart.iter().map(|(name, part)| ((*name).to_owned(), part(cell).into()));
        apart.chain(named).collect()
    };
    let mut groups: Vec<Study<'_>> = Vec::new();
    for (workers, cell) in of_study.iter().copied() {
        let settings = of_others(cell);
        match groups.iter_mut().find(|(known, _)| *known == settings) {
            Some((_, group)) => group.push((workers, cell)),
            None => groups.push((settings, vec![(workers, cell)])),
        }
    }
    let (mut rows, mut laws) = (Vec::new(), Vec::new());
    for (settings, mut group) in groups {
        group.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        rows.extend(rows_of(&settings, &group, &evidence.metric, is_batch));
        laws.push((settings, law::fitted(&group, is_batch)));
    }
    let names = apart.iter().map(|(name, _)| (*name).to_owned());
    let others = names.filter(|name| !others.contains(name)).chain(others.iter().cloned()).collect();
    let (name, metric) = (evidence.name.clone(), evidence.metric.clone());
    Some(Scaling { name, metric, over: over.to_owned(), others, rows, laws, is_batch })
}

/// Whether a setting goes with the number of workers, as their threads may: each number has only one value of it.
fn is_tied(cells: &[&CellEvidence], over: &str, name: &str) -> bool {
    let pair = |cell: &CellEvidence| (cell.settings.get(over).cloned(), cell.settings.get(name).cloned());
    let pairs: Vec<_> = cells.iter().map(|cell| pair(cell)).collect();
    pairs
        .iter()
        .all(|(workers, value)| pairs.iter().all(|(other, another)| other != workers || another == value))
}

/// The rows of one combination of the other settings. The base is the smallest number of workers that has values.
fn rows_of(
    settings: &Settings,
    group: &[(f64, &CellEvidence)],
    metric: &Metric,
    is_batch: bool,
) -> Vec<ScalingRow> {
    // All rows are read together, so that their intervals must hold together.
    let family = Family::among(group.len(), crate::CONFIDENCE);
    let base = group.iter().position(|(_, cell)| !cell.values.is_empty());
    let row = |(place, (workers, cell)): (usize, &(f64, &CellEvidence))| {
        let speedup = base.filter(|base| *base != place).and_then(|base| {
            let old = CellSample::new(&group[base].1.values);
            let new = CellSample::new(&cell.values);
            effect_in(&old, &new, metric, family.as_ref()?)
        });
        let share = speedup.as_ref().zip(base).filter(|_| !is_batch).and_then(|(speedup, base)| {
            let of = |ratio: f64| efficiency(*workers, ratio, group[base].0, 1.0);
            let ends = speedup.interval.and_then(|ends| Some((of(ends.low)?, of(ends.high)?)));
            Some(Share { center: of(speedup.ratio)?, ends })
        });
        ScalingRow {
            cell: cell.cell.clone(),
            settings: settings.clone(),
            workers: *workers,
            estimate: cell.estimate(),
            speedup,
            efficiency: share,
            caveats: cell.caveats(),
        }
    };
    group.iter().enumerate().map(row).collect()
}

/// Settings that count workers, in the order in which they are looked for.
pub const WORKERS: [&str; 10] =
    ["tasks", "nodes", "devices", "gpus", "ranks", "workers", "processes", "threads", "cores", "world_size"];

/// Whether a setting is a number of samples that one step takes.
pub fn is_batch(setting: &str) -> bool {
    setting.contains("batch") && !setting.contains("test") && !setting.contains("eval")
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{PointId, Unit, Value};

    fn cell(tasks: i64, values: &[f64]) -> CellEvidence {
        let id = CellId { point: PointId(tasks.to_string()), platform: "local".to_owned() };
        let settings = [("tasks".to_owned(), Value::Integer(tasks)), ("seed".to_owned(), 1.into())].into();
        CellEvidence::new(id, "lm", settings, values.to_vec())
    }

    fn study(counts: &[i64], rate: impl Fn(f64) -> f64) -> Scaling {
        let noise = [0.99, 1.0, 1.01, 0.995, 1.005, 1.0];
        let cells = counts
            .iter()
            .map(|tasks| cell(*tasks, &noise.map(|noise| noise * rate(*tasks as f64))))
            .collect();
        let metric = Metric {
            name: "samples_per_s.loop".to_owned(),
            unit: Unit::parse("samples/s").0,
            better: Some(Direction::Higher),
        };
        let evidence = Evidence { name: "study".to_owned(), metric, cells, rate: None, of_other_studies: 0 };
        scaling(&evidence, "tasks", &[]).unwrap()
    }

    #[test]
    fn efficiency_is_the_speedup_by_how_many_times_the_workers_there_are() {
        let study = study(&[4, 1, 2], |tasks| if tasks > 2.0 { 200.0 } else { 100.0 * tasks });
        let workers: Vec<f64> = study.rows.iter().map(|row| row.workers).collect();
        assert_eq!(workers, [1.0, 2.0, 4.0]);
        assert!(study.rows[0].speedup.is_none() && study.rows[0].efficiency.is_none());
        let share = |row: usize| study.rows[row].efficiency.unwrap();
        assert!((share(1).center - 1.0).abs() < 0.02 && (share(2).center - 0.5).abs() < 0.01);
        let (low, high) = share(2).ends.unwrap();
        assert!(low < 0.5 && high > 0.5 && high < 0.53, "{low} {high}");
        assert!(study.laws[0].1.as_ref().unwrap_err().contains("there are 3"));
    }

    #[test]
    fn settings_that_go_with_the_workers_make_no_studies_of_their_own() {
        let cells: Vec<CellEvidence> = [(1, 1), (2, 2), (4, 2)]
            .map(|(tasks, threads)| {
                let mut cell = cell(tasks, &[100.0; 6]);
                cell.settings.insert("threads".to_owned(), Value::Integer(threads));
                cell
            })
            .into();
        let cells: Vec<&CellEvidence> = cells.iter().collect();
        assert!(is_tied(&cells, "tasks", "threads"));
        assert!(!is_tied(&cells, "threads", "tasks"));
    }

    #[test]
    fn six_counts_give_a_law() {
        let rate = |tasks: f64| 100.0 * tasks / (1.0 + 0.1 * (tasks - 1.0));
        let study = study(&[1, 2, 3, 4, 6, 8], rate);
        let law = study.laws[0].1.as_ref().unwrap();
        assert!((law.contention.center - 0.1).abs() < 0.02 && law.determination > 0.99, "{law:?}");
    }

    #[test]
    fn a_time_is_no_rate() {
        let metric =
            Metric { name: "wall".to_owned(), unit: Unit::parse("s").0, better: Some(Direction::Lower) };
        let evidence = Evidence {
            name: "study".to_owned(),
            metric,
            cells: vec![cell(1, &[1.0]), cell(2, &[1.0])],
            rate: None,
            of_other_studies: 0,
        };
        assert!(scaling(&evidence, "tasks", &[]).is_none());
    }
}
