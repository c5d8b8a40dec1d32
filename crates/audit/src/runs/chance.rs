//! Accuracy at the level of guessing.

use assay_model::{Document, Source, names};

use super::facts::{Facts, Run, place};
use super::wording::{percent, with_unit};
use super::{Class, Finding, Level};

/// Well-known data sets and their classes.
const DATA_SETS: [(&str, f64); 12] = [
    ("cifar-100", 100.0),
    ("cifar100", 100.0),
    ("cifar-10", 10.0),
    ("cifar10", 10.0),
    ("mnist", 10.0),
    ("svhn", 10.0),
    ("stl-10", 10.0),
    ("imagenette", 10.0),
    ("imagenet", 1000.0),
    ("sst2", 2.0),
    ("sst-2", 2.0),
    ("imdb", 2.0),
];

/// How far from guessing still counts as guessing, in points, where that is less than half of the level itself.
const POINTS: f64 = 0.02;

/// One finding for a document, with all runs that guess.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.documents.iter().filter_map(|document| finding(facts, document)).collect()
}

fn finding(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let guessing: Vec<(&Run<'_>, f64, f64)> = facts
        .runs_of(document)
        .filter_map(|run| {
            let accuracy = run.value(names::ACCURACY)?;
            let classes = classes(facts, run)?;
            let level = 1.0 / classes;
            ((accuracy - level).abs() <= POINTS.min(level / 2.0)).then_some((run, accuracy, classes))
        })
        .collect();
    let (_, accuracy, classes) = guessing.first()?;
    let words = |text: &str, wanted: &[&str]| {
        let text = text.to_lowercase();
        wanted.iter().any(|word| text.contains(word))
    };
    let knows = |statement: &&assay_model::Statement| {
        words(&statement.text, &["chance", "guess", "diverge", "random"])
    };
    let overfit = document.statements.iter().find(|statement| words(&statement.text, &["overfit"]));
    let known = document.statements.iter().find(knows);
    let level = match (overfit, known) {
        // A word of the prose may be about something else: never more than doubtful.
        (Some(_), _) | (None, None) => Level::Doubtful,
        (None, Some(_)) => Level::Supported,
    };
    let mut sources: Vec<Source> = overfit.or(known).map(place).into_iter().collect();
    sources.extend(guessing.iter().take(8).map(|(run, ..)| run.source_of(names::ACCURACY)));
    let called =
        if overfit.is_some() { "; that is not overfitting but a model that has learned nothing" } else { "" };
    Some(Finding {
        class: Class::ChanceLevel,
        operands: Vec::new(),
        level,
        summary: format!(
            "An accuracy of {} on {classes} classes is the level of guessing ({}){called}.",
            with_unit(*accuracy, &assay_model::Unit::Fraction),
            percent(1.0 / classes),
        ),
        arithmetic: guessing
            .iter()
            .take(8)
            .map(|(run, accuracy, classes)| {
                format!("{}: {} against 1/{classes}", run.label(), with_unit(*accuracy, &assay_model::Unit::Fraction))
            })
            .collect(),
        sources,
        advice: match level {
            Level::Supported => String::new(),
            _ => "Look at the loss: it most likely diverged. Lower the learning rate, and do not compare this run with others."
                .to_owned(),
        },
    })
}

/// How many classes the answers are among, where the evidence shows: by a setting of the run or of another one of the
/// platform in the same document, or by the name of a data set.
fn classes(facts: &Facts<'_>, run: &Run<'_>) -> Option<f64> {
    let own = run.number(names::setting::CLASSES);
    let near = || {
        facts
            .runs_of(run.document)
            .filter(|other| other.platform() == run.platform())
            .find_map(|other| other.number(names::setting::CLASSES))
    };
    own.or_else(near).or_else(|| by_name(run)).filter(|classes| *classes >= 2.0)
}

fn by_name(run: &Run<'_>) -> Option<f64> {
    let headings = run.row().map_or_else(Vec::new, |(table, _)| table.headings.clone());
    let mut texts: Vec<&str> = headings.iter().map(String::as_str).collect();
    texts.extend(run.read.title.as_deref());
    let settings: Vec<String> = run.effective.values().map(|value| value.to_string()).collect();
    texts.extend(settings.iter().map(String::as_str));
    let here = named(&texts.join(" "));
    here.or_else(|| {
        // The nearest sentence before the run, and otherwise the only data set that the document names.
        let mut sentences: Vec<&assay_model::Statement> = run.document.statements.iter().collect();
        sentences.sort_by_key(|statement| statement.span.first.abs_diff(run.read.span.first));
        sentences
            .into_iter()
            .find_map(|statement| named(&format!("{} {}", statement.headings.join(" "), statement.text)))
    })
    .or_else(|| named(&run.document.file))
}

fn named(text: &str) -> Option<f64> {
    let text = text.to_lowercase();
    DATA_SETS.iter().find(|(name, _)| text.contains(name)).map(|(_, classes)| *classes)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Build, document, found};
    use super::*;

    fn one(accuracy: f64, says: &str) -> Document {
        document("notes.md", |build: &mut Build| {
            build
                .log("poptorch", "graphcore")
                .observed("classes", 10)
                .metric(names::ACCURACY, accuracy)
                .says(says, &[]);
        })
    }

    #[test]
    fn ten_percent_of_ten_classes_is_guessing() {
        assert_eq!(found(check, &[one(0.0980, "It fell.")])[0].level, Level::Doubtful);
        assert_eq!(found(check, &[one(0.1135, "This is overfitting.")])[0].level, Level::Doubtful);
        assert_eq!(found(check, &[one(0.0980, "It diverged to chance.")])[0].level, Level::Supported);
        assert!(found(check, &[one(0.9713, "It works.")]).is_empty());
        assert!(found(check, &[one(0.17, "It learns a little.")]).is_empty());
    }

    #[test]
    fn the_name_of_a_data_set_tells_the_classes() {
        let document = document("notes.md", |build: &mut Build| {
            build.heading("MNIST on the IPU").table(
                "graphcore",
                &["batch_size", "accuracy"],
                &[&[8.0, 0.98], &[64.0, 0.1009]],
            );
        });
        assert_eq!(found(check, &[document]).len(), 1);
    }
}
