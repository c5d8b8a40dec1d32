//! The values of one object and of the objects in it.

use std::collections::HashMap;

use assay_model::names::{self, setting};
use assay_model::{Origin, Unit, Value as Setting};
use serde_json::{Map, Value};

use super::builder::Builder;
use super::keys::{self, Named, Tool};
use super::lines::Lines;
use crate::clock::is_moment;
use crate::collector;
use crate::facts::setting_number;
use crate::text::clock_seconds;
use crate::vocabulary::words;
use crate::writeup::vocabulary::platform;

/// Objects deeper than this are not looked into.
const DEEPEST: usize = 8;

/// Keys whose values are texts and per-request matter that no metric is made of.
const PASSED_OVER: [&str; 12] = [
    "generated_texts",
    "errors",
    "requests",
    "errored",
    "incomplete",
    "input_lens",
    "output_lens",
    "start_times",
    "telemetry_data",
    "test_time",
    "cpu_info",
    "gpu_info",
];

/// Reads settings and metrics of a result.
pub(super) fn read(
    object: &Map<String, Value>,
    path: &str,
    tool: Tool,
    lines: &Lines,
    builder: &mut Builder,
) {
    let mut walk =
        Walk { tool, lines, builder, keys: Vec::new(), configuration: false, results: Results::default() };
    walk.object(object, path);
    let Walk { results, .. } = walk;
    report(results, object, tool, builder);
}

/// Reads only the settings that an object states.
pub(super) fn settings(object: &Map<String, Value>, path: &str, lines: &Lines, builder: &mut Builder) {
    let mut walk = Walk {
        tool: Tool::Unknown,
        lines,
        builder,
        keys: Vec::new(),
        configuration: true,
        results: Results::default(),
    };
    for (key, value) in object {
        match value {
            Value::Object(inner) if keys::is_configuration(key) => {
                walk.object(inner, &format!("{path}/{key}"))
            }
            Value::Object(_) | Value::Array(_) => {}
            plain => walk.setting(key, plain, &format!("{path}/{key}")),
        }
    }
}

/// Metrics found, in the order of the file.
#[derive(Default)]
struct Results {
    values: Vec<(Named, f64, u64)>,
    /// Where each metric stands among the values.
    places: HashMap<String, usize>,
}

impl Results {
    fn get(&self, name: &str) -> Option<f64> {
        self.places.get(name).and_then(|place| self.values.get(*place)).map(|(_, value, _)| *value)
    }

    /// The first value of a metric counts; of memory, the largest.
    fn add(&mut self, named: Named, value: f64, line: u64) {
        let known = self.places.get(&named.name).and_then(|place| self.values.get_mut(*place));
        match known {
            Some((known, largest, _)) if known.name.starts_with(names::MEMORY_PEAK) => {
                *largest = largest.max(value)
            }
            Some(_) => {}
            None => {
                self.places.insert(named.name.clone(), self.values.len());
                self.values.push((named, value, line));
            }
        }
    }
}

struct Walk<'a> {
    tool: Tool,
    lines: &'a Lines,
    builder: &'a mut Builder,
    /// The keys that lead to the object that is looked at.
    keys: Vec<String>,
    /// Whether it holds settings only.
    configuration: bool,
    results: Results,
}

