//! The result file of `vllm bench serve --save-result --save-detailed`: flat, milliseconds in the statistics, seconds in the
//! lists.

use serde_json::{Map, Value, json};

use super::{ForeignLoad, Measured, Spread};

/// The whole file.
pub(super) fn result(load: &ForeignLoad<'_>) -> Value {
    let (results, requests) = (load.results, &load.requests);
    let (input, output) = (load.total(|one| one.prompt_tokens), load.total(|one| one.output_tokens));
    let good = load.succeeded().filter(|one| one.is_good).count();
    let completed = load.succeeded().count();
    let rate = results.rate.map_or(json!("inf"), |rate| json!(rate));
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("date", compact_date(load).into());
    for name in ["endpoint_type", "backend"] {
        put(name, "openai-chat".into());
    }
    put("label", "assay".into());
    put("model_id", load.endpoint.model.as_str().into());
    put("tokenizer_id", load.setting("tokenizer").as_str().unwrap_or(&load.endpoint.model).into());
    put("num_prompts", requests.len().into());
    put("request_rate", rate);
    put("burstiness", load.setting("shape").as_f64().unwrap_or(1.0).into());
    put("max_concurrency", json!(results.streams));
    put("duration", load.duration_s.into());
    put("completed", completed.into());
    put("failed", (requests.len() - completed).into());
    put("total_input_tokens", input.into());
    put("total_output_tokens", output.into());
    put("request_throughput", load.per_second(completed as f64).into());
    put("request_goodput", json!(results.has_bounds.then(|| load.per_second(good as f64))));
    put("output_throughput", load.per_second(output as f64).into());
    put("total_token_throughput", load.per_second((input + output) as f64).into());
    put("max_output_tokens_per_s", busiest_second(requests).into());
    put("max_concurrent_requests", most_at_once(requests).into());
    put("input_lens", requests.iter().map(|one| one.prompt_tokens.unwrap_or(0)).collect());
    put(
        "output_lens",
        requests
            .iter()
            .map(|one| if one.is_success() { one.output_tokens.unwrap_or(0) } else { 0 })
            .collect(),
    );
    put("ttfts", requests.iter().map(|one| one.ttft_s.unwrap_or(0.0)).collect());
    put("itls", requests.iter().map(|one| Value::from(one.gaps_s.clone())).collect());
    put("start_times", requests.iter().map(|one| one.exchange.sent_at_s).collect());
    put(
        "generated_texts",
        requests.iter().map(|one| one.exchange.answer.clone().unwrap_or_default()).collect(),
    );
    put(
        "errors",
        requests
            .iter()
            .map(|one| one.exchange.fault.as_ref().map(ToString::to_string).unwrap_or_default())
            .collect(),
    );
    fields.extend(statistics("ttft", load.values(|one| one.ttft_s)));
    fields.extend(statistics("tpot", load.values(Measured::tpot_s)));
    fields.extend(statistics("itl", load.succeeded().flat_map(|one| one.gaps_s.iter().copied()).collect()));
    fields.extend(statistics("e2el", load.values(|one| Some(one.latency_s))));
    Value::Object(fields)
}

fn statistics(name: &str, seconds: Vec<f64>) -> Map<String, Value> {
    let values = Spread::new(seconds.into_iter().map(|value| value * 1e3).collect());
    let all = [
        ("mean", values.mean()),
        ("median", values.at(0.5)),
        ("std", values.deviation()),
        ("p50", values.at(0.5)),
        ("p90", values.at(0.9)),
        ("p95", values.at(0.95)),
        ("p99", values.at(0.99)),
    ];
    all.into_iter().map(|(what, value)| (format!("{what}_{name}_ms"), value.into())).collect()
}

/// `20260131-120000` of `2026-01-31T12:00:00Z`.
fn compact_date(load: &ForeignLoad<'_>) -> String {
    let date = load.results.settings.get("date").and_then(Value::as_str).unwrap_or_default();
    date.replace(['-', ':', 'Z'], "").replace('T', "-")
}

/// The most chunks with tokens in one second, as tokens of the requests they belong to.
fn busiest_second(requests: &[Measured]) -> f64 {
    let mut seconds: std::collections::BTreeMap<i64, f64> = std::collections::BTreeMap::new();
    for one in requests {
        let chunks = one.exchange.chunks.iter().filter(|chunk| chunk.kind.is_token());
        let count = chunks.clone().map(|chunk| u64::from(chunk.events)).sum::<u64>();
        let each = one.output_tokens.unwrap_or(0) as f64 / count.max(1) as f64;
        for chunk in chunks {
            *seconds.entry(chunk.at_s.floor() as i64).or_default() += each * f64::from(chunk.events);
        }
    }
    seconds.into_values().fold(0.0, f64::max)
}

/// The most requests in flight at one time.
fn most_at_once(requests: &[Measured]) -> i64 {
    let mut moments: Vec<(f64, i64)> =
        requests.iter().flat_map(|one| [(one.exchange.sent_at_s, 1), (one.exchange.end_at_s, -1)]).collect();
    moments.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let sums = moments.into_iter().scan(0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.max().unwrap_or(0)
}
