//! How large a difference is.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::interval::Interval;
use crate::pairwise::kth;
use crate::quantile::median;
use crate::rank_test::null_counts;
use crate::samples::{proper, sorted};

/// The largest n₁·n₂ for which the ranks of the Hodges-Lehmann interval are counted exactly.
const EXACT_LIMIT: usize = 2_500;
/// The same where one group has at most [`SMALL_GROUP`] values, since the normal approximation is at its worst there
/// and counting is cheap.
const EXACT_LIMIT_SMALL: usize = 100_000;
const SMALL_GROUP: usize = 7;

/// median(other) / median(base): below 1 means that `other` is lower.
///
/// `None` if a group is empty, a value is not finite, or the base's median is zero.
pub fn ratio_of_medians(base: &[f64], other: &[f64]) -> Option<f64> {
    let ratio = median(other)? / median(base)?;
    ratio.is_finite().then_some(ratio)
}

/// The Hodges-Lehmann shift: the median of all differences otherⱼ − baseᵢ.
///
/// `None` if a group is empty or a value is not finite. It takes O((n₁+n₂)·64) steps and no memory for the pairs.
///
/// Source: Hodges & Lehmann, 1963. Oracle: full enumeration with numpy.
pub fn hodges_lehmann_shift(base: &[f64], other: &[f64]) -> Option<f64> {
    let (low, high) = middle_pairs(&sorted(base)?, &sorted(other)?, difference)?;
    Some(f64::midpoint(low, high))
}

/// The Hodges-Lehmann shift with its interval [D₍ₖ₎, D₍n₁n₂₊₁₋ₖ₎] of sorted differences, k the largest for which
/// P(U < k) ≤ α/2 under Mann-Whitney's null distribution: all shifts that the test would not reject. `confidence` is
/// the true coverage 1 − 2·P(U < k), exact for continuous data up to n₁·n₂ = 2,500 and by the normal approximation
/// beyond; `samples` counts both groups.
///
/// `None` if the groups are too small to reach the confidence at all (below 4 each for 95 %), if a value is not
/// finite, or if the confidence is not between 0 and 1.
///
/// Source: Lehmann, "Nonparametrics", 2.6; Moses, 1953. Oracle: full enumeration.
pub fn hodges_lehmann_interval(base: &[f64], other: &[f64], confidence: f64) -> Option<Interval> {
    let (base, other) = (sorted(base)?, sorted(other)?);
    let ranks = pair_ranks(base.len(), other.len(), confidence)?;
    let (low, high) = middle_pairs(&base, &other, difference)?;
    Some(Interval {
        center: f64::midpoint(low, high),
        low: kth(&base, &other, ranks.low, difference)?,
        high: kth(&base, &other, ranks.high, difference)?,
        confidence: ranks.coverage,
        samples: base.len() + other.len(),
    })
}

/// Cliff's δ = (#(other > base) − #(other < base)) / (n₁·n₂): 1 if all of `other` lie above, −1 if all lie below.
///
/// `None` if a group is empty or a value is not finite.
///
/// Source: Cliff, 1993. It equals 2·U/(n₁·n₂) − 1 for U of `other`.
pub fn cliffs_delta(base: &[f64], other: &[f64]) -> Option<f64> {
    let (base, other) = (sorted(base)?, sorted(other)?);
    let mut balance = 0.0;
    for value in &other {
        let below = base.partition_point(|b| b < value);
        let above = base.len() - base.partition_point(|b| b <= value);
        balance += below as f64 - above as f64;
    }
    Some(balance / (base.len() as f64 * other.len() as f64))
}

/// Ranks of a Hodges-Lehmann interval among all sorted pairs, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairRanks {
    pub(crate) low: usize,
    pub(crate) high: usize,
    pub(crate) coverage: f64,
    /// Whether the coverage was counted, rather than approximated.
    pub(crate) exact: bool,
}

/// The ranks for a confidence; `None` if the groups are too small to reach it.
pub(crate) fn pair_ranks(n1: usize, n2: usize, confidence: f64) -> Option<PairRanks> {
    let tail = (1.0 - proper(confidence)?) / 2.0;
    let pairs = n1.checked_mul(n2).filter(|pairs| *pairs > 0)?;
    let exact = pairs <= EXACT_LIMIT || (n1.min(n2) <= SMALL_GROUP && pairs <= EXACT_LIMIT_SMALL);
    let (low, outside) = if exact { exact_rank(n1, n2, tail)? } else { approximate_rank(n1, n2, tail)? };
    Some(PairRanks { low, high: pairs + 1 - low, coverage: 1.0 - 2.0 * outside, exact })
}

/// The highest coverage that two groups can reach: all pairs, lowest to highest.
pub(crate) fn best_coverage(n1: usize, n2: usize) -> Option<f64> {
    crate::rank_test::smallest_p(n1, n2).map(|smallest| 1.0 - smallest)
}

