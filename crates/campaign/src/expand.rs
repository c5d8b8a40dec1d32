//! Sweeps turned into points: the matrix, less what is excluded, and the extra points.

use std::collections::{BTreeMap, HashSet};

use assay_model::{PointId, Settings, Value};

use crate::campaign::{COMMAND, Campaign, CommandTemplate, Condition, MOST_POINTS, Sweep, Workload};
use crate::expression::NameScope;
use crate::problem::Problem;

/// The points of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    pub(crate) points: Vec<(PointId, Settings)>,
    /// How many points of the matrix were excluded.
    pub(crate) excluded: usize,
}

pub(crate) fn expand(campaign: &Campaign, problems: &mut Vec<Problem>) -> Expansion {
    let sweep = &campaign.sweep;
    let mut expansion = Expansion::default();
    let size = matrix_size(sweep);
    let cells = size.saturating_add(sweep.points.len()).saturating_mul(campaign.platforms.len().max(1));
    if cells > MOST_POINTS {
        let place = sweep.axes.last().map_or(0..0, |axis| axis.place.clone());
        let shown = if size == usize::MAX { "far too many".to_owned() } else { cells.to_string() };
        let problem = Problem::error(format!("the campaign has {shown} cells, more than {MOST_POINTS}"));
        problems.push(problem.at(place).hint("vary fewer settings, or list single cells with [[point]]"));
        return expansion;
    }
    let mut builder = Builder::new(&campaign.workload);
    let mut exclude: Vec<CheckedCells<'_>> = sweep.exclude.iter().map(CheckedCells::new).collect();
    let mut require: Vec<CheckedCells<'_>> = sweep.require.iter().map(CheckedCells::new).collect();
    let matrix = (0..size).map(|index| (matrix_point(sweep, index), true));
    let extra = sweep.points.iter().map(|(point, _)| {
        let settings = sweep.fixed.clone().into_iter().chain(point.clone()).collect();
        (settings, false)
    });
    for (settings, from_matrix) in matrix.chain(extra) {
        // Extra points were asked for by name: only the matrix is thinned out.
        if from_matrix && exclude.iter_mut().any(|condition| condition.holds(&settings, false)) {
            expansion.excluded += 1;
            continue;
        }
        for condition in &mut require {
            if !condition.holds(&settings, true) {
                condition.broken_by(&settings);
            }
        }
        builder.add(settings);
    }
    let total = builder.points.len() + builder.repeated;
    let varied = sweep.varied();
    problems.extend(exclude.into_iter().filter_map(|condition| condition.failure));
    problems.extend(require.into_iter().filter_map(|condition| condition.problem(total, &varied)));
    if builder.repeated > 0 {
        let message = format!("{} of {total} points repeat another one; each is run once", builder.repeated);
        let place = sweep.points.last().map(|(_, place)| place.clone());
        let place = place.or(sweep.axes.first().map(|axis| axis.place.clone())).unwrap_or(0..0);
        problems.push(Problem::warning(message).at(place));
    }
    if builder.points.is_empty() {
        let place = sweep.axes.first().map_or(0..0, |axis| axis.place.clone());
        let message =
            format!("no point is left: all {} points of the matrix are excluded", expansion.excluded);
        problems.push(Problem::error(message).at(place).label("empty sweep"));
    }
    expansion.points = builder.points;
    expansion
}

/// How many points the matrix has. Without any axis that is one, unless there are points of their own.
fn matrix_size(sweep: &Sweep) -> usize {
    if sweep.axes.is_empty() && !sweep.points.is_empty() {
        return 0;
    }
    sweep.axes.iter().fold(1, |size: usize, axis| size.saturating_mul(axis.rows.len()))
}

/// The point at an index of the matrix; the last axis moves fastest.
fn matrix_point(sweep: &Sweep, mut index: usize) -> Settings {
    let mut settings = sweep.fixed.clone();
    for axis in sweep.axes.iter().rev() {
        let length = axis.rows.len().max(1);
        if let Some(row) = axis.rows.get(index % length) {
            settings.extend(axis.names.iter().cloned().zip(row.iter().cloned()));
        }
        index /= length;
    }
    settings
}

/// Gives points their identities and merges equal ones.
struct Builder<'a> {
    workload: &'a Workload,
    /// The canonical text by command: points of one command keep their identity when another command is added.
    canonical: BTreeMap<Option<String>, String>,
    points: Vec<(PointId, Settings)>,
    seen: HashSet<PointId>,
    repeated: usize,
}

