//! Runs that did different amounts of work, compared as if they had not.

use assay_model::{Document, Role, Source, Statement, Unit, names};

use super::claims::{self, Tone};
use super::facts::{Facts, Run, close, place};
use super::wording::{plain, rough};
use super::written::resolution;
use super::{Class, Finding, Level};

/// Looks at sentences that compare times or losses of runs.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let documents = facts.documents.iter();
    documents.filter_map(|document| times(facts, document).or_else(|| losses(facts, document))).collect()
}

/// A run with its work and time.
struct Done<'a> {
    run: &'a Run<'a>,
    work: f64,
    seconds: f64,
    source: Source,
}

fn done<'a>(run: &'a Run<'a>) -> Option<Done<'a>> {
    let metric = [names::DURATION_LOOP, names::DURATION_REPORTED, names::DURATION_FIT, names::DURATION_JOB]
        .into_iter()
        .find(|metric| run.value(metric).is_some_and(|seconds| seconds > 0.0))?;
    Some(Done { run, work: run.rough_work()?, seconds: run.value(metric)?, source: run.source_of(metric) })
}

/// The mean of runs that did the same thing, which a sentence may state instead of one of them.
fn mean_of<'a>(facts: &'a Facts<'a>, document: &Document, members: &[usize]) -> Option<Done<'a>> {
    let runs = members.iter().filter_map(|place| facts.runs.get(*place));
    let all: Vec<Done<'_>> =
        runs.filter(|run| std::ptr::eq(run.document, document)).filter_map(done).collect();
    let seconds = all.iter().map(|done| done.seconds).sum::<f64>() / all.len() as f64;
    let count = all.len();
    let first = all.into_iter().next()?;
    (count > 1).then_some(Done { seconds, ..first })
}

/// A sentence that compares the times of two runs with unequal work.
fn times(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let mut all: Vec<Done<'_>> = facts.runs_of(document).filter_map(done).collect();
    let means: Vec<Done<'_>> =
        facts.same.iter().filter_map(|same| mean_of(facts, document, &same.members)).collect();
    all.extend(means);
    document.statements.iter().find_map(|statement| {
        if is_normalised(&statement.text) {
            return None;
        }
        let (one, other) = named_pair(statement, &all).or_else(|| spoken_pair(document, statement, &all))?;
        (!close(one.work, other.work, 0.01)).then(|| unequal(statement, one, other))
    })
}

/// Whether a sentence relates times to work.
fn is_normalised(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "rate",
        "throughput",
        "per second",
        "/s",
        "per sample",
        "times the work",
        "more samples",
        "samples per",
        "for each sample",
        "normalis",
        "normaliz",
        "as many samples",
        "the samples",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// The two runs whose times a sentence states.
fn named_pair<'a>(statement: &Statement, all: &'a [Done<'a>]) -> Option<(&'a Done<'a>, &'a Done<'a>)> {
    let mut matched: Vec<&Done<'_>> = Vec::new();
    for quantity in statement.quantities.iter().filter(|quantity| quantity.unit == Unit::Seconds) {
        let digit = resolution(&quantity.text, quantity.value).map_or(0.0, |(digit, _)| digit);
        let near: Vec<&Done<'_>> = all
            .iter()
            // People cut digits off as often as they round them.
            .filter(|done| (done.seconds - quantity.value).abs() <= digit.max(1e-6 * quantity.value.abs()))
            .collect();
        let first = near.first()?;
        if near.iter().any(|other| !close(other.work, first.work, 0.01)) {
            return None;
        }
        matched.push(first);
    }
    let (one, other) = (
        matched.first()?,
        matched.iter().find(|other| {
            other.run.platform() == matched.first().and_then(|one| one.run.platform())
                && !close(other.seconds, matched.first().map_or(0.0, |one| one.seconds), 1e-9)
        })?,
    );
    Some((one, other))
}

/// The extremes of the runs that a sentence ranks by time or calls equally fast, where it states no times.
fn spoken_pair<'a>(
    document: &Document,
    statement: &Statement,
    all: &'a [Done<'a>],
) -> Option<(&'a Done<'a>, &'a Done<'a>)> {
    let text = statement.text.to_lowercase();
    let about_time = [
        "slower",
        "longer",
        "shorter",
        "processing time",
        "run time",
        "runtime",
        "training time",
        "run-time",
        "seconds",
    ]
    .iter()
    .any(|word| text.contains(word));
    let ranks = matches!(claims::tone(&statement.text), Some(Tone::Ranking | Tone::Alike))
        || ["longer", "shorter", "went from", "rose", "grows", "grew"].iter().any(|word| text.contains(word));
    let states = statement.quantities.iter().any(|quantity| quantity.unit == Unit::Seconds);
    if !about_time || !ranks || states || shows_rates(document) {
        return None;
    }
    let words = format!("{} {text}", statement.headings.join(" ").to_lowercase());
    let here: Vec<&Done<'_>> = all
        .iter()
        .filter(|done| done.run.platform().is_none_or(|platform| words.contains(platform)))
        .collect();
    let one = here.iter().min_by(|a, b| a.work.total_cmp(&b.work))?;
    let other = here.iter().max_by(|a, b| a.work.total_cmp(&b.work))?;
    (one.run.platform() == other.run.platform()).then_some((one, other))
}

