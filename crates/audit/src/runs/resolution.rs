//! Differences that a metric cannot resolve, because it comes in steps.

use assay_model::{Document, Source, names};

use super::facts::{Facts, Run};
use super::{Class, Finding, Level, claims, wording};

/// Differences of up to this many steps of a metric are said to be too few to decide.
const STEPS: f64 = 4.0;
/// Values that it takes to see that a metric comes in steps.
const VALUES: usize = 6;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        findings.extend(by_steps(facts, document));
    }
    findings
}

/// The final loss of a run whose losses come in steps.
struct Stepped {
    label: String,
    last: f64,
    step: f64,
    source: Source,
}

/// Final losses that lie a few steps apart.
fn by_steps(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let runs: Vec<Stepped> = facts
        .runs
        .iter()
        .filter(|run| std::ptr::eq(run.document, document) && run.is_log())
        .filter_map(stepped)
        .collect();
    let first = runs.first()?;
    let alike: Vec<&Stepped> = runs.iter().filter(|run| run.step == first.step).collect();
    let low = alike.iter().min_by(|a, b| a.last.total_cmp(&b.last))?;
    let high = alike.iter().max_by(|a, b| a.last.total_cmp(&b.last))?;
    let steps = ((high.last - low.last) / first.step).round();
    if alike.len() < 2 || steps > STEPS {
        return None;
    }
    let claim = document.statements.iter().find(|statement| {
        claims::tone(&statement.text) == Some(claims::Tone::Ranking)
            && claims::names_kind(&statement.text, names::LOSS_TRAIN)
    });
    let said = format!("1/{}", wording::plain((1.0 / first.step).round()));
    let mut sources: Vec<Source> = claim.map(super::facts::place).into_iter().collect();
    sources.extend([low.source.clone(), high.source.clone()]);
    Some(Finding {
        class: Class::Resolution,
        operands: Vec::new(),
        level: if claim.is_some() { Level::Doubtful } else { Level::NotChecked },
        summary: format!(
            "The final losses {} and {} lie {} of {said} apart, and losses of these logs come in no finer steps.",
            wording::plain(low.last),
            wording::plain(high.last),
            wording::counted(steps as usize, "step"),
        ),
        arithmetic: vec![format!(
            "({} − {}) × {} = {}",
            wording::plain(high.last),
            wording::plain(low.last),
            wording::plain((1.0 / first.step).round()),
            wording::rough((high.last - low.last) / first.step)
        )],
        sources,
        advice: format!(
            "Compare means over many steps, or an evaluation loss in full precision ({}, {}).",
            low.label, high.label
        ),
    })
}

fn stepped(run: &Run<'_>) -> Option<Stepped> {
    let series = run.series(names::LOSS_TRAIN)?;
    let step = step_of(&series.values)?;
    let last = series.values.last().map(|value| (value / step).round() * step)?;
    Some(Stepped {
        label: run.label(),
        last,
        step,
        source: series.source.clone().unwrap_or_else(|| run.source()),
    })
}

/// The coarsest power of one half that all values are multiples of, up to the digits they are written with.
fn step_of(values: &[f64]) -> Option<f64> {
    let mut different: Vec<f64> = values.to_vec();
    different.sort_by(f64::total_cmp);
    different.dedup();
    if different.len() < VALUES || different.iter().any(|value| !value.is_finite() || value.abs() > 1e6) {
        return None;
    }
    (2..=10).map(|power| 0.5f64.powi(power)).find(|step| {
        // Logs write five or more decimals; a coarser text would make multiples of everything.
        different.iter().all(|value| {
            let multiple = value / step;
            (multiple - multiple.round()).abs() * step < 1.1e-5
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    #[test]
    fn losses_in_steps_are_not_ranked_by_three_steps() {
        let log = |build: &mut super::super::sample::Build, last: f64| {
            build.log("cerebras", "cerebras");
            let losses = [9.390_62, 8.703_12, 7.796_88, 7.390_62, 7.804_69, 7.531_25, last];
            let points: Vec<(f64, f64, f64)> =
                losses.iter().enumerate().map(|(step, loss)| (step as f64, step as f64, *loss)).collect();
            build.series("loss.train", &points);
        };
        let both = |claim: &str| {
            found(
                check,
                &[document("logs.md", |build| {
                    log(build, 7.125);
                    log(build, 7.148_44);
                    build.says(claim, &[]);
                })],
            )
        };
        let findings = both("It ran.");
        assert!(findings[0].summary.contains("3 steps of 1/128"), "{}", findings[0].summary);
        assert_eq!(findings[0].level, Level::NotChecked);
        assert_eq!(both("The small batch has the lower loss.")[0].level, Level::Doubtful);
        assert_eq!(step_of(&[1.1, 1.23, 1.37, 2.2, 2.9, 3.51]), None);
    }
}
