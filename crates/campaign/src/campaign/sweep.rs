//! `fixed`, `vary`, `zip`, `point` and `where`: which points there are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use assay_model::{Settings, Value};

use super::names::{Condition, Names};
use super::workload::COMMAND_SETTING;
use crate::expression::WORDS;
use crate::problem::Problem;
use crate::reader::{Collector, Item, SpannedText, Table};
use crate::suggest;
use crate::template::{RESERVED, is_name};

/// More points than this are a mistake in the file, not a campaign.
pub(crate) const MOST_POINTS: usize = 1_000_000;

/// What is varied and what stays fixed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep {
    /// Settings that are the same in every point.
    pub fixed: Settings,
    /// The axes of the matrix, in the order of the file.
    pub axes: Vec<Axis>,
    /// Points beside the matrix, with their places.
    pub points: Vec<(Settings, Range<usize>)>,
    /// Points of the matrix for which one of these holds are left out.
    pub exclude: Vec<Condition>,
    /// Every point must satisfy all of these.
    pub require: Vec<Condition>,
    /// Where each setting is given first.
    pub(crate) places: BTreeMap<String, Range<usize>>,
}

/// One axis of the matrix: one setting, or several that move together.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The settings.
    pub names: Vec<String>,
    /// Their values, row by row.
    pub rows: Vec<Vec<Value>>,
    pub(crate) place: Range<usize>,
}

impl Sweep {
    /// The settings that differ between points, in the order of the file.
    pub fn varied(&self) -> Vec<String> {
        let mut names: Vec<String> = self.axes.iter().flat_map(|axis| axis.names.iter().cloned()).collect();
        for name in self.points.first().into_iter().flat_map(|(settings, _)| settings.keys()) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// Reads everything but the expressions, whose names can only be checked once all settings are known. `own` are
    /// the settings of a built-in workload, which may have names that are otherwise reserved.
    /// `commands` are the names of several commands, which become an axis like any other. What the table of a platform
    /// gives replaces settings of the same names, and every [[zip]] that has one of them.
    pub(super) fn read(
        top: &mut Table<'_>,
        platform: Option<&Table<'_>>,
        own: &BTreeSet<String>,
        commands: Option<(Vec<String>, Range<usize>)>,
        problems: &Collector<'_>,
    ) -> Sweep {
        let mut sweep = Sweep::default();
        let mut reader =
            SweepReader { sweep: &mut sweep, varied: Vec::new(), replaced: BTreeSet::new(), own, problems };
        if let Some((names, place)) = commands.filter(|(names, _)| !names.is_empty()) {
            let setting = SpannedText { span: place, ..SpannedText::given(COMMAND_SETTING) };
            if reader.claim_varied(&setting) {
                let rows = names.into_iter().map(|name| vec![Value::Text(name)]).collect();
                let axis = Axis { names: vec![setting.value], rows, place: setting.span };
                reader.sweep.axes.push(axis);
            }
        }
        let tables = |key: &str| platform.and_then(|table| table.peek(key)?.table());
        reader.fixed_and_varied(tables("fixed"), tables("vary"));
        reader.replaced = reader.sweep.places.keys().cloned().collect();
        let [fixed, vary] = ["fixed", "vary"].map(|key| top.get(key).and_then(|item| item.table()));
        reader.fixed_and_varied(fixed, vary);
        for table in top.get("zip").map(|item| item.tables()).unwrap_or_default() {
            reader.zip(&table);
        }
        reader.sweep.axes.sort_by_key(|axis| axis.place.start);
        for table in top.get("point").map(|item| item.tables()).unwrap_or_default() {
            reader.point(&table);
        }
        sweep
    }

    /// A sweep that is given in code, in the order of its axes.
    pub(super) fn given(
        fixed: Settings,
        vary: Vec<(String, Vec<Value>)>,
        own: &BTreeSet<String>,
        problems: &Collector<'_>,
    ) -> Sweep {
        let mut sweep = Sweep::default();
        let mut reader =
            SweepReader { sweep: &mut sweep, varied: Vec::new(), replaced: BTreeSet::new(), own, problems };
        for (name, value) in fixed {
            if reader.claim(&SpannedText::given(&name)) {
                reader.sweep.fixed.insert(name, value);
            }
        }
        for (name, values) in vary {
            let text = SpannedText::given(&name);
            if values.is_empty() {
                problems.add(Problem::error(format!("`{name}` has no values: there is nothing to run")));
            } else if reader.claim_varied(&text) {
                let rows = values.into_iter().map(|value| vec![value]).collect();
                reader.sweep.axes.push(Axis { names: vec![name], rows, place: text.span });
            }
        }
        sweep
    }

    pub(super) fn read_conditions(&mut self, top: &mut Table<'_>, names: &Names<'_>) {
        let Some(mut table) = top.get("where").and_then(|item| item.table()) else { return };
        let mut conditions = |key| {
            let texts = table.get(key).and_then(|item| item.texts()).unwrap_or_default();
            texts.iter().filter_map(|text| names.condition(text, false)).collect()
        };
        self.exclude = conditions("exclude");
        self.require = conditions("require");
        table.finish();
    }
}

struct SweepReader<'a> {
    sweep: &'a mut Sweep,
    /// Names that are varied, even where their values are wrong: extra points must still give them.
    varied: Vec<String>,
    /// Settings of the file that a platform replaces.
    replaced: BTreeSet<String>,
    own: &'a BTreeSet<String>,
    problems: &'a Collector<'a>,
}

