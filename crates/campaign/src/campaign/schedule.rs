//! `repeats`, `order` and `run`: how often, in which order, where, and for how long.

use std::collections::BTreeMap;
use std::ops::Range;

use assay_model::Platform;

use super::fewer::{self, Fewer};
use super::names::{Condition, Names};
use crate::problem::Problem;
use crate::quantity;
use crate::reader::{Collector, Item, SpannedText, Table};
use crate::registry::Registry;
use crate::suggest;

/// How often each cell is run.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Repeats {
    /// Every cell is run at least this often.
    pub at_least: u32,
    /// No cell is run more often than this.
    pub at_most: u32,
    /// Repeats are added until the half-width of the headline's interval is below this share of its center.
    pub precision: Option<f64>,
    /// Once the campaign has taken this long, no repeats beyond `at_least` are added.
    pub budget_s: Option<f64>,
    /// Cells that are run less often; the first entry that holds for a cell counts. The plan's hash has what they come
    /// to for each cell instead.
    #[serde(skip)]
    pub fewer: Vec<Fewer>,
}

/// What a campaign says about repeats, before defaults are filled in.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub(super) struct RepeatBounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_least: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_most: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) precision: Option<f64>,
    #[serde(rename = "budget", skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    pub(super) budget_s: Option<f64>,
}

impl RepeatBounds {
    pub(super) fn is_empty(&self) -> bool {
        *self == RepeatBounds::default()
    }

    fn is_open_ended(&self) -> bool {
        self.precision.is_some() || self.budget_s.is_some()
    }

    pub(super) fn resolve(&self) -> Repeats {
        let usual = if self.precision.is_some() { REPEATS_WITH_PRECISION } else { REPEATS };
        let at_least = self.at_least.unwrap_or(usual.min(self.at_most.unwrap_or(usual)));
        let usual_most = if self.is_open_ended() { REPEATS_AT_MOST.max(at_least) } else { at_least };
        Repeats {
            at_least,
            at_most: self.at_most.unwrap_or(usual_most),
            precision: self.precision,
            budget_s: self.budget_s,
            fewer: Vec::new(),
        }
    }
}

/// Writes a duration as campaign files have it.
pub(super) fn seconds<S: serde::Serializer>(seconds: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match seconds {
        Some(seconds) => serializer.collect_str(&format_args!("{seconds} s")),
        None => serializer.serialize_none(),
    }
}

/// Repeats when the file asks for nothing.
const REPEATS: u32 = 6;
/// Repeats at least when the file asks for a precision: an interval from fewer is too wide to say anything.
const REPEATS_WITH_PRECISION: u32 = 10;
/// Repeats at most when the file gives a reason to add some but no bound.
const REPEATS_AT_MOST: u32 = 30;

/// The order of runs.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Order {
    /// What is finished first.
    pub by: OrderBy,
    /// Whether the order is shuffled.
    pub shuffle: bool,
    /// The seed the file gives; without one it follows from the plan.
    pub seed: Option<u64>,
}

/// What is finished first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderBy {
    /// One repeat of every cell, then the next repeat: drift of the machine falls on all cells alike.
    Rounds,
    /// All repeats of one cell, then the next cell.
    Cells,
}

/// Where and for how long runs go.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPolicy {
    /// A run that takes longer is stopped.
    pub timeout_s: Option<f64>,
    /// The time between asking a run to stop and making it.
    pub grace_s: f64,
    /// How long a run is expected to take.
    pub expected: Option<Expected>,
    /// How often each cell is run before its first measured run; these runs are not kept.
    pub warmup: u32,
    /// The CPUs a run is bound to; empty for no binding.
    pub pin: Vec<usize>,
    /// Whether the memory of all processes of a run together is measured.
    pub group_memory: bool,
    /// Whether short runs go without a run directory: their output is in the journal.
    pub compact: bool,
    pub(crate) timeout_place: Option<Range<usize>>,
    pub(crate) expected_place: Option<Range<usize>>,
    pub(crate) pin_place: Option<Range<usize>>,
    pub(crate) budget_place: Option<Range<usize>>,
    /// Where the file sets the time limit of a platform's jobs.
    pub(crate) job_time_places: BTreeMap<String, Range<usize>>,
}

/// How long a run is expected to take.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// The same for every cell, in seconds.
    Fixed(f64),
    /// Computed from the settings, in seconds.
    Computed(Condition),
}

