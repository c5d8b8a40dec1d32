//! Intervals for medians, other quantiles and means.

use crate::distribution::{binomial_cdf, binomial_quantile, student_quantile};
use crate::quantile::of_sorted;
use crate::samples::{mean_and_variance, proper, sorted};

/// A center with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate itself.
    pub center: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The coverage the interval really has. It may exceed what was asked for, and may fall short of it where a
    /// function says so.
    pub confidence: f64,
    /// How many samples it rests on.
    pub samples: usize,
}

impl Interval {
    /// Half the interval's length as a fraction of the center's size; `None` if the center is zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        let width = (self.high - self.low) / 2.0 / self.center.abs();
        width.is_finite().then_some(width)
    }
}

/// Two order statistics that enclose a quantile, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// The rank of the lower end.
    pub low: usize,
    /// The rank of the upper end.
    pub high: usize,
    /// The probability that the quantile lies between them.
    pub coverage: f64,
}

/// The ranks of a distribution-free interval for the quantile at `probability`:
/// l = B⁻¹(α/2; n, p) and u = B⁻¹(1 − α/2; n, p) + 1, with B the binomial distribution. The number of samples below
/// the quantile is binomial whatever the distribution is, so the coverage B(u − 1) − B(l − 1) is exact for
/// continuous data and a lower bound for data with ties.
///
/// `None` if no two order statistics reach the confidence (see [`samples_needed`]), or if an argument is out of range.
///
/// Source: David & Nagaraja, "Order Statistics", 7.1. Oracle: `scipy.stats.binom`.
pub fn quantile_ranks(samples: usize, probability: f64, confidence: f64) -> Option<Ranks> {
    if samples == 0 || !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    let tail = (1.0 - proper(confidence)?) / 2.0;
    let low = binomial_quantile(tail, samples, probability)?;
    let high = binomial_quantile(1.0 - tail, samples, probability)? + 1;
    if low == 0 || high > samples {
        return None;
    }
    Some(Ranks { low, high, coverage: rank_coverage(low, high, samples, probability)? })
}

/// B(u − 1) − B(l − 1).
fn rank_coverage(low: usize, high: usize, samples: usize, probability: f64) -> Option<f64> {
    let below = |rank: usize| binomial_cdf(i64::try_from(rank).ok()? - 1, samples, probability);
    Some(below(high)? - below(low)?)
}

/// The interval of the quantile at `probability`, between two order statistics. The center is the sample quantile,
/// and `confidence` the true coverage, which is at least what was asked for.
///
/// `None` if there are too few samples for a finite interval (see [`samples_needed`]), if a sample is not finite, or
/// if an argument is out of range. Source and oracle: [`quantile_ranks`].
pub fn quantile_interval(samples: &[f64], probability: f64, confidence: f64) -> Option<Interval> {
    let sorted = sorted(samples)?;
    let ranks = quantile_ranks(sorted.len(), probability, confidence)?;
    between_ranks(&sorted, ranks, probability)
}

fn between_ranks(sorted: &[f64], ranks: Ranks, probability: f64) -> Option<Interval> {
    Some(Interval {
        center: of_sorted(sorted, probability)?,
        low: *sorted.get(ranks.low.checked_sub(1)?)?,
        high: *sorted.get(ranks.high.checked_sub(1)?)?,
        confidence: ranks.coverage,
        samples: sorted.len(),
    })
}

/// The median with its order-statistic interval.
///
/// Too few samples for the confidence (below 6 for 95 %) give the full range with the coverage 1 − 2^(1−n) that it
/// really has, so the confidence of the result may be lower than what was asked for; a single sample is its own
/// range, with confidence 0. `None` if there are no samples, one is not finite, or the confidence is not between 0
/// and 1. Source and oracle: [`quantile_ranks`].
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = sorted(samples)?;
    let confidence = proper(confidence)?;
    let ranks = match quantile_ranks(sorted.len(), 0.5, confidence) {
        Some(ranks) => ranks,
        None => Ranks { low: 1, high: sorted.len(), coverage: full_range_coverage(sorted.len()) },
    };
    between_ranks(&sorted, ranks, 0.5)
}

