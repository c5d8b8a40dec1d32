//! Probabilities against the logits printed beside them.

use assay_model::{Document, Series, Source, names};

use super::facts::Facts;
use super::written::last_digit;
use super::{Class, Finding, Standing, wording};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.documents.iter().flat_map(in_document).collect()
}

/// A series and the line it stands on.
fn series<'a>(document: &'a Document, metric: &str) -> Vec<(&'a Series, u64)> {
    let all =
        document.runs.iter().flat_map(|run| run.series.iter().map(move |series| (series, run.span.first)));
    all.filter(|(series, _)| series.metric == metric && !series.values.is_empty())
        .map(|(series, line)| (series, series.source.as_ref().map_or(line, |source| source.line)))
        .collect()
}

fn in_document(document: &Document) -> Vec<Finding> {
    let logits = series(document, names::LOGITS);
    let mut findings = Vec::new();
    for (probabilities, line) in series(document, names::PROBABILITIES) {
        let source = document.source(line);
        let fitting = logits.iter().filter(|(logits, _)| logits.values.len() == probabilities.values.len());
        let finding = match fitting.min_by_key(|(_, other)| other.abs_diff(line)) {
            Some((logits, _)) => against(logits, probabilities, source),
            None => alone(probabilities, source),
        };
        findings.extend(finding);
    }
    findings
}

/// How many distributions are printed in one array: as many as the probabilities add up to.
fn rows(probabilities: &[f64]) -> Option<usize> {
    let sum: f64 = probabilities.iter().sum();
    let room = last_digit(probabilities) * probabilities.len() as f64 / 2.0 + 1e-9;
    let whole = sum.round();
    let count = if (1.0..=1e6).contains(&whole) { whole as usize } else { return None };
    ((sum - whole).abs() <= room && probabilities.len().is_multiple_of(count)).then_some(count)
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn against(logits: &Series, probabilities: &Series, source: Source) -> Option<Finding> {
    let (inputs, outputs) = (&logits.values, &probabilities.values);
    let classes = outputs.len() / rows(outputs).unwrap_or(1);
    if classes < 2 || inputs.iter().chain(outputs).any(|value| !value.is_finite()) {
        return alone(probabilities, source);
    }
    let expected: Vec<f64> = inputs.chunks(classes).flat_map(softmax).collect();
    // A logit that is off by half its last digit h moves a probability p by at most 2·h·p(1 − p).
    let input_half = last_digit(inputs) / 2.0;
    let room = |p: f64| last_digit(outputs) * 0.75 + 4.0 * input_half * p * (1.0 - p) + 1e-9;
    let wrong: Vec<(usize, f64, f64)> = expected
        .iter()
        .zip(outputs)
        .enumerate()
        .filter(|(_, (expected, stated))| (*expected - *stated).abs() > room(**expected))
        .map(|(place, (expected, stated))| (place, *expected, *stated))
        .collect();
    let line = |expected: f64, stated: f64| {
        format!("softmax gives {}, stated {}", wording::rough(expected), wording::plain(stated))
    };
    let (standing, summary, arithmetic, advice) = match wrong.first() {
        None => (
            Standing::Supported,
            format!("The {} probabilities are the softmax of the logits beside them.", outputs.len()),
            expected.iter().zip(outputs).map(|(e, s)| line(*e, *s)).take(8).collect::<Vec<_>>(),
            "",
        ),
        Some((_, expected, stated)) => (
            Standing::Contradicted,
            format!(
                "{} of {} probabilities are not the softmax of the logits beside them: {} against {}.",
                wrong.len(),
                outputs.len(),
                wording::plain(*stated),
                wording::rough(*expected)
            ),
            wrong.iter().map(|(_, expected, stated)| line(*expected, *stated)).take(8).collect(),
            "Print both from the same forward pass.",
        ),
    };
    Some(Finding {
        class: Class::Probabilities,
        standing,
        summary,
        arithmetic,
        sources: vec![source],
        advice: advice.to_owned(),
    })
}

/// Probabilities without logits must at least add up to whole numbers.
fn alone(probabilities: &Series, source: Source) -> Option<Finding> {
    let values = &probabilities.values;
    let outside = values.iter().any(|value| !(0.0..=1.0).contains(value));
    let thinned = probabilities.seen > values.len() as u64;
    if values.len() < 2 || thinned || (!outside && rows(values).is_some()) {
        return None;
    }
    let sum: f64 = values.iter().sum();
    Some(Finding {
        class: Class::Probabilities,
        standing: Standing::Contradicted,
        summary: format!("The {} probabilities add up to {}, not to 1.", values.len(), wording::rough(sum)),
        arithmetic: Vec::new(),
        sources: vec![source],
        advice: "Print probabilities after the softmax.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    fn printed(logits: &[f64], probabilities: &[f64]) -> Vec<Finding> {
        let points = |values: &[f64]| values.iter().map(|value| (0.0, 0.0, *value)).collect::<Vec<_>>();
        found(
            check,
            &[document("out.md", |build| {
                build.log("arrays", "groq");
                build.series("logits", &points(logits)).series("probabilities", &points(probabilities));
            })],
        )
    }

    #[test]
    fn the_softmax_of_the_logits_is_expected() {
        assert_eq!(printed(&[-1.9072, 2.1699], &[0.0167, 0.9833])[0].standing, Standing::Supported);
        assert_eq!(printed(&[-1.9072, 2.1699], &[0.0267, 0.9733])[0].standing, Standing::Contradicted);
        let two = printed(&[0.5, -0.5, 1.0, 2.0], &[0.7311, 0.2689, 0.2689, 0.7311]);
        assert_eq!(two[0].standing, Standing::Supported, "{two:?}");
    }

    #[test]
    fn probabilities_must_add_up() {
        assert_eq!(printed(&[], &[0.2, 0.5])[0].standing, Standing::Contradicted);
        assert!(printed(&[], &[0.3333, 0.3333, 0.3333]).is_empty());
    }
}
