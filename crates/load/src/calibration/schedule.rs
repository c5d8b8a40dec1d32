//! What the calibration endpoint does, and when.

use std::time::Duration;

use assay_random::Random;

/// The schedule of all answers. Times count from the moment at which the kernel received the last byte of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct MockSchedule {
    /// Until the first token.
    pub first_token: Duration,
    /// From one token to the next. A chunk of several tokens comes when its first token is due.
    pub gap: Duration,
    /// The first token comes up to so much earlier or later, by the seed.
    pub first_token_jitter: Duration,
    /// Every other chunk comes up to so much earlier or later than due, by the seed. Chunks keep their order, and
    /// what one chunk is late does not make the next one late.
    pub gap_jitter: Duration,
    /// Tokens of an answer, unless the request asks for fewer.
    pub tokens: u32,
    /// Tokens of a chunk; the last chunk of a part may have fewer.
    pub tokens_per_chunk: u32,
    /// Whether a chunk with a role and empty content comes at once.
    pub role_chunk: bool,
    /// How many of the tokens are reasoning; they come first.
    pub reasoning_tokens: u32,
    /// How many of the tokens are arguments of a tool call; they come last.
    pub tool_tokens: u32,
    /// Whether tokens are counted for the client.
    pub usage: UsageReport,
    /// Whether the last chunk has the server's own times, as llama.cpp has them.
    pub timings: bool,
    /// A comment line so often, as keep-alive.
    pub pings: Option<Duration>,
    /// Lines that end in carriage return and line feed.
    pub crlf: bool,
    /// Events that are sent in two pieces, broken inside a character of several bytes. The second piece comes when
    /// the token is due, the first one up to two milliseconds earlier.
    pub split_events: bool,
    /// How many events go into one write at most, if several are due.
    pub events_per_write: u32,
    /// Whether the first token waits, by less than a gap, until the stream's own place in the gap has come: places are
    /// spread evenly over the streams, so that tokens of many streams do not come in bursts.
    pub spread_phases: bool,
    /// How many requests are worked on at a time; more wait in the order of their arrival, and their times count from
    /// when their turn has come. Without it, all are.
    pub slots: Option<u32>,
    /// What is answered, word by word as tokens; synthetic words without it.
    pub text: Option<String>,
    /// Bearer tokens that are accepted; without any, every request is.
    pub bearers: Vec<String>,
    /// After this many requests the first of the accepted tokens has expired, after as many again the second; 0 for
    /// never. The last one never expires.
    pub bearer_requests: u64,
    /// What becomes of a connection after an answer.
    pub close: Close,
    /// What goes wrong. Of several that fit a request the first one happens.
    pub failures: Vec<Failure>,
    /// Where jitter and shares come from.
    pub seed: u64,
}

/// What becomes of a connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// It is kept for the next request.
    Never,
    /// It is closed, as the head of the answer says.
    Announced,
    /// It is closed when the next request comes: what a client sees that sends one just when the server closes a
    /// connection without having said so.
    Unannounced,
}

/// When tokens are counted for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageReport {
    /// In every answer.
    Always,
    /// In whole answers, and in streams that ask with `stream_options.include_usage`.
    WhenAsked,
    /// Never.
    Never,
}

/// Something that goes wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failure {
    /// Which requests it happens to.
    pub when: When,
    /// What happens.
    pub kind: FailureKind,
}

/// Which requests; they are counted from 1 as they arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// Every n-th one.
    Every(u64),
    /// The first n.
    First(u64),
    /// Such a share of them, by the seed.
    Share(f64),
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// An answer with this status at once.
    Status {
        /// The status.
        status: u16,
        /// What `Retry-After` says.
        retry_after: Option<u32>,
    },
    /// The connection is closed in the middle of the stream.
    Cut {
        /// After this many tokens.
        after: u32,
    },
    /// The connection is reset in the middle of the stream.
    Reset {
        /// After this many tokens.
        after: u32,
    },
    /// The answer ends properly as HTTP, but without a finish reason and without `[DONE]`.
    Unfinished {
        /// After this many tokens.
        after: u32,
    },
    /// An error event inside the stream, which then ends.
    ErrorEvent {
        /// After this many tokens.
        after: u32,
    },
    /// An event that is not JSON, after which the stream goes on.
    Malformed {
        /// After this many tokens.
        after: u32,
    },
    /// Nothing more comes, and the connection stays open.
    Stall {
        /// After this many tokens.
        after: u32,
    },
    /// No answer at all, and the connection stays open.
    Silence,
}

