//! Intervals for statistics that have no formula, by resampling with a seed.

use crate::interval::Interval;
use crate::quantile::of_sorted;
use crate::random::Indices;
use crate::samples::{finite, proper};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::mean;

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
    fn constant_samples_have_no_width() {
        let interval = Bootstrap::new(0.95, 3).percentile(&[4.0; 9], average).unwrap();
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