/// Whether a table of the document sets rates beside the times, so that readers can see the work.
fn shows_rates(document: &Document) -> bool {
    document.tables.iter().any(|table| {
        table
            .columns
            .iter()
            .any(|column| matches!(&column.role, Role::Metric(metric) if metric.contains("_per_s") || metric.contains("throughput")))
    })
}

fn unequal(statement: &Statement, one: &Done<'_>, other: &Done<'_>) -> Finding {
    let (less, more) = if one.work <= other.work { (one, other) } else { (other, one) };
    let (work, time) = (more.work / less.work, more.seconds / less.seconds);
    let line = |done: &Done<'_>, other: &Done<'_>| {
        format!(
            "{}: {} / {} s = {} a second",
            done.run.label_against(other.run),
            plain(done.work),
            plain(done.seconds),
            rough(done.work / done.seconds)
        )
    };
    Finding {
        class: Class::UnequalWork,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "The times compared belong to unequal work: {} s for {} and {} s for {}, {} times the work at {} times the rate.",
            plain(less.seconds),
            plain(less.work),
            plain(more.seconds),
            plain(more.work),
            rough(work),
            rough(work / time),
        ),
        arithmetic: vec![
            line(less, more),
            line(more, less),
            format!(
                "work {} times, time {} times, rate {} times",
                rough(work),
                rough(time),
                rough(work / time)
            ),
        ],
        sources: vec![place(statement), less.source.clone(), more.source.clone()],
        advice: "Compare rates, or times for the same number of samples.".to_owned(),
    }
}

