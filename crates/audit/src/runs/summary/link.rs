//! Which stated numbers may summarize which samples: the same metric, the same words around them, the same size.

use assay_model::{Document, Source, Statement, Statistic, Unit, Value, names};

use super::super::claims;
use super::super::facts::{self, Facts, Run, equal};
use super::super::written::{self, Range};
use super::samples::{self, Samples};

/// How far a summary may be from the samples it is linked to by words, and by its size alone.
const BY_WORDS: f64 = 2.5;
const BY_SIZE: f64 = 1.25;
/// Lines around samples in which a sentence may be about them.
const NEAR: u64 = 25;

/// A stated number that may summarize samples.
pub(super) struct Summary {
    pub range: Range,
    pub text: String,
    /// What it is called, where it is.
    pub statistic: Option<Statistic>,
    pub source: Source,
}

/// Samples, and the factor from their values to the unit of the summary.
type Linked<'s, 'a> = Vec<(&'s Samples<'a>, f64)>;

/// All summaries of a document, each with the samples that it may summarize.
pub(super) fn of<'s, 'a>(
    facts: &Facts<'_>,
    document: &Document,
    all: &'s [Samples<'a>],
) -> Vec<(Summary, Linked<'s, 'a>)> {
    let mut found = Vec::new();
    if all.is_empty() {
        return found;
    }
    for run in facts.runs.iter().filter(|run| std::ptr::eq(run.document, document) && run.is_row()) {
        found.extend(of_row(facts, document, run, all));
    }
    for statement in &document.statements {
        found.extend(of_statement(statement, all));
    }
    found
}

fn of_row<'s, 'a>(
    facts: &Facts<'_>,
    document: &Document,
    row: &Run<'_>,
    all: &'s [Samples<'a>],
) -> Vec<(Summary, Linked<'s, 'a>)> {
    let mut found = Vec::new();
    for observation in row.read.observations.iter().filter(|observation| facts::is_measured(observation)) {
        let (stem, statistic) = match observation.metric.strip_suffix(".median") {
            Some(stem) => (stem, Some(Statistic::Median)),
            None => (observation.metric.as_str(), None),
        };
        let Some(text) = observation.written.clone() else { continue };
        let range = written::of_text(&text, observation.value, false);
        let alone = only_row(facts, document, &observation.metric);
        let linked: Linked<'s, 'a> = all
            .iter()
            .filter(|samples| {
                samples.series.metric == stem || is_vague_rate(stem, samples) || is_called(row, stem, samples)
            })
            .filter(|samples| !is_summarised_elsewhere(facts, document, row, samples))
            .filter_map(|samples| {
                let limit = match same_words(document, row, samples) {
                    Some(true) => BY_WORDS,
                    // An array that says neither its unit nor what it belongs to may be anything.
                    _ if is_vague_rate(stem, samples) => return None,
                    None if alone && !samples.printed => BY_WORDS,
                    None if alone => BY_SIZE,
                    None if is_called(row, stem, samples) => BY_SIZE,
                    _ => return None,
                };
                Some((samples, scale(samples, observation.value, limit)?))
            })
            .collect();
        if !linked.is_empty() {
            let source = observation.source.clone().unwrap_or_else(|| row.source());
            found.push((Summary { range, text, statistic, source }, linked));
        }
    }
    found
}

/// Whether another table, in the section that the samples stand in, has their summaries.
fn is_summarised_elsewhere(
    facts: &Facts<'_>,
    document: &Document,
    row: &Run<'_>,
    samples: &Samples<'_>,
) -> bool {
    let above = document.statements.iter().filter(|statement| statement.span.first <= samples.source.line);
    let Some(nearest) = above.max_by_key(|statement| statement.span.first) else { return false };
    let Some(own) = row.table() else { return false };
    let is_there = |other: &&Run<'_>| {
        other.table().is_some_and(|table| table.headings == nearest.headings && !std::ptr::eq(table, own))
    };
    let summarizes = |other: &Run<'_>| {
        other.read.observations.iter().any(|observation| {
            is_called(other, &observation.metric, samples)
                && scale(samples, observation.value, BY_SIZE).is_some()
        })
    };
    own.headings != nearest.headings
        && facts
            .runs
            .iter()
            .filter(|other| std::ptr::eq(other.document, document))
            .filter(is_there)
            .any(summarizes)
}

/// Whether samples without a unit may be values of a rate: an array that is called a rate does not say of what.
fn is_vague_rate(metric: &str, samples: &Samples<'_>) -> bool {
    let is_vague = !matches!(samples.series.unit, Unit::Seconds | Unit::PerSecond(_));
    samples.is_rate
        && is_vague
        && claims::better(metric).is_some()
        && (metric.contains("_per_s") || metric.contains("throughput"))
}

/// Whether a row that states a time without saying which is called as the samples are: `forward-backward`.
fn is_called(row: &Run<'_>, metric: &str, samples: &Samples<'_>) -> bool {
    let plain = |text: &str| {
        let words =
            text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ").to_lowercase()
    };
    let name = samples.series.metric.strip_prefix("time.").unwrap_or(&samples.series.metric);
    let vague = [names::TIMING, names::DURATION_REPORTED, names::STEP_S].contains(&metric);
    vague && row.read.title.as_deref().is_some_and(|title| plain(title) == plain(name))
}

