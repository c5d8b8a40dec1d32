//! What is noise. The only place that decides it: the spread of true repeats of a metric on a platform, pooled over
//! all documents, against the differences that a write-up shows or claims.

use assay_model::{Document, Source, Unit, names};
use assay_stats::{Pooled, pooled};

use super::Finding;
use super::facts::{Facts, Run};
use super::same::{Repeated, Same, is_about_time};
use super::wording::{counted, difference, percent};
use assay_judge::CONFIDENCE;

mod margins;
mod stated;
mod tables;

/// The spread of repeats of a metric on a platform.
pub(super) struct Noise {
    pooled: Pooled,
    /// Whether the deviation is a share of the mean, as for times and rates, rather than in the metric's unit.
    is_share: bool,
    /// Where the repeats stand, a few of them.
    pub(super) sources: Vec<Source>,
}

/// The largest deviation of true repeats: as a share of a time or a rate, and of an accuracy.
const MOST_SHARE: f64 = 0.5;
const MOST_POINTS: f64 = 0.05;

/// Metrics that say the same about the speed of a loop: their relative spreads are one.
const LOOP: [&str; 4] =
    [names::DURATION_LOOP, names::DURATION_REPORTED, names::SAMPLES_PER_S, names::SAMPLES_PER_S_LOOP];

/// Whether repeats of one metric show the spread of another.
fn shows(repeated: &str, metric: &str) -> bool {
    repeated == metric || (LOOP.contains(&repeated) && LOOP.contains(&metric))
}

/// The spread of repeats of a metric on a platform, if there are any. Without a platform only repeats in the same
/// document count.
pub(super) fn of(
    facts: &Facts<'_>,
    document: &Document,
    metric: &str,
    platform: Option<&str>,
) -> Option<Noise> {
    let is_share = is_about_time(metric);
    let groups: Vec<&Repeated> = facts
        .same
        .iter()
        .filter(|same| same.platform.as_deref() == platform)
        .filter(|same| platform.is_some() || is_in(facts, same, document))
        .filter(|same| is_of_one_table(facts, same))
        .flat_map(|same| &same.metrics)
        .filter(|repeated| shows(repeated.metric, metric))
        .collect();
    // Each run counts once, also where two metrics describe its loop.
    let exact = groups.iter().any(|repeated| repeated.metric == metric);
    let chosen = groups.iter().filter(|repeated| !exact || repeated.metric == metric);
    let mut values = Vec::new();
    let mut sources = Vec::new();
    for repeated in chosen {
        let numbers = repeated.numbers();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        if is_share && mean <= 0.0 {
            continue;
        }
        let scale = if is_share { mean } else { 1.0 };
        values.push(numbers.iter().map(|value| value / scale).collect::<Vec<f64>>());
        sources.extend(repeated.values.iter().map(|(_, _, source)| source.clone()));
    }
    sources.truncate(5);
    let pooled = pooled(values.iter().map(Vec::as_slice))?;
    // Rows that differ by this much are different things that the table does not tell apart, no repeats.
    let most = if is_share { MOST_SHARE } else { MOST_POINTS };
    let shares = values.iter().flatten().all(|value| (0.0..=1.0).contains(value));
    if pooled.deviation > most && (is_share || shares) {
        return None;
    }
    Some(Noise { pooled, is_share, sources })
}

fn is_in(facts: &Facts<'_>, same: &Same, document: &Document) -> bool {
    same.members
        .iter()
        .filter_map(|place| facts.runs.get(*place))
        .all(|run| std::ptr::eq(run.document, document))
}

/// Whether rows among repeats stand in one table: rows of two tables that have one name are about two things.
fn is_of_one_table(facts: &Facts<'_>, same: &Same) -> bool {
    let runs = same.members.iter().filter_map(|place| facts.runs.get(*place));
    let mut tables = runs.filter_map(|run| run.row()).map(|(table, _)| table);
    let Some(first) = tables.next() else { return true };
    tables.all(|table| std::ptr::eq(table, first))
}

impl Noise {
    /// The largest difference between two means near `level` that the spread explains.
    pub(super) fn least_difference(
        &self,
        level: f64,
        first: usize,
        second: usize,
        comparisons: usize,
    ) -> Option<f64> {
        let limit = self.pooled.least_difference(first, second, comparisons, CONFIDENCE)?;
        Some(if self.is_share { limit * level.abs() } else { limit })
    }

    /// The spread in words.
    pub(super) fn describe(&self, unit: &Unit) -> String {
        let deviation = if self.is_share {
            percent(self.pooled.deviation)
        } else {
            difference(self.pooled.deviation, unit)
        };
        format!(
            "standard deviation {deviation} over {} in {}",
            counted(self.pooled.samples, "repeat"),
            counted(self.pooled.groups, "group"),
        )
    }
}

/// One setting with the values measured for it.
struct FactorLevel {
    label: String,
    mean: f64,
    /// How many runs the mean rests on.
    count: usize,
    /// Half of the interval, or the deviation, that is stated beside it.
    half: Option<f64>,
    source: Source,
    /// The run, or the first of the runs, among all runs.
    place: usize,
}

/// Compares differences in tables, logs and sentences with the spread of repeats.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        findings.extend(document.tables.iter().filter_map(|table| tables::check(facts, document, table)));
        findings.extend(stated::check(facts, document));
    }
    findings
}

/// Runs with their values, those that are repeats of one another joined.
fn levels(facts: &Facts<'_>, runs: &[(usize, &Run<'_>)], metric: &str) -> Vec<FactorLevel> {
    let mut joined: Vec<(Option<usize>, FactorLevel, Vec<f64>)> = Vec::new();
    for (place, run) in runs {
        let values = run.values(metric);
        if values.is_empty() {
            continue;
        }
        let group = facts.same_index(*place);
        match joined.iter_mut().find(|(other, ..)| group.is_some() && *other == group) {
            Some((_, _, known)) => known.extend(values),
            None => {
                let level = FactorLevel {
                    label: run.label(),
                    mean: 0.0,
                    count: margins::stated_count(run).unwrap_or(1),
                    half: margins::half(run, metric),
                    source: run.source_of(metric),
                    place: *place,
                };
                joined.push((group, level, values));
            }
        }
    }
    joined
        .into_iter()
        .map(|(_, level, values)| FactorLevel {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            count: level.count.max(values.len()),
            ..level
        })
        .filter(|level| level.mean.is_finite())
        .collect()
}

/// The lowest and the highest of two levels or more.
fn extremes(levels: &[FactorLevel]) -> Option<(&FactorLevel, &FactorLevel)> {
    let by_mean = |a: &&FactorLevel, b: &&FactorLevel| a.mean.total_cmp(&b.mean);
    let (low, high) = (levels.iter().min_by(by_mean)?, levels.iter().max_by(by_mean)?);
    (levels.len() > 1).then_some((low, high))
}

/// The largest difference between two levels that needs no cause: by the spread of repeats where there are some, and
/// otherwise by the intervals stated beside the levels, where the mean of one may lie inside the interval of the other.
fn limit(noise: Option<&Noise>, one: &FactorLevel, other: &FactorLevel, comparisons: usize) -> Option<f64> {
    match noise {
        Some(noise) => {
            let level = f64::midpoint(one.mean.abs(), other.mean.abs());
            noise.least_difference(level, one.count, other.count, comparisons)
        }
        None => Some(one.half?.max(other.half?)),
    }
}

#[cfg(test)]
mod tests;
