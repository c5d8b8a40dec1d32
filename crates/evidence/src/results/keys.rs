//! What the keys of result files mean.

mod tables;

use assay_model::names;
use assay_model::{Scope, Unit};
use serde_json::{Map, Value};

use crate::vocabulary::{MetricKind, Vocabulary, words};
use crate::writeup::vocabulary::{metric_name, setting_name};
use tables::{CONFIGURATION, ELSEWHERE, METRICS, SETTINGS};

/// The program that wrote a result file. The same word has different meanings in different programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// `vllm bench serve`.
    Vllm,
    /// `sglang.bench_serving`.
    Sglang,
    /// aiperf, and genai-perf before it.
    Aiperf,
    /// guidellm.
    Guidellm,
    /// llmperf.
    Llmperf,
    /// optimum-benchmark.
    Optimum,
    /// `llama-bench -o json`.
    LlamaBench,
    /// Not known: keys are taken by their words.
    Unknown,
}

impl Tool {
    /// The tool by the keys of its result.
    pub(super) fn of(object: &Map<String, Value>, path: &str) -> Tool {
        let has = |key: &str| object.contains_key(key);
        let averaged = |key: &str| object.get(key).is_some_and(|metric| metric.get("avg").is_some());
        if has("avg_ts") {
            Tool::LlamaBench
        } else if object.keys().any(|key| key.starts_with("results_")) {
            Tool::Llmperf
        } else if averaged("time_to_first_token")
            || averaged("request_latency")
            || averaged("request_throughput")
        {
            Tool::Aiperf
        } else if path.contains("/benchmarks/") && has("metrics") {
            Tool::Guidellm
        } else if has("request_throughput") && (has("mean_e2e_latency_ms") || has("input_throughput")) {
            Tool::Sglang
        } else if has("request_throughput") && (has("mean_ttft_ms") || has("output_throughput")) {
            Tool::Vllm
        } else if object.get("report").is_some_and(Value::is_object) || has("prefill") && has("decode") {
            Tool::Optimum
        } else {
            Tool::Unknown
        }
    }

    /// The name under which its runs are listed.
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Vllm => "vllm_bench",
            Tool::Sglang => "sglang_bench",
            Tool::Aiperf => "aiperf",
            Tool::Guidellm => "guidellm",
            Tool::Llmperf => "llmperf",
            Tool::Optimum => "optimum_benchmark",
            Tool::LlamaBench => "llama_bench",
            Tool::Unknown => "json",
        }
    }
}

/// What a key holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    /// The metric's name.
    pub name: String,
    /// The base unit.
    pub unit: Unit,
    /// From the numbers of the file to the base unit.
    pub factor: f64,
    /// What it was taken over.
    pub scope: Option<Scope>,
    /// Whether a tool computed it instead of measuring.
    pub prediction: bool,
}

/// The setting that a key names.
pub(super) fn setting(key: &str, tool: Tool) -> Option<&'static str> {
    let key = normal(key);
    if let Some((_, name)) = SETTINGS.iter().find(|(known, _)| *known == key) {
        return Some(name);
    }
    match (key.as_str(), tool) {
        ("mean_input_tokens", Tool::Llmperf) => Some("prompt_length"),
        ("mean_output_tokens", Tool::Llmperf) => Some("output_length"),
        // SGLang measures under this name, and the epoch reached is not the number of epochs asked for.
        ("concurrency", Tool::Sglang) | ("epoch", _) => None,
        // These words are too common in files of unknown make.
        (
            "size" | "arch" | "users" | "labels" | "cached" | "network" | "streams" | "clients" | "questions"
            | "queries",
            _,
        ) => None,
        _ => setting_name(&key.replace('_', " ")),
    }
}

/// Whether an object of this name holds settings only.
pub(super) fn is_configuration(key: &str) -> bool {
    CONFIGURATION.contains(&normal(key).as_str())
}