/// The time between asking a run to stop and making it, when the file says nothing.
const GRACE_S: f64 = 5.0;

pub(super) fn duration(item: &Item<'_>) -> Option<f64> {
    if !item.value.is_str() {
        item.wrong("a duration such as \"90 s\"");
        return None;
    }
    let text = item.text()?;
    quantity::parse_duration(&text.value).map_err(|reason| item.problem(reason)).ok()
}

pub(super) fn share(item: &Item<'_>) -> Option<f64> {
    let found = match item.value.is_str() {
        true => quantity::parse_share(&item.text()?.value),
        false => quantity::check_share(item.number()?),
    };
    found.map_err(|reason| item.problem(reason)).ok()
}

/// A number of repeats.
pub(super) fn count(item: &Item<'_>) -> Option<u32> {
    item.whole(1..=1_000_000).and_then(|number| u32::try_from(number).ok())
}

/// Reads `repeats`; the second part is the place of the budget.
pub(super) fn read_repeats(
    top: &mut Table<'_>,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> (Repeats, Option<Range<usize>>) {
    let mut given = RepeatBounds::default();
    let Some(mut table) = top.get("repeats").and_then(|item| item.table()) else {
        return (given.resolve(), None);
    };
    let (least_item, most_item) = (table.get("at_least"), table.get("at_most"));
    let (least, most) = (least_item.as_ref().and_then(count), most_item.as_ref().and_then(count));
    given.at_least = least;
    given.at_most = most;
    given.precision = table.get("precision").as_ref().and_then(share);
    let budget = table.get("budget");
    given.budget_s = budget.as_ref().and_then(duration);
    let fewer = table.get("fewer").map(|item| item.tables()).unwrap_or_default();
    table.finish();

    let mut repeats = given.resolve();
    if let (Some(least), Some(most), Some(item)) = (least, most, &most_item)
        && least > most
    {
        let message = format!("`at_least` is {least}, but `at_most` is {most}");
        let problem = Problem::error(message).at(item.span.clone()).label("less than at_least");
        problems.add(problem.hint(format!("raise `at_most` to {least} or more")));
    }
    if let (true, false, Some(item)) = (repeats.at_most > repeats.at_least, given.is_open_ended(), &most_item)
    {
        let message = format!("nothing asks for more than {} repeats", repeats.at_least);
        let problem = Problem::warning(message).at(item.span.clone()).label("never reached");
        problems.add(problem.hint("give `precision` or `budget`, or set `at_least`"));
    }
    repeats.fewer = fewer::read(fewer, repeats.at_least, names, problems);
    (repeats, budget.map(|item| item.span))
}

pub(super) fn read_order(top: &mut Table<'_>, problems: &Collector<'_>) -> Order {
    let mut order = Order { by: OrderBy::Rounds, shuffle: true, seed: None };
    let Some(mut table) = top.get("order").and_then(|item| item.table()) else { return order };
    if let Some(text) = table.get("by").and_then(|item| item.text()) {
        match text.value.as_str() {
            "rounds" => order.by = OrderBy::Rounds,
            "cells" => order.by = OrderBy::Cells,
            other => {
                let problem = Problem::error(format!("unknown order `{other}`")).at(text.span.clone());
                problems.add(problem.hint("use `rounds` or `cells`"));
            }
        }
    }
    order.shuffle = table.get("shuffle").and_then(|item| item.switch()).unwrap_or(true);
    let seed = table.get("seed").and_then(|item| item.whole(0..=i64::MAX));
    order.seed = seed.and_then(|seed| u64::try_from(seed).ok());
    table.finish();
    order
}

