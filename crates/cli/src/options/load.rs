//! The options of `load` and `serve-mock`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of `load`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay load http://localhost:8000/v1 --model llama --streams 64 --requests 1000
  assay load https://a/v1 https://b/v1 --model x --model y --prompts squad.json --token-env TOKEN
  assay load http://localhost:8000/v1 --model llama --rate 20 --duration 60 --slo-first-token 500
  assay load http://localhost:8000/v1 --model llama --streams 1,2,4,8 --html curve.html
  assay load http://localhost:8000/v1 --model llama --find-capacity --slo-first-token 500

Numbers of streams and requests are those of each endpoint; all endpoints are asked at the same time.")]
pub struct Load {
    /// Base URLs of endpoints, for example https://host/v1.
    #[arg(value_name = "URL", required_unless_present_any = ["self_check", "show"])]
    pub urls: Vec<String>,
    /// The model: one for all endpoints, or one for each in their order.
    #[arg(long, short, value_name = "NAME")]
    pub model: Vec<String>,
    /// What is asked of the endpoints.
    #[arg(long, default_value = "chat")]
    pub api: Interface,
    /// Ask for whole answers instead of streams.
    #[arg(long)]
    pub no_stream: bool,
    /// When requests are sent.
    #[command(flatten)]
    pub arrivals: ArrivalOptions,
    /// What is asked.
    #[command(flatten)]
    pub prompts: PromptOptions,
    /// How endpoints are reached.
    #[command(flatten)]
    pub reach: ReachOptions,
    /// Looking for the highest rate.
    #[command(flatten)]
    pub capacity: CapacityOptions,
    /// What is done with the results.
    #[command(flatten)]
    pub results: ResultOptions,
    /// Measure the client itself: ask a built-in endpoint whose true times are known.
    #[arg(long, conflicts_with = "urls")]
    pub self_check: bool,
    /// Show the record of an earlier load again.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["urls", "self_check"])]
    pub show: Option<PathBuf>,
}

/// What is asked of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Interface {
    /// Chat completions.
    Chat,
    /// Completions.
    Completions,
    /// Embeddings.
    Embeddings,
}

/// When requests are sent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Arrivals")]
pub struct ArrivalOptions {
    /// Requests that are kept in flight: each stream sends its next one when the last has ended. Several numbers,
    /// divided by commas, are tried in turns.
    #[arg(long, short, value_name = "N,…", default_value = "1", value_delimiter = ',',
          conflicts_with_all = ["rate", "trace"], value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub streams: Vec<u32>,
    /// Requests per second, whatever the endpoint does; several numbers are tried in turns.
    #[arg(long, value_name = "PER_SECOND,…", value_delimiter = ',')]
    pub rate: Vec<f64>,
    /// How often each of several numbers is tried.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// How the gaps between requests of a rate are distributed.
    #[arg(long, default_value = "poisson", requires = "rate")]
    pub gaps: Gaps,
    /// The shape of gamma gaps: 1 is Poisson, less is burstier, more is smoother.
    #[arg(long, default_value_t = 1.0, value_name = "NUMBER")]
    pub shape: f64,
    /// Begin with this rate and change it steadily to --rate.
    #[arg(long, value_name = "PER_SECOND", requires_all = ["rate", "ramp_over"])]
    pub ramp_from: Option<f64>,
    /// How long the rate changes, in seconds.
    #[arg(long, value_name = "SECONDS", requires = "ramp_from")]
    pub ramp_over: Option<f64>,
    /// Send requests at the times of a trace: JSON lines or CSV with time stamps.
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    pub trace: Option<PathBuf>,
    /// Turns of a conversation; every stream or arrival is then a conversation.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub turns: u32,
    /// How long a user thinks between turns, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pub think: f64,
    /// Requests of each endpoint, without the warm-up.
    #[arg(long, short = 'n', value_name = "N")]
    pub requests: Option<u64>,
    /// How long requests are sent, in seconds; with --find-capacity, at each rate.
    #[arg(long, short = 'd', value_name = "SECONDS")]
    pub duration: Option<f64>,
    /// Requests that warm each endpoint up and do not count; the default is one a stream, at most 16.
    #[arg(long, value_name = "N")]
    pub warm_up: Option<u64>,
    /// Requests that a rate or a trace may have in flight; more wait, and their time counts from when they were due.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub in_flight: u32,
    /// The seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How gaps between requests are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Gaps {
    /// All the same.
    Constant,
    /// Exponential.
    Poisson,
    /// Gamma, with --shape.
    Gamma,
}

/// Looking for the highest rate at which bounds are met.
#[derive(Debug, Args)]
#[command(next_help_heading = "Capacity")]
pub struct CapacityOptions {
    /// Look for the highest rate at which requests meet the bounds (--slo-…), beginning with --rate or 1.
    #[arg(long, conflicts_with_all = ["streams", "trace", "requests", "ramp_from", "self_check"])]
    pub find_capacity: bool,
    /// The share of requests that must meet every bound.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub slo_share: f64,
    /// The highest rate that is tried.
    #[arg(long, value_name = "PER_SECOND", default_value_t = 10_000.0)]
    pub most_rate: f64,
    /// How well the rate is to be known, as a share of it.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub precision: f64,
}

