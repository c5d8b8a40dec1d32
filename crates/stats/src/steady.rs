//! Warm-up and steady state of one process, and repeats that are not independent.

use crate::change_point::{ChangePointSearch, change_points};
use crate::samples::{finite, mean, mean_and_variance};

/// The fewest iterations that are classified.
pub const MINIMUM_ITERATIONS: usize = 20;

/// From this many iterations on, the larger penalty is used.
const MANY_ITERATIONS: usize = 200;
/// Segments whose means differ by no more than this fraction are the same level.
const SAME_LEVEL: f64 = 0.01;
/// The steady run must hold at least this share of the iterations.
const STEADY_SHARE: f64 = 0.25;
/// A tenth of [`SAME_LEVEL`]: what nobody would act upon need not be resolved.
const RESOLUTION: f64 = 0.001;

/// How the cost per iteration went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesShape {
    /// Steady from the first iteration.
    Flat,
    /// Higher before it became steady.
    Warmup,
    /// Lower before it became steady.
    Slowdown,
    /// Never steady for the last quarter of the iterations.
    Unsteady,
}

/// The steady state of a series of costs per iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyState {
    /// How it went.
    pub shape: SeriesShape,
    /// The first iteration of the last steady run, from 0. For an unsteady series it is where its last level begins.
    pub start: usize,
    /// The mean of the last segment.
    pub level: f64,
    /// The ends of all segments, each the index after its last iteration.
    pub segments: Vec<usize>,
    /// How many iterations were given.
    pub iterations: usize,
}

/// Finds the steady state of costs per iteration (times: more is worse), in the order measured.
///
/// Change points come from [`change_points`] with penalty 3·ln n, or 15·ln n from 200 iterations on, and segments of
/// at least max(5, n/50). The steady run is the longest row of last segments whose means lie within
/// δ = max(1 %, 2 standard errors) of the last one's; the series is unsteady if that is less than a quarter of it.
///
/// `None` below [`MINIMUM_ITERATIONS`], or if a value is not finite.
///
/// Source: Barrett et al., "Virtual machine warmup blows hot and cold", 2017, with a relative band in place of their
/// absolute one. Oracle for the change points: ruptures.
pub fn steady_state(costs: &[f64]) -> Option<SteadyState> {
    let count = costs.len();
    if count < MINIMUM_ITERATIONS {
        return None;
    }
    let factor = if count < MANY_ITERATIONS { 3.0 } else { 15.0 };
    let search = ChangePointSearch {
        penalty: factor * (count as f64).ln(),
        minimum_length: (count / 50).max(5),
        variance_floor: (RESOLUTION * mean(costs)?).powi(2),
    };
    let ends = change_points(costs, &search)?;
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
    let last = costs.get(*starts.last()?..)?;
    let (level, variance) = mean_and_variance(last)?;
    let error = (variance / last.len() as f64).sqrt();
    let band = (SAME_LEVEL * level.abs()).max(2.0 * error);
    let mut start = count;
    for (from, to) in starts.iter().zip(&ends).rev() {
        if (mean(costs.get(*from..*to)?)? - level).abs() > band {
            break;
        }
        start = *from;
    }
    let shape = if ((count - start) as f64) < STEADY_SHARE * count as f64 {
        SeriesShape::Unsteady
    } else {
        match mean(costs.get(..start)?) {
            None => SeriesShape::Flat,
            Some(before) if before > level => SeriesShape::Warmup,
            Some(_) => SeriesShape::Slowdown,
        }
    };
    Some(SteadyState { shape, start, level, segments: ends, iterations: count })
}

