//! The `usage` block that an endpoint sends with each answer, as client logs show it.

use assay_model::Unit;
use assay_model::names;

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::number;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "usage",
    title: "Endpoint usage",
    summary: "token counts that an endpoint reports with each answer, with the latency on the same line",
    needles: &[
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "reasoning_tokens",
        "input_tokens",
        "output_tokens",
    ],
    shapes: &[
        Shape {
            text: "{\"usage\": {\"prompt_tokens\": 24, \"completion_tokens\": 100, \"total_tokens\": 124, \
                   \"completion_tokens_details\": {\"reasoning_tokens\": 60}}, \"latency\": 2.5}",
            reads: "tokens.prompt, tokens.output, tokens.total, tokens.reasoning, e2e, output_throughput",
        },
        Shape {
            text: "2025-05-01 10:00:00 INFO usage={'prompt_tokens': 24, 'completion_tokens': 100, 'total_tokens': 124} latency_ms=2500",
            reads: "tokens.prompt, tokens.output, tokens.total, e2e, output_throughput",
        },
        Shape {
            text: "CompletionUsage(completion_tokens=100, prompt_tokens=24, total_tokens=124)",
            reads: "tokens.prompt, tokens.output, tokens.total",
        },
        Shape {
            text: "'usage': {'completion_tokens': 100, 'completion_tokens_per_sec': 203.98, 'prompt_tokens': 24, \
                   'time_to_first_token': 0.12, 'total_latency': 0.61, 'total_tokens': 124, 'total_tokens_per_sec': 252.9}",
            reads: "tokens.output, output_throughput, tokens.prompt, ttft, e2e, tokens.total, \
                    total_token_throughput",
        },
        Shape {
            text: "\"usage\": {\"input_tokens\": 24, \"output_tokens\": 100}",
            reads: "tokens.prompt, tokens.output",
        },
    ],
    derived: &["Output tokens per second of a request: completion tokens over the latency on the same line."],
    notes: &[
        "Completion tokens include reasoning tokens; the answer that people see is shorter.",
        "`total_tokens` is prompt and output together: a rate over it is not a speed of generation.",
        "Each line is one request; values of several requests are series.",
        "A latency without a unit is in seconds.",
    ],
    reader: || Box::<UsageReader>::default(),
};

/// Keys, what they hold, and the factor to the base unit.
const KEYS: &[(&str, &str, f64)] = &[
    ("prompt_tokens", names::TOKENS_PROMPT, 1.0),
    ("completion_tokens", names::TOKENS_OUTPUT, 1.0),
    ("total_tokens", names::TOKENS_TOTAL, 1.0),
    ("reasoning_tokens", names::TOKENS_REASONING, 1.0),
    ("cached_tokens", "tokens.cached", 1.0),
    ("completion_tokens_per_sec", names::OUTPUT_THROUGHPUT, 1.0),
    ("total_tokens_per_sec", names::TOTAL_TOKEN_THROUGHPUT, 1.0),
    ("time_to_first_token", names::TTFT, 1.0),
    ("time_to_first_token_ms", names::TTFT, 1e-3),
    ("ttft", names::TTFT, 1.0),
    ("ttft_s", names::TTFT, 1.0),
    ("ttft_ms", names::TTFT, 1e-3),
    ("queue_time", names::DURATION_QUEUE, 1.0),
    ("total_latency", names::E2E, 1.0),
    ("total_time", names::E2E, 1.0),
    ("latency", names::E2E, 1.0),
    ("latency_s", names::E2E, 1.0),
    ("latency_seconds", names::E2E, 1.0),
    ("latency_ms", names::E2E, 1e-3),
    ("elapsed", names::E2E, 1.0),
    ("elapsed_s", names::E2E, 1.0),
    ("elapsed_ms", names::E2E, 1e-3),
    ("response_time", names::E2E, 1.0),
    ("response_time_ms", names::E2E, 1e-3),
    ("duration", names::E2E, 1.0),
    ("duration_ms", names::E2E, 1e-3),
];

