//! Predictions of a compiler beside measurements.

use assay_model::{Document, Observation, Origin, Statement, Unit, names};

use super::claims;
use super::facts::{Facts, Run, close, place};
use super::wording::{rough, with_unit};
use super::written::resolution;
use super::{Class, Finding, Level};

/// One finding for a document that holds predictions.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .documents
        .iter()
        .filter_map(|document| {
            claimed(facts, document).or_else(|| tabled(facts, document)).or_else(|| stated(facts, document))
        })
        .collect()
}

/// A predicted value of a run.
struct Predicted<'a> {
    run: &'a Run<'a>,
    observation: &'a Observation,
}

fn predicted<'a>(facts: &'a Facts<'a>, document: &'a Document) -> Vec<Predicted<'a>> {
    facts
        .runs_of(document)
        .flat_map(|run| run.read.observations.iter().map(move |observation| Predicted { run, observation }))
        .filter(|one| one.observation.origin == Origin::Prediction && one.observation.value > 0.0)
        .collect()
}

/// The measured metric that a predicted one stands for.
fn measured(metric: &str) -> Option<&'static str> {
    match metric {
        names::INFERENCES_PER_S_ESTIMATED => Some(names::INFERENCES_PER_S),
        names::LATENCY_ESTIMATED => Some(names::E2E),
        _ => None,
    }
}

/// Whether words say that a number was not measured.
fn owns_up(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "predict",
        "estimat",
        "simulat",
        "projected",
        "theoretical",
        "modelled",
        "modeled",
        "not measured",
        "compile-time",
    ]
    .iter()
    .any(|word| text.contains(word))
}

/// A sentence that takes a prediction for a measurement.
fn claimed(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let predicted = predicted(facts, document);
    for statement in document.statements.iter().filter(|statement| !owns_up(&statement.text)) {
        for quantity in &statement.quantities {
            let digit = resolution(&quantity.text, quantity.value).map_or(0.0, |(digit, _)| digit);
            let states = |one: &&Predicted<'_>| {
                let value = one.observation.value;
                claims::concerns(document, statement, one.run.platform())
                    && quantity.unit != Unit::Fraction
                    && digit <= 0.05 * value.abs()
                    && (quantity.value - value).abs() <= digit.max(1e-4 * value)
            };
            if let Some(one) = predicted.iter().find(states) {
                return Some(ranked(statement, one, &quantity.text, None));
            }
            let ratio = |one: &Predicted<'_>| -> Option<f64> {
                if !claims::concerns(document, statement, one.run.platform()) {
                    return None;
                }
                let base =
                    facts.runs_of(document).filter_map(|run| run.value(measured(&one.observation.metric)?));
                let mut ratios = base.filter(|base| *base > 0.0).map(|base| {
                    let ratio = one.observation.value / base;
                    if ratio < 1.0 { 1.0 / ratio } else { ratio }
                });
                ratios
                    .find(|ratio| *ratio > 1.2 && (ratio - quantity.value).abs() <= digit.max(0.005 * ratio))
            };
            if quantity.unit == Unit::Other("times".to_owned())
                && !is_measured_ratio(facts, document, quantity.value, digit)
                && let Some((one, ratio)) = predicted.iter().find_map(|one| Some((one, ratio(one)?)))
            {
                return Some(ranked(statement, one, &quantity.text, Some(ratio)));
            }
        }
    }
    None
}

/// Whether a factor follows from two measurements.
fn is_measured_ratio(facts: &Facts<'_>, document: &Document, factor: f64, digit: f64) -> bool {
    [names::INFERENCES_PER_S, names::E2E].into_iter().any(|metric| {
        let values: Vec<f64> = facts.runs_of(document).filter_map(|run| run.value(metric)).collect();
        values
            .iter()
            .any(|a| values.iter().any(|b| *b != 0.0 && (a / b - factor).abs() <= digit.max(0.005 * factor)))
    })
}

fn ranked(statement: &Statement, one: &Predicted<'_>, text: &str, ratio: Option<f64>) -> Finding {
    let observation = one.observation;
    let mut arithmetic = Vec::new();
    if let Some(ratio) = ratio {
        arithmetic.push(format!(
            "{} against a measurement = {} times",
            with_unit(observation.value, &observation.unit),
            rough(ratio)
        ));
    }
    let beside = measured(&observation.metric).and_then(|metric| one.run.observation(metric));
    arithmetic.extend(beside.map(|known| {
        format!(
            "predicted {}, measured {}",
            with_unit(observation.value, &observation.unit),
            with_unit(known.value, &known.unit)
        )
    }));
    Finding {
        class: Class::PredictionRanked,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "`{text}` rests on a prediction ({} {}), not on a measurement.",
            observation.metric,
            with_unit(observation.value, &observation.unit)
        ),
        arithmetic,
        sources: vec![place(statement), observation.source.clone().unwrap_or_else(|| one.run.source())],
        advice: "Compare measured numbers with one another, and call the prediction one.".to_owned(),
    }
}