/// The probability that the median lies between the smallest and the largest of n samples: it does unless all of
/// them fall on one side of it.
fn full_range_coverage(samples: usize) -> f64 {
    1.0 - 0.5_f64.powf(samples as f64 - 1.0)
}

/// How many samples a finite two-sided interval of the quantile at `probability` needs: 6 for the median, 36, 72,
/// 368 and 3,688 for p90, p95, p99 and p99.9, all at 95 %. `None` if an argument is out of range.
pub fn samples_needed(probability: f64, confidence: f64) -> Option<usize> {
    let tail = (1.0 - proper(confidence)?) / 2.0;
    // Both the largest sample must exceed the quantile, and the smallest lie below it, often enough.
    let rarer = probability.max(1.0 - probability);
    samples_until(rarer, tail)
}

/// The smallest n with pⁿ < `tail`.
fn samples_until(probability: f64, tail: f64) -> Option<usize> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    Some((tail.ln() / probability.ln()).floor() as usize + 1)
}

/// t·s/√n: half of Student's interval of the mean of `samples` values with this standard deviation.
///
/// `None` for fewer than two samples, or if the confidence is not between 0 and 1.
pub fn student_half_width(deviation: f64, samples: usize, confidence: f64) -> Option<f64> {
    let count = samples as f64;
    let factor = student_quantile(0.5 + proper(confidence)? / 2.0, count - 1.0).filter(|_| samples > 1)?;
    Some(factor * deviation / count.sqrt())
}

/// The arithmetic mean with Student's interval x̄ ± t·s/√n. For costs that add up; it trusts the samples to be
/// roughly normal, which [`median_interval`] does not.
///
/// `None` for fewer than two samples, if one is not finite, or if the confidence is not between 0 and 1.
///
/// Oracle: `scipy.stats.t.interval`.
pub fn mean_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    let (center, variance) = mean_and_variance(samples)?;
    let half = student_half_width(variance.sqrt(), samples.len(), confidence)?;
    Some(Interval { center, low: center - half, high: center + half, confidence, samples: samples.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_report_the_truth() {
        let one = median_interval(&[3.0], 0.95).unwrap();
        assert_eq!((one.low, one.center, one.high, one.confidence), (3.0, 3.0, 3.0, 0.0));
        let three = median_interval(&[3.0, 1.0, 2.0], 0.95).unwrap();
        assert_eq!((three.low, three.center, three.high, three.confidence), (1.0, 2.0, 3.0, 0.75));
        let five = median_interval(&[5.0, 3.0, 1.0, 2.0, 4.0], 0.95).unwrap();
        assert_eq!((five.low, five.high, five.confidence, five.samples), (1.0, 5.0, 0.9375, 5));
    }

    #[test]
    fn finite_intervals_need_what_the_table_says() {
        for (probability, two_sided) in [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688)] {
            assert_eq!(samples_needed(probability, 0.95), Some(two_sided));
            assert!(quantile_ranks(two_sided, probability, 0.95).is_some());
            assert_eq!(quantile_ranks(two_sided - 1, probability, 0.95), None);
        }
    }

    #[test]
    fn refuses_what_has_no_interval() {
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(median_interval(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(median_interval(&[1.0, 2.0], 1.0), None);
        assert_eq!(median_interval(&[1.0, 2.0], f64::NAN), None);
        assert_eq!(mean_interval(&[1.0], 0.95), None);
        assert_eq!(quantile_interval(&[1.0; 10], 0.99, 0.95), None);
        assert_eq!(quantile_interval(&[1.0; 10], 0.0, 0.95), None);
    }

    #[test]
    fn relative_half_width_is_a_fraction_of_the_center() {
        let interval = Interval { center: -10.0, low: -11.0, high: -9.0, confidence: 0.95, samples: 9 };
        assert_eq!(interval.relative_half_width(), Some(0.1));
        assert_eq!(Interval { center: 0.0, ..interval }.relative_half_width(), None);
    }
}
