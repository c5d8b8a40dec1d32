//! Many positive values in little memory. Values are counted in buckets whose width is a thousandth of their value, so a
//! quantile is known to that precision however many values there are.
//!
//! `hdrhistogram` does the same for integers. Its buckets are at most one part in 10³ wide only with three significant
//! digits, which takes 2,048 counters for every doubling, 550 kB for the range from 0.1 µs to an hour; a load has a dozen
//! distributions and a curve has hundreds. Here only the buckets between the least and the largest value exist, quantiles
//! are interpolated as everywhere else in this crate (Hyndman and Fan's definition 7), and seconds stay seconds.

/// Buckets for every doubling of a value.
const STEPS: f64 = 768.0;
/// The smallest value that has a bucket of its own: a tenth of a microsecond, if values are seconds.
const SMALLEST: f64 = 1e-7;

/// The last bucket, which begins at some hundred billion years: buckets fit into 16 bits.
const LAST: f64 = 65_535.0;

/// Counted values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    /// Counts of buckets, from the first one that is used.
    counts: Vec<u64>,
    first: usize,
    count: u64,
    sum: f64,
    sum_of_squares: f64,
    least: f64,
    most: f64,
}

impl Distribution {
    /// Adds a value. Negative values count as zero; what is not finite is not a value.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        let value = value.max(0.0);
        (self.least, self.most) = match self.count {
            0 => (value, value),
            _ => (self.least.min(value), self.most.max(value)),
        };
        self.count += 1;
        self.sum += value;
        self.sum_of_squares += value * value;
        let bucket = bucket(value);
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let more = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bucket;
        }
        let place = bucket - self.first;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The sample standard deviation.
    pub fn deviation(&self) -> Option<f64> {
        let (count, mean) = (self.count as f64, self.mean()?);
        (self.count > 1)
            .then(|| ((self.sum_of_squares - count * mean * mean).max(0.0) / (count - 1.0)).sqrt())
    }

    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.least)
    }

    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.most)
    }

    /// The quantile at `probability`, to a thousandth of its value.
    pub fn quantile(&self, probability: f64) -> Option<f64> {
        if self.count == 0 || !(0.0..=1.0).contains(&probability) {
            return None;
        }
        // Hyndman and Fan's definition 7: between the two values that are nearest in rank.
        let rank = (self.count - 1) as f64 * probability;
        let (low, high) = (self.ordered(rank.floor() as u64), self.ordered(rank.ceil() as u64));
        Some(low + (high - low) * rank.fract())
    }

    /// The value of a rank, from 0.
    fn ordered(&self, rank: u64) -> f64 {
        if rank == 0 || rank + 1 >= self.count {
            return if rank == 0 { self.least } else { self.most };
        }
        let mut below = 0;
        for (place, count) in self.counts.iter().enumerate() {
            if below + count > rank {
                let inside = ((rank - below) as f64 + 0.5) / *count as f64;
                return value(self.first + place, inside).clamp(self.least, self.most);
            }
            below += count;
        }
        self.most
    }
}

/// The bucket of a value. Servers may report any number, so what lies beyond every sensible time shares the last one.
pub(super) fn bucket(value: f64) -> usize {
    if value <= SMALLEST { 0 } else { ((value / SMALLEST).log2() * STEPS + 1.0).min(LAST) as usize }
}

/// The value at a share of a bucket's width.
pub(super) fn value(bucket: usize, inside: f64) -> f64 {
    match bucket {
        0 => 0.0,
        bucket => SMALLEST * ((bucket as f64 - 1.0 + inside) / STEPS).exp2(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_values(values in proptest::collection::vec(1e-6_f64..100.0, 1..300), at in 0.0_f64..=1.0) {
            let mut distribution = Distribution::default();
            values.iter().for_each(|value| distribution.add(*value));
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let rank = (values.len() - 1) as f64 * at;
            let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
            let seen = distribution.quantile(at).unwrap();
            prop_assert!(seen >= low * 0.998 && seen <= high * 1.002, "{low} {seen} {high}");
            prop_assert_eq!(distribution.count(), values.len() as u64);
        }
    }

    #[test]
    fn the_high_quantile_of_a_few_values_is_near_the_highest() {
        let mut distribution = Distribution::default();
        [1.0, 2.0, 3.0, 10.0].into_iter().for_each(|value| distribution.add(value));
        assert_eq!((distribution.min(), distribution.max()), (Some(1.0), Some(10.0)));
        assert!((distribution.deviation().unwrap() - 4.082_482_904_6).abs() < 1e-9);
        let high = distribution.quantile(0.99).unwrap();
        assert!((high - 9.79).abs() < 0.01, "{high}");
    }

    #[test]
    fn nothing_has_no_quantile_and_zero_is_a_value() {
        let mut distribution = Distribution::default();
        assert_eq!((distribution.quantile(0.5), distribution.mean()), (None, None));
        distribution.add(f64::NAN);
        assert_eq!(distribution.count(), 0);
        distribution.add(-1.0);
        assert_eq!((distribution.quantile(0.99), distribution.mean()), (Some(0.0), Some(0.0)));
        // A hostile server may claim to have worked for ever.
        distribution.add(f64::MAX);
        assert_eq!((distribution.count(), distribution.quantile(1.0)), (2, Some(f64::MAX)));
    }
}
