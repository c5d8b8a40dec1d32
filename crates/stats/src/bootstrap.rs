//! Intervals for statistics that have no formula, by resampling with a seed.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::interval::Interval;
use crate::quantile::of_sorted;
use crate::random::Indices;
use crate::samples::{finite, mean, proper};

/// How often to resample unless there is a reason for another number.
pub const RESAMPLES: usize = 10_000;

/// The fewest samples that are resampled. Fewer make too few different resamples to speak of tails.
pub const MINIMUM_SAMPLES: usize = 8;

/// How to bootstrap. Statistics receive a slice that they may reorder, and answer `None` where they are not defined;
/// one such resample makes the whole result `None`.
///
/// Results have the confidence that was asked for: the coverage of a bootstrap interval is not known exactly. Not for
/// tails: a resample cannot hold a value beyond the largest one seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The confidence asked for.
    pub confidence: f64,
    /// How often to resample.
    pub resamples: usize,
    /// The seed. The same seed gives the same interval on every machine.
    pub seed: u64,
}

impl Bootstrap {
    /// [`RESAMPLES`] resamples.
    pub fn new(confidence: f64, seed: u64) -> Self {
        Self { confidence, resamples: RESAMPLES, seed }
    }

    /// The highest confidence that the number of resamples supports: one resample beyond each end.
    pub fn reachable_confidence(&self) -> f64 {
        reachable_confidence(self.resamples)
    }

    /// The percentile interval: the α/2 and 1 − α/2 quantiles of the statistic over resamples.
    ///
    /// `None` for fewer than [`MINIMUM_SAMPLES`] samples, if a value is not finite, or if there are too few resamples
    /// for the confidence. Source: Efron & Tibshirani, "An Introduction to the Bootstrap", 13.3. Oracle:
    /// `scipy.stats.bootstrap(method='percentile')`, within Monte-Carlo error.
    pub fn percentile(
        &self,
        samples: &[f64],
        statistic: impl Fn(&mut [f64]) -> Option<f64>,
    ) -> Option<Interval> {
        let center = statistic(&mut samples.to_vec())?;
        let replicates = self.replicates(samples, &statistic)?;
        percentile_ends(replicates, center, self.confidence, samples.len())
    }

    /// The bias-corrected and accelerated interval, for smooth statistics such as means. For medians use
    /// [`Bootstrap::percentile`]: leaving out one value moves a median by jumps, and the acceleration means nothing.
    ///
    /// `None` as for [`Bootstrap::percentile`], and where all resamples lie on one side of the estimate. Source:
    /// Efron & Tibshirani, 14.3. Oracle: `scipy.stats.bootstrap(method='BCa')`.
    pub fn bca(&self, samples: &[f64], statistic: impl Fn(&mut [f64]) -> Option<f64>) -> Option<Interval> {
        let center = statistic(&mut samples.to_vec())?;
        let replicates = self.replicates(samples, &statistic)?;
        let jackknife = (0..samples.len())
            .map(|left_out| {
                let mut rest = samples.to_vec();
                rest.swap_remove(left_out);
                statistic(&mut rest).filter(|value| value.is_finite())
            })
            .collect::<Option<Vec<f64>>>()?;
        bca_ends(replicates, center, &jackknife, self.confidence)
    }

    /// The statistic of every resample.
    fn replicates(&self, samples: &[f64], statistic: impl Fn(&mut [f64]) -> Option<f64>) -> Option<Vec<f64>> {
        self.check(samples)?;
        let mut indices = Indices::new(self.seed);
        let mut resample = Vec::with_capacity(samples.len());
        (0..self.resamples)
            .map(|_| {
                indices.resample(samples, &mut resample);
                statistic(&mut resample).filter(|value| value.is_finite())
            })
            .collect()
    }

    fn check(&self, samples: &[f64]) -> Option<()> {
        let confidence = proper(self.confidence)?;
        let enough = samples.len() >= MINIMUM_SAMPLES && confidence <= self.reachable_confidence();
        (finite(samples).is_some() && enough).then_some(())
    }
}

/// The highest confidence that this number of resamples supports.
pub(crate) fn reachable_confidence(resamples: usize) -> f64 {
    1.0 - 2.0 / resamples.max(2) as f64
}

