//! Samples and what is said of them: warm-up inside a mean, single far values, and summaries that lie outside the
//! samples they summarize.

mod link;
mod row;
mod samples;

use std::collections::HashSet;

use assay_model::{Document, Source, Statistic, names};

use super::facts::Facts;
use super::written::Range;
use super::{Class, Finding, Level, RepeatGroup, wording};
use link::Summary;
use samples::Samples;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        let all = samples::of(facts, document);
        for samples in all.iter().filter(|samples| samples.are_of_one_shape(document)) {
            findings.extend(warm_up(document, samples));
            findings.extend(outliers(document, samples));
        }
        findings.extend(summaries(facts, document, &all));
        findings.extend(document.tables.iter().flat_map(|table| row::check(document, table)));
    }
    let alike = rows_without_number(facts);
    let numbered = |group: &&RepeatGroup| {
        !group.values.iter().any(|(_, source)| alike.contains(&(source.file.as_str(), source.line)))
    };
    findings.extend(facts.groups.iter().filter(numbered).filter_map(repeats));
    findings
}

fn place(samples: &Samples<'_>) -> Source {
    samples.source.clone()
}

/// Samples at the beginning that are far slower than the rest.
fn warm_up(document: &Document, samples: &Samples<'_>) -> Option<Finding> {
    let cold = samples.cold();
    let warm = samples.values.get(cold..)?;
    if cold == 0 {
        return None;
    }
    let (first, usual) = (*samples.values.first()?, assay_stats::median(warm)?);
    let (with, without) = (samples::mean(&samples.values)?, samples::mean(warm)?);
    if !samples.printed {
        // A log shows its first steps as they were; it is the mean over them that may mislead.
        return mean_of_log(samples, cold, first, usual, with);
    }
    let slower = if samples.is_rate { usual / first } else { first / usual };
    let announced = samples
        .run
        .setting(names::setting::WARMUP)
        .is_some_and(|_| !samples.run.is_on(names::setting::WARMUP));
    let spoken = announced || says(document, samples, &["warm", "first", "cold"], &["warm", "first"]);
    let values = if cold == 1 { "value".to_owned() } else { format!("{cold} values") };
    Some(Finding {
        class: Class::WarmUp,
        operands: Vec::new(),
        level: if spoken { Level::Supported } else { Level::Doubtful },
        summary: format!(
            "The first {values} of {} {} {} times slower than the rest: {} against {}.",
            samples.name(),
            if cold == 1 { "is" } else { "are" },
            wording::rough(slower),
            wording::plain(first),
            wording::plain(usual)
        ),
        arithmetic: vec![format!(
            "mean of all {}, without the first {values} {}, median {}",
            wording::plain(with),
            wording::plain(without),
            wording::plain(samples.median()?)
        )],
        sources: vec![place(samples)],
        advice: match spoken {
            true => String::new(),
            false => "Leave warm-up iterations out of the mean, or report the median.".to_owned(),
        },
    })
}

/// A mean or overall rate that a log states, with slow first steps inside.
fn mean_of_log(samples: &Samples<'_>, cold: usize, first: f64, usual: f64, with: f64) -> Option<Finding> {
    let stated = samples.stated_mean()?;
    let shifted = (stated.value / usual - 1.0).abs() > 0.05;
    let includes = (stated.value - with).abs() < (stated.value - usual).abs();
    (shifted && includes).then(|| Finding {
        class: Class::WarmUp,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "The stated {} of {} has the first {} in it ({}), while the rest runs at {}.",
            samples.name(),
            wording::plain(stated.value),
            wording::counted(cold, "report"),
            wording::plain(first),
            wording::plain(usual)
        ),
        arithmetic: vec![format!("mean of all {}, median {}", wording::plain(with), wording::plain(usual))],
        sources: vec![stated.source.clone().unwrap_or_else(|| place(samples)), place(samples)],
        advice: "Report the rate after warm-up, or the median.".to_owned(),
    })
}

/// Whether the text near the samples speaks of something: it has a word of both lists.
fn says(document: &Document, samples: &Samples<'_>, one: &[&str], other: &[&str]) -> bool {
    let near = |line: u64| line.abs_diff(samples.source.line) <= 40;
    document.statements.iter().filter(|statement| near(statement.span.first)).any(|statement| {
        let text = statement.text.to_lowercase();
        one.iter().any(|word| text.contains(word)) && other.iter().any(|word| text.contains(word))
    })
}

