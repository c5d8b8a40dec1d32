//! Multi-turn conversations: who begins when is left to other arrivals, how long a user thinks is said here.

use std::time::Duration;

use super::{ArrivalError, Arrivals};
use assay_random::Random;

/// Conversations of several turns. A turn is meant to be sent when its user has thought about the answer before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversations {
    /// How conversations begin: a closed loop has a fixed number of users, an open loop a number of new ones per second.
    pub begin: Box<Arrivals>,
    /// Turns of a conversation at most; it ends earlier where its prompts do.
    pub turns: u32,
    /// How long a user thinks between an answer and the next turn.
    pub think: Think,
}

/// How long a user thinks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Think {
    /// Always the same time.
    Constant(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Log-normal with this median; `spread` is the deviation of the logarithm. People's reading and typing times
    /// have this shape.
    LogNormal {
        /// Half of all thinking times are below it.
        median: Duration,
        /// The deviation of the natural logarithm.
        spread: f64,
    },
}

impl Conversations {
    /// Checks that the numbers can be used.
    pub(super) fn check(&self) -> Result<(), ArrivalError> {
        match (&*self.begin, self.think) {
            _ if self.turns == 0 => Err(ArrivalError::NoTurns),
            (Arrivals::Conversations(_), _) => Err(ArrivalError::Nested),
            (_, Think::LogNormal { spread, .. }) if !(spread.is_finite() && spread >= 0.0) => {
                Err(ArrivalError::Shape(spread))
            }
            (begin, _) => begin.check(),
        }
    }

    /// How long the user of a conversation thinks before `turn`, in seconds. Turn 0 is the beginning: no thinking.
    /// The same seed, conversation and turn give the same time, in whatever order they are asked for.
    pub fn think_s(&self, seed: u64, conversation: u64, turn: u32) -> f64 {
        if turn == 0 {
            return 0.0;
        }
        let mut random =
            Random::item(seed, "think", conversation.wrapping_mul(0x1_0000).wrapping_add(turn.into()));
        match self.think {
            Think::Constant(time) => time.as_secs_f64(),
            Think::Exponential(mean) => mean.as_secs_f64() * random.exponential(),
            Think::LogNormal { median, spread } => median.as_secs_f64() * (spread * random.normal()).exp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversations(think: Think) -> Conversations {
        Conversations { begin: Box::new(Arrivals::Closed { streams: 3 }), turns: 5, think }
    }

    #[test]
    fn thinking_has_its_mean_and_median() {
        let exponential = conversations(Think::Exponential(Duration::from_secs(2)));
        let mean = (0..50_000).map(|item| exponential.think_s(1, item, 1)).sum::<f64>() / 50_000.0;
        assert!((mean - 2.0).abs() < 0.05, "{mean}");
        let normal = conversations(Think::LogNormal { median: Duration::from_secs(3), spread: 0.8 });
        let below = (0..50_000).filter(|item| normal.think_s(1, *item, 2) < 3.0).count();
        assert!((24_000..26_000).contains(&below), "{below}");
    }

    #[test]
    fn the_first_turn_needs_no_thinking() {
        assert_eq!(conversations(Think::Constant(Duration::from_secs(2))).think_s(1, 4, 0), 0.0);
        assert_eq!(conversations(Think::Constant(Duration::from_secs(2))).think_s(1, 4, 1), 2.0);
    }

    #[test]
    fn conversations_begin_like_their_arrivals() {
        let mut poisson = conversations(Think::Constant(Duration::ZERO));
        poisson.begin = Box::new(Arrivals::Poisson { rate: 2.0 });
        let whole = Arrivals::Conversations(poisson);
        assert_eq!(whole.check(), Ok(()));
        assert_eq!(whole.streams(), None);
        assert_eq!(whole.times(5).unwrap().next(), Arrivals::Poisson { rate: 2.0 }.times(5).unwrap().next());
    }
}
