//! The log of a vLLM server: start-up, then a line every ten seconds while it serves. Its clock has no year.

use crate::calendar::Clock;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "vllm-server",
    summary: "a vLLM server: engine start-up with its seconds, then throughput lines",
    options: log_options![
        ("lines", "20", OptionValues::Whole(1, 1 << 32), "throughput lines"),
        ("rate", "250.1", OptionValues::Number(0.0, 1e9), "generated tokens per second"),
        ("tensor-parallel", "1", OptionValues::Whole(1, 1024), "devices that share the model"),
        ("compile-s", "31.8", OptionValues::Number(0.0, 1e6), "seconds of compilation within the start-up"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let mut clock = Clock::some(&mut job.random);
    let compile = settings.number("compile-s");
    let whole = compile + job.random.between(18.0, 24.0);
    head(job, clock, "api_server.py:1234", "vLLM API server version 0.9.1");
    let parallel = settings.whole("tensor-parallel");
    head(
        job,
        clock,
        "core.py:70",
        &format!(
            "Initializing a V1 LLM engine with config: model='sample/sample-8b', tensor_parallel_size={parallel}"
        ),
    );
    clock.pass(whole);
    head(
        job,
        clock,
        "core.py:171",
        &format!(
            "init engine (profile, create kv cache, warmup model) took {whole:.2} seconds (compilation: {compile:.2} s)"
        ),
    );
    for _ in 0..job.units.unwrap_or(settings.whole("lines")) {
        clock.pass(10.0);
        let generated = settings.number("rate") * (1.0 + 0.05 * job.random.bounded_normal());
        let running = job.random.whole(4, 9);
        let text = format!(
            "Engine 000: Avg prompt throughput: {:.1} tokens/s, Avg generation throughput: {generated:.1} tokens/s, \
             Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: {:.1}%, Prefix cache hit rate: 0.0%",
            generated * 1.05,
            running as f64 * 0.16
        );
        head(job, clock, "loggers.py:116", &text);
    }
}

fn head(job: &mut SampleJob<'_, '_>, clock: Clock, place: &str, text: &str) {
    let moment = clock.moment();
    say!(
        job.log,
        "INFO {:02}-{:02} {:02}:{:02}:{:02} [{place}] {text}",
        moment.month,
        moment.day,
        moment.hour,
        moment.minute,
        moment.second
    );
}
