//! Sentences that rank the logs of a document, where no table stands between.

use assay_model::{Document, Role, Source, Statement, Unit, names};

use super::{FactorLevel, Noise, extremes, levels};
use crate::runs::claims::{self, Tone};
use crate::runs::facts::{Facts, Run, place};
use crate::runs::same::{compile_inside, is_about_time};
use crate::runs::wording::{counted, difference, with_unit};
use crate::{Class, Finding, Level};

/// Judges each sentence that ranks logs by a metric; one finding for a platform and metric.
pub(super) fn check(facts: &Facts<'_>, document: &Document) -> Vec<Finding> {
    let mut done: Vec<(Option<&str>, &str)> = Vec::new();
    let mut findings = Vec::new();
    for statement in document.statements.iter().filter(|one| claims::tone(&one.text) == Some(Tone::Ranking)) {
        for (platform, metric) in subjects(facts, document, statement) {
            if done.contains(&(platform, metric)) {
                continue;
            }
            if let Some(finding) = judge(facts, document, statement, platform, metric) {
                done.push((platform, metric));
                findings.push(finding);
            }
        }
    }
    findings
}

/// The platforms and metrics that a sentence may rank: metrics whose kind it names and that two logs or more state.
fn subjects<'a>(
    facts: &'a Facts<'a>,
    document: &'a Document,
    statement: &Statement,
) -> Vec<(Option<&'a str>, &'a str)> {
    let mut found: Vec<(Option<&str>, &str, usize)> = Vec::new();
    for run in facts.logs_of(document) {
        for observation in &run.read.observations {
            let metric = observation.metric.as_str();
            if !claims::is_ranked(metric)
                || !claims::names_kind(&statement.text, metric)
                || is_set_up(metric) && !speaks_of_set_up(&statement.text)
            {
                continue;
            }
            match found
                .iter_mut()
                .find(|(platform, other, _)| *platform == run.platform() && *other == metric)
            {
                Some((_, _, count)) => *count += 1,
                None => found.push((run.platform(), metric, 1)),
            }
        }
    }
    let words = format!("{} {}", statement.headings.join(" "), statement.text).to_lowercase();
    let named = |platform: Option<&str>| platform.is_some_and(|platform| words.contains(platform));
    let any_named = found.iter().any(|(platform, ..)| named(*platform));
    let one_platform =
        found.iter().all(|(platform, ..)| Some(platform) == found.first().map(|first| &first.0));
    // A sentence beside a table of other machines that states such a metric is about that table.
    let is_beside = |platform: Option<&str>, metric: &str| {
        document.tables.iter().any(|table| {
            table.headings == statement.headings
                && table.platform.as_deref() != platform
                && table.columns.iter().any(|column| {
                    matches!(&column.role, Role::Metric(own) if claims::is_ranked(own)
                        && claims::names_kind(&statement.text, own)
                        && is_about_time(own) == is_about_time(metric))
                })
        })
    };
    found
        .into_iter()
        .filter(|(platform, metric, _)| named(*platform) || !is_beside(*platform, metric))
        .filter(|(platform, _, count)| *count > 1 && if any_named { named(*platform) } else { one_platform })
        .map(|(platform, metric, _)| (platform, metric))
        .collect()
}

/// Whether a metric is the time of something that comes before the work.
fn is_set_up(metric: &str) -> bool {
    [names::DURATION_COMPILE, names::DURATION_QUEUE].contains(&metric)
}

fn speaks_of_set_up(text: &str) -> bool {
    let text = text.to_lowercase();
    ["compil", "build", "queue", "wait"].iter().any(|word| text.contains(word))
}