/// Whether no other row of the document states that metric.
fn only_row(facts: &Facts<'_>, document: &Document, metric: &str) -> bool {
    let rows = facts.runs.iter().filter(|run| std::ptr::eq(run.document, document) && run.is_row());
    rows.filter(|run| run.observation(metric).is_some()).count() == 1
}

/// Whether model, device and whatever else is set for both a row and samples are the same: by their settings, or else
/// by the words around them. None where nothing is.
fn same_words(document: &Document, row: &Run<'_>, samples: &Samples<'_>) -> Option<bool> {
    if std::ptr::eq(row.read, samples.run.read) {
        return Some(true);
    }
    let mut matched = None;
    for (name, theirs) in &samples.run.effective {
        let is_printed = samples.run.read.settings.iter().any(|fact| fact.by == "log" && fact.name == **name);
        let Some(mine) = own_setting(row, name).filter(|_| is_printed) else { continue };
        if !equal(mine, theirs) {
            return Some(false);
        }
        matched = Some(true);
    }
    for name in [names::setting::MODEL, names::setting::DEVICE] {
        let Some(mine) = row.setting(name) else { continue };
        let same = match samples.run.setting(name) {
            Some(theirs) => equal(mine, theirs),
            None => has_word(&around(document, samples), &mine.to_string()),
        };
        if !same {
            return Some(false);
        }
        matched = Some(true);
    }
    matched
}

/// The setting of a row that a label calls by this name, or by the first word of it: `block 16` and `Block size`.
fn own_setting<'a>(row: &Run<'a>, name: &str) -> Option<&'a Value> {
    let first = |name: &str| name.split('_').next().map(str::to_owned);
    let alike = row.effective.iter().find(|(other, _)| first(other) == first(name));
    row.setting(name).or_else(|| alike.map(|(_, value)| *value))
}

/// The words around samples: the heading over them and the sentences just above.
fn around(document: &Document, samples: &Samples<'_>) -> String {
    let above = document.statements.iter().filter(|statement| {
        let line = statement.span.first;
        line <= samples.source.line && samples.source.line - line <= NEAR
    });
    let mut text = samples.run.read.title.clone().unwrap_or_default();
    for statement in above {
        text.push(' ');
        text.push_str(&statement.text);
    }
    text.to_lowercase()
}

fn has_word(text: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    text.split(|character: char| !(character.is_alphanumeric() || character == '.'))
        .any(|other| other == word)
}

/// The factor from samples to seconds at which a value has their size. Arrays often show no unit.
fn scale(samples: &Samples<'_>, value: f64, limit: f64) -> Option<f64> {
    let scales: &[f64] = match samples.series.unit {
        Unit::Seconds | Unit::PerSecond(_) => &[1.0],
        _ if samples.is_rate => &[1.0, 1e3, 1e6, 1e9],
        _ => &[1.0, 1e-3, 1e-6, 1e-9],
    };
    let near = |center: f64, scale: f64| {
        let ratio = value / (center * scale);
        ratio > 1.0 / limit && ratio < limit
    };
    let (median, mean) = (samples.median()?, samples::mean(&samples.values)?);
    scales.iter().copied().find(|scale| near(median, *scale) || near(mean, *scale))
}

/// Sentences near the samples that name a mean, an average or a median of that metric.
fn of_statement<'s, 'a>(statement: &Statement, all: &'s [Samples<'a>]) -> Vec<(Summary, Linked<'s, 'a>)> {
    let lower = statement.text.to_lowercase();
    let mean = ["mean", "average", "avg"].iter().any(|word| lower.contains(word));
    let median = lower.contains("median");
    if !mean && !median {
        return Vec::new();
    }
    // A sentence with both says which is which only to a reader of the whole sentence.
    let statistic = match (mean, median) {
        (true, false) => Some(Statistic::Mean),
        (false, true) => Some(Statistic::Median),
        _ => None,
    };
    let mut found = Vec::new();
    for quantity in statement.quantities.iter().filter(|quantity| quantity.to.is_none()) {
        let timed = matches!(quantity.unit, Unit::Seconds | Unit::PerSecond(_));
        if !timed || quantity.value <= 0.0 {
            continue;
        }
        let named = |samples: &&Samples<'a>| match quantity.name.as_deref() {
            Some(name) => {
                samples.series.metric == name
                    || [samples.series.metric.as_str(), name].contains(&names::TIMING)
            }
            None => true,
        };
        let near = |samples: &&Samples<'a>| {
            samples.distance(statement.span.first) <= NEAR
                && samples.is_rate == matches!(quantity.unit, Unit::PerSecond(_))
        };
        let limit = if all.len() == 1 { BY_WORDS } else { BY_SIZE };
        let linked: Linked<'s, 'a> = all
            .iter()
            .filter(named)
            .filter(near)
            .filter_map(|samples| Some((samples, scale(samples, quantity.value, limit)?)))
            .collect();
        if !linked.is_empty() {
            let range = written::of_text(&quantity.text, quantity.value, false);
            let source = facts::place(statement);
            found.push((Summary { range, text: quantity.text.trim().to_owned(), statistic, source }, linked));
        }
    }
    found
}