impl<'a> Builder<'a> {
    fn new(workload: &'a Workload) -> Builder<'a> {
        let canonical = BTreeMap::new();
        Builder { workload, canonical, points: Vec::new(), seen: HashSet::new(), repeated: 0 }
    }

    fn add(&mut self, settings: Settings) {
        let command = self.workload.command_of(&settings);
        let name = command.and_then(|command| command.name.clone());
        let text = self.canonical.entry(name).or_insert_with(|| canonical(self.workload, command));
        let id = identity(text, &settings);
        match self.seen.insert(id.clone()) {
            true => self.points.push((id, settings)),
            false => self.repeated += 1,
        }
    }
}

/// The identity of a point on a platform that has its own workload for it.
pub(crate) fn point_with(point: &PointId, workload: &Workload, settings: &Settings) -> PointId {
    let own = canonical(workload, workload.command_of(settings));
    PointId::of(&format!("{{\"point\":\"{}\",\"workload\":{own}}}", point.0))
}

/// The identity of a point: the hash of the workload's canonical text and the sorted settings.
fn identity(workload: &str, settings: &Settings) -> PointId {
    // Settings are plain scalars under text keys: writing them cannot fail.
    let settings = serde_json::to_string(settings).unwrap_or_default();
    PointId::of(&format!("{{\"settings\":{settings},\"workload\":{workload}}}"))
}

/// The canonical text of a workload: all that decides what is computed, and nothing about where or how often. A
/// built-in workload is known by its name; its command line may change between versions.
fn canonical(workload: &Workload, command: Option<&CommandTemplate>) -> String {
    let environment: BTreeMap<&str, &str> =
        workload.environment.iter().map(|(name, value)| (name.as_str(), value.text())).collect();
    let files: Vec<serde_json::Value> = workload
        .files
        .iter()
        .map(|file| serde_json::json!({ "base": file.base_hash, "name": file.name, "set": file.canonical }))
        .collect();
    let own = workload.kind == COMMAND;
    let mut canonical = serde_json::json!({
        "command": own.then(|| command.map_or("", |command| command.template.text())),
        "config": files,
        "environment": environment,
        "kind": workload.kind,
        "shell": own.then(|| workload.shell.word()),
    });
    let Some(keys) = canonical.as_object_mut() else { return canonical.to_string() };
    if let Some(replay) = &workload.replay {
        keys.insert("replay".to_owned(), replay.canonical());
    }
    // Absent where there is none, so that points keep the identity they always had.
    for (key, step) in [("prepare", &workload.prepare), ("cleanup", &workload.cleanup)] {
        if let Some(step) = step {
            keys.insert(key.to_owned(), step.text().into());
        }
    }
    canonical.to_string()
}

/// A condition while it is checked against many points.
struct CheckedCells<'a> {
    condition: &'a Condition,
    /// The first error of evaluation. One is enough: the others will be like it.
    failure: Option<Problem>,
    broken: usize,
    example: Option<Settings>,
}

impl<'a> CheckedCells<'a> {
    fn new(condition: &'a Condition) -> CheckedCells<'a> {
        CheckedCells { condition, failure: None, broken: 0, example: None }
    }

    fn holds(&mut self, settings: &Settings, otherwise: bool) -> bool {
        match self.condition.expression.holds(NameScope::of(settings)) {
            Ok(holds) => holds,
            Err(error) => {
                self.failure.get_or_insert_with(|| self.condition.failure(error));
                otherwise
            }
        }
    }

    fn broken_by(&mut self, settings: &Settings) {
        self.broken += 1;
        self.example.get_or_insert_with(|| settings.clone());
    }

    fn problem(self, total: usize, varied: &[String]) -> Option<Problem> {
        let Some(example) = self.example else { return self.failure };
        let text = self.condition.expression.text();
        let names: Vec<String> =
            self.condition.expression.names().iter().map(|(name, _)| (*name).to_owned()).collect();
        let shown = if names.is_empty() { describe(&example, varied) } else { describe(&example, &names) };
        let message = match (total, self.condition.expression.as_divisibility()) {
            (1, _) => format!("`{text}` does not hold: {shown}"),
            (_, Some((number, divisor))) => format!(
                "`{number}` is not divisible by `{divisor}` in {} of {total} points, first at {shown}",
                self.broken
            ),
            _ => format!("`{text}` does not hold in {} of {total} points, first at {shown}", self.broken),
        };
        let hint = nearest(self.condition, &example)
            .unwrap_or_else(|| "change the values, or leave such points out by `exclude`".to_owned());
        Some(self.condition.problem(message).hint(hint))
    }
}

/// `batch=8, tasks=32`: the named settings of a point.
pub(crate) fn describe(settings: &Settings, names: &[String]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for name in names {
        if let Some(value) = settings.get(name) {
            let text = format!("{name}={value}");
            if !shown.contains(&text) {
                shown.push(text);
            }
        }
    }
    shown.join(", ")
}

/// Values near those of a point for which a condition holds: one whole-number setting is moved, the others stay.
fn nearest(condition: &Condition, settings: &Settings) -> Option<String> {
    const SEARCHED: i64 = 1_000;
    let holds = |name: &str, value: i64| {
        let mut moved = settings.clone();
        moved.insert(name.to_owned(), Value::Integer(value));
        condition.expression.holds(NameScope::of(&moved)) == Ok(true)
    };
    let mut names = condition.expression.names();
    names.dedup_by(|a, b| a.0 == b.0);
    for (name, _) in names {
        let Some(Value::Integer(value)) = settings.get(name) else { continue };
        // Zero and below are seldom what a count or size should be.
        let below = (1..=SEARCHED).map(|step| value.saturating_sub(step)).take_while(|low| *low > 0);
        let below = below.into_iter().find(|low| holds(name, *low));
        let above = (1..=SEARCHED).filter_map(|step| value.checked_add(step)).find(|high| holds(name, *high));
        let found: Vec<String> = [below, above].iter().flatten().map(i64::to_string).collect();
        if !found.is_empty() {
            return Some(format!("the nearest `{name}` that fits: {}", found.join(" or ")));
        }
    }
    None
}
