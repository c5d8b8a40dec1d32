//! How far repeats spread.

use crate::quantile::of_sorted;
use crate::samples::{mean_and_variance, sorted};

/// Measures of spread of one set of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median of |x − median|, not scaled.
    pub median_absolute_deviation: f64,
    pub first_quartile: f64,
    pub third_quartile: f64,
    /// Standard deviation over mean; `None` for a single sample and for a mean of zero.
    pub coefficient_of_variation: Option<f64>,
    /// How many samples it rests on.
    pub samples: usize,
}

impl Spread {
    /// The distance between the quartiles.
    pub fn interquartile_range(&self) -> f64 {
        self.third_quartile - self.first_quartile
    }
}

/// The spread of the samples. `None` if there are none, if one is not finite, or if their distances exceed
/// the range of floating-point numbers.
///
/// Quantiles are those of [`crate::quantile()`]; the standard deviation has the divisor n − 1. Oracles:
/// `scipy.stats.median_abs_deviation`, `numpy.percentile`, `scipy.stats.variation` with `ddof = 1`.
pub fn spread(samples: &[f64]) -> Option<Spread> {
    let sorted = sorted(samples)?;
    let median = of_sorted(&sorted, 0.5)?;
    let relative = |(mean, variance): (f64, f64)| {
        let coefficient = variance.sqrt() / mean.abs();
        coefficient.is_finite().then_some(coefficient)
    };
    let spread = Spread {
        median_absolute_deviation: median_absolute_deviation(&sorted, median)?,
        first_quartile: of_sorted(&sorted, 0.25)?,
        third_quartile: of_sorted(&sorted, 0.75)?,
        coefficient_of_variation: mean_and_variance(samples).and_then(relative),
        samples: samples.len(),
    };
    (spread.median_absolute_deviation.is_finite() && spread.interquartile_range().is_finite())
        .then_some(spread)
}

/// The median of the distances to `center`.
pub(crate) fn median_absolute_deviation(samples: &[f64], center: f64) -> Option<f64> {
    let mut distances: Vec<f64> = samples.iter().map(|value| (value - center).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    of_sorted(&distances, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_have_no_spread() {
        let spread = spread(&[5.0; 4]).unwrap();
        assert_eq!(spread.median_absolute_deviation, 0.0);
        assert_eq!(spread.interquartile_range(), 0.0);
        assert_eq!(spread.coefficient_of_variation, Some(0.0));
    }

    #[test]
    fn undefined_ratios_are_absent() {
        assert_eq!(spread(&[5.0]).unwrap().coefficient_of_variation, None);
        assert_eq!(spread(&[-1.0, 1.0]).unwrap().coefficient_of_variation, None);
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[f64::INFINITY]), None);
        assert_eq!(spread(&[-f64::MAX, -f64::MAX, f64::MAX, f64::MAX]), None);
    }
}
