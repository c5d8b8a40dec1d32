//! The search for capacity: the rate at which a load of a given length meets its SLOs as often as not.
//!
//! A probe is one load at one rate. It *holds* if the share of its requests that met every SLO is at least the share that is
//! required. Requests of one load wait in the same queue, so how many of them were good says little about the next load;
//! whether a load holds is one independent observation. The chance to hold falls with the rate as
//!
//! ```text
//! P(holds at rate r) = e + (1 − 2e) / (1 + (r / capacity)^(1 / s))
//! ```
//!
//! with an unknown steepness s and a small chance e of an accident. The answer is the 95 % interval of the posterior of
//! `capacity` on a grid, both unknowns having flat priors on a logarithmic scale (the Bayesian estimate of a threshold of
//! Kontsevich and Tyler, Vision Research 39, 1999). Short probes first find two rates, one that holds and one that does not;
//! then full ones are put where they say most, at and beside the present estimate, until the interval is as narrow as
//! requested. A test below counts how often the interval covers the truth.

use super::{Share, Validity};
use crate::CONFIDENCE;

/// The chance that a load ends on the other side by an accident that has nothing to do with its rate.
const ACCIDENT: f64 = 0.02;
/// The grid of the posterior: capacities and steepnesses.
const GRID: (usize, usize) = (160, 8);
/// The steepest and the flattest curve that is thought possible.
const STEEPNESS: (f64, f64) = (0.02, 0.3);
/// Fewer full probes are not an answer, and more are not made.
const PROBES: (usize, usize) = (10, 24);
/// Short probes find two rates that are this far apart at most.
const BRACKET: f64 = 2.0;
/// How far apart short probes are while all of them hold, or none.
const STEP: f64 = 4.0;
/// Client-limited probes after which the search is given up: the client would not keep up with less either, and lower
/// rates take ever longer.
const MOST_CLIENT_LIMITED: usize = 8;
/// Once may be an accident of the machine: a rate is too much for the client when it was client-limited this often.
const CONFIRMED: usize = 2;
/// Rates below this one take minutes a probe, and are not tried.
const LOWEST_RATE: f64 = 0.05;
/// More requests are not asked of a probe.
const MOST_REQUESTS: u64 = 100_000;

/// One load at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Requests per second.
    pub rate: f64,
    /// Whether it was a short one, which only looks where to begin.
    pub is_short: bool,
    /// Requests that met every SLO, of all.
    pub good: Share,
    /// Whether it can be trusted.
    pub validity: Validity,
}

/// A load to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbePlan {
    pub rate: f64,
    pub is_short: bool,
    /// How long requests are sent at least.
    pub seconds: f64,
    /// How many requests are sent at least.
    pub requests: u64,
}

/// How a probe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeOutcome {
    Holds,
    Misses,
    /// It missed and is invalid, so it does not say whether the endpoint was at fault.
    ClientLimited,
}

impl ProbeOutcome {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ProbeOutcome::Holds => "holds",
            ProbeOutcome::Misses => "misses",
            ProbeOutcome::ClientLimited => "client-limited",
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Capacity {
    /// The capacity with its interval.
    Between { center: f64, low: f64, high: f64 },
    /// The SLOs are met at the highest rate that could be tried.
    AtLeast(f64),
    /// They are not met even at this rate, the lowest that was tried.
    None { below: f64 },
    /// Nothing was tried, or every rate was client-limited.
    Unknown,
}

/// A search, probe by probe.
#[derive(Debug, Clone)]
pub struct CapacitySearch {
    begin: f64,
    most: f64,
    share: f64,
    precision: f64,
    probe_s: f64,
    probes: Vec<Probe>,
}

impl CapacitySearch {
    /// Starts at a rate and goes up to `most`; `share` of all requests must be good, full probes take `probe_s`, and the
    /// interval of the capacity is at most `precision` wide, relative to the capacity.
    pub fn new(begin: f64, most: f64, share: f64, precision: f64, probe_s: f64) -> CapacitySearch {
        let precision = precision.max(1e-3);
        CapacitySearch { begin: begin.min(most), most, share, precision, probe_s, probes: Vec::new() }
    }

    /// All probes so far, in their order.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// Takes a probe.
    pub fn add(&mut self, probe: Probe) {
        self.probes.push(probe);
    }

