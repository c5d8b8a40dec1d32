//! Intervals of what one load says. Requests that wait in one queue are not independent, so an interval over single requests
//! would be far too narrow. Requests are put into batches of neighbors, and the interval is Student's over the batches
//! (batch means; Law, *Simulation Modeling and Analysis*, chapter 9). Batches that still resemble their neighbors are put
//! together; where fewer than ten are left, the load is too short and there is no interval.
//!
//! A quantile x at probability p has the interval from the quantile at p − h to that at p + h, where h is the half-width of
//! the share of values up to x, from the batches. It is never narrower than the exact one for independent requests.

use assay_stats::interval::{mean_interval, quantile_ranks};
use assay_stats::proportion::wilson;

use super::batch::Batch;
use super::{Distribution, Window};
use crate::CONFIDENCE;

/// Batches that are kept; when there are more, pairs are put together.
const MOST_BATCHES: usize = 64;
/// Fewer batches give no interval.
const LEAST_BATCHES: usize = 10;
/// Beyond so many values the normal distribution is as good as counting.
const EXACT_RANKS: u64 = 10_000;
/// Requests of a batch at least.
const LEAST_REQUESTS: f64 = 5.0;

/// Values of requests with their batches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batched {
    total: Distribution,
    batches: Vec<Batch>,
    requests_per_batch: u64,
    in_last: u64,
}

/// A batched distribution is read like any other.
impl std::ops::Deref for Batched {
    type Target = Distribution;

    fn deref(&self) -> &Distribution {
        &self.total
    }
}

impl Batched {
    /// Adds the value of a request.
    pub fn add(&mut self, value: f64) {
        self.add_all(std::iter::once(value));
    }

    /// Adds all values of one request.
    pub fn add_all(&mut self, values: impl Iterator<Item = f64>) {
        if self.batches.is_empty() || self.in_last == self.requests_per_batch {
            if self.batches.len() == MOST_BATCHES {
                self.batches = self.batches.chunks(2).map(Batch::merged).collect();
                self.requests_per_batch *= 2;
            }
            self.batches.push(Batch::default());
            (self.requests_per_batch, self.in_last) = (self.requests_per_batch.max(1), 0);
        }
        self.in_last += 1;
        if let Some(batch) = self.batches.last_mut() {
            for value in values {
                self.total.add(value);
                batch.add(value);
            }
        }
    }

    /// The interval of the mean.
    pub fn mean_interval(&self) -> Option<(f64, f64)> {
        let means: Vec<f64> = self.whole().iter().filter_map(Batch::mean).collect();
        let half = half_width(&means, self.requests_per_batch as f64)?;
        let mean = self.mean()?;
        Some(((mean - half).max(0.0), mean + half))
    }

    /// The interval of a quantile.
    pub fn quantile_interval(&self, probability: f64) -> Option<(f64, f64)> {
        let at = self.quantile(probability)?;
        let shares: Vec<f64> = self.whole().iter().filter_map(|batch| batch.share_up_to(at)).collect();
        let half = half_width(&shares, self.requests_per_batch as f64)?;
        let (low, high) = (probability - half, probability + half);
        // Beyond the outermost values nothing is known.
        let outermost = 1.0 / self.count() as f64;
        if low <= outermost || high >= 1.0 - outermost {
            return None;
        }
        let (least, most) = of_independent(self.count(), probability)?;
        Some((self.quantile(low.min(least))?, self.quantile(high.max(most))?))
    }

    /// The batches that are full, or nearly.
    fn whole(&self) -> &[Batch] {
        let is_short = self.in_last * 2 < self.requests_per_batch;
        let count = self.batches.len() - usize::from(is_short && !self.batches.is_empty());
        &self.batches[..count]
    }
}

/// Between which shares of the values a quantile of independent ones lies. That is the best case: values that resemble
/// their neighbors say less. It is exact, and takes a least number of values, up to [`EXACT_RANKS`].
fn of_independent(count: u64, probability: f64) -> Option<(f64, f64)> {
    if count > EXACT_RANKS {
        let half = 1.96 * (probability * (1.0 - probability) / count as f64).sqrt();
        return Some((probability - half, probability + half));
    }
    let ranks = quantile_ranks(usize::try_from(count).ok()?, probability, CONFIDENCE)?;
    let share = |rank: usize| (rank as f64 - 1.0) / (count as f64 - 1.0);
    Some((share(ranks.low), share(ranks.high)))
}

