//! The settings of `chat`, as campaigns see them.

use assay_model::{Metric, SettingDescription, Unit, WorkloadDescription, metric, names};
use assay_workloads::describe::{choice, integer, number, switch, text};

use super::tell::METRICS;
use super::{NAME, RECORD};

/// `chat` with every setting.
pub fn description() -> WorkloadDescription {
    let groups = [
        endpoint_settings(),
        arrival_settings(),
        prompt_settings(),
        connection_settings(),
        result_settings(),
    ];
    let settings: Vec<SettingDescription> = groups.into_iter().flatten().collect();
    let assignments: Vec<String> =
        settings.iter().map(|setting| format!("{0}={{{0}}}", setting.name)).collect();
    WorkloadDescription {
        name: NAME.to_owned(),
        summary: "Load on an OpenAI-compatible endpoint, or on a calibration endpoint".to_owned(),
        settings,
        command: format!(
            "{{assay}} work {NAME} {RECORD}={{run_directory}}/load.assay {}",
            assignments.join(" ")
        ),
        headline: names::E2E.to_owned(),
    }
}

/// The metrics that are not canonical.
pub fn metrics() -> Vec<Metric> {
    let described = METRICS.iter().map(|(name, unit)| {
        let unit = Unit::parse(unit).0;
        Metric { name: (*name).to_owned(), better: metric::usual_direction(name, &unit), unit }
    });
    described.collect()
}

fn endpoint_settings() -> Vec<SettingDescription> {
    vec![
        text("endpoint", "", "What to call the endpoint in tables"),
        text(
            "url",
            "",
            "Base URL, for example https://host/v1; `$NAME` stands for the environment variable NAME",
        ),
        text(
            "mock",
            "",
            "Ask a calibration endpoint instead of a URL: options of `assay serve-mock`, for example first-token=20,gap=2",
        ),
        text("model", "", "The model's name"),
        choice("api", &["chat", "completions", "embeddings"], "chat", "What is asked"),
        switch("no_stream", "Ask for whole answers instead of streams"),
    ]
}

fn arrival_settings() -> Vec<SettingDescription> {
    vec![
        integer(
            "streams",
            1,
            1_000_000,
            1,
            "Requests in flight; each stream sends its next one when the last has ended",
        ),
        number("rate", 0.0, "Requests per second, whatever the endpoint does; 0 = by streams"),
        choice(
            "gaps",
            &["constant", "poisson", "gamma"],
            "poisson",
            "How the gaps between requests of a rate are distributed",
        ),
        number("shape", 1.0, "Shape of gamma gaps: 1 is Poisson, less is burstier"),
        number("ramp_from", 0.0, "Begin with this rate and change it steadily to `rate`; 0 = no ramp"),
        number("ramp_over", 0.0, "How long the rate changes, in seconds"),
        text("trace", "", "File with the times of requests; empty = none"),
        integer("turns", 1, 1_000_000, 1, "Turns of a conversation"),
        number("think", 0.0, "How long a user thinks between turns, in seconds"),
        integer("requests", 0, i64::MAX, 0, "Requests; 0 = ten a stream, or as many as fit"),
        number("duration", 0.0, "How long requests are sent, in seconds; 0 = by `requests`"),
        integer(
            "warm_up",
            -1,
            i64::MAX,
            -1,
            "Requests that warm up and do not count; -1 = one a stream, at most 16",
        ),
        integer("in_flight", 1, 1_000_000, 10_000, "Requests that a rate may have in flight"),
        integer("seed", 0, i64::MAX, 1, "Seed of everything random"),
    ]
}

fn prompt_settings() -> Vec<SettingDescription> {
    vec![
        text("prompts", "", "File with prompts: SQuAD, ShareGPT, JSON lines or plain text"),
        text("prompt", "", "One prompt for all requests"),
        integer("prompt_tokens", 0, 1 << 24, 0, "Tokens of made-up prompts; 0 = none are made up"),
        integer("shared_tokens", 0, 1 << 24, 0, "Tokens that made-up prompts share at the beginning"),
        integer("output_tokens", 0, 1 << 24, 0, "Most tokens of an answer; 0 = as the server likes"),
        text("tokenizer", "", "tokenizer.json or tiktoken's ranks, to count tokens with"),
    ]
}

fn connection_settings() -> Vec<SettingDescription> {
    vec![
        text("token_env", "", "Environment variable that holds the bearer token"),
        text("token_command", "", "Command that prints the bearer token"),
        number("token_lifetime", 0.0, "Get a new token after so many seconds; 0 = when one is refused"),
        text("headers", "", "More headers as a JSON object; no secrets, for settings are kept"),
        text("fields", "", "More fields of every request as a JSON object; null takes one out"),
        text("ca", "", "File with certificates to trust beside the system's"),
        text(
            "metrics_url",
            "",
            "Where the server counts its work; empty = /metrics of its host, if it answers",
        ),
        switch("new_connections", "A new connection for every request"),
        number("timeout", 600.0, "How long a request may take, in seconds"),
        number("connect_timeout", 10.0, "How long connecting may take, in seconds"),
        integer("retries", 0, 1000, 0, "Send a request again up to so many times"),
        integer("error_budget", -1, i64::MAX, -1, "Stop after so many failed requests; -1 = never"),
        integer("threads", 1, 256, 1, "Threads that send and read"),
    ]
}

fn result_settings() -> Vec<SettingDescription> {
    vec![
        number("slo_first_token", 0.0, "Bound of a good request's first token, in ms; 0 = none"),
        number("slo_per_token", 0.0, "Bound of a good request's time per token, in ms; 0 = none"),
        number("slo_end_to_end", 0.0, "Bound of a good request's time in all, in ms; 0 = none"),
        switch("keep_answers", "Keep the text of answers in the record"),
    ]
}