/// Keys that count tokens only inside a usage block.
const INSIDE: &[(&str, &str, f64)] =
    &[("input_tokens", names::TOKENS_PROMPT, 1.0), ("output_tokens", names::TOKENS_OUTPUT, 1.0)];

#[derive(Default)]
struct UsageReader;

impl DialectReader for UsageReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let found = values(line.text);
        let counts_tokens = |metric: &str| metric.starts_with("tokens.");
        // Other programs count a total, too: the tokens of a training step.
        let is_usage = |metric: &str| {
            counts_tokens(metric) && (metric != names::TOKENS_TOTAL || line.text.contains("usage"))
        };
        if !found.iter().any(|(metric, _)| is_usage(metric)) {
            return Taken::Nothing;
        }
        for (metric, value) in &found {
            let tokens = Unit::Count("tokens".to_owned());
            let unit = counts_tokens(metric).then_some(&tokens);
            facts.value(Value { unit, ..Value::reported(metric, *value) });
        }
        let value =
            |wanted: &str| found.iter().find(|(metric, _)| *metric == wanted).map(|(_, value)| *value);
        let latency = value(names::E2E).filter(|latency| *latency > 0.0);
        if let (Some(tokens), Some(seconds), None) =
            (value(names::TOKENS_OUTPUT), latency, value(names::OUTPUT_THROUGHPUT))
        {
            facts.value(Value::derived(names::OUTPUT_THROUGHPUT, tokens / seconds).counted(tokens, seconds));
        }
        Taken::Part
    }
}

/// The known keys of a line with their values in base units, each key once.
fn values(text: &str) -> Vec<(&'static str, f64)> {
    let usage = memchr::memmem::find(text.as_bytes(), b"sage").is_some();
    let mut found: Vec<(&'static str, f64)> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic()) {
        let word = rest.get(start..).unwrap_or_default();
        let end = word
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(word.len());
        let (key, behind) = word.split_at(end);
        rest = behind;
        let known = KEYS.iter().chain(INSIDE.iter().filter(|_| usage)).find(|(known, ..)| *known == key);
        let Some((_, metric, factor)) = known else { continue };
        let Some(value) = assigned(behind, *factor) else { continue };
        if !found.iter().any(|(known, _)| known == metric) {
            found.push((metric, value));
        }
    }
    found
}

/// The number assigned to a key: `": 12`, `=12`, `: 12.5 ms`.
fn assigned(behind: &str, factor: f64) -> Option<f64> {
    let behind = behind.trim_start_matches(['"', '\'']).trim_start();
    let (value, unit) =
        number(behind.strip_prefix([':', '='])?.trim_start().trim_start_matches(['"', '\'']))?;
    let stated = unit
        .trim_start()
        .strip_prefix("ms")
        .is_some_and(|next| !next.starts_with(|letter: char| letter.is_ascii_alphanumeric()));
    (value >= 0.0).then_some(value * if stated { 1e-3 } else { factor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_and_missing_values() {
        assert_eq!(
            values("prompt_tokens: 5, latency: 250 ms"),
            [(names::TOKENS_PROMPT, 5.0), (names::E2E, 0.25)]
        );
        assert_eq!(values("\"completion_tokens\": null, \"total_tokens\": nan"), []);
        assert_eq!(values("max_completion_tokens=512 the prompt_tokens are many"), []);
        assert_eq!(values("usage: {'output_tokens': '1,024'}"), [(names::TOKENS_OUTPUT, 1024.0)]);
        assert_eq!(values("input_tokens=7"), []);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,40}(latency|prompt_tokens)[\"':= ]{0,3}\\PC{0,20}") {
            prop_assert!(values(&text).iter().all(|(_, value)| value.is_finite()));
        }
    }
}
