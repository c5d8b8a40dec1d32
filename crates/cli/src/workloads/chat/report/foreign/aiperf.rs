//! The files of aiperf: `profile_export_aiperf.json` with a distribution for each metric, and `profile_export.jsonl` with a
//! line for each request.

use serde_json::{Map, Value, json};

use super::{ForeignLoad, Measured, Spread};

/// The layout of the file that this writes.
const SCHEMA: &str = "1.4";

/// The summary.
pub(super) fn summary(load: &ForeignLoad<'_>) -> Value {
    let milliseconds =
        |of: &dyn Fn(&Measured) -> Option<f64>| load.values(|one| of(one).map(|value| value * 1e3));
    let tokens = |of: &dyn Fn(&Measured) -> Option<u64>| load.values(|one| of(one).map(|count| count as f64));
    let gaps: Vec<f64> = load.succeeded().flat_map(|one| one.gaps_s.iter().map(|gap| gap * 1e3)).collect();
    let (input, output) = (load.total(|one| one.prompt_tokens), load.total(|one| one.output_tokens));
    let completed = load.succeeded().count();
    let good = load.succeeded().filter(|one| one.is_good).count();
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("schema_version", SCHEMA.into());
    put("time_to_first_token", spread("ms", milliseconds(&|one| one.ttft_s)));
    put("request_latency", spread("ms", milliseconds(&|one| Some(one.latency_s))));
    put("inter_token_latency", spread("ms", milliseconds(&Measured::tpot_s)));
    put("inter_chunk_latency", spread("ms", gaps));
    put("input_sequence_length", spread("tokens", tokens(&|one| one.prompt_tokens)));
    put("output_sequence_length", spread("tokens", tokens(&|one| one.output_tokens)));
    let per_user = load.values(|one| one.tpot_s().filter(|time| *time > 0.0).map(|time| 1.0 / time));
    put("output_token_throughput_per_user", spread("tokens/sec/user", per_user));
    put("request_throughput", single("requests/sec", load.per_second(completed as f64)));
    put("request_count", single("requests", completed as f64));
    put("error_request_count", single("requests", (load.requests.len() - completed) as f64));
    put("output_token_throughput", single("tokens/sec", load.per_second(output as f64)));
    put("total_token_throughput", single("tokens/sec", load.per_second((input + output) as f64)));
    put("total_isl", single("tokens", input as f64));
    put("total_osl", single("tokens", output as f64));
    put("benchmark_duration", single("sec", load.duration_s));
    if load.results.has_bounds {
        put("goodput", single("requests/sec", load.per_second(good as f64)));
        put("good_request_count", single("requests", good as f64));
    }
    put("was_cancelled", (load.results.ended.as_deref() == Some("interrupted")).into());
    put("is_complete", (load.results.ended.as_deref() == Some("complete")).into());
    put("start_time", load.results.settings.get("date").cloned().unwrap_or(Value::Null));
    // What aiperf would not say, under a name of its own.
    put(
        "assay",
        json!({ "validity": load.endpoint.verdict.validity.name(), "settings": load.results.settings.get("settings") }),
    );
    Value::Object(fields)
}

fn spread(unit: &str, values: Vec<f64>) -> Value {
    let count = values.len();
    let values = Spread::new(values);
    let mut fields = json!({ "unit": unit });
    if count == 0 {
        return fields;
    }
    for (name, at) in
        [1, 5, 10, 25, 50, 75, 90, 95, 99].map(|percent| (format!("p{percent}"), f64::from(percent) / 100.0))
    {
        fields[name] = values.at(at).into();
    }
    for (name, value) in [
        ("avg", values.mean()),
        ("min", values.at(0.0)),
        ("max", values.at(1.0)),
        ("std", values.deviation()),
        ("sum", values.sum()),
    ] {
        fields[name] = value.into();
    }
    fields["count"] = count.into();
    fields
}

fn single(unit: &str, value: f64) -> Value {
    json!({ "unit": unit, "avg": value })
}

/// One line for each request.
pub(super) fn lines(load: &ForeignLoad<'_>) -> Vec<Value> {
    load.requests.iter().map(|one| line(load, one)).collect()
}

fn line(load: &ForeignLoad<'_>, one: &Measured) -> Value {
    let exchange = &one.exchange;
    let mut metrics = Map::new();
    let mut put = |name: &str, value: Option<f64>, unit: &str| {
        if let Some(value) = value {
            metrics.insert(name.to_owned(), json!({ "value": value, "unit": unit }));
        }
    };
    put("time_to_first_token", one.ttft_s.map(|value| value * 1e3), "ms");
    put("request_latency", Some(one.latency_s * 1e3), "ms");
    put("inter_token_latency", one.tpot_s().map(|value| value * 1e3), "ms");
    put("input_sequence_length", one.prompt_tokens.map(|count| count as f64), "tokens");
    put("output_sequence_length", one.output_tokens.map(|count| count as f64), "tokens");
    let fault = exchange.fault.as_ref();
    json!({
        "metadata": {
            "session_num": exchange.index,
            "x_request_id": format!("assay-{}", exchange.index),
            "conversation_id": exchange.conversation.map(|(conversation, _)| conversation.to_string()),
            "turn_index": exchange.conversation.map(|(_, turn)| turn),
            "credit_issued_ns": load.clock_ns(exchange.intended_at_s),
            "request_start_ns": load.clock_ns(exchange.sent_at_s),
            "request_end_ns": load.clock_ns(exchange.end_at_s),
            "worker_id": "assay",
            "record_processor_id": "assay",
            "benchmark_phase": "profiling",
        },
        "metrics": metrics,
        "error": fault.map(|fault| json!({ "code": exchange.status, "type": fault.kind.code(), "message": fault.message })),
    })
}
