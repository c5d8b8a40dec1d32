//! SGLang's serving benchmark: like that of vLLM, with other names and more of them.

use crate::kind::{Job, Kind, Values, log_options};
use crate::log::{Log, say};

use super::serving::{Latency, LoadTest};

pub(crate) const KIND: Kind = Kind {
    name: "sglang-bench",
    summary: "SGLang bench_serving: the result block with concurrency, E2E, TTFT and ITL",
    options: log_options![
        ("requests", "500", Values::Whole(1, 1 << 30), "requests of a test"),
        ("concurrency", "32", Values::Whole(1, 1 << 20), "requests under way at once"),
        ("runs", "1", Values::Whole(1, 10_000), "tests one after another"),
    ],
    compose,
};

fn compose(job: &mut Job<'_, '_>) {
    let (requests, concurrency) = (job.settings.whole("requests"), job.settings.whole("concurrency"));
    for _ in 0..job.units.unwrap_or(job.settings.whole("runs")) {
        let test = LoadTest::new(requests, concurrency, &mut job.random);
        let log = &mut *job.log;
        log.line("============ Serving Benchmark Result ============");
        word(log, "Backend:", "sglang");
        word(log, "Traffic request rate:", "inf");
        word(log, "Max request concurrency:", &concurrency.to_string());
        word(log, "Successful requests:", &test.requests.to_string());
        number(log, "Benchmark duration (s):", test.seconds);
        word(log, "Total input tokens:", &test.input.to_string());
        word(log, "Total generated tokens:", &test.output.to_string());
        word(log, "Total generated tokens (retokenized):", &(test.output - test.output / 997).to_string());
        number(log, "Request throughput (req/s):", test.per_second(test.requests));
        number(log, "Input token throughput (tok/s):", test.per_second(test.input));
        number(log, "Output token throughput (tok/s):", test.per_second(test.output));
        number(log, "Total token throughput (tok/s):", test.per_second(test.input + test.output));
        number(log, "Concurrency:", test.whole.mean / 1000.0 * test.per_second(test.requests));
        log.line("----------------End-to-End Latency----------------");
        number(log, "Mean E2E Latency (ms):", test.whole.mean);
        number(log, "Median E2E Latency (ms):", test.whole.median);
        latency(log, "---------------Time to First Token----------------", "TTFT", test.first);
        latency(log, "---------------Inter-Token Latency----------------", "ITL", test.between);
        log.line("==================================================");
    }
}

fn word(log: &mut Log<'_>, name: &str, value: &str) {
    say!(log, "{name:<40} {value:<10}");
}

fn number(log: &mut Log<'_>, name: &str, value: f64) {
    say!(log, "{name:<40} {value:<10.2}");
}

fn latency(log: &mut Log<'_>, heading: &str, name: &str, latency: Latency) {
    log.line(heading);
    number(log, &format!("Mean {name} (ms):"), latency.mean);
    number(log, &format!("Median {name} (ms):"), latency.median);
    number(log, &format!("P99 {name} (ms):"), latency.high);
}