/// What is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Prompts")]
pub struct PromptOptions {
    /// A file with prompts: SQuAD, ShareGPT, JSON lines or plain text.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "prompt_tokens"])]
    pub prompts: Option<PathBuf>,
    /// One prompt for all requests.
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_tokens")]
    pub prompt: Option<String>,
    /// Made-up prompts of so many tokens (exact with --tokenizer).
    #[arg(long, value_name = "N")]
    pub prompt_tokens: Option<u32>,
    /// Tokens at the beginning of made-up prompts that all of them share.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "prompt_tokens")]
    pub shared_tokens: u32,
    /// The most tokens of an answer.
    #[arg(long, value_name = "N")]
    pub output_tokens: Option<u32>,
    /// A tokenizer.json or a file of tiktoken's ranks, to count tokens with.
    #[arg(long, value_name = "FILE")]
    pub tokenizer: Option<PathBuf>,
}

/// How endpoints are reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub struct ReachOptions {
    /// The environment variable that holds the bearer token.
    #[arg(long, value_name = "NAME", conflicts_with = "token_command")]
    pub token_env: Option<String>,
    /// A command that prints the bearer token; it is run again when a token is refused or old.
    #[arg(long, value_name = "COMMAND")]
    pub token_command: Option<String>,
    /// Get a new token after so many seconds.
    #[arg(long, value_name = "SECONDS")]
    pub token_lifetime: Option<f64>,
    /// A header of every request: name=value.
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::assignment)]
    pub header: Vec<(String, String)>,
    /// A field of every request's body: name=JSON; `null` takes a field out.
    #[arg(long, value_name = "NAME=JSON", value_parser = super::assignment)]
    pub field: Vec<(String, String)>,
    /// A file with certificates to trust beside the system's.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// A new connection for every request.
    #[arg(long)]
    pub new_connections: bool,
    /// How long a request may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    pub timeout: f64,
    /// How long connecting may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub connect_timeout: f64,
    /// Send a request again up to so many times after a fault that may pass.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retries: u32,
    /// Stop after so many failed requests.
    #[arg(long, value_name = "N")]
    pub error_budget: Option<u64>,
    /// The page on which the server counts its work for Prometheus, read before and after; the default is /metrics of
    /// each endpoint's host, if it answers.
    #[arg(long, value_name = "URL")]
    pub metrics_url: Option<String>,
    /// Threads that send and read.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
}

/// What is done with the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub struct ResultOptions {
    /// Where to keep the record of all requests.
    #[arg(long, short, value_name = "FILE", default_value = "load.assay")]
    pub output: PathBuf,
    /// Write every request as a line of JSON too.
    #[arg(long, value_name = "FILE")]
    pub lines: Option<PathBuf>,
    /// Write every request as a row of a table too (.csv, .jsonl or .parquet), and every chunk as a row of another one
    /// beside it.
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Write a page with the curve of latency over throughput; for several --streams or --rate.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Keep the text of answers.
    #[arg(long)]
    pub keep_answers: bool,
    /// A good request has its first token after so many milliseconds at most.
    #[arg(long, value_name = "MS")]
    pub slo_first_token: Option<f64>,
    /// A good request takes so many milliseconds a token at most.
    #[arg(long, value_name = "MS")]
    pub slo_per_token: Option<f64>,
    /// A good request takes so many milliseconds in all at most.
    #[arg(long, value_name = "MS")]
    pub slo_end_to_end: Option<f64>,
    /// Print JSON (see docs/json.md).
    #[arg(long)]
    pub json: bool,
    /// Print only the results.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of `serve-mock`.
#[derive(Debug, Args)]
pub struct ServeMock {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8090")]
    pub listen: String,
    /// Milliseconds until the first token.
    #[arg(long, value_name = "MS", default_value_t = 20.0)]
    pub first_token: f64,
    /// Milliseconds from token to token.
    #[arg(long, value_name = "MS", default_value_t = 2.0)]
    pub gap: f64,
    /// Milliseconds that tokens come earlier or later than due, by the seed.
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub jitter: f64,
    /// Tokens of an answer.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub tokens: u32,
    /// Tokens of a chunk.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub tokens_per_chunk: u32,
    /// Tokens at the beginning that are reasoning.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub reasoning: u32,
    /// No chunk with a role at once.
    #[arg(long)]
    pub no_role: bool,
    /// Never count tokens for the client.
    #[arg(long)]
    pub no_usage: bool,
    /// A comment so often, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub pings: Option<f64>,
    /// Lines that end in carriage return and line feed.
    #[arg(long)]
    pub crlf: bool,
    /// Events in two pieces, broken inside a character.
    #[arg(long)]
    pub split: bool,
    /// Everything at once, one event a write.
    #[arg(long)]
    pub instant: bool,
    /// Spread the tokens of many streams evenly over the gap.
    #[arg(long)]
    pub spread: bool,
    /// Requests that are worked on at a time; more wait for their turn.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub slots: Option<u32>,
    /// The share of requests that are answered with status 429.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub busy: f64,
    /// The share of streams that are cut in the middle.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub cut: f64,
    /// The share of streams with an error event inside.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub error: f64,
    /// Write the true send times to a file.
    #[arg(long, value_name = "FILE")]
    pub sends: Option<PathBuf>,
    /// The seed of jitter and shares.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
