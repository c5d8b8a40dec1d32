//! What the smallest, the largest and the middle of some values say, where the values themselves are not known: write-ups
//! often print no more.

use crate::distribution::student_quantile;
use crate::samples::proper;

/// What is known of a group of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes {
    /// How many values there were.
    pub count: usize,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Extremes {
    fn is_usable(&self) -> bool {
        self.count > 1 && self.low > 0.0 && self.high >= self.low && self.high.is_finite()
    }

    /// The chance that the median of the population lies between the smallest and the largest value, 1 − 2^(1 − n),
    /// whatever the distribution.
    pub fn coverage(&self) -> f64 {
        1.0 - 0.5_f64.powi(i32::try_from(self.count).unwrap_or(i32::MAX) - 1)
    }
}

/// The ends of an interval for a ratio, and the least confidence it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEnds {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The least chance that the ratio lies between them.
    pub confidence: f64,
}

/// An interval for the ratio of two medians, other over base, that needs nothing but the extremes: the medians lie between
/// them with 1 − 2^(1 − n) each, so both do with at least the sum of the two minus 1.
///
/// `None` for fewer than two values a side, or values that are not positive. Oracle: simulation.
pub fn ratio_of_medians(base: &Extremes, other: &Extremes) -> Option<RatioEnds> {
    (base.is_usable() && other.is_usable()).then(|| RatioEnds {
        low: other.low / base.high,
        high: other.high / base.low,
        confidence: base.coverage() + other.coverage() - 1.0,
    })
}

/// An interval for the ratio of two means, other over base, where the values are roughly normal: standard deviations from
/// the ranges, s = (largest − smallest)/d₂(n), and Welch's interval of the difference of logarithms.
///
/// `None` beyond 25 values a side, where ranges say little about the rest. Sources: Tippett, "On the extreme individuals
/// and the range of samples taken from a normal population", 1925; the delta method.
pub fn ratio_of_means(base: (&Extremes, f64), other: (&Extremes, f64), confidence: f64) -> Option<RatioEnds> {
    let error = |(extremes, mean): (&Extremes, f64)| {
        let deviation = (extremes.high - extremes.low) / range_in_deviations(extremes.count)?;
        let usable = extremes.is_usable() && mean > 0.0;
        usable.then(|| (deviation / mean).powi(2) / extremes.count as f64)
    };
    let (first, second) = (error(base)?, error(other)?);
    let squared = first + second;
    // A range is worth a little less than a standard deviation: its degrees of freedom are about 0.9·(n − 1).
    let freedom = |extremes: &Extremes| 0.9 * (extremes.count as f64 - 1.0);
    let freedom = squared * squared / (first * first / freedom(base.0) + second * second / freedom(other.0));
    let half = student_quantile(0.5 + proper(confidence)? / 2.0, freedom)? * squared.sqrt();
    let ratio = other.1 / base.1;
    Some(RatioEnds { low: ratio * (-half).exp(), high: ratio * half.exp(), confidence })
}

/// d₂(n): the mean range of n normal values in standard deviations, n = 2 … 25.
fn range_in_deviations(count: usize) -> Option<f64> {
    const D2: [f64; 24] = [
        1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078, 3.173, 3.258, 3.336, 3.407, 3.472,
        3.532, 3.588, 3.640, 3.689, 3.735, 3.778, 3.819, 3.858, 3.895, 3.931,
    ];
    D2.get(count.checked_sub(2)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Extremes = Extremes { count: 10, low: 4.465, high: 5.535 };
    const FAST: Extremes = Extremes { count: 10, low: 0.597, high: 3.133 };

    #[test]
    fn extremes_of_ten_cover_the_ratio_of_medians_almost_surely() {
        let ends = ratio_of_medians(&FAST, &SLOW).unwrap();
        assert!((ends.low - 4.465 / 3.133).abs() < 1e-12 && (ends.high - 5.535 / 0.597).abs() < 1e-12);
        assert!((ends.confidence - (1.0 - 2.0 / 512.0)).abs() < 1e-12);
    }

    #[test]
    fn ranges_give_a_narrower_interval_of_the_means() {
        let ends = ratio_of_means((&FAST, 1.621), (&SLOW, 4.987), 0.95).unwrap();
        assert!(ends.low > 2.0 && ends.low < 2.3 && ends.high > 4.1 && ends.high < 4.7, "{ends:?}");
    }

    #[test]
    fn what_says_nothing_is_refused() {
        let one = Extremes { count: 1, ..SLOW };
        assert_eq!(ratio_of_medians(&one, &SLOW), None);
        assert_eq!(ratio_of_medians(&Extremes { low: 0.0, ..SLOW }, &SLOW), None);
        assert_eq!(ratio_of_means((&Extremes { count: 26, ..SLOW }, 5.0), (&SLOW, 5.0), 0.95), None);
        assert_eq!(ratio_of_means((&SLOW, 5.0), (&SLOW, 5.0), 1.5), None);
    }
}
