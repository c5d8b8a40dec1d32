//! What the benchmarks of two servers have in common: a load test whose numbers hang together.

use std::fmt::Display;

use crate::log::{Log, say};
use assay_random::Random;

/// Milliseconds of one kind of latency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latency {
    pub(crate) mean: f64,
    pub(crate) median: f64,
    /// The 99th of a hundred.
    pub(crate) high: f64,
}

impl Latency {
    /// A latency with this mean and the long tail of a busy server.
    fn around(mean: f64, random: &mut Random) -> Self {
        Self { mean, median: mean * random.between(0.93, 0.98), high: mean * random.between(1.6, 2.6) }
    }
}

/// One load test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadTest {
    /// Requests answered.
    pub(crate) requests: u64,
    /// Requests under way at once.
    pub(crate) concurrency: u64,
    /// Tokens of all prompts.
    pub(crate) input: u64,
    /// Tokens of all answers.
    pub(crate) output: u64,
    /// Seconds from first request to last answer.
    pub(crate) seconds: f64,
    /// To the first token.
    pub(crate) first: Latency,
    /// Per token after the first.
    pub(crate) each: Latency,
    /// Between two tokens.
    pub(crate) between: Latency,
    /// To the last token.
    pub(crate) whole: Latency,
}

impl LoadTest {
    /// A test: its requests, and how many are in flight at once.
    pub(crate) fn new(requests: u64, concurrency: u64, random: &mut Random) -> Self {
        let input = requests * random.whole(200, 240);
        let output = requests * random.whole(180, 220);
        let per_answer = output as f64 / requests.max(1) as f64;
        let first = Latency::around(random.between(60.0, 140.0), random);
        let each = Latency::around(random.between(9.0, 14.0), random);
        let between = Latency { mean: each.mean * 0.99, ..Latency::around(each.mean, random) };
        let whole = Latency::around(first.mean + each.mean * (per_answer - 1.0), random);
        // Little's law: requests under way = rate × time of one.
        let seconds = requests as f64 * whole.mean / 1000.0 / concurrency.max(1) as f64;
        Self { requests, concurrency, input, output, seconds, first, each, between, whole }
    }

    /// A rate per second.
    pub(crate) fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.seconds
    }
}

/// A line of a result block: a name, and a word or a count.
pub(super) fn entry(log: &mut Log<'_>, name: &str, value: impl Display) {
    say!(log, "{name:<40} {value:<10}");
}

/// A line of a result block: a name, and a number with two digits behind the point.
pub(super) fn number(log: &mut Log<'_>, name: &str, value: f64) {
    say!(log, "{name:<40} {value:<10.2}");
}

/// The part of a result block about one kind of latency.
pub(super) fn latency(log: &mut Log<'_>, heading: &str, name: &str, latency: Latency) {
    log.line(heading);
    number(log, &format!("Mean {name} (ms):"), latency.mean);
    number(log, &format!("Median {name} (ms):"), latency.median);
    number(log, &format!("P99 {name} (ms):"), latency.high);
}
