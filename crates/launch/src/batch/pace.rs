//! How often the scheduler is asked. Rarely while nothing changes, at once again when something does, and never more often
//! than the platform allows.

use std::time::{Duration, Instant};

/// The pause grows by this factor while nothing changes.
const GROWTH: f64 = 1.5;
/// The longest pause, in seconds, and in shortest pauses.
const LONGEST_S: f64 = 30.0;

/// When to ask next.
pub struct PollPace {
    shortest: Duration,
    longest: Duration,
    pause: Duration,
    polled: Instant,
    submitted: Option<Instant>,
}

impl PollPace {
    /// The first question is due after the shortest pause.
    pub fn new(shortest_s: f64) -> PollPace {
        let shortest = Duration::from_secs_f64(shortest_s.clamp(0.01, 3600.0));
        let longest = Duration::from_secs_f64(LONGEST_S).max(shortest);
        PollPace { shortest, longest, pause: shortest, polled: Instant::now(), submitted: None }
    }

    /// Whether it is time to ask.
    pub fn is_due(&self) -> bool {
        self.polled.elapsed() >= self.pause
    }

    /// How long nothing is to be asked.
    pub fn until_due(&self) -> Duration {
        self.pause.saturating_sub(self.polled.elapsed())
    }

    /// The scheduler was asked.
    pub fn polled(&mut self, has_changed: bool) {
        self.polled = Instant::now();
        self.pause = match has_changed {
            true => self.shortest,
            false => self.pause.mul_f64(GROWTH).min(self.longest),
        };
    }

    /// Something happened that the scheduler knows about.
    pub fn wake(&mut self) {
        self.pause = self.shortest;
    }

    /// Whether the last submission was long enough ago.
    pub fn may_submit(&self) -> bool {
        self.submitted.is_none_or(|at| at.elapsed() >= self.shortest)
    }

    /// Something is being submitted.
    pub fn submitted(&mut self) {
        self.submitted = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_something_changes() {
        let mut pace = PollPace::new(1.0);
        for _ in 0..20 {
            pace.polled(false);
        }
        assert_eq!(pace.pause, Duration::from_secs(30));
        pace.wake();
        assert_eq!(pace.pause, Duration::from_secs(1));
        pace.polled(false);
        assert!(pace.pause > Duration::from_secs(1) && !pace.is_due());
        assert!(pace.may_submit());
        pace.submitted();
        assert!(!pace.may_submit());
    }
}
