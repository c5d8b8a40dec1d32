//! What laws over workers and batch sizes say.

use assay_model::{CellId, Unit};

use super::words::{capitalized, label, shown};
use super::{Finding, finding};
use crate::gather::Evidence;
use crate::law::{FittedLaw, LawKind, Ranged};
use crate::scaling::{Scaling, ScalingRow, WORKERS, is_batch, scaling};

/// Whether a setting counts workers or samples of a batch, so that a rate over it may follow a law.
pub fn is_scaled_over(name: &str) -> bool {
    is_batch(name) || WORKERS.contains(&name)
}

/// What rates say over settings that count workers or samples of a batch.
pub fn of_scaling(evidence: &Evidence) -> Vec<Finding> {
    let Unit::PerSecond(work) = &evidence.metric.unit else { return Vec::new() };
    // Arithmetic is in proportion to samples, whose rate says the same in words that people use.
    let known = |name: &&String| is_scaled_over(name) && !(work == "FLOP" && is_batch(name));
    let mut names: Vec<&String> =
        evidence.cells.iter().flat_map(|cell| cell.settings.keys()).filter(known).collect();
    names.sort();
    names.dedup();
    let studies = names.into_iter().filter_map(|over| scaling(evidence, over, &[]));
    studies.flat_map(|study| of_study(&study)).collect()
}

fn of_study(study: &Scaling) -> Vec<Finding> {
    let mut found = Vec::new();
    for (settings, law) in &study.laws {
        let rows: Vec<&ScalingRow> = study.rows.iter().filter(|row| row.settings == *settings).collect();
        let cells: Vec<CellId> = rows.iter().map(|row| row.cell.clone()).collect();
        if rows.len() < 2 {
            continue;
        }
        let place = if settings.is_empty() { String::new() } else { format!("At {}: ", label(settings)) };
        if !study.is_batch
            && let Some(text) = efficiency(study, &rows)
        {
            found.push(finding("efficiency", format!("{place}{text}"), cells.clone()));
        }
        match law {
            Ok(law) => {
                found.push(finding(
                    "law",
                    format!("{place}{}: {}", study.metric.name, law_sentence(law, study)),
                    cells,
                ));
            }
            Err(reason) if study.is_batch => {
                let text =
                    format!("{place}no law of {} over {} is fitted: {reason}", study.metric.name, study.over);
                found.push(finding("no_law", capitalized(&text), cells));
            }
            Err(_) => {}
        }
    }
    found
}

/// The efficiency at the most workers, and up to where it stays worthwhile.
fn efficiency(study: &Scaling, rows: &[&ScalingRow]) -> Option<String> {
    let (first, last) = (rows.first()?, rows.last()?);
    let share = last.efficiency?;
    let ends = match share.ends {
        Some((low, high)) => format!(" (95 % interval {:.1} – {:.1} %)", 100.0 * low, 100.0 * high),
        None => ", without an interval: too few runs".to_owned(),
    };
    let worth =
        rows.iter().filter(|row| row.efficiency.is_some_and(|share| share.center < crate::law::WORTHWHILE));
    let fall = worth.map(|row| row.workers).next();
    let fall = fall.map_or_else(String::new, |count| format!("; it falls below 70 % at {count}"));
    Some(format!(
        "{} grows from {} to {} {} at {:.1} % efficiency{ends}{fall}",
        study.metric.name,
        first.workers,
        last.workers,
        study.over,
        100.0 * share.center
    ))
}

fn law_sentence(law: &FittedLaw, study: &Scaling) -> String {
    let name = match law.law {
        LawKind::HalfPerformance => "rate(b) = b / (t₀ + b/r∞)",
        LawKind::Amdahl => "Amdahl's law",
        LawKind::Universal => "the universal scalability law",
    };
    if let Some(why) = law.rejected() {
        return format!(
            "{name} over {} does not describe the {} runs: {why}, so its parameters must not be used",
            study.over, law.runs
        );
    }
    let ends = |ends: Option<(f64, f64)>, show: &dyn Fn(f64) -> String| match ends {
        Some((low, high)) => format!(" ({} – {})", show(low), show(high)),
        None => format!(" (no interval: {} runs are too few)", law.runs),
    };
    let unit = &study.metric.unit;
    // Parameters of a law that nothing has tested are conditions, not facts.
    let (holds, tested) = match law.lack_of_fit {
        Some(test) => {
            let misses = format!("it misses the means of repeats by {:.1} %", 100.0 * test.misfit);
            (name.to_owned(), format!("{misses}, which does not reject it (p = {:.2})", test.p))
        }
        None => (format!("if {name} holds"), "there are no repeats to test it".to_owned()),
    };
    let rate = |value: f64| shown(value, unit);
    let seconds = |value: f64| shown(value, &Unit::Seconds);
    let text = match law.law {
        LawKind::HalfPerformance => {
            let limit = law.asymptote.as_ref().map_or_else(
                || "no limit is in sight".to_owned(),
                |limit| {
                    let measured = law.band.iter().filter(|point| point.at <= law.largest);
                    let fastest = measured.map(|point| point.value.center).fold(0.0, f64::max);
                    format!(
                        "approaches {}{}, of which the fastest runs reach {:.0} %",
                        rate(limit.center),
                        ends(limit.ends, &rate),
                        100.0 * fastest / limit.center
                    )
                },
            );
            let half = law.half_performance.map(|half| half_of_it(&half, law, &study.over));
            let half = half.unwrap_or_default();
            // What a batch size counts are samples: only their rate gives the seconds of a step.
            match unit {
                Unit::PerSecond(work) if work == "samples" => format!(
                    "{holds}: every step costs {}{} beside its samples, and the rate {limit}{half}",
                    seconds(law.overhead.center),
                    ends(law.overhead.ends, &seconds),
                ),
                _ => format!("{holds}: the rate {limit}{half}"),
            }
        }
        LawKind::Amdahl | LawKind::Universal => {
            let percent = |value: f64| format!("{:.2} %", 100.0 * value);
            let worth = law.worthwhile().map_or_else(String::new, |count| {
                format!(", efficiency stays at 70 % or more up to {count} {}", study.over)
            });
            format!(
                "{holds}: {}{} of the work waits for others{worth}",
                percent(law.contention.center),
                ends(law.contention.ends, &percent)
            )
        }
    };
    format!("{text}; {tested}; nothing is said beyond {} {}", study.over, 2.0 * law.largest)
}

/// Where half of the limit is reached, as far as the measured places say.
fn half_of_it(half: &Ranged, law: &FittedLaw, over: &str) -> String {
    let smallest = law.band.iter().map(|point| point.at).fold(law.largest, f64::min);
    let ends = half.ends.map(|(low, high)| format!(" ({low:.0} – {high:.0})")).unwrap_or_default();
    match half.center {
        half if half < 0.5 * smallest => {
            format!(", half of it below {over} {smallest}, the smallest measured")
        }
        half if half > 2.0 * law.largest => ", half of it beyond that".to_owned(),
        half => format!(", half of it at {over} {half:.0}{ends}"),
    }
}
