//! Results of a load as workload events. Names and meanings are those of docs/load.md; a bare name is the mean, as other
//! clients print it, with `.p50` and `.p99` beside it.

use assay_judge::load::{Distribution, EndpointSummary, Validity, Verdict};
use assay_load::{Exchange, calibration};
use assay_model::{Scope, WorkloadEvent, names};
use assay_workloads::Emitter;

use super::results::{LoadResults, request};

/// Requests with an entry of their own in the series; the tables of the run have all of them.
const MOST_STEPS: u64 = 1_000;

/// The metrics that are not canonical, with their units.
pub const METRICS: &[(&str, &str)] = &[
    ("ttft.p50", "s"),
    ("ttft.p90", "s"),
    ("ttft.p95", "s"),
    ("ttft.p99", "s"),
    ("ttft.std", "s"),
    ("ttft.min", "s"),
    ("ttft.max", "s"),
    ("ttft.from_send", "s"),
    ("ttfo", "s"),
    ("ttfo.p50", "s"),
    ("ttfo.p90", "s"),
    ("ttfo.p95", "s"),
    ("ttfo.p99", "s"),
    ("ttfo.std", "s"),
    ("ttfo.min", "s"),
    ("ttfo.max", "s"),
    ("tpot.p50", "s"),
    ("tpot.p90", "s"),
    ("tpot.p95", "s"),
    ("tpot.p99", "s"),
    ("tpot.std", "s"),
    ("tpot.min", "s"),
    ("tpot.max", "s"),
    ("itl.p50", "s"),
    ("itl.p90", "s"),
    ("itl.p95", "s"),
    ("itl.p99", "s"),
    ("itl.std", "s"),
    ("itl.min", "s"),
    ("itl.max", "s"),
    ("e2e.p50", "s"),
    ("e2e.p90", "s"),
    ("e2e.p95", "s"),
    ("e2e.p99", "s"),
    ("e2e.std", "s"),
    ("e2e.min", "s"),
    ("e2e.max", "s"),
    ("e2e.from_send", "s"),
    ("tokens_per_s.request", "tokens/s"),
    ("tokens_per_chunk", "tokens"),
    ("total_token_throughput", "tokens/s"),
    ("goodput", "requests/s"),
    ("goodput.share", "fraction"),
    ("cached.share", "fraction"),
    ("exact_match", "fraction"),
    ("f1", "fraction"),
    ("client.lag", "s"),
    ("client.schedule_lag", "s"),
    ("client.cpu", "fraction"),
    ("client.merged", "fraction"),
    ("server.lag", "s"),
];

/// The latencies of each of the first requests that succeeded, to be emitted in the order of requests.
#[derive(Debug, Default)]
pub(super) struct RequestSeries(Vec<(u64, Option<f64>, Option<f64>, f64)>);

impl RequestSeries {
    pub(super) fn add(&mut self, exchange: &Exchange) {
        if exchange.is_success() && !exchange.warm_up && exchange.index < MOST_STEPS {
            let ttft = exchange.first_token_at_s.map(|at_s| at_s - exchange.intended_at_s);
            let tpot = request(exchange).tpot_s();
            self.0.push((exchange.index + 1, ttft, tpot, exchange.end_at_s - exchange.intended_at_s));
        }
    }

    pub(super) fn emit(mut self, emitter: &mut Emitter<'_>) {
        self.0.sort_by_key(|(step, ..)| *step);
        for (step, ttft, tpot, e2e) in self.0 {
            for (metric, value) in [(names::TTFT, ttft), (names::TPOT, tpot), (names::E2E, Some(e2e))] {
                if let Some(value) = value {
                    emitter.emit(WorkloadEvent::at(metric, step, value));
                }
            }
        }
    }
}

/// Emits what the load says of its endpoint, and what that is worth.
pub(super) fn results(results: &LoadResults, emitter: &mut Emitter<'_>) {
    if let Some(began_s) = results.began_s.filter(|began_s| *began_s > 0.0) {
        emitter.emit(WorkloadEvent::Phase { name: "warmup".to_owned(), start_s: 0.0, end_s: began_s });
    }
    for endpoint in &results.endpoints {
        latencies(&endpoint.summary, &endpoint.verdict, emitter);
        rates(&endpoint.summary, results.has_bounds, emitter);
        counts(&endpoint.summary, emitter);
        for (kind, (count, first)) in &endpoint.faults {
            let text = format!("{count} requests failed: {}; the first: {first}", kind.name());
            emitter.emit(WorkloadEvent::Note { text, hint: Some(kind.hint().to_owned()) });
        }
        emitter.setting("validity", endpoint.verdict.validity.name());
        let is_note =
            |one: &&assay_judge::load::Reason| one.validity == Validity::Suspect || one.metric.is_some();
        for reason in endpoint.verdict.reasons.iter().filter(is_note) {
            let text = format!("{}: {}", reason.validity.name(), reason.text);
            emitter.emit(WorkloadEvent::Note { text, hint: Some(reason.hint.to_owned()) });
        }
    }
    let client = &results.client;
    value(emitter, "client.lag", client.client_lag_s);
    value(emitter, "client.schedule_lag", client.schedule_lag_s);
    value(emitter, "client.cpu", client.cpu);
    value(emitter, "client.merged", client.merged);
}

