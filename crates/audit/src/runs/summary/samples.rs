//! Samples of one run, and what stands out among them.

use assay_model::{Document, Observation, Scope, Series, Source, Unit, names};
use assay_stats::{median, spread};

use super::super::facts::{Facts, Run};
use super::super::same::numbers_repeats;
use super::super::written::last_digit;

/// Fewer samples than this say nothing about what is usual.
const FEWEST: usize = 5;
/// How many scaled median absolute deviations away a sample stands out. This is the limit for a first repeat in
/// `stats::outlier`, far beyond what noise gives …
const LIMIT: f64 = 10.0;
/// … and how far away it must be at least, in print, where the deviation may be tiny, and in a log, where single
/// steps are slow for many reasons.
const PRINTED: f64 = 1.1;
const LOGGED: f64 = 1.5;
/// Scales the median absolute deviation of normal data to its standard deviation.
const DEVIATION: f64 = 1.4826;
/// How many times the range of the others a value must be away from the nearest of them.
const APART: f64 = 3.0;
/// The same for one value of few that vary much: so far away that its share of the whole range is beyond what Dixon's
/// test allows to one set of five in a hundred (0.82), and several times as large or small as what is usual.
const ALONE: f64 = 6.0;
const TIMES: f64 = 2.0;
/// The distance of the quartiles of normal data in standard deviations.
const QUARTILES: f64 = 1.349;

/// Samples of one metric.
pub(super) struct Samples<'a> {
    pub run: &'a Run<'a>,
    pub series: &'a Series,
    pub values: Vec<f64>,
    /// Whether more is faster.
    pub is_rate: bool,
    /// Whether they were printed as an array, rather than step by step.
    pub printed: bool,
    /// Whether each of them is a run of its own, so that none warms up the next.
    pub are_runs: bool,
    pub source: Source,
}

/// All samples of times and rates in a document.
pub(super) fn of<'a>(facts: &'a Facts<'a>, document: &Document) -> Vec<Samples<'a>> {
    let mut all = Vec::new();
    for run in facts.runs.iter().filter(|run| std::ptr::eq(run.document, document)) {
        for series in &run.read.series {
            let Some(is_rate) = kind(&series.metric) else { continue };
            let whole = series.values.len() as u64 == series.seen.max(series.values.len() as u64);
            if series.values.len() < FEWEST
                || series.values.iter().any(|value| !value.is_finite() || *value <= 0.0)
            {
                continue;
            }
            all.push(Samples {
                run,
                series,
                values: series.values.clone(),
                is_rate,
                printed: whole && series.steps.is_empty() && series.at_s.is_empty(),
                are_runs: are_runs(run),
                source: series.source.clone().unwrap_or_else(|| run.source()),
            });
        }
    }
    all
}

/// Whether the words over samples, or the table they stand in, say that each is a run.
fn are_runs(run: &Run<'_>) -> bool {
    let title = run.read.title.as_deref().unwrap_or_default().to_lowercase();
    let mut words = title.split(|character: char| !character.is_alphanumeric());
    let counted = run
        .row()
        .is_some_and(|(table, _)| table.columns.iter().any(|column| numbers_repeats(&column.header)));
    counted || words.any(|word| matches!(word, "runs" | "repeats" | "trials" | "processes"))
}

/// Whether a metric is a rate (`true`) or a time of one iteration (`false`); none for anything else.
fn kind(metric: &str) -> Option<bool> {
    if metric.starts_with("duration.") {
        return Some(false);
    }
    if metric.ends_with("_per_s") || metric.ends_with("throughput") {
        return Some(true);
    }
    match names::unit(metric) {
        Unit::PerSecond(_) => Some(true),
        Unit::Seconds => Some(false),
        _ => None,
    }
}

