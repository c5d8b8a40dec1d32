//! What the serving benchmarks of vLLM and SGLang share: a block of labelled results and a dump of arguments.

use assay_model::names::{self, setting};
use assay_model::{Scope, Status, Unit, Value as Setting};

use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::text::number;
use crate::user::setting_value;
use crate::writeup::vocabulary::setting_name;

/// The line over a block of results.
pub(super) const HEADING: &str = "Serving Benchmark Result";

/// The line under a block of results.
pub(super) const RULE: &str = "==================================================";

/// What a labelled line of a block holds, by its label in lower case and without the unit in brackets.
const LABELS: &[(&str, &str)] = &[
    ("successful requests", names::REQUESTS),
    ("failed requests", names::REQUESTS_FAILED),
    ("benchmark duration", names::DURATION_LOOP),
    ("total input tokens", names::TOKENS_PROMPT),
    ("total generated tokens", names::TOKENS_OUTPUT),
    ("total generated tokens (retokenized)", "tokens.output.retokenised"),
    ("request throughput", names::REQUEST_THROUGHPUT),
    ("request goodput", "request_throughput.goodput"),
    ("input token throughput", names::PROMPT_THROUGHPUT),
    ("output token throughput", names::OUTPUT_THROUGHPUT),
    ("peak output token throughput", "output_throughput.max"),
    ("total token throughput", names::TOTAL_TOKEN_THROUGHPUT),
    ("peak concurrent requests", "concurrency.max"),
    ("concurrency", "concurrency.mean"),
    ("acceptance rate", "acceptance_rate"),
    ("acceptance length", "acceptance_length"),
    ("accept length", "acceptance_length"),
];

/// The latencies of a block, by the words after the statistic.
const LATENCIES: &[(&str, &str)] = &[
    ("ttft", names::TTFT),
    ("tpot", names::TPOT),
    ("itl", names::ITL),
    ("e2el", names::E2E),
    ("e2e latency", names::E2E),
];

/// Reads one labelled line of a block: `Mean TTFT (ms):   7279.56`, or with the unit behind the number as older
/// releases write it.
pub(super) fn result(text: &str, facts: &mut Facts<'_>) -> bool {
    let Some((label, written)) = text.trim().split_once(':') else { return false };
    let label = label.trim().to_ascii_lowercase();
    let (label, unit) = match label.rsplit_once(" (") {
        Some((label, unit)) if unit != "retokenized)" => (label, unit.trim_end_matches(')')),
        _ => (label.as_str(), ""),
    };
    if asked(label, written, facts) {
        return true;
    }
    let Some(metric) = metric(label) else { return false };
    let Some((value, behind)) = number(written) else { return false };
    let unit = if unit.is_empty() { behind.trim() } else { unit };
    report(&metric, value, unit, written.trim(), facts);
    true
}

/// The canonical name for a label.
fn metric(label: &str) -> Option<String> {
    if let Some((_, name)) = LABELS.iter().find(|(known, _)| *known == label) {
        return Some((*name).to_owned());
    }
    let (statistic, latency) = label.split_once(' ')?;
    let (_, name) = LATENCIES.iter().find(|(known, _)| *known == latency)?;
    match statistic {
        "mean" => Some((*name).to_owned()),
        "median" | "std" | "min" | "max" => Some(format!("{name}.{statistic}")),
        _ => {
            let percent = statistic.strip_prefix('p')?;
            number(percent).filter(|(_, rest)| rest.is_empty())?;
            Some(format!("{name}.p{percent}"))
        }
    }
}

/// A line of a block that repeats what was asked for.
fn asked(label: &str, written: &str, facts: &mut Facts<'_>) -> bool {
    let name = match label {
        "traffic request rate" | "request rate configured" => "request_rate",
        "maximum request concurrency" | "max request concurrency" => setting::CONCURRENCY,
        "backend" => "backend",
        _ => return false,
    };
    let written = written.trim();
    match number(written) {
        Some((value, "")) => facts.observe(name, setting_number(value), "log"),
        _ if name == "request_rate" && written.starts_with("inf") => {
            facts.observe(name, Setting::Text("unlimited".to_owned()), "log");
        }
        _ if name == "backend" && !written.is_empty() => facts.observe(name, Setting::from(written), "log"),
        // `None` and `not set`: nothing was asked for.
        _ => {}
    }
    true
}