    /// How a probe ended.
    pub fn outcome(&self, probe: &Probe) -> ProbeOutcome {
        let is_good = probe.good.value().is_some_and(|share| share >= self.share);
        match probe.validity {
            _ if is_good => ProbeOutcome::Holds,
            // The client missed requests that it sent or read late, not the endpoint.
            Validity::Invalid => ProbeOutcome::ClientLimited,
            _ => ProbeOutcome::Misses,
        }
    }

    /// The next load to make; none if the answer is known, or cannot be known.
    pub fn next_probe(&self) -> Option<ProbePlan> {
        if self.limited().len() >= MOST_CLIENT_LIMITED || self.full().count() >= PROBES.1 {
            return None;
        }
        match self.bracket() {
            (None, None) => Some(self.short(self.begin.min(self.highest()))),
            (Some(low), None) if low >= self.highest() => {
                let tries = self.full().filter(|probe| probe.rate >= self.highest()).count();
                // The highest rate counts when full probes hold there.
                (tries < 2).then(|| self.planned(self.highest(), false))
            }
            (Some(low), None) => Some(self.short((low * STEP).min(self.highest()))),
            (None, Some(high)) => Some(self.short(high / STEP)).filter(|plan| plan.rate >= LOWEST_RATE),
            (Some(low), Some(high)) if high > low * BRACKET && self.full().next().is_none() => {
                Some(self.short((low * high).sqrt()))
            }
            (Some(low), Some(high)) => self.next_full(low, high),
        }
    }

    /// Full probes that are still needed, as far as that can be known: the width falls with the root of their number.
    pub fn probes_left(&self) -> Option<usize> {
        let Capacity::Between { center, low, high } = self.capacity() else { return None };
        let count = self.full().count();
        let ratio = (high - low) / center / self.precision;
        let needed = (count as f64 * ratio * ratio).ceil() as usize;
        Some(needed.clamp(PROBES.0, PROBES.1).saturating_sub(count))
    }

    /// What was found.
    pub fn capacity(&self) -> Capacity {
        if self.full().count() > 0
            && self
                .full()
                .all(|probe| self.outcome(probe) == ProbeOutcome::Holds && probe.rate >= self.highest())
        {
            return Capacity::AtLeast(self.highest());
        }
        if let Some((center, low, high)) = self.posterior().filter(|_| self.full().count() >= 2) {
            return Capacity::Between { center, low, high };
        }
        match self.bracket() {
            (Some(low), Some(high)) => Capacity::Between { center: (low * high).sqrt(), low, high },
            (Some(low), None) => Capacity::AtLeast(low),
            (None, Some(below)) => Capacity::None { below },
            (None, None) => Capacity::Unknown,
        }
    }

    /// Whether the capacity has an interval of confidence, and not only the ends that short probes found.
    pub fn has_interval(&self) -> bool {
        matches!(self.capacity(), Capacity::Between { .. }) && self.full().count() >= 2
    }

    /// Whether the client and not the endpoint sets the highest rate.
    pub fn is_limited_by_client(&self) -> bool {
        self.highest() < self.most || self.limited().len() >= MOST_CLIENT_LIMITED
    }

    fn short(&self, rate: f64) -> ProbePlan {
        self.planned(rate, true)
    }

    /// A probe at a rate.
    pub fn planned(&self, rate: f64, is_short: bool) -> ProbePlan {
        // One request that misses must not decide, so at least as many are sent as that is possible with.
        let least = (2.0 / (1.0 - self.share)).ceil();
        let (seconds, requests) =
            if is_short { ((self.probe_s / 4.0).max(1.0), 16.0) } else { (self.probe_s, least) };
        let requests = (requests as u64).min(MOST_REQUESTS);
        ProbePlan { rate: rounded(rate), is_short, seconds, requests }
    }

    /// The full probe that says most: at the estimate, and in turns a steepness beside it.
    fn next_full(&self, low: f64, high: f64) -> Option<ProbePlan> {
        let count = self.full().count();
        let Some((center, from, to)) = self.posterior().filter(|_| count > 0) else {
            return Some(self.planned((low * high).sqrt(), false));
        };
        if count >= PROBES.0 && (to - from) / center <= self.precision {
            return None;
        }
        let beside = ((to / from).ln() / 4.0).min(0.2);
        let offset = [0.0, beside, -beside][count % 3];
        let rate = (center * offset.exp()).min(self.highest());
        // The first few full probes know less than the short ones.
        Some(self.planned(if count < 3 { rate.clamp(low, high) } else { rate }, false))
    }

