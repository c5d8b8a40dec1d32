//! The timings that llama.cpp prints when it ends.

use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "llama-cpp",
    summary: "llama.cpp: load, prompt eval, eval and total time lines",
    options: log_options![
        ("prompt", "12", OptionValues::Whole(1, 1 << 30), "tokens of the prompt"),
        ("output", "100", OptionValues::Whole(1, 1 << 30), "tokens generated"),
        ("rate", "81", OptionValues::Number(0.001, 1e9), "generated tokens per second"),
        ("older", "false", crate::kind::FLAG, "the prefix of older versions"),
        ("runs", "1", OptionValues::Whole(1, 10_000), "runs one after another"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let prefix = if settings.flag("older") { "llama_print_timings:" } else { "llama_perf_context_print:" };
    let (prompt, output) = (settings.whole("prompt"), settings.whole("output"));
    for _ in 0..job.units.unwrap_or(settings.whole("runs")) {
        let load = 1200.0 * (1.0 + 0.05 * job.random.bounded_normal());
        let each = 1000.0 / (settings.number("rate") * (1.0 + 0.01 * job.random.bounded_normal()));
        let (reading, writing) = (each * 0.83 * prompt as f64, each * output as f64);
        let per = |milliseconds: f64, tokens: u64| {
            (milliseconds / tokens as f64, tokens as f64 * 1000.0 / milliseconds)
        };
        let log = &mut *job.log;
        log.line("sample answer text without meaning");
        log.line("");
        say!(log, "{prefix}        load time = {load:10.2} ms");
        let (one, rate) = per(reading, prompt);
        say!(
            log,
            "{prefix} prompt eval time = {reading:10.2} ms / {prompt:5} tokens ({one:8.2} ms per token, {rate:8.2} \
             tokens per second)"
        );
        let (one, rate) = per(writing, output);
        say!(
            log,
            "{prefix}        eval time = {writing:10.2} ms / {output:5} runs   ({one:8.2} ms per token, {rate:8.2} \
             tokens per second)"
        );
        let total = reading + writing + 4.0;
        say!(log, "{prefix}       total time = {total:10.2} ms / {:5} tokens", prompt + output);
    }
}
