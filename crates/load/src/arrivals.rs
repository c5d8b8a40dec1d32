//! When requests are meant to be sent: arrivals as iterators of intended times, made from a seed.
//!
//! Intended times do not depend on how the endpoint behaves, which is what makes an open loop open: a request that
//! had to wait for a free stream still counts from the moment it was meant to go. A closed loop has no intended
//! times; there a request counts from when it is sent, or from when its user has thought.

mod conversations;
mod open;
mod trace;

pub use conversations::{Conversations, Think};
pub use open::Times;
pub use trace::{Trace, TraceEntry, TraceError};

use std::time::Duration;

/// How requests arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Streams, each sending its next request when the one before it ended.
    Closed {
        /// How many streams.
        streams: u32,
    },
    /// Evenly spaced.
    Constant {
        /// Requests per second.
        rate: f64,
    },
    /// Independent arrivals: exponential gaps.
    Poisson {
        /// Requests per second.
        rate: f64,
    },
    /// Gamma-distributed gaps.
    Gamma {
        /// Requests per second.
        rate: f64,
        /// The shape of the gaps: 1 is Poisson, less is burstier, more is smoother.
        shape: f64,
    },
    /// Poisson arrivals whose rate changes steadily, then stays.
    Ramp {
        /// Requests per second at the beginning.
        from: f64,
        /// Requests per second at the end of the ramp and after it.
        to: f64,
        /// How long the rate changes.
        over: Duration,
        /// How it changes.
        curve: RampCurve,
    },
    /// The times of a recorded trace.
    Trace(Trace),
    /// Multi-turn conversations.
    Conversations(Conversations),
}

/// How the rate of a ramp changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RampCurve {
    /// By the same amount each second.
    Linear,
    /// By the same factor each second.
    Exponential,
}

/// Why arrivals cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArrivalError {
    /// A rate that is not a positive number.
    #[error("the rate of arrivals is {0}, which is not a positive number of requests per second")]
    Rate(f64),
    /// A shape that is not a positive number.
    #[error("the shape of the gaps between arrivals is {0}, which is not a positive number")]
    Shape(f64),
    /// A closed loop without a stream.
    #[error("a closed loop needs at least one stream")]
    NoStreams,
    /// Conversations without turns.
    #[error("a conversation needs at least one turn")]
    NoTurns,
    /// Conversations that begin like conversations.
    #[error("conversations cannot begin like conversations: give them a closed loop or a rate")]
    Nested,
    /// A ramp that takes no time.
    #[error("the ramp takes no time")]
    NoRamp,
    /// A trace without entries.
    #[error("the trace has no entries")]
    EmptyTrace,
}

impl Arrivals {
    /// Checks that the numbers can be used.
    pub fn check(&self) -> Result<(), ArrivalError> {
        match self {
            Self::Closed { streams: 0 } => Err(ArrivalError::NoStreams),
            Self::Closed { .. } => Ok(()),
            Self::Constant { rate } | Self::Poisson { rate } => check_rate(*rate),
            Self::Gamma { shape, .. } if !is_positive(*shape) => Err(ArrivalError::Shape(*shape)),
            Self::Gamma { rate, .. } => check_rate(*rate),
            Self::Ramp { over, .. } if over.is_zero() => Err(ArrivalError::NoRamp),
            // A linear ramp may begin at nothing; an exponential one would stay there for ever.
            Self::Ramp { from, to, curve: RampCurve::Linear, .. } if *from == 0.0 => check_rate(*to),
            Self::Ramp { from, to, .. } => check_rate(*from).and_then(|()| check_rate(*to)),
            Self::Trace(trace) if trace.entries().is_empty() => Err(ArrivalError::EmptyTrace),
            Self::Trace(_) => Ok(()),
            Self::Conversations(conversations) => conversations.check(),
        }
    }

    /// How many requests may be in flight because of the arrivals themselves; none for an open loop.
    pub fn streams(&self) -> Option<u32> {
        match self {
            Self::Closed { streams } => Some(*streams),
            Self::Conversations(conversations) => conversations.begin.streams(),
            _ => None,
        }
    }

    /// The rate of an open loop that has only one, in requests per second.
    pub fn rate(&self) -> Option<f64> {
        match self {
            Self::Constant { rate } | Self::Poisson { rate } | Self::Gamma { rate, .. } => Some(*rate),
            Self::Conversations(conversations) => conversations.begin.rate(),
            Self::Closed { .. } | Self::Ramp { .. } | Self::Trace(_) => None,
        }
    }

    /// The intended times of an open loop, in seconds since the load began; for conversations the times at which they
    /// begin. None for a closed loop.
    ///
    /// The same seed gives the same times. All iterators but a trace's are endless; take as many as are wanted.
    pub fn times(&self, seed: u64) -> Option<Times> {
        match self {
            Self::Conversations(conversations) => Times::new(&conversations.begin, seed),
            _ => Times::new(self, seed),
        }
    }
}

fn is_positive(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

fn check_rate(rate: f64) -> Result<(), ArrivalError> {
    if is_positive(rate) { Ok(()) } else { Err(ArrivalError::Rate(rate)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_cannot_be_used_are_refused() {
        assert_eq!(Arrivals::Closed { streams: 0 }.check(), Err(ArrivalError::NoStreams));
        assert_eq!(Arrivals::Poisson { rate: -1.0 }.check(), Err(ArrivalError::Rate(-1.0)));
        assert!(matches!(Arrivals::Constant { rate: f64::NAN }.check(), Err(ArrivalError::Rate(_))));
        assert_eq!(Arrivals::Gamma { rate: 1.0, shape: 0.0 }.check(), Err(ArrivalError::Shape(0.0)));
        let ramp = |from, curve| Arrivals::Ramp { from, to: 5.0, over: Duration::from_secs(1), curve };
        assert_eq!(ramp(0.0, RampCurve::Linear).check(), Ok(()));
        assert_eq!(ramp(0.0, RampCurve::Exponential).check(), Err(ArrivalError::Rate(0.0)));
    }

    #[test]
    fn only_closed_loops_bound_what_is_in_flight() {
        assert_eq!(Arrivals::Closed { streams: 4 }.streams(), Some(4));
        assert_eq!(Arrivals::Constant { rate: 4.0 }.streams(), None);
        assert!(Arrivals::Closed { streams: 4 }.times(1).is_none());
    }
}
