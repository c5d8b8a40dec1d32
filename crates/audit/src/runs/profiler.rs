//! Profiled runs among plain ones.

use assay_model::{Document, names};

use super::facts::{Facts, Run};
use super::same::compile_inside;
use super::wording::{counted, percent, plain};
use super::{Class, Finding, Level};

/// One finding for a document that holds a profiled run beside plain ones of the same thing.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.documents.iter().filter_map(|document| finding(facts, document)).collect()
}

fn finding(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let runs = |profiled: bool| {
        facts
            .runs_of(document)
            .filter(move |run| run.is_on(names::setting::PROFILER) == profiled && run.read.status.is_usable())
    };
    let (slow, plain_run, metric) = runs(true).find_map(|slow| {
        let times = [
            names::EPOCH_S,
            names::STEP_S,
            names::DURATION_LOOP,
            names::DURATION_REPORTED,
            names::TIME_STEP,
            names::E2E,
        ];
        // Like with like: a compilation inside the time of one run must be inside that of the other.
        let mut others: Vec<&Run<'_>> =
            runs(false).filter(|other| slow.agrees_with(other) && slow.shares_dialect(other)).collect();
        others.sort_by_key(|other| compile_inside(other) != compile_inside(slow));
        others.into_iter().find_map(|other| {
            times
                .into_iter()
                .find(|metric| slow.value(metric).is_some() && other.value(metric).is_some())
                .map(|metric| (slow, other, metric))
        })
    })?;
    let (with, without) = (slow.value(metric)?, plain_run.value(metric)?);
    if with <= 0.0 || without <= 0.0 {
        return None;
    }
    let compared = document.statements.iter().any(|statement| {
        let text = statement.text.to_lowercase();
        text.contains("profil")
            && ["overhead", "slower", "cost", "longer", "not compar"].iter().any(|word| text.contains(word))
    });
    let level = if compared { Level::Supported } else { Level::Doubtful };
    Some(Finding {
        class: Class::Profiler,
        operands: Vec::new(),
        level,
        summary: format!(
            "{} had a profiler attached and took {}{} in {metric}: it is not comparable with the plain ones.",
            counted(runs(true).count(), "run"),
            if with >= without { "+" } else { "−" },
            percent((with / without - 1.0).abs()),
        ),
        arithmetic: vec![format!("{} s / {} s = {:.2}", plain(with), plain(without), with / without)],
        sources: vec![slow.source_of(metric), plain_run.source_of(metric)],
        advice: match level {
            Level::Supported => String::new(),
            _ => "Keep profiled runs out of comparisons of time.".to_owned(),
        },
    })
}

#[cfg(test)]
mod tests {
    use assay_model::Value;

    use super::super::sample::{Build, document, found};
    use super::*;

    #[test]
    fn a_profiled_run_is_set_apart() {
        let document = |says: &str| {
            document("notes.md", |build: &mut Build| {
                build.log("poptorch", "graphcore").observed("epochs", 10).metric(names::STEP_S, 10.99);
                build
                    .log("poptorch", "graphcore")
                    .observed("epochs", 10)
                    .observed("profiler", Value::Switch(true))
                    .metric(names::STEP_S, 13.63)
                    .says(says, &[]);
            })
        };
        let findings = found(check, &[document("They all ran.")]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].summary.contains("+24.0 %"), "{}", findings[0].summary);
        let stated = found(check, &[document("The profiler makes it slower.")]);
        assert_eq!(stated[0].level, Level::Supported);
    }

    #[test]
    fn the_time_of_a_profiled_run_is_no_noise() {
        let document = document("notes.md", |build: &mut Build| {
            for (profiled, seconds) in [(false, 109.0), (true, 137.0), (false, 109.5)] {
                build
                    .log("poptorch", "graphcore")
                    .observed("epochs", 10)
                    .observed("profiler", Value::Switch(profiled))
                    .metric(names::DURATION_LOOP, seconds);
            }
            build.says("Run 2 takes longer, so its node is slower.", &[]);
        });
        assert!(found(super::super::noise::check, std::slice::from_ref(&document)).is_empty());
        assert_eq!(found(check, &[document])[0].level, Level::Doubtful);
    }

    #[test]
    fn plain_runs_alone_need_no_word() {
        let document = document("notes.md", |build: &mut Build| {
            build.log("poptorch", "graphcore").observed("epochs", 10).metric(names::STEP_S, 10.99);
        });
        assert!(found(check, &[document]).is_empty());
    }
}
