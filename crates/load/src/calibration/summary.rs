//! What the endpoint says of itself when it ends: how much it sent, how late it was, and how evenly.

use std::fmt;

use super::sends::StreamSends;

/// Parts that a gap is cut into to see how evenly tokens were spread over it.
const PHASES: usize = 16;
/// Bins of lateness for each doubling.
const BINS: usize = 8;

/// What the endpoint did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CalibrationSummary {
    /// Connections that were accepted.
    pub connections: u64,
    /// Requests that arrived.
    pub requests: u64,
    /// Answers that were sent to their planned end, failures on purpose included.
    pub answers: u64,
    /// Answers that the client did not wait for.
    pub abandoned: u64,
    /// Most requests in work at any time.
    pub most_in_flight: u32,
    /// Writes that held events.
    pub writes: u64,
    /// Events in them.
    pub events: u64,
    /// Tokens in them.
    pub tokens: u64,
    /// Writes that the socket did not take at once: the client was slower than the schedule.
    pub blocked: u64,
    /// The sends of every stream, if they were kept in memory.
    pub streams: Vec<StreamSends>,
    pub(super) late: Lateness,
    pub(super) phases: [u64; PHASES],
}

/// How late writes were: counts in bins of equal ratio, eight for a doubling. `hdrhistogram` keeps hundreds, which would be
/// touched by every write while the endpoint is to disturb as little as possible.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lateness {
    bins: Vec<u64>,
    count: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { bins: vec![0; BINS * 40], count: 0 }
    }
}

impl Lateness {
    fn add(&mut self, late_ns: i64) {
        let bin = ((late_ns.max(1) as f64).log2() * BINS as f64) as usize;
        let last = self.bins.len() - 1;
        self.bins[bin.min(last)] += 1;
        self.count += 1;
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let bin = self.bins.iter().position(|count| {
            below += count;
            below >= wanted
        })?;
        Some(2_f64.powf((bin as f64 + 0.5) / BINS as f64) * 1e-9)
    }
}

impl CalibrationSummary {
    /// Counts a write: when it was due and happened, and the length of a gap if there is one.
    pub(super) fn count(&mut self, due_ns: i64, at_ns: i64, gap_ns: i64, events: u32, tokens: u32) {
        self.writes += 1;
        self.events += u64::from(events);
        self.tokens += u64::from(tokens);
        if gap_ns > 0 && tokens > 0 {
            self.late.add(at_ns - due_ns);
            let phase = at_ns.rem_euclid(gap_ns) as f64 / gap_ns as f64;
            self.phases[((phase * PHASES as f64) as usize).min(PHASES - 1)] += 1;
        }
    }

    /// Events in a write, over all writes.
    pub fn events_per_write(&self) -> Option<f64> {
        (self.writes > 0).then(|| self.events as f64 / self.writes as f64)
    }

    /// How late a write came, at most, for this share of the writes of tokens; in seconds, to within a tenth. None
    /// without a schedule to be late for.
    pub fn late_s(&self, share: f64) -> Option<f64> {
        (self.late.count > 0).then(|| self.late.quantile(share)).flatten()
    }

    /// How evenly tokens were spread over the gap: the emptiest and the fullest sixteenth of it, 1 being even.
    pub fn phase_spread(&self) -> Option<(f64, f64)> {
        let all: u64 = self.phases.iter().sum();
        let share = |count: &u64| *count as f64 * PHASES as f64 / all as f64;
        let low = self.phases.iter().min().map(share)?;
        let high = self.phases.iter().max().map(share)?;
        (all > 0).then_some((low, high))
    }
}

impl fmt::Display for CalibrationSummary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} requests on {} connections, at most {} at a time; {} abandoned by the client",
            self.requests, self.connections, self.most_in_flight, self.abandoned
        )?;
        write!(out, "{} tokens, {} events in {} writes", self.tokens, self.events, self.writes)?;
        if let Some(events) = self.events_per_write() {
            write!(out, ", {events:.3} events per write")?;
        }
        writeln!(out, "; {} writes had to wait for the client", self.blocked)?;
        if let (Some(half), Some(most)) = (self.late_s(0.5), self.late_s(0.99)) {
            writeln!(
                out,
                "sent later than scheduled by {:.3} ms (p50), {:.3} ms (p99)",
                half * 1e3,
                most * 1e3
            )?;
        }
        if let Some((low, high)) = self.phase_spread() {
            writeln!(out, "spread over the gap: {low:.2} to {high:.2} of the mean in each sixteenth of it")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_told_to_within_a_tenth() {
        let mut summary = CalibrationSummary::default();
        for step in 1..=1000 {
            summary.count(0, step * 1000, 10_000_000, 1, 1);
        }
        let (half, most) = (summary.late_s(0.5).unwrap(), summary.late_s(0.99).unwrap());
        assert!((half / 500e-6 - 1.0).abs() < 0.1, "{half}");
        assert!((most / 990e-6 - 1.0).abs() < 0.1, "{most}");
    }

    #[test]
    fn an_even_spread_is_one() {
        let mut summary = CalibrationSummary::default();
        for step in 0..1600 {
            summary.count(0, step * 1000, 1_600_000, 2, 1);
        }
        assert_eq!(summary.phase_spread(), Some((1.0, 1.0)));
        assert_eq!(summary.events_per_write(), Some(2.0));
        summary.count(0, 0, 1_600_000, 1, 1);
        assert!(summary.phase_spread().unwrap().1 > 1.0);
    }

    #[test]
    fn without_a_schedule_nothing_is_late() {
        let mut summary = CalibrationSummary::default();
        summary.count(0, 5, 0, 1, 1);
        assert_eq!((summary.late_s(0.5), summary.phase_spread()), (None, None));
    }
}
