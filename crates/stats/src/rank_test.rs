//! The Mann-Whitney test: do the values of one group tend to lie above those of the other?

use crate::distribution::normal_upper;
use crate::samples::finite;

/// The largest n₁·n₂ for which p is exact when no two values are equal.
const EXACT_LIMIT: usize = 2_500;
/// The largest n₁·n₂ for which p is exact when some are.
const EXACT_LIMIT_WITH_TIES: usize = 625;

/// How a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By counting every way in which the ranks could have fallen.
    Exact,
    /// By the normal approximation, corrected for ties and continuity.
    Asymptotic,
}

/// The outcome of a Mann-Whitney test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// U of the first group: how many pairs have the first group's value above, ties counting half.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// How it was found.
    pub method: Method,
    /// Whether equal values occur.
    pub ties: bool,
    /// The size of the first group.
    pub first_samples: usize,
    /// The size of the second group.
    pub second_samples: usize,
}

/// Compares two groups: U = R₁ − n₁(n₁+1)/2 with mid-ranks, and p = min(1, 2·min(P(U ≤ u), P(U ≥ u))).
///
/// The distribution is counted exactly for n₁·n₂ ≤ 2,500, or ≤ 625 where values are equal; beyond, it is taken as
/// normal with variance n₁n₂/12·[(N+1) − Σ(t³−t)/(N(N−1))] and a continuity correction of ½.
///
/// `None` if a group is empty or holds a value that is not finite.
///
/// Source: Mann & Whitney, 1947; Lehmann, "Nonparametrics", 1.4 for ties. Oracles: `scipy.stats.mannwhitneyu`, and
/// full enumeration or benchstat's printed p with ties.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    let (first, second) = (finite(first)?, finite(second)?);
    let ranking = Ranking::new(first, second);
    let (n1, n2) = (first.len(), second.len());
    let doubled_u = ranking.doubled_sum - n1 * (n1 + 1);
    let ties = ranking.tie_term > 0.0;
    let limit = if ties { EXACT_LIMIT_WITH_TIES } else { EXACT_LIMIT };
    let exact = n1.checked_mul(n2).is_some_and(|pairs| pairs <= limit);
    let (p, method) = if !exact {
        (asymptotic_p(doubled_u, n1, n2, ranking.tie_term), Method::Asymptotic)
    } else if ties {
        (exact_p_with_ties(&ranking, n1, n2)?, Method::Exact)
    } else {
        (exact_p(doubled_u / 2, n1, n2)?, Method::Exact)
    };
    let statistic = doubled_u as f64 / 2.0;
    Some(MannWhitney { statistic, p, method, ties, first_samples: n1, second_samples: n2 })
}

/// The smallest p that two groups of these sizes can give, all values of one above all of the other:
/// 2 / (n₁+n₂ choose n₁). `None` if a group is empty.
pub fn smallest_p(first_samples: usize, second_samples: usize) -> Option<f64> {
    if first_samples == 0 || second_samples == 0 {
        return None;
    }
    let all = first_samples.checked_add(second_samples)?;
    let smaller = first_samples.min(second_samples);
    let mut ways = 1.0_f64;
    for step in 0..smaller {
        ways *= (all - step) as f64 / (smaller - step) as f64;
        if ways > 1e300 {
            break;
        }
    }
    Some((2.0 / ways).min(1.0))
}

/// Both groups ranked together. Ranks are doubled so that the mid-ranks of ties stay integers.
struct Ranking {
    /// The doubled rank of every pooled value, ascending.
    doubled: Vec<usize>,
    /// The sum of the first group's doubled ranks.
    doubled_sum: usize,
    /// Σ(t³ − t) over groups of t equal values.
    tie_term: f64,
}

impl Ranking {
    fn new(first: &[f64], second: &[f64]) -> Self {
        let mut pooled: Vec<(f64, bool)> = first.iter().map(|value| (*value, true)).collect();
        pooled.extend(second.iter().map(|value| (*value, false)));
        pooled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranking = Self { doubled: Vec::with_capacity(pooled.len()), doubled_sum: 0, tie_term: 0.0 };
        // Chunks compare with `==`, for which 0.0 and −0.0 are the same measurement.
        for equal in pooled.chunk_by(|a, b| a.0 == b.0) {
            let count = equal.len();
            let rank = 2 * ranking.doubled.len() + count + 1;
            let of_first = equal.iter().filter(|(_, is_first)| *is_first).count();
            ranking.doubled_sum += rank * of_first;
            ranking.doubled.extend(std::iter::repeat_n(rank, count));
            ranking.tie_term += (count as f64).powi(3) - count as f64;
        }
        ranking
    }
}

