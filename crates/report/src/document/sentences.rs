//! An answer in two or three sentences. Everything said here is a verdict that the answer has already.

use assay_judge::{Answer, Row};
use assay_model::{Direction, Verdict};

use crate::answer::{effect_cell, scale};
use crate::number::counted;

/// The answer in sentences, the most important first.
pub fn sentences(answer: &Answer) -> Vec<String> {
    let with_values = answer.rows.iter().filter(|row| row.estimate.is_some()).count();
    if with_values == 0 {
        return vec![format!("No run has a value of {} yet.", answer.metric.name)];
    }
    let mut said = match answer.best.and_then(|best| answer.rows.get(best)) {
        Some(best) => ranked(answer, best),
        None => unranked(answer),
    };
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

/// What distinguishes a row: its settings, or its platform where there are none.
pub fn label(row: &Row) -> String {
    if row.settings.is_empty() { row.cell.platform.clone() } else { label_of(&row.settings) }
}

/// Settings in words.
pub fn label_of(settings: &assay_model::Settings) -> String {
    let parts: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    parts.join(", ")
}

fn ranked(answer: &Answer, best: &Row) -> Vec<String> {
    let effects: Vec<(&Row, Verdict)> =
        answer.rows.iter().filter_map(|row| Some((row, row.against_best.as_ref()?.verdict))).collect();
    let ties =
        effects.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Same | Verdict::Unclear)).count();
    let word = if answer.metric.better == Some(Direction::Lower) { "lowest" } else { "highest" };
    let what = format!("the {word} {}", answer.metric.name);
    let shown = shown(answer, best);
    let mut said = Vec::new();
    if effects.is_empty() {
        said.push(format!("{} has {what}: {shown}. Nothing else can be compared with it.", label(best)));
        return said;
    }
    said.push(match ties {
        0 => format!("{} has {what}: {shown}.", label(best)),
        ties if ties == effects.len() => format!(
            "With these runs no cell is better than the others: {} has {what}, {shown}, and all others are indistinguishable from it.",
            label(best)
        ),
        ties => format!(
            "{} has {what}: {shown}; {} of {} other cells {} indistinguishable from it.",
            label(best), ties, effects.len(), if ties == 1 { "is" } else { "are" }
        ),
    });
    let center = |row: &Row| row.estimate.as_ref().map_or(0.0, |estimate| estimate.center);
    let lower = answer.metric.better == Some(Direction::Lower);
    let worst = effects.iter().filter(|(_, verdict)| *verdict == Verdict::Worse).max_by(|a, b| {
        let order = center(a.0).total_cmp(&center(b.0));
        if lower { order } else { order.reverse() }
    });
    if let Some((row, effect)) = worst.and_then(|(row, _)| Some((row, row.against_best.as_ref()?))) {
        said.push(format!(
            "Furthest behind is {}: {}.",
            label(row),
            effect_cell(effect, &answer.metric).text
        ));
    }
    said
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
pub fn shown(answer: &Answer, row: &Row) -> String {
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
