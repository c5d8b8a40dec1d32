//! Repeats that are not exchangeable: a trend over their order, and two modes.

use crate::distribution::normal_upper;
use crate::samples::{finite, sorted};

/// The fewest values in which a trend is looked for.
pub const MINIMUM_FOR_TREND: usize = 8;
/// The fewest values in which two modes are looked for.
pub const MINIMUM_FOR_MODES: usize = 12;
/// The most values that are looked at pair by pair; of longer series evenly spaced ones are.
const MOST_VALUES: usize = 2_000;

/// A trend of values over the order in which they were measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Kendall's S: pairs that rise minus pairs that fall.
    pub statistic: f64,
    /// The two-sided p-value by the normal approximation with continuity correction.
    pub p: f64,
    /// The Theil-Sen slope times the number of values, as a share of the median: how far they moved in all.
    pub total_change: f64,
}

/// The Mann-Kendall test for a trend, ties taken into account.
///
/// `None` for fewer than [`MINIMUM_FOR_TREND`] values, if one is not finite, or if all are equal.
///
/// Source: Mann, 1945; Kendall, "Rank Correlation Methods", 1975; Sen, 1968. Oracle: counting.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let step = values.len().div_ceil(MOST_VALUES).max(1);
    let kept: Vec<f64> = finite(values)?.iter().copied().step_by(step).collect();
    if kept.len() < MINIMUM_FOR_TREND {
        return None;
    }
    let mut statistic = 0.0;
    let mut slopes = Vec::with_capacity(kept.len() * (kept.len() - 1) / 2);
    for (early, a) in kept.iter().enumerate() {
        for (later, b) in kept.iter().enumerate().skip(early + 1) {
            statistic += if b > a { 1.0 } else { -f64::from(u8::from(b < a)) };
            slopes.push((b - a) / (later - early) as f64);
        }
    }
    let count = kept.len() as f64;
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let ordered = sorted(&kept)?;
    let ties: f64 = ordered.chunk_by(|a, b| a == b).map(|equal| term(equal.len() as f64)).sum();
    let deviation = ((term(count) - ties) / 18.0).sqrt();
    let z = (statistic.abs() - 1.0).max(0.0) / deviation;
    let slope = crate::median(&slopes)?;
    let total_change = slope * (count - 1.0) / crate::median(&kept)?.abs();
    (z.is_finite() && total_change.is_finite()).then(|| Trend {
        statistic,
        p: (2.0 * normal_upper(z)).min(1.0),
        total_change,
    })
}

/// Two groups of values with a gap between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoModes {
    /// The mean of the lower group.
    pub low: f64,
    /// The mean of the upper group.
    pub high: f64,
    /// The share of values in the upper group.
    pub upper_share: f64,
}

/// Whether values fall into two groups: the best split into a lower and an upper part, each of at least a quarter, must
/// explain 90 % of the variance. One split of normal values explains 64 % on average, and of uniform ones 75 %.
///
/// `None` where they do not, for fewer than [`MINIMUM_FOR_MODES`] values, or if one is not finite.
///
/// Source: Ward's criterion with two clusters.
pub fn two_modes(values: &[f64]) -> Option<TwoModes> {
    if values.len() < MINIMUM_FOR_MODES {
        return None;
    }
    let ordered = sorted(values)?;
    let count = ordered.len() as f64;
    let total: f64 = ordered.iter().sum();
    let mean = total / count;
    let variance: f64 = ordered.iter().map(|value| (value - mean).powi(2)).sum();
    let fewest = ordered.len().div_ceil(4);
    let mut below = 0.0;
    let mut best: Option<(f64, TwoModes)> = None;
    for (index, value) in ordered.iter().enumerate() {
        below += value;
        let lower = index + 1;
        if lower < fewest || ordered.len() - lower < fewest {
            continue;
        }
        let (n1, n2) = (lower as f64, count - lower as f64);
        let (low, high) = (below / n1, (total - below) / n2);
        let between = n1 * (low - mean).powi(2) + n2 * (high - mean).powi(2);
        if best.is_none_or(|(known, _)| between > known) {
            best = Some((between, TwoModes { low, high, upper_share: n2 / count }));
        }
    }
    best.filter(|(between, _)| variance > 0.0 && *between >= 0.9 * variance).map(|(_, modes)| modes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rise_is_a_trend_and_noise_is_none() {
        let rising: Vec<f64> = (0..12).map(|index| 100.0 + f64::from(index) + f64::from(index % 3)).collect();
        let found = trend(&rising).unwrap();
        assert!(found.p < 0.001 && found.total_change > 0.08, "{found:?}");
        let noise = [1.0, 1.3, 0.9, 1.1, 1.2, 0.95, 1.15, 1.05];
        assert!(trend(&noise).unwrap().p > 0.5);
        assert_eq!(trend(&[1.0; 20]), None);
        assert_eq!(trend(&noise[..7]), None);
        assert_eq!(trend(&[f64::NAN; 9]), None);
    }

    #[test]
    fn the_statistic_matches_counting() {
        // 24 of 28 pairs rise, and the variance is 8·7·21/18: z = 19/8.083.
        let found = trend(&[3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 8.0, 7.0]).unwrap();
        assert_eq!(found.statistic, 20.0);
        assert!((found.p - 0.018_741).abs() < 1e-5, "{}", found.p);
    }

    #[test]
    fn two_levels_are_two_modes_and_one_outlier_is_not() {
        let two: Vec<f64> =
            (0..16).map(|index| f64::from(index % 2) + 0.05 * f64::from(index % 5) + 10.0).collect();
        let found = two_modes(&two).unwrap();
        assert!((found.upper_share - 0.5).abs() < 1e-12 && found.high - found.low > 0.9);
        let mut one = vec![10.0; 15];
        one.push(20.0);
        assert_eq!(two_modes(&one), None);
        let even: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(two_modes(&even), None);
        assert_eq!(two_modes(&[1.0; 20]), None);
    }
}
