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
        summary: "Load on an OpenAI-compatible endpoint, or on a calibration endpoint".to_owned(),
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
            "Calibration endpoint inside the run instead of a URL: settings of `assay serve-mock`, for example \
             ttft=20ms,itl=2ms",
        ),
        words("model", "Model name"),
        choice("api", &["chat", "completions", "embeddings"], "chat", "Interface of the endpoint"),
        switch("no_stream", "Request whole answers instead of streams"),
    ]
}

fn arrivals() -> Vec<SettingDescription> {
    vec![
        optional(
            "streams",
            SettingKind::Integer { min: 1, max: 1_000_000 },
            "Closed loop: concurrent requests, each stream sends its next one when the last has ended; 1 unless a \
             rate or a trace is given",
        ),
        number("rate", "Open loop: requests per second, whatever the endpoint does"),
        optional(
            "gaps",
            SettingKind::Choice(["constant", "poisson", "gamma"].map(str::to_owned).to_vec()),
            "Distribution of the gaps between requests of a rate; poisson unless given",
        ),
        number("shape", "Shape of gamma gaps: 1 is Poisson, less is burstier, more is smoother"),
        number("ramp_from", "Start with this rate and change it linearly to `rate`"),
        time("ramp_over", "How long the rate changes"),
        words("trace", "File with the times of requests: JSON lines or CSV with time stamps"),
        integer(
            "turns",
            1,
            1_000_000,
            1,
            "Turns of a conversation; each stream or arrival is then a conversation",
        ),
        time("think", "Pause of the user between turns"),
        positive(
            "requests",
            "Requests without the warm-up, or conversations with `turns`; 10 per stream or 30 s of a rate unless given",
        ),
        time("duration", "How long requests are sent"),
        positive("min_requests", "Send on after `duration` until a rate has sent this many requests"),
        count("warm_up", "Requests before the measurement; one per stream unless given, at most 16"),
        integer("in_flight", 1, 1_000_000, 10_000, "Most concurrent requests of a rate or trace; more wait"),
        integer("seed", 0, i64::MAX, 1, "Seed of arrivals and prompts; every repeat derives its own"),
    ]
}

fn prompts() -> Vec<SettingDescription> {
    vec![
        words("prompts", "File with prompts: SQuAD, ShareGPT, JSON lines or plain text"),
        words("prompt", "One prompt for all requests; prefix caches will see it again"),
        positive(
            "prompt_tokens",
            "Tokens of made-up prompts, exact with `tokenizer`; 128 unless prompts are given",
        ),
        count("shared_tokens", "Tokens at the beginning that all made-up prompts share"),
        positive("output_tokens", "Most tokens of an answer; 128 for made-up prompts unless given"),
        words("tokenizer", "tokenizer.json or tiktoken ranks, to count tokens with"),
    ]
}

fn connections() -> Vec<SettingDescription> {
    vec![
        words("token_env", "Environment variable with the bearer token"),
        words(
            "token_command",
            "Command that prints the bearer token; run again when a token is refused or old",
        ),
        time("token_lifetime", "Renew the token after this time"),
        words("headers", "More headers as a JSON object; a value `$NAME` is the environment variable NAME"),
        words("fields", "More fields of every request as a JSON object; null removes a field"),
        words("ca", "File with certificates to trust in addition to the system's"),
        switch("insecure", "Accept any certificate of the server"),
        words("metrics_url", "Prometheus metrics of the server; /metrics of its host unless given"),
        switch("new_connections", "Use a new connection for every request"),
        duration("timeout", "600s", "Time limit of a request"),
        duration("connect_timeout", "10s", "Time limit of connecting"),
        integer("retries", 0, 1000, 0, "Send a request again up to this many times after a transient fault"),
        count("error_budget", "Stop after more than this many failed requests"),
        duration("gone_after", "10s", "Stop when nobody has listened at the endpoint for this long"),
        integer("threads", 1, 256, 1, "Client threads"),
        positive(
            "max_header_bytes",
            "Size limit of an answer's head; 32 KiB unless given, 8 KiB beyond 512 streams",
        ),
        integer("max_event_bytes", 1, MOST, 4 << 20, "Size limit of one event of a stream"),
        integer(
            "max_body_bytes",
            1,
            MOST,
            16 << 20,
            "Size limit of an answer that is not a stream, errors included",
        ),
        integer("max_answer_bytes", 1, MOST, 64 << 20, "Size limit of a whole stream"),
    ]
}

fn results() -> Vec<SettingDescription> {
    vec![
        time("slo_ttft", "SLO: time to first token of a good request"),
        time("slo_tpot", "SLO: time per output token of a good request"),
        time("slo_e2e", "SLO: end-to-end latency of a good request"),
        switch("keep_answers", "Keep the text of answers"),
    ]
}

/// The settings of the calibration endpoint: flags of `assay serve-mock`, and what the setting `mock` lists.
pub fn mock() -> WorkloadDescription {
    let settings = vec![
        duration("ttft", "20ms", "Time to first token"),
        duration("itl", "2ms", "Time between tokens"),
        time("jitter", "Tokens come earlier or later by up to this time"),
        integer("tokens", 1, 1 << 24, 100, "Tokens of an answer"),
        integer("tokens_per_chunk", 1, 1 << 24, 1, "Tokens of a chunk"),
        words("text", "Answer with these words instead of made-up ones; each word is a token"),
        count("reasoning", "Tokens at the beginning that are reasoning"),
        switch("no_role", "Send no role chunk"),
        switch("no_usage", "Never report token counts"),
        time("pings", "Send a comment this often"),
        switch("crlf", "End lines with CRLF"),
        switch("split", "Send events in two pieces, split inside a character"),
        switch("instant", "Send everything at once, one event per write"),
        switch("spread", "Spread the tokens of concurrent streams evenly over the gap"),
        positive("slots", "Requests that are processed at a time; more wait"),
        number("busy", "Share of requests answered with status 429"),
        number("cut", "Share of streams that are cut in the middle"),
        number("error", "Share of streams with an error event inside"),
        integer("seed", 0, i64::MAX, 1, "Seed of jitter and shares"),
    ];
    WorkloadDescription {
        name: "mock".to_owned(),
        summary: "An endpoint with an exact schedule".to_owned(),
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
