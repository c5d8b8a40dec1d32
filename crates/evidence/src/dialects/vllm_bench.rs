//! The benchmarks that come with vLLM: `vllm bench serve`, `throughput` and `latency`, and the scripts before them.

use assay_model::Scope;
use assay_model::Unit;
use assay_model::names;

use super::serving::{self, HEADING, RULE};
use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::{after, number, number_after};

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "vllm_bench",
    title: "vLLM benchmarks",
    summary: "vllm bench serve, throughput and latency, and benchmark_serving.py and its like",
    needles: &[
        HEADING,
        RULE,
        "Namespace(",
        "Traffic request rate:",
        "Request rate configured",
        "request concurrency:",
        "Backend:  ",
        "Successful requests:",
        "Failed requests:",
        "Benchmark duration",
        "Total input tokens:",
        "Total generated tokens:",
        "Request throughput",
        "Request goodput",
        "oken throughput",
        "Peak concurrent requests:",
        "TTFT",
        "TPOT",
        " ITL",
        "E2EL",
        "Acceptance rate",
        "Acceptance length",
        "requests/s, ",
        "Total num prompt tokens:",
        "Total num output tokens:",
        "Avg latency:",
        "% percentile latency:",
        "est. speed input:",
    ],
    shapes: &[
        Shape {
            text: "Namespace(backend='vllm', model='acme/tiny-chat', num_prompts=200, request_rate=4.0, seed=7)",
            reads: "declared backend, declared model, declared requests, declared request_rate, declared seed",
        },
        Shape {
            text: "Traffic request rate: inf\nMaximum request concurrency: 32",
            reads: "setting request_rate, setting concurrency",
        },
        Shape {
            text: "============ Serving Benchmark Result ============\n\
                   Successful requests:                     95        \n\
                   Failed requests:                         5         \n\
                   Maximum request concurrency:             16        \n\
                   Benchmark duration (s):                  40.00     \n\
                   Total input tokens:                      19000     \n\
                   Total generated tokens:                  12160     \n\
                   Request throughput (req/s):              2.38      \n\
                   Output token throughput (tok/s):         304.00    \n\
                   Peak output token throughput (tok/s):    512.00    \n\
                   Peak concurrent requests:                18.00     \n\
                   Total Token throughput (tok/s):          779.00    \n\
                   ---------------Time to First Token----------------\n\
                   Mean TTFT (ms):                          120.10    \n\
                   Median TTFT (ms):                        98.40     \n\
                   P99 TTFT (ms):                           403.20    \n\
                   ==================================================",
            reads: "requests, requests.failed, setting concurrency, duration.loop, tokens.prompt, tokens.output, \
                    request_throughput, output_throughput, output_throughput.max, concurrency.max, total_token_throughput, \
                    ttft, ttft.median, ttft.p99, status succeeded, success",
        },
        Shape {
            text: "Mean TPOT (ms):                          27.91\nMean ITL (ms):    26.5\nP90 E2EL (ms):       3601.20",
            reads: "tpot, itl, e2e.p90",
        },
        Shape {
            text: "Request throughput:    1.53 req/s\nMean TTFT:    120.10 ms",
            reads: "request_throughput, ttft",
        },
        Shape {
            text: "Throughput: 7.15 requests/s, 4656.00 total tokens/s, 1072.15 output tokens/s\n\
                   Total num prompt tokens:  42659\nTotal num output tokens:  12821",
            reads: "request_throughput, total_token_throughput, output_throughput, tokens.prompt, tokens.output",
        },
        Shape {
            text: "Avg latency: 0.532 seconds\n99% percentile latency: 0.561 seconds",
            reads: "e2e, e2e.p99",
        },
        Shape {
            text: "Processed prompts: 100%|██████| 4/4 [00:00<00:00,  6.71it/s, est. speed input: 43.59 toks/s, output: 107.40 toks/s]",
            reads: "prompt_throughput, output_throughput",
        },
    ],
    derived: &["Share of requests that succeeded, where failed ones are counted."],
    notes: &[
        "A block of results ends a run; the next traffic line or the next block begins another.",
        "Rates are over the whole benchmark, with ramp-up and drain; each keeps its count and the duration.",
        "TTFT here runs to the first chunk with choices, even an empty one, and from after the wait for a free slot.",
        "`Throughput: … tokens/s` of older releases is prompt and output tokens together.",
        "A benchmark in which no request succeeded has failed, whatever it prints.",
    ],
    reader: || Box::<VllmBenchReader>::default(),
};

#[derive(Default)]
struct VllmBenchReader {
    /// Whether a heading was the last that was seen of a block.
    headed: bool,
    /// Whether the block is that of another benchmark.
    foreign: bool,
}

impl DialectReader for VllmBenchReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text.trim();
        if text.contains(HEADING) {
            begin_after_results(facts);
            *self = VllmBenchReader { headed: true, foreign: false };
            return Taken::Whole;
        }
        if std::mem::take(&mut self.headed) && text.starts_with("Backend:") {
            self.foreign = true;
        }
        if text.starts_with(RULE) {
            self.foreign = false;
        }
        if self.foreign {
            return Taken::Nothing;
        }
        if text.starts_with(RULE) {
            if facts.has(names::REQUEST_THROUGHPUT) {
                serving::end_of_block(facts);
                return Taken::Part;
            }
            return Taken::Nothing;
        }
        if text.starts_with("Traffic request rate:") {
            begin_after_results(facts);
        }
        if arguments(text, facts) || offline(text, facts) {
            return Taken::Part;
        }
        let result = !text.starts_with("Backend:") && serving::result(text, facts);
        if result { Taken::Whole } else { Taken::Nothing }
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = VllmBenchReader::default();
    }
}

