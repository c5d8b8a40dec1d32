//! Runs of the same thing, which can serve as repeats of one another.

use assay_model::Source;

use super::facts::Facts;
use super::same::{Repeated, Same};
use super::wording::{counted, difference, with_unit};
use super::{Class, Finding, Level, RepeatGroup};

/// One finding for each thing that was run more than once.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.same.iter().filter_map(|same| finding(facts, same)).collect()
}

fn finding(facts: &Facts<'_>, same: &Same) -> Option<Finding> {
    let lines: Vec<String> = same.metrics.iter().filter_map(describe).take(8).collect();
    let first = same.metrics.iter().max_by_key(|repeated| repeated.values.len())?;
    let mut sources: Vec<Source> = first.values.iter().map(|(_, _, source)| source.clone()).collect();
    sources.truncate(12);
    let mut files: Vec<&str> = same
        .members
        .iter()
        .filter_map(|place| facts.runs.get(*place))
        .map(|run| run.document.file.as_str())
        .collect();
    files.sort_unstable();
    files.dedup();
    let over =
        if files.len() > 1 { format!(" over {}", counted(files.len(), "file")) } else { String::new() };
    let mistaken = same
        .members
        .iter()
        .filter_map(|place| facts.runs.get(*place))
        .filter(|run| !run.disproved.is_empty())
        .count();
    let regrouped = match mistaken {
        0 => String::new(),
        count => format!("; {} of them declared something else, which did not take effect", count),
    };
    let count = same.members.len().max(first.values.len());
    Some(Finding {
        class: Class::Repeats,
        operands: Vec::new(),
        level: Level::Supported,
        summary: format!("{} of the same thing{over} ({}){regrouped}.", counted(count, "run"), same.label),
        arithmetic: lines,
        sources,
        advice: String::new(),
    })
}

/// The numbers that describe a group of repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Described {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the sample; none for a single value.
    pub deviation: Option<f64>,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// How many values.
    pub count: usize,
}

impl Described {
    /// Describes values; none without a value, and where their mean is beyond all numbers.
    fn of(values: &[f64]) -> Option<Described> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let deviation = assay_stats::pooled([values]).map(|spread| spread.deviation);
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        mean.is_finite().then_some(Described { mean, deviation, low, high, count: values.len() })
    }
}

impl RepeatGroup {
    /// Describes the finite values of the group; none without one.
    pub fn described(&self) -> Option<Described> {
        let finite: Vec<f64> =
            self.values.iter().map(|(value, _)| *value).filter(|value| value.is_finite()).collect();
        Described::of(&finite)
    }
}

/// Mean, deviation and range of one metric.
fn describe(repeated: &Repeated) -> Option<String> {
    let Described { mean, deviation, low, high, count } = Described::of(&repeated.numbers())?;
    let deviation = deviation?;
    let condition = repeated.condition.map_or_else(String::new, |condition| format!(" ({condition})"));
    Some(format!(
        "{}{condition}: mean {}, standard deviation {}, from {} to {}, n = {}",
        repeated.metric,
        with_unit(mean, &repeated.unit),
        difference(deviation, &repeated.unit),
        with_unit(low, &repeated.unit),
        with_unit(high, &repeated.unit),
        count,
    ))
}

#[cfg(test)]
mod tests {
    use assay_model::names;

    use super::super::sample::{Build, document, found};
    use super::*;

    #[test]
    fn runs_that_did_not_do_what_was_asked_are_repeats_of_what_ran() {
        let document = document("notes.md", |build: &mut Build| {
            for (epochs, accuracy) in [(10, 0.9713), (4, 0.9858), (14, 0.9843)] {
                build
                    .log("poptorch", "graphcore")
                    .declared("epochs", epochs)
                    .observed("epochs", 10)
                    .metric(names::ACCURACY, accuracy);
            }
        });
        let findings = found(check, &[document]);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert!(finding.summary.starts_with("3 runs of the same thing"), "{}", finding.summary);
        assert!(finding.summary.contains("2 of them declared something else"), "{}", finding.summary);
        assert!(finding.arithmetic[0].contains("mean 98.0467 %"), "{:?}", finding.arithmetic);
        assert!(finding.arithmetic[0].contains("0.7974 points"), "{:?}", finding.arithmetic);
    }
}
