//! `gate`: bounds that runs must meet. Failing one is not failing to run.

use std::path::Path;

use assay_model::{Bound, Unit};

use super::names::{Condition, Names};
use super::reading::ReadPolicy;
use super::schedule::share;
use crate::problem::Problem;
use crate::reader::{Collector, Item, Table};

/// A gate as the file gives it: the plan turns its condition into points.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRule {
    pub metric: String,
    /// The bound, in the metric's base unit.
    pub bound: Bound,
    /// Which cells it is for; none for all.
    pub condition: Option<Condition>,
}

/// What a gate's table gives, before it is put together.
struct Given<'a> {
    min: Option<Item<'a>>,
    max: Option<Item<'a>>,
    expect: Option<Item<'a>>,
    reference: Option<Item<'a>>,
    within: Option<f64>,
    within_given: bool,
}

pub(super) fn read(
    top: &mut Table<'_>,
    policy: &ReadPolicy,
    names: &Names<'_>,
    directory: &Path,
    problems: &Collector<'_>,
) -> Vec<GateRule> {
    let tables = top.get("gate").map(|item| item.tables()).unwrap_or_default();
    tables.into_iter().filter_map(|table| read_one(table, policy, names, directory, problems)).collect()
}

fn read_one(
    mut table: Table<'_>,
    policy: &ReadPolicy,
    names: &Names<'_>,
    directory: &Path,
    problems: &Collector<'_>,
) -> Option<GateRule> {
    let name = table.get("metric").and_then(|item| item.text());
    let unit = table.get("unit");
    let within = table.get("within");
    let given = Given {
        min: table.get("min"),
        max: table.get("max"),
        expect: table.get("expect"),
        reference: table.get("reference"),
        within: within.as_ref().and_then(share),
        within_given: within.is_some(),
    };
    let condition = table.get("where").and_then(|item| item.text());
    let condition = condition.map(|text| names.condition(&text, false));
    let Some(name) = name else {
        table.problem(Problem::error("[[gate]] needs `metric`"));
        table.finish();
        return None;
    };
    let metric = policy.metric(&name.value);
    if metric.is_none() {
        problems.add(policy.unknown(&name));
    }
    // A bound is written in the unit it has in the log; where only the base unit is known, in that.
    let pattern = policy.patterns.iter().find(|pattern| pattern.metric == name.value);
    let mut factor = pattern.map_or(1.0, |pattern| pattern.factor);
    if let (Some(text), Some(metric)) = (unit.as_ref().and_then(|item| item.text()), metric) {
        let (written, scale) = Unit::parse(&text.value);
        if written != metric.unit {
            let has = match &metric.unit {
                Unit::One => "no unit".to_owned(),
                unit => format!("the base unit `{unit}`"),
            };
            let message = format!("`{}` has {has}, which `{}` is not a scale of", name.value, text.value);
            problems.add(Problem::error(message).at(text.span.clone()));
        }
        factor = scale;
    }
    let bound = bound(&given, factor, &table, directory, problems);
    table.finish();
    // A condition that was given but is wrong has been reported; the gate must not silently apply to all cells.
    let condition = match condition {
        Some(None) => return None,
        Some(found) => found,
        None => None,
    };
    metric?;
    Some(GateRule { metric: name.value, bound: bound?, condition })
}

fn bound(
    given: &Given<'_>,
    factor: f64,
    table: &Table<'_>,
    directory: &Path,
    problems: &Collector<'_>,
) -> Option<Bound> {
    let number =
        |item: &Option<Item<'_>>| item.as_ref().and_then(|item| item.number()).map(|value| value * factor);
    let ranged = given.min.is_some() || given.max.is_some();
    let kinds =
        usize::from(ranged) + usize::from(given.expect.is_some()) + usize::from(given.reference.is_some());
    let shape = "use `min` and `max`, or `expect` with `within`, or `reference` with `within`";
    if kinds != 1 {
        let message =
            if kinds == 0 { "the gate has no bound" } else { "the gate has more than one kind of bound" };
        table.problem(Problem::error(message).hint(shape));
        return None;
    }
    if ranged {
        if given.within_given {
            table.problem(Problem::error("`within` cannot be combined with `min` and `max`").hint(shape));
        }
        let (min, max) = (number(&given.min), number(&given.max));
        if let (Some(low), Some(high)) = (min, max)
            && low > high
        {
            table.problem(Problem::error("the gate can never be met: `min` is above `max`"));
        }
        return (min.is_some() || max.is_some()).then_some(Bound::Range { min, max });
    }
    if !given.within_given {
        table.problem(Problem::error("the gate needs `within`").hint("add `within = \"5%\"`"));
    }
    let within = given.within?;
    match &given.reference {
        Some(item) => {
            let record = directory.join(item.text()?.value);
            if !record.is_dir() {
                let problem = Problem::warning("there is no record here yet: the gate cannot be checked");
                problems.add(problem.at(item.span.clone()).hint("create it by running into that directory"));
            }
            Some(Bound::NearRecord { record: record.display().to_string(), within })
        }
        None => Some(Bound::Near { expect: number(&given.expect)?, within }),
    }
}