impl SweepReader<'_> {
    fn fixed_and_varied(&mut self, fixed: Option<Table<'_>>, vary: Option<Table<'_>>) {
        for (name, item) in fixed.iter().flat_map(Table::entries) {
            if self.replaced.contains(&name.value) {
                continue;
            }
            if let (true, Some(value)) = (self.claim(&name), item.scalar()) {
                self.sweep.fixed.insert(name.value, value);
            }
        }
        for (name, item) in vary.iter().flat_map(Table::entries) {
            if !self.replaced.contains(&name.value) {
                self.vary(name, &item);
            }
        }
    }

    /// Takes a name for a setting; says whether it was free and fit to be one.
    fn claim(&mut self, name: &SpannedText) -> bool {
        let problem = if RESERVED.contains(&name.value.as_str()) && !self.own.contains(&name.value) {
            let problem = Problem::error(format!("`{}` cannot be the name of a setting", name.value));
            problem.label("reserved").hint("this placeholder is filled in for every run without a setting")
        } else if WORDS.contains(&name.value.as_str()) || !is_name(&name.value) {
            let problem = Problem::error(format!("`{}` cannot be the name of a setting", name.value));
            problem.hint("use letters, digits and `_`; operators of the expression language are reserved")
        } else if self.sweep.places.contains_key(&name.value) {
            let problem = Problem::error(format!("the setting `{}` is given twice", name.value));
            problem.label("given before").hint("keep it in one of [fixed], [vary] and [[zip]]")
        } else {
            self.sweep.places.insert(name.value.clone(), name.span.clone());
            return true;
        };
        self.problems.add(problem.at(name.span.clone()));
        false
    }

    /// Takes a name for a setting that is varied.
    fn claim_varied(&mut self, name: &SpannedText) -> bool {
        let free = self.claim(name);
        if free {
            self.varied.push(name.value.clone());
        }
        free
    }

    fn vary(&mut self, name: SpannedText, item: &Item<'_>) {
        let free = self.claim_varied(&name);
        let values = self.values(item);
        if let (true, Some(values)) = (free, values) {
            let rows = values.into_iter().map(|value| vec![value]).collect();
            self.sweep.axes.push(Axis { names: vec![name.value], rows, place: name.span });
        }
    }

    fn zip(&mut self, table: &Table<'_>) {
        if table.entries().iter().any(|(name, _)| self.replaced.contains(&name.value)) {
            return;
        }
        let mut columns: Vec<(SpannedText, Vec<Value>)> = Vec::new();
        let mut sound = true;
        for (name, item) in table.entries() {
            let free = self.claim_varied(&name);
            match self.values(&item) {
                Some(values) if free => columns.push((name, values)),
                _ => sound = false,
            }
        }
        let Some((first, values)) = columns.first() else {
            if sound {
                table.problem(Problem::error("[[zip]] names no settings"));
            }
            return;
        };
        let length = values.len();
        for (name, values) in &columns {
            if values.len() != length {
                let message = format!(
                    "`{}` has {} values, but `{}` in the same [[zip]] has {length}",
                    name.value,
                    values.len(),
                    first.value
                );
                let problem = Problem::error(message).at(name.span.clone());
                self.problems.add(problem.hint("settings of one [[zip]] need the same number of values"));
                sound = false;
            }
        }
        if sound {
            let rows = (0..length)
                .map(|row| columns.iter().filter_map(|(_, values)| values.get(row).cloned()).collect())
                .collect();
            let place = first.span.clone();
            let names = columns.iter().map(|(name, _)| name.value.clone()).collect();
            self.sweep.axes.push(Axis { names, rows, place });
        }
    }

    /// The values of a swept setting: a list, or a range written as a table.
    fn values(&self, item: &Item<'_>) -> Option<Vec<Value>> {
        if item.value.is_table() {
            return range(item);
        }
        if !item.value.is_array() {
            item.wrong("a list of values, or be moved to [fixed]");
            return None;
        }
        let items = item.list("a list of values")?;
        if items.is_empty() {
            let problem = Problem::error(format!("`{}` has no values: there is nothing to run", item.name));
            self.problems.add(problem.at(item.span.clone()).label("empty sweep"));
            return None;
        }
        // `all` stops at the first bad value; collecting first lets every bad value be reported.
        let values: Vec<Option<Value>> = items.iter().map(Item::scalar).collect();
        values.into_iter().collect()
    }

    fn point(&mut self, table: &Table<'_>) {
        let mut settings = Settings::new();
        let mut sound = true;
        // The first of several points without a matrix says what is varied; the others must give the same.
        let expected = (!self.varied.is_empty()).then(|| self.varied.clone());
        for (name, item) in table.entries() {
            let value = item.scalar();
            sound &= value.is_some();
            let known = match &expected {
                Some(names) => names.contains(&name.value),
                None => self.claim_varied(&name),
            };
            if let (true, Some(value)) = (known, value) {
                settings.insert(name.value, value);
            } else if !known {
                sound = false;
                if let Some(names) = &expected {
                    self.unexpected(&name, names);
                }
            }
        }
        let missing: Vec<&str> = expected
            .iter()
            .flatten()
            .filter(|name| !settings.contains_key(*name))
            .map(String::as_str)
            .collect();
        if let (true, Some(names)) = (sound, suggest::list(&missing)) {
            table.problem(
                Problem::error(format!("the extra point does not give {names}"))
                    .hint("each [[point]] must set every varied setting"),
            );
        } else if sound {
            self.sweep.points.push((settings, table.span.clone()));
        }
    }

    fn unexpected(&self, name: &SpannedText, names: &[String]) {
        let problem = match self.sweep.fixed.get(&name.value) {
            Some(value) => {
                Problem::error(format!("`{}` is fixed at {value}: a point cannot change it", name.value))
                    .hint("move it from [fixed] to [vary]")
            }
            None => Problem::error(format!("`{}` is not a varied setting", name.value))
                .maybe_hint(suggest::hint(&name.value, names.iter().map(String::as_str))),
        };
        self.problems.add(problem.at(name.span.clone()));
    }
}

