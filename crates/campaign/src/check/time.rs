//! Expected times against timeouts, time limits of platforms and the budget.

use std::ops::Range;

use assay_model::entry::PlannedCell;
use assay_model::platform::Limits;
use assay_model::{Platform, Settings, Value};

use super::{CheckedCells, Groups};
use crate::campaign::{Campaign, Condition, Expected};
use crate::expression::NameScope;
use crate::plan::PlanContext;
use crate::problem::Problem;
use crate::quantity::show_duration;

/// Checks the times of a cell and gives the expected run time in seconds.
pub(super) fn check(
    campaign: &Campaign,
    cell: &PlannedCell,
    limits: &Limits,
    context: &PlanContext<'_>,
    groups: &mut Groups<'_>,
) -> Option<f64> {
    let declared = declared(campaign, cell, groups);
    let earlier = || (context.earlier)(&cell.cell).filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    let (seconds, measured) = match declared {
        Some(seconds) => (seconds, false),
        None => (earlier()?, true),
    };
    let bounds =
        [(campaign.run.timeout_s, true, "expected_timeout"), (limits.time_s, false, "expected_limit")];
    for (bound, is_timeout, check) in bounds {
        if let Some(bound) = bound.filter(|bound| *bound < seconds) {
            groups.add(check, cell, || {
                if measured {
                    took_longer(campaign, seconds, bound, is_timeout)
                } else {
                    too_long(campaign, cell, seconds, bound, is_timeout)
                }
            });
        }
    }
    Some(seconds)
}

fn declared(campaign: &Campaign, cell: &PlannedCell, groups: &mut Groups<'_>) -> Option<f64> {
    let condition = match campaign.run.expected.as_ref()? {
        Expected::Fixed(seconds) => return Some(*seconds),
        Expected::Computed(condition) => condition,
    };
    match evaluate(condition, &cell.settings, &cell.cell.platform) {
        Ok(seconds) => Some(seconds),
        Err(problem) => {
            groups.add("expected", cell, || *problem);
            None
        }
    }
}

fn evaluate(condition: &Condition, settings: &Settings, platform: &str) -> Result<f64, Box<Problem>> {
    let scope = NameScope { settings, platform: Some(platform) };
    let seconds = condition.expression.number(scope).map_err(|error| Box::new(condition.failure(error)))?;
    match seconds > 0.0 {
        true => Ok(seconds),
        false => {
            Err(Box::new(condition.problem(format!("the expected time must be above zero, not {seconds} s"))))
        }
    }
}

/// The file expects a run to take longer than it may: nothing can come of it.
fn too_long(campaign: &Campaign, cell: &PlannedCell, seconds: f64, bound: f64, is_timeout: bool) -> Problem {
    let (expected, bound_shown) = (show_duration(seconds), show_duration(bound));
    let (end, place, raise) = match is_timeout {
        true => (
            format!("the timeout ends it after {bound_shown}"),
            campaign.run.timeout_place.clone(),
            format!("; or raise `timeout` above {expected}"),
        ),
        false => (
            format!("`{}` ends every run after {bound_shown}", cell.cell.platform),
            campaign.run.expected_place.clone(),
            String::new(),
        ),
    };
    let fits = largest(campaign, cell, bound).unwrap_or_else(|| format!("at most {bound_shown} fit"));
    let problem = Problem::error(format!("a run is expected to take {expected}, but {end}"));
    problem.at(place.unwrap_or(0..0)).hint(format!("{fits}{raise}"))
}

/// An earlier record shows that runs take longer than they may: likely to fail, but it may have been another machine.
fn took_longer(campaign: &Campaign, seconds: f64, bound: f64, is_timeout: bool) -> Problem {
    let end = match is_timeout {
        true => "the timeout ends them",
        false => "the platform ends them",
    };
    let message =
        format!("runs took {} before, but {end} after {}", show_duration(seconds), show_duration(bound));
    let problem = Problem::warning(message);
    match campaign.run.timeout_place.clone().filter(|_| is_timeout) {
        Some(place) => problem.at(place).hint(format!("raise `timeout` above {}", show_duration(seconds))),
        None => problem.hint("make the runs shorter"),
    }
}

/// The largest value of a whole-number setting with which the expected time fits, the others as they are.
fn largest(campaign: &Campaign, cell: &PlannedCell, bound: f64) -> Option<String> {
    let Some(Expected::Computed(condition)) = &campaign.run.expected else { return None };
    let fits = |name: &str, value: i64| {
        let mut settings = cell.settings.clone();
        settings.insert(name.to_owned(), Value::Integer(value));
        evaluate(condition, &settings, &cell.cell.platform).is_ok_and(|seconds| seconds <= bound)
    };
    for (name, _) in condition.expression.names() {
        let Some(Value::Integer(value)) = cell.settings.get(name) else { continue };
        // Times grow with what is asked for: between a value that fits and one that does not, halving finds the edge.
        let (mut low, mut high) = (1, *value);
        if high <= low || !fits(name, low) {
            continue;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(name, middle) { low = middle } else { high = middle }
        }
        return Some(format!("at most `{name}` = {low} fits in {}", show_duration(bound)));
    }
    None
}