fn report(metric: &str, value: f64, unit: &str, written: &str, facts: &mut Facts<'_>) {
    let (unit, factor) = match unit {
        "" => (unit_of(metric), 1.0),
        "req/s" | "requests/s" => (Unit::PerSecond("requests".to_owned()), 1.0),
        "tok/s" | "tokens/s" => (Unit::PerSecond("tokens".to_owned()), 1.0),
        other => Unit::parse(other),
    };
    let seconds = facts.latest(names::DURATION_LOOP);
    let count = match metric {
        names::REQUEST_THROUGHPUT => facts.latest(names::REQUESTS),
        names::PROMPT_THROUGHPUT => facts.latest(names::TOKENS_PROMPT),
        names::OUTPUT_THROUGHPUT => facts.latest(names::TOKENS_OUTPUT),
        names::TOTAL_TOKEN_THROUGHPUT => facts
            .latest(names::TOKENS_PROMPT)
            .zip(facts.latest(names::TOKENS_OUTPUT))
            .map(|(prompt, output)| prompt + output),
        names::TTFT | names::TPOT | names::E2E => facts.latest(names::REQUESTS),
        _ => None,
    };
    let rate = matches!(unit, Unit::PerSecond(_));
    let timed = rate || metric == names::DURATION_LOOP;
    let written = match unit {
        Unit::Seconds if factor < 1.0 => format!("{written} ms"),
        _ => written.to_owned(),
    };
    facts.value(Value {
        unit: Some(&unit),
        scope: timed.then_some(Scope::Loop),
        count,
        seconds: seconds.filter(|_| rate),
        ..Value::reported(metric, value * factor).written(&written)
    });
}

fn unit_of(metric: &str) -> Unit {
    match metric {
        "tokens.output.retokenised" => Unit::Count("tokens".to_owned()),
        "concurrency.max" | "concurrency.mean" => Unit::Count("requests".to_owned()),
        other => names::unit(other),
    }
}

/// The block ended: the benchmark ran to its end, which is success only if a request succeeded.
pub(super) fn end_of_block(facts: &mut Facts<'_>) {
    let Some(succeeded) = facts.latest(names::REQUESTS) else { return };
    if succeeded <= 0.0 {
        return facts.failed("no request succeeded");
    }
    facts.status(Status::Succeeded);
    if let Some(failed) = facts.latest(names::REQUESTS_FAILED).filter(|_| !facts.has(names::SUCCESS)) {
        facts.value(Value::derived(names::SUCCESS, succeeded / (succeeded + failed)));
    }
}

/// Settings of `Namespace(backend='vllm', model='…', num_prompts=100, …)`.
pub(super) fn arguments(text: &str, facts: &mut Facts<'_>) -> bool {
    let Some((_, inside)) = text.split_once("Namespace(") else { return false };
    for part in inside.trim_end_matches(')').split(", ") {
        let Some((name, written)) = part.split_once('=') else { continue };
        let written = written.trim().trim_matches(['\'', '"']);
        if written.is_empty() || matches!(written, "None" | "False" | "inf") {
            continue;
        }
        if let Some(name) = argument(name.trim()) {
            facts.declare(name, setting_value(written), "command line");
        }
    }
    true
}

/// The setting behind an argument's name.
pub(super) fn argument(name: &str) -> Option<&'static str> {
    match name {
        "request_rate" => Some("request_rate"),
        "backend" => Some("backend"),
        "random_input_len" | "input_len" | "random_input" => Some("prompt_length"),
        "random_output_len" | "output_len" | "random_output" => Some("output_length"),
        // A tokenizer's name or a size in words is not a model.
        "size" | "arch" => None,
        other => setting_name(other),
    }
}