/// A row of a table that states a prediction of a log as if it were measured.
fn tabled(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let predicted = predicted(facts, document);
    facts.runs_of(document).filter(|row| row.is_row()).find_map(|row| {
        row.read.observations.iter().filter(|stated| stated.origin == Origin::Reported).find_map(|stated| {
            let digit = resolution(stated.written.as_deref()?, stated.value)?.0;
            let one = predicted.iter().find(|one| {
                let value = one.observation.value;
                one.run.is_log() && digit <= 0.005 * value && (value - stated.value).abs() <= 0.51 * digit
            })?;
            let header = row.row().map(|(table, _)| table.columns.iter().map(|column| column.header.as_str()).collect::<Vec<_>>().join(" "));
            if header.is_some_and(|header| owns_up(&header)) {
                return None;
            }
            Some(Finding {
                class: Class::PredictionRanked,
                operands: Vec::new(),
                level: Level::Doubtful,
                summary: format!(
                    "A table states {} {} as a result; the log it comes from has it as a prediction of the compiler.",
                    stated.metric,
                    with_unit(stated.value, &stated.unit),
                ),
                arithmetic: measured(&one.observation.metric)
                    .and_then(|metric| one.run.observation(metric))
                    .map(|known| format!("measured in the same run: {}", with_unit(known.value, &known.unit)))
                    .into_iter()
                    .collect(),
                sources: vec![row.source_of(&stated.metric), one.observation.source.clone().unwrap_or_else(|| one.run.source())],
                advice: "Rank measured numbers, and call the prediction one.".to_owned(),
            })
        })
    })
}

/// Predictions that nobody mistakes: what they are, and whether they ever change.
fn stated(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let predicted = predicted(facts, document);
    let first = predicted.first()?;
    let equal = predicted
        .iter()
        .filter(|one| one.observation.metric == first.observation.metric)
        .filter(|one| close(one.observation.value, first.observation.value, 1e-12))
        .count();
    let constant =
        if equal > 1 { format!("; it is the same to the last digit in {equal} runs") } else { String::new() };
    let beside = measured(&first.observation.metric).and_then(|metric| first.run.observation(metric));
    Some(Finding {
        class: Class::PredictionRanked,
        operands: Vec::new(),
        level: Level::Supported,
        summary: format!(
            "{} {} is a prediction of the compiler and is kept apart from measurements{constant}.",
            first.observation.metric,
            with_unit(first.observation.value, &first.observation.unit)
        ),
        arithmetic: beside
            .map(|known| format!("measured: {} {}", known.metric, with_unit(known.value, &known.unit)))
            .into_iter()
            .collect(),
        sources: vec![first.observation.source.clone().unwrap_or_else(|| first.run.source())],
        advice: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Build, document, found};
    use super::*;

    fn chip(build: &mut Build) -> &mut Build {
        build.log("groq", "groq").metric(names::INFERENCES_PER_S, 453.45);
        build.log("groq", "groq").metric(names::INFERENCES_PER_S, 19_253.91);
        build.metric(names::INFERENCES_PER_S_ESTIMATED, 37_576.72);
        build.run().observations[1].origin = Origin::Prediction;
        build
    }

    #[test]
    fn a_prediction_that_nobody_mistakes_is_information() {
        let document = document("notes.md", |build: &mut Build| {
            chip(build).says("The chip does 19253.91 inferences/s.", &[(19_253.91, "inferences/s", None)]);
        });
        assert_eq!(found(check, &[document])[0].level, Level::Supported);
    }

    #[test]
    fn a_prediction_stated_as_a_result_is_doubtful() {
        let stated = document("notes.md", |build: &mut Build| {
            chip(build).says("The chip does 37577 inferences/s.", &[(37_577.0, "inferences/s", None)]);
        });
        assert_eq!(found(check, &[stated])[0].level, Level::Doubtful);
        let factor = document("notes.md", |build: &mut Build| {
            chip(build).says("The chip is 82.9 times faster.", &[(82.9, "times", None)]);
        });
        assert_eq!(found(check, &[factor])[0].level, Level::Doubtful);
        let tabled = document("notes.md", |build: &mut Build| {
            chip(build).table("groq", &["devices", "inferences_per_s"], &[&[0.0, 453.45], &[1.0, 37_576.72]]);
        });
        assert_eq!(found(check, &[tabled])[0].level, Level::Doubtful);
        let sound = document("notes.md", |build: &mut Build| {
            chip(build).says("The chip is 42.5 times faster.", &[(42.5, "times", None)]);
        });
        assert_eq!(found(check, &[sound])[0].level, Level::Supported);
    }
}
