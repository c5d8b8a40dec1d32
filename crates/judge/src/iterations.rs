//! Iterations within runs: when they became steady, and whether more runs or more iterations pay.
//!
//! Iterations of one process share its memory, its placement and its neighbors. They are never counted as repeats: a run
//! gives one value, and the interval of a cell is one over runs.

use assay_model::{CellId, Settings, Status, Unit};
use assay_stats::nested::{NestedVariance, nested_variance};
use assay_stats::steady::{SeriesShape, steady_state};
use assay_stats::{first_is_outlier, median};
use assay_store::{Index, RunFilter};
use serde::Serialize;

use crate::CONFIDENCE;
use crate::gather::JudgeError;

/// The fewest iterations of a run whose first one may be cut.
const FEWEST_TO_CUT: usize = 5;
/// The fewest runs that anybody is advised to make: with fewer there is no interval of 95 %.
const FEWEST_RUNS: usize = 6;
/// The most runs of a cell whose series are read.
const MOST_RUNS: usize = 50;

/// The iterations of one cell.
#[derive(Debug, Clone, Serialize)]
pub struct IterationStudy {
    /// Which cell.
    pub cell: CellId,
    /// The cell's settings.
    pub settings: Settings,
    /// The series' metric.
    pub metric: String,
    /// The unit of its values, as the runs have it.
    pub unit: Unit,
    /// How many runs have a series.
    pub runs: usize,
    /// How many iterations there are in all.
    pub iterations: usize,
    /// Runs that were higher before they became steady.
    pub warming_up: usize,
    /// Runs that were lower before they became steady.
    pub slowing_down: usize,
    /// Runs that never became steady.
    pub unsteady: usize,
    /// Iterations before the steady state, over all runs that reached one.
    pub cut: usize,
    /// The mean over all iterations.
    pub mean_with: f64,
    /// The mean over the iterations of the steady state; none where no run has one.
    pub mean_without: Option<f64>,
    /// Where the variance lives; none for fewer than two runs of two steady iterations.
    pub levels: Option<Levels>,
}

/// Where the variance of a cell lives, after Kalibera and Jones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Levels {
    /// The share of the variance of one iteration that lies between runs.
    pub share_between_runs: f64,
    /// How far the mean is known with the runs there are, as a share.
    pub half_width: f64,
    /// Iterations a run now.
    pub iterations: f64,
    /// What reaches the precision at the least cost; none beyond 100,000 runs.
    pub advice: Option<Advice>,
}

/// How often to repeat which level for a precision, at the least cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Advice {
    /// The half-width of the interval as a share of the mean: what the campaign asks for, or else 1 %.
    pub precision: f64,
    /// Runs in all.
    pub runs: usize,
    /// Steady iterations of each.
    pub iterations: usize,
    /// About how long all of them take, if it is known what a run takes.
    pub seconds: Option<f64>,
}

/// What a run takes.
#[derive(Debug, Clone, Copy)]
struct Costs {
    /// Besides its iterations.
    start_s: f64,
    /// Each iteration.
    iteration_s: f64,
}

/// What is aimed at where a campaign asks for no precision.
const USUAL_PRECISION: f64 = 0.01;
/// Nobody runs more iterations than this many times those they have to save runs.
const MOST_TIMES: f64 = 100.0;

/// Studies the series of a metric in every planned cell that has one.
pub fn iterations(index: &Index, metric: &str) -> Result<Vec<IterationStudy>, JudgeError> {
    let mut studies = Vec::new();
    let precision = index.summary()?.plan.and_then(|plan| plan.precision).unwrap_or(USUAL_PRECISION);
    for cell in index.cells()?.into_iter().filter(|cell| cell.planned) {
        let filter = RunFilter { cell: Some(cell.cell.clone()), ..RunFilter::default() };
        let (mut series, mut walls, mut unit) = (Vec::new(), Vec::new(), None);
        for run in index.runs(&filter)?.iter().filter(|run| run.current) {
            if series.len() >= MOST_RUNS || !run.status.as_ref().is_some_and(Status::is_usable) {
                continue;
            }
            let found = index.series(&run.run)?.into_iter().find(|series| series.metric == metric);
            if let Some(found) = found.filter(|found| found.values.len() > 1) {
                walls.extend(run.usage.as_ref().map(|usage| usage.wall_s));
                unit.get_or_insert(found.unit);
                series.push(found.values);
            }
        }
        if let Some(unit) = unit {
            let empty = IterationStudy::empty(cell.cell, cell.settings, metric, unit);
            studies.extend(study(empty, &series, &walls, precision));
        }
    }
    Ok(studies)
}