/// `{ from = 8, to = 64, times = 2 }` or `{ from = 1, to = 9, step = 2 }`.
fn range(item: &Item<'_>) -> Option<Vec<Value>> {
    let mut table = item.table()?;
    let mut read = |key| table.get(key).and_then(|item| item.number().and(item.scalar()));
    let (from, to, step, times) = (read("from"), read("to"), read("step"), read("times"));
    table.finish();
    let (Some(from), Some(to)) = (from, to) else {
        item.problem(format!("the range of `{}` needs `from` and `to`", item.name));
        return None;
    };
    let values = match (step, times) {
        (Some(step), None) => stepped(&from, &to, &step),
        (None, Some(times)) => multiplied(&from, &to, &times),
        _ => Err("needs either `step` or `times`"),
    };
    match values {
        Ok(values) if values.is_empty() => {
            item.problem(format!("the range of `{}` is empty: `from` is above `to`", item.name));
            None
        }
        Ok(values) => Some(values),
        Err(reason) => {
            item.problem(format!("the range of `{}` {reason}", item.name));
            None
        }
    }
}

const TOO_MANY: &str = "has more than a million values";

fn stepped(from: &Value, to: &Value, step: &Value) -> Result<Vec<Value>, &'static str> {
    const NOT_POSITIVE: &str = "needs a `step` above zero";
    if let (Value::Integer(from), Value::Integer(to), Value::Integer(step)) = (from, to, step) {
        let width = usize::try_from(*step).ok().filter(|width| *width > 0).ok_or(NOT_POSITIVE)?;
        let values: Vec<Value> =
            (*from..=*to).step_by(width).take(MOST_POINTS + 1).map(Value::Integer).collect();
        return if values.len() > MOST_POINTS { Err(TOO_MANY) } else { Ok(values) };
    }
    let (Some(from), Some(to), Some(step)) = (from.number(), to.number(), step.number()) else {
        return Ok(Vec::new());
    };
    if step <= 0.0 {
        return Err(NOT_POSITIVE);
    }
    // Half a millionth of a step forgives the round-off that would otherwise drop the last value.
    let count = ((to - from) / step + 5e-7).floor();
    if count >= MOST_POINTS as f64 {
        return Err(TOO_MANY);
    }
    Ok((0..)
        .map(f64::from)
        .take_while(|index| *index <= count)
        .map(|index| clean(from + index * step))
        .collect())
}