/// Single values far from all others.
fn outliers(document: &Document, samples: &Samples<'_>) -> Option<Finding> {
    let far = samples.far();
    let first = *samples.values.get(*far.first()?)?;
    let warm = samples.warm();
    let rest = samples.without_far();
    let spoken =
        says(document, samples, &["outlier", "spike", "hiccup", "anomal", "excluded", "discard"], &[""]);
    let more = match far.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Some(Finding {
        class: Class::Outlier,
        operands: Vec::new(),
        level: if spoken { Level::Supported } else { Level::Doubtful },
        summary: format!(
            "{}{more} stands far from the other {} values of {}, which lie around {}.",
            wording::plain(first),
            rest.len(),
            samples.name(),
            wording::plain(assay_stats::median(&rest)?)
        ),
        arithmetic: vec![format!(
            "mean with it {}, without it {}, median {}",
            wording::plain(samples::mean(warm)?),
            wording::plain(samples::mean(&rest)?),
            wording::plain(assay_stats::median(warm)?)
        )],
        sources: vec![place(samples)],
        advice: match spoken {
            true => String::new(),
            false => "Report the median and say that there was an outlier; never drop it without a word."
                .to_owned(),
        },
    })
}

/// The rows of tables that are not numbered as repeats: they may differ in what their table does not say.
fn rows_without_number<'a>(facts: &'a Facts<'_>) -> HashSet<(&'a str, u64)> {
    let rows = facts.runs.iter().filter(|run| run.is_row() && !samples::are_runs(run));
    rows.map(|run| (run.document.file.as_str(), run.read.span.first)).collect()
}

/// One far run among repeats of the same thing.
fn repeats(group: &RepeatGroup) -> Option<Finding> {
    let values: Vec<f64> = group.values.iter().map(|(value, _)| *value).collect();
    let timed = matches!(group.unit, assay_model::Unit::Seconds | assay_model::Unit::PerSecond(_));
    let is_rate = matches!(group.unit, assay_model::Unit::PerSecond(_));
    let far = samples::far(&values, is_rate);
    let (value, source) = group.values.get(*far.first()?)?;
    let rest: Vec<f64> = values
        .iter()
        .enumerate()
        .filter(|(place, _)| !far.contains(place))
        .map(|(_, value)| *value)
        .collect();
    timed.then(|| Finding {
        class: Class::Outlier,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "One of {} runs of {} stands far from the others: {} against {}.",
            values.len(),
            group.label,
            wording::with_unit(*value, &group.unit),
            wording::with_unit(assay_stats::median(&rest).unwrap_or(*value), &group.unit)
        ),
        arithmetic: vec![format!(
            "mean with it {}, without it {}",
            wording::plain(samples::mean(&values).unwrap_or(*value)),
            wording::plain(samples::mean(&rest).unwrap_or(*value))
        )],
        sources: vec![source.clone()],
        advice: "Look for another job on the machine at that time; report the median.".to_owned(),
    })
}

