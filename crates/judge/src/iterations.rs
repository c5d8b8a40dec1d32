//! Iterations within runs: when they became steady, and whether more runs or more iterations pay.
//!
//! Iterations of one process share its memory, its placement and its neighbors. They are never counted as repeats: a run
//! gives one value, and the interval of a cell is one over runs.

use assay_model::{Settings, Status};
use assay_stats::nested::nested_variance;
use assay_stats::steady::{SeriesShape, steady_state};
use assay_store::{Index, RunFilter};
use serde::Serialize;

use crate::CONFIDENCE;
use crate::gather::JudgeError;

/// The most runs of a cell whose series are read.
const MOST_RUNS: usize = 50;

/// The iterations of one cell.
#[derive(Debug, Clone, Serialize)]
pub struct IterationStudy {
    /// The cell's settings.
    pub settings: Settings,
    /// The series' metric.
    pub metric: String,
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
    /// How many runs of this many iterations give ± 1 %; none beyond 100,000.
    pub runs_for_one_percent: Option<usize>,
    /// The number of iterations a run that is the best buy, by what a run and an iteration cost; none where runs do not
    /// differ beyond their iterations, so that more iterations are always the better buy.
    pub best_iterations: Option<usize>,
    /// Iterations a run now.
    pub iterations: f64,
}

/// Studies the series of a metric in every planned cell that has one.
pub fn iterations(index: &Index, metric: &str) -> Result<Vec<IterationStudy>, JudgeError> {
    let mut studies = Vec::new();
    for cell in index.cells()?.into_iter().filter(|cell| cell.planned) {
        let filter = RunFilter { cell: Some(cell.cell.clone()), ..RunFilter::default() };
        let (mut series, mut walls) = (Vec::new(), Vec::new());
        for run in index.runs(&filter)?.iter().filter(|run| run.current) {
            if series.len() >= MOST_RUNS || !run.status.as_ref().is_some_and(Status::is_usable) {
                continue;
            }
            let found = index.series(&run.run)?.into_iter().find(|series| series.metric == metric);
            if let Some(found) = found.filter(|found| found.values.len() > 1) {
                walls.extend(run.usage.as_ref().map(|usage| usage.wall_s));
                series.push(found.values);
            }
        }
        studies.extend(study(cell.settings, metric, &series, &walls));
    }
    Ok(studies)
}

/// Studies the series of the runs of one cell. `walls` are the seconds that the runs took in all, where known.
pub fn study(settings: Settings, metric: &str, series: &[Vec<f64>], walls: &[f64]) -> Option<IterationStudy> {
    let mut study = IterationStudy {
        settings,
        metric: metric.to_owned(),
        runs: series.len(),
        iterations: series.iter().map(Vec::len).sum(),
        warming_up: 0,
        slowing_down: 0,
        unsteady: 0,
        cut: 0,
        mean_with: mean(series.iter().flatten().copied())?,
        mean_without: None,
        levels: None,
    };
    let mut steady: Vec<&[f64]> = Vec::new();
    for values in series {
        let Some(state) = steady_state(values) else {
            // Too short to classify: taken as it is.
            steady.push(values);
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
    study.levels = levels(&steady, walls);
    Some(study)
}

fn levels(steady: &[&[f64]], walls: &[f64]) -> Option<Levels> {
    let nested = nested_variance(steady, CONFIDENCE)?;
    let center = nested.mean.center;
    // What a run costs beside its iterations: its start, its warm-up, its end.
    let iteration = center;
    let wall = mean(walls.iter().copied());
    let start = wall.map(|wall| (wall - iteration * nested.iterations).max(0.0));
    let best = start.and_then(|start| nested.best_iterations(start, iteration));
    Some(Levels {
        share_between_runs: nested.share_between()?,
        half_width: (nested.mean.high - nested.mean.low) / 2.0 / center.abs(),
        runs_for_one_percent: nested.jobs_needed(0.01 * center.abs()),
        best_iterations: best,
        iterations: nested.iterations,
    })
    .filter(|levels| levels.half_width.is_finite())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0 && sum.is_finite()).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(level: f64, cold: usize) -> Vec<f64> {
        let ripple = |index: usize| 0.002 * (index * 7 % 5) as f64;
        (0..60).map(|index| level * (1.0 + ripple(index)) * if index < cold { 3.0 } else { 1.0 }).collect()
    }

    #[test]
    fn warm_up_is_cut_and_counted() {
        let study = study(Settings::new(), "time.iteration", &[run(1.0, 10), run(1.0, 10)], &[]).unwrap();
        assert_eq!((study.warming_up, study.cut, study.iterations), (2, 20, 120));
        assert!(study.mean_with > 1.3 && study.mean_without.unwrap() < 1.01);
    }

    #[test]
    fn variance_between_runs_asks_for_more_runs() {
        let runs: Vec<Vec<f64>> = [1.0, 1.1, 0.95, 1.05, 0.9].map(|level| run(level, 0)).into();
        let study = study(Settings::new(), "time.iteration", &runs, &[61.0; 5]).unwrap();
        let levels = study.levels.unwrap();
        assert!(levels.share_between_runs > 0.95 && levels.half_width > 0.05, "{levels:?}");
        assert!(levels.runs_for_one_percent.unwrap() > 50);
        // Runs differ, iterations hardly do: one iteration a run is the best buy.
        assert_eq!(levels.best_iterations, Some(1));
    }

    #[test]
    fn nothing_is_said_about_nothing() {
        assert!(study(Settings::new(), "time.iteration", &[], &[]).is_none());
        let one = study(Settings::new(), "time.iteration", &[run(1.0, 0)], &[]).unwrap();
        assert_eq!(one.levels, None);
    }
}