impl Walk<'_> {
    fn object(&mut self, object: &Map<String, Value>, path: &str) {
        let unit = object.get("unit").and_then(Value::as_str).map(str::to_owned);
        // guidellm gives each metric for requests that succeeded, failed, and all together.
        let split = object.contains_key("successful") && object.contains_key("total");
        for (key, value) in object {
            let lower = key.to_ascii_lowercase();
            if PASSED_OVER.contains(&lower.as_str())
                || split && lower == "total" && self.keys.last().is_none_or(|key| key != "request_totals")
            {
                continue;
            }
            self.entry(key, value, &format!("{path}/{key}"), unit.as_deref());
        }
    }

    fn entry(&mut self, key: &str, value: &Value, path: &str, unit: Option<&str>) {
        match value {
            Value::Object(inner) => {
                if self.keys.len() < DEEPEST {
                    let configuration = self.configuration;
                    self.configuration |= keys::is_configuration(key);
                    self.keys.push(key.to_owned());
                    self.totals(inner, path);
                    self.object(inner, path);
                    self.keys.pop();
                    self.configuration = configuration;
                }
            }
            Value::Array(values) => self.list(key, values, path, unit),
            plain => self.plain(key, plain, path, unit),
        }
    }

    /// guidellm's counts of requests.
    fn totals(&mut self, object: &Map<String, Value>, path: &str) {
        if !matches!(self.keys.last().map(String::as_str), Some("request_totals" | "requests_made"))
            || self.tool != Tool::Guidellm
        {
            return;
        }
        for (key, name) in [("successful", names::REQUESTS), ("errored", names::REQUESTS_FAILED)] {
            if let Some(value) = object.get(key).and_then(Value::as_f64) {
                let named = Named {
                    name: name.to_owned(),
                    unit: names::unit(name),
                    factor: 1.0,
                    scope: None,
                    prediction: false,
                };
                self.results.add(named, value, self.lines.at(&format!("{path}/{key}")));
            }
        }
    }

    fn plain(&mut self, key: &str, value: &Value, path: &str, unit: Option<&str>) {
        let line = self.lines.at(path);
        let around: Vec<&str> = self.keys.iter().map(String::as_str).chain([key]).collect();
        // A key that everybody uses for a setting is one.
        let declared = keys::setting(key, self.tool).is_some();
        if !self.configuration && !declared {
            let number = match value {
                Value::Number(number) => number.as_f64(),
                // Numbers in quotes are numbers.
                Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
                _ => None,
            };
            // `"training_duration": "11:37:15.07"`.
            if let Value::String(text) = value
                && text.contains(':')
                && let Some(seconds) = clock_seconds(text.trim())
                && let Some(named) = keys::metric(&around, Some("s"), self.tool)
                && named.unit == Unit::Seconds
            {
                return self.results.add(named, seconds, line);
            }
            let undefined = matches!(value, Value::String(text) if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity"));
            if undefined && let Some(named) = keys::metric(&around, unit, self.tool) {
                let seen = format!("{} is not a finite number", named.name);
                return self
                    .builder
                    .facts(line)
                    .hint(&seen, "look for the step where it became so; a diverged run has no result");
            }
            let spoken = words(key).join(" ");
            if unit.is_none() && number.is_some_and(|number| is_moment(&spoken, number)) {
                return;
            }
            if let Some((number, named)) = number.zip(keys::metric(&around, unit, self.tool)) {
                return self.results.add(named.clone(), number * named.factor, line);
            }
        }
        self.setting(key, value, path);
    }

    fn setting(&mut self, key: &str, value: &Value, path: &str) {
        let line = self.lines.at(path);
        if let Value::String(text) = value {
            match key.to_ascii_lowercase().as_str() {
                "label" | "name" | "run_name" | "benchmark_name" => self.builder.title(text),
                "hardware" | "platform" | "accelerator" => {
                    if let Some(name) = platform(text) {
                        self.builder.platform(name);
                    }
                }
                _ => {}
            }
        }
        let Some(name) = keys::setting(key, self.tool) else { return };
        let value = match value {
            Value::String(text) if name == "request_rate" && text == "inf" => {
                Setting::Text("unlimited".to_owned())
            }
            Value::String(text) if !text.trim().is_empty() && text.len() <= 200 => {
                crate::user::setting_value(text)
            }
            Value::Number(number) => match number.as_f64() {
                Some(number) if number.is_finite() => setting_number(number),
                _ => return,
            },
            Value::Bool(state) => Setting::Switch(*state),
            _ => return,
        };
        self.builder.declare(name, value, line);
    }

    /// A list of numbers is a series; lists of lists are taken together; a single text is a setting.
    fn list(&mut self, key: &str, values: &[Value], path: &str, unit: Option<&str>) {
        if let [Value::String(_)] = values {
            return values.iter().for_each(|value| self.setting(key, value, path));
        }
        if self.configuration {
            return;
        }
        let flat = |value: &Value| match value {
            Value::Array(inner) => inner.iter().filter_map(Value::as_f64).collect(),
            plain => plain.as_f64().into_iter().collect::<Vec<f64>>(),
        };
        let numbers: Vec<f64> = values.iter().flat_map(flat).collect();
        if numbers.len() < 2 {
            return;
        }
        let around: Vec<&str> = self.keys.iter().map(String::as_str).chain([key]).collect();
        let named = match (self.tool, key) {
            (Tool::LlamaBench, "samples_ts") => return,
            _ => keys::metric(&around, unit, self.tool),
        };
        if let Some(named) = named {
            let scaled: Vec<f64> = numbers.iter().map(|number| number * named.factor).collect();
            self.builder.series(&named.name, named.unit, &scaled, &[], self.lines.at(path));
        }
    }
}