/// A sentence that credits more tasks or devices with a lower loss.
fn losses(facts: &Facts<'_>, document: &Document) -> Option<Finding> {
    let widths = [names::setting::TASKS, names::setting::DEVICES, names::setting::NODES];
    let name = widths.into_iter().find(|name| {
        let mut values = facts.runs_of(document).filter_map(|run| run.number(name));
        values.next().is_some_and(|first| values.any(|other| other != first))
    })?;
    let runs: Vec<(&Run<'_>, f64, f64)> = facts
        .runs_of(document)
        .filter_map(|run| {
            let loss = run.value(names::LOSS_FINAL).or_else(|| run.value(names::LOSS_MEAN))?;
            Some((run, run.number(name)?, loss))
        })
        .collect();
    let narrow = runs.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let wide = runs.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if narrow.1 >= wide.1 || wide.2 >= narrow.2 || narrow.0.platform() != wide.0.platform() {
        return None;
    }
    let statement = document.statements.iter().find(|statement| {
        let text = statement.text.to_lowercase();
        let ranks = claims::tone(&statement.text) == Some(Tone::Ranking) || text.contains("smaller");
        ranks && text.contains("loss") && !is_normalised_loss(&text)
    })?;
    let (level, known) = match (narrow.0.rough_work(), wide.0.rough_work()) {
        (Some(less), Some(more)) if close(less, more, 0.01) => return None,
        (Some(less), Some(more)) => (
            Level::Doubtful,
            format!("{} samples against {}, {} times as many", plain(less), plain(more), rough(more / less)),
        ),
        _ => (Level::NotChecked, "with a fixed number of steps, samples grow with the tasks".to_owned()),
    };
    let stated = match level {
        Level::NotChecked => "whether both saw the same number of samples is unknown",
        _ => "it also saw more samples, which lowers a loss by itself",
    };
    Some(Finding {
        class: Class::UnequalWork,
        operands: Vec::new(),
        level,
        summary: format!(
            "The lower loss with {} {name} ({} against {} with {}) is credited to the number of {name}; {stated}.",
            plain(wide.1),
            plain(wide.2),
            plain(narrow.2),
            plain(narrow.1),
        ),
        arithmetic: vec![known],
        sources: vec![place(statement), narrow.0.source(), wide.0.source()],
        advice: "Compare losses at the same number of samples, and give the samples of each run.".to_owned(),
    })
}

fn is_normalised_loss(text: &str) -> bool {
    ["same number of samples", "equal samples", "more samples", "more data", "same data"]
        .iter()
        .any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Build, document, found};
    use super::*;

    fn two_logs(build: &mut Build) -> &mut Build {
        for (batch, samples, seconds) in [(512, 512_000.0, 175.0705), (2048, 2_048_000.0, 304.4032)] {
            build
                .log("cerebras", "cerebras")
                .observed("batch_size", batch)
                .metric(names::SAMPLES, samples)
                .metric(names::DURATION_LOOP, seconds);
        }
        build.heading("Cerebras")
    }

    #[test]
    fn times_of_unequal_work_are_set_right() {
        let document = document("notes.md", |build: &mut Build| {
            two_logs(build).says("It went from 175 s to 304 s.", &[(175.0, "s", None), (304.0, "s", None)]);
        });
        let findings = found(check, &[document]);
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0].summary.contains("4 times the work at 2.301 times the rate"),
            "{}",
            findings[0].summary
        );
    }

    #[test]
    fn a_sentence_may_state_means_of_repeats() {
        let document = document("notes.md", |build: &mut Build| {
            let runs = [(512, 512_000.0, [173.0, 177.0]), (2048, 2_048_000.0, [300.0, 308.0])];
            for (batch, samples, times) in runs {
                for seconds in times {
                    build
                        .log("cerebras", "cerebras")
                        .observed("batch_size", batch)
                        .metric(names::SAMPLES, samples)
                        .metric(names::DURATION_LOOP, seconds);
                }
            }
            build.says("It went from 175 s to 304 s.", &[(175.0, "s", None), (304.0, "s", None)]);
        });
        assert_eq!(found(check, &[document]).len(), 1);
    }

    #[test]
    fn a_comparison_of_rates_is_sound() {
        let document = document("notes.md", |build: &mut Build| {
            two_logs(build).says("The larger batch has the higher rate.", &[]).says(
                "175 s became 304 s for four times the samples.",
                &[(175.0, "s", None), (304.0, "s", None)],
            );
        });
        assert!(found(check, &[document]).is_empty());
    }

    #[test]
    fn words_alone_are_enough() {
        let document = document("notes.md", |build: &mut Build| {
            two_logs(build).says("With the larger batch the job takes longer.", &[]);
        });
        assert_eq!(found(check, &[document]).len(), 1);
    }

    #[test]
    fn a_loss_credited_to_more_tasks_is_open_without_samples() {
        let document = document("notes.md", |build: &mut Build| {
            build
                .table("sambanova", &["tasks", "loss.final"], &[&[4.0, 8.350], &[16.0, 8.255]])
                .says("More tasks give a lower loss.", &[]);
        });
        assert_eq!(found(check, &[document])[0].level, Level::NotChecked);
    }
}
