//! The search for capacity: the highest rate at which requests meet their bounds with confidence.
//!
//! A rate *holds* if the lower end of Wilson's interval of the share of good requests is at least the share that is
//! required, and *misses* if the upper end is below it. Between the two it is undecided: such a rate is tried
//! again, its requests counted together, and does not hold if it is still undecided after a few tries. Rates are doubled or
//! halved until one holds and one does not, then the space between them is halved (on a scale of ratios) until it is
//! small enough. The rate that holds is tried twice before it is the answer. A rate above one that misses never counts
//! as holding, whatever luck it had.

use super::{Share, Validity};

/// How often an undecided rate is tried.
const MOST_TRIES: usize = 3;
/// How often a rate must have been tried to be the answer.
const LEAST_TRIES: usize = 2;
/// How often rates are doubled or halved at most.
const MOST_STEPS: i32 = 16;
/// Client-limited rates after which the search is given up: the client would not keep up with less either, and lower
/// rates take ever longer.
const MOST_CLIENT_LIMITED: usize = 4;
/// More requests are not asked of a probe for the sake of confidence.
const MOST_REQUESTS: u64 = 100_000;
/// An end for a search that noise keeps from its end.
const MOST_PROBES: usize = 80;

/// One load at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Requests per second.
    pub rate: f64,
    /// Requests that met every bound, of all.
    pub good: Share,
    /// Whether it can be trusted.
    pub validity: Validity,
}

/// The outcome of all probes of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// The bounds are met with confidence.
    Holds,
    /// They are not met, with confidence.
    Misses,
    /// Neither is certain.
    Undecided,
    /// A probe that did not hold is invalid, so it does not say whether the endpoint was at fault.
    ClientLimited,
}

impl ProbeOutcome {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ProbeOutcome::Holds => "holds",
            ProbeOutcome::Misses => "misses",
            ProbeOutcome::Undecided => "undecided",
            ProbeOutcome::ClientLimited => "client-limited",
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Capacity {
    /// The bounds are met at `low` and not at `high`.
    Between {
        /// The highest rate that holds.
        low: f64,
        /// The lowest rate that does not.
        high: f64,
    },
    /// They are met at the highest rate that could be tried.
    AtLeast(f64),
    /// They are not met even at this rate, the lowest that was tried.
    None {
        /// That rate.
        below: f64,
    },
    /// Nothing was tried, or every rate was client-limited.
    Unknown,
}

/// A search, probe by probe.
#[derive(Debug, Clone)]
pub struct Search {
    begin: f64,
    most: f64,
    share: f64,
    precision: f64,
    probes: Vec<Probe>,
}

impl Search {
    /// Starts at a rate and goes up to `most`; `share` of all requests must be good, and the capacity is found to a
    /// relative precision.
    pub fn new(begin: f64, most: f64, share: f64, precision: f64) -> Search {
        Search { begin: begin.min(most), most, share, precision: precision.max(1e-3), probes: Vec::new() }
    }

    /// How many requests a probe needs so that it can hold although one of them misses.
    pub fn requests_needed(&self) -> u64 {
        let can_hold = |all: u64| {
            Share { of: all.saturating_sub(1), all }.interval().is_some_and(|(low, _)| low >= self.share)
        };
        let mut all = 8;
        while !can_hold(all) && all < MOST_REQUESTS {
            all += all / 8;
        }
        all
    }

    /// All probes so far, in their order.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// Takes a probe.
    pub fn add(&mut self, probe: Probe) {
        self.probes.push(probe);
    }

    /// The outcome of all probes of a rate.
    pub fn outcome(&self, rate: f64) -> ProbeOutcome {
        let of_rate = self.probes.iter().filter(|probe| probe.rate == rate);
        let good = of_rate.clone().fold(Share::default(), |sum, probe| Share {
            of: sum.of + probe.good.of,
            all: sum.all + probe.good.all,
        });
        let is_client_limited = of_rate.clone().any(|probe| probe.validity == Validity::Invalid);
        match good.interval() {
            Some((low, _)) if low >= self.share => ProbeOutcome::Holds,
            // The client missed requests that it sent or read late, not the endpoint.
            Some(_) if is_client_limited => ProbeOutcome::ClientLimited,
            Some((_, high)) if high < self.share => ProbeOutcome::Misses,
            _ => ProbeOutcome::Undecided,
        }
    }

    /// The rate to try next; none if the answer is known, or cannot be known.
    pub fn next_rate(&self) -> Option<f64> {
        if self.probes.len() >= MOST_PROBES {
            return None;
        }
        let open = self.probes.iter().map(|probe| probe.rate).find(|rate| self.is_open(*rate));
        if open.is_some() {
            return open;
        }
        match self.bracket() {
            (None, None) => Some(self.begin).filter(|_| self.probes.is_empty()),
            (Some(low), None) if low < self.most => Some((low * 2.0).min(self.most)),
            (None, Some(_)) if self.is_hopeless() => None,
            (None, Some(high)) => {
                Some(high / 2.0).filter(|rate| *rate >= self.begin / 2.0_f64.powi(MOST_STEPS))
            }
            (Some(low), Some(high)) if high > low * (1.0 + self.precision) => Some((low * high).sqrt()),
            (Some(low), _) => Some(low).filter(|low| self.tries(*low) < LEAST_TRIES),
        }
    }

    /// What was found.
    pub fn capacity(&self) -> Capacity {
        match self.bracket() {
            (Some(low), Some(high)) => Capacity::Between { low, high },
            (Some(low), None) => Capacity::AtLeast(low),
            (None, Some(below)) if self.outcome(below) != ProbeOutcome::ClientLimited => {
                Capacity::None { below }
            }
            (None, _) => Capacity::Unknown,
        }
    }

