//! Requests to metrics, one request at a time.

use assay_stats::interval::student_half_width;
use assay_stats::proportion::wilson;

use super::{Batched, BatchedShare, RequestResult, Slices, Window};
use crate::CONFIDENCE;

/// Bounds that a request must meet to be good, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SloBounds {
    /// Time to first token, from the intended send time.
    pub ttft_s: Option<f64>,
    /// Time per token.
    pub tpot_s: Option<f64>,
    /// End to end, from the intended send time.
    pub e2e_s: Option<f64>,
}

impl SloBounds {
    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        *self == SloBounds::default()
    }

    /// Whether a request met all of them. What is not known is not met, but a single token has no time per token.
    pub fn are_met(&self, request: &RequestResult) -> bool {
        let met = |bound: Option<f64>, value: Option<f64>| {
            bound.is_none_or(|bound| value.is_some_and(|it| it <= bound))
        };
        let first = request.first_token_at_s.map(|at| at - request.intended_at_s);
        let per_token = request.tpot_s().or(request.first_token_at_s.map(|_| 0.0));
        request.is_success
            && met(self.ttft_s, first)
            && met(self.tpot_s, per_token)
            && met(self.e2e_s, Some(request.end_at_s - request.intended_at_s))
    }
}

/// A share of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Share {
    /// How many.
    pub of: u64,
    /// Of how many.
    pub all: u64,
}

impl Share {
    /// The share.
    pub fn value(&self) -> Option<f64> {
        (self.all > 0).then(|| self.of as f64 / self.all as f64)
    }

    /// Wilson's interval, for requests that say nothing of each other: answers that are right or wrong.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let interval = wilson(usize::try_from(self.of).ok()?, usize::try_from(self.all).ok()?, CONFIDENCE)?;
        Some((interval.low, interval.high))
    }
}

/// Where token counts come from.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tokens {
    /// Tokens of prompts, where known.
    pub prompt: u64,
    /// Prompt tokens that came from the server's cache, where it reports them.
    pub cached: u64,
    /// Prompt tokens of the requests whose cached tokens are known.
    pub prompt_with_cache: u64,
    /// Output tokens, reasoning included, where known.
    pub output: u64,
    /// Tokens of reasoning, where reported.
    pub reasoning: u64,
    /// Requests whose tokens the server counted.
    pub by_server: u64,
    /// Requests whose tokens only a tokenizer counted.
    pub by_tokenizer: u64,
    /// Requests whose tokens nobody counted.
    pub unknown: u64,
    /// Of the requests that both counted: tokens by the server and by the tokenizer.
    pub both: (u64, u64),
}

/// What the requests of one endpoint say.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointSummary {
    /// The window that rates are taken over.
    pub window: Window,
    /// Whether there were SLOs.
    pub has_bounds: bool,
    /// Requests that ended well, of all but the warm-up.
    pub success: Share,
    /// Requests that met the bounds, of all but the warm-up.
    pub good: Share,
    success_batches: BatchedShare,
    good_batches: BatchedShare,
    /// Requests that had not ended when the load was stopped; no other number counts them.
    pub unfinished: u64,
    /// Time to first token from the intended send time.
    pub ttft: Batched,
    /// Time to first token from the real send time.
    pub ttft_from_send: Batched,
    /// Time to first output token from the intended send time.
    pub ttfo: Batched,
    /// Gaps between chunks.
    pub itl: Batched,
    /// Time per token.
    pub tpot: Batched,
    /// Tokens per chunk.
    pub tokens_per_chunk: Batched,
    /// End to end from the intended send time.
    pub e2e: Batched,
    /// End to end from the real send time.
    pub e2e_from_send: Batched,
    /// Output tokens per second of a request.
    pub output_rate: Batched,
    /// Answers that are exactly right, of those whose right answer is known.
    pub exact: Share,
    /// F1 of those answers.
    pub f1: Batched,
    /// How long requests waited, as the server reports.
    pub server_queue: Batched,
    /// How long prompts took, as the server reports.
    pub server_prompt: Batched,
    /// How long outputs took, as the server reports.
    pub server_output: Batched,
    /// Counts of tokens.
    pub tokens: Tokens,
    /// Requests that ended well inside the window.
    pub ended_inside: Slices,
    /// Good requests that ended inside the window.
    pub good_inside: Slices,
    /// Tokens that arrived inside the window; unknown if those of a request are.
    pub tokens_inside: Slices,
    /// The same with the tokens of prompts, which count when the first token of their answer comes.
    pub all_tokens_inside: Slices,
}

