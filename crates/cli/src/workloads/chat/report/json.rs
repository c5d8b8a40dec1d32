//! Results of a load as JSON; docs/json.md describes it.

use assay_judge::load::{Batched, Slices};
use serde_json::{Map, Value, json};

use super::super::results::{EndpointResult, LoadResults};
use crate::screen::JSON_SCHEMA;

/// One load.
pub(super) fn as_json(results: &LoadResults) -> Value {
    let client = &results.client;
    let endpoints = results.endpoints.iter().map(|endpoint| Value::Object(of_endpoint(endpoint, results)));
    json!({
        "schema": JSON_SCHEMA,
        "streams": results.streams,
        "rate": results.rate,
        "prompts": results.prompts,
        "ended": results.ended,
        "took_s": results.took_s,
        "gone_since_s": results.gone_since_s,
        "tried_after_gone": results.tried_after_gone,
        "insecure": results.insecure,
        "date": results.settings.get("date"),
        "machine": results.settings.get("machine"),
        "settings": results.settings.get("settings"),
        "client": {
            "client_lag_p99_s": client.client_lag_s,
            "schedule_lag_p99_s": client.schedule_lag_s,
            "in_flight_share": client.in_flight,
            "cpu_share": client.cpu,
            "connections": client.connections,
            "requests": client.requests,
            "sent_again": client.sent_again,
            "merged_share": client.merged,
            "unstamped_share": client.unstamped,
        },
        "endpoints": endpoints.collect::<Vec<_>>(),
    })
}

fn of_endpoint(endpoint: &EndpointResult, results: &LoadResults) -> Map<String, Value> {
    let (summary, verdict) = (&endpoint.summary, &endpoint.verdict);
    let reasons = verdict.reasons.iter().map(|reason| {
        json!({
            "validity": reason.validity.name(),
            "metric": reason.metric,
            "text": reason.text,
            "hint": reason.hint,
        })
    });
    let faults = endpoint.faults.iter().map(
        |(kind, (count, first))| json!({ "kind": kind, "count": count, "first": first, "hint": kind.hint() }),
    );
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("name", endpoint.name().into());
    put("url", endpoint.url.as_str().into());
    put("model", endpoint.model.as_str().into());
    put("validity", verdict.validity.name().into());
    put("reasons", reasons.collect());
    put("requests", summary.success.all.into());
    put("succeeded", summary.success.of.into());
    put("failed", (summary.success.all - summary.success.of).into());
    put("unfinished", summary.unfinished.into());
    put("success_interval", json!(summary.success_interval()));
    put("good", json!(results.has_bounds.then_some(summary.good.of)));
    put("good_share", json!(summary.good.value().filter(|_| results.has_bounds)));
    put("good_share_interval", json!(summary.good_interval().filter(|_| results.has_bounds)));
    put("window_s", json!([summary.window.begin_s, summary.window.end_at_s]));
    put("window_is_whole_load", summary.window.is_whole.into());
    put("exact_match", summary.exact.value().into());
    put("exact_match_interval", json!(summary.exact.interval()));
    put("f1", summary.f1.mean().into());
    put("f1_interval", json!(summary.f1_interval()));
    put("tokens", tokens(endpoint));
    put("server_counters", json!(endpoint.counters));
    put("faults", faults.collect());
    fields.extend(rates(endpoint, results));
    fields.extend(distributions(endpoint));
    fields
}

/// Rates inside the measured window, with the intervals that the count of requests allows.
fn rates(endpoint: &EndpointResult, results: &LoadResults) -> Map<String, Value> {
    let summary = &endpoint.summary;
    let all: [(&str, Option<f64>, &Slices); 4] = [
        ("request_throughput", summary.request_throughput(), &summary.ended_inside),
        ("output_throughput", summary.output_throughput(), &summary.tokens_inside),
        ("total_token_throughput", summary.total_token_throughput(), &summary.all_tokens_inside),
        ("goodput", summary.goodput().filter(|_| results.has_bounds), &summary.good_inside),
    ];
    let pairs = all.into_iter().flat_map(|(name, rate, slices)| {
        let interval = slices.interval().filter(|_| rate.is_some());
        [(name.to_owned(), json!(rate)), (format!("{name}_interval"), json!(interval))]
    });
    pairs.collect()
}

fn distributions(endpoint: &EndpointResult) -> Map<String, Value> {
    let (summary, verdict) = (&endpoint.summary, &endpoint.verdict);
    let judged = [
        ("ttft", &summary.ttft),
        ("ttfo", &summary.ttfo),
        ("tpot", &summary.tpot),
        ("itl", &summary.itl),
        ("e2e", &summary.e2e),
    ];
    let judged = judged.into_iter().map(|(name, values)| {
        let mut fields = spread(values);
        fields["validity"] = verdict.of(name).name().into();
        (format!("{name}_s"), fields)
    });
    let others = [
        ("ttft_from_send_s", &summary.ttft_from_send),
        ("e2e_from_send_s", &summary.e2e_from_send),
        ("tokens_per_chunk", &summary.tokens_per_chunk),
        ("request_output_rate", &summary.output_rate),
        ("server_queue_s", &summary.server_queue),
        ("server_prompt_s", &summary.server_prompt),
        ("server_output_s", &summary.server_output),
    ];
    judged.chain(others.into_iter().map(|(name, values)| (name.to_owned(), spread(values)))).collect()
}

/// A distribution, with the intervals that the count of requests allows.
fn spread(values: &Batched) -> Value {
    let mut fields = json!({
        "mean": values.mean(),
        "mean_interval": values.mean_interval(),
        "std": values.deviation(),
        "min": values.min(),
        "max": values.max(),
        "count": values.count(),
    });
    for (name, at) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
        fields[name] = values.quantile(at).into();
        fields[format!("{name}_interval")] = json!(values.quantile_interval(at));
    }
    fields
}

fn tokens(endpoint: &EndpointResult) -> Value {
    let (summary, tokens) = (&endpoint.summary, &endpoint.summary.tokens);
    json!({
        "prompt": tokens.prompt,
        "cached": tokens.cached,
        "cached_share": summary.cached_share(),
        "output": tokens.output,
        "reasoning": tokens.reasoning,
        "counted_by_server": tokens.by_server,
        "counted_by_tokenizer": tokens.by_tokenizer,
        "unknown": tokens.unknown,
        "tokenizer_against_server": summary.count_difference(),
    })
}
