//! What the requests of a load say about an endpoint. All metrics of endpoints are defined here and nowhere else.
//!
//! | file | holds |
//! |---|---|
//! | `load/distribution.rs` | many values in little memory, with their quantiles |
//! | `load/batch.rs` | the values of one batch |
//! | `load/batches.rs` | intervals of what one load says, from batches of its requests |
//! | `load/window.rs` | the measured window |
//! | `load/summary.rs` | requests to metrics |
//! | `load/validity.rs` | whether a result can be trusted |
//! | `load/capacity.rs` | the search for the highest rate at which bounds are met |
//! | `load/contrast.rs` | one endpoint against another, round by round |
//! | `load/curve.rs` | loads of several sizes, each made several times |
//!
//! | metric | definition |
//! |---|---|
//! | `ttft` | from the intended send time (headline) or from the real one, to the first content, reasoning or tool call that is not empty |
//! | `ttfo` | the same to the first content or tool call |
//! | `itl` | from one arrival of tokens to the next, within a request |
//! | tokens per chunk | output tokens of a request / its chunks with tokens |
//! | `tpot` | (last − first arrival of tokens) / tokens after the first chunk |
//! | `e2e` | from the intended or real send time to the last byte |
//! | output rate of a request | output tokens / (last byte − send) |
//! | `output_throughput` | tokens that arrived inside the measured window / its length |
//! | `total_token_throughput` | output tokens as above and prompt tokens of requests whose first token came inside / its length |
//! | `request_throughput` | requests that succeeded and ended inside the measured window / its length |
//! | success rate | requests that succeeded / requests that ended by themselves |
//! | exact match, F1 | share of answers that are right, and the mean of F1 over words, as SQuAD's evaluation does it |
//! | `goodput` | requests that succeeded and met every SLO inside the window / its length |
//!
//! The measured window is the time in which the load was what was asked for: in a closed loop from when all streams are
//! busy until the last request is sent, in an open loop from the first to the last intended send time. Latencies are those
//! of all requests but the warm-up.

mod batch;
mod batches;
mod capacity;
mod contrast;
mod curve;
mod distribution;
mod summary;
mod validity;
mod window;

pub use assay_stats::quantile::quantile as exact_quantile;
pub use batches::{Batched, BatchedShare, Slices};
pub use capacity::{Capacity, CapacitySearch, Probe, ProbeOutcome, ProbePlan};
pub use contrast::{Contrast, RoundReading, Standing, contrasts};
pub use curve::{LoadCurve, LoadLevel, LoadReading, Metric, Point};
pub use distribution::Distribution;
pub use summary::{Collector, EndpointSummary, Share, SloBounds, Tokens};
pub use validity::{Client, Reason, Validity, Verdict, verdict};
pub use window::{Window, WindowFinder};

/// One request as numbers: times in seconds since the load began.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestResult {
    /// Whether it only warmed the endpoint up.
    pub warm_up: bool,
    /// When it was meant to be sent.
    pub intended_at_s: f64,
    /// When it was sent.
    pub sent_at_s: f64,
    /// When it ended.
    pub end_at_s: f64,
    /// When the first token came.
    pub first_token_at_s: Option<f64>,
    /// When the first output token came.
    pub first_output_at_s: Option<f64>,
    /// When the last token came.
    pub last_token_at_s: Option<f64>,
    /// When chunks with tokens came, with the tokens of each where the server reports them.
    pub arrivals: Vec<(f64, Option<u32>)>,
    /// Events with tokens; more than arrivals if some came together.
    pub token_events: u64,
    /// Output tokens by the server's count.
    pub output_tokens: Option<u64>,
    /// Output tokens by a tokenizer.
    pub counted_tokens: Option<u64>,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Prompt tokens that came from the server's cache.
    pub cached_tokens: Option<u64>,
    /// Tokens of the reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Whether it ended well.
    pub is_success: bool,
    /// Whether the load was stopped before it ended: it has neither succeeded nor failed.
    pub is_unfinished: bool,
    /// How good its answer is: whether it is exactly right, and its F1. None where no right answer is known.
    pub score: Option<(bool, f64)>,
    /// How long it waited, as the server reports.
    pub server_queue_s: Option<f64>,
    /// How long its prompt took, as the server reports.
    pub server_prompt_s: Option<f64>,
    /// How long its output took, as the server reports.
    pub server_output_s: Option<f64>,
}

impl RequestResult {
    /// Output tokens: as the server counts them, else by the tokenizer, else unknown.
    pub fn tokens(&self) -> Option<u64> {
        self.output_tokens.or(self.counted_tokens)
    }

    /// Seconds for each token after the first chunk. A first chunk of several tokens is not taken for one token.
    pub fn tpot_s(&self) -> Option<f64> {
        let tokens = self.tokens()? as f64;
        let events = self.token_events as f64;
        let first = match self.arrivals.first()?.1 {
            Some(known) => f64::from(known),
            None => tokens / events,
        };
        let rest = tokens - first;
        (rest > 0.5 && self.arrivals.len() > 1)
            .then(|| Some((self.last_token_at_s? - self.first_token_at_s?) / rest))?
    }
}