/// How many independent samples a correlated series is worth: n / (1 + 2·Σρₖ), the autocorrelations summed in pairs
/// for as long as a pair is positive. At most n; a constant series counts as independent.
///
/// Below half of n, repeats are correlated and intervals from them too narrow. `None` for fewer than four samples or
/// if one is not finite. Source: Geyer, "Practical Markov chain Monte Carlo", 1992. Oracle: numpy by the same formula.
pub fn effective_samples(samples: &[f64]) -> Option<f64> {
    let count = samples.len();
    if count < 4 {
        return None;
    }
    let center = mean(finite(samples)?)?;
    let centerd: Vec<f64> = samples.iter().map(|value| value - center).collect();
    let covariance =
        |lag: usize| -> f64 { centerd.iter().zip(centerd.iter().skip(lag)).map(|(a, b)| a * b).sum() };
    let variance = covariance(0);
    if variance <= 0.0 {
        return Some(count as f64);
    }
    let mut pairs = 0.0;
    for lag in (0..count - 1).step_by(2) {
        let pair = (covariance(lag) + covariance(lag + 1)) / variance;
        if pair <= 0.0 {
            break;
        }
        pairs += pair;
    }
    // Pairs begin with ρ₀ = 1, so 1 + 2·Σρₖ over k ≥ 1 is 2·Σpairs − 1.
    let inflation = (2.0 * pairs - 1.0).max(1.0);
    let effective = count as f64 / inflation;
    effective.is_finite().then_some(effective)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A level with a small even ripple.
    fn level(count: u32, height: f64) -> Vec<f64> {
        (0..count).map(|index| height + 0.002 * height * f64::from(index * 7 % 5)).collect()
    }

    fn shape(parts: &[(u32, f64)]) -> (SeriesShape, usize) {
        let costs: Vec<f64> = parts.iter().flat_map(|(count, height)| level(*count, *height)).collect();
        let steady = steady_state(&costs).unwrap();
        (steady.shape, steady.start)
    }

    #[test]
    fn shapes_are_distinguished() {
        assert_eq!(shape(&[(100, 10.0)]), (SeriesShape::Flat, 0));
        assert_eq!(shape(&[(20, 15.0), (80, 10.0)]), (SeriesShape::Warmup, 20));
        assert_eq!(shape(&[(40, 10.0), (60, 11.0)]), (SeriesShape::Slowdown, 40));
        assert_eq!(shape(&[(60, 10.0), (30, 11.0), (10, 12.0)]), (SeriesShape::Unsteady, 90));
        // A passing disturbance splits the segments; the steady run begins after it.
        assert_eq!(shape(&[(30, 10.0), (10, 14.0), (60, 10.0)]), (SeriesShape::Warmup, 40));
    }

    #[test]
    fn levels_within_a_percent_are_one() {
        assert_eq!(shape(&[(50, 10.0), (50, 10.05)]), (SeriesShape::Flat, 0));
    }

    #[test]
    fn refuses_what_is_too_short() {
        assert_eq!(steady_state(&[1.0; 19]), None);
        assert_eq!(steady_state(&[f64::NAN; 30]), None);
        assert_eq!(steady_state(&[0.0; 30]).unwrap().shape, SeriesShape::Flat);
    }

    #[test]
    fn correlation_shrinks_the_sample() {
        let blocks: Vec<f64> = (0..100).map(|index| f64::from(index / 10 % 3)).collect();
        assert!(effective_samples(&blocks).unwrap() < 50.0);
        let alternating: Vec<f64> = (0..100).map(|index| f64::from(index % 2)).collect();
        assert_eq!(effective_samples(&alternating), Some(100.0));
        assert_eq!(effective_samples(&[1.0; 10]), Some(10.0));
        assert_eq!(effective_samples(&[1.0; 3]), None);
    }

    proptest! {
        #[test]
        fn the_unit_of_time_does_not_matter(
            costs in prop::collection::vec(prop_oneof![9.0..10.0_f64, 14.0..15.0_f64], 20..80),
        ) {
            let scaled: Vec<f64> = costs.iter().map(|value| value * 1024.0).collect();
            let (one, other) = (steady_state(&costs).unwrap(), steady_state(&scaled).unwrap());
            prop_assert_eq!((one.shape, one.start, one.segments), (other.shape, other.start, other.segments));
        }
    }
}
