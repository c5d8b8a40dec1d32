//! Rates whose scope or unit is not what their name says: a throughput over the whole job beside the rate of the
//! loop, sequences that are tokens, samples that are steps.

mod unit;

use assay_model::{Document, Origin, Source, Table, Unit, names};

use super::facts::{Facts, Run, close};
use super::grid::{self, Entry, Field};
use super::written::Range;
use super::{Class, Finding, Level, wording};

/// How much higher the rate of the loop must be for the difference to matter.
const APART: f64 = 1.1;
/// How far a rate may be from its count over its seconds.
const TOLERANCE: f64 = 0.01;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        for table in &document.tables {
            findings.extend(beside_loop(document, table));
            findings.extend(unit::in_table(document, table));
        }
        findings.extend(processed(facts, document));
        findings.extend(facts.runs_of(document).filter(|run| run.is_log()).filter_map(unit::in_log));
    }
    findings
}

/// One row whose throughput and loop rate lie apart.
struct Row {
    label: String,
    whole: Range,
    whole_text: String,
    inner: Range,
    inner_text: String,
    whole_header: String,
    inner_header: String,
    /// Whether the throughput says that it is over the whole.
    named: bool,
    /// Seconds of training and seconds in all, where the row shows.
    seconds: Option<(f64, f64, String)>,
    source: Source,
}

/// A throughput over a time that is not named, or over the whole job, beside the rate of the loop.
fn beside_loop(document: &Document, table: &Table) -> Option<Finding> {
    let entries = grid::entries(table);
    let rows: Vec<Row> = entries.iter().filter_map(|entry| row(document, table, entry)).collect();
    let worst = rows.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    if worst.inner.low / worst.whole.high < APART {
        return None;
    }
    let (whole, inner, named) = (&worst.whole_header, &worst.inner_header, worst.named);
    let lost = match &worst.seconds {
        Some((training, total, _)) => format!(
            ": {} of {} s are not training",
            wording::plain((total - training).round()),
            wording::plain(total.round())
        ),
        None => String::new(),
    };
    let mut arithmetic: Vec<String> = rows.iter().map(line).collect();
    arithmetic.truncate(8);
    Some(Finding {
        class: Class::RateScope,
        operands: Vec::new(),
        level: if named { Level::Supported } else { Level::Doubtful },
        summary: format!(
            "`{whole}` is not the rate of the loop, which `{inner}` gives: {} against {} ({}){lost}.",
            worst.whole_text, worst.inner_text, worst.label
        ),
        arithmetic,
        sources: std::iter::once(worst.source.clone())
            .chain(rows.iter().map(|row| row.source.clone()).filter(|source| *source != worst.source))
            .take(8)
            .collect(),
        advice: match named {
            true => String::new(),
            false => format!(
                "Compare settings by `{inner}`; report the rest (queue, compile, staging, checkpoints) as times of \
                 their own."
            ),
        },
    })
}

fn gap(row: &Row) -> f64 {
    row.inner.value() / row.whole.value()
}

fn line(row: &Row) -> String {
    let label = if row.label.is_empty() { String::new() } else { format!("{}: ", row.label) };
    match &row.seconds {
        Some((training, total, text)) => format!(
            "{label}{text} = {} s of training in {} s, {} s are something else",
            wording::plain(training.round()),
            wording::plain(*total),
            wording::plain((total - training).round())
        ),
        None => format!("{label}{} / {} = {}", row.inner_text, row.whole_text, wording::rough(gap(row))),
    }
}

