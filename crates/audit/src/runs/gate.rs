//! Runs whose status and numbers disagree.

use assay_model::{Document, Source, Status};

use super::claims;
use super::facts::{Facts, Run, close, is_measured, place};
use super::wording::{counted, with_unit};
use super::{Class, Finding, Level};

/// Gates missed with valid numbers, and numbers printed by runs that ended badly.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let documents = facts.documents.iter();
    documents
        .flat_map(|document| missed(facts, document).into_iter().chain(broken(facts, document)))
        .collect()
}

fn status_source(run: &Run<'_>) -> Source {
    run.read.status_source.clone().unwrap_or_else(|| run.source())
}

/// Runs that came to their end and then missed a bound of their own script.
fn missed(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let runs: Vec<&Run<'_>> =
        facts.logs_of(document).filter(|run| matches!(run.read.status, Status::GateFailed { .. })).collect();
    let first = runs.first()?;
    let says = |words: &[&str]| {
        document.statements.iter().find(|statement| {
            let text = statement.text.to_lowercase();
            claims::concerns(document, statement, first.platform())
                && words.iter().any(|word| text.contains(word))
        })
    };
    let explained = says(&[
        "gate",
        "bound",
        "assert",
        "threshold",
        "expected throughput",
        "acceptance",
        "minimum throughput",
        "maximum throughput",
    ]);
    let denied = says(&[
        "no result",
        "no usable",
        "no number",
        "not usable",
        "unusable",
        "no valid",
        "not valid",
        "invalid",
        "without result",
        "left out",
        "not count",
        "no data",
        "cannot be used",
        "discard",
    ]);
    let failed =
        says(&["failed", "fails", "failure", "crash", "did not run", "does not run", "unsuccessful"]);
    // To know of the bound is not to know that the numbers before it are valid.
    let level = match (denied, explained, failed) {
        (Some(_), _, _) => Level::Contradicted,
        (None, Some(_), _) => Level::Supported,
        (None, None, Some(_)) => Level::Contradicted,
        (None, None, None) => Level::Doubtful,
    };
    let mut sources: Vec<Source> = match level {
        Level::Contradicted => denied.or(failed).map(place).into_iter().collect(),
        _ => Vec::new(),
    };
    sources.extend(runs.iter().take(8).map(|run| status_source(run)));
    Some(Finding {
        class: Class::Gate,
        operands: Vec::new(),
        level,
        summary: format!(
            "{} ended with an error because of an acceptance bound ({}); the numbers printed before are valid.",
            counted(runs.len(), "run"),
            reason(&first.read.status),
        ),
        arithmetic: runs.iter().take(8).map(|run| format!("{}: {}", run.label(), run.read.status)).collect(),
        sources,
        advice: match level {
            Level::Supported => String::new(),
            _ => "Use the numbers; drop or adapt the bound, which is made for the default configuration."
                .to_owned(),
        },
    })
}

fn reason(status: &Status) -> String {
    match status {
        Status::GateFailed { reason } => reason.clone(),
        other => other.to_string(),
    }
}

/// Runs that printed results and still ended badly.
fn broken(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let runs: Vec<&Run<'_>> = facts
        .logs_of(document)
        .filter(|run| {
            matches!(
                run.read.status,
                Status::Failed { .. }
                    | Status::Aborted { .. }
                    | Status::Cancelled { .. }
                    | Status::TimedOut { .. }
            )
        })
        .filter(|run| results(run).next().is_some())
        .collect();
    let first = runs.first()?;
    let result = results(first).next()?;
    let reported = runs.iter().find_map(|run| reported(facts, run));
    let stated = document.statements.iter().any(|statement| {
        let text = statement.text.to_lowercase();
        claims::concerns(document, statement, first.platform())
            && ["fail", "abort", "crash", "cancel", "killed", "timed out", "did not finish", "error"]
                .iter()
                .any(|word| text.contains(word))
    });
    let level = match (&reported, stated) {
        (Some(_), false) => Level::Contradicted,
        (None, true) => Level::Supported,
        _ => Level::Doubtful,
    };
    let mut sources: Vec<Source> = reported.clone().into_iter().collect();
    sources.extend(runs.iter().take(8).map(|run| status_source(run)));
    let also = if reported.is_some() { "; a table states them as results" } else { "" };
    Some(Finding {
        class: Class::Gate,
        operands: Vec::new(),
        level,
        summary: format!(
            "{} printed numbers ({} {}) and then ended badly: {}{also}.",
            counted(runs.len(), "run"),
            result.metric,
            with_unit(result.value, &result.unit),
            first.read.status,
        ),
        arithmetic: runs.iter().take(8).map(|run| format!("{}: {}", run.label(), run.read.status)).collect(),
        sources,
        advice: match level {
            Level::Supported => String::new(),
            _ => "Do not count it as a result; find out why it ended, and run it again.".to_owned(),
        },
    })
}

