//! Lists of single requests, as people's own scripts around an endpoint save them: the latency and the token counts of
//! each.

use assay_model::{Unit, names};
use serde_json::{Map, Value};

use super::builder::Builder;
use super::lines::Lines;
use crate::collector;

/// Keys of a request's time, and their factors to seconds.
const LATENCIES: [(&str, f64); 11] = [
    ("latency_sec", 1.0),
    ("latency_s", 1.0),
    ("latency_seconds", 1.0),
    ("latency_ms", 1e-3),
    ("elapsed_s", 1.0),
    ("elapsed_sec", 1.0),
    ("elapsed_ms", 1e-3),
    ("response_time_s", 1.0),
    ("response_time_ms", 1e-3),
    ("duration_s", 1.0),
    ("duration_ms", 1e-3),
];
const PROMPT_TOKENS: [&str; 3] = ["prompt_tokens", "input_tokens", "prompt_eval_count"];
const OUTPUT_TOKENS: [&str; 4] = ["completion_tokens", "output_tokens", "generated_tokens", "eval_count"];
/// Objects of a request that hold its counts.
const INNER: [&str; 4] = ["usage", "metadata", "tokens", "metrics"];

/// Whether objects are single requests: each states a latency and what was asked or answered.
pub(super) fn are_requests(objects: &[&Map<String, Value>]) -> bool {
    let is_request = |object: &&Map<String, Value>| {
        latency(object).is_some()
            && ["prompt", "response", "usage", "metadata", "prompt_tokens", "completion_tokens", "question"]
                .iter()
                .any(|key| object.contains_key(*key))
    };
    objects.len() > 1 && objects.iter().all(is_request)
}

fn latency(object: &Map<String, Value>) -> Option<f64> {
    LATENCIES.iter().find_map(|(key, factor)| Some(object.get(*key)?.as_f64()? * factor))
}

fn count(object: &Map<String, Value>, keys: &[&str]) -> Option<f64> {
    let own = |object: &Map<String, Value>| keys.iter().find_map(|key| object.get(*key)?.as_f64());
    own(object).or_else(|| INNER.iter().find_map(|key| own(object.get(*key)?.as_object()?)))
}

/// Reads the requests of one run.
pub(super) fn read(objects: &[&Map<String, Value>], path: &str, lines: &Lines, builder: &mut Builder) {
    let line = lines.at(path);
    let latencies: Vec<f64> = objects.iter().filter_map(|object| latency(object)).collect();
    let total: f64 = latencies.iter().sum();
    builder.series(names::E2E, Unit::Seconds, &latencies, &[], line);
    let requests = objects.len() as f64;
    builder.facts(line).value(collector::Value::derived(names::REQUESTS, requests));
    let mean = collector::Value::derived(names::E2E, total / requests).counted(requests, total);
    builder.facts(line).value(mean);
    for (keys, metric) in [(&PROMPT_TOKENS[..], names::TOKENS_PROMPT), (&OUTPUT_TOKENS, names::TOKENS_OUTPUT)]
    {
        let counts: Vec<f64> = objects.iter().filter_map(|object| count(object, keys)).collect();
        // Of requests without counts no total is known.
        if counts.len() != objects.len() {
            continue;
        }
        let sum: f64 = counts.iter().sum();
        builder.facts(line).value(collector::Value::derived(metric, sum));
        if metric == names::TOKENS_OUTPUT && total > 0.0 {
            let unit = Unit::PerSecond("tokens".to_owned());
            let rate = collector::Value::derived("output_throughput.per_request", sum / total);
            let rate = collector::Value { unit: Some(&unit), ..rate };
            builder.facts(line).value(rate.counted(sum, total));
            let tokens = Unit::Count("tokens".to_owned());
            let each = collector::Value::derived("tokens.output.per_request", sum / requests);
            builder.facts(line).value(collector::Value { unit: Some(&tokens), ..each });
        }
    }
}