/// The metric that keys name, outermost first: `["time_to_first_token", "p50"]`. `unit` is the one beside the number.
pub(super) fn metric(keys: &[&str], unit: Option<&str>, tool: Tool) -> Option<Named> {
    // A key such as `Throughput (tokens/sec)` was written for people and is read like the header of a table.
    if let Some(header) = keys.last().filter(|key| key.contains(['(', '[', '/', '%'])) {
        return worded(header, unit, None);
    }
    let mut statistic = None;
    let mut stated = None;
    let mut outer = keys.iter().rev();
    let base = loop {
        let parts = Parts::of(outer.next()?, statistic.is_some());
        statistic = statistic.or(parts.statistic);
        stated = stated.or(parts.unit);
        if !parts.base.is_empty() {
            break parts.base;
        }
    };
    let stated = stated.or(unit);
    let around = outer.next().map(|key| format!("{}_{base}", normal(key)));
    let known =
        |key: &str| METRICS.iter().find(|(known, of, _)| *known == key && of.is_none_or(|of| of == tool));
    let found = around.as_deref().and_then(known).or_else(|| known(&base));
    if let Some((_, _, name)) = found {
        return named(name, stated, statistic, tool);
    }
    if tool == Tool::LlamaBench {
        return llama_bench(&base, statistic, keys);
    }
    // A key inside an object that is not understood says too little by itself.
    worded(
        keys.last().filter(|_| statistic.is_none() || keys.len() == 1).copied().unwrap_or(&base),
        stated,
        statistic,
    )
}

/// The metric that a key of a step names: a trainer's own keys say which data a loss was taken on, so that the
/// vocabulary of logs decides over the words of result tables.
pub(super) fn step_metric(key: &str, unit: Option<&str>, tool: Tool, summary: bool) -> Option<Named> {
    let exact = METRICS.iter().any(|(known, of, _)| *known == normal(key) && of.is_none_or(|of| of == tool));
    // Next to a validation loss, `train_loss` is the loss of the epoch, not the mean of the run.
    if tool != Tool::Unknown || exact && (summary || normal(key) != "train_loss") {
        return metric(&[key], unit, tool);
    }
    let vocabulary = Vocabulary::current();
    let spoken = words(key);
    // `num_loss_tokens` counts tokens.
    let counts = spoken.first().is_some_and(|word| ["num", "n", "number", "count"].contains(&word.as_str()));
    if counts || vocabulary.counter(key).is_some() {
        return None;
    }
    let named = vocabulary.header(&key.replace('/', " ")).filter(|named| named.kind != MetricKind::Ignore)?;
    let (name, unit) = (named.name(), named.unit);
    Some(Named { name, unit, factor: named.factor, scope: None, prediction: false })
}

fn named(name: &str, stated: Option<&str>, statistic: Option<Stat>, tool: Tool) -> Option<Named> {
    let own = unit_of(name);
    let (unit, factor) = match stated {
        Some("req/s" | "requests/sec") => (Unit::PerSecond("requests".to_owned()), 1.0),
        Some("tok/s" | "tokens/s" | "tokens/sec" | "tokens/sec/user" | "tok/s/user") => {
            (Unit::PerSecond("tokens".to_owned()), 1.0)
        }
        Some(stated) => Unit::parse(stated),
        // aiperf and genai-perf write milliseconds, also where they do not say so.
        None if own == Unit::Seconds
            && tool == Tool::Aiperf
            && ["ttft", "tpot", "itl", "e2e"].iter().any(|stem| name.starts_with(stem)) =>
        {
            (Unit::Seconds, 1e-3)
        }
        None => (own.clone(), 1.0),
    };
    let fits = own == unit || own == Unit::One || unit == Unit::One || matches!(unit, Unit::Other(_));
    let full = match statistic.as_ref().and_then(Stat::suffix) {
        // Tokens of a request are means, and a peak is a peak already.
        Some(suffix) if !name.ends_with(&suffix) => format!("{name}.{suffix}"),
        _ => name.to_owned(),
    };
    let full = if full.starts_with(names::MEMORY_PEAK) { name.to_owned() } else { full };
    let scope = matches!(own, Unit::PerSecond(_)).then_some(Scope::Loop);
    let scope = scope.or_else(|| (name == names::DURATION_LOOP).then_some(Scope::Loop));
    fits.then_some(Named { name: full, unit: own, factor, scope, prediction: false })
}

/// The units of names that are not canonical.
fn unit_of(name: &str) -> Unit {
    let stem = name.split('.').next().unwrap_or(name);
    if matches!(stem, "latency" | "ttft" | "ttfo" | "tpot" | "itl" | "e2e" | "duration") {
        Unit::Seconds
    } else if matches!(
        stem,
        "tokens_per_s" | "output_throughput" | "total_token_throughput" | "prompt_throughput"
    ) {
        Unit::PerSecond("tokens".to_owned())
    } else if stem == "request_throughput" {
        Unit::PerSecond("requests".to_owned())
    } else if name.starts_with("tokens.") {
        Unit::Count("tokens".to_owned())
    } else if name.starts_with("concurrency.") {
        Unit::Count("requests".to_owned())
    } else if name.starts_with("memory.") {
        Unit::Bytes
    } else {
        names::unit(name)
    }
}