impl Samples<'_> {
    /// The metric, for a sentence.
    pub fn name(&self) -> String {
        let name = self.series.metric.strip_prefix("time.").unwrap_or(&self.series.metric);
        let mut words = name.replace(['_', '.'], " ");
        for setting in [names::setting::MODEL, names::setting::DEVICE] {
            if let Some(value) = self.run.setting(setting) {
                words = format!("{words} {value}");
            }
        }
        format!("`{words}`")
    }

    /// Whether they stand on one line, or on lines that differ in nothing but numbers. Other lines with one word in
    /// common (`Resolved 2 packages in 170 ms`, `Installed 2 packages in 1 ms`) are about different things.
    pub fn are_of_one_shape(&self, document: &Document) -> bool {
        if !self.printed || document.text.is_empty() {
            return true;
        }
        let at = usize::try_from(self.source.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let mut lines = document.text.lines().skip(at);
        let Some(first) = lines.next() else { return true };
        let numbers = first.split(|one: char| !(one.is_ascii_digit() || one == '.'));
        if numbers.filter(|number| number.bytes().any(|byte| byte.is_ascii_digit())).count() > 2 {
            return true;
        }
        lines.find(|line| !line.trim().is_empty()).is_none_or(|second| shape(first) == shape(second))
    }

    /// How far a line is from them.
    pub fn distance(&self, line: u64) -> u64 {
        let last = if self.printed { self.source.line } else { self.run.read.span.last };
        match line {
            line if line < self.source.line => self.source.line - line,
            line => line.saturating_sub(last),
        }
    }

    /// How many samples at the beginning are far slower than the rest.
    pub fn cold(&self) -> usize {
        if self.are_runs {
            return 0;
        }
        let Some((usual, deviation)) = self.values.get(1..).and_then(usual) else { return 0 };
        let slow = |value: &&f64| {
            let (slower, distance) = if self.is_rate {
                (usual / **value, usual - **value)
            } else {
                (**value / usual, **value - usual)
            };
            slower > PRINTED && distance > LIMIT * deviation
        };
        let cold = self.values.iter().take_while(slow).count();
        let (Some(first), Some(rest)) = (self.values.get(..cold), self.values.get(cold..)) else { return 0 };
        let apart = first.iter().all(|value| is_apart(*value, rest));
        if apart && cold * 2 <= self.values.len() { cold } else { 0 }
    }

    /// The samples behind the cold ones.
    pub fn warm(&self) -> &[f64] {
        self.values.get(self.cold()..).unwrap_or_default()
    }

    /// Places of single samples far from all others, the cold ones aside.
    pub fn far(&self) -> Vec<usize> {
        let least = if self.printed { PRINTED } else { LOGGED };
        let cold = self.cold();
        far_of(self.warm(), self.is_rate, least).into_iter().map(|place| place + cold).collect()
    }

    /// The warm samples without the far ones.
    pub fn without_far(&self) -> Vec<f64> {
        let (cold, far) = (self.cold(), self.far());
        let kept = self.values.iter().enumerate().filter(|(place, _)| *place >= cold && !far.contains(place));
        kept.map(|(_, value)| *value).collect()
    }

    /// The median of all samples.
    pub fn median(&self) -> Option<f64> {
        median(&self.values)
    }

    /// The overall rate or mean time that the log states beside a series of instants.
    pub fn stated_mean(&self) -> Option<&Observation> {
        let names: &[&str] = match self.series.metric.as_str() {
            names::SAMPLES_PER_S_INSTANT => &[names::SAMPLES_PER_S_LOOP, names::SAMPLES_PER_S],
            names::STEP_S | names::TIME_STEP => &[names::STEP_S, names::TIME_STEP],
            _ => return None,
        };
        let found = names.iter().filter_map(|name| self.run.observation(name));
        found.into_iter().find(|observation| observation.scope != Some(Scope::Instant))
    }
}

/// A line without its numbers and spaces.
fn shape(line: &str) -> String {
    line.chars().filter(|one| !(one.is_ascii_digit() || one.is_whitespace() || *one == '.')).collect()
}

