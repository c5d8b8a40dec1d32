//! Differences between the rows of a table, and sentences about them.

use assay_model::{Direction, Document, Role, Source, Statement, Table, Unit};

use super::margins::stem;
use super::{FactorLevel, Noise, extremes, levels, limit};
use crate::runs::claims::{self, End, Tone};
use crate::runs::facts::{Facts, close, place};
use crate::runs::wording::{difference, rough, with_unit};
use crate::runs::written::resolution;
use crate::{Class, Finding, Level};

/// What one metric of a table shows.
struct Part<'a> {
    metric: String,
    unit: Unit,
    levels: Vec<FactorLevel>,
    noise: Option<Noise>,
    claims: Vec<&'a Statement>,
}

/// Two levels that are set against each other, and the difference that needs no cause.
struct Pair<'a> {
    low: &'a FactorLevel,
    high: &'a FactorLevel,
    limit: f64,
}

impl Pair<'_> {
    fn gap(&self) -> f64 {
        (self.high.mean - self.low.mean).abs()
    }

    fn is_noise(&self) -> bool {
        self.gap() > 0.0 && self.gap() <= self.limit
    }
}

/// One finding for a table at most: what is claimed about two of its rows, about all of them, or about the best.
pub(super) fn check(facts: &Facts<'_>, document: &Document, table: &Table) -> Option<Finding> {
    let mut metrics: Vec<&str> = table
        .columns
        .iter()
        .filter_map(|column| match &column.role {
            Role::Metric(metric) if claims::is_ranked(stem(metric)) => Some(metric.as_str()),
            _ => None,
        })
        .collect();
    metrics.sort_unstable();
    metrics.dedup();
    let parts: Vec<Part<'_>> =
        metrics.into_iter().filter_map(|metric| part(facts, document, table, metric)).collect();
    let hedge = facts.hedge(document, &table.headings);
    let claimed = if hedge.is_some() { Level::Doubtful } else { Level::Contradicted };
    parts
        .iter()
        .find_map(|part| two_rows(facts, part, claimed))
        .or_else(|| all_rows(&parts, hedge))
        .or_else(|| parts.iter().find_map(close_winner))
}

fn part<'a>(facts: &Facts<'_>, document: &'a Document, table: &'a Table, metric: &str) -> Option<Part<'a>> {
    let rows = facts.runs_of_table(table);
    let platform = rows.first()?.1.platform();
    let noise = super::of(facts, document, stem(metric), platform);
    let levels = levels(facts, &rows, metric);
    let unit = rows.iter().find_map(|(_, run)| run.observation(metric))?.unit.clone();
    let claims = claims::about_table(document, table)
        .filter(|statement| claims::may_be_about(&statement.text, metric))
        .collect();
    let stated = noise.is_some() || levels.iter().filter(|level| level.half.is_some()).count() > 1;
    (stated && levels.len() > 1).then_some(Part { metric: metric.to_owned(), unit, levels, noise, claims })
}

fn pair<'a>(
    part: &'a Part<'_>,
    one: &'a FactorLevel,
    other: &'a FactorLevel,
    comparisons: usize,
) -> Option<Pair<'a>> {
    let (low, high) = if one.mean <= other.mean { (one, other) } else { (other, one) };
    Some(Pair { low, high, limit: limit(part.noise.as_ref(), low, high, comparisons)? })
}

/// A sentence that ranks two rows which it names by their numbers or their settings.
fn two_rows(facts: &Facts<'_>, part: &Part<'_>, standing: Level) -> Option<Finding> {
    let ranking = part.claims.iter().filter(|statement| claims::tone(&statement.text) == Some(Tone::Ranking));
    ranking.copied().find_map(|statement| {
        let mut named = by_values(part, statement);
        if named.len() != 2 {
            named = by_settings(facts, part, statement);
        }
        let [one, other] = named.as_slice() else { return None };
        let pair = pair(part, one, other, 1).filter(Pair::is_noise)?;
        Some(finding(part, &pair, Some(statement), standing))
    })
}

fn by_values<'a>(part: &'a Part<'_>, statement: &Statement) -> Vec<&'a FactorLevel> {
    let mut named: Vec<&FactorLevel> = Vec::new();
    for quantity in &statement.quantities {
        let digit = resolution(&quantity.text, quantity.value).map_or(0.0, |(digit, _)| digit);
        let states = |level: &&FactorLevel| {
            (level.mean - quantity.value).abs() <= (0.51 * digit).max(1e-9 * level.mean.abs())
        };
        let mut fitting = part.levels.iter().filter(states);
        if let (Some(level), None) = (fitting.next(), fitting.next())
            && !named.iter().any(|other| std::ptr::eq(*other, level))
        {
            named.push(level);
        }
    }
    named
}

fn by_settings<'a>(facts: &Facts<'_>, part: &'a Part<'_>, statement: &Statement) -> Vec<&'a FactorLevel> {
    let is_named = |level: &&FactorLevel| {
        facts.runs.get(level.place).is_some_and(|run| {
            statement.quantities.iter().any(|quantity| {
                let value = quantity.name.as_deref().and_then(|name| run.number(name));
                value.is_some_and(|value| close(value, quantity.value, 1e-9))
            })
        })
    };
    part.levels.iter().filter(is_named).collect()
}

