//! Queue, compile and start-up beside the work, and inside times and rates that are taken for the work.

use assay_model::{Document, Observation, Source, Unit, names};

use super::claims;
use super::facts::{Facts, Run, close, place};
use super::same::{compile_inside, compile_within};
use super::wording::{percent, plain, rough, with_unit};
use super::{Class, Finding, Level};

/// Waiting below this share of the whole is not worth a word.
const WORTH_SAYING: f64 = 0.1;
/// How near a stated time must come to an interval of the log to be taken for it.
const MATCH: f64 = 0.005;

/// Looks at each log with phases.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        let mut found = Vec::new();
        for run in facts.logs_of(document) {
            let Some(shares) = shares(run) else { continue };
            let inside = stated(facts, document, run, &shares);
            if inside.is_empty() {
                found.push((run, shares));
            } else {
                findings.push(taken_for_work(run, &shares, inside));
            }
        }
        findings.extend(information(&found));
    }
    findings
}

/// How long a log is and how much of it is work.
struct Shares {
    total: f64,
    work: f64,
    /// Whether the waiting is a compilation inside the time that the log states for its loop.
    inside: bool,
    /// Seconds by phase, in the order they began.
    phases: Vec<(String, f64)>,
}

fn shares(run: &Run<'_>) -> Option<Shares> {
    let mut phases: Vec<(String, f64)> = Vec::new();
    for phase in &run.read.phases {
        let Some(seconds) = phase.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0) else {
            continue;
        };
        match phases.iter_mut().find(|(name, _)| *name == phase.name) {
            Some((_, known)) => *known += seconds,
            None => phases.push((phase.name.clone(), seconds)),
        }
    }
    let work: f64 = phases.iter().filter(|(name, _)| is_work(name)).map(|(_, seconds)| seconds).sum();
    // A clock that does not cover the loop says nothing about the whole.
    let timed =
        run.read.phases.iter().filter(|phase| is_work(&phase.name)).all(|phase| phase.end_s.is_some());
    let ended = run.read.phases.iter().filter_map(|phase| phase.end_s).fold(0.0, f64::max);
    let (total, waited) = match compile_inside(run) {
        Some(true) if !timed => (work, compile_within(run)?),
        Some(true) => (ended.max(work), compile_within(run)?),
        _ if timed => (ended, ended - work),
        _ => return None,
    };
    let worth = total.is_finite() && work > 0.0 && waited > WORTH_SAYING * total;
    worth.then_some(Shares { total, work: total - waited, inside: compile_inside(run) == Some(true), phases })
}

fn is_work(phase: &str) -> bool {
    matches!(phase, "train" | "eval" | "warmup")
}

/// A number that is stated somewhere and that covers waiting.
struct Covering {
    text: String,
    interval: f64,
    source: Source,
}

/// Stated times and rates that cover more than the work of a run.
fn stated(facts: &Facts<'_>, document: &Document, run: &Run<'_>, shares: &Shares) -> Vec<Covering> {
    let intervals = intervals(run, shares);
    let mut found = Vec::new();
    let covering = |value: f64, unit: &Unit| -> Option<f64> {
        let seconds = match unit {
            Unit::Seconds => value,
            Unit::PerSecond(_) => run.work()? / value,
            _ => return None,
        };
        let is_work = close(seconds, shares.work, 2.0 * MATCH)
            || run
                .value(names::DURATION_LOOP)
                .filter(|_| !shares.inside)
                .is_some_and(|known| close(seconds, known, 2.0 * MATCH));
        intervals.iter().copied().find(|interval| !is_work && close(seconds, *interval, MATCH))
    };
    // A row that also states the time of the work leaves nobody in doubt.
    let is_open = |row: &&Run<'_>| {
        row.read
            .observations
            .iter()
            .any(|one| one.unit == Unit::Seconds && close(one.value, shares.work, 2.0 * MATCH))
    };
    let rows = facts.runs_of(document).filter(|row| row.is_row() && row.agrees_with(run));
    for row in rows.filter(|row| !is_open(row)) {
        for observation in &row.read.observations {
            if let Some(interval) = covering(observation.value, &observation.unit) {
                if header(row, observation).is_some_and(owns_up) {
                    continue;
                }
                let text =
                    format!("{} {}", observation.metric, with_unit(observation.value, &observation.unit));
                found.push(Covering { text, interval, source: row.source_of(&observation.metric) });
            }
        }
    }
    for statement in document.statements.iter().filter(|one| claims::concerns(document, one, run.platform()))
    {
        for quantity in &statement.quantities {
            if let Some(interval) = covering(quantity.value, &quantity.unit)
                && !owns_up(&statement.text)
            {
                found.push(Covering {
                    text: format!("`{}`", quantity.text),
                    interval,
                    source: place(statement),
                });
            }
        }
    }
    found
}