fn row(document: &Document, table: &Table, entry: &Entry<'_>) -> Option<Row> {
    let rate =
        |name: &str| entry.find(name, "").filter(|field| field.range().is_some_and(|range| range.low > 0.0));
    let inner = rate(names::SAMPLES_PER_S_LOOP).or_else(|| rate(names::SAMPLES_PER_S_INSTANT))?;
    let whole = rate(names::SAMPLES_PER_S)
        .or_else(|| rate(names::SAMPLES_PER_S_FIT))
        .or_else(|| rate(names::SAMPLES_PER_S_JOB))?;
    let (inner_range, whole_range) = (inner.range()?, whole.range()?);
    Some(Row {
        label: entry.label.clone(),
        whole: whole_range,
        whole_text: whole.cell.text.trim().to_owned(),
        inner: inner_range,
        inner_text: inner.cell.text.trim().to_owned(),
        whole_header: whole.header.trim().to_owned(),
        inner_header: inner.header.trim().to_owned(),
        // `samples_per_s.fit` names its scope even where its unit made the reader take it for a plain rate.
        named: whole.metric() != Some(names::SAMPLES_PER_S)
            || [".fit", ".job"].iter().any(|scope| whole.header.contains(scope)),
        seconds: seconds(document, table, entry, inner, whole_range),
        source: whole.source(document),
    })
}

/// Seconds of training and in all: the count over the rate of the loop, beside a stated time that the throughput was
/// taken over.
fn seconds(
    document: &Document,
    table: &Table,
    entry: &Entry<'_>,
    inner: &Field<'_>,
    whole: Range,
) -> Option<(f64, f64, String)> {
    let times = [names::DURATION_JOB, names::DURATION_FIT, names::DURATION_REPORTED, names::DURATION_SCRIPT];
    let time = times.iter().find_map(|name| entry.find(name, ""))?.range()?;
    let number = |name: &str| {
        let field = entry.find(name, "").and_then(|field| field.cell.value);
        field.or_else(|| grid::nearby(document, table, name).map(|(value, _)| value))
    };
    let batch_and_steps = || {
        let (batch, steps) = (number(names::setting::BATCH_SIZE)?, number(names::setting::STEPS)?);
        Some((batch * steps, format!("{} × {}", wording::plain(batch), wording::plain(steps))))
    };
    let counted = entry.find(names::SAMPLES, "").and_then(|field| field.cell.value);
    let (count, text) = counted.map(|count| (count, wording::plain(count))).or_else(batch_and_steps)?;
    let covers = Range::exact(count).over(time)?.widened(TOLERANCE).meets(whole);
    let training = count / inner.cell.value?;
    let text = format!("{text} / {}", inner.cell.text.trim());
    (covers && training.is_finite() && training < time.value()).then_some((training, time.value(), text))
}

/// What the time of a `Processed N in T` line covers, by the rate of the loop and by the phases of the log. One
/// finding for all logs of a document, unless a result of the write-up rests on such a time.
fn processed(facts: &Facts<'_>, document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sound: Vec<(String, Source)> = Vec::new();
    for run in facts.runs_of(document).filter(|run| run.is_log()) {
        let Some(stated) = Processed::of(run) else { continue };
        let line = format!("{} {}", stated.arithmetic(), stated.covers(run));
        match quoted(document, &stated) {
            Some(place) if stated.inner / stated.rate() > APART => findings.push(Finding {
                class: Class::RateScope,
                operands: Vec::new(),
                level: Level::Doubtful,
                summary: format!(
                    "{} samples/s is not the rate of the loop, which is {}: the {} s under it {}.",
                    wording::plain(stated.rate()),
                    wording::plain(stated.inner),
                    wording::plain(stated.seconds),
                    stated.covers(run)
                ),
                arithmetic: vec![line],
                sources: vec![place, stated.source],
                advice: "Use the rate of the loop to compare settings.".to_owned(),
            }),
            _ => sound.push((line, stated.source)),
        }
    }
    if let Some((first, _)) = sound.first() {
        findings.push(Finding {
            class: Class::RateScope,
            operands: Vec::new(),
            level: Level::Supported,
            summary: match sound.len() {
                1 => format!("What the stated time of the log covers is known: {first}."),
                count => {
                    format!("What the stated times of {count} logs cover is known, for example: {first}.")
                }
            },
            sources: sound.iter().map(|(_, source)| source.clone()).take(8).collect(),
            arithmetic: sound.into_iter().map(|(line, _)| line).take(8).collect(),
            advice: String::new(),
        });
    }
    findings
}