/// Reads `run`: the policy and the platforms it names.
pub(super) fn read_run(
    top: &mut Table<'_>,
    usual_platform: &str,
    registry: &Registry,
    names: &Names<'_>,
    problems: &Collector<'_>,
) -> (RunPolicy, Vec<(Platform, Range<usize>)>) {
    let mut policy = RunPolicy {
        timeout_s: None,
        grace_s: GRACE_S,
        expected: None,
        warmup: 0,
        pin: Vec::new(),
        group_memory: false,
        compact: false,
        timeout_place: None,
        expected_place: None,
        pin_place: None,
        budget_place: None,
        job_time_places: BTreeMap::new(),
    };
    let table = top.get("run").and_then(|item| item.table());
    let Some(mut table) = table else {
        return (policy, read_platforms(None, usual_platform, registry, problems));
    };
    if let Some(item) = table.get("timeout") {
        policy.timeout_s = duration(&item);
        policy.timeout_place = Some(item.span);
    }
    if let Some(grace) = table.get("grace").as_ref().and_then(duration) {
        policy.grace_s = grace;
    }
    let warmup = table.get("warmup").and_then(|item| item.whole(0..=10_000));
    policy.warmup = warmup.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
    if let Some(item) = table.get("expected") {
        policy.expected = read_expected(&item, names);
        policy.expected_place = Some(item.span);
    }
    if let Some(item) = table.get("pin") {
        let cpus = item.list("a list of CPU numbers").unwrap_or_default();
        policy.pin = cpus
            .iter()
            .filter_map(|cpu| cpu.whole(0..=65_535).and_then(|number| usize::try_from(number).ok()))
            .collect();
        policy.pin.sort_unstable();
        policy.pin.dedup();
        policy.pin_place = Some(item.span);
    }
    policy.group_memory = table.get("group_memory").and_then(|item| item.switch()).unwrap_or(false);
    policy.compact = table.get("compact").and_then(|item| item.switch()).unwrap_or(false);
    let platforms = read_platforms(table.get("platforms"), usual_platform, registry, problems);
    table.finish();
    (policy, platforms)
}

fn read_expected(item: &Item<'_>, names: &Names<'_>) -> Option<Expected> {
    if !item.value.is_table() {
        return duration(item).map(Expected::Fixed);
    }
    let mut table = item.table()?;
    let seconds = table.get("seconds");
    if seconds.is_none() {
        item.problem("`expected` needs `seconds`, an expression over settings");
    }
    table.finish();
    let seconds = seconds?;
    match seconds.value.is_str() {
        true => names.condition(&seconds.text()?, true).map(Expected::Computed),
        false => match seconds.number()? {
            number if number > 0.0 => Some(Expected::Fixed(number)),
            _ => {
                seconds.problem("the expected time must be above zero");
                None
            }
        },
    }
}

fn read_platforms(
    item: Option<Item<'_>>,
    usual: &str,
    registry: &Registry,
    problems: &Collector<'_>,
) -> Vec<(Platform, Range<usize>)> {
    let chosen = registry.on.as_deref().map(SpannedText::given);
    if item.is_none() && chosen.is_none() {
        let found = registry.platforms.iter().find(|platform| platform.name == usual);
        if found.is_none() {
            let problem = Problem::error(format!("there is no platform `{usual}` to run on"));
            problems.add(problem.hint("name one with `platforms = [\"…\"]` under [run]"));
        }
        return found.map(|platform| (platform.clone(), 0..0)).into_iter().collect();
    }
    let named = item.and_then(|item| {
        if item.value.as_array().is_some_and(|list| list.is_empty()) {
            item.problem("`platforms` names no platform: there is nowhere to run");
        }
        item.texts()
    });
    let texts = chosen.map_or_else(|| named.unwrap_or_default(), |chosen| vec![chosen]);
    let mut platforms: Vec<(Platform, Range<usize>)> = Vec::new();
    for text in texts {
        if platforms.iter().any(|(platform, _)| platform.name == text.value) {
            let problem = Problem::error(format!("the platform `{}` is named twice", text.value));
            problems.add(problem.at(text.span.clone()));
            continue;
        }
        match registry.platforms.iter().find(|platform| platform.name == text.value) {
            Some(platform) => platforms.push((platform.clone(), text.span.clone())),
            None => {
                let known = registry.platforms.iter().map(|platform| platform.name.as_str());
                let problem =
                    Problem::error(format!("unknown platform `{}`", text.value)).at(text.span.clone());
                problems.add(problem.label("not a platform").maybe_hint(suggest::hint(&text.value, known)));
            }
        }
    }
    for (platform, place) in &platforms {
        if !registry.launchers.contains(&platform.launcher) {
            let available: Vec<&str> = registry.launchers.iter().map(String::as_str).collect();
            let message = format!(
                "runs on `{}` are started by `{}`, which this version cannot do",
                platform.name, platform.launcher
            );
            let hint = suggest::list(&available).map(|names| format!("it can start runs by {names}"));
            problems.add(Problem::error(message).at(place.clone()).maybe_hint(hint));
        }
    }
    platforms
}
