//! One run on one screen: how its metrics went and where they ended, its pace, and what looks wrong.

use assay_model::{Direction, Observation, Origin, ReadRun, Series, Unit, names};

use super::series::{course, ends};
use crate::block::TerminalBlock;
use crate::number::{duration, fact};
use crate::table::{Cell, Column, Table, Tone};
use crate::words::clean;

/// Metrics on the first screen.
const MOST_METRICS: usize = 10;
/// Columns of a curve.
const CURVE: usize = 24;
/// A loss that has not improved over this share of its run has stopped improving.
const PLATEAU: f64 = 0.4;
/// The fewest values that say something about a course.
const FEWEST: usize = 10;

/// Names that say what is better, by their first word, where the list of canonical names does not know them.
const LOWER: [&str; 17] = [
    "loss",
    "nll",
    "log_loss",
    "rmse",
    "mse",
    "mae",
    "mape",
    "error",
    "wer",
    "cer",
    "perplexity",
    "latency",
    "duration",
    "ttft",
    "tpot",
    "memory",
    "residual",
];
const HIGHER: [&str; 20] = [
    "accuracy",
    "f1",
    "precision",
    "recall",
    "auc",
    "map",
    "map50",
    "map50_95",
    "iou",
    "dice",
    "bleu",
    "rouge",
    "exact_match",
    "reward",
    "return",
    "score",
    "r2",
    "ndcg",
    "throughput",
    "bandwidth",
];

/// Which direction is better for a metric, where that can be said.
pub fn better(metric: &str) -> Option<Direction> {
    let base = metric.split('.').next().unwrap_or(metric);
    if LOWER.contains(&base) {
        return Some(Direction::Lower);
    }
    if HIGHER.contains(&base) || base.ends_with("_per_s") || base.ends_with("_throughput") {
        return Some(Direction::Higher);
    }
    names::METRICS
        .iter()
        .find(|known| known.name == metric || known.name == base)
        .and_then(|known| known.better)
}

/// The digest of a run.
pub fn blocks(run: &ReadRun) -> Vec<TerminalBlock> {
    let mut blocks: Vec<TerminalBlock> = table(run).into_iter().collect();
    blocks.extend(pace(run));
    blocks.extend(doubts(run));
    blocks
}

/// A metric of the run: its course, its last value, or both.
struct MetricRow<'a> {
    metric: &'a str,
    series: Option<&'a Series>,
    single: Option<&'a Observation>,
}

/// Losses first, then qualities, rates, times, and the rest.
fn rank(metric: &str) -> usize {
    let base = metric.split('.').next().unwrap_or(metric);
    let losses = ["loss", "nll", "perplexity", "log_loss", "rmse", "mse", "mae", "error", "wer", "cer"];
    match better(metric) {
        _ if losses.contains(&base) => 0,
        Some(Direction::Higher) if base.ends_with("_per_s") || base.ends_with("throughput") => 2,
        Some(Direction::Higher) => 1,
        Some(_) => 3,
        None => 4,
    }
}

fn rows(run: &ReadRun) -> Vec<MetricRow<'_>> {
    let mut rows: Vec<MetricRow<'_>> = run
        .series
        .iter()
        .filter(|series| !series.values.is_empty())
        .map(|series| MetricRow { metric: &series.metric, series: Some(series), single: None })
        .collect();
    for observation in &run.observations {
        let known = rows.iter().any(|row| row.metric == observation.metric);
        // The last value of a loss is in its row already.
        let repeated = observation.metric == names::LOSS_FINAL
            && observation.origin == Origin::Derived
            && rows.iter().any(|row| row.metric.starts_with("loss"));
        if !known && !repeated {
            rows.push(MetricRow { metric: &observation.metric, series: None, single: Some(observation) });
        }
    }
    // Long names qualify shorter ones; a course says more than one number.
    rows.sort_by_key(|row| (rank(row.metric), row.series.is_none(), row.metric.matches('.').count()));
    rows
}

fn table(run: &ReadRun) -> Option<TerminalBlock> {
    let rows = rows(run);
    let mut table = Table {
        columns: vec![
            Column::left("metric"),
            Column::right("first"),
            Column::right("last"),
            Column::right("best"),
            Column::right("at"),
            Column::left("course"),
        ],
        ..Table::default()
    };
    for row in rows.iter().take(MOST_METRICS) {
        let cells = match (row.series, row.single) {
            (Some(series), _) => series_row(series),
            (None, Some(single)) => Some(vec![
                Cell::new(clean(&single.metric)),
                Cell::default(),
                Cell::new(clean(&fact(&single.unit, single.value))),
            ]),
            (None, None) => None,
        };
        table.rows.extend(cells);
    }
    if table.rows.is_empty() {
        return None;
    }
    let more = rows.len().saturating_sub(MOST_METRICS);
    if more > 0 {
        table.notes.push(format!("… and {more} more: `--full` shows all with their lines"));
    }
    super::metrics::drop_empty_columns(&mut table);
    Some(TerminalBlock::Table { indent: 2, table })
}

fn series_row(series: &Series) -> Option<Vec<Cell>> {
    let ends = ends(series)?;
    let best = match better(&series.metric) {
        Some(Direction::Lower) => Some(ends.least),
        Some(Direction::Higher) => Some(ends.most),
        _ => None,
    };
    let at = best
        .as_ref()
        .and_then(|_| best_place(series))
        .and_then(|place| series.steps.get(place).map(|step| format!("{step}")));
    Some(vec![
        Cell::new(clean(&ends.scale.titled(&series.metric))),
        Cell::new(ends.first),
        Cell::new(ends.last),
        Cell::toned(best.unwrap_or_default(), Tone::Strong),
        Cell::toned(at.unwrap_or_default(), Tone::Faint),
        Cell::toned(course(&series.values, CURVE), Tone::Faint),
    ])
}

