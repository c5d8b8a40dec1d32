//! Answers of an endpoint, one JSON object a line, each with its usage block.

use crate::calendar::Clock;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "usage",
    summary: "JSON lines of chat completions with usage blocks, some with reasoning tokens and server timings",
    options: log_options![
        ("requests", "10", OptionValues::Whole(1, 1 << 32), "answers"),
        ("model", "metis", OptionValues::Words(&["metis", "sophia"]), "which name the model has there"),
        ("prompt", "245", OptionValues::Whole(1, 1 << 20), "tokens of a prompt, about"),
        ("output", "80", OptionValues::Whole(1, 1 << 20), "tokens of an answer, about, reasoning included"),
        ("reasoning", "true", FLAG, "how many of the tokens were reasoning"),
        ("timings", "true", FLAG, "the server's own timings"),
        ("failed", "0", OptionValues::Whole(0, 1 << 30), "requests that get an error, after the others"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let settings = job.settings;
    let model = match settings.word("model") {
        "sophia" => "openai/gpt-oss-120b",
        _ => "gpt-oss-120b",
    };
    let clock = Clock::some(&mut job.random);
    let mut passed = 0.0;
    for number in 0..job.units.unwrap_or(settings.whole("requests")) {
        let prompt = settings.whole("prompt") + job.random.below(12);
        let output = settings.whole("output") + job.random.below(20);
        let first = job.random.between(0.2, 0.4);
        let seconds = first + output as f64 / job.random.between(45.0, 55.0);
        passed += seconds;
        let created = clock.after(passed).millis() / 1000;
        job.log.add(format_args!(
            "{{\"id\": \"chatcmpl-sample{number:06}\", \"object\": \"chat.completion\", \"created\": {created}, \
             \"model\": \"{model}\", \"choices\": [{{\"index\": 0, \"message\": {{\"role\": \"assistant\", \"content\": \
             \"A sample answer of no meaning.\"}}, \"finish_reason\": \"stop\"}}], \"usage\": {{\"prompt_tokens\": \
             {prompt}, \"completion_tokens\": {output}, \"total_tokens\": {}",
            prompt + output
        ));
        if settings.flag("reasoning") {
            job.log
                .text(", \"completion_tokens_details\": {\"reasoning_tokens\": ")
                .whole(output * 3 / 5)
                .text("}");
        }
        if settings.flag("timings") {
            job.log.add(format_args!(
                ", \"time_to_first_token\": {first:.6}, \"total_latency\": {seconds:.6}, \
                 \"completion_tokens_per_sec\": {:.4}",
                output as f64 / seconds
            ));
        }
        job.log.text("}}").end();
    }
    for number in 0..settings.whole("failed") {
        say!(
            job.log,
            "{{\"error\": {{\"message\": \"sample model is not loaded\", \"type\": \"not_found\", \"code\": 404}}, \
             \"request\": {number}}}"
        );
    }
}
