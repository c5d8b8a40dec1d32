//! SGLang's serving benchmark: like that of vLLM, with other names and more of them.

use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};

use super::serving::{LoadTest, entry, latency, number};

pub(crate) const KIND: SampleKind = SampleKind {
    name: "sglang-bench",
    summary: "SGLang bench_serving: the result block with concurrency, E2E, TTFT and ITL",
    options: log_options![
        ("requests", "500", OptionValues::Whole(1, 1 << 30), "requests of a test"),
        ("concurrency", "32", OptionValues::Whole(1, 1 << 20), "requests under way at once"),
        ("runs", "1", OptionValues::Whole(1, 10_000), "tests one after another"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let (requests, concurrency) = (job.settings.whole("requests"), job.settings.whole("concurrency"));
    for _ in 0..job.units.unwrap_or(job.settings.whole("runs")) {
        let test = LoadTest::new(requests, concurrency, &mut job.random);
        let log = &mut *job.log;
        log.line("============ Serving Benchmark Result ============");
        entry(log, "Backend:", "sglang");
        entry(log, "Traffic request rate:", "inf");
        entry(log, "Max request concurrency:", concurrency);
        entry(log, "Successful requests:", test.requests);
        number(log, "Benchmark duration (s):", test.seconds);
        entry(log, "Total input tokens:", test.input);
        entry(log, "Total generated tokens:", test.output);
        entry(log, "Total generated tokens (retokenized):", test.output - test.output / 997);
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
