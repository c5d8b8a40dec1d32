//! Proportions: how many of the requests succeeded, and whether a tail bound is met.

use crate::distribution::{incomplete_beta, normal_quantile};
use crate::interval::Interval;
use crate::samples::proper;

/// The most trials that the tail rule is searched for.
const LARGEST_SEARCH: u64 = 1 << 40;

/// Wilson's score interval of a proportion: (p̂ + z²/2n ± z·√(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n). It stays between 0
/// and 1, also when none or all succeed. The center is p̂ itself.
///
/// `None` without trials, with more successes than trials, or if the confidence is not between 0 and 1. The coverage
/// is nominal. Source: Wilson, 1927. Oracle: statsmodels `proportion_confint(method='wilson')`.
pub fn wilson(successes: usize, trials: usize, confidence: f64) -> Option<Interval> {
    if trials == 0 || successes > trials {
        return None;
    }
    let z = normal_quantile(0.5 + proper(confidence)? / 2.0)?;
    let count = trials as f64;
    let share = successes as f64 / count;
    let square = z * z / count;
    let middle = share + square / 2.0;
    let half = z * (share * (1.0 - share) / count + square / (4.0 * count)).sqrt();
    let end = |value: f64| (value / (1.0 + square)).clamp(0.0, 1.0);
    // Rounding must not push an end past the proportion it encloses.
    let (low, high) = (end(middle - half).min(share), end(middle + half).max(share));
    Some(Interval { center: share, low, high, confidence, samples: trials })
}

/// Whether enough requests were seen to say that a share of them meets a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailBound {
    /// How many requests there must be in all, given how many were late.
    pub needed: u64,
    /// Whether there were that many.
    pub met: bool,
}

/// MLPerf's early-stopping rule: with `late` of `requests` beyond the bound, may one say at `confidence` that a share
/// `quantile` of all requests is within it? The smallest h with I_p(h, t + 1) ≤ 1 − c requests must have been in time.
///
/// `None` if more were late than there were, or if quantile or confidence are not between 0 and 1.
///
/// Source: MLPerf inference rules, early stopping. Oracle: `scipy.special.betainc`.
pub fn tail_bound(late: u64, requests: u64, quantile: f64, confidence: f64) -> Option<TailBound> {
    if late > requests {
        return None;
    }
    let needed = requests_needed(late, quantile, confidence)?;
    Some(TailBound { needed, met: requests >= needed })
}

/// How many requests [`tail_bound`] needs in all when `late` of them are late: 44 without any at p90 and 99 %.
///
/// `None` if quantile or confidence are not between 0 and 1, or if more than 2⁴⁰ would be needed.
pub fn requests_needed(late: u64, quantile: f64, confidence: f64) -> Option<u64> {
    let limit = 1.0 - proper(confidence)?;
    let quantile = proper(quantile)?;
    let enough = |in_time: u64| {
        incomplete_beta(in_time as f64, late as f64 + 1.0, quantile).map(|doubt| doubt <= limit)
    };
    let mut high = 1_u64;
    while !enough(high)? {
        high = high.checked_mul(2).filter(|high| *high <= LARGEST_SEARCH)?;
    }
    let mut low = high / 2 + 1;
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high.checked_add(late)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_at_the_ends() {
        let none = wilson(0, 20, 0.95).unwrap();
        assert_eq!((none.center, none.low), (0.0, 0.0));
        assert!(none.high > 0.1 && none.high < 0.2);
        let all = wilson(20, 20, 0.95).unwrap();
        assert_eq!((all.center, all.high), (1.0, 1.0));
        assert_eq!(wilson(0, 0, 0.95), None);
        assert_eq!(wilson(3, 2, 0.95), None);
    }

    #[test]
    fn tail_bound_turns_at_the_needed_count() {
        assert_eq!(tail_bound(1, 63, 0.9, 0.99), Some(TailBound { needed: 64, met: false }));
        assert_eq!(tail_bound(1, 64, 0.9, 0.99), Some(TailBound { needed: 64, met: true }));
        assert_eq!(tail_bound(5, 4, 0.9, 0.99), None);
        assert_eq!(tail_bound(0, 4, 1.0, 0.99), None);
        assert_eq!(requests_needed(0, 0.9, f64::NAN), None);
        assert_eq!(requests_needed(0, 0.1, 0.5), Some(1));
    }

    #[test]
    fn many_late_requests_are_affordable() {
        let needed = requests_needed(1_000_000, 0.99, 0.99).unwrap();
        assert!((100_000_000..101_000_000).contains(&needed), "{needed}");
    }
}