/// All rows together lie within the noise.
fn all_rows(parts: &[Part<'_>], hedge: Option<&Statement>) -> Option<Finding> {
    let stated = |part: &Part<'_>, wanted: Tone| -> Option<usize> {
        part.claims.iter().position(|statement| claims::tone(&statement.text) == Some(wanted))
    };
    // A metric that somebody ranks by comes first; one that nobody speaks of says least.
    let (part, pair) = parts
        .iter()
        .filter_map(|part| {
            let (low, high) = extremes(&part.levels)?;
            let comparisons = part.levels.len() * (part.levels.len() - 1) / 2;
            Some((part, pair(part, low, high, comparisons).filter(Pair::is_noise)?))
        })
        .min_by_key(|(part, _)| {
            (stated(part, Tone::Ranking).is_none(), stated(part, Tone::Alike).is_none())
        })?;
    let claim = |wanted: Tone| stated(part, wanted).and_then(|index| part.claims.get(index)).copied();
    let (ranking, alike) = (claim(Tone::Ranking), claim(Tone::Alike));
    let standing = match (ranking, hedge, alike) {
        (Some(_), Some(_), _) => Level::Doubtful,
        (Some(_), None, _) => Level::Contradicted,
        // Nobody ranks the rows: that they are alike is no mistake of the text, hedged or not.
        (None, _, Some(_)) => Level::Supported,
        (None, _, None) => Level::NotChecked,
    };
    Some(finding(part, &pair, ranking.or(alike).or(hedge), standing))
}

/// A sentence that picks the best of several rows though the second-best may be as good.
fn close_winner(part: &Part<'_>) -> Option<Finding> {
    let statement = part.claims.iter().copied().find(|statement| {
        claims::tone(&statement.text) == Some(Tone::Ranking) && claims::picks(&statement.text)
    })?;
    let better = claims::better(stem(&part.metric))?;
    let mut levels: Vec<&FactorLevel> = part.levels.iter().collect();
    levels.sort_by(|a, b| match better {
        Direction::Lower => a.mean.total_cmp(&b.mean),
        Direction::Higher => b.mean.total_cmp(&a.mean),
    });
    let (end, picked) = match claims::picked_end(&statement.text, better) {
        End::Best => ("best", (levels.first()?, levels.get(1)?)),
        End::Worst => ("worst", (levels.last()?, levels.iter().rev().nth(1)?)),
    };
    let pair = pair(part, picked.0, picked.1, 1).filter(Pair::is_noise)?;
    Some(Finding {
        summary: format!(
            "The {end} two settings differ in {} by {}, no more than repeats of one setting do ({}), so that the {end} cannot be picked.",
            part.metric,
            difference(pair.gap(), &part.unit),
            difference(pair.limit, &part.unit),
        ),
        advice: "Name both, or run these two several times.".to_owned(),
        ..finding(part, &pair, Some(statement), Level::Doubtful)
    })
}

fn finding(part: &Part<'_>, pair: &Pair<'_>, statement: Option<&Statement>, standing: Level) -> Finding {
    let mut arithmetic: Vec<String> =
        part.levels.iter().take(5).map(|level| line(level, &part.unit)).collect();
    arithmetic.push(format!("difference {}", difference(pair.gap(), &part.unit)));
    let spread = match &part.noise {
        Some(noise) => noise.describe(&part.unit),
        None => "by the spread stated beside the numbers".to_owned(),
    };
    arithmetic
        .push(format!("{spread}: differences up to {} need no cause", difference(pair.limit, &part.unit)));
    let mut sources: Vec<Source> = statement.map(place).into_iter().collect();
    sources.extend([pair.low.source.clone(), pair.high.source.clone()]);
    sources.extend(part.noise.iter().flat_map(|noise| noise.sources.iter().cloned()));
    sources.dedup();
    let claimed = match standing {
        Level::Contradicted => "; the write-up takes it for an effect",
        Level::Supported => ", as the write-up says",
        _ => "",
    };
    let needed = runs_needed(pair);
    Finding {
        class: Class::NoiseAsEffect,
        operands: Vec::new(),
        level: standing,
        summary: format!(
            "The settings compared differ in {} by {} at most, no more than repeats of one setting do ({}){claimed}.",
            part.metric,
            difference(pair.gap(), &part.unit),
            difference(pair.limit, &part.unit),
        ),
        arithmetic,
        sources,
        advice: match standing {
            Level::Supported => String::new(),
            _ => format!(
                "Run each setting several times and compare the means; such a difference takes about {needed} runs of each to see."
            ),
        },
    }
}

fn line(level: &FactorLevel, unit: &Unit) -> String {
    let runs = if level.count > 1 { format!(" (mean of {})", level.count) } else { String::new() };
    let half = level.half.map_or_else(String::new, |half| format!(" ± {}", difference(half, unit)));
    format!("{}: {}{half}{runs}", level.label, with_unit(level.mean, unit))
}

/// How many runs of each setting would bring the limit down to the difference.
fn runs_needed(pair: &Pair<'_>) -> String {
    let now = pair.low.count.min(pair.high.count) as f64;
    let needed = (now * (pair.limit / pair.gap()).powi(2)).ceil();
    if needed.is_finite() && needed < 1000.0 { rough(needed.max(2.0)) } else { "a thousand".to_owned() }
}