/// The header over a number of a row.
fn header<'a>(row: &Run<'a>, observation: &Observation) -> Option<&'a str> {
    let (table, cells) = row.row()?;
    let written = observation.written.as_deref()?;
    let mut columns = table.columns.iter().zip(&cells.cells);
    columns.find(|(_, cell)| cell.text == written).map(|(column, _)| column.header.as_str())
}

/// Whether words say themselves that waiting is in a number.
fn owns_up(text: &str) -> bool {
    let text = text.to_lowercase();
    ["queue", "waiting", "compil", "start-up", "startup", "staging", "overhead", "whole job", "wall"]
        .iter()
        .any(|word| text.contains(word))
}

/// Intervals of the log that hold the work and more: from the start of any phase before it, or of the log, to the end
/// of the work or of any phase behind it; and the work with each kind of waiting alone.
fn intervals(run: &Run<'_>, shares: &Shares) -> Vec<f64> {
    let phases = &run.read.phases;
    let train = phases.iter().find(|phase| phase.name == "train");
    let begin = train.and_then(|phase| phase.start_s).unwrap_or(0.0);
    let end = phases
        .iter()
        .filter(|phase| phase.name == "train")
        .filter_map(|phase| phase.end_s)
        .fold(0.0, f64::max);
    let starts = phases.iter().filter_map(|phase| phase.start_s).filter(|start| *start <= begin).chain([0.0]);
    let mut found: Vec<f64> = Vec::new();
    for start in starts {
        let ends = phases.iter().filter_map(|phase| phase.end_s).filter(|other| *other >= end);
        found.extend(ends.map(|end| end - start));
    }
    let waiting: Vec<f64> =
        shares.phases.iter().filter(|(name, _)| !is_work(name)).map(|(_, seconds)| *seconds).collect();
    found.extend(waiting.iter().map(|seconds| shares.work + seconds));
    found.push(shares.total);
    found.extend(
        [names::DURATION_FIT, names::DURATION_JOB].into_iter().filter_map(|metric| run.value(metric)),
    );
    found.retain(|interval| interval.is_finite() && *interval > (1.0 + WORTH_SAYING) * shares.work);
    found
}

fn taken_for_work(run: &Run<'_>, shares: &Shares, inside: Vec<Covering>) -> Finding {
    let mut arithmetic: Vec<String> = inside
        .iter()
        .take(3)
        .map(|one| {
            format!(
                "{} covers {} s, of which {} s ({}) are not the work",
                one.text,
                plain(one.interval),
                rough(one.interval - shares.work),
                percent((one.interval - shares.work) / one.interval)
            )
        })
        .collect();
    arithmetic.extend(lines(run, shares));
    arithmetic.truncate(8);
    let longest = inside.iter().map(|one| one.interval).fold(0.0, f64::max);
    let mut sources: Vec<Source> = inside.into_iter().map(|one| one.source).collect();
    sources.truncate(6);
    sources.push(run.source());
    Finding {
        class: Class::WaitingInside,
        operands: Vec::new(),
        level: Level::Doubtful,
        summary: format!(
            "A stated time or rate covers {} s, of which the work is {} s ({}).",
            plain(longest),
            plain(shares.work),
            percent(shares.work / longest),
        ),
        arithmetic,
        sources,
        advice: "Give the time and rate of the loop, and name queue, compile and start-up apart.".to_owned(),
    }
}