/// Whether times of runs can be set side by side: a profiler or a compilation inside some of them is a cause.
fn are_alike(runs: &[(usize, &Run<'_>)], metric: &str) -> bool {
    let condition = |run: &Run<'_>| (run.is_on(names::setting::PROFILER), compile_inside(run));
    let first = runs.first().map(|(_, run)| condition(run));
    !is_about_time(metric) || runs.iter().all(|(_, run)| Some(condition(run)) == first)
}

fn judge(
    facts: &Facts<'_>,
    document: &Document,
    statement: &Statement,
    platform: Option<&str>,
    metric: &str,
) -> Option<Finding> {
    let runs: Vec<(usize, &Run<'_>)> = facts
        .runs
        .iter()
        .enumerate()
        .filter(|(_, run)| std::ptr::eq(run.document, document) && run.is_log() && run.platform() == platform)
        .filter(|(_, run)| run.value(metric).is_some() && run.read.status.is_usable())
        .collect();
    if !are_alike(&runs, metric) {
        return None;
    }
    let unit = runs.first()?.1.observation(metric)?.unit.clone();
    let group = facts.same_as(runs.first()?.0);
    let one_thing = group.is_some_and(|same| runs.iter().all(|(place, _)| same.members.contains(place)));
    let standing = match facts.hedge(document, &statement.headings) {
        Some(_) => Level::Doubtful,
        None => Level::Contradicted,
    };
    if one_thing && runs.len() > 1 {
        return Some(repeats_ranked(statement, &runs, metric, &unit, standing));
    }
    let noise = super::of(facts, document, metric, platform)?;
    let levels = levels(facts, &runs, metric);
    let (low, high) = extremes(&levels)?;
    let pairs = levels.len() * (levels.len() - 1) / 2;
    let middle = f64::midpoint(low.mean.abs(), high.mean.abs());
    let limit = noise.least_difference(middle, low.count, high.count, pairs)?;
    let range = high.mean - low.mean;
    (range > 0.0 && range <= limit)
        .then(|| within(statement, &levels, metric, &unit, (range, limit), &noise, standing))
}

/// The runs ranked are repeats of one setting, so that there is nothing to rank.
fn repeats_ranked(
    statement: &Statement,
    runs: &[(usize, &Run<'_>)],
    metric: &str,
    unit: &Unit,
    level: Level,
) -> Finding {
    let arithmetic = runs
        .iter()
        .take(8)
        .filter_map(|(_, run)| {
            let asked: Vec<String> = run
                .disproved
                .iter()
                .map(|one| {
                    format!(", declared {} {}", one.declared.name.replace('_', " "), one.declared.value)
                })
                .collect();
            Some(format!("{}{}: {}", run.label(), asked.concat(), with_unit(run.value(metric)?, unit)))
        })
        .collect();
    let mut sources = vec![place(statement)];
    sources.extend(runs.iter().take(8).map(|(_, run)| run.source_of(metric)));
    Finding {
        class: Class::NoiseAsEffect,
        operands: Vec::new(),
        level,
        summary: format!(
            "The {} ranked by {metric} are repeats of one setting: what differs between them is noise.",
            counted(runs.len(), "run"),
        ),
        arithmetic,
        sources,
        advice:
            "Give the mean and the spread of these runs as one result, and vary what is really in effect."
                .to_owned(),
    }
}

fn within(
    statement: &Statement,
    levels: &[FactorLevel],
    metric: &str,
    unit: &Unit,
    (range, limit): (f64, f64),
    noise: &Noise,
    level: Level,
) -> Finding {
    let mut arithmetic: Vec<String> = levels
        .iter()
        .take(6)
        .map(|level| format!("{}: {}", level.label, with_unit(level.mean, unit)))
        .collect();
    arithmetic.push(format!(
        "{}: differences up to {} need no cause",
        noise.describe(unit),
        difference(limit, unit)
    ));
    let mut sources: Vec<Source> = vec![place(statement)];
    sources.extend(levels.iter().take(4).map(|level| level.source.clone()));
    sources.extend(noise.sources.iter().cloned());
    Finding {
        class: Class::NoiseAsEffect,
        operands: Vec::new(),
        level,
        summary: format!(
            "The runs ranked differ in {metric} by {} at most, no more than repeats of one setting do ({}).",
            difference(range, unit),
            difference(limit, unit),
        ),
        arithmetic,
        sources,
        advice: "Run each setting several times and compare the means.".to_owned(),
    }
}