/// Numbers that people take for results.
fn results<'a>(run: &Run<'a>) -> impl Iterator<Item = &'a assay_model::Observation> {
    let is_result = |metric: &str| {
        [
            "accuracy",
            "quality",
            "loss.final",
            "loss.eval",
            "samples_per_s",
            "tokens_per_s",
            "output_throughput",
            "total_token_throughput",
            "prompt_throughput",
            "duration.",
            "latency",
            "ttft",
            "tpot",
            "itl",
            "e2e",
            "inferences_per_s",
            "request_throughput",
        ]
        .iter()
        .any(|stem| metric.starts_with(stem))
            && !["duration.queue", "duration.compile", "samples_per_s.instant"].contains(&metric)
    };
    run.read
        .observations
        .iter()
        .filter(|observation| is_measured(observation))
        .filter(move |observation| is_result(&observation.metric) && claims::is_ranked(&observation.metric))
}

/// Where a table states a number of the run.
fn reported(facts: &Facts<'_>, run: &Run<'_>) -> Option<Source> {
    facts.runs_of(run.document).filter(|row| row.is_row()).find_map(|row| {
        results(row)
            .find(|stated| {
                results(run).any(|known| known.unit == stated.unit && close(known.value, stated.value, 0.002))
            })
            .map(|stated| row.source_of(&stated.metric))
    })
}

#[cfg(test)]
mod tests {
    use assay_model::{Failure, names};

    use super::super::sample::{Build, document, found};
    use super::*;

    fn ended(status: Status, says: &str) -> Document {
        document("notes.md", |build: &mut Build| {
            build
                .log("sambanova", "sambanova")
                .observed("tasks", 8)
                .metric(names::SAMPLES_PER_S_LOOP, 2348.58);
            build.run().status = status;
            build.says(says, &[]);
        })
    }

    #[test]
    fn a_missed_gate_leaves_the_numbers_valid() {
        let gate = || Status::GateFailed { reason: "throughput at least 560000".to_owned() };
        assert_eq!(found(check, &[ended(gate(), "The run failed.")])[0].level, Level::Contradicted);
        assert_eq!(found(check, &[ended(gate(), "It is slow.")])[0].level, Level::Doubtful);
        let known = ended(gate(), "It missed the acceptance bound, as expected.");
        assert_eq!(found(check, &[known])[0].level, Level::Supported);
        let denied = ended(gate(), "It ended in an assertion, so there are no results for it.");
        assert_eq!(found(check, &[denied])[0].level, Level::Contradicted);
    }

    #[test]
    fn numbers_of_a_broken_run_are_no_results() {
        let broken = || Status::Failed { failure: Failure::Reported { reason: "pod crashed".to_owned() } };
        assert_eq!(found(check, &[ended(broken(), "It reached 2348.58.")])[0].level, Level::Doubtful);
        assert_eq!(found(check, &[ended(broken(), "It crashed.")])[0].level, Level::Supported);
        let tabled = document("notes.md", |build: &mut Build| {
            build
                .log("sambanova", "sambanova")
                .observed("tasks", 8)
                .metric(names::SAMPLES_PER_S_LOOP, 2348.58);
            build.run().status = broken();
            build.table("sambanova", &["tasks", "samples_per_s"], &[&[8.0, 2348.6]]);
        });
        assert_eq!(found(check, &[tabled])[0].level, Level::Contradicted);
        assert!(found(check, &[ended(Status::Succeeded, "Fine.")]).is_empty());
    }
}