    /// Whether the client and not the endpoint sets the upper end.
    pub fn is_limited_by_client(&self) -> bool {
        let (_, high) = self.bracket();
        high.is_some_and(|high| self.outcome(high) == ProbeOutcome::ClientLimited)
    }

    /// Whether every rate so far was client-limited, and they were many.
    fn is_hopeless(&self) -> bool {
        let mut rates: Vec<f64> = self.probes.iter().map(|probe| probe.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        rates.len() >= MOST_CLIENT_LIMITED
            && rates.iter().all(|rate| self.outcome(*rate) == ProbeOutcome::ClientLimited)
    }

    /// The highest rate that holds, and the lowest that does not; the first is below the second.
    fn bracket(&self) -> (Option<f64>, Option<f64>) {
        let rates = || self.probes.iter().map(|probe| probe.rate);
        let failed =
            rates().filter(|rate| self.outcome(*rate) != ProbeOutcome::Holds && !self.is_open(*rate));
        let high = failed.min_by(f64::total_cmp);
        let held = rates().filter(|rate| self.outcome(*rate) == ProbeOutcome::Holds);
        let low = held.filter(|rate| high.is_none_or(|high| *rate < high)).max_by(f64::total_cmp);
        (low, high)
    }

    /// Whether a rate is undecided and is to be tried again.
    fn is_open(&self, rate: f64) -> bool {
        self.outcome(rate) == ProbeOutcome::Undecided && self.tries(rate) < MOST_TRIES
    }

    fn tries(&self, rate: f64) -> usize {
        self.probes.iter().filter(|probe| probe.rate == rate).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An endpoint that serves `capacity` requests a second well, and no more of a higher rate.
    fn probe(capacity: f64, rate: f64) -> Probe {
        let all = 200_u32;
        let share = (capacity / rate).min(1.0);
        Probe {
            rate,
            good: Share { of: (share * f64::from(all)) as u64, all: all.into() },
            validity: Validity::Valid,
        }
    }

    fn searched(capacity: f64, mut search: Search) -> Search {
        while let Some(rate) = search.next_rate() {
            search.add(probe(capacity, rate));
        }
        search
    }

    proptest! {
        #[test]
        fn the_capacity_lies_in_the_answer(capacity in 0.01_f64..5000.0) {
            let search = searched(capacity, Search::new(4.0, 20_000.0, 0.95, 0.05));
            let Capacity::Between { low, high } = search.capacity() else { panic!("{:?}", search.capacity()) };
            // Up to a twentieth of the requests may miss, less what confidence asks for.
            prop_assert!(low <= capacity / 0.95 && high >= capacity * 0.99, "{low} {capacity} {high}");
            prop_assert!(high <= low * 1.05 + 1e-9);
            prop_assert!(search.tries(low) >= LEAST_TRIES && search.probes().len() < MOST_PROBES);
        }
    }

    #[test]
    fn ends_of_the_search_are_reported() {
        let far = searched(1e9, Search::new(10.0, 100.0, 0.95, 0.05));
        assert_eq!(far.capacity(), Capacity::AtLeast(100.0));
        let none = searched(0.0, Search::new(10.0, 100.0, 0.95, 0.05));
        assert!(
            matches!(none.capacity(), Capacity::None { below } if below < 0.001),
            "{:?}",
            none.capacity()
        );
        assert_eq!(Search::new(1.0, 2.0, 0.9, 0.1).capacity(), Capacity::Unknown);
    }

    #[test]
    fn a_probe_is_large_enough_for_its_share() {
        let needed = |share| Search::new(1.0, 2.0, share, 0.1).requests_needed();
        assert!((100..140).contains(&needed(0.95)) && (500..700).contains(&needed(0.99)));
        assert_eq!(needed(1.0), Search::new(1.0, 2.0, 1.0, 0.1).requests_needed());
    }

    #[test]
    fn few_requests_are_tried_again_and_luck_above_a_miss_does_not_count() {
        let mut search = Search::new(10.0, 1000.0, 0.95, 0.05);
        let good = |rate, of, all| Probe { rate, good: Share { of, all }, validity: Validity::Valid };
        search.add(good(10.0, 40, 40));
        assert_eq!((search.outcome(10.0), search.next_rate()), (ProbeOutcome::Undecided, Some(10.0)));
        search.add(good(10.0, 40, 40));
        assert_eq!((search.outcome(10.0), search.next_rate()), (ProbeOutcome::Holds, Some(20.0)));
        search.add(good(20.0, 0, 100));
        search.add(good(40.0, 100, 100));
        assert_eq!(search.capacity(), Capacity::Between { low: 10.0, high: 20.0 });
    }

    #[test]
    fn a_client_that_cannot_go_on_is_no_capacity() {
        let mut search = Search::new(10.0, 1000.0, 0.95, 0.05);
        search.add(probe(1e9, 10.0));
        search.add(Probe { validity: Validity::Invalid, ..probe(1.0, 20.0) });
        assert_eq!(search.outcome(20.0), ProbeOutcome::ClientLimited);
        assert!(search.is_limited_by_client());
    }

    #[test]
    fn a_client_that_spoils_everything_is_given_up() {
        let mut search = Search::new(80.0, 1000.0, 0.95, 0.05);
        for rate in [80.0, 40.0, 20.0, 10.0] {
            assert_eq!(search.next_rate(), Some(rate));
            search.add(Probe { validity: Validity::Invalid, ..probe(1.0, rate) });
        }
        assert_eq!((search.next_rate(), search.capacity()), (None, Capacity::Unknown));
    }
}
