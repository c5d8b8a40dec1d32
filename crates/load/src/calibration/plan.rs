//! What one stream sends, and when: its steps, each with the moment at which it is due.

use std::time::Duration;

use super::schedule::{FailureKind, MockSchedule};
use assay_random::Random;

/// How long before its token the first piece of a broken event comes, at most.
const PIECE_LEAD_NS: i64 = 2_000_000;

/// The fractional part of the golden ratio: its multiples spread over the unit interval more evenly than those of any
/// other number, however many there are.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The part of an answer that a chunk belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerPart {
    Reasoning,
    Content,
    Tool,
}

/// Which piece of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventPiece {
    Whole,
    First,
    Second,
}

/// One thing that a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamStep {
    /// A chunk of tokens, by its place in its part.
    Chunk { part: AnswerPart, index: u32, tokens: u32, piece: EventPiece },
    /// A comment.
    Ping,
    /// An event that is not JSON.
    Malformed,
    /// Everything after the last token: finish reason, usage, `[DONE]`, the end of the answer.
    Tail,
    /// An error event and the end of the answer.
    ErrorEvent,
    /// The end of the answer, as if nothing were missing.
    Unfinished,
    /// The connection is closed.
    Cut,
    /// The connection is reset.
    Reset,
}

impl StreamStep {
    /// Whether nothing of this stream comes after it.
    pub(super) fn is_last(self) -> bool {
        !matches!(self, Self::Chunk { .. } | Self::Ping | Self::Malformed)
    }
}

/// The steps of one stream.
#[derive(Debug, Clone)]
pub(super) struct StreamPlan {
    /// Tokens of each part, in order.
    parts: [(AnswerPart, u32); 3],
    tokens_per_chunk: u32,
    gap_ns: i64,
    jitter_ns: i64,
    ping_ns: i64,
    split: bool,
    random: Random,
    failure: Option<FailureKind>,
    first_ns: i64,
    /// The part that is being sent, the chunk in it, and tokens sent of it and of all.
    part: usize,
    index: u32,
    sent_of_part: u32,
    sent: u32,
    next_ping_ns: i64,
    next: Option<(i64, StreamStep)>,
}

impl StreamPlan {
    /// The plan of a stream whose request arrived at `begin_ns`. `place` is the stream's place among the streams.
    pub(super) fn new(schedule: &MockSchedule, tokens: u32, begin_ns: i64, request: u64, place: u32) -> Self {
        let reasoning = schedule.reasoning_tokens.min(tokens);
        let tool = schedule.tool_tokens.min(tokens - reasoning);
        let mut plan = Self {
            parts: [
                (AnswerPart::Reasoning, reasoning),
                (AnswerPart::Content, tokens - reasoning - tool),
                (AnswerPart::Tool, tool),
            ],
            tokens_per_chunk: schedule.tokens_per_chunk.max(1),
            gap_ns: nanoseconds(schedule.gap),
            jitter_ns: nanoseconds(schedule.gap_jitter),
            ping_ns: schedule.pings.map_or(0, nanoseconds),
            split: schedule.split_events,
            random: Random::item(schedule.seed, "jitter", request),
            failure: schedule.failure(request),
            first_ns: begin_ns,
            part: 0,
            index: 0,
            sent_of_part: 0,
            sent: 0,
            next_ping_ns: i64::MAX,
            next: None,
        };
        let jitter = plan.jitter(nanoseconds(schedule.first_token_jitter));
        plan.first_ns += (nanoseconds(schedule.first_token) + jitter).max(0);
        if schedule.spread_phases {
            plan.first_ns += plan.wait_for_place(place);
        }
        if plan.ping_ns > 0 {
            plan.next_ping_ns = begin_ns + plan.ping_ns;
        }
        plan.next = plan.following(plan.first_ns);
        plan
    }

    /// What goes wrong with this stream.
    pub(super) fn failure(&self) -> Option<FailureKind> {
        self.failure
    }

    /// When the first token is due.
    pub(super) fn first_ns(&self) -> i64 {
        self.first_ns
    }