/// Emits how late the calibration endpoint itself was.
pub(super) fn server(summary: &calibration::CalibrationSummary, emitter: &mut Emitter<'_>) {
    value(emitter, "server.lag", summary.late_s(0.99));
}

fn latencies(summary: &EndpointSummary, verdict: &Verdict, emitter: &mut Emitter<'_>) {
    let spreads = [
        (names::TTFT, &summary.ttft),
        ("ttfo", &summary.ttfo),
        (names::TPOT, &summary.tpot),
        (names::ITL, &summary.itl),
        (names::E2E, &summary.e2e),
    ];
    // A metric that is invalid by itself is kept in the files of the run and never compared.
    let is_usable = |name: &str| verdict.worst().is_some() || verdict.of(name) != Validity::Invalid;
    for (name, values) in spreads.into_iter().filter(|(name, _)| is_usable(name)) {
        mean(emitter, name, values);
        for (end, at) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            value(emitter, &format!("{name}.{end}"), values.quantile(at));
        }
        for (end, known) in [("std", values.deviation()), ("min", values.min()), ("max", values.max())] {
            value(emitter, &format!("{name}.{end}"), known);
        }
    }
    mean(emitter, "ttft.from_send", &summary.ttft_from_send);
    mean(emitter, "e2e.from_send", &summary.e2e_from_send);
    mean(emitter, "tokens_per_chunk", &summary.tokens_per_chunk);
    mean(emitter, "tokens_per_s.request", &summary.output_rate);
}

fn rates(summary: &EndpointSummary, has_bounds: bool, emitter: &mut Emitter<'_>) {
    let seconds = summary.window.length_s();
    if summary.output_throughput().is_some() {
        emitter.emit(WorkloadEvent::rate(names::OUTPUT_THROUGHPUT, summary.tokens_inside.total(), seconds));
    }
    if summary.request_throughput().is_some() {
        emitter.emit(WorkloadEvent::rate(names::REQUEST_THROUGHPUT, summary.ended_inside.total(), seconds));
    }
    value(emitter, "total_token_throughput", summary.total_token_throughput());
    if has_bounds {
        value(emitter, "goodput", summary.goodput());
        value(emitter, "goodput.share", summary.good.value());
    }
}

fn counts(summary: &EndpointSummary, emitter: &mut Emitter<'_>) {
    let success = summary.success;
    value(emitter, names::REQUESTS, Some(success.all as f64));
    value(emitter, names::REQUESTS_FAILED, Some((success.all - success.of) as f64));
    value(emitter, names::SUCCESS, success.value());
    value(emitter, "cached.share", summary.cached_share());
    value(emitter, "exact_match", summary.exact.value());
    value(emitter, "f1", summary.f1.mean());
    let tokens = summary.tokens;
    if tokens.by_server + tokens.by_tokenizer > 0 {
        value(emitter, names::TOKENS_PROMPT, Some(tokens.prompt as f64).filter(|count| *count > 0.0));
        value(emitter, names::TOKENS_OUTPUT, Some(tokens.output as f64));
    }
    if tokens.reasoning > 0 {
        value(emitter, names::TOKENS_REASONING, Some(tokens.reasoning as f64));
    }
}

/// A mean, with how many values it is of.
fn mean(emitter: &mut Emitter<'_>, metric: &str, values: &Distribution) {
    if let Some(mean) = values.mean() {
        emitter.emit(WorkloadEvent::Value {
            metric: metric.to_owned(),
            value: mean,
            unit: unit(metric),
            step: None,
            scope: Some(Scope::Loop),
            count: Some(values.count() as f64),
            seconds: None,
            derived: true,
        });
    }
}

fn value(emitter: &mut Emitter<'_>, metric: &str, value: Option<f64>) {
    if let Some(value) = value {
        emitter.emit(WorkloadEvent::Value {
            metric: metric.to_owned(),
            value,
            unit: unit(metric),
            step: None,
            scope: None,
            count: None,
            seconds: None,
            derived: true,
        });
    }
}

/// The unit of a metric that is not canonical.
fn unit(metric: &str) -> Option<String> {
    METRICS.iter().find(|(name, _)| *name == metric).map(|(_, unit)| (*unit).to_owned())
}
