//! Welch's test, for means of costs that add up.

use crate::distribution::student_two_sided;
use crate::samples::mean_and_variance;

/// The outcome of Welch's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// t = (x̄₁ − x̄₂) / √(s₁²/n₁ + s₂²/n₂).
    pub statistic: f64,
    /// Welch and Satterthwaite's degrees of freedom.
    pub freedom: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// Compares two means without assuming equal variances. It trusts both means to be roughly normal;
/// [`crate::mann_whitney`] does not.
///
/// `None` for fewer than two values in a group, if a value is not finite, or if both groups are constant.
///
/// Source: Welch, 1947. Oracle: `scipy.stats.ttest_ind(equal_var=False)`.
pub fn welch(first: &[f64], second: &[f64]) -> Option<Welch> {
    let (mean1, variance1) = mean_and_variance(first)?;
    let (mean2, variance2) = mean_and_variance(second)?;
    let (error, freedom) = welch_error(variance1, first.len(), variance2, second.len());
    let statistic = (mean1 - mean2) / error;
    if !statistic.is_finite() || !freedom.is_finite() {
        return None;
    }
    Some(Welch { statistic, freedom, p: student_two_sided(statistic, freedom)? })
}

/// The standard error √(s₁²/n₁ + s₂²/n₂) of a difference of means, and Welch and Satterthwaite's degrees of freedom
/// for it; those are not a number where both variances are zero.
pub(crate) fn welch_error(variance1: f64, count1: usize, variance2: f64, count2: usize) -> (f64, f64) {
    let (n1, n2) = (count1 as f64, count2 as f64);
    let (error1, error2) = (variance1 / n1, variance2 / n2);
    let squared = error1 + error2;
    let freedom = squared * squared / (error1 * error1 / (n1 - 1.0) + error2 * error2 / (n2 - 1.0));
    (squared.sqrt(), freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_means_give_one() {
        let outcome = welch(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]).unwrap();
        assert_eq!((outcome.statistic, outcome.p), (0.0, 1.0));
        assert!((outcome.freedom - 4.0).abs() < 1e-12);
    }

    #[test]
    fn refuses_what_has_no_error() {
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]), None);
        assert_eq!(welch(&[1.0, f64::NAN], &[2.0, 3.0]), None);
    }
}