    /// When the last token is due, without jitter.
    pub(super) fn last_ns(&self) -> i64 {
        let tokens: u32 = self.parts.iter().map(|(_, tokens)| tokens).sum();
        self.first_ns + i64::from(tokens.saturating_sub(1)) * self.gap_ns
    }

    /// The next step and when it is due. None when nothing more will ever come.
    pub(super) fn peek(&self) -> Option<(i64, StreamStep)> {
        let (due, step) = self.next?;
        Some(if self.next_ping_ns <= due { (self.next_ping_ns, StreamStep::Ping) } else { (due, step) })
    }

    /// Goes on after the step that [`StreamPlan::peek`] gave.
    pub(super) fn advance(&mut self) {
        let Some((due, step)) = self.peek() else { return };
        match step {
            StreamStep::Ping => self.next_ping_ns += self.ping_ns,
            StreamStep::Chunk { part, index, tokens, piece: EventPiece::First } => {
                let second = StreamStep::Chunk { part, index, tokens, piece: EventPiece::Second };
                self.next = Some((due + self.lead_ns(), second));
            }
            StreamStep::Chunk { tokens, .. } => {
                self.sent += tokens;
                self.sent_of_part += tokens;
                self.index += 1;
                self.next = self.following(due);
            }
            StreamStep::Malformed => {
                self.failure = None;
                self.next = self.following(due);
            }
            _ => self.next = None,
        }
    }

    /// The step after what was sent, no earlier than `previous_ns`.
    fn following(&mut self, previous_ns: i64) -> Option<(i64, StreamStep)> {
        while self.part < self.parts.len() && self.sent_of_part == self.parts[self.part].1 {
            self.part += 1;
            self.index = 0;
            self.sent_of_part = 0;
        }
        if let Some(failing) = self.failing() {
            return failing.map(|step| (previous_ns.max(self.due_ns()), step));
        }
        let Some((part, tokens)) = self.parts.get(self.part).copied() else {
            return Some((previous_ns, StreamStep::Tail));
        };
        let jitter = if self.sent == 0 { 0 } else { self.jitter(self.jitter_ns) };
        let due = previous_ns.max(self.due_ns() + jitter);
        let tokens = self.tokens_per_chunk.min(tokens - self.sent_of_part);
        let (due, piece) =
            if self.split { (due - self.lead_ns(), EventPiece::First) } else { (due, EventPiece::Whole) };
        Some((due, StreamStep::Chunk { part, index: self.index, tokens, piece }))
    }

    /// What goes wrong now: a step, or nothing more at all. None where all is well still.
    fn failing(&self) -> Option<Option<StreamStep>> {
        let (after, step) = match self.failure? {
            FailureKind::Cut { after } => (after, Some(StreamStep::Cut)),
            FailureKind::Reset { after } => (after, Some(StreamStep::Reset)),
            FailureKind::Unfinished { after } => (after, Some(StreamStep::Unfinished)),
            FailureKind::ErrorEvent { after } => (after, Some(StreamStep::ErrorEvent)),
            FailureKind::Malformed { after } => (after, Some(StreamStep::Malformed)),
            FailureKind::Stall { after } => (after, None),
            FailureKind::Status { .. } | FailureKind::Silence => return None,
        };
        // A stream that is shorter than that fails at its end.
        (self.sent >= after || self.part == self.parts.len()).then_some(step)
    }

    /// When the next token is due, without jitter.
    fn due_ns(&self) -> i64 {
        self.first_ns + i64::from(self.sent) * self.gap_ns
    }

    /// How much earlier the first piece of a broken event comes.
    fn lead_ns(&self) -> i64 {
        PIECE_LEAD_NS.min(self.gap_ns * i64::from(self.tokens_per_chunk) / 2)
    }

    /// A number from `-width` to `width`.
    fn jitter(&mut self, width: i64) -> i64 {
        if width == 0 { 0 } else { ((self.random.unit() * 2.0 - 1.0) * width as f64) as i64 }
    }

    /// How long the first token must wait so that the stream's chunks come at its own place in the gap.
    fn wait_for_place(&self, place: u32) -> i64 {
        let gap = self.gap_ns * i64::from(self.tokens_per_chunk);
        if gap == 0 {
            return 0;
        }
        let place = ((f64::from(place) * GOLDEN).fract() * gap as f64) as i64;
        (place - self.first_ns).rem_euclid(gap)
    }
}

