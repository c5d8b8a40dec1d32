//! Rates that count something else than their name says.

use assay_model::{Document, Table, Unit, names};

use super::super::facts::Run;
use super::super::grid::{self, Entry, Field};
use super::super::written::{self, Range};
use super::super::{Class, Finding, Level, wording};
use super::TOLERANCE;

/// Columns of one table that cannot both be what they are called.
pub(super) fn in_table(document: &Document, table: &Table) -> Vec<Finding> {
    let entries = grid::entries(table);
    let mut findings = Vec::new();
    findings.extend(sequences(document, &entries));
    findings.extend(steps(document, table, &entries));
    findings
}

/// Whether a field holds a rate of sequences or samples, by what it is called.
fn counts(field: &Field<'_>, words: &[&str]) -> bool {
    let header = field.header.to_lowercase();
    let thing = match &field.cell.unit {
        Some(Unit::PerSecond(thing)) => thing.to_lowercase(),
        _ => String::new(),
    };
    let is_rate = field.metric().is_some_and(|metric| matches!(names::unit(metric), Unit::PerSecond(_)));
    is_rate && words.iter().any(|word| header.contains(word) || thing.starts_with(word))
}

/// A rate called sequences that is a whole multiple of the rate of samples: it counts tokens.
fn sequences(document: &Document, entries: &[Entry<'_>]) -> Option<Finding> {
    let mut lines = Vec::new();
    let mut sources = Vec::new();
    let mut factor: Option<f64> = None;
    for entry in entries {
        let many = entry.fields.iter().find(|field| counts(field, &["sequence", "seqs"]))?;
        let few =
            entry.fields.iter().find(|field| field.index != many.index && counts(field, &["sample"]))?;
        let (Some(over), Some(under)) = (many.range(), few.range()) else { continue };
        let quotient = over.over(under)?;
        let whole = quotient.value().round();
        if whole < 2.0
            || !quotient.widened(1e-3).meets(Range::exact(whole))
            || factor.is_some_and(|f| f != whole)
        {
            return None;
        }
        factor = Some(whole);
        lines.push(format!("{} / {} = {}", many.cell.text, few.cell.text, wording::rough(quotient.value())));
        sources.push(many.source(document));
    }
    Some(tokens_not_sequences(factor?, lines, sources))
}

fn tokens_not_sequences(factor: f64, mut lines: Vec<String>, sources: Vec<assay_model::Source>) -> Finding {
    lines.truncate(8);
    let factor = wording::plain(factor);
    Finding {
        class: Class::RateScope,
        operands: Vec::new(),
        level: Level::Contradicted,
        summary: format!(
            "What is called sequences per second is {factor} times the samples per second, so it counts tokens of \
             sequences of {factor}."
        ),
        arithmetic: lines,
        sources: sources.into_iter().take(8).collect(),
        advice: "Call it tokens per second, and compare samples per second.".to_owned(),
    }
}

/// A rate called samples that is the number of steps over the time.
fn steps(document: &Document, table: &Table, entries: &[Entry<'_>]) -> Option<Finding> {
    let mut lines = Vec::new();
    let mut sources = Vec::new();
    let mut header = "";
    for entry in entries {
        let field = entry.fields.iter().find(|field| {
            field.metric().is_some_and(|metric| metric.starts_with(names::SAMPLES_PER_S))
                && field.cell.value.is_some()
        });
        let Some(field) = field else { continue };
        let number = |name: &str| {
            let own = entry.find(name, field.group).and_then(Field::range);
            own.or_else(|| grid::nearby(document, table, name).map(|(value, _)| Range::exact(value)))
        };
        let batch = number(names::setting::BATCH_SIZE)?;
        let (predicted, text) = steps_rate(entry, field, number)?;
        let stated = field.range()?;
        let is_steps = predicted.widened(TOLERANCE).meets(stated);
        let is_samples = predicted.times(batch)?.widened(TOLERANCE).meets(stated);
        if !is_steps || is_samples || batch.low < 2.0 {
            return None;
        }
        header = field.header.trim();
        lines.push(format!(
            "{text} = {}, stated {}",
            wording::plain(predicted.value()),
            field.cell.text.trim()
        ));
        sources.push(field.source(document));
    }
    lines.truncate(8);
    (!lines.is_empty()).then(|| steps_not_samples(header, lines, sources))
}

/// Steps over the time of the row, or one over the time of a step.
fn steps_rate(
    entry: &Entry<'_>,
    field: &Field<'_>,
    number: impl Fn(&str) -> Option<Range>,
) -> Option<(Range, String)> {
    let totals = [names::DURATION_LOOP, names::DURATION_REPORTED, names::DURATION_FIT, names::DURATION_JOB];
    let total = totals.iter().find_map(|name| entry.find(name, field.group));
    if let (Some(total), Some(steps)) = (total, number(names::setting::STEPS)) {
        let text = format!("{} / {}", wording::plain(steps.value()), total.cell.text.trim());
        return Some((steps.over(total.range()?)?, text));
    }
    let step = [names::STEP_S, names::TIME_STEP].iter().find_map(|name| entry.find(name, field.group))?;
    Some((Range::exact(1.0).over(step.range()?)?, format!("1 / {}", step.cell.text.trim())))
}

fn steps_not_samples(header: &str, lines: Vec<String>, sources: Vec<assay_model::Source>) -> Finding {
    Finding {
        class: Class::RateScope,
        operands: Vec::new(),
        level: Level::Contradicted,
        summary: format!("`{header}` counts steps, not samples: it is the steps over the time."),
        arithmetic: lines,
        sources: sources.into_iter().take(8).collect(),
        advice: "Multiply it by the batch size, or call it steps per second.".to_owned(),
    }
}

/// The same for the rates that a log states.
pub(super) fn in_log(run: &Run<'_>) -> Option<Finding> {
    sequences_of(run).or_else(|| steps_of(run))
}

fn sequences_of(run: &Run<'_>) -> Option<Finding> {
    let called = |text: &str| text.to_lowercase().contains("sequence");
    let tokens = run.read.observations.iter().find(|observation| {
        observation.metric.starts_with(names::TOKENS_PER_S)
            && observation.written.as_deref().is_some_and(called)
    })?;
    let samples = run.observation(names::SAMPLES_PER_S_LOOP).filter(|samples| samples.value > 0.0)?;
    let quotient = tokens.value / samples.value;
    let whole = quotient.round();
    if whole < 2.0 || (quotient / whole - 1.0).abs() > 1e-3 {
        return None;
    }
    let line = format!(
        "{} / {} = {}",
        wording::plain(tokens.value),
        wording::plain(samples.value),
        wording::rough(quotient)
    );
    let source = tokens.source.clone().unwrap_or_else(|| run.source());
    let mut finding = tokens_not_sequences(whole, vec![line], vec![source]);
    // The program that wrote the log chose the word; nobody claims anything by it until it is copied.
    finding.level = Level::Doubtful;
    Some(finding)
}

fn steps_of(run: &Run<'_>) -> Option<Finding> {
    let rate = run.observation(names::SAMPLES_PER_S_LOOP)?;
    let stated = match &rate.written {
        Some(text) => written::of_text(text, rate.value, false),
        None => Range::exact(rate.value),
    };
    let batch = run.number(names::setting::BATCH_SIZE).filter(|batch| *batch >= 2.0)?;
    let steps = run.value(names::STEPS).or_else(|| run.number(names::setting::STEPS))?;
    let seconds = run.value(names::DURATION_LOOP).filter(|seconds| *seconds > 0.0)?;
    let predicted = Range::exact(steps / seconds);
    let is_steps = predicted.widened(TOLERANCE).meets(stated);
    let is_samples = predicted.times(Range::exact(batch))?.widened(TOLERANCE).meets(stated);
    if !is_steps || is_samples {
        return None;
    }
    let line = format!(
        "{} / {} = {}, stated {}",
        wording::plain(steps),
        wording::plain(seconds),
        wording::plain(steps / seconds),
        wording::plain(rate.value)
    );
    let source = rate.source.clone().unwrap_or_else(|| run.source());
    Some(steps_not_samples("samples per second", vec![line], vec![source]))
}
