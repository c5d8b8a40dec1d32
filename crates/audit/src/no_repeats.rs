//! Settings ranked by one run of each.

use assay_model::{Document, Role, Series, Source, Statement, Table};

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
    let rankings = document.statements.iter().filter(|one| claims::tone(&one.text) == Some(Tone::Ranking));
    rankings.into_iter().find_map(|ranking| {
        let tables = tables_of(document, ranking);
        if let Some(table) = tables.first() {
            let alone = tables.iter().all(|table| !is_repeated_in(facts, document, table));
            return alone.then(|| described(document, ranking, Some(table), settings_of(table)));
        }
        if !ranks_runs(facts, document, &ranking.text) || is_repeated(facts, document) {
            return None;
        }
        let first = document.tables.iter().find(|table| ranks(table));
        Some(described(document, ranking, first, compared(facts, document)))
    })
}

/// The tables that a sentence ranks rows of: the nearest before it, else those that it stands over.
fn tables_of<'a>(document: &'a Document, ranking: &Statement) -> Vec<&'a Table> {
    let is_about = |table: &&Table| {
        let metrics =
            table.columns.iter().map(|column| &column.role).chain(table.rows.iter().map(|row| &row.role));
        let named = metrics.into_iter().any(|role| {
            matches!(role, Role::Metric(metric) if claims::is_ranked(metric) && claims::may_be_about(&ranking.text, metric))
        });
        ranks(table)
            && named
            && claims::about_table(document, table).any(|statement| std::ptr::eq(statement, ranking))
    };
    let about: Vec<&Table> = document.tables.iter().filter(is_about).collect();
    let before = about.iter().rev().find(|table| table.span.last < ranking.span.first);
    before.map_or_else(|| about.clone(), |nearest| vec![*nearest])
}

fn described(document: &Document, ranking: &Statement, table: Option<&Table>, settings: usize) -> Finding {
    let mut sources: Vec<Source> = vec![place(ranking)];
    sources.extend(table.map(|table| document.source(table.span.first)));
    Finding {
        class: Class::NoRepeats,
        standing: Standing::Doubtful,
        summary: format!(
            "{} are ranked with one run of each, so that nothing says how much a run varies.",
            counted(settings, "setting"),
        ),
        arithmetic: Vec::new(),
        sources,
        advice: "Run each setting several times, in mixed order, and give the spread.".to_owned(),
    }
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

/// How many settings a table sets side by side.
fn settings_of(table: &Table) -> usize {
    if table.transposed { table.columns.len() - 1 } else { table.rows.len() }
}

/// How many settings the document sets side by side, in its largest table or among its logs.
fn compared(facts: &Facts<'_>, document: &Document) -> usize {
    let in_tables = document.tables.iter().filter(|table| ranks(table)).map(settings_of).max();
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

/// Whether the rows of a table rest on several runs or samples: by the table, by runs that did the same, by samples in
/// it or printed beside it, or by what the text around it says.
fn is_repeated_in(facts: &Facts<'_>, document: &Document, table: &Table) -> bool {
    let own = |place: &usize| {
        let run = facts.runs.get(*place);
        run.and_then(|run| run.table()).is_some_and(|other| std::ptr::eq(other, table))
    };
    let grouped = facts.same.iter().any(|same| same.members.iter().any(own));
    let told = document
        .statements
        .iter()
        .filter(|one| one.headings == table.headings || table.headings.starts_with(&one.headings))
        .any(|one| claims::tells_of_repeats(&one.text));
    let others = || document.tables.iter().filter(|other| !std::ptr::eq(*other, table));
    let before = others().map(|other| other.span.last).filter(|last| *last < table.span.first).max();
    let behind = others().map(|other| other.span.first).filter(|first| *first > table.span.last).min();
    // Sentences under other headings show where the section of the table ends.
    let elsewhere = document.statements.iter().filter(|one| one.headings != table.headings);
    let lines: Vec<u64> = elsewhere.map(|one| one.span.first).collect();
    let above = lines.iter().copied().filter(|line| *line < table.span.first).max();
    let below = lines.iter().copied().filter(|line| *line > table.span.last).min();
    let near = before.max(above).unwrap_or(0)..behind.unwrap_or(u64::MAX).min(below.unwrap_or(u64::MAX));
    let sampled = facts
        .runs_of(document)
        .filter(|run| near.contains(&run.read.span.first))
        .flat_map(|run| &run.read.series)
        .any(is_sampled);
    grouped || told || sampled || shows_repeats(table)
}

/// Whether values are samples: a series per step belongs to one run, an array of times or rates does not.
fn is_sampled(series: &Series) -> bool {
    series.values.len() > 2 && super::same::is_about_time(&series.metric) && series.steps.is_empty()
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
    let sampled = facts.runs_of(document).flat_map(|run| &run.read.series).any(is_sampled);
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
    fn repeats_in_another_section_do_not_help() {
        let document = document("notes.md", |build: &mut Build| {
            build.heading("Serving").says("Means of 5 passes.", &[]);
            build.table("nvidia", &["concurrency", "e2e"], &[&[1.0, 2.0], &[2.0, 2.5]]);
            build.heading("Training");
            build.table("cerebras", &["batch_size", "samples_per_s"], &[&[512.0, 2937.7], &[1024.0, 4845.0]]);
            build.says("The larger batch has the highest rate.", &[]);
        });
        assert_eq!(found(check, &[document]).len(), 1);
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
