//! Settings that were declared one way and ran another.

use assay_model::{Document, Role, Table, names};

use super::facts::{Disproved, Facts, Run};
use super::wording::counted;
use super::{Class, Finding, Level};

/// Declared against observed settings, one finding for a document; and tuning tables without any log.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let documents = facts.documents.iter();
    documents
        .flat_map(|document| contradicted(facts, document).into_iter().chain(untold(facts, document)))
        .collect()
}

fn contradicted(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let wrong: Vec<(usize, &Run<'_>)> = facts
        .runs
        .iter()
        .enumerate()
        .filter(|(_, run)| std::ptr::eq(run.document, document) && run.disproved.iter().any(is_setting))
        .collect();
    let (place, first) = wrong.first()?;
    let mut arithmetic = Vec::new();
    let mut sources = Vec::new();
    for (_, run) in &wrong {
        for one in run.disproved.iter().filter(|one| is_setting(one)) {
            arithmetic.push(describe(one));
            sources.extend([one.declared.source.clone(), one.observed.source.clone()]);
        }
    }
    let repeats = facts.same_as(*place).map(|same| {
        format!(
            "; what ran is one of {} of the same thing ({})",
            counted(same.members.len(), "run"),
            same.label
        )
    });
    let example = first.disproved.iter().find(|one| is_setting(one))?;
    let summary = format!(
        "Declared settings did not take effect in {}: {} {} declared, {} ran{}.",
        counted(wrong.len(), "run"),
        spoken(&example.declared.name),
        example.declared.value,
        example.observed.value,
        repeats.unwrap_or_default(),
    );
    arithmetic.truncate(8);
    sources.truncate(12);
    Some(Finding {
        class: Class::SettingNotApplied,
        operands: Vec::new(),
        level: Level::Contradicted,
        summary,
        arithmetic,
        sources,
        advice: "Pass the settings where the program reads them (often its command line overwrites constants in the \
                 script), check the log for the value in effect, and run again; until then these runs are repeats of \
                 what really ran."
            .to_owned(),
    })
}

/// Nobody declares 41.94 devices: a number with decimals where a whole one ran was read from something else.
fn is_setting(one: &Disproved<'_>) -> bool {
    let number = |text: String| text.parse::<f64>().ok();
    let declared = number(one.declared.value.to_string());
    let observed = number(one.observed.value.to_string());
    !matches!((declared, observed), (Some(declared), Some(observed)) if declared.fract() != 0.0 && observed.fract() == 0.0)
}

fn describe(one: &Disproved<'_>) -> String {
    let arithmetic = one.observed.arithmetic.as_ref().map_or_else(String::new, |text| format!(": {text}"));
    format!(
        "{} declared {} ({}, line {}), observed {} ({}, line {}{arithmetic})",
        spoken(&one.declared.name),
        one.declared.value,
        one.declared.by,
        one.declared.source.line,
        one.observed.value,
        one.observed.by,
        one.observed.source.line,
    )
}

fn spoken(name: &str) -> String {
    name.replace('_', " ")
}

/// Settings that scripts are known to ignore without a word.
const IGNORABLE: [&str; 3] =
    [names::setting::BATCH_SIZE, names::setting::EPOCHS, names::setting::LEARNING_RATE];

/// Tables that tune a setting and show nothing by which one could see that it took effect.
fn untold(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let tables: Vec<(&Table, &str)> = document
        .tables
        .iter()
        .filter(|table| !facts.logs_of(document).any(|run| run.platform() == table.platform.as_deref()))
        .filter_map(|table| Some((table, tuned(table)?)))
        .collect();
    let (_, setting) = tables.first()?;
    let mut settings: Vec<String> = tables.iter().map(|(_, setting)| spoken(setting)).collect();
    settings.dedup();
    Some(Finding {
        class: Class::SettingNotApplied,
        operands: Vec::new(),
        level: Level::NotChecked,
        summary: format!(
            "It is unknown whether the {} of {} took effect: there is no log, and no number shows it.",
            settings.join(" and "),
            counted(tables.len(), "table"),
        ),
        arithmetic: Vec::new(),
        sources: tables.iter().map(|(table, _)| document.source(table.span.first)).collect(),
        advice: format!(
            "Keep the log of each run beside the table: its steps and progress bars show the {} in effect.",
            spoken(setting)
        ),
    })
}

/// The setting that a table varies, if its numbers are of a kind that does not show whether it took effect.
fn tuned(table: &Table) -> Option<&str> {
    let metrics: Vec<&str> = table
        .columns
        .iter()
        .filter_map(|column| match &column.role {
            Role::Metric(metric) => Some(metric.as_str()),
            _ => None,
        })
        .collect();
    let is_quality = |metric: &&str| {
        ["accuracy", "loss", "quality", "perplexity"].iter().any(|stem| metric.starts_with(stem))
    };
    if table.transposed || metrics.is_empty() || !metrics.iter().all(is_quality) {
        return None;
    }
    table.columns.iter().enumerate().find_map(|(index, column)| {
        let Role::Setting(name) = &column.role else { return None };
        let texts: Vec<&str> =
            table.rows.iter().filter_map(|row| row.cells.get(index)).map(|cell| cell.text.as_str()).collect();
        let varied = texts.windows(2).any(|pair| pair.first() != pair.last());
        (varied && IGNORABLE.contains(&name.as_str())).then_some(name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Build, document, found};
    use super::*;

    #[test]
    fn one_finding_lists_the_runs_of_a_document() {
        let document = document("notes.md", |build: &mut Build| {
            for epochs in [10, 4, 14] {
                build
                    .log("poptorch", "graphcore")
                    .declared("epochs", epochs)
                    .observed("epochs", 10)
                    .metric(names::ACCURACY, 0.98);
            }
        });
        let findings = found(check, &[document]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].level, Level::Contradicted);
        assert_eq!(findings[0].arithmetic.len(), 2);
        assert!(findings[0].summary.contains("one of 3 runs of the same thing"), "{}", findings[0].summary);
    }

    #[test]
    fn settings_in_force_are_not_mentioned() {
        let document = document("notes.md", |build: &mut Build| {
            build.log("poptorch", "graphcore").declared("epochs", 10).observed("epochs", 10);
        });
        assert!(found(check, &[document]).is_empty());
    }

    #[test]
    fn tuning_without_logs_is_open_unless_a_number_shows_the_effect() {
        let silent = document("a.md", |build: &mut Build| {
            build.table("graphcore", &["epochs", "accuracy"], &[&[10.0, 0.98], &[20.0, 0.987]]);
        });
        assert_eq!(found(check, &[silent])[0].level, Level::NotChecked);
        let shown = document("b.md", |build: &mut Build| {
            build.table(
                "graphcore",
                &["epochs", "accuracy", "samples"],
                &[&[10.0, 0.98, 6e5], &[20.0, 0.987, 12e5]],
            );
        });
        assert!(found(check, &[shown]).is_empty());
    }
}
