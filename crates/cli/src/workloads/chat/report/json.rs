//! Results of a load as JSON; docs/json.md describes it.

use assay_judge::load::Distribution;
use serde_json::{Value, json};

use super::super::results::LoadResults;
use crate::screen::JSON_SCHEMA;

/// One load.
pub(super) fn as_json(results: &LoadResults) -> Value {
    let endpoints = results.endpoints.iter().map(|endpoint| {
        let summary = &endpoint.summary;
        let spread = |values: &Distribution| {
            let at = |probability| values.quantile(probability);
            json!({
                "mean": values.mean(),
                "std": values.deviation(),
                "min": values.min(),
                "p50": at(0.5),
                "p90": at(0.9),
                "p95": at(0.95),
                "p99": at(0.99),
                "max": values.max(),
                "count": values.count(),
            })
        };
        let reasons = endpoint.verdict.reasons.iter();
        let reasons = reasons.map(|reason| json!({ "validity": reason.validity.name(), "text": reason.text, "hint": reason.hint }));
        let faults = endpoint.faults.iter();
        let faults = faults.map(|(kind, (count, first))| json!({ "kind": kind, "count": count, "first": first, "hint": kind.hint() }));
        json!({
            "name": endpoint.name(),
            "url": endpoint.url,
            "model": endpoint.model,
            "validity": endpoint.verdict.validity.name(),
            "reasons": reasons.collect::<Vec<_>>(),
            "requests": summary.success.all,
            "succeeded": summary.success.of,
            "success_interval": summary.success.interval(),
            "good": summary.good.of,
            "goodput": summary.goodput().filter(|_| results.has_bounds),
            "window_s": [summary.window.begin_s, summary.window.end_at_s],
            "window_is_whole_load": summary.window.is_whole,
            "output_throughput": summary.output_throughput(),
            "request_throughput": summary.request_throughput(),
            "ttft_s": spread(&summary.ttft),
            "ttft_from_send_s": spread(&summary.ttft_from_send),
            "ttfo_s": spread(&summary.ttfo),
            "tpot_s": spread(&summary.tpot),
            "itl_s": spread(&summary.itl),
            "tokens_per_chunk": spread(&summary.tokens_per_chunk),
            "e2e_s": spread(&summary.e2e),
            "e2e_from_send_s": spread(&summary.e2e_from_send),
            "request_output_rate": spread(&summary.output_rate),
            "server_queue_s": spread(&summary.server_queue),
            "server_prompt_s": spread(&summary.server_prompt),
            "server_output_s": spread(&summary.server_output),
            "exact_match": summary.exact.value(),
            "exact_match_interval": summary.exact.interval(),
            "f1": summary.f1.mean(),
            "tokens": {
                "prompt": summary.tokens.prompt,
                "cached": summary.tokens.cached,
                "cached_share": summary.cached_share(),
                "output": summary.tokens.output,
                "reasoning": summary.tokens.reasoning,
                "counted_by_server": summary.tokens.by_server,
                "counted_by_tokenizer": summary.tokens.by_tokenizer,
                "unknown": summary.tokens.unknown,
                "tokenizer_against_server": summary.count_difference(),
            },
            "server_counters": endpoint.counters,
            "faults": faults.collect::<Vec<_>>(),
        })
    });
    let client = &results.client;
    json!({
        "schema": JSON_SCHEMA,
        "streams": results.streams,
        "rate": results.rate,
        "prompts": results.prompts,
        "ended": results.ended,
        "took_s": results.took_s,
        "client": {
            "client_lag_p99_s": client.client_lag_s,
            "schedule_lag_p99_s": client.schedule_lag_s,
            "in_flight_share": client.in_flight,
            "cpu_share": client.cpu,
            "connections": client.connections,
            "requests": client.requests,
            "sent_anew": client.sent_anew,
            "merged_share": client.merged,
            "unstamped_share": client.unstamped,
        },
        "endpoints": endpoints.collect::<Vec<_>>(),
    })
}
