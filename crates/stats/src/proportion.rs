//! Proportions: how many of the requests succeeded.

use crate::distribution::normal_quantile;
use crate::interval::Interval;
use crate::samples::proper;

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
}