/// The median, and the largest of the scaled median absolute deviation, the scaled distance of the quartiles, since a
/// few equal values make the first one tiny, and what the last digit of the values resolves.
fn usual(values: &[f64]) -> Option<(f64, f64)> {
    let center = median(values).filter(|center| *center > 0.0)?;
    let spread = spread(values)?;
    let by_quartiles = spread.interquartile_range() / QUARTILES;
    let by_digits = last_digit(values) / 3.0;
    Some((center, (DEVIATION * spread.median_absolute_deviation).max(by_quartiles).max(by_digits)))
}

/// Places of single values far from all others; none if they are many.
pub(super) fn far(values: &[f64], is_rate: bool) -> Vec<usize> {
    far_of(values, is_rate, PRINTED)
}

/// As [`far`]. A disturbance adds time, so that a slow run stands out in the time that its rate stands for, while the
/// rate itself can be no lower than nought.
fn far_of(values: &[f64], is_rate: bool, least: f64) -> Vec<usize> {
    let found = far_by(values, least);
    match found.is_empty() && is_rate {
        true => far_by(&reciprocals(values), least.max(TIMES)),
        false => found,
    }
}

/// The time that each rate stands for.
fn reciprocals(rates: &[f64]) -> Vec<f64> {
    rates.iter().map(|rate| 1.0 / rate).collect()
}

fn far_by(values: &[f64], least: f64) -> Vec<usize> {
    if values.len() < FEWEST {
        return Vec::new();
    }
    let Some((usual, deviation)) = usual(values) else { return Vec::new() };
    let stands_out = |value: f64| {
        let apart = (value / usual).max(usual / value);
        apart > least && (value - usual).abs() > LIMIT * deviation
    };
    let mut far: Vec<usize> =
        values.iter().enumerate().filter(|(_, value)| stands_out(**value)).map(|(place, _)| place).collect();
    if far.is_empty() {
        far.extend(alone(values, usual));
    }
    let others: Vec<f64> = values
        .iter()
        .enumerate()
        .filter(|(place, _)| !far.contains(place))
        .map(|(_, value)| *value)
        .collect();
    let apart = far.iter().filter_map(|place| values.get(*place)).all(|value| is_apart(*value, &others));
    if far.len() * 5 > values.len() || !apart { Vec::new() } else { far }
}

/// The place of the one value that stands alone among others that vary much themselves.
fn alone(values: &[f64], usual: f64) -> Option<usize> {
    let distance = |value: f64| (value - usual).abs();
    let by_distance = |a: &(usize, &f64), b: &(usize, &f64)| distance(*a.1).total_cmp(&distance(*b.1));
    let (place, value) = values.iter().enumerate().max_by(by_distance)?;
    let others: Vec<f64> =
        values.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, value)| *value).collect();
    let (low, high) = (smallest(&others)?, largest(&others)?);
    let gap = if *value > high { value - high } else { low - value };
    let times = (value / usual).max(usual / value);
    (times > TIMES && gap > ALONE * (high - low) && high > low).then_some(place)
}

/// Whether a value is further from the nearest of some others than these are from one another, several times over
/// (Dixon's criterion). A deviation of few values is too uncertain to go by alone.
fn is_apart(value: f64, others: &[f64]) -> bool {
    let (Some(low), Some(high)) = (smallest(others), largest(others)) else { return false };
    let gap = if value > high { value - high } else { low - value };
    gap > APART * (high - low)
}

/// The arithmetic mean.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let mean = sum / values.len() as f64;
    mean.is_finite().then_some(mean)
}

/// The smallest value.
pub(super) fn smallest(values: &[f64]) -> Option<f64> {
    values.iter().copied().min_by(f64::total_cmp)
}

/// The largest value.
pub(super) fn largest(values: &[f64]) -> Option<f64> {
    values.iter().copied().max_by(f64::total_cmp)
}
