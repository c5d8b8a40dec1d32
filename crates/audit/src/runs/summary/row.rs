//! Means and medians that stand in the same row as the runs they summarize.

use assay_model::{Document, Source, Statistic, Table};
use assay_stats::median;

use super::super::grid::{self, Entry, Field};
use super::super::same::numbers_repeats;
use super::super::written::Range;
use super::super::{Class, Finding, Level, wording};
use super::samples;

/// Runs of a row that it takes to summarize them.
const RUNS: usize = 3;

/// A summary that its row does not give.
struct Fault {
    outside: bool,
    line: String,
    source: Source,
}

pub(super) fn check(document: &Document, table: &Table) -> Vec<Finding> {
    let entries = grid::entries(table);
    let mut faults = Vec::new();
    let mut fits = Vec::new();
    for entry in &entries {
        for field in &entry.fields {
            let Some(statistic) = statistic(field.header) else { continue };
            match of_field(document, entry, field, statistic) {
                Some(Err(fault)) => faults.push(fault),
                Some(Ok(line)) => fits.push((line, field.source(document))),
                None => {}
            }
        }
    }
    let (outside, inside): (Vec<Fault>, Vec<Fault>) = faults.into_iter().partition(|fault| fault.outside);
    let mut findings = Vec::new();
    findings.extend(finding(Class::SummaryOutside, outside, "lies outside the runs of its row"));
    findings.extend(finding(Class::SampleStatistic, inside, "does not follow from the runs of its row"));
    if let (true, Some((_, first))) = (findings.is_empty(), fits.first()) {
        findings.push(Finding {
            class: Class::SampleStatistic,
            operands: Vec::new(),
            level: Level::Supported,
            summary: match fits.len() {
                1 => "One summary of a row follows from the runs beside it.".to_owned(),
                count => format!("{count} summaries of rows follow from the runs beside them."),
            },
            arithmetic: fits.iter().map(|(line, _)| line.clone()).take(8).collect(),
            sources: vec![first.clone()],
            advice: String::new(),
        });
    }
    findings
}

fn statistic(header: &str) -> Option<Statistic> {
    let lower = header.to_lowercase();
    let mut words = lower.split(|character: char| !character.is_alphanumeric());
    words.find_map(Statistic::named).filter(|found| *found != Statistic::Deviation)
}

/// The number of a field, in its base unit where that is stated.
fn number(field: &Field<'_>) -> Option<Range> {
    field.measured().map(|(range, _)| range).or_else(|| field.range())
}

/// What a summary is to the runs of its row; none where there are too few of them.
fn of_field(
    document: &Document,
    entry: &Entry<'_>,
    field: &Field<'_>,
    statistic: Statistic,
) -> Option<Result<String, Fault>> {
    let is_run = |other: &&Field<'_>| {
        other.index != field.index
            && other.group == field.group
            && numbers_repeats(other.header)
            && other.header.bytes().any(|byte| byte.is_ascii_digit())
    };
    let runs: Vec<Range> = entry.fields.iter().filter(is_run).filter_map(number).collect();
    let stated = number(field)?;
    if runs.len() < RUNS {
        return None;
    }
    let values: Vec<f64> = runs.iter().map(|run| run.value()).collect();
    let (low, high) = (samples::smallest(&values)?, samples::largest(&values)?);
    let expected = match statistic {
        Statistic::Mean => samples::mean(&values)?,
        Statistic::Median => median(&values)?,
        Statistic::Minimum => low,
        Statistic::Maximum => high,
        Statistic::Percentile(_) | Statistic::Deviation => return None,
    };
    // Every statistic here moves by no more than the runs do.
    let room = runs.iter().map(|run| run.half()).fold(0.0, f64::max);
    let line = format!(
        "{}: {} from {} to {} give {}, stated {}",
        entry.label,
        wording::counted(runs.len(), "run"),
        wording::plain(low),
        wording::plain(high),
        wording::plain(expected),
        field.cell.text.trim()
    );
    if Range::around(expected, room).meets(stated) {
        return Some(Ok(line));
    }
    // A header such as `mean (ms)` beside runs without a unit: the unit was misread, not the mean.
    let scale = (stated.value() / expected).abs().log10().round();
    let scaled = Range::around(expected * 10_f64.powf(scale), (room * 10_f64.powf(scale)).abs());
    if scale != 0.0 && scaled.meets(stated) {
        return None;
    }
    let outside = !Range::between(low - room, high + room).meets(stated);
    Some(Err(Fault { outside, line, source: field.source(document) }))
}

fn finding(class: Class, faults: Vec<Fault>, what: &str) -> Option<Finding> {
    let first = faults.first()?.line.clone();
    Some(Finding {
        operands: Vec::new(),
        class,
        level: Level::Contradicted,
        summary: match faults.len() {
            1 => format!("A summary {what}: {first}."),
            count => format!("In {count} rows a summary {what}, for example {first}."),
        },
        sources: faults.iter().map(|fault| fault.source.clone()).take(8).collect(),
        arithmetic: faults.into_iter().map(|fault| fault.line).take(8).collect(),
        advice: "Compute the summaries again from the runs.".to_owned(),
    })
}
