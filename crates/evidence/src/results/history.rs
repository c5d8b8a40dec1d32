//! Lists that hold one run: values per step, as trainers save them, or per request, as clients do.

use std::collections::BTreeMap;

use assay_model::{Unit, names};
use serde_json::{Map, Value};

use super::builder::Builder;
use super::keys::{self, Tool};
use super::lines::Lines;
use crate::clock::is_moment;
use crate::vocabulary::words;

/// Values of one metric with their steps, and the line of the first.
#[derive(Default)]
struct Column {
    unit: Unit,
    values: Vec<f64>,
    steps: Vec<f64>,
    line: u64,
}

/// Whether objects are the steps of one run: every one says which step it is, and a metric.
pub(super) fn is_history(objects: &[&Map<String, Value>]) -> bool {
    objects.len() > 1 && objects.iter().all(|object| step(object).is_some())
}

/// Whether objects are the requests of one run, as aiperf saves them.
pub(super) fn are_requests(objects: &[&Map<String, Value>]) -> bool {
    let is_request = |object: &&Map<String, Value>| {
        object.get("metrics").and_then(Value::as_object).is_some_and(|metrics| {
            metrics.values().any(|metric| metric.get("value").is_some() && metric.get("unit").is_some())
        })
    };
    objects.len() > 1 && objects.iter().all(is_request)
}

fn step(object: &Map<String, Value>) -> Option<f64> {
    ["step", "global_step", "iteration", "_step", "iter", "epoch", "round", "episode", "update"]
        .iter()
        .find_map(|key| object.get(*key)?.as_f64())
}

/// Reads the columns of such a list.
pub(super) fn read(objects: &[&Map<String, Value>], path: &str, lines: &Lines, builder: &mut Builder) {
    let mut columns: BTreeMap<String, Column> = BTreeMap::new();
    for (index, object) in objects.iter().enumerate() {
        let at = lines.at(&format!("{path}/{index}"));
        let step = step(object);
        let summary = object.contains_key("train_runtime");
        match object.get("metrics").and_then(Value::as_object) {
            Some(metrics) => {
                for (key, metric) in metrics {
                    let unit = metric.get("unit").and_then(Value::as_str);
                    let Some(value) = metric.get("value").and_then(Value::as_f64) else { continue };
                    add(&mut columns, (key, unit, Tool::Aiperf, false), value, step, at);
                }
            }
            // A list of `{key, value, step}`, as MLflow saves metrics, names its metric in a value.
            None => {
                match (object.get("key").and_then(Value::as_str), object.get("value").and_then(Value::as_f64))
                {
                    (Some(key), Some(value)) => {
                        add(&mut columns, (key, None, Tool::Unknown, summary), value, step, at)
                    }
                    _ => {
                        for (key, value) in flat(object) {
                            add(&mut columns, (&key, None, Tool::Unknown, summary), value, step, at);
                        }
                    }
                }
            }
        }
    }
    for (metric, column) in columns {
        // A single value is the run's own; several are a series whose last one counts in training only.
        let last = column.values.last().copied();
        let training = [names::LOSS_TRAIN, names::LOSS_EVAL, names::ACCURACY, names::PERPLEXITY];
        if let Some(last) = last.filter(|_| column.values.len() == 1 || training.contains(&metric.as_str())) {
            let mut facts = builder.facts(column.line);
            let found = crate::collector::Value::reported(&metric, last);
            facts.value(crate::collector::Value { unit: Some(&column.unit), ..found });
        }
        if column.values.len() > 1 {
            builder.series(&metric, column.unit, &column.values, &column.steps, column.line);
        }
    }
}

/// The numbers of an object and of those in it, under their paths: `train/loss`.
fn flat(object: &Map<String, Value>) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (key, value) in object {
        match value {
            Value::Object(inner) => {
                let inner = inner.iter().filter_map(|(name, value)| Some((name, value.as_f64()?)));
                found.extend(inner.map(|(name, value)| (format!("{key}/{name}"), value)));
            }
            plain => found.extend(plain.as_f64().map(|value| (key.clone(), value))),
        }
    }
    found
}

fn add(
    columns: &mut BTreeMap<String, Column>,
    (key, unit, tool, summary): (&str, Option<&str>, Tool, bool),
    value: f64,
    step: Option<f64>,
    line: u64,
) {
    if unit.is_none() && is_moment(&words(key).join(" "), value) {
        return;
    }
    let Some(named) = keys::step_metric(key, unit, tool, summary) else { return };
    let column =
        columns.entry(named.name).or_insert_with(|| Column { unit: named.unit, line, ..Column::default() });
    column.values.push(value * named.factor);
    column.steps.extend(step);
}
