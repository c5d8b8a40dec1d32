//! Intended times of open loops.

use std::sync::Arc;

use super::{Arrivals, RampCurve, TraceEntry};
use assay_random::Random;

/// The intended times of an open loop, in seconds since the load began; never decreasing.
#[derive(Debug, Clone)]
pub struct Times {
    law: Law,
    random: Random,
    /// How many times were given.
    given: u64,
    /// The sum of all gaps so far, in units of the law: seconds, or expected arrivals for a ramp.
    elapsed: f64,
}

/// Where the next time comes from.
#[derive(Debug, Clone)]
enum Law {
    Constant { rate: f64 },
    Gamma { rate: f64, shape: f64 },
    Poisson { rate: f64 },
    Ramp(Ramp),
    Trace(Arc<[TraceEntry]>),
}

/// A rate that changes from one value to another and then stays.
#[derive(Debug, Clone)]
struct Ramp {
    from: f64,
    to: f64,
    over: f64,
    curve: RampCurve,
}

impl Times {
    /// The times of `arrivals`; none for those that have no times of their own.
    pub(super) fn new(arrivals: &Arrivals, seed: u64) -> Option<Self> {
        let law = match arrivals {
            Arrivals::Constant { rate } => Law::Constant { rate: *rate },
            Arrivals::Poisson { rate } => Law::Poisson { rate: *rate },
            Arrivals::Gamma { rate, shape } => Law::Gamma { rate: *rate, shape: *shape },
            Arrivals::Ramp { from, to, over, curve } => {
                Law::Ramp(Ramp { from: *from, to: *to, over: over.as_secs_f64(), curve: *curve })
            }
            Arrivals::Trace(trace) => Law::Trace(trace.entries_shared()),
            Arrivals::Closed { .. } | Arrivals::Conversations(_) => return None,
        };
        Some(Self { law, random: Random::stream(seed, "arrivals"), given: 0, elapsed: 0.0 })
    }
}

impl Iterator for Times {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let index = self.given;
        self.given += 1;
        Some(match &self.law {
            // A product, not a sum of gaps: a million additions would drift.
            Law::Constant { rate } => index as f64 / rate,
            Law::Poisson { rate } => {
                self.elapsed += self.random.exponential() / rate;
                self.elapsed
            }
            Law::Gamma { rate, shape } => {
                self.elapsed += self.random.gamma(*shape) / rate;
                self.elapsed
            }
            Law::Ramp(ramp) => {
                self.elapsed += self.random.exponential();
                ramp.time_of(self.elapsed)
            }
            Law::Trace(entries) => entries.get(usize::try_from(index).ok()?)?.at_s,
        })
    }
}

impl Ramp {
    /// When `expected` arrivals are expected to have happened. Independent arrivals with a changing rate are arrivals
    /// with rate 1 on the axis of the expected count (Çinlar's time change), so the inverse of that count is needed.
    fn time_of(&self, expected: f64) -> f64 {
        let Self { from, to, over, curve } = self;
        let during = match curve {
            RampCurve::Linear => (from + to) / 2.0 * over,
            RampCurve::Exponential if from == to => from * over,
            RampCurve::Exponential => (to - from) * over / (to / from).ln(),
        };
        if expected >= during {
            return over + (expected - during) / to;
        }
        match curve {
            // from·t + (to − from)/(2·over)·t² = expected, in the form that is stable for a small slope.
            RampCurve::Linear => {
                let slope = (to - from) / over;
                2.0 * expected / (from + (from * from + 2.0 * slope * expected).max(0.0).sqrt())
            }
            RampCurve::Exponential if from == to => expected / from,
            RampCurve::Exponential => {
                let growth = (to / from).ln() / over;
                (1.0 + expected * growth / from).ln() / growth
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn times(arrivals: &Arrivals, count: usize) -> Vec<f64> {
        arrivals.times(11).unwrap().take(count).collect()
    }

    #[test]
    fn constant_arrivals_do_not_drift() {
        let times = times(&Arrivals::Constant { rate: 3.0 }, 3_000_001);
        assert_eq!(times[0], 0.0);
        assert_eq!(times[3_000_000], 1_000_000.0);
    }

    #[test]
    fn open_loops_keep_their_rate_and_order() {
        for arrivals in [
            Arrivals::Poisson { rate: 50.0 },
            Arrivals::Gamma { rate: 50.0, shape: 0.3 },
            Arrivals::Gamma { rate: 50.0, shape: 4.0 },
        ] {
            let times = times(&arrivals, 100_000);
            let rate = times.len() as f64 / times.last().unwrap();
            assert!((rate / 50.0 - 1.0).abs() < 0.02, "{arrivals:?}: {rate}");
            assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }

    #[test]
    fn a_seed_gives_the_same_times() {
        let arrivals = Arrivals::Poisson { rate: 9.0 };
        let take = |seed| arrivals.times(seed).unwrap().take(50).collect::<Vec<_>>();
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
    }

    #[test]
    fn a_ramp_has_its_rate_at_every_time() {
        for curve in [RampCurve::Linear, RampCurve::Exponential] {
            let from = if curve == RampCurve::Linear { 0.0 } else { 10.0 };
            let ramp = Arrivals::Ramp { from, to: 1000.0, over: Duration::from_secs(100), curve };
            let times = times(&ramp, 100_000);
            let between =
                |low: f64, high: f64| times.iter().filter(|t| (low..high).contains(*t)).count() as f64;
            let expected = |t: f64| match curve {
                RampCurve::Linear => 1000.0 * t / 100.0,
                RampCurve::Exponential => 10.0 * 100.0_f64.powf(t / 100.0),
            };
            for middle in [35.0, 65.0, 95.0] {
                let rate = between(middle - 1.0, middle + 1.0) / 2.0;
                let wanted = expected(middle);
                assert!(
                    (rate - wanted).abs() < 5.0 * (wanted / 2.0).sqrt(),
                    "{curve:?} at {middle}: {rate} for {wanted}"
                );
            }
            let after = between(101.0, 121.0) / 20.0;
            assert!((after / 1000.0 - 1.0).abs() < 0.05, "{curve:?}: {after}");
        }
    }

    #[test]
    fn a_ramp_that_stays_is_no_special_case() {
        for curve in [RampCurve::Linear, RampCurve::Exponential] {
            let ramp = Ramp { from: 5.0, to: 5.0, over: 2.0, curve };
            for expected in [0.0, 1.0, 9.9, 10.0, 50.0] {
                assert!((ramp.time_of(expected) - expected / 5.0).abs() < 1e-12);
            }
        }
    }
}
