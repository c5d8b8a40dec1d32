//! `vllm bench serve`: one block of results a load test.

use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

use super::serving::{LoadTest, entry, latency, number};

pub(crate) const KIND: SampleKind = SampleKind {
    name: "vllm-bench",
    summary: "`vllm bench serve`: the result block with throughputs, TTFT, TPOT, ITL and E2EL",
    options: log_options![
        ("requests", "100", OptionValues::Whole(1, 1 << 30), "requests of a test"),
        ("concurrency", "8", OptionValues::Whole(1, 1 << 20), "requests under way at once"),
        ("failed", "0", OptionValues::Whole(0, 1 << 30), "requests that failed"),
        ("runs", "1", OptionValues::Whole(1, 10_000), "tests one after another"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let (requests, concurrency) = (job.settings.whole("requests"), job.settings.whole("concurrency"));
    for _ in 0..job.units.unwrap_or(job.settings.whole("runs")) {
        let test = LoadTest::new(requests, concurrency, &mut job.random);
        let log = &mut *job.log;
        log.line("Starting initial single prompt test run...");
        log.line("Initial test run completed. Starting main benchmark run...");
        say!(log, "Maximum request concurrency: {concurrency}");
        log.line("============ Serving Benchmark Result ============");
        entry(log, "Successful requests:", test.requests);
        entry(log, "Failed requests:", job.settings.whole("failed"));
        entry(log, "Maximum request concurrency:", test.concurrency);
        number(log, "Benchmark duration (s):", test.seconds);
        entry(log, "Total input tokens:", test.input);
        entry(log, "Total generated tokens:", test.output);
        number(log, "Request throughput (req/s):", test.per_second(test.requests));
        number(log, "Output token throughput (tok/s):", test.per_second(test.output));
        number(log, "Total Token throughput (tok/s):", test.per_second(test.input + test.output));
        latency(log, "---------------Time to First Token----------------", "TTFT", test.first);
        latency(log, "-----Time per Output Token (excl. 1st token)------", "TPOT", test.each);
        latency(log, "---------------Inter-token Latency----------------", "ITL", test.between);
        latency(log, "----------------End-to-end Latency----------------", "E2EL", test.whole);
        log.line("==================================================");
    }
}