/// A duration as nanoseconds.
pub(super) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::super::schedule::{Failure, When};
    use super::*;

    const MS: i64 = 1_000_000;

    fn schedule() -> MockSchedule {
        let (first_token, gap) = (Duration::from_millis(300), Duration::from_millis(10));
        MockSchedule { first_token, gap, tokens: 48, ..MockSchedule::default() }
    }

    fn steps(schedule: &MockSchedule) -> Vec<(i64, StreamStep)> {
        let mut plan = StreamPlan::new(schedule, schedule.tokens, 0, 1, 0);
        let step = || {
            let step = plan.peek();
            plan.advance();
            step
        };
        std::iter::from_fn(step).collect()
    }

    #[test]
    fn tokens_come_at_their_times_and_the_tail_with_the_last() {
        let steps = steps(&schedule());
        assert_eq!(steps.len(), 49);
        assert_eq!(steps[0].0, 300 * MS);
        assert_eq!(steps[47].0, 770 * MS);
        assert_eq!(steps[48], (770 * MS, StreamStep::Tail));
    }

    #[test]
    fn parts_begin_their_own_chunks() {
        let all = MockSchedule {
            tokens: 11,
            reasoning_tokens: 5,
            tool_tokens: 2,
            tokens_per_chunk: 4,
            ..schedule()
        };
        let seen: Vec<_> = steps(&all)
            .into_iter()
            .filter_map(|(due, step)| match step {
                StreamStep::Chunk { part, index, tokens, .. } => Some((due / MS, part, index, tokens)),
                _ => None,
            })
            .collect();
        assert_eq!(
            seen,
            [
                (300, AnswerPart::Reasoning, 0, 4),
                (340, AnswerPart::Reasoning, 1, 1),
                (350, AnswerPart::Content, 0, 4),
                (390, AnswerPart::Tool, 0, 2),
            ]
        );
    }

    #[test]
    fn a_broken_event_is_whole_when_its_token_is_due() {
        let steps = steps(&MockSchedule { split_events: true, tokens: 2, ..schedule() });
        assert_eq!(steps.iter().map(|(due, _)| due / MS).collect::<Vec<_>>(), [298, 300, 308, 310, 310]);
    }

    #[test]
    fn jitter_keeps_order_and_does_not_add_up() {
        let jitter = MockSchedule { gap_jitter: Duration::from_millis(30), tokens: 2000, ..schedule() };
        let steps = steps(&jitter);
        assert!(steps.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!((steps[1999].0 - (300 + 19990) * MS).abs() <= 30 * MS);
    }

    #[test]
    fn pings_come_between() {
        let pinged = MockSchedule { pings: Some(Duration::from_millis(100)), tokens: 3, ..schedule() };
        let seen = steps(&pinged);
        assert_eq!(seen.iter().filter(|(_, step)| *step == StreamStep::Ping).count(), 3);
        assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn failures_come_after_their_tokens() {
        let failing = |kind| {
            steps(&MockSchedule { failures: vec![Failure { when: When::Every(1), kind }], ..schedule() })
        };
        assert_eq!(failing(FailureKind::Cut { after: 3 }).last(), Some(&(330 * MS, StreamStep::Cut)));
        assert_eq!(failing(FailureKind::Stall { after: 3 }).len(), 3);
        assert_eq!(failing(FailureKind::ErrorEvent { after: 100 }).last().unwrap().1, StreamStep::ErrorEvent);
        let malformed = failing(FailureKind::Malformed { after: 3 });
        assert_eq!((malformed.len(), malformed[3].1), (50, StreamStep::Malformed));
    }

    #[test]
    fn places_spread_streams_over_the_gap() {
        let spread = MockSchedule { spread_phases: true, ..schedule() };
        let mut phases: Vec<i64> = (0..64)
            .map(|place| StreamPlan::new(&spread, 1, 12_345, 1, place).first_ns() % (10 * MS))
            .collect();
        phases.sort_unstable();
        let widest = phases.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(widest < 10 * MS / 64 * 2, "{widest}");
    }
}