/// How a summary relates to samples.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Relation {
    /// It is their mean, median or another statistic that it may be.
    Follows(&'static str),
    /// It is their mean with slow first values inside.
    ColdMean,
    /// It is their mean once far values are left out.
    Trimmed,
    /// It is another statistic than it is called.
    Misnamed(&'static str),
    /// It lies outside all samples.
    Outside,
    /// It lies among them, but is none of the usual statistics.
    Unexplained,
}

impl Relation {
    /// Whether it says where the summary comes from. A log shows some steps only, so nothing else can be said of a
    /// summary beside it.
    fn is_exact(self) -> bool {
        matches!(self, Relation::Follows(_) | Relation::ColdMean)
    }
}

fn relation(summary: &Summary, samples: &Samples<'_>, scale: f64) -> Option<Relation> {
    let scaled = |value: f64| Range::around(value * scale, value.abs() * scale * 1e-7);
    let is = |value: f64| scaled(value).meets(summary.range);
    let all = &samples.values;
    let warm = samples.warm();
    let (mean, median) = (samples::mean(warm)?, assay_stats::median(warm)?);
    let (low, high) = (samples::smallest(all)?, samples::largest(all)?);
    let (is_mean, is_median) = (is(mean), is(median) || is(samples.median()?));
    let named = match (summary.statistic, is_mean, is_median) {
        (Some(Statistic::Median) | None, false, true) | (Some(Statistic::Median), true, true) => {
            Some(Relation::Follows("median"))
        }
        (Some(Statistic::Mean) | None, true, _) => Some(Relation::Follows("mean")),
        (Some(Statistic::Median), true, false) => Some(Relation::Misnamed("mean")),
        (Some(Statistic::Mean), false, true) => Some(Relation::Misnamed("median")),
        (_, false, false) | (Some(_), _, _) => None,
    };
    if named.is_some() {
        return named;
    }
    if samples.cold() > 0 && is(samples::mean(all)?) {
        return Some(Relation::ColdMean);
    }
    if !samples.far().is_empty() && samples::mean(&samples.without_far()).is_some_and(is) {
        return Some(Relation::Trimmed);
    }
    let best = if samples.is_rate { high } else { low };
    if summary.statistic.is_none() && is(best) {
        return Some(Relation::Follows("best value"));
    }
    let ends = Range::between(low * scale, high * scale);
    Some(if ends.meets(summary.range) { Relation::Unexplained } else { Relation::Outside })
}

/// Holds every summary against the samples that it may summarize.
fn summaries(facts: &Facts<'_>, document: &Document, all: &[Samples<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sound = Vec::new();
    for (summary, linked) in link::of(facts, document, all) {
        let relations: Vec<(Relation, &Samples<'_>)> = linked
            .iter()
            .filter_map(|(samples, scale)| Some((relation(&summary, samples, *scale)?, *samples)))
            .filter(|(relation, samples)| samples.printed || relation.is_exact())
            .collect();
        let follows = relations.iter().find(|(relation, _)| matches!(relation, Relation::Follows(_)));
        if let Some((Relation::Follows(statistic), _)) = follows {
            sound.push((format!("{} is the {statistic}", summary.text), summary.source.clone()));
            continue;
        }
        let telling = relations
            .iter()
            .filter(|(relation, samples)| *relation != Relation::Outside || samples.cold() == 0)
            .min_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
        findings.extend(telling.and_then(|(relation, samples)| finding(&summary, *relation, samples)));
    }
    findings.extend(supported(sound));
    findings
}

fn supported(sound: Vec<(String, Source)>) -> Option<Finding> {
    let count = sound.len();
    let first = sound.first()?.0.clone();
    Some(Finding {
        class: Class::SummaryOutside,
        operands: Vec::new(),
        level: Level::Supported,
        summary: match count {
            1 => format!("The stated {first} of its samples."),
            _ => format!("{count} stated summaries follow from their samples."),
        },
        sources: sound.iter().map(|(_, source)| source.clone()).take(8).collect(),
        arithmetic: sound.into_iter().map(|(line, _)| line).take(8).collect(),
        advice: String::new(),
    })
}

fn finding(summary: &Summary, relation: Relation, samples: &Samples<'_>) -> Option<Finding> {
    let warm = samples.warm();
    let statistics = format!(
        "{} samples from {} to {}: mean {}, median {}",
        warm.len(),
        wording::plain(samples::smallest(warm)?),
        wording::plain(samples::largest(warm)?),
        wording::plain(samples::mean(warm)?),
        wording::plain(assay_stats::median(warm)?)
    );
    let text = &summary.text;
    let name = samples.name();
    let (class, level, said, advice) = match relation {
        Relation::Outside => (
            Class::SummaryOutside,
            Level::Contradicted,
            format!("The stated {text} lies outside all samples of {name} that it summarizes."),
            "Compute the summary from these samples, or show the samples it was computed from.",
        ),
        Relation::Trimmed => (
            Class::SummaryOutside,
            Level::Doubtful,
            format!("The stated {text} is the mean of {name} without its far values, which nothing says."),
            "Say that values were left out, or report the median.",
        ),
        Relation::ColdMean => (
            Class::WarmUp,
            Level::Doubtful,
            format!("The stated {text} is the mean of {name} with its warm-up inside."),
            "Leave warm-up iterations out of the mean, or report the median.",
        ),
        Relation::Misnamed(real) => (
            Class::SummaryOutside,
            Level::Doubtful,
            format!("The stated {text} is the {real} of {name}, not what it is called."),
            "Name the statistic.",
        ),
        Relation::Unexplained => (
            Class::SummaryOutside,
            Level::NotChecked,
            format!("The stated {text} is neither mean nor median of the samples of {name} beside it."),
            "Say which samples and which statistic it is.",
        ),
        Relation::Follows(_) => return None,
    };
    Some(Finding {
        operands: Vec::new(),
        class,
        level,
        summary: said,
        arithmetic: vec![statistics],
        sources: vec![summary.source.clone(), place(samples)],
        advice: advice.to_owned(),
    })
}

#[cfg(test)]
mod tests;