    fn full(&self) -> impl Iterator<Item = &Probe> + Clone {
        let counts = |probe: &&Probe| !probe.is_short && self.outcome(probe) != ProbeOutcome::ClientLimited;
        self.probes.iter().filter(counts)
    }

    /// Rates at which the client could not keep up.
    fn limited(&self) -> Vec<f64> {
        let limited = self.probes.iter().filter(|probe| self.outcome(probe) == ProbeOutcome::ClientLimited);
        limited.map(|probe| probe.rate).collect()
    }

    /// The highest rate that can be tried: below every one at which the client could not keep up, unless it did as often
    /// at that rate or a higher one.
    fn highest(&self) -> f64 {
        let limited = self.limited();
        let is_too_much = |rate: &f64| {
            let failed = limited.iter().filter(|other| *other <= rate).count();
            let kept_up =
                |probe: &&Probe| probe.rate >= *rate && self.outcome(probe) != ProbeOutcome::ClientLimited;
            failed >= CONFIRMED && failed > self.probes.iter().filter(kept_up).count()
        };
        let ceilings = limited.iter().filter(|rate| is_too_much(rate)).map(|rate| rounded(rate * 0.7));
        ceilings.fold(self.most, f64::min)
    }

    /// The highest rate that held and the lowest above it that did not, of all probes; those the other way round are noise.
    fn bracket(&self) -> (Option<f64>, Option<f64>) {
        let rates = |outcome| {
            let of = move |probe: &&Probe| self.outcome(probe) == outcome;
            self.probes.iter().filter(of).map(|probe| probe.rate)
        };
        let high = rates(ProbeOutcome::Misses).min_by(f64::total_cmp);
        let low = rates(ProbeOutcome::Holds).filter(|rate| high.is_none_or(|high| *rate < high));
        (low.max_by(f64::total_cmp), high)
    }

    /// The capacity with its interval, from the full probes.
    fn posterior(&self) -> Option<(f64, f64, f64)> {
        let rates = || self.full().map(|probe| probe.rate.ln());
        let (least, most) = (rates().min_by(f64::total_cmp)?, rates().max_by(f64::total_cmp)?);
        let (from, to) = (least - 0.7, most + 0.7);
        let step = (to - from) / GRID.0 as f64;
        let observed: Vec<(f64, bool)> =
            self.full().map(|probe| (probe.rate.ln(), self.outcome(probe) == ProbeOutcome::Holds)).collect();
        let mut weights = vec![0.0; GRID.0];
        for place in 0..GRID.1 {
            let part = place as f64 / (GRID.1 - 1) as f64;
            let steepness = STEEPNESS.0 * (STEEPNESS.1 / STEEPNESS.0).powf(part);
            for (index, weight) in weights.iter_mut().enumerate() {
                let capacity = from + step * (index as f64 + 0.5);
                *weight += likelihood(&observed, capacity, steepness);
            }
        }
        let total: f64 = weights.iter().sum();
        let at = |probability: f64| {
            let mut left = probability * total;
            for (index, weight) in weights.iter().enumerate() {
                if left <= *weight {
                    return (from + step * (index as f64 + left / weight.max(f64::MIN_POSITIVE))).exp();
                }
                left -= weight;
            }
            to.exp()
        };
        let tail = (1.0 - CONFIDENCE) / 2.0;
        (total > 0.0).then(|| (at(0.5), at(tail), at(1.0 - tail)))
    }
}

/// The probability of what was observed: logarithms of rates, and whether they held.
fn likelihood(observed: &[(f64, bool)], capacity: f64, steepness: f64) -> f64 {
    let one = |(rate, held): &(f64, bool)| {
        let holds = ACCIDENT + (1.0 - 2.0 * ACCIDENT) / (1.0 + ((rate - capacity) / steepness).exp());
        if *held { holds } else { 1.0 - holds }
    };
    observed.iter().map(one).product()
}

/// Four digits are enough for a rate, and read better.
fn rounded(rate: f64) -> f64 {
    let scale = 10_f64.powf(3.0 - rate.log10().floor());
    (rate * scale).round() / scale
}

#[cfg(test)]
mod tests;
