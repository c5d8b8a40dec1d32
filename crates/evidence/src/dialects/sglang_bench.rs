//! `python -m sglang.bench_serving` and the offline benchmarks of SGLang.

use assay_model::names::{self, setting};
use assay_model::{Scope, Unit};

use super::serving::{self, HEADING, RULE};
use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, setting_number};
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "sglang_bench",
    title: "SGLang benchmarks",
    summary: "sglang.bench_serving, bench_offline_throughput, bench_one_batch",
    needles: &[
        HEADING,
        "Offline Throughput Benchmark Result",
        RULE,
        "Namespace(",
        "Backend:  ",
        "Traffic request rate:  ",
        "Max request concurrency:",
        "Successful requests:",
        "Benchmark duration (s):",
        "Total input tokens:",
        "Total generated tokens",
        "throughput (req/s):",
        "throughput (tok/s):",
        "Concurrency:  ",
        "Accept length:",
        "E2E Latency (ms):",
        "TTFT (ms):",
        "TPOT (ms):",
        "ITL (ms):",
        "Prefill. latency:",
        "Decode.  median latency:",
    ],
    shapes: &[
        Shape {
            text: "benchmark_args=Namespace(backend='sglang', model='acme/tiny-chat', num_prompts=64, request_rate=2.0)",
            reads: "declared backend, declared model, declared requests, declared request_rate",
        },
        Shape {
            text: "============ Serving Benchmark Result ============\n\
                   Backend:                                 sglang    \n\
                   Traffic request rate:                    32.0      \n\
                   Max request concurrency:                 not set   \n\
                   Successful requests:                     64        \n\
                   Benchmark duration (s):                  21.50     \n\
                   Total input tokens:                      18436     \n\
                   Total generated tokens:                  15703     \n\
                   Total generated tokens (retokenized):    15623     \n\
                   Request throughput (req/s):              2.98      \n\
                   Input token throughput (tok/s):          857.49    \n\
                   Output token throughput (tok/s):         730.37    \n\
                   Total token throughput (tok/s):          1587.86   \n\
                   Concurrency:                             14.18     \n\
                   ----------------End-to-End Latency----------------\n\
                   Mean E2E Latency (ms):                   1578.42   \n\
                   Mean TTFT (ms):                          112.04    \n\
                   P95 ITL (ms):                            30.10     \n\
                   ==================================================",
            reads: "setting backend, setting request_rate, requests, duration.loop, tokens.prompt, tokens.output, \
                    tokens.output.retokenised, request_throughput, prompt_throughput, output_throughput, \
                    total_token_throughput, concurrency.mean, e2e, ttft, itl.p95, status succeeded",
        },
        Shape {
            text: "Prefill. latency: 0.05120 s, throughput:  20000.00 token/s\n\
                   Decode.  median latency: 0.00802 s, median throughput:    124.69 token/s",
            reads: "ttft, prompt_throughput, tpot.median, output_throughput.median",
        },
    ],
    derived: &["Share of requests that succeeded, where failed ones are counted."],
    notes: &[
        "The block is distinguished from vLLM's by its first line, which names the backend.",
        "`Concurrency` is the mean number of requests in flight, computed by the tool; what was asked for is a setting.",
        "`retokenized` counts the answer's text again; it differs from the server's count where tokens were split.",
    ],
    reader: || Box::<SglangBenchReader>::default(),
};

#[derive(Default)]
struct SglangBenchReader {
    headed: bool,
    ours: bool,
}

impl DialectReader for SglangBenchReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text.trim();
        if text.contains(HEADING) || text.contains("Offline Throughput Benchmark Result") {
            *self = SglangBenchReader { headed: true, ours: false };
            return Taken::Nothing;
        }
        if std::mem::take(&mut self.headed) && text.starts_with("Backend:") {
            self.ours = true;
            if facts.has(names::REQUEST_THROUGHPUT) {
                facts.begin();
            }
        }
        if text.contains("Namespace(") {
            let taken = text.contains("backend='sglang") && serving::arguments(text, facts);
            return if taken { Taken::Part } else { Taken::Nothing };
        }
        if text.starts_with("Prefill.") || text.starts_with("Decode.") {
            return if one_batch(text, facts) { Taken::Part } else { Taken::Nothing };
        }
        if !std::mem::replace(&mut self.ours, false) {
            return Taken::Nothing;
        }
        if text.starts_with(RULE) {
            serving::end_of_block(facts);
            return Taken::Whole;
        }
        self.ours = true;
        if serving::result(text, facts) { Taken::Whole } else { Taken::Nothing }
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = SglangBenchReader::default();
    }
}

/// `Prefill. latency: 0.05 s, throughput: 20000.00 token/s` of the benchmark of one batch.
fn one_batch(text: &str, facts: &mut Facts<'_>) -> bool {
    let Some((seconds, rest)) = after(text, "latency:").and_then(number) else { return false };
    let Some(rate) = number_after(rest, "throughput:") else { return false };
    let tokens = Unit::PerSecond("tokens".to_owned());
    let (latency, throughput) = if text.starts_with("Prefill.") {
        (names::TTFT, names::PROMPT_THROUGHPUT)
    } else if text.contains("median") {
        ("tpot.median", "output_throughput.median")
    } else {
        (names::TPOT, names::OUTPUT_THROUGHPUT)
    };
    facts.value(Value { unit: Some(&Unit::Seconds), ..Value::reported(latency, seconds) });
    facts.value(Value { unit: Some(&tokens), ..Value::reported(throughput, rate).over(Scope::Loop) });
    if let Some(batch) = number_after(text, "batch_size=") {
        facts.observe(setting::BATCH_SIZE, setting_number(batch), "log");
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};

    #[test]
    fn blocks_of_two_benchmarks_in_one_file_keep_to_themselves() {
        let rule = "==================================================";
        let heading = "============ Serving Benchmark Result ============";
        let text = format!(
            "{heading}\nBackend:                                 sglang\nSuccessful requests:  5\nRequest throughput (req/s): 1.5\n{rule}\n\
             {heading}\nSuccessful requests:  7\nRequest throughput (req/s): 2.5\n{rule}\n"
        );
        let mut reader = DocumentReader::new(&Readers::all(&[]), "both.log");
        reader.feed(text.as_bytes());
        let runs = reader.finish().runs;
        let found: Vec<(&str, f64)> = runs
            .iter()
            .map(|run| {
                (
                    run.dialects[0].as_str(),
                    run.observations.iter().find(|o| o.metric == "requests").unwrap().value,
                )
            })
            .collect();
        assert_eq!(found, [("sglang_bench", 5.0), ("vllm_bench", 7.0)]);
    }
}