/// `avg_ts`, `stddev_ts`, `model_n_params`: what is measured stands in other keys and is added by the caller.
fn llama_bench(base: &str, statistic: Option<Stat>, keys: &[&str]) -> Option<Named> {
    let plain = |name: &str| {
        Some(Named {
            name: name.to_owned(),
            unit: unit_of(name),
            factor: 1.0,
            scope: None,
            prediction: false,
        })
    };
    match (base, keys.last().copied()?) {
        ("model_n_params", _) => plain(names::PARAMETERS),
        ("model_size", _) => plain("memory.model"),
        ("ts", _) => named("tokens_per_s.", None, statistic, Tool::LlamaBench),
        _ => None,
    }
}

/// The metric that a key's words name.
fn worded(key: &str, stated: Option<&str>, statistic: Option<Stat>) -> Option<Named> {
    let words = normal(key);
    // A bare `time` is as often a moment as a duration.
    let vague = words == "time" || words.split('_').count() > 8 || key.len() > 80;
    if vague || words.split('_').any(|word| ELSEWHERE.contains(&word)) {
        return None;
    }
    let phrase = match stated {
        Some(unit) => format!("{} ({unit})", key.replace('_', " ")),
        None => key.replace('_', " "),
    };
    // `training_accuracy` and `validation_accuracy` are two numbers.
    let named = Vocabulary::current().header(&phrase);
    if let Some(named) = named
        .filter(|named| named.split.is_some() && matches!(named.kind, MetricKind::Value | MetricKind::Share))
    {
        let (name, unit) = (named.name(), named.unit);
        let share = named.kind == MetricKind::Share && unit == Unit::One;
        let unit = if share { names::unit(&named.base) } else { unit };
        return Some(Named { name, unit, factor: named.factor, scope: None, prediction: false });
    }
    let word = metric_name(&phrase)?;
    // A duration or a rate by one vague word, without any unit, could be anything.
    let vague = matches!(word.name, names::TIMING | names::TOKENS | names::SAMPLES_PER_S | names::QUALITY)
        && !word.unit_told;
    if vague {
        return None;
    }
    let mut name = word.full_name();
    if let Some(suffix) = statistic.as_ref().and_then(Stat::suffix).filter(|_| word.statistic.is_none()) {
        name = format!("{name}.{suffix}");
    }
    Some(Named { name, unit: word.unit, factor: word.factor, scope: word.scope, prediction: word.prediction })
}

/// A statistic, as keys name it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stat {
    /// The mean, which keeps the plain name.
    Mean,
    /// Any other, by the suffix it gives.
    Other(String),
}

impl Stat {
    fn of(word: &str) -> Option<Stat> {
        Some(match word {
            "mean" | "avg" | "average" => Stat::Mean,
            "median" => Stat::Other("median".to_owned()),
            "std" | "stdev" | "stddev" => Stat::Other("std".to_owned()),
            "min" | "minimum" => Stat::Other("min".to_owned()),
            "max" | "maximum" => Stat::Other("max".to_owned()),
            other => {
                let percent = other.strip_prefix('p')?;
                let digits =
                    !percent.is_empty() && percent.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
                return (digits && percent.len() <= 5).then(|| Stat::Other(format!("p{percent}")));
            }
        })
    }

    fn suffix(&self) -> Option<String> {
        match self {
            Stat::Mean => None,
            Stat::Other(suffix) => Some(suffix.clone()),
        }
    }
}

/// A key, taken apart.
struct Parts {
    base: String,
    statistic: Option<Stat>,
    unit: Option<&'static str>,
}

impl Parts {
    /// Takes the statistic and the unit off a key. `known` shows that the statistic is known already.
    fn of(key: &str, known: bool) -> Parts {
        let key = normal(key);
        let key = key.strip_prefix("results_").unwrap_or(&key);
        let whole = |base: &str| Parts { base: base.to_owned(), statistic: None, unit: None };
        if METRICS.iter().any(|(metric, ..)| *metric == key) {
            return whole(key);
        }
        if matches!(
            key,
            "successful" | "percentiles" | "quantiles" | "statistics" | "value" | "values" | "samples"
        ) {
            return whole("");
        }
        let key = key.replace("std_dev", "stddev");
        let mut words: Vec<&str> = key.split('_').collect();
        let mut parts = whole("");
        let mut before = usize::MAX;
        while words.len() < before {
            before = words.len();
            if let Some(statistic) =
                words.last().and_then(|word| Stat::of(word)).filter(|_| !known && parts.statistic.is_none())
            {
                parts.statistic = Some(statistic);
                words.pop();
            }
            if let Some(statistic) =
                words.first().and_then(|word| Stat::of(word)).filter(|_| !known && parts.statistic.is_none())
            {
                parts.statistic = Some(statistic);
                words.remove(0);
            }
            let rate = words.len() > 1 && words.get(words.len() - 2) == Some(&"per");
            let unit = words
                .last()
                .and_then(|word| unit_word(word))
                .filter(|_| !rate && parts.unit.is_none() && words.len() > 1);
            if let Some(unit) = unit {
                parts.unit = Some(unit);
                words.pop();
            }
            if matches!(words.last(), Some(&("quantiles" | "percentile" | "percentiles" | "in"))) {
                words.pop();
            }
        }
        parts.base = words.join("_");
        parts
    }
}

