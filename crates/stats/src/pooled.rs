//! The spread of repeats, pooled over groups, and the difference that it can explain.

use crate::distribution::student_quantile;
use crate::samples::{mean_and_variance, proper};

/// The spread within groups, whatever their centers are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooled {
    /// The standard deviation: √(Σ(nᵢ − 1)·sᵢ² / Σ(nᵢ − 1)).
    pub deviation: f64,
    /// The degrees of freedom: Σ(nᵢ − 1).
    pub freedom: f64,
    /// How many groups it rests on.
    pub groups: usize,
    /// How many samples it rests on.
    pub samples: usize,
}

/// The pooled spread of groups; groups of one add nothing.
///
/// `None` if no group has two samples, or if a value is not finite. Oracle: numpy by the same formula.
pub fn pooled<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<Pooled> {
    let (mut squares, mut freedom, mut count, mut samples) = (0.0, 0.0, 0, 0);
    for group in groups {
        if group.len() < 2 {
            continue;
        }
        let (_, variance) = mean_and_variance(group)?;
        let free = (group.len() - 1) as f64;
        squares += variance * free;
        freedom += free;
        count += 1;
        samples += group.len();
    }
    let deviation = (squares / freedom).sqrt();
    deviation.is_finite().then_some(Pooled { deviation, freedom, groups: count, samples })
}

impl Pooled {
    /// The largest difference of two means of `first` and `second` samples that such a spread explains:
    /// t(1 − α/(2m), ν)·s·√(1/n₁ + 1/n₂), for the largest of `comparisons` m differences (Bonferroni).
    ///
    /// `None` if a count is zero or the confidence is not between 0 and 1.
    ///
    /// Source: Fisher's least significant difference; Montgomery, "Design and Analysis of Experiments", 3.5. Oracle:
    /// `scipy.stats.t.ppf`.
    pub fn least_difference(
        &self,
        first: usize,
        second: usize,
        comparisons: usize,
        confidence: f64,
    ) -> Option<f64> {
        if first == 0 || second == 0 || comparisons == 0 {
            return None;
        }
        let tail = (1.0 - proper(confidence)?) / (2.0 * comparisons as f64);
        let quantile = student_quantile(1.0 - tail, self.freedom)?;
        let limit = quantile * self.deviation * (1.0 / first as f64 + 1.0 / second as f64).sqrt();
        limit.is_finite().then_some(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: [f64; 5] = [97.13, 98.58, 98.43, 98.13, 98.72];

    #[test]
    fn one_group_keeps_its_own_deviation() {
        let spread = pooled([FIVE.as_slice()]).unwrap();
        // numpy.std(ddof=1) and scipy.stats.t.ppf(0.975, 4).
        assert!((spread.deviation - 0.635_900_935_7).abs() < 1e-6, "{}", spread.deviation);
        let limit = spread.least_difference(1, 1, 1, 0.95).unwrap();
        assert!((limit - 2.776_445_105 * spread.deviation * 2_f64.sqrt()).abs() < 1e-6);
        assert!(spread.least_difference(1, 1, 3, 0.95).unwrap() > limit);
        assert!(spread.least_difference(5, 5, 1, 0.95).unwrap() < limit);
    }

    #[test]
    fn centers_do_not_matter() {
        let far: Vec<f64> = FIVE.iter().map(|value| value + 1000.0).collect();
        let both = pooled([FIVE.as_slice(), far.as_slice(), &[5.0]]).unwrap();
        let one = pooled([FIVE.as_slice()]).unwrap();
        assert!((both.deviation - one.deviation).abs() < 1e-9);
        assert_eq!((both.freedom, both.groups, both.samples), (8.0, 2, 10));
    }

    #[test]
    fn refuses_what_has_no_spread() {
        assert_eq!(pooled([[1.0].as_slice()]), None);
        assert_eq!(pooled([[1.0, f64::NAN].as_slice()]), None);
        assert_eq!(pooled([FIVE.as_slice()]).unwrap().least_difference(0, 1, 1, 0.95), None);
    }
}