impl Default for MockSchedule {
    /// A well-behaved server: 100 tokens, the first after 20 ms, then one every 2 ms.
    fn default() -> Self {
        Self {
            first_token: Duration::from_millis(20),
            gap: Duration::from_millis(2),
            first_token_jitter: Duration::ZERO,
            gap_jitter: Duration::ZERO,
            tokens: 100,
            tokens_per_chunk: 1,
            role_chunk: true,
            reasoning_tokens: 0,
            tool_tokens: 0,
            usage: UsageReport::WhenAsked,
            timings: false,
            pings: None,
            crlf: false,
            split_events: false,
            events_per_write: u32::MAX,
            spread_phases: false,
            slots: None,
            text: None,
            bearers: Vec::new(),
            bearer_requests: 0,
            close: Close::Never,
            failures: Vec::new(),
            seed: 1,
        }
    }
}

impl MockSchedule {
    /// A server that sends as fast as it can, one event per write.
    pub fn instant() -> Self {
        Self { first_token: Duration::ZERO, gap: Duration::ZERO, events_per_write: 1, ..Self::default() }
    }

    /// What goes wrong with a request, by its number from 1.
    pub(super) fn failure(&self, request: u64) -> Option<FailureKind> {
        let happens = |index: usize, when: When| match when {
            When::Every(step) => step > 0 && request.is_multiple_of(step),
            When::First(count) => request <= count,
            When::Share(share) => {
                Random::item(self.seed.wrapping_add(index as u64), "failure", request).unit() < share
            }
        };
        let mut failures = self.failures.iter().enumerate();
        failures.find(|(index, failure)| happens(*index, failure.when)).map(|(_, failure)| failure.kind)
    }

    /// Whether a bearer token is accepted for a request, by the request's number from 1.
    pub(super) fn accepts(&self, bearer: Option<&str>, request: u64) -> bool {
        let expired = match self.bearer_requests {
            0 => 0,
            each => usize::try_from((request - 1) / each).unwrap_or(usize::MAX),
        };
        let valid = self.bearers.get(expired.min(self.bearers.len().saturating_sub(1))..).unwrap_or_default();
        valid.is_empty() || bearer.is_some_and(|bearer| valid.iter().any(|token| token == bearer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(when: When) -> MockSchedule {
        let kind = FailureKind::Silence;
        MockSchedule { failures: vec![Failure { when, kind }], ..MockSchedule::default() }
    }

    #[test]
    fn failures_happen_when_they_should() {
        let hit = |when| (1..=10).filter(|n| failing(when).failure(*n).is_some()).collect::<Vec<u64>>();
        assert_eq!(hit(When::Every(4)), [4, 8]);
        assert_eq!(hit(When::First(2)), [1, 2]);
        assert_eq!(hit(When::Every(0)), Vec::<u64>::new());
        assert_eq!(hit(When::Share(1.0)).len(), 10);
        let third = (1..=3000).filter(|n| failing(When::Share(1.0 / 3.0)).failure(*n).is_some()).count();
        assert!((850..1150).contains(&third), "{third}");
    }

    #[test]
    fn bearer_tokens_expire_one_by_one() {
        let bearers = vec!["old".to_owned(), "new".to_owned()];
        let schedule = MockSchedule { bearers, bearer_requests: 2, ..MockSchedule::default() };
        assert!(schedule.accepts(Some("old"), 2) && schedule.accepts(Some("new"), 2));
        assert!(!schedule.accepts(Some("old"), 3) && schedule.accepts(Some("new"), 300));
        assert!(!schedule.accepts(None, 1));
        assert!(MockSchedule::default().accepts(None, 1));
    }
}