impl EndpointSummary {
    /// Output tokens per second of all requests together; none if the tokens of some are unknown.
    pub fn output_throughput(&self) -> Option<f64> {
        self.tokens_inside.rate().filter(|_| self.are_tokens_known())
    }

    /// Prompt and output tokens per second; none if the tokens of some are unknown.
    pub fn total_token_throughput(&self) -> Option<f64> {
        self.all_tokens_inside.rate().filter(|_| self.are_tokens_known() && self.tokens.prompt > 0)
    }

    fn are_tokens_known(&self) -> bool {
        self.tokens.unknown == 0 && self.tokens.output > 0
    }

    /// Requests per second.
    pub fn request_throughput(&self) -> Option<f64> {
        self.ended_inside.rate()
    }

    /// Good requests per second.
    pub fn goodput(&self) -> Option<f64> {
        self.good_inside.rate()
    }

    /// The interval of the share of requests that succeeded.
    pub fn success_interval(&self) -> Option<(f64, f64)> {
        self.success_batches.interval()
    }

    /// The interval of the share of good requests.
    pub fn good_interval(&self) -> Option<(f64, f64)> {
        self.good_batches.interval()
    }

    /// The interval of the mean F1. Answers do not depend on those of neighbors, so Student's over all of them serves.
    pub fn f1_interval(&self) -> Option<(f64, f64)> {
        let (mean, deviation, count) = (self.f1.mean()?, self.f1.deviation()?, self.f1.count());
        let half = student_half_width(deviation, usize::try_from(count).ok()?, CONFIDENCE)?;
        Some(((mean - half).max(0.0), (mean + half).min(1.0)))
    }

    /// The share of prompt tokens that came from the server's cache, where it reports them.
    pub fn cached_share(&self) -> Option<f64> {
        let all = self.tokens.prompt_with_cache;
        (all > 0).then(|| self.tokens.cached as f64 / all as f64)
    }

    /// By how much the tokenizer counts more than the server, as a share.
    pub fn count_difference(&self) -> Option<f64> {
        let (server, tokenizer) = self.tokens.both;
        (server > 0).then(|| tokenizer as f64 / server as f64 - 1.0)
    }
}

/// Collects the requests of one endpoint.
#[derive(Debug, Clone)]
pub struct Collector {
    summary: EndpointSummary,
    bounds: SloBounds,
}

impl Collector {
    /// Begins with the window that a first pass found.
    pub fn new(window: Window, bounds: SloBounds) -> Collector {
        let summary = EndpointSummary {
            window,
            has_bounds: !bounds.is_empty(),
            success: Share::default(),
            good: Share::default(),
            success_batches: BatchedShare::default(),
            good_batches: BatchedShare::default(),
            unfinished: 0,
            ttft: Batched::default(),
            ttft_from_send: Batched::default(),
            ttfo: Batched::default(),
            itl: Batched::default(),
            tpot: Batched::default(),
            tokens_per_chunk: Batched::default(),
            e2e: Batched::default(),
            e2e_from_send: Batched::default(),
            output_rate: Batched::default(),
            exact: Share::default(),
            f1: Batched::default(),
            server_queue: Batched::default(),
            server_prompt: Batched::default(),
            server_output: Batched::default(),
            tokens: Tokens::default(),
            ended_inside: Slices::new(window),
            good_inside: Slices::new(window),
            tokens_inside: Slices::new(window),
            all_tokens_inside: Slices::new(window),
        };
        Collector { summary, bounds }
    }