/// The place of the best value; of equal ones the first.
fn best_place(series: &Series) -> Option<usize> {
    let lower = better(&series.metric)? == Direction::Lower;
    let mut best: Option<(usize, f64)> = None;
    for (place, value) in series.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        let improves = best.is_none_or(|(_, known)| if lower { *value < known } else { *value > known });
        if improves {
            best = Some((place, *value));
        }
    }
    best.map(|(place, _)| place)
}

/// How long an epoch, a step and the whole took.
fn pace(run: &ReadRun) -> Option<TerminalBlock> {
    let value = |metric: &str| {
        let series = run.series.iter().find(|series| series.metric == metric && series.unit == Unit::Seconds);
        let single =
            run.observations.iter().find(|found| found.metric == metric && found.unit == Unit::Seconds);
        series.and_then(median).or(single.map(|found| found.value))
    };
    let mut parts: Vec<String> = Vec::new();
    for (metric, thing) in [(names::EPOCH_S, "an epoch"), (names::STEP_S, "a step")] {
        if let Some(seconds) = value(metric) {
            parts.push(format!("{} {thing}", duration(seconds)));
        }
    }
    let total = ["duration.total", "duration.train.total", names::DURATION_JOB, names::DURATION_LOOP];
    if let Some(seconds) = total.iter().find_map(|metric| value(metric)) {
        parts.push(format!("{} in all", duration(seconds)));
    }
    let pieces = vec![Cell::new(parts.join(", "))];
    (!parts.is_empty()).then(|| TerminalBlock::labelled(4, Cell::new("time:"), pieces))
}

fn median(series: &Series) -> Option<f64> {
    let values: Vec<f64> = series.values.iter().copied().filter(|value| value.is_finite()).collect();
    assay_stats::median(&values)
}

/// What looks wrong in the course of a loss or a quality.
fn doubts(run: &ReadRun) -> Vec<TerminalBlock> {
    let mut found: Vec<String> = Vec::new();
    let learned = |metric: &str| rank(metric) < 2 && !["mfu", "utilization", "efficiency"].contains(&metric);
    for series in run.series.iter().filter(|series| learned(&series.metric)) {
        found.extend(doubt(series));
    }
    // One course that stopped says it for those that hang on it.
    found.truncate(2);
    let block = |text: String| {
        TerminalBlock::labelled(4, Cell::toned("note:", Tone::Doubt), vec![Cell::new(clean(&text))])
    };
    found.into_iter().map(block).collect()
}

fn doubt(series: &Series) -> Option<String> {
    if series.values.len() < FEWEST {
        return None;
    }
    let place = best_place(series)?;
    let since = 1.0 - (place + 1) as f64 / series.values.len() as f64;
    let (first, last, best) = (*series.values.first()?, *series.values.last()?, *series.values.get(place)?);
    let lower = better(&series.metric) == Some(Direction::Lower);
    let range = (first - best).abs();
    let fell_back = (last - best).abs();
    // The best was the first value: nothing was learned.
    let worse = if lower { last > first } else { last < first };
    let at = series.steps.get(place).map(|step| format!(" (step {step})")).unwrap_or_default();
    if worse && range < fell_back {
        Some(format!("{} ended worse than it began", series.metric))
    } else if since >= PLATEAU && fell_back > 0.2 * range && range > 0.0 {
        Some(format!("{} got worse after its best{at}", series.metric))
    } else if since >= PLATEAU {
        Some(format!(
            "{} did not improve over the last {:.0} % of its values{at}",
            series.metric,
            since * 100.0
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(metric: &str, values: &[f64]) -> Series {
        let steps = (1..=values.len()).map(|step| step as f64).collect();
        Series { metric: metric.to_owned(), values: values.to_vec(), steps, ..Series::default() }
    }

    #[test]
    fn the_best_follows_from_the_metric() {
        assert_eq!(better("loss.eval.box"), Some(Direction::Lower));
        assert_eq!(better("accuracy.test"), Some(Direction::Higher));
        assert_eq!(better("tokens_per_s"), Some(Direction::Higher));
        assert_eq!(better("learning_rate"), None);
        assert_eq!(best_place(&series("loss", &[3.0, 1.0, 2.0, 1.0])), Some(1));
        assert_eq!(best_place(&series("accuracy", &[0.1, 0.9, 0.8])), Some(1));
    }

    #[test]
    fn courses_that_stopped_are_named() {
        let falling: Vec<f64> = (0..20).map(|step| 2.0 / f64::from(step + 1)).collect();
        assert_eq!(doubt(&series("loss", &falling)), None);
        let mut stuck = falling.clone();
        stuck.extend([0.1; 20]);
        assert!(doubt(&series("loss", &stuck)).unwrap().contains("did not improve"));
        let mut worse: Vec<f64> = falling.clone();
        worse.extend((0..20).map(|step| 0.1 + f64::from(step) * 0.05));
        assert!(doubt(&series("loss.eval", &worse)).unwrap().contains("got worse after its best (step 20)"));
        let growing: Vec<f64> = (0..20).map(|step| f64::from(step) + 1.0).collect();
        assert!(doubt(&series("loss", &growing)).unwrap().contains("ended worse"));
    }
}
