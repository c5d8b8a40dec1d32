//! An answer in two or three sentences. Everything said here is a verdict that the answer has already.

use assay_judge::{Answer, AnswerRow, findings};

use crate::answer::scale;
use crate::number::counted;
use crate::study::{Judged, Study};

/// The most findings that are said above everything else.
const MOST_FINDINGS: usize = 2;

/// The answer in sentences, the most important first.
pub fn sentences(judged: &Judged) -> Vec<String> {
    let answer = &judged.answer;
    let with_values = answer.rows.iter().filter(|row| row.estimate.is_some()).count();
    if with_values == 0 {
        return vec![format!("No run has a value of {} yet.", answer.metric.name)];
    }
    let mut said: Vec<String> = found(judged).into_iter().take(MOST_FINDINGS).collect();
    if said.is_empty() {
        said = unranked(answer);
    }
    let missing: u64 = answer.rows.iter().map(|row| row.counts.missing).sum();
    let failed: u64 = answer.rows.iter().map(|row| row.counts.failed + row.counts.timed_out).sum();
    let parts: Vec<String> = [(failed, "failed"), (missing, "not done yet")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", counted(count, "run")))
        .collect();
    if !parts.is_empty() {
        said.push(format!("{}.", parts.join(", ")));
    }
    said
}

/// Further findings, which stand beside the results.
pub fn more_findings(study: &Study) -> Vec<String> {
    let of_headline = study.answers.first().map(found).unwrap_or_default();
    let beside = study.findings.iter().map(|finding| sentence(finding.text.clone()));
    of_headline.into_iter().skip(MOST_FINDINGS).chain(beside).collect()
}

fn found(judged: &Judged) -> Vec<String> {
    let found = findings::of_answer(&judged.answer, &judged.evidence);
    found.into_iter().map(|finding| sentence(finding.text)).collect()
}

/// A finding with its full stop.
fn sentence(text: String) -> String {
    if text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
}

/// What distinguishes a row: its settings, or its platform where there are none.
pub fn label(row: &AnswerRow) -> String {
    if row.settings.is_empty() { row.cell.platform.clone() } else { label_of(&row.settings) }
}

/// Settings in words.
pub fn label_of(settings: &assay_model::Settings) -> String {
    let parts: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    parts.join(", ")
}

fn unranked(answer: &Answer) -> Vec<String> {
    match answer.rows.as_slice() {
        [row] => vec![format!("{} is {}.", answer.metric.name, shown(answer, row))],
        rows => {
            let why = match answer.metric.better {
                None => "which direction is better is not known",
                Some(_) => "they are compared in groups, or have too few values",
            };
            vec![format!("{} in {} cells are not ranked: {why}.", answer.metric.name, rows.len())]
        }
    }
}

/// The estimate of a row with its interval and its count.
pub fn shown(answer: &Answer, row: &AnswerRow) -> String {
    let Some(estimate) = &row.estimate else { return "no value".to_owned() };
    let scale = scale(&answer.metric, std::iter::once(estimate));
    let decimals = scale.decimals(estimate.center, estimate.low, estimate.high);
    let unit = if scale.name.is_empty() { String::new() } else { format!(" {}", scale.name) };
    let center = scale.show(estimate.center, decimals);
    match estimate.samples {
        1 => format!("{center}{unit} (1 run, no interval)"),
        samples => format!(
            "{center}{unit} (interval {} – {}, {samples} runs)",
            scale.show(estimate.low, decimals),
            scale.show(estimate.high, decimals)
        ),
    }
}