fn multiplied(from: &Value, to: &Value, times: &Value) -> Result<Vec<Value>, &'static str> {
    const NOT_GROWING: &str = "needs `from` above zero and `times` above one";
    if let (Value::Integer(from), Value::Integer(to), Value::Integer(times)) = (from, to, times) {
        if *from < 1 || *times < 2 {
            return Err(NOT_GROWING);
        }
        let next = |value: &i64| value.checked_mul(*times);
        return Ok(std::iter::successors(Some(*from), next)
            .take_while(|value| value <= to)
            .map(Value::Integer)
            .collect());
    }
    let (Some(from), Some(to), Some(times)) = (from.number(), to.number(), times.number()) else {
        return Ok(Vec::new());
    };
    if from <= 0.0 || times <= 1.0 {
        return Err(NOT_GROWING);
    }
    let limit = to * (1.0 + 1e-9);
    let values: Vec<Value> = (0..)
        .map(|power| from * times.powi(power))
        .take_while(|value| *value <= limit)
        .take(MOST_POINTS + 1)
        .map(clean)
        .collect();
    if values.len() > MOST_POINTS { Err(TOO_MANY) } else { Ok(values) }
}

/// Rounds to twelve digits, so that 0.1 + 2 * 0.1 is written 0.3.
fn clean(number: f64) -> Value {
    Value::Float(format!("{number:.11e}").parse().unwrap_or(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_both_ends() {
        let whole =
            |values: Vec<Value>| values.iter().map(|value| value.number().unwrap()).collect::<Vec<_>>();
        let int = Value::Integer;
        assert_eq!(whole(stepped(&int(1), &int(9), &int(2)).unwrap()), [1.0, 3.0, 5.0, 7.0, 9.0]);
        assert_eq!(whole(multiplied(&int(8), &int(64), &int(2)).unwrap()), [8.0, 16.0, 32.0, 64.0]);
        let tenth = Value::Float(0.1);
        assert_eq!(whole(stepped(&tenth, &Value::Float(0.5), &tenth).unwrap()), [0.1, 0.2, 0.3, 0.4, 0.5]);
        let rates = multiplied(&Value::Float(1e-4), &Value::Float(0.1), &int(10)).unwrap();
        assert_eq!(whole(rates), [1e-4, 1e-3, 1e-2, 0.1]);
        assert!(stepped(&int(1), &int(9), &int(0)).is_err());
        assert!(multiplied(&int(0), &int(9), &int(2)).is_err());
        assert!(stepped(&int(0), &int(i64::MAX), &int(1)).is_err());
        assert!(multiplied(&int(1), &int(i64::MAX), &int(2)).unwrap().len() == 63);
        assert!(stepped(&Value::Float(0.0), &Value::Float(1e300), &Value::Float(1e-300)).is_err());
    }
}