    /// Takes a request. Latencies of failed requests would distort those of the others: they are left out, and
    /// the success rate says how many.
    pub fn add(&mut self, request: &RequestResult) {
        if request.warm_up {
            return;
        }
        let is_good = self.bounds.are_met(request);
        let summary = &mut self.summary;
        // Tokens of a request that failed later were delivered all the same.
        summary.arrived(request);
        if request.is_unfinished {
            summary.unfinished += 1;
            return;
        }
        summary.success.all += 1;
        summary.good.all += 1;
        summary.good.of += u64::from(is_good);
        summary.success_batches.add(request.is_success);
        summary.good_batches.add(is_good);
        if !request.is_success {
            return;
        }
        summary.success.of += 1;
        summary.ended_inside.add(request.end_at_s, 1.0);
        if is_good {
            summary.good_inside.add(request.end_at_s, 1.0);
        }
        summary.latencies(request);
        summary.reported_by_server(request);
        summary.score(request);
        summary.count(request);
    }

    /// What was found.
    pub fn finish(self) -> EndpointSummary {
        self.summary
    }
}

impl EndpointSummary {
    fn latencies(&mut self, request: &RequestResult) {
        self.e2e.add(request.end_at_s - request.intended_at_s);
        self.e2e_from_send.add(request.end_at_s - request.sent_at_s);
        if let Some(first) = request.first_token_at_s {
            self.ttft.add(first - request.intended_at_s);
            self.ttft_from_send.add(first - request.sent_at_s);
        }
        if let Some(first) = request.first_output_at_s {
            self.ttfo.add(first - request.intended_at_s);
        }
        if request.arrivals.len() > 1 {
            self.itl.add_all(request.arrivals.windows(2).map(|pair| pair[1].0 - pair[0].0));
        }
        if let Some(time) = request.tpot_s() {
            self.tpot.add(time);
        }
    }

    /// Counts the tokens of a request when they arrived. They are spread over its chunks where the server does not report
    /// those of each; an answer that is not a stream arrives at its end.
    fn arrived(&mut self, request: &RequestResult) {
        let first_at_s = request.first_token_at_s.unwrap_or(request.end_at_s);
        if let Some(prompt) = request.prompt_tokens {
            self.all_tokens_inside.add(first_at_s, prompt as f64);
        }
        let tokens = request.tokens();
        if request.arrivals.is_empty() {
            let tokens = tokens.unwrap_or(0) as f64;
            self.tokens_inside.add(request.end_at_s, tokens);
            return self.all_tokens_inside.add(request.end_at_s, tokens);
        }
        let each = tokens.map_or(0.0, |tokens| tokens as f64 / request.arrivals.len() as f64);
        for (at_s, known) in &request.arrivals {
            let count = known.map_or(each, f64::from);
            self.tokens_inside.add(*at_s, count);
            self.all_tokens_inside.add(*at_s, count);
        }
    }

    fn reported_by_server(&mut self, request: &RequestResult) {
        let reported = [
            (&mut self.server_queue, request.server_queue_s),
            (&mut self.server_prompt, request.server_prompt_s),
            (&mut self.server_output, request.server_output_s),
        ];
        for (values, value) in reported {
            if let Some(value) = value {
                values.add(value);
            }
        }
    }

    fn score(&mut self, request: &RequestResult) {
        if let Some((is_exact, f1)) = request.score {
            self.exact.all += 1;
            self.exact.of += u64::from(is_exact);
            self.f1.add(f1);
        }
    }