/// The number of ways to get each U from 0 to n₁·n₂ when no values are equal: the coefficients of the Gaussian
/// binomial ∏ (1 − q^(n₂+i)) / (1 − q^i), i = 1..n₁, multiplied out one factor at a time.
///
/// `None` where a count does not fit 127 bits.
pub(crate) fn null_counts(n1: usize, n2: usize) -> Option<Vec<i128>> {
    let (few, many) = (n1.min(n2), n1.max(n2));
    let length = few.checked_mul(many)?.checked_add(1)?;
    let mut counts = vec![0_i128; length];
    *counts.first_mut()? = 1;
    for factor in 1..=few {
        for index in (many + factor..length).rev() {
            counts[index] = counts[index].checked_sub(counts[index - many - factor])?;
        }
        for index in factor..length {
            counts[index] = counts[index].checked_add(counts[index - factor])?;
        }
    }
    Some(counts)
}

/// The two-sided p without ties.
fn exact_p(u: usize, n1: usize, n2: usize) -> Option<f64> {
    let counts = null_counts(n1, n2)?;
    let total: i128 = counts.iter().sum();
    let at_most: i128 = counts.iter().take(u + 1).sum();
    let at_least: i128 = counts.iter().skip(u).sum();
    Some(two_sided(at_most.min(at_least) as f64 / total as f64))
}

/// The two-sided p with ties: counts the subsets of the smaller group's size by their doubled rank sum. Only sums up
/// to the observed one are counted; the other tail is what remains of all subsets.
fn exact_p_with_ties(ranking: &Ranking, n1: usize, n2: usize) -> Option<f64> {
    let all_ranks: usize = ranking.doubled.iter().sum();
    let (size, observed) =
        if n1 <= n2 { (n1, ranking.doubled_sum) } else { (n2, all_ranks - ranking.doubled_sum) };
    let mut subsets = vec![vec![0_u128; observed + 1]; size + 1];
    *subsets.first_mut()?.first_mut()? = 1;
    for rank in &ranking.doubled {
        // Larger subsets first, so that no value is used twice.
        for taken in (1..=size).rev() {
            let (smaller, larger) = subsets.split_at_mut(taken);
            let (Some(from), Some(to)) = (smaller.last(), larger.first_mut()) else { continue };
            for (target, source) in to.iter_mut().skip(*rank).zip(from) {
                *target += source;
            }
        }
    }
    let by_sum = subsets.last()?;
    let at_most: u128 = by_sum.iter().sum();
    let below = at_most - by_sum.last()?;
    let total = ways_to_choose(n1 + n2, size);
    Some(two_sided(at_most.min(total - below) as f64 / total as f64))
}

/// n choose k. Exact within the limits of the exact test.
fn ways_to_choose(n: usize, k: usize) -> u128 {
    (0..k).fold(1_u128, |ways, step| ways * (n - step) as u128 / (step + 1) as u128)
}

fn two_sided(tail: f64) -> f64 {
    (2.0 * tail).min(1.0)
}