/// States what was found, with the counts and seconds that rates were computed from.
fn report(mut results: Results, object: &Map<String, Value>, tool: Tool, builder: &mut Builder) {
    if tool == Tool::LlamaBench {
        name_llama_bench(&mut results, object, builder);
    }
    let seconds = results.get(names::DURATION_LOOP).filter(|seconds| *seconds > 0.0);
    let (prompt, output) = (results.get(names::TOKENS_PROMPT), results.get(names::TOKENS_OUTPUT));
    let requests = results.get(names::REQUESTS);
    for (named, value, line) in &results.values {
        let (count, rate) = match named.name.as_str() {
            names::REQUEST_THROUGHPUT => (requests, true),
            names::OUTPUT_THROUGHPUT => (output, true),
            names::PROMPT_THROUGHPUT => (prompt, true),
            names::TOTAL_TOKEN_THROUGHPUT => {
                (prompt.zip(output).map(|(prompt, output)| prompt + output), true)
            }
            names::TTFT | names::TPOT | names::E2E => (requests, false),
            _ => (None, false),
        };
        builder.facts(*line).value(collector::Value {
            unit: Some(&named.unit),
            scope: named.scope,
            origin: if named.prediction { Origin::Prediction } else { Origin::Reported },
            count,
            seconds: seconds.filter(|_| rate && count.is_some()),
            ..collector::Value::reported(&named.name, *value)
        });
    }
    if let Some((.., line)) =
        results.values.iter().find(|(named, count, _)| named.name == names::REQUESTS && *count <= 0.0)
    {
        builder.facts(*line).failed("no request succeeded");
    }
}

/// llama-bench says in other keys whether its rate is that of a prompt or of generation.
fn name_llama_bench(results: &mut Results, object: &Map<String, Value>, builder: &mut Builder) {
    let count = |key: &str| object.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let rate = match (count("n_prompt") > 0.0, count("n_gen") > 0.0) {
        (true, false) => names::PROMPT_THROUGHPUT,
        (false, true) => names::OUTPUT_THROUGHPUT,
        (true, true) => names::TOTAL_TOKEN_THROUGHPUT,
        (false, false) => names::TOKENS_PER_S_UNNAMED,
    };
    for (named, _, line) in &mut results.values {
        if let Some(rest) =
            named.name.strip_prefix("tokens_per_s.").filter(|rest| rest.is_empty() || rest.starts_with('.'))
        {
            named.name = format!("{rate}{rest}");
            if let Some(backend) = object.get("backends").and_then(Value::as_str) {
                builder.declare(setting::DEVICE, Setting::from(backend), *line);
            }
        }
    }
    let samples: Vec<f64> = object
        .get("samples_ts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .collect();
    if samples.len() > 1 {
        let line = results.values.first().map_or(1, |(.., line)| *line);
        builder.series(rate, names::unit(rate), &samples, &[], line);
    }
}