    fn count(&mut self, request: &RequestResult) {
        let tokens = &mut self.tokens;
        tokens.prompt += request.prompt_tokens.unwrap_or(0);
        if let (Some(cached), Some(prompt)) = (request.cached_tokens, request.prompt_tokens) {
            tokens.cached += cached;
            tokens.prompt_with_cache += prompt;
        }
        tokens.output += request.tokens().unwrap_or(0);
        tokens.reasoning += request.reasoning_tokens.unwrap_or(0);
        match (request.output_tokens, request.counted_tokens) {
            (Some(server), counted) => {
                tokens.by_server += 1;
                if let Some(counted) = counted {
                    tokens.both = (tokens.both.0 + server, tokens.both.1 + counted);
                }
            }
            (None, Some(_)) => tokens.by_tokenizer += 1,
            (None, None) => tokens.unknown += 1,
        }
        let took = request.end_at_s - request.sent_at_s;
        if let Some(count) = request.tokens().filter(|_| took > 0.0) {
            self.output_rate.add(count as f64 / took);
            if request.token_events > 0 {
                self.tokens_per_chunk.add(count as f64 / request.token_events as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four tokens per chunk, 10 ms a token, 48 tokens, the first after 300 ms; sent 100 ms later than intended.
    fn packed() -> RequestResult {
        let sent_at_s = 1.0;
        let arrivals: Vec<_> =
            (0..12).map(|chunk| (sent_at_s + 0.3 + 0.04 * f64::from(chunk), None)).collect();
        RequestResult {
            intended_at_s: 0.9,
            sent_at_s,
            end_at_s: 1.75,
            first_token_at_s: Some(1.3),
            first_output_at_s: Some(1.3),
            last_token_at_s: arrivals.last().map(|last| last.0),
            arrivals,
            token_events: 12,
            output_tokens: Some(48),
            is_success: true,
            ..RequestResult::default()
        }
    }

    fn about(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!((value / expected - 1.0).abs() < 2e-3, "{value} is not {expected}");
    }

    #[test]
    fn several_tokens_a_chunk_are_not_taken_for_one() {
        let window = Window { begin_s: 0.0, end_at_s: 2.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        collector.add(&packed());
        let summary = collector.finish();
        about(summary.tpot.quantile(0.5), 0.010);
        about(summary.itl.quantile(0.5), 0.040);
        about(summary.tokens_per_chunk.quantile(0.5), 4.0);
        about(summary.ttft.quantile(0.5), 0.4);
        about(summary.ttft_from_send.quantile(0.5), 0.3);
        about(summary.e2e.quantile(0.5), 0.85);
        about(summary.output_throughput(), 24.0);
        about(summary.output_rate.quantile(0.5), 64.0);
    }

    #[test]
    fn only_tokens_inside_the_window_count_for_the_total() {
        let window = Window { begin_s: 1.29, end_at_s: 1.35, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        collector.add(&packed());
        about(collector.finish().output_throughput(), 8.0 / 0.06);
    }

    #[test]
    fn answers_are_scored_where_the_right_one_is_known() {
        let window = Window { begin_s: 0.0, end_at_s: 2.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        for score in [Some((true, 1.0)), Some((false, 0.5)), None] {
            collector.add(&RequestResult { score, ..packed() });
        }
        let summary = collector.finish();
        assert_eq!(summary.exact, Share { of: 1, all: 2 });
        about(summary.f1.mean(), 0.75);
        // Two answers, 1 and 0.5: t of one degree of freedom is 12.7, so the interval is all there is.
        assert_eq!(summary.f1_interval(), Some((0.0, 1.0)));
    }

    #[test]
    fn unknown_tokens_stay_unknown() {
        let window = Window { begin_s: 0.0, end_at_s: 2.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        collector.add(&RequestResult { output_tokens: None, ..packed() });
        collector.add(&packed());
        let summary = collector.finish();
        assert_eq!((summary.tokens.unknown, summary.output_throughput()), (1, None));
        assert_eq!(summary.tpot.count(), 1);
    }

    #[test]
    fn failed_requests_miss_every_bound() {
        let bounds = SloBounds { ttft_s: Some(0.5), tpot_s: Some(0.011), e2e_s: None };
        assert!(bounds.are_met(&packed()));
        assert!(!bounds.are_met(&RequestResult { is_success: false, ..packed() }));
        assert!(!SloBounds { tpot_s: Some(0.009), ..bounds }.are_met(&packed()));
        let window = Window { begin_s: 0.0, end_at_s: 2.0, is_whole: false };
        let mut collector = Collector::new(window, bounds);
        collector.add(&packed());
        collector.add(&RequestResult { is_success: false, ..packed() });
        collector.add(&RequestResult { warm_up: true, ..packed() });
        let summary = collector.finish();
        assert_eq!((summary.good, summary.success), (Share { of: 1, all: 2 }, Share { of: 1, all: 2 }));
        assert_eq!(summary.success_interval(), None, "two requests have no interval");
        assert_eq!(summary.unfinished, 0);
    }
}