/// The half-width of the interval of a mean over batches, after as many were put together as independence needs.
fn half_width(values: &[f64], requests_per_batch: f64) -> Option<f64> {
    let values = independent(values.to_vec(), requests_per_batch)?;
    let interval = mean_interval(&values, CONFIDENCE)?;
    Some((interval.high - interval.low) / 2.0)
}

/// Puts neighbors together until they are large enough and do not resemble each other; none if too few are left.
fn independent(mut values: Vec<f64>, mut requests: f64) -> Option<Vec<f64>> {
    while requests < LEAST_REQUESTS || resemblance(&values) > 1.28 / (values.len() as f64).sqrt() {
        if values.len() < 2 * LEAST_BATCHES {
            return None;
        }
        values = values.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
        requests *= 2.0;
    }
    (values.len() >= LEAST_BATCHES).then_some(values)
}

/// The correlation of neighbors.
fn resemblance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let all: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let neighbors: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if all > 0.0 { neighbors / all } else { 0.0 }
}

/// How many requests of each batch have a property.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchedShare {
    /// How many, of how many.
    batches: Vec<(u64, u64)>,
    requests_per_batch: u64,
}

impl BatchedShare {
    /// Counts a request.
    pub fn add(&mut self, has: bool) {
        self.requests_per_batch = self.requests_per_batch.max(1);
        if self.batches.last().is_none_or(|(_, all)| *all == self.requests_per_batch) {
            if self.batches.len() == MOST_BATCHES {
                let pairs = self.batches.chunks(2);
                self.batches =
                    pairs.map(|pair| pair.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))).collect();
                self.requests_per_batch *= 2;
            }
            self.batches.push((0, 0));
        }
        if let Some((of, all)) = self.batches.last_mut() {
            *of += u64::from(has);
            *all += 1;
        }
    }

    /// Wilson's interval for the number of independent requests that say as much as these.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (of, all) = self.batches.iter().fold((0, 0), |sum, batch| (sum.0 + batch.0, sum.1 + batch.1));
        let share = of as f64 / all as f64;
        let shares: Vec<f64> = self.batches.iter().map(|(of, all)| *of as f64 / *all as f64).collect();
        let values = independent(shares, self.requests_per_batch as f64)?;
        let count = values.len() as f64;
        let variance =
            values.iter().map(|value| (value - share).powi(2)).sum::<f64>() / (count - 1.0) / count;
        let if_independent = share * (1.0 - share) / all as f64;
        let design = if if_independent > 0.0 { (variance / if_independent).max(1.0) } else { 1.0 };
        let (of, all) = ((of as f64 / design).round() as usize, (all as f64 / design).round() as usize);
        let interval = wilson(of.min(all), all, CONFIDENCE)?;
        Some((interval.low.min(share), interval.high.max(share)))
    }
}

/// What arrived in each part of the measured window.
#[derive(Debug, Clone, PartialEq)]
pub struct Slices {
    window: Window,
    amounts: Vec<f64>,
    /// Arrivals, to know how many of them a slice stands for.
    count: u64,
}

impl Slices {
    pub fn new(window: Window) -> Slices {
        Slices { window, amounts: vec![0.0; MOST_BATCHES], count: 0 }
    }

    /// Adds an amount that arrived at a time; outside of the window it does not count.
    pub fn add(&mut self, at_s: f64, amount: f64) {
        if !self.window.has(at_s) {
            return;
        }
        let place = (at_s - self.window.begin_s) / self.window.length_s() * MOST_BATCHES as f64;
        // An empty window has a place that is not a number, which is the first one here.
        let place = (place as usize).min(MOST_BATCHES - 1);
        if let Some(slice) = self.amounts.get_mut(place) {
            *slice += amount;
        }
        self.count += 1;
    }

    /// Everything that arrived inside.
    pub fn total(&self) -> f64 {
        self.amounts.iter().sum()
    }

    /// Everything per second.
    pub fn rate(&self) -> Option<f64> {
        (self.window.length_s() > 0.0).then(|| self.total() / self.window.length_s())
    }

    /// The interval of the rate.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let slice_s = self.window.length_s() / MOST_BATCHES as f64;
        let rates: Vec<f64> = self.amounts.iter().map(|amount| amount / slice_s).collect();
        let half = half_width(&rates, self.count as f64 / MOST_BATCHES as f64)?;
        let rate = self.rate()?;
        Some(((rate - half).max(0.0), rate + half))
    }
}

#[cfg(test)]
mod tests {
    use assay_random::Random;

