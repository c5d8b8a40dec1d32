//! Settings ranked by one run of each.

use assay_model::{Document, Role, Source, Table};

use super::claims::{self, Tone};
use super::facts::{Facts, place};
use super::same::numbers_repeats;
use super::wording::counted;
use super::{Class, Finding, Standing};

/// One finding for a document that ranks settings and repeats nothing.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.documents.iter().filter_map(|document| finding(facts, document)).collect()
}

fn finding(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let ranking = document.statements.iter().find(|statement| {
        claims::tone(&statement.text) == Some(Tone::Ranking) && ranks_runs(facts, document, &statement.text)
    })?;
    if is_repeated(facts, document) {
        return None;
    }
    let compared = compared(facts, document);
    let mut sources: Vec<Source> = vec![place(ranking)];
    sources.extend(
        document
            .tables
            .iter()
            .filter(|table| ranks(table))
            .take(4)
            .map(|table| Source { file: document.file.clone(), line: table.span.first }),
    );
    Some(Finding {
        class: Class::NoRepeats,
        standing: Standing::Doubtful,
        summary: format!(
            "{} are ranked with one run of each, so that nothing says how much a run varies.",
            counted(compared, "setting"),
        ),
        arithmetic: Vec::new(),
        sources,
        advice: "Run each setting several times, in mixed order, and give the spread.".to_owned(),
    })
}

/// Whether a table sets two rows or more side by side.
fn ranks(table: &Table) -> bool {
    let ranked = |role: &Role| matches!(role, Role::Metric(metric) if claims::is_ranked(metric));
    if table.transposed {
        table.columns.len() > 2 && table.rows.iter().any(|row| ranked(&row.role))
    } else {
        table.rows.len() > 1 && table.columns.iter().any(|column| ranked(&column.role))
    }
}

/// How many settings the document sets side by side, in its largest table or among its logs.
fn compared(facts: &Facts<'_>, document: &Document) -> usize {
    let in_tables = document
        .tables
        .iter()
        .filter(|table| ranks(table))
        .map(|table| if table.transposed { table.columns.len() - 1 } else { table.rows.len() })
        .max();
    let logs = facts
        .logs_of(document)
        .filter(|run| run.read.status.is_usable() && !run.read.observations.is_empty());
    in_tables.unwrap_or(0).max(logs.count())
}

/// Whether a sentence can be about the runs of the document: a table or two logs state a metric of the kind it names.
fn ranks_runs(facts: &Facts<'_>, document: &Document, text: &str) -> bool {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for run in facts.runs_of(document) {
        for observation in run.read.observations.iter().filter(|one| claims::is_ranked(&one.metric)) {
            *counts.entry(observation.metric.as_str()).or_default() += 1;
        }
    }
    counts.into_iter().any(|(metric, count)| count > 1 && claims::may_be_about(text, metric))
}

/// Whether anything in the document rests on several runs or samples.
fn is_repeated(facts: &Facts<'_>, document: &Document) -> bool {
    let grouped = facts.same.iter().any(|same| {
        same.members
            .iter()
            .filter_map(|place| facts.runs.get(*place))
            .any(|run| std::ptr::eq(run.document, document))
    });
    let told = document.statements.iter().any(|statement| claims::tells_of_repeats(&statement.text));
    // A series per step belongs to one run; an array of times is a set of samples.
    let sampled = facts.runs_of(document).flat_map(|run| &run.read.series).any(|series| {
        series.values.len() > 2 && super::same::is_about_time(&series.metric) && series.steps.is_empty()
    });
    grouped || told || sampled || document.tables.iter().any(shows_repeats)
}

/// Whether a table counts repeats or shows a spread.
fn shows_repeats(table: &Table) -> bool {
    let spread = |role: &Role| matches!(role, Role::Metric(metric) if [".std", ".min", ".max", ".median", ".p5", ".p9"].iter().any(|part| metric.contains(part)));
    let counts = |header: &str| {
        let header = header.trim().to_lowercase();
        numbers_repeats(&header)
            || ["n", "samples per cell", "count", "repeats", "±", "95 % ci", "95% ci"]
                .contains(&header.as_str())
            || header.contains("interval")
            || header.contains('±')
    };
    table.columns.iter().any(|column| spread(&column.role) || counts(&column.header))
        || table.rows.iter().any(|row| {
            spread(&row.role)
                || row.cells.iter().any(|cell| cell.text.contains('±') || cell.text.contains("+/-"))
        })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Build, document, found};
    use super::*;

    fn ranked(columns: &[&str], says: &[&str]) -> Document {
        document("notes.md", |build: &mut Build| {
            build.table("cerebras", columns, &[&[512.0, 2937.7, 1.0], &[1024.0, 4845.0, 2.0]]);
            for text in says {
                build.says(text, &[]);
            }
        })
    }

    #[test]
    fn one_run_of_each_is_not_enough_to_rank() {
        let document = ranked(&["batch_size", "samples_per_s"], &["The larger batch has the higher rate."]);
        let findings = found(check, &[document]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].standing, Standing::Doubtful);
    }

    #[test]
    fn repeats_spreads_or_no_ranking_need_no_word() {
        let columns = ["batch_size", "samples_per_s"];
        let told = ["The larger batch has the higher rate.", "Each number is the mean of 8 runs."];
        assert!(found(check, &[ranked(&columns, &told)]).is_empty());
        assert!(found(check, &[ranked(&columns, &["These are the rates."])]).is_empty());
        let spread = ["batch_size", "samples_per_s", "samples_per_s.std"];
        assert!(found(check, &[ranked(&spread, &["The larger batch has the higher rate."])]).is_empty());
    }
}