/// The two-sided p by the normal approximation.
fn asymptotic_p(doubled_u: usize, n1: usize, n2: usize, tie_term: f64) -> f64 {
    let (n1, n2) = (n1 as f64, n2 as f64);
    let all = n1 + n2;
    let variance = n1 * n2 / 12.0 * ((all + 1.0) - tie_term / (all * (all - 1.0)));
    let distance = (doubled_u as f64 / 2.0 - n1 * n2 / 2.0).abs() - 0.5;
    // All values equal: no spread, and nothing that distinguishes the groups.
    if variance <= 0.0 || distance <= 0.0 {
        return 1.0;
    }
    two_sided(normal_upper(distance / variance.sqrt()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every way to choose the first group from the pooled values, counted one by one.
    fn enumerated_p(first: &[f64], second: &[f64]) -> f64 {
        let pooled: Vec<f64> = first.iter().chain(second).copied().collect();
        let twice_u = |mask: u32| -> i64 {
            let is_first = |index: usize| mask >> index & 1 == 1;
            let mut sum = 0;
            for (i, x) in pooled.iter().enumerate().filter(|(i, _)| is_first(*i)) {
                for (j, y) in pooled.iter().enumerate().filter(|(j, _)| !is_first(*j)) {
                    assert_ne!(i, j);
                    sum += if x > y { 2 } else { i64::from(x == y) };
                }
            }
            sum
        };
        let observed = twice_u((1 << first.len()) - 1);
        let size = u32::try_from(first.len()).unwrap();
        let all: Vec<i64> =
            (0_u32..1 << pooled.len()).filter(|mask| mask.count_ones() == size).map(twice_u).collect();
        let share =
            |keep: &dyn Fn(i64) -> bool| all.iter().filter(|u| keep(**u)).count() as f64 / all.len() as f64;
        (2.0 * share(&|u| u <= observed).min(share(&|u| u >= observed))).min(1.0)
    }

    #[test]
    fn the_smallest_p_depends_on_the_counts() {
        assert_eq!(smallest_p(4, 4), Some(2.0 / 70.0));
        assert_eq!(smallest_p(3, 3), Some(0.1));
        assert_eq!(smallest_p(1, 1), Some(1.0));
        assert_eq!(smallest_p(0, 4), None);
        assert!(smallest_p(100_000, 100_000).unwrap() < 1e-200);
    }

    #[test]
    fn equal_groups_are_indistinguishable() {
        let outcome = mann_whitney(&[5.0; 6], &[5.0; 6]).unwrap();
        assert_eq!((outcome.p, outcome.statistic, outcome.ties), (1.0, 18.0, true));
        let many = mann_whitney(&[5.0; 60], &[5.0; 60]).unwrap();
        assert_eq!((many.p, many.method), (1.0, Method::Asymptotic));
    }

    #[test]
    fn refuses_what_has_no_rank() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), None);
    }

    #[test]
    fn the_approximation_counts_ties() {
        // The gob timings of benchstat's documentation; scipy.stats.mannwhitneyu(method='asymptotic').
        let old = [3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062].map(f64::from);
        let new = [3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062].map(f64::from);
        let p = asymptotic_p(79, 10, 10, Ranking::new(&old, &new).tie_term);
        assert!((p - 0.448_666_623_087_842_1).abs() < 1e-10);
    }

    #[test]
    fn both_signs_of_zero_are_one_value() {
        assert!(mann_whitney(&[0.0, 1.0], &[-0.0, 2.0]).unwrap().ties);
    }

    #[test]
    fn the_largest_exact_groups_are_counted() {
        let first: Vec<f64> = (0..50).map(|i| f64::from(i) * 2.0).collect();
        let second: Vec<f64> = (0..50).map(|i| f64::from(i) * 2.0 + 1.0).collect();
        let outcome = mann_whitney(&first, &second).unwrap();
        assert_eq!(outcome.method, Method::Exact);
        let approximate = asymptotic_p((outcome.statistic * 2.0) as usize, 50, 50, 0.0);
        assert!((outcome.p - approximate).abs() < 0.01);
    }

    proptest! {
        #[test]
        fn agrees_with_enumeration(
            first in prop::collection::vec(0_u8..6, 1..6),
            second in prop::collection::vec(0_u8..6, 1..6),
        ) {
            let first: Vec<f64> = first.into_iter().map(f64::from).collect();
            let second: Vec<f64> = second.into_iter().map(f64::from).collect();
            let outcome = mann_whitney(&first, &second).unwrap();
            prop_assert!((outcome.p - enumerated_p(&first, &second)).abs() < 1e-12);
        }

        #[test]
        fn both_ways_of_counting_agree(mut order in Just((0..14_u8).collect::<Vec<_>>()).prop_shuffle()) {
            let second: Vec<f64> = order.split_off(5).into_iter().map(f64::from).collect();
            let first: Vec<f64> = order.into_iter().map(f64::from).collect();
            let ranking = Ranking::new(&first, &second);
            let by_subsets = exact_p_with_ties(&ranking, 5, 9).unwrap();
            let by_product = mann_whitney(&first, &second).unwrap();
            prop_assert!(!by_product.ties);
            prop_assert!((by_subsets - by_product.p).abs() < 1e-15);
        }

        #[test]
        fn swapping_the_groups_keeps_p(
            first in prop::collection::vec(-20_i8..20, 1..30),
            second in prop::collection::vec(-20_i8..20, 1..30),
        ) {
            let first: Vec<f64> = first.into_iter().map(f64::from).collect();
            let second: Vec<f64> = second.into_iter().map(f64::from).collect();
            let there = mann_whitney(&first, &second).unwrap();
            let back = mann_whitney(&second, &first).unwrap();
            prop_assert!((there.p - back.p).abs() < 1e-12);
            prop_assert_eq!(there.statistic + back.statistic, (first.len() * second.len()) as f64);
        }
    }
}