fn unit_word(word: &str) -> Option<&'static str> {
    match word {
        "ms" | "msec" | "milliseconds" => Some("ms"),
        "s" | "sec" | "secs" | "seconds" => Some("s"),
        "us" | "microseconds" => Some("us"),
        "ns" => Some("ns"),
        "bytes" => Some("B"),
        "kb" => Some("KB"),
        "mb" => Some("MB"),
        "gb" => Some("GB"),
        "kib" => Some("KiB"),
        "mib" => Some("MiB"),
        "gib" => Some("GiB"),
        _ => None,
    }
}

/// A key in lower case, with single underscores between its words.
fn normal(key: &str) -> String {
    let mut found = String::with_capacity(key.len());
    for letter in key.chars() {
        if letter.is_alphanumeric() || letter == '.' || letter == '%' {
            found.extend(letter.to_lowercase());
        } else if !found.ends_with('_') && !found.is_empty() {
            found.push('_');
        }
    }
    found.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(keys: &[&str], unit: Option<&str>, tool: Tool) -> Option<(String, f64)> {
        metric(keys, unit, tool).map(|named| (named.name, named.factor))
    }

    #[test]
    fn the_same_word_means_what_its_tool_means_by_it() {
        let itl = |tool| name(&["inter_token_latency_ms", "mean"], None, tool).unwrap().0;
        assert_eq!(itl(Tool::Guidellm), "tpot");
        assert_eq!(itl(Tool::Llmperf), "latency.e2e_per_token");
        assert_eq!(itl(Tool::Unknown), "itl");
    }

    #[test]
    fn statistics_and_units_are_taken_off() {
        let found = |keys: &[&str], unit, tool| name(keys, unit, tool).unwrap();
        assert_eq!(found(&["p99_ttft_ms"], None, Tool::Vllm), ("ttft.p99".into(), 1e-3));
        assert_eq!(found(&["results_ttft_s_quantiles_p95"], None, Tool::Llmperf), ("ttft.p95".into(), 1.0));
        assert_eq!(found(&["time_to_first_token", "avg"], None, Tool::Aiperf), ("ttft".into(), 1e-3));
        assert_eq!(found(&["time_to_first_token", "p50"], Some("s"), Tool::Aiperf), ("ttft.p50".into(), 1.0));
        assert_eq!(
            found(&["metrics", "request_latency", "successful", "percentiles", "p999"], None, Tool::Guidellm)
                .0,
            "e2e.p999"
        );
        assert_eq!(
            found(&["results_mean_output_throughput_token_per_s"], None, Tool::Llmperf),
            ("output_throughput".into(), 1.0)
        );
        assert_eq!(
            found(&["prefill", "latency", "stdev"], Some("s"), Tool::Optimum),
            ("ttft.std".into(), 1.0)
        );
        assert_eq!(found(&["peak_memory_gb"], None, Tool::Unknown), ("memory.peak".into(), 1e9));
        assert_eq!(found(&["Throughput (tokens/sec)"], None, Tool::Unknown).0, "tokens_per_s.unnamed");
        for key in ["start_time", "timestamp", "port", "num_layers", "version", "throughput", "time"] {
            assert_eq!(name(&[key], None, Tool::Unknown), None, "{key}");
        }
    }

    proptest! {
        #[test]
        fn any_key_is_survived(key in "\\PC{0,60}", odd in "[a-z_0-9.]{0,30}(_ms|_p99|_mean|_s)?") {
            for tool in [Tool::Unknown, Tool::Aiperf, Tool::LlamaBench] {
                let _ = (metric(&[&key, &odd], None, tool), metric(&[&odd], Some(&key), tool), setting(&odd, tool));
            }
        }
    }
}