/// A budget that ends before the runs every cell needs anyway.
pub(super) fn check_budget(campaign: &Campaign, checked: &CheckedCells, problems: &mut Vec<Problem>) {
    let (Some(budget), Some(place)) = (campaign.repeats.budget_s, &campaign.run.budget_place) else { return };
    let times = checked.expected_s.iter().zip(&checked.least);
    let needed: f64 = times.filter_map(|(seconds, least)| Some((*seconds)? * f64::from(*least))).sum();
    if needed > budget {
        let usual = campaign.repeats.at_least;
        let runs = match checked.least.iter().all(|least| *least == usual) {
            true => format!("{usual} repeats of every cell"),
            false => "the repeats that every cell gets anyway".to_owned(),
        };
        let message = format!(
            "{runs} take about {}, longer than the budget of {}",
            show_duration(needed),
            show_duration(budget)
        );
        let hint = "no repeats will be added; raise the budget or lower `at_least`";
        problems.push(Problem::warning(message).at(place.clone()).hint(hint));
    }
}

/// What a platform refuses a submission without.
pub(super) fn check_required(campaign: &Campaign, problems: &mut Vec<Problem>) {
    for (platform, named) in &campaign.platforms {
        if matches!(platform.launcher.as_str(), "local" | "replay") {
            continue;
        }
        let Some(missing) = platform.batch.missing(campaign.run.timeout_s) else { continue };
        let name = &platform.name;
        let hint = match missing {
            "time" => format!("set `[run] timeout`, or `time` under [platform.{name}]"),
            _ => format!("set `{missing}` under [platform.{name}]"),
        };
        let problem = Problem::error(format!("`{name}` refuses jobs without `{missing}`"));
        problems.push(problem.at(named.clone()).hint(hint));
    }
}

/// What a platform's own time limit makes pointless, or keeps from ever starting.
pub(super) fn check_limits(campaign: &Campaign, limits: &[Limits], problems: &mut Vec<Problem>) {
    for ((platform, named), limits) in campaign.platforms.iter().zip(limits) {
        let Some(limit) = limits.time_s else { continue };
        problems.extend(match platform.launcher.as_str() {
            "local" | "replay" => unreachable_timeout(campaign, &platform.name, limit),
            _ => too_long_job(campaign, platform, named, limit),
        });
    }
}

/// A timeout that the platform's own limit makes pointless.
fn unreachable_timeout(campaign: &Campaign, platform: &str, limit: f64) -> Option<Problem> {
    let timeout = campaign.run.timeout_s.filter(|timeout| limit < *timeout)?;
    let place = campaign.run.timeout_place.clone()?;
    let message = format!(
        "the timeout of {} is never reached: `{platform}` ends every run after {}",
        show_duration(timeout),
        show_duration(limit)
    );
    Some(Problem::warning(message).at(place).hint(format!("at most {} fit", show_duration(limit))))
}

/// A job that asks for more time than the platform gives: a scheduler keeps it in the queue forever, or refuses it.
fn too_long_job(
    campaign: &Campaign,
    platform: &Platform,
    named: &Range<usize>,
    limit: f64,
) -> Option<Problem> {
    let (run, batch) = (&campaign.run, &platform.batch);
    let of_run = batch.job_time_s(run.timeout_s, run.grace_s)?;
    // How many runs a `pack_time` puts together depends on how long they take: one fits at least.
    let pack = if batch.pack_time_s.is_some() { 1 } else { batch.pack.max(1) };
    // Schedulers count in whole minutes.
    let minutes = |seconds: f64| (seconds / 60.0).ceil() * 60.0;
    let asked = minutes(of_run * f64::from(pack));
    if asked <= limit {
        return None;
    }
    let name = &platform.name;
    let runs = if pack > 1 { format!(" of {pack} runs") } else { String::new() };
    let (asked, most) = (show_duration(asked), show_duration(limit));
    let message = format!("a job{runs} requests {asked}, `{name}` gives a job at most {most}");
    let place = match batch.time_s {
        Some(_) => run.job_time_places.get(name),
        None => run.timeout_place.as_ref(),
    };
    let around = of_run - run.timeout_s.unwrap_or_default();
    let for_run = limit / f64::from(pack) - if batch.time_s.is_some() { 0.0 } else { around };
    let key = if batch.time_s.is_some() { "time" } else { "timeout" };
    let fits =
        (for_run >= 1.0).then(|| format!("`{key}` of at most {} fits", show_duration(for_run.floor())));
    let packed = (limit / of_run).floor();
    let fewer = (pack > 1 && packed >= 1.0).then(|| format!("`pack` of at most {packed} fits"));
    let hints: Vec<String> = fits.into_iter().chain(fewer).collect();
    let hint =
        if hints.is_empty() { "choose a partition that gives more".to_owned() } else { hints.join("; ") };
    Some(Problem::error(message).at(place.unwrap_or(named).clone()).hint(hint))
}
