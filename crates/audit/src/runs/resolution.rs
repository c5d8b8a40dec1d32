//! Differences that a metric cannot resolve: by the digits it is written with, or by the steps it comes in.

use assay_model::{Direction, Document, Source, Statement, Table, names};

use super::facts::{Facts, Run};
use super::grid::{self, Entry};
use super::written::Range;
use super::{Class, Finding, Level, claims, wording};

/// Differences of up to this many steps of a metric are said to be too few to decide.
const STEPS: f64 = 4.0;
/// Values that it takes to see that a metric comes in steps.
const VALUES: usize = 6;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        for table in &document.tables {
            findings.extend(by_digits(document, table));
        }
        findings.extend(by_steps(facts, document));
    }
    findings
}

/// A column of a metric.
struct Ranked<'a> {
    index: usize,
    metric: &'a str,
    header: &'a str,
    better: Direction,
}

/// The columns of a table by which something can be ranked.
fn ranked<'a>(entries: &[Entry<'a>]) -> Vec<Ranked<'a>> {
    let mut columns: Vec<Ranked<'a>> = Vec::new();
    for field in entries.iter().flat_map(|entry| &entry.fields) {
        let known = columns.iter().any(|column| column.index == field.index);
        if let (false, Some(metric)) = (known, field.metric())
            && let Some(better) = direction(metric)
        {
            columns.push(Ranked { index: field.index, metric, header: field.header.trim(), better });
        }
    }
    columns
}

/// A ranking in the text that rests on the last digit of a column, or on one item of a test set.
fn by_digits(document: &Document, table: &Table) -> Vec<Finding> {
    let entries = grid::entries(table);
    let columns = ranked(&entries);
    let ranks = |text: &str| match entries.len() {
        2 => claims::tone(text) == Some(claims::Tone::Ranking),
        _ => claims::picks(text),
    };
    let mut findings = Vec::new();
    for column in &columns {
        // A sentence that names no metric can only be about the one that there is.
        let is_about = |text: &str| match columns.len() {
            1 => claims::may_be_about(text, column.metric),
            _ => claims::names_kind(text, column.metric),
        };
        let claim = claims::about_table(document, table)
            .find(|statement| ranks(&statement.text) && is_about(&statement.text));
        findings.extend(claim.and_then(|claim| too_near(document, &entries, column, claim)));
    }
    findings
}

/// The finding, if the two best values of a column are too close to distinguish.
fn too_near(
    document: &Document,
    entries: &[Entry<'_>],
    column: &Ranked<'_>,
    claim: &Statement,
) -> Option<Finding> {
    let value = |entry: &Entry<'_>| {
        let field = entry.at(column.index)?;
        Some((field.range()?, field.source(document)))
    };
    let mut values: Vec<(Range, Source)> = entries.iter().filter_map(value).collect();
    values.sort_by(|a, b| match column.better {
        Direction::Lower => a.0.value().total_cmp(&b.0.value()),
        Direction::Higher => b.0.value().total_cmp(&a.0.value()),
    });
    let [(best, source), (next, other), ..] = values.as_slice() else { return None };
    let (step, what) = match items(entries, column.metric) {
        Some(items) => (1.0 / items, format!("one of {} items", wording::plain(items))),
        None => (2.0 * best.half().max(next.half()), "the last digit".to_owned()),
    };
    let apart = (best.value() - next.value()).abs();
    (step > 0.0 && apart < step * 1.2).then(|| Finding {
        class: Class::Resolution,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "The text ranks by `{}`, but the two best values differ by no more than {what}.",
            column.header
        ),
        arithmetic: vec![format!(
            "{} and {} differ by {}, {what} is {}",
            wording::plain(best.value()),
            wording::plain(next.value()),
            wording::rough(apart),
            wording::rough(step)
        )],
        sources: vec![super::facts::place(claim), source.clone(), other.clone()],
        advice: "Measure more finely (more digits, more items) before ranking.".to_owned(),
    })
}

/// How many items an accuracy was counted over, where every row says so in a cell such as `243/250`.
fn items(entries: &[Entry<'_>], metric: &str) -> Option<f64> {
    if metric != names::ACCURACY && metric != names::SUCCESS {
        return None;
    }
    let of_entry = |entry: &Entry<'_>| {
        entry.fields.iter().find_map(|field| {
            let (part, whole) = field.cell.text.split_once('/')?;
            let whole: f64 = whole.split_whitespace().next()?.parse().ok()?;
            let part: f64 = part.split_whitespace().next_back()?.parse().ok()?;
            (whole >= 1.0 && part <= whole && whole.fract() == 0.0).then_some(whole)
        })
    };
    let first = of_entry(entries.first()?)?;
    entries.iter().all(|entry| of_entry(entry) == Some(first)).then_some(first)
}

fn direction(metric: &str) -> Option<Direction> {
    let stem = metric.rsplit_once('.').map_or(metric, |(stem, _)| stem);
    claims::better(metric).or_else(|| claims::better(stem))
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

    #[test]
    fn one_answer_more_is_no_better_accuracy() {
        let ranked = |right: [u32; 2]| {
            let accuracy = right.map(|right| f64::from(right) / 250.0);
            let mut document = document("a.md", |build| {
                build.heading("Accuracy").table(
                    "cpu",
                    &["label", "accuracy", "label"],
                    &[&[1.0, accuracy[0], 0.0], &[2.0, accuracy[1], 0.0]],
                );
                build.says("The second is the better one.", &[]);
            });
            for (row, right) in document.tables[0].rows.iter_mut().zip(right) {
                row.cells[2].text = format!("{right}/250");
            }
            found(check, &[document])
        };
        assert_eq!(ranked([243, 244])[0].level, Level::Doubtful);
        assert!(ranked([215, 244]).is_empty());
    }

    #[test]
    fn a_ranking_by_the_last_digit_is_doubtful() {
        let ranked = |values: [f64; 2]| {
            found(
                check,
                &[document("a.md", |build| {
                    build.heading("Results").table(
                        "groq",
                        &["batch_size", "e2e"],
                        &[&[1.0, values[0]], &[2.0, values[1]]],
                    );
                    build.says("Batch size 1 has the lower latency.", &[]);
                })],
            )
        };
        assert_eq!(ranked([0.05, 0.06])[0].level, Level::Doubtful);
        assert!(ranked([0.0512, 0.0634]).is_empty());
    }
}