    use super::*;

    /// Sojourn times of an M/M/1 queue at 60 % load, which starts in its stationary state.
    fn queue(random: &mut Random, requests: usize) -> Vec<f64> {
        let (arrival, service) = (0.6, 1.0);
        let mut wait = if random.unit() < 0.4 { 0.0 } else { random.exponential() / (service - arrival) };
        let mut times = Vec::new();
        for _ in 0..requests {
            let own = random.exponential() / service;
            times.push(wait + own);
            wait = (wait + own - random.exponential() / arrival).max(0.0);
        }
        times
    }

    #[test]
    fn intervals_of_queued_requests_cover_the_truth() {
        // Exponential sojourn times with rate 1 − 0.6: mean 2.5, p90 2.5·ln 10.
        let (mut means, mut tails, mut all) = (0, 0, 0);
        for seed in 0..300 {
            let mut random = Random::item(seed, "queue", 0);
            let mut batched = Batched::default();
            queue(&mut random, 4000).into_iter().for_each(|time| batched.add(time));
            let (Some(mean), Some(tail)) = (batched.mean_interval(), batched.quantile_interval(0.9)) else {
                continue;
            };
            all += 1;
            means += u32::from((mean.0..=mean.1).contains(&2.5));
            tails += u32::from((tail.0..=tail.1).contains(&(2.5 * 10_f64.ln())));
        }
        assert!(all > 200, "{all}");
        let share = |count: u32| f64::from(count) / f64::from(all);
        assert!(share(means) >= 0.90 && share(tails) >= 0.90, "{means} {tails} of {all}");
    }

    #[test]
    fn the_same_requests_taken_as_independent_would_not() {
        // What Wilson's interval over queued requests would claim: this is why batches are used.
        let (mut naive, mut batched, mut all) = (0, 0, 0);
        let truth = 1.0 - (-0.4_f64 * 5.0).exp();
        for seed in 0..200 {
            let mut random = Random::item(seed, "share", 0);
            let mut share = BatchedShare::default();
            let times = queue(&mut random, 4000);
            times.iter().for_each(|time| share.add(*time <= 5.0));
            let of = times.iter().filter(|time| **time <= 5.0).count();
            let Some(own) = share.interval() else { continue };
            let claimed = wilson(of, times.len(), CONFIDENCE).unwrap();
            all += 1;
            batched += u32::from((own.0..=own.1).contains(&truth));
            naive += u32::from((claimed.low..=claimed.high).contains(&truth));
        }
        let part = |count: u32| f64::from(count) / f64::from(all);
        assert!(all > 120 && part(batched) >= 0.88 && part(naive) < 0.75, "{batched} {naive} of {all}");
    }

    #[test]
    fn a_tail_takes_the_values_that_its_exact_interval_takes() {
        let intervals = |values: u32| {
            let mut batched = Batched::default();
            let mut random = Random::item(7, "tail", u64::from(values));
            (0..values).for_each(|_| batched.add(1.0 + random.unit()));
            (batched.quantile_interval(0.5), batched.quantile_interval(0.99))
        };
        let (median, tail) = intervals(300);
        assert!(median.is_some() && tail.is_none(), "p99 takes 368 values");
        let (low, high) = intervals(40_000).1.unwrap();
        assert!(low < 1.99 && high > 1.99 && high - low > 0.0015 && high - low < 0.01, "{low} {high}");
    }

    #[test]
    fn a_few_requests_have_no_interval() {
        let mut batched = Batched::default();
        let mut share = BatchedShare::default();
        for value in 0..40 {
            batched.add(f64::from(value % 7));
            share.add(true);
        }
        assert_eq!(
            (batched.mean_interval(), batched.quantile_interval(0.99), share.interval()),
            (None, None, None)
        );
    }

    #[test]
    fn rates_have_the_interval_of_their_slices() {
        let mut slices = Slices::new(Window { begin_s: 0.0, end_at_s: 100.0, is_whole: false });
        let mut random = Random::item(1, "slices", 0);
        let mut at_s = 0.0;
        while at_s < 110.0 {
            slices.add(at_s, 2.0);
            at_s += random.exponential() / 50.0;
        }
        let (low, high) = slices.interval().unwrap();
        assert!(low < 100.0 && high > 100.0 && high - low < 12.0, "{low} {high}");
        assert_eq!(Slices::new(Window { begin_s: 1.0, end_at_s: 1.0, is_whole: true }).interval(), None);
    }
}
