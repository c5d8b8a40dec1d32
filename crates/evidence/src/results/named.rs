//! Lists of `{"name": …, "value": …, "unit": …}`, as actions that keep benchmarks of every commit save them.

use assay_model::Unit;
use serde_json::{Map, Value};

use super::builder::Builder;
use super::lines::Lines;
use crate::collector;
use crate::text::number;
use crate::vocabulary::{PrintedUnit, Vocabulary};

/// Lists deeper than this are not looked for.
const DEEPEST: usize = 6;

/// A list and its path, and the object around it.
type Found<'v> = (Vec<&'v Map<String, Value>>, String, Option<&'v Map<String, Value>>);

/// All such lists in a value.
pub(super) fn lists<'v>(value: &'v Value, most: usize) -> Vec<Found<'v>> {
    let mut found = Vec::new();
    walk(value, String::new(), None, 0, most, &mut found);
    found
}

fn walk<'v>(
    value: &'v Value,
    path: String,
    around: Option<&'v Map<String, Value>>,
    depth: usize,
    most: usize,
    found: &mut Vec<Found<'v>>,
) {
    if depth > DEEPEST || found.len() >= most {
        return;
    }
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                walk(inner, format!("{path}/{key}"), Some(object), depth + 1, most, found);
            }
        }
        Value::Array(entries) => {
            let objects: Vec<&Map<String, Value>> = entries.iter().filter_map(Value::as_object).collect();
            if !objects.is_empty() && objects.len() == entries.len() && objects.iter().all(|o| is_named(o)) {
                found.push((objects, path, around));
                return;
            }
            for (index, inner) in entries.iter().enumerate() {
                walk(inner, format!("{path}/{index}"), around, depth + 1, most, found);
            }
        }
        _ => {}
    }
}

fn is_named(object: &Map<String, Value>) -> bool {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    text("name").is_some()
        && object.get("value").is_some_and(Value::is_number)
        && unit(text("unit")).is_some()
}

fn unit(text: Option<&str>) -> Option<PrintedUnit> {
    text.and_then(PrintedUnit::parse).filter(PrintedUnit::is_telling)
}

/// Reads one list as a run, titled by the commit that it belongs to.
pub(super) fn read((objects, path, around): Found<'_>, lines: &Lines, builder: &mut Builder) {
    let commit = around.and_then(|around| around.get("commit")).and_then(|commit| commit.get("id"));
    if let Some(title) = commit.and_then(Value::as_str) {
        builder.title(title.get(..12).unwrap_or(title));
    }
    for (index, object) in objects.iter().enumerate() {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let (Some(name), Some(value)) = (text("name"), object.get("value").and_then(Value::as_f64)) else {
            continue;
        };
        let Some(unit) = unit(text("unit")) else { continue };
        let Some(named) = Vocabulary::current().metric("", Some(&unit)) else { continue };
        let metric = format!("{}.{}", named.name(), slug(name));
        let line = lines.at(&format!("{path}/{index}/value"));
        builder.facts(line).value(collector::Value {
            unit: Some(&named.unit),
            ..collector::Value::reported(&metric, value * named.factor)
        });
        for part in text("extra").unwrap_or_default().split('\n') {
            let Some(named) = statistic(part) else { continue };
            let metric = format!("{}.{}.{}", named.0, slug(name), named.1);
            let value = collector::Value::reported(&metric, named.2);
            builder.facts(line).value(collector::Value { unit: Some(&Unit::Seconds), ..value });
        }
    }
}

/// `mean: 34.87 msec` beside a rate: the metric, the statistic, and its value in seconds.
fn statistic(text: &str) -> Option<(String, String, f64)> {
    let (key, value) = text.split_once(':')?;
    let (value, written) = number(value.trim())?;
    let unit = PrintedUnit::parse(written).filter(|unit| unit.unit == Unit::Seconds)?;
    let named = Vocabulary::current().metric(&format!("time {key}"), Some(&unit))?;
    let statistic = named.statistic.filter(|_| named.qualifier.is_empty())?;
    Some((named.base, statistic, value * named.factor))
}

/// The last part of a path as a name: `benchmarks/test_io.py::test_read[10]` is `test_read_10`.
fn slug(name: &str) -> String {
    let last = name.rsplit("::").next().unwrap_or(name);
    let parts = last.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_").to_lowercase()
}