/// A count and a time that a log states beside the rate of its loop.
struct Processed {
    count: f64,
    seconds: f64,
    inner: f64,
    source: Source,
}

impl Processed {
    fn of(run: &Run<'_>) -> Option<Processed> {
        let times = [names::DURATION_FIT, names::DURATION_REPORTED, names::DURATION_LOOP];
        let stated = |name: &&str| run.observation(name).filter(|time| time.origin == Origin::Reported);
        let time = times.iter().find_map(stated).filter(|time| time.value.is_finite() && time.value > 0.0)?;
        let inner =
            run.observation(names::SAMPLES_PER_S_LOOP).filter(|rate| rate.origin == Origin::Reported)?;
        Some(Processed {
            count: time.count.or_else(|| run.value(names::SAMPLES))?,
            seconds: time.value,
            inner: Some(inner.value).filter(|rate| *rate > 0.0)?,
            source: time.source.clone().unwrap_or_else(|| run.source()),
        })
    }

    fn rate(&self) -> f64 {
        self.count / self.seconds
    }

    fn arithmetic(&self) -> String {
        format!(
            "{} / {} = {} beside {} over the loop:",
            wording::plain(self.count),
            wording::plain(self.seconds),
            wording::plain(self.rate()),
            wording::plain(self.inner)
        )
    }

    fn covers(&self, run: &Run<'_>) -> String {
        if close(self.rate(), self.inner, TOLERANCE) {
            return "cover the loop alone".to_owned();
        }
        match phases_that_sum(run, self.seconds) {
            Some(phases) => format!("cover {phases}"),
            None if self.rate() > self.inner => "are less than the loop took at its own rate".to_owned(),
            None => "cover more than the loop".to_owned(),
        }
    }
}

/// The run of phases, beginning with training or up to its end, that takes as long as the stated time.
fn phases_that_sum(run: &Run<'_>, seconds: f64) -> Option<String> {
    let phases: Vec<(&str, f64)> =
        run.read.phases.iter().filter_map(|phase| Some((phase.name.as_str(), phase.seconds?))).collect();
    for first in 0..phases.len() {
        let mut sum = 0.0;
        for last in first..phases.len().min(first + 40) {
            let Some((_, length)) = phases.get(last) else { break };
            sum += length;
            let span = phases.get(first..=last).unwrap_or_default();
            let has_training = span.iter().any(|(name, _)| *name == "train");
            if has_training && close(sum, seconds, 0.02) {
                let mut names: Vec<&str> = span.iter().map(|(name, _)| *name).collect();
                names.dedup();
                return Some(names.join(" + "));
            }
        }
    }
    None
}

/// Where the write-up gives that rate or time as a result without saying that it is over the whole.
fn quoted(document: &Document, stated: &Processed) -> Option<Source> {
    let rates = [names::SAMPLES_PER_S, names::SAMPLES_PER_S_LOOP, names::SAMPLES_PER_S_INSTANT];
    let times = [names::DURATION_REPORTED, names::DURATION_LOOP];
    let is_it = |field: &&Field<'_>| {
        let (Some(metric), Some(value)) = (field.metric(), field.cell.value) else { return false };
        rates.contains(&metric) && close(value, stated.rate(), 0.005)
            || times.contains(&metric) && close(value, stated.seconds, 0.001)
    };
    for table in &document.tables {
        let entries = grid::entries(table);
        let field = entries.iter().flat_map(|entry| &entry.fields).find(is_it);
        if let Some(field) = field {
            return Some(field.source(document));
        }
    }
    let says = |quantity: &assay_model::Quantity| {
        matches!(quantity.unit, Unit::PerSecond(_)) && close(quantity.value, stated.rate(), 0.005)
    };
    let statement = document.statements.iter().find(|statement| statement.quantities.iter().any(says))?;
    Some(super::facts::place(statement))
}

#[cfg(test)]
mod tests;
