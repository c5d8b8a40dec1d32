//! The values of a batch of requests. A load keeps hundreds of batches, each of which has used few of the buckets between its
//! least and its largest value, so only the used ones are kept. A batch that uses many of them puts neighbors together: where
//! values are spread that far, their shares are known as well from wider buckets.

use super::distribution::{bucket, value};

/// So many used buckets are put together in pairs before another one is used.
const MOST_BUCKETS: usize = 256;

/// Counted values of a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The used buckets in their order.
    buckets: Vec<u16>,
    /// How often each was used.
    counts: Vec<u32>,
    /// How often neighbors were put together: a bucket here is this power of two of those of a distribution.
    halvings: u32,
    count: u64,
    sum: f64,
}

impl Batch {
    /// Adds a value. Negative values count as zero; what is not finite is not a value.
    pub fn add(&mut self, value: f64) {
        if value.is_finite() {
            let value = value.max(0.0);
            self.count += 1;
            self.sum += value;
            self.count_in(self.bucket(value), 1);
        }
    }

    fn bucket(&self, value: f64) -> u16 {
        u16::try_from(bucket(value) >> self.halvings).unwrap_or(u16::MAX)
    }

    fn count_in(&mut self, bucket: u16, more: u32) {
        match self.buckets.binary_search(&bucket) {
            Ok(place) => self.counts[place] = self.counts[place].saturating_add(more),
            Err(_) if self.buckets.len() >= MOST_BUCKETS => {
                self.halve();
                self.count_in(bucket >> 1, more);
            }
            Err(place) => {
                self.buckets.insert(place, bucket);
                self.counts.insert(place, more);
            }
        }
    }

    /// Puts neighbors together.
    fn halve(&mut self) {
        let (mut buckets, mut counts) = (Vec::new(), Vec::new());
        for (bucket, count) in self.buckets.iter().map(|bucket| bucket >> 1).zip(&self.counts) {
            match counts.last_mut() {
                Some(last) if buckets.last() == Some(&bucket) => *last = u32::saturating_add(*last, *count),
                _ => {
                    buckets.push(bucket);
                    counts.push(*count);
                }
            }
        }
        (self.buckets, self.counts) = (buckets, counts);
        self.halvings += 1;
    }

    /// Neighbors as one batch.
    pub fn merged(batches: &[Batch]) -> Batch {
        let mut all = batches.first().cloned().unwrap_or_default();
        for batch in batches.iter().skip(1) {
            while all.halvings < batch.halvings {
                all.halve();
            }
            for (bucket, count) in batch.buckets.iter().zip(&batch.counts) {
                // Counting may widen the buckets meanwhile.
                all.count_in(bucket >> (all.halvings - batch.halvings), *count);
            }
            all.count += batch.count;
            all.sum += batch.sum;
        }
        all.buckets.shrink_to_fit();
        all.counts.shrink_to_fit();
        all
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The share of values up to `limit`; values of its bucket count in proportion.
    pub fn share_up_to(&self, limit: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let last = self.bucket(limit);
        let place = self.buckets.partition_point(|bucket| *bucket < last);
        let below: u64 = self.counts[..place].iter().map(|count| u64::from(*count)).sum();
        let inside = match self.buckets.get(place) {
            Some(bucket) if *bucket == last => f64::from(self.counts[place]),
            _ => 0.0,
        };
        let first = usize::from(last) << self.halvings;
        let (low, high) = (value(first, 0.0), value(first + (1 << self.halvings) - 1, 1.0));
        let part = if high > low { ((limit - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
        Some((below as f64 + inside * part) / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_together_are_the_whole() {
        let values = [0.5, 3.0, 0.02, 7.0, 7.0, 0.9];
        let mut whole = Batch::default();
        values.into_iter().for_each(|value| whole.add(value));
        let mut parts = [Batch::default(), Batch::default(), Batch::default()];
        values.into_iter().enumerate().for_each(|(place, value)| parts[place % 2].add(value));
        let together = Batch::merged(&parts);
        assert_eq!((&together.buckets, &together.counts), (&whole.buckets, &whole.counts));
        assert!((together.mean().unwrap() - whole.mean().unwrap()).abs() < 1e-12);
        assert!((whole.share_up_to(1.0).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!((whole.share_up_to(0.001), whole.share_up_to(9.0)), (Some(0.0), Some(1.0)));
        assert_eq!(Batch::default().share_up_to(1.0), None);
    }

    #[test]
    fn widely_spread_values_take_little_memory_and_have_the_same_shares() {
        let values = |part: u32| (0..20_000).map(move |step| 0.001 * f64::from(1 + step * 2 + part).sqrt());
        let mut batches = [Batch::default(), Batch::default()];
        batches[0].add(5.0);
        for (part, batch) in (0..).zip(&mut batches) {
            values(part).for_each(|value| batch.add(value));
            assert!(batch.buckets.len() <= MOST_BUCKETS && batch.halvings > 0, "{}", batch.buckets.len());
        }
        batches[1].halve();
        let together = Batch::merged(&batches);
        assert_eq!(together.counts.iter().map(|count| u64::from(*count)).sum::<u64>(), 40_001);
        for limit in [0.01, 0.05, 0.1, 0.19] {
            let share = f64::powi(limit / 0.001, 2) / 40_000.0;
            let found = together.share_up_to(limit).unwrap();
            assert!((found - share).abs() < 0.001, "{limit} {found} {share}");
        }
    }

    #[test]
    fn extreme_values_have_a_bucket() {
        let mut batch = Batch::default();
        [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, f64::MAX].into_iter().for_each(|value| batch.add(value));
        assert_eq!((batch.count, batch.counts.as_slice()), (4, [2, 2].as_slice()));
        assert_eq!(batch.share_up_to(1.0), Some(0.5));
    }
}