impl IterationStudy {
    /// A study that has seen no series so far.
    pub fn empty(cell: CellId, settings: Settings, metric: &str, unit: Unit) -> IterationStudy {
        IterationStudy {
            cell,
            settings,
            metric: metric.to_owned(),
            unit,
            runs: 0,
            iterations: 0,
            warming_up: 0,
            slowing_down: 0,
            unsteady: 0,
            cut: 0,
            mean_with: 0.0,
            mean_without: None,
            levels: None,
        }
    }
}

/// Studies the series of the runs of one cell. `walls` are the seconds that the runs took in all, where known.
pub fn study(
    empty: IterationStudy,
    series: &[Vec<f64>],
    walls: &[f64],
    precision: f64,
) -> Option<IterationStudy> {
    let mut study = IterationStudy {
        runs: series.len(),
        iterations: series.iter().map(Vec::len).sum(),
        mean_with: mean(series.iter().flatten().copied())?,
        ..empty
    };
    let mut steady: Vec<&[f64]> = Vec::new();
    for values in series {
        let Some(state) = steady_state(values) else {
            // Too short to look for levels: only a first iteration that is far from the others is cut.
            let start = usize::from(values.len() >= FEWEST_TO_CUT && first_is_outlier(values));
            study.cut += start;
            match values.first().zip(median(values)) {
                Some((first, middle)) if start == 1 && *first > middle => study.warming_up += 1,
                _ => study.slowing_down += start,
            }
            steady.push(values.get(start..).unwrap_or_default());
            continue;
        };
        match state.shape {
            SeriesShape::Unsteady => {
                study.unsteady += 1;
                continue;
            }
            SeriesShape::Warmup => study.warming_up += 1,
            SeriesShape::Slowdown => study.slowing_down += 1,
            SeriesShape::Flat => {}
        }
        study.cut += state.start;
        steady.push(&values[state.start..]);
    }
    study.mean_without = mean(steady.iter().flat_map(|values| values.iter().copied()));
    study.levels = levels(&steady, walls, &study.unit, precision);
    Some(study)
}

/// What a run's iterations come to: the mean of those of its steady state, of all where it has none.
pub fn steady_mean(values: &[f64]) -> Option<f64> {
    let start = match steady_state(values) {
        Some(state) if state.shape == SeriesShape::Unsteady => 0,
        Some(state) => state.start,
        None => usize::from(values.len() >= FEWEST_TO_CUT && first_is_outlier(values)),
    };
    mean(values.get(start..)?.iter().copied())
}

fn levels(steady: &[&[f64]], walls: &[f64], unit: &Unit, precision: f64) -> Option<Levels> {
    let nested = nested_variance(steady, CONFIDENCE)?;
    let center = nested.mean.center;
    // What a run costs beside its iterations: its start, its warm-up, its end. Only times say what an iteration costs.
    let wall = mean(walls.iter().copied()).filter(|_| *unit == Unit::Seconds);
    // A program whose iterations are longer than its runs reports something other than what they take.
    let start = wall.map(|wall| wall - center * nested.iterations).filter(|start| *start >= 0.0);
    let costs = start.map(|start_s| Costs { start_s, iteration_s: center });
    Some(Levels {
        share_between_runs: nested.share_between()?,
        half_width: (nested.mean.high - nested.mean.low) / 2.0 / center.abs(),
        iterations: nested.iterations,
        advice: advice(&nested, costs, precision),
    })
    .filter(|levels| levels.half_width.is_finite())
}