/// Results end a run: whatever begins after them is the next one.
fn begin_after_results(facts: &mut Facts<'_>) {
    if facts.has(names::REQUEST_THROUGHPUT) || facts.has(names::TTFT) {
        facts.begin();
    }
}

fn arguments(text: &str, facts: &mut Facts<'_>) -> bool {
    let ours = text.contains("num_prompts=") && !text.contains("backend='sglang")
        || text.contains("num_iters_warmup=");
    ours && {
        begin_after_results(facts);
        serving::arguments(text, facts)
    }
}

/// Benchmarks without a server.
fn offline(text: &str, facts: &mut Facts<'_>) -> bool {
    let tokens = Unit::PerSecond("tokens".to_owned());
    let rate =
        |metric, value| Value { unit: Some(&tokens), ..Value::reported(metric, value).over(Scope::Loop) };
    if let Some(rest) = text.strip_prefix("Throughput:") {
        let Some((requests, rest)) = number(rest).filter(|(_, rest)| rest.starts_with(" requests/s, "))
        else {
            return false;
        };
        begin_after_results(facts);
        facts.value(Value::reported(names::REQUEST_THROUGHPUT, requests).over(Scope::Loop));
        for part in rest.split(", ") {
            let Some((value, unit)) = number(part) else { continue };
            match unit.trim() {
                "total tokens/s" | "tokens/s" => facts.value(rate(names::TOTAL_TOKEN_THROUGHPUT, value)),
                "output tokens/s" => facts.value(rate(names::OUTPUT_THROUGHPUT, value)),
                _ => {}
            }
        }
    } else if let Some(rest) = after(text, "est. speed input:") {
        let Some((prompt, rest)) = number(rest) else { return false };
        facts.value(rate(names::PROMPT_THROUGHPUT, prompt));
        if let Some(output) = number_after(rest, "output:") {
            facts.value(rate(names::OUTPUT_THROUGHPUT, output));
        }
    } else if let Some(count) = number_after(text, "Total num prompt tokens:") {
        facts.report(names::TOKENS_PROMPT, count);
    } else if let Some(count) = number_after(text, "Total num output tokens:") {
        facts.report(names::TOKENS_OUTPUT, count);
    } else {
        return latency(text, facts);
    }
    true
}

/// `vllm bench latency`: seconds of a whole batch.
fn latency(text: &str, facts: &mut Facts<'_>) -> bool {
    if let Some(rest) = text.strip_prefix("Avg latency:") {
        let Some((seconds, unit)) = number(rest) else { return false };
        if !unit.trim().starts_with('s') {
            return false;
        }
        facts.value(Value::reported(names::E2E, seconds).written(rest.trim()));
        return true;
    }
    let Some((percent, rest)) = text.split_once("% percentile latency:") else { return false };
    let Some((seconds, _)) = number(rest) else { return false };
    if percent.is_empty() || !percent.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let metric = format!("{}.p{percent}", names::E2E);
    facts.value(Value { unit: Some(&Unit::Seconds), ..Value::reported(&metric, seconds) });
    true
}

#[cfg(test)]
mod tests {
    use crate::{DocumentReader, Readers};
    use assay_model::{ReadRun, Status};

    fn read(text: &str) -> Vec<ReadRun> {
        let mut reader = DocumentReader::new(&Readers::all(&[]), "bench.log");
        reader.feed(text.as_bytes());
        reader.finish().runs
    }

    fn block(requests: u32) -> String {
        format!(
            "============ Serving Benchmark Result ============\nSuccessful requests:  {requests}\nBenchmark duration (s): 10.0\n\
             Total generated tokens: 1,200\nRequest throughput (req/s):   1.0\nOutput token throughput (tok/s):  120.0\n\
             Mean TTFT (ms):  nan\nP99 TTFT (ms):  --\n==================================================\n"
        )
    }

    #[test]
    fn every_block_is_a_run_with_its_bar_before_it() {
        let bar = "Maximum request concurrency: 8\n100%|████| 10/10 [00:10<00:00,  1.00it/s]\n";
        let runs = read(&format!("{bar}{}{bar}{}", block(10), block(20)));
        assert_eq!(runs.len(), 2, "{runs:#?}");
        for (run, requests) in runs.iter().zip([10.0, 20.0]) {
            let value = |metric: &str| run.observations.iter().find(|o| o.metric == metric).map(|o| o.value);
            assert_eq!(value("requests"), Some(requests));
            assert_eq!(value("tokens.output"), Some(1200.0));
            assert_eq!(value("ttft"), None);
            assert_eq!(run.status, Status::Succeeded);
            let rate = run.observations.iter().find(|o| o.metric == "output_throughput").unwrap();
            assert_eq!((rate.count, rate.seconds), (Some(1200.0), Some(10.0)));
            assert_eq!(run.dialects[0], "vllm_bench");
        }
    }

    #[test]
    fn a_benchmark_without_any_success_failed() {
        assert_eq!(read(&block(0))[0].status.word(), "failed");
    }
}
