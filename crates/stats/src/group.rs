//! The values of one cell, prepared once for any number of comparisons.

use std::cell::OnceCell;

use thiserror::Error;

use crate::bootstrap::RESAMPLES;
use crate::random::Indices;
use crate::ratio::{Refusal, Side};

/// How many counts are added up at once on the way to the middle.
const BLOCK: usize = 8;

/// Positive values that are compared with those of other groups by their ratio: sorted once, and resampled once,
/// when a comparison first asks for it. See [`Group::ratio_interval`].
///
/// Groups that are compared with one another must have different seeds: with the same one they would be resampled
/// in step, and the interval of their ratio would be too narrow.
#[derive(Debug, Clone)]
pub struct Group {
    sorted: Vec<f64>,
    seed: u64,
    replicates: OnceCell<Vec<f64>>,
}

/// Why values cannot be compared by their ratio.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Flaw {
    /// A value is zero or negative, and has no ratio on a logarithmic scale.
    #[error("sample {index} is {value}, and ratios need values above zero")]
    NotPositive {
        /// Which sample, from 0.
        index: usize,
        value: f64,
    },
    /// A value is infinite or not a number.
    #[error("sample {index} is not a finite number")]
    NotFinite {
        /// Which sample, from 0.
        index: usize,
    },
}

impl Flaw {
    /// The refusal of a comparison that has the flawed values on this side.
    pub fn on(self, side: Side) -> Refusal {
        match self {
            Flaw::NotPositive { index, value } => Refusal::NotPositive { side, index, value },
            Flaw::NotFinite { index } => Refusal::NotFinite { side, index },
        }
    }
}

impl Group {
    /// Prepares values, in any order and of any number. The seed decides the resamples.
    pub fn new(values: &[f64], seed: u64) -> Result<Self, Flaw> {
        for (index, value) in values.iter().copied().enumerate() {
            if !value.is_finite() {
                return Err(Flaw::NotFinite { index });
            }
            if value <= 0.0 {
                return Err(Flaw::NotPositive { index, value });
            }
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Self { sorted, seed, replicates: OnceCell::new() })
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The values in ascending order.
    pub(crate) fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The median; `None` of no values.
    pub(crate) fn median(&self) -> Option<f64> {
        let upper = *self.sorted.get(self.count() / 2)?;
        let lower = *self.sorted.get((self.count() - 1) / 2)?;
        Some(f64::midpoint(lower, upper))
    }

    /// The medians of [`RESAMPLES`] resamples, made on the first call. Empty if there are no values.
    pub(crate) fn replicates(&self) -> &[f64] {
        self.replicates.get_or_init(|| {
            let mut indices = Indices::new(self.seed);
            let mut counts = vec![0; self.count()];
            (0..RESAMPLES)
                .map_while(|_| {
                    indices.count_resample(&mut counts);
                    median_of_counted(&self.sorted, &counts)
                })
                .collect()
        })
    }
}

/// The median of a resample that is given by how often it holds each of the sorted values: the counts add up to their
/// number. Nothing is copied, sorted or selected.
fn median_of_counted(sorted: &[f64], counts: &[u32]) -> Option<f64> {
    let (lower_rank, upper_rank) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    let (mut passed, mut seen) = (0, 0);
    // Whole blocks below the middle are added up at once, which processors do in one go.
    for block in counts.chunks(BLOCK) {
        let with_block = seen + block.iter().sum::<u32>() as usize;
        if with_block > lower_rank {
            break;
        }
        seen = with_block;
        passed += block.len();
    }
    let mut lower = None;
    for (value, count) in sorted.iter().zip(counts).skip(passed) {
        seen += *count as usize;
        if seen > upper_rank {
            return Some(f64::midpoint(lower.unwrap_or(*value), *value));
        }
        if seen > lower_rank && lower.is_none() {
            lower = Some(*value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn flaws_name_the_sample() {
        assert_eq!(Group::new(&[1.0, -2.0], 1).unwrap_err(), Flaw::NotPositive { index: 1, value: -2.0 });
        let flaw = Group::new(&[f64::INFINITY], 1).unwrap_err();
        assert_eq!(flaw.to_string(), "sample 0 is not a finite number");
        assert_eq!(flaw.on(Side::Other), Refusal::NotFinite { side: Side::Other, index: 0 });
    }

    #[test]
    fn no_values_have_no_replicates() {
        let group = Group::new(&[], 1).unwrap();
        assert_eq!((group.count(), group.median(), group.replicates().len()), (0, None, 0));
    }

    #[test]
    fn the_seed_decides_and_the_order_does_not() {
        let replicates = |values: &[f64], seed| Group::new(values, seed).unwrap().replicates().to_vec();
        let ascending: Vec<f64> = (1..12).map(f64::from).collect();
        let descending: Vec<f64> = ascending.iter().rev().copied().collect();
        assert_eq!(replicates(&ascending, 1), replicates(&descending, 1));
        assert_ne!(replicates(&ascending, 1), replicates(&ascending, 2));
        assert_eq!(replicates(&ascending, 1).len(), RESAMPLES);
    }

    #[test]
    fn medians_fall_as_often_as_they_should() {
        // The median of nine draws is at most the fourth of nine values if five or more draws are:
        // 1 − scipy.stats.binom.cdf(4, 9, 4/9).
        let group = Group::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 3).unwrap();
        let low = group.replicates().iter().filter(|median| **median <= 4.0).count();
        let expected = 0.365_506_9;
        // Four standard errors of 10,000 resamples.
        assert!((low as f64 / RESAMPLES as f64 - expected).abs() < 0.02, "{low}");
    }

    proptest! {
        #[test]
        fn counting_gives_the_median_of_the_resample(
            values in prop::collection::vec((1_u16..40).prop_map(f64::from), 1..40),
            seed in any::<u64>(),
        ) {
            let group = Group::new(&values, seed).unwrap();
            let mut indices = Indices::new(seed);
            let mut counts = vec![0; values.len()];
            for _ in 0..8 {
                indices.count_resample(&mut counts);
                let resample: Vec<f64> = group
                    .sorted()
                    .iter()
                    .zip(&counts)
                    .flat_map(|(value, count)| std::iter::repeat_n(*value, *count as usize))
                    .collect();
                prop_assert_eq!(resample.len(), values.len());
                prop_assert_eq!(median_of_counted(group.sorted(), &counts), crate::median(&resample));
            }
            prop_assert_eq!(group.median(), crate::median(&values));
        }
    }
}
