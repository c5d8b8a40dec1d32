//! The settings of `chat`: the one description from which flags of `assay load`, checks and documentation come.

use assay_model::{Metric, SettingDescription, SettingKind, Unit, WorkloadDescription, metric, names};
use assay_workloads::describe::{choice, duration, integer, optional, switch};

use super::emit::METRICS;
use super::{NAME, RECORD, REPEAT};

/// The largest count of tokens or bytes that is accepted.
const MOST: i64 = 1 << 40;

/// `chat` with every setting.
pub fn description() -> WorkloadDescription {
    let settings: Vec<SettingDescription> = groups().into_iter().flat_map(|(_, settings)| settings).collect();
    let assignments: Vec<String> =
        settings.iter().map(|setting| format!("{0}={{{0}}}", setting.name)).collect();
    WorkloadDescription {
        name: NAME.to_owned(),
        summary: "Load an OpenAI-compatible endpoint, or the built-in mock endpoint".to_owned(),
        settings,
        command: format!(
            "{{assay}} work {NAME} {RECORD}={{run_directory}} {REPEAT}={{repeat}} {}",
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

/// All settings under the headings of `--help`.
pub fn groups() -> [(&'static str, Vec<SettingDescription>); 5] {
    [
        ("Endpoint", endpoint()),
        ("Arrivals", arrivals()),
        ("Prompts", prompts()),
        ("Connections", connections()),
        ("Results", results()),
    ]
}

fn count(name: &str, summary: &str) -> SettingDescription {
    optional(name, SettingKind::Integer { min: 0, max: MOST }, summary)
}

fn positive(name: &str, summary: &str) -> SettingDescription {
    optional(name, SettingKind::Integer { min: 1, max: MOST }, summary)
}

fn number(name: &str, summary: &str) -> SettingDescription {
    optional(name, SettingKind::Number, summary)
}

fn time(name: &str, summary: &str) -> SettingDescription {
    optional(name, SettingKind::Duration, summary)
}

fn words(name: &str, summary: &str) -> SettingDescription {
    optional(name, SettingKind::Text, summary)
}

fn endpoint() -> Vec<SettingDescription> {
    vec![
        words("endpoint", "Name of the endpoint in tables"),
        words("url", "Base URL, for example https://host/v1; `$NAME` is the environment variable NAME"),
        words(
            "mock",
            "Load a mock endpoint instead of a URL; takes the settings of `assay serve-mock`, e.g. ttft=20ms,itl=2ms",
        ),
        words("model", "Model name"),
        choice("api", &["chat", "completions", "embeddings"], "chat", "API of the endpoint"),
        switch("no_stream", "Request responses without streaming"),
    ]
}

fn arrivals() -> Vec<SettingDescription> {
    vec![
        optional(
            "streams",
            SettingKind::Integer { min: 1, max: 1_000_000 },
            "Closed loop: number of concurrent requests; a stream sends its next request when the previous one ends [default: 1, unless a rate or trace is given]",
        ),
        number("rate", "Open loop: requests per second, independent of response times"),
        optional(
            "gaps",
            SettingKind::Choice(["constant", "poisson", "gamma"].map(str::to_owned).to_vec()),
            "Distribution of inter-arrival times at a rate [default: poisson]",
        ),
        number("shape", "Shape of gamma inter-arrival times: 1 is Poisson, below 1 is burstier"),
        number("ramp_from", "Start at this rate and ramp linearly to `rate`"),
        time("ramp_over", "Duration of the ramp"),
        words("trace", "Replay arrivals from a trace: JSON lines or CSV with timestamps"),
        integer(
            "turns",
            1,
            1_000_000,
            1,
            "Turns per conversation; each stream or arrival is then a conversation",
        ),
        time("think", "Think time between turns"),
        positive(
            "requests",
            "Number of requests after warm-up, or of conversations with `turns` [default: 10 per stream, or 30 s at a rate]",
        ),
        time("duration", "Send requests for this long"),
        positive("min_requests", "Minimum number of requests at a rate, even if that exceeds `duration`"),
        count("warm_up", "Warm-up requests, excluded from results [default: one per stream, at most 16]"),
        integer(
            "in_flight",
            1,
            1_000_000,
            10_000,
            "Maximum concurrent requests of a rate or trace; further requests wait",
        ),
        integer("seed", 0, i64::MAX, 1, "Random seed for arrivals and prompts; every repeat derives its own"),
    ]
}

fn prompts() -> Vec<SettingDescription> {
    vec![
        words("prompts", "Prompts from a file: SQuAD, ShareGPT, JSON lines or plain text"),
        words("prompt", "Use this prompt for every request; note that prefix caches will hit"),
        positive(
            "prompt_tokens",
            "Length of synthetic prompts in tokens, exact with `tokenizer` [default: 128, unless prompts are given]",
        ),
        count("shared_tokens", "Length of a prefix that all synthetic prompts share, in tokens"),
        positive("output_tokens", "Maximum output tokens per request [default: 128 for synthetic prompts]"),
        words("tokenizer", "Tokenizer to count tokens with: tokenizer.json or tiktoken ranks"),
    ]
}

fn connections() -> Vec<SettingDescription> {
    vec![
        words("token_env", "Environment variable with the bearer token"),
        words(
            "token_command",
            "Command that prints the bearer token; rerun when the token is rejected or expires",
        ),
        time("token_lifetime", "Renew the token after this time"),
        words(
            "headers",
            "Additional headers as a JSON object; a value `$NAME` is the environment variable NAME",
        ),
        words("fields", "Additional request fields as a JSON object; null removes a field"),
        words("ca", "Additional CA certificates (PEM file)"),
        switch("insecure", "Do not verify the server's certificate"),
        words("metrics_url", "Prometheus metrics of the server [default: /metrics on its host]"),
        switch("new_connections", "Use a new connection for every request"),
        duration("timeout", "600s", "Time limit per request"),
        duration("connect_timeout", "10s", "Time limit for connecting"),
        integer("retries", 0, 1000, 0, "Retries per request after transient errors"),
        count("error_budget", "Stop after more than this many failed requests"),
        duration("gone_after", "10s", "Stop when the endpoint has been unreachable for this long"),
        integer("threads", 1, 256, 1, "Client threads"),
        positive(
            "max_header_bytes",
            "Size limit for response headers [default: 32 KiB; 8 KiB above 512 streams]",
        ),
        integer("max_event_bytes", 1, MOST, 4 << 20, "Size limit per streamed event"),
        integer(
            "max_body_bytes",
            1,
            MOST,
            16 << 20,
            "Size limit for responses without streaming and for error bodies",
        ),
        integer("max_answer_bytes", 1, MOST, 64 << 20, "Size limit for a whole streamed response"),
    ]
}

fn results() -> Vec<SettingDescription> {
    vec![
        time("slo_ttft", "TTFT SLO: longest time to first token of a good request"),
        time("slo_tpot", "TPOT SLO: longest time per output token of a good request"),
        time("slo_e2e", "E2E SLO: longest end-to-end latency of a good request"),
        switch("keep_answers", "Store the generated text"),
    ]
}

/// The settings of the calibration endpoint: flags of `assay serve-mock`, and what the setting `mock` lists.
pub fn mock() -> WorkloadDescription {
    let settings = vec![
        duration("ttft", "20ms", "Time to first token"),
        duration("itl", "2ms", "Time between tokens"),
        time("jitter", "Random deviation of token times, up to this much either way"),
        integer("tokens", 1, 1 << 24, 100, "Output tokens per response"),
        integer("tokens_per_chunk", 1, 1 << 24, 1, "Tokens per chunk"),
        words("text", "Respond with this text instead of synthetic words; each word is a token"),
        count("reasoning", "Reasoning tokens before the answer"),
        switch("no_role", "Omit the initial role chunk"),
        switch("no_usage", "Omit token usage from responses"),
        time("pings", "Send keep-alive comments at this interval"),
        switch("crlf", "End lines with CRLF"),
        switch("split", "Split each event into two writes, inside a UTF-8 character"),
        switch("instant", "Send everything at once, one event per write"),
        switch("spread", "Stagger concurrent streams evenly between tokens"),
        positive("slots", "Requests processed concurrently; further requests wait"),
        number("busy", "Fraction of requests that get status 429"),
        number("cut", "Fraction of streams cut off midway"),
        number("error", "Fraction of streams with an error event"),
        integer("seed", 0, i64::MAX, 1, "Random seed"),
    ];
    WorkloadDescription {
        name: "mock".to_owned(),
        summary: "A mock endpoint with an exact schedule".to_owned(),
        settings,
        command: String::new(),
        headline: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_means_that_a_setting_was_not_given() {
        let sentinels = ["", "0", "-1", "0.0"];
        for setting in description().settings.into_iter().chain(mock().settings) {
            let default = setting.default.as_ref().map(ToString::to_string);
            let is_sentinel = default.as_deref().is_some_and(|default| sentinels.contains(&default));
            assert!(!is_sentinel || setting.name == "retries", "{} = {default:?}", setting.name);
            assert!(!setting.summary.contains("0 ="), "{}", setting.summary);
        }
    }
}