/// The largest k with P(U < k) ≤ `tail`, and that probability.
fn exact_rank(n1: usize, n2: usize, tail: f64) -> Option<(usize, f64)> {
    let counts = null_counts(n1, n2)?;
    let total = counts.iter().sum::<i128>() as f64;
    let mut found = None;
    let mut below = 0_i128;
    for (index, count) in counts.iter().take(counts.len() / 2).enumerate() {
        below += count;
        let probability = below as f64 / total;
        if probability > tail {
            break;
        }
        found = Some((index + 1, probability));
    }
    found
}

/// The same by the normal approximation with continuity correction.
fn approximate_rank(n1: usize, n2: usize, tail: f64) -> Option<(usize, f64)> {
    let (n1, n2) = (n1 as f64, n2 as f64);
    let center = n1 * n2 / 2.0;
    let deviation = (n1 * n2 * (n1 + n2 + 1.0) / 12.0).sqrt();
    let rank = (center + 0.5 + normal_quantile(tail)? * deviation).floor();
    (rank >= 1.0).then(|| (rank as usize, normal_cdf((rank - 0.5 - center) / deviation)))
}

/// The two middle pairs in order; the same one twice if their number is odd.
pub(crate) fn middle_pairs(base: &[f64], other: &[f64], combine: fn(f64, f64) -> f64) -> Option<(f64, f64)> {
    let pairs = base.len().checked_mul(other.len())?;
    let low = kth(base, other, pairs.div_ceil(2), combine)?;
    let high = if pairs % 2 == 1 { low } else { kth(base, other, pairs / 2 + 1, combine)? };
    Some((low, high))
}

fn difference(base: f64, other: f64) -> f64 {
    other - base
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_smallest_groups_that_reach_95_percent() {
        let ranks = pair_ranks(4, 4, 0.95).unwrap();
        assert_eq!((ranks.low, ranks.high, ranks.exact), (1, 16, true));
        assert!((ranks.coverage - (1.0 - 2.0 / 70.0)).abs() < 1e-15);
        assert_eq!(pair_ranks(3, 4, 0.95), None);
        assert_eq!(pair_ranks(0, 4, 0.95), None);
        assert_eq!(hodges_lehmann_interval(&[1.0; 3], &[1.0; 3], 0.95), None);
    }

    #[test]
    fn approximate_ranks_continue_the_exact_ones() {
        for size in [30, 40, 50] {
            let exact = pair_ranks(size, size, 0.95).unwrap();
            let (rank, outside) = approximate_rank(size, size, 0.025).unwrap();
            assert!(exact.low.abs_diff(rank) <= 2, "{size}: {exact:?} {rank}");
            assert!((exact.coverage - (1.0 - 2.0 * outside)).abs() < 2e-3);
        }
        assert!(!pair_ranks(60, 60, 0.95).unwrap().exact);
        assert!(pair_ranks(7, 5_000, 0.95).unwrap().exact);
    }

    #[test]
    fn deltas_at_their_ends() {
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[3.0, 4.0], &[1.0, 2.0]), Some(-1.0));
        assert_eq!(cliffs_delta(&[1.0, 1.0], &[1.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
        assert_eq!(ratio_of_medians(&[0.0], &[1.0]), None);
        assert_eq!(hodges_lehmann_shift(&[1.0], &[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn shift_follows_the_data(
            base in prop::collection::vec(-100_i32..100, 1..15),
            other in prop::collection::vec(-100_i32..100, 1..15),
            offset in -1000_i32..1000,
        ) {
            let numbers = |values: &[i32], by: i32| values.iter().map(|v| f64::from(v + by)).collect::<Vec<_>>();
            let (base, other, moved) = (numbers(&base, 0), numbers(&other, 0), numbers(&other, offset));
            let shift = hodges_lehmann_shift(&base, &other).unwrap();
            prop_assert_eq!(hodges_lehmann_shift(&base, &moved), Some(shift + f64::from(offset)));
            prop_assert_eq!(hodges_lehmann_shift(&other, &base), Some(-shift));
        }

        #[test]
        fn delta_is_the_rank_statistic(
            base in prop::collection::vec(0_u8..9, 1..15),
            other in prop::collection::vec(0_u8..9, 1..15),
        ) {
            let base: Vec<f64> = base.into_iter().map(f64::from).collect();
            let other: Vec<f64> = other.into_iter().map(f64::from).collect();
            let u = crate::mann_whitney(&other, &base).unwrap().statistic;
            let expected = 2.0 * u / (base.len() * other.len()) as f64 - 1.0;
            prop_assert!((cliffs_delta(&base, &other).unwrap() - expected).abs() < 1e-12);
        }

        #[test]
        fn interval_holds_its_center(
            base in prop::collection::vec(-1e3..1e3_f64, 4..12),
            other in prop::collection::vec(-1e3..1e3_f64, 4..12),
        ) {
            let interval = hodges_lehmann_interval(&base, &other, 0.95).unwrap();
            prop_assert!(interval.low <= interval.center && interval.center <= interval.high);
            prop_assert!(interval.confidence >= 0.95);
        }
    }
}
