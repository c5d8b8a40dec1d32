//! The report of guidellm (`benchmarks.json`, version 2): a benchmark for each load, with distributions for each metric. Its
//! list of single requests stays empty; `-o` of a table has them.

use serde_json::{Value, json};

use super::{ForeignLoad, Measured, Spread};

/// The whole file.
pub(super) fn report(loads: &[ForeignLoad<'_>]) -> Value {
    let first = loads.first();
    let endpoint = first.map(|load| load.endpoint);
    let profile = first.map_or(json!({}), strategy_profile);
    json!({
        "metadata": { "version": 2, "guidellm_version": "0.8.1", "python_version": "", "platform": "assay" },
        "config": {
            "spec": {
                "backend": {
                    "kind": "openai_http",
                    "target": endpoint.map(|endpoint| endpoint.url.as_str()),
                    "model": endpoint.map(|endpoint| endpoint.model.as_str()),
                },
                "profile": profile,
                "data": [{ "kind": "synthetic_text", "prompt_tokens": 1, "output_tokens": 1 }],
            },
        },
        "benchmarks": loads.iter().zip(0_u64..).map(|(load, number)| benchmark(load, number)).collect::<Vec<_>>(),
    })
}

/// What the load is called where profiles are configured.
fn strategy_profile(load: &ForeignLoad<'_>) -> Value {
    match (load.results.streams, load.results.rate) {
        (Some(streams), _) => json!({ "kind": "concurrent", "streams": [streams] }),
        (None, Some(rate)) => json!({ "kind": "poisson", "rate": [rate] }),
        (None, None) => json!({ "kind": "throughput" }),
    }
}

fn strategy(load: &ForeignLoad<'_>) -> Value {
    match (load.results.streams, load.results.rate, load.setting("gaps").as_str()) {
        (Some(streams), ..) => json!({ "type_": "concurrent", "streams": streams }),
        (None, Some(rate), Some("constant")) => json!({ "type_": "constant", "rate": rate }),
        (None, Some(rate), _) => json!({ "type_": "poisson", "rate": rate }),
        (None, None, _) => json!({ "type_": "throughput" }),
    }
}

fn benchmark(load: &ForeignLoad<'_>, number: u64) -> Value {
    let at = |at_s: f64| load.clock_ns(at_s) as f64 * 1e-9;
    let (first, last) = load.requests.iter().fold((f64::INFINITY, 0.0_f64), |(first, last), one| {
        (first.min(one.exchange.sent_at_s), last.max(one.exchange.end_at_s))
    });
    let window = load.endpoint.summary.window;
    let completed = load.succeeded().count();
    let totals = json!({
        "successful": completed,
        "errored": load.requests.len() - completed,
        "incomplete": load.endpoint.summary.unfinished,
        "total": load.requests.len(),
    });
    let late = Spread::new(
        load.requests.iter().map(|one| one.exchange.sent_at_s - one.exchange.intended_at_s).collect(),
    );
    let took = Spread::new(load.values(|one| Some(one.latency_s)));
    json!({
        "type_": "generative_benchmark",
        "config": {
            "run_id": "assay",
            "run_index": number,
            "strategy": strategy(load),
            "constraints": {},
            "profile": {},
            "requests": { "prompts": load.results.prompts },
            "backend": { "target": load.endpoint.url, "model": load.endpoint.model },
            "environment": { "machine": load.results.settings.get("machine"), "validity": load.endpoint.verdict.validity.name() },
        },
        "scheduler_state": {
            "start_time": at(0.0),
            "end_time": at(last),
            "created_requests": load.requests.len(),
            "processed_requests": load.requests.len(),
            "successful_requests": completed,
            "errored_requests": load.requests.len() - completed,
        },
        "scheduler_metrics": {
            "start_time": at(0.0),
            "request_start_time": at(first),
            "measure_start_time": at(window.begin_s),
            "measure_end_time": at(window.end_at_s),
            "request_end_time": at(last),
            "end_time": at(last),
            "requests_made": totals,
            "queued_time_avg": 0.0,
            "resolve_start_delay_avg": 0.0,
            "resolve_targeted_start_delay_avg": late.mean(),
            "request_start_delay_avg": 0.0,
            "request_targeted_start_delay_avg": late.mean(),
            "request_time_avg": took.mean(),
            "resolve_end_delay_avg": 0.0,
            "resolve_time_avg": took.mean(),
            "finalized_delay_avg": 0.0,
            "processed_delay_avg": 0.0,
        },
        "metrics": metrics(load, &totals),
        "requests": { "successful": [], "errored": [], "incomplete": [], "total": null },
    })
}

fn metrics(load: &ForeignLoad<'_>, totals: &Value) -> Value {
    let of = |one: &dyn Fn(&Measured) -> Option<f64>| distribution(load.values(one));
    let rate = |amount: f64| distribution(vec![load.per_second(amount)]);
    let (input, output) =
        (load.total(|one| one.prompt_tokens) as f64, load.total(|one| one.output_tokens) as f64);
    let count = |count: Option<u64>| count.map(|count| count as f64);
    let last_token = |one: &Measured| Some(one.exchange.last_token_at_s? - one.exchange.sent_at_s);
    let nothing = json!({ "tokens": null, "bytes": null });
    let with = |names: [&str; 2]| {
        let mut fields = nothing.clone();
        names.into_iter().for_each(|name| fields[name] = Value::Null);
        fields
    };
    json!({
        "request_totals": totals,
        "requests_per_second": rate(load.succeeded().count() as f64),
        "request_concurrency": rate(load.requests.iter().map(|one| one.latency_s).sum()),
        "request_latency": of(&|one| Some(one.latency_s)),
        "request_streaming_iterations_count": of(&|one| Some(one.gaps_s.len() as f64 + 1.0)),
        "prompt_token_count": of(&|one| count(one.prompt_tokens)),
        "output_token_count": of(&|one| count(one.output_tokens)),
        "total_token_count": of(&|one| Some(count(one.prompt_tokens)? + count(one.output_tokens)?)),
        "time_to_first_token_ms": of(&|one| Some(one.ttft_s? * 1e3)),
        "time_to_first_output_token_ms":
            of(&|one| Some((one.exchange.first_output_at_s? - one.exchange.sent_at_s) * 1e3)),
        // Theirs includes the time to the first token.
        "time_per_output_token_ms": of(&|one| Some(last_token(one)? * 1e3 / count(one.output_tokens).filter(|n| *n > 0.0)?)),
        "inter_token_latency_ms": of(&|one| Some((last_token(one)? - one.ttft_s?) * 1e3 / count(one.output_tokens).map(|n| n - 1.0).filter(|n| *n > 0.0)?)),
        "time_to_last_round_trip_ms": of(&|one| Some(one.latency_s * 1e3)),
        "avg_round_trip_time_ms": of(&|one| Some(one.latency_s * 1e3)),
        "prompt_tokens_per_second": rate(input),
        "output_tokens_per_second": rate(output),
        "tokens_per_second": rate(input + output),
        "output_tokens_per_iteration": of(&|one| Some(count(one.output_tokens)? / (one.gaps_s.len() as f64 + 1.0))),
        "iter_tokens_per_iteration": of(&|one| Some(count(one.output_tokens)? / (one.gaps_s.len() as f64 + 1.0))),
        "text": { "tokens": null, "words": null, "characters": null },
        "image": with(["images", "pixels"]),
        "video": with(["frames", "seconds"]),
        "audio": with(["samples", "seconds"]),
        "tool_call": { "tokens": null, "mixed_tokens": null, "count": null },
    })
}

fn distribution(values: Vec<f64>) -> Value {
    let count = values.len();
    let values = Spread::new(values);
    let percentiles = [
        ("p001", 0.001),
        ("p01", 0.01),
        ("p05", 0.05),
        ("p10", 0.1),
        ("p25", 0.25),
        ("p50", 0.5),
        ("p75", 0.75),
        ("p90", 0.9),
        ("p95", 0.95),
        ("p99", 0.99),
        ("p999", 0.999),
    ];
    let percentiles: serde_json::Map<String, Value> =
        percentiles.into_iter().map(|(name, at)| (name.to_owned(), values.at(at).into())).collect();
    let summary = json!({
        "mean": values.mean(),
        "median": values.at(0.5),
        "mode": values.at(0.5),
        "variance": values.deviation().powi(2),
        "std_dev": values.deviation(),
        "min": values.at(0.0),
        "max": values.at(1.0),
        "count": count,
        "total_sum": values.sum(),
        "percentiles": percentiles,
    });
    let empty = json!({ "mean": 0.0, "median": 0.0, "mode": 0.0, "variance": 0.0, "std_dev": 0.0, "min": 0.0, "max": 0.0, "count": 0, "total_sum": 0.0, "percentiles": percentiles_of_nothing() });
    json!({ "successful": summary, "errored": empty, "incomplete": empty, "total": summary })
}

fn percentiles_of_nothing() -> Value {
    let names = ["p001", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999"];
    names
        .into_iter()
        .map(|name| (name.to_owned(), Value::from(0.0)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