/// The shares of a run, a line each.
fn lines(run: &Run<'_>, shares: &Shares) -> Vec<String> {
    let listed: Vec<String> = shares
        .phases
        .iter()
        .filter(|(_, seconds)| *seconds >= 0.05)
        .map(|(name, seconds)| format!("{} {} s", name.replace('_', " "), rough(*seconds)))
        .collect();
    let mut lines = vec![format!(
        "{}: work {} s of {} s = {} ({})",
        run.label(),
        plain(shares.work),
        plain(shares.total),
        percent(shares.work / shares.total),
        listed.join(", ")
    )];
    if let Some(work) = run.work() {
        let over_loop = run.value(names::DURATION_LOOP).unwrap_or(shares.work);
        lines.push(format!(
            "{} / {} s = {} a second over the whole log, {} over the loop",
            plain(work),
            plain(shares.total),
            rough(work / shares.total),
            rough(work / over_loop)
        ));
    }
    lines
}

fn information(runs: &[(&Run<'_>, Shares)]) -> Option<Finding> {
    let (_, least) =
        runs.iter().min_by(|(_, a), (_, b)| (a.work / a.total).total_cmp(&(b.work / b.total)))?;
    let mut arithmetic: Vec<String> = runs.iter().flat_map(|(run, shares)| lines(run, shares)).collect();
    arithmetic.truncate(8);
    let summary = match least.inside {
        true => format!(
            "The {} s that a log states for its loop hold a compilation; without it the work is {} s ({}).",
            plain(least.total),
            plain(least.work),
            percent(least.work / least.total),
        ),
        false => format!(
            "The work is {} of the {} s that a log spans; the rest is waiting and set-up, and no stated number takes it for work.",
            percent(least.work / least.total),
            plain(least.total),
        ),
    };
    Some(Finding {
        class: Class::WaitingInside,
        operands: Vec::new(),
        level: Level::Supported,
        summary,
        arithmetic,
        sources: runs.iter().take(6).map(|(run, _)| run.source()).collect(),
        advice: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Build, document, found};
    use super::*;

    fn queued(build: &mut Build) -> &mut Build {
        build
            .log("cerebras", "cerebras")
            .observed("batch_size", 512)
            .metric(names::SAMPLES, 512_000.0)
            .metric(names::DURATION_LOOP, 175.0705)
            .phase("queue", 3633.3)
            .phase("compile", 4.0)
            .phase("stage", 207.9)
            .phase("train", 175.2)
            .phase("teardown", 220.2)
    }

    #[test]
    fn shares_are_information_where_nobody_mistakes_them() {
        let document = document("notes.md", |build: &mut Build| {
            queued(build).says("Training took 175 seconds.", &[(175.0, "s", None)]);
        });
        let findings = found(check, &[document]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].level, Level::Supported);
        assert!(findings[0].summary.contains("4.1 %"), "{}", findings[0].summary);
        assert!(findings[0].arithmetic[1].contains("120.7"), "{:?}", findings[0].arithmetic);
        assert!(findings[0].arithmetic[1].contains("2925 over the loop"), "{:?}", findings[0].arithmetic);
    }

    #[test]
    fn a_total_stated_as_the_time_is_doubtful() {
        let table = document("notes.md", |build: &mut Build| {
            queued(build).table(
                "cerebras",
                &["batch_size", "duration.reported", "samples_per_s"],
                &[&[512.0, 4240.6, 120.74]],
            );
        });
        let findings = found(check, &[table]);
        assert_eq!(findings[0].level, Level::Doubtful);
        assert_eq!(findings[0].sources.len(), 3);
        let said = document("notes.md", |build: &mut Build| {
            queued(build).says("Training took 4,241 s.", &[(4241.0, "s", None)]);
        });
        assert_eq!(found(check, &[said])[0].level, Level::Doubtful);
        let honest = document("notes.md", |build: &mut Build| {
            queued(build).says("With the queue it took 4,241 s.", &[(4241.0, "s", None)]);
        });
        assert_eq!(found(check, &[honest])[0].level, Level::Supported);
    }

    #[test]
    fn a_log_that_is_mostly_work_needs_no_word() {
        let document = document("notes.md", |build: &mut Build| {
            build.log("cerebras", "cerebras").phase("compile", 5.0).phase("train", 100.0);
        });
        assert!(found(check, &[document]).is_empty());
    }
}
