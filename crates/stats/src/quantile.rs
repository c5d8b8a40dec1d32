//! The one definition of a quantile, used everywhere in the program.

use crate::samples::{finite, sorted};

/// The median: the quantile at one half.
///
/// `None` if there are no samples or one is not finite.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The quantile at `probability`, by Hyndman and Fan's definition 7: with h = (n − 1)·p the value lies between the
/// order statistics ⌊h⌋ + 1 and ⌊h⌋ + 2, at the fraction h − ⌊h⌋.
///
/// `None` if there are no samples, one is not finite, or the probability lies outside 0 to 1.
///
/// Source: Hyndman & Fan, "Sample quantiles in statistical packages", 1996. Oracle: `numpy.percentile`.
pub fn quantile(samples: &[f64], probability: f64) -> Option<f64> {
    let last = finite(samples)?.len() - 1;
    let (below, fraction) = position(last, probability)?;
    // Selecting takes linear time, which counts for the slopes of all pairs.
    let mut samples = samples.to_vec();
    let (_, low, above) = samples.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*low);
    Some(between(*low, high, fraction))
}

/// Several quantiles of the same samples, which are sorted only once. In the order of `probabilities`; `None` as
/// soon as one of them is.
pub fn quantiles(samples: &[f64], probabilities: &[f64]) -> Option<Vec<f64>> {
    let sorted = sorted(samples)?;
    probabilities.iter().map(|probability| of_sorted(&sorted, *probability)).collect()
}

/// The quantile of samples that are sorted already.
pub(crate) fn of_sorted(sorted: &[f64], probability: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let (below, fraction) = position(last, probability)?;
    let (low, high) = (*sorted.get(below)?, *sorted.get((below + 1).min(last))?);
    Some(between(low, high, fraction))
}

/// Between which values a quantile lies: the index of the lower one, and how far it is on the way to the next.
fn position(last: usize, probability: f64) -> Option<(usize, f64)> {
    let position = (0.0..=1.0).contains(&probability).then_some(last as f64 * probability)?;
    let below = (position.floor() as usize).min(last);
    Some((below, position - below as f64))
}

/// The point at `fraction` of the way from `low` to `high`.
///
/// The step is taken from the nearer end, which is exact at both ends and never leaves the range by rounding; the
/// difference of two huge values of opposite sign is avoided.
fn between(low: f64, high: f64, fraction: f64) -> f64 {
    let step = high - low;
    let value = if !step.is_finite() {
        low * (1.0 - fraction) + high * fraction
    } else if fraction < 0.5 {
        low + step * fraction
    } else {
        high - step * (1.0 - fraction)
    };
    value.clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle() {
        let samples = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantiles(&samples, &[0.0, 0.5, 1.0]).unwrap(), [1.0, 2.5, 4.0]);
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
    }

    #[test]
    fn refuses_what_has_no_quantile() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(median(&[1.0, f64::INFINITY]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn huge_values_do_not_overflow() {
        assert_eq!(median(&[-f64::MAX, f64::MAX]), Some(0.0));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }
}