/// The number of iterations that pays best by the costs, and the runs that the precision takes with it. Where runs do not
/// differ beyond their iterations, more iterations always pay; they stop where six runs, the least for an interval of
/// 95 % by ranks, are enough. Without known costs the iterations stay what they are.
fn advice(nested: &NestedVariance, costs: Option<Costs>, precision: f64) -> Option<Advice> {
    let half_width = precision * nested.mean.center.abs();
    let now = nested.iterations.round().max(1.0);
    let most = (now * MOST_TIMES) as usize;
    let best = costs.and_then(|costs| nested.best_iterations(costs.start_s, costs.iteration_s));
    let iterations = match (best, costs) {
        (Some(best), _) => best.clamp(1, most),
        (None, Some(_)) if nested.between <= 0.0 => {
            let enough = |count: &usize| {
                nested.jobs_needed(*count as f64, half_width).is_some_and(|runs| runs <= FEWEST_RUNS)
            };
            let doubled = std::iter::successors(Some(now as usize), |count| Some(count * 2));
            doubled.take_while(|count| *count <= most).find(enough).unwrap_or(most)
        }
        _ => now as usize,
    };
    let runs = nested.jobs_needed(iterations as f64, half_width)?.max(FEWEST_RUNS);
    let seconds = costs.map(|costs| runs as f64 * (costs.start_s + iterations as f64 * costs.iteration_s));
    Some(Advice { precision, runs, iterations, seconds })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0 && sum.is_finite()).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::PointId;

    fn empty() -> IterationStudy {
        let cell = CellId { point: PointId("cell".to_owned()), platform: "local".to_owned() };
        IterationStudy::empty(cell, Settings::new(), "time.iteration", Unit::Seconds)
    }

    #[test]
    fn a_cold_first_iteration_of_a_short_run_is_cut() {
        let cold = vec![1763.3, 139.6, 139.6, 139.4, 139.9, 139.3, 139.4, 139.6, 139.3, 139.7];
        let found = study(empty(), std::slice::from_ref(&cold), &[], 0.01).unwrap();
        assert_eq!((found.warming_up, found.cut), (1, 1));
        assert!(found.mean_with > 300.0 && found.mean_without.unwrap() < 140.0);
        let warm = study(empty(), &[cold[1..].to_vec()], &[], 0.01).unwrap();
        assert_eq!((warm.warming_up, warm.cut), (0, 0));
    }

    #[test]
    fn the_value_of_a_run_is_the_mean_of_its_steady_iterations() {
        let cold = [9.0, 1.0, 1.1, 0.9, 1.0, 1.05, 0.95];
        assert!((steady_mean(&cold).unwrap() - 1.0).abs() < 1e-12);
        assert!((steady_mean(&run(2.0, 15)).unwrap() - 2.008).abs() < 0.01);
        assert_eq!((steady_mean(&[3.0]), steady_mean(&[])), (Some(3.0), None));
    }

    fn run(level: f64, cold: usize) -> Vec<f64> {
        let ripple = |index: usize| 0.002 * (index * 7 % 5) as f64;
        (0..60).map(|index| level * (1.0 + ripple(index)) * if index < cold { 3.0 } else { 1.0 }).collect()
    }

    #[test]
    fn warm_up_is_cut_and_counted() {
        let study = study(empty(), &[run(1.0, 10), run(1.0, 10)], &[], 0.01).unwrap();
        assert_eq!((study.warming_up, study.cut, study.iterations), (2, 20, 120));
        assert!(study.mean_with > 1.3 && study.mean_without.unwrap() < 1.01);
    }

    #[test]
    fn variance_between_runs_asks_for_more_runs() {
        let runs: Vec<Vec<f64>> = [1.0, 1.1, 0.95, 1.05, 0.9].map(|level| run(level, 0)).into();
        let study = study(empty(), &runs, &[61.0; 5], 0.01).unwrap();
        let levels = study.levels.unwrap();
        assert!(levels.share_between_runs > 0.95 && levels.half_width > 0.05, "{levels:?}");
        // Runs differ, iterations hardly do: one iteration a run is the best buy.
        let advice = levels.advice.unwrap();
        assert!(advice.iterations == 1 && advice.runs > 50, "{advice:?}");
        let coarse = super::study(empty(), &runs, &[61.0; 5], 0.05).unwrap().levels.unwrap().advice.unwrap();
        assert!(coarse.precision == 0.05 && coarse.runs < advice.runs / 4, "{coarse:?}");
    }

    #[test]
    fn nothing_is_said_about_nothing() {
        assert!(study(empty(), &[], &[], 0.01).is_none());
        let one = study(empty(), &[run(1.0, 0)], &[], 0.01).unwrap();
        assert_eq!(one.levels, None);
    }
}