/// The percentile interval of given replicates of a statistic.
pub(crate) fn percentile_ends(
    mut replicates: Vec<f64>,
    center: f64,
    confidence: f64,
    samples: usize,
) -> Option<Interval> {
    replicates.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let (low, high) = (of_sorted(&replicates, tail)?, of_sorted(&replicates, 1.0 - tail)?);
    Some(Interval { center, low, high, confidence, samples })
}

/// The BCa interval of given replicates of a statistic, its estimate, and its values with each sample left out once:
/// quantiles of the replicates at Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) for z at α/2 and 1 − α/2, with
/// z₀ = Φ⁻¹(share of replicates below the estimate) and a = Σ(θ̄ − θᵢ)³ / (6·(Σ(θ̄ − θᵢ)²)^1.5).
///
/// Replicates equal to the estimate count half, as scipy counts them; without such ties the definitions agree.
pub fn bca_ends(
    mut replicates: Vec<f64>,
    estimate: f64,
    jackknife: &[f64],
    confidence: f64,
) -> Option<Interval> {
    finite(&replicates)?;
    replicates.sort_unstable_by(f64::total_cmp);
    let bias = bias_correction(&replicates, estimate)?;
    let acceleration = acceleration(jackknife)?;
    let adjusted = |level: f64| {
        let shifted = bias + normal_quantile(level)?;
        let stretch = 1.0 - acceleration * shifted;
        (stretch > 0.0).then(|| normal_cdf(bias + shifted / stretch))
    };
    let tail = (1.0 - proper(confidence)?) / 2.0;
    let low = of_sorted(&replicates, adjusted(tail)?)?;
    let high = of_sorted(&replicates, adjusted(1.0 - tail)?)?;
    Some(Interval { center: estimate, low, high, confidence, samples: jackknife.len() })
}

/// z₀ of sorted replicates.
fn bias_correction(sorted: &[f64], estimate: f64) -> Option<f64> {
    let below = sorted.partition_point(|value| *value < estimate);
    let up_to = sorted.partition_point(|value| *value <= estimate);
    normal_quantile((below + up_to) as f64 / (2.0 * sorted.len() as f64))
}

/// a of the jackknife values; zero where they are all equal.
fn acceleration(jackknife: &[f64]) -> Option<f64> {
    let center = mean(jackknife)?;
    let power = |exponent: i32| jackknife.iter().map(|value| (center - value).powi(exponent)).sum::<f64>();
    let squares = power(2);
    let value = if squares == 0.0 { 0.0 } else { power(3) / (6.0 * squares.powf(1.5)) };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn average(samples: &mut [f64]) -> Option<f64> {
        mean(samples)
    }

    const SAMPLES: [f64; 10] = [12.0, 15.0, 11.0, 19.0, 14.0, 13.0, 17.0, 12.5, 30.0, 16.0];

    #[test]
    fn the_seed_decides() {
        let interval = |seed| Bootstrap::new(0.95, seed).percentile(&SAMPLES, average).unwrap();
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
    }

    #[test]
    fn bca_leans_towards_the_long_tail() {
        let bootstrap = Bootstrap::new(0.95, 3);
        let plain = bootstrap.percentile(&SAMPLES, average).unwrap();
        let corrected = bootstrap.bca(&SAMPLES, average).unwrap();
        assert!(corrected.low > plain.low && corrected.high > plain.high);
    }

    #[test]
    fn constant_samples_have_no_width() {
        let interval = Bootstrap::new(0.95, 3).bca(&[4.0; 9], average).unwrap();
        assert_eq!((interval.low, interval.center, interval.high), (4.0, 4.0, 4.0));
    }

    #[test]
    fn refuses_what_cannot_be_resampled() {
        let bootstrap = Bootstrap::new(0.95, 1);
        assert_eq!(bootstrap.percentile(&SAMPLES[..7], average), None);
        assert_eq!(bootstrap.percentile(&[f64::NAN; 9], average), None);
        assert_eq!(bootstrap.percentile(&SAMPLES, |_| None), None);
        assert_eq!(Bootstrap { resamples: 39, ..bootstrap }.percentile(&SAMPLES, average), None);
        assert_eq!(Bootstrap { confidence: 1.0, ..bootstrap }.percentile(&SAMPLES, average), None);
    }
}
