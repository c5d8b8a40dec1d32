//! Latency against load: flat up to a knee, then rising.

use crate::bootstrap::{Bootstrap, percentile_ends};
use crate::interval::Interval;
use crate::lack_of_fit::{LackOfFit, Weighed, lack_of_fit};
use crate::random::Indices;
use crate::samples::{mean, proper};

/// The fewest different loads that a knee is looked for in: one more than the law has parameters.
pub const MINIMUM_LOADS: usize = 4;
/// Loads beyond the knee that are needed to know where the rise begins.
const BEYOND: usize = 2;
/// Places between the first and the last possible knee that are tried.
const PLACES: usize = 200;

/// How latency goes with load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadShape {
    /// The same at every load.
    Flat,
    /// Rising from the smallest load on.
    Rising,
    /// Flat, then rising.
    Knee,
}

/// The law R(x) = base + slope·max(0, x − knee).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// The latency before the knee.
    pub base: f64,
    /// What one more unit of load adds behind it.
    pub slope: f64,
    /// Where it is.
    pub knee: f64,
}

impl Hinge {
    /// The latency at a load.
    pub fn at(&self, load: f64) -> f64 {
        self.base + self.slope * (load - self.knee).max(0.0)
    }
}

/// What the runs say about the knee.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadLaw {
    /// Which of the three laws explains the runs best, by Akaike's criterion for few samples.
    pub shape: LoadShape,
    /// The fitted hinge; of a flat or rising curve the best one that there is.
    pub hinge: Hinge,
    /// The interval of the knee; `None` where there is none, or too few runs for one.
    pub knee: Option<Interval>,
    /// The test against repeats.
    pub lack_of_fit: Option<LackOfFit>,
}

/// Fits latencies at loads, each run weighted by one over its latency squared, because errors grow with latencies.
///
/// The hinge is the sharp form of the two asymptotes of a closed system: latency cannot fall below that of one request
/// alone, and behind saturation every further request waits for all others. Its knee is found by trying places from the
/// smallest load to the last but one, with base and slope by least squares at each.
///
/// `None` for fewer than [`MINIMUM_LOADS`] different loads, or if a value is not finite or not positive.
///
/// Sources: Hudson, "Fitting segmented curves whose join points have to be estimated", 1966; Denning & Buzen, "The
/// operational analysis of queueing network models", 1978. The coverage of the interval is simulated in `bench/judge`.
pub fn load_law(runs: &[(f64, f64)], bootstrap: &Bootstrap) -> Option<LoadLaw> {
    let usable = |(load, latency): &(f64, f64)| load.is_finite() && latency.is_finite() && *latency > 0.0;
    if !runs.iter().all(usable) {
        return None;
    }
    let mut loads: Vec<f64> = runs.iter().map(|(load, _)| *load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < MINIMUM_LOADS {
        return None;
    }
    let weighed: Vec<Weighed> = runs
        .iter()
        .map(|(load, latency)| Weighed { place: *load, value: *latency, weight: latency.powi(-2) })
        .collect();
    let places = places(&loads);
    let (hinge, left) = best_hinge(&weighed, &places)?;
    let (_, _, flat) = line(&weighed, |_| 0.0)?;
    let (_, _, rising) = line(&weighed, |load| load)?;
    let criterion = |left: f64, parameters: f64| {
        let count = weighed.len() as f64;
        let spare = count - parameters - 2.0;
        let penalty = if spare > 0.0 { 2.0 * (parameters + 1.0) * count / spare } else { f64::INFINITY };
        count * (left.max(f64::MIN_POSITIVE) / count).ln() + penalty
    };
    let all = [
        (LoadShape::Flat, criterion(flat, 1.0)),
        (LoadShape::Rising, criterion(rising, 2.0)),
        (LoadShape::Knee, criterion(left, 3.0)),
    ];
    let shape = all.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(shape, _)| shape)?;
    let shape = if shape != LoadShape::Flat && hinge.slope <= 0.0 { LoadShape::Flat } else { shape };
    let is_knee = shape == LoadShape::Knee;
    Some(LoadLaw {
        shape,
        hinge,
        knee: is_knee.then(|| knee_interval(&weighed, &hinge, &places, bootstrap)).flatten(),
        lack_of_fit: is_knee.then(|| lack_of_fit(&weighed, |load| hinge.at(load), 3)).flatten(),
    })
}

/// The places where a knee may be.
fn places(loads: &[f64]) -> Vec<f64> {
    let first = loads.first().copied().unwrap_or_default();
    // Not beyond the last but one load: a single load behind the knee would not show where the rise begins.
    let end = loads.get(loads.len().saturating_sub(BEYOND)).copied().unwrap_or(first);
    (0..PLACES).map(|step| first + (end - first) * step as f64 / PLACES as f64).collect()
}

fn best_hinge(runs: &[Weighed], places: &[f64]) -> Option<(Hinge, f64)> {
    let fits = places.iter().filter_map(|knee| {
        let (base, slope, left) = line(runs, |load| (load - knee).max(0.0))?;
        Some((Hinge { base, slope, knee: *knee }, left))
    });
    fits.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Weighted least squares of value = base + slope·feature(place), with the weighted sum of squares that is left.
fn line(runs: &[Weighed], feature: impl Fn(f64) -> f64) -> Option<(f64, f64, f64)> {
    let (mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for run in runs {
        let along = feature(run.place);
        w += run.weight;
        x += run.weight * along;
        y += run.weight * run.value;
        xx += run.weight * along * along;
        xy += run.weight * along * run.value;
    }
    let spread = xx - x * x / w;
    let slope = if spread > 1e-12 * xx.max(f64::MIN_POSITIVE) { (xy - x * y / w) / spread } else { 0.0 };
    let base = (y - slope * x) / w;
    let left: f64 =
        runs.iter().map(|run| run.weight * (run.value - base - slope * feature(run.place)).powi(2)).sum();
    left.is_finite().then_some((base, slope, left))
}

/// The interval of the knee by the residual bootstrap, as for scaling laws: relative residuals, widened for the three
/// parameters, are drawn onto the fitted curve.
fn knee_interval(runs: &[Weighed], hinge: &Hinge, places: &[f64], bootstrap: &Bootstrap) -> Option<Interval> {
    let confidence = proper(bootstrap.confidence)?;
    let count = runs.len() as f64;
    if count < 6.0 || confidence > bootstrap.reachable_confidence() {
        return None;
    }
    let widening = (count / (count - 3.0)).sqrt();
    let raw: Vec<f64> = runs.iter().map(|run| run.value / hinge.at(run.place) - 1.0).collect();
    let center = mean(&raw)?;
    let residuals: Vec<f64> = raw.iter().map(|residual| (residual - center) * widening).collect();
    let mut indices = Indices::new(bootstrap.seed);
    let mut drawn = Vec::with_capacity(runs.len());
    let mut knees = Vec::with_capacity(bootstrap.resamples);
    for _ in 0..bootstrap.resamples {
        indices.resample(&residuals, &mut drawn);
        let resampled: Vec<Weighed> = runs
            .iter()
            .zip(&drawn)
            .map(|(run, residual)| {
                let value = hinge.at(run.place) * (1.0 + residual);
                Weighed { value, weight: value.powi(-2), ..*run }
            })
            .collect();
        knees.extend(best_hinge(&resampled, places).map(|(hinge, _)| hinge.knee));
    }
    percentile_ends(knees, hinge.knee, confidence, runs.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];
    const NOISE: [f64; 3] = [0.99, 1.0, 1.012];

    fn law(latency: impl Fn(f64) -> f64) -> LoadLaw {
        let runs: Vec<(f64, f64)> = LOADS
            .iter()
            .enumerate()
            .flat_map(|(place, load)| {
                let latency = latency(*load);
                // Another order of the noise at each load.
                (0..3).map(move |run| (*load, latency * NOISE[(run + place) % 3]))
            })
            .collect();
        load_law(&runs, &Bootstrap { confidence: 0.95, resamples: 400, seed: 1 }).unwrap()
    }

    #[test]
    fn a_saturated_server_has_a_knee_where_its_slots_are_full() {
        let found = law(|streams| 0.05 * (streams / 5.0_f64).max(1.0));
        assert_eq!(found.shape, LoadShape::Knee);
        let knee = found.knee.unwrap();
        assert!(knee.low <= 5.0 && 5.0 <= knee.high && knee.high - knee.low < 1.0, "{knee:?}");
        assert!((found.hinge.base - 0.05).abs() < 0.001 && found.lack_of_fit.unwrap().p > 0.05, "{found:?}");
    }

    #[test]
    fn flat_and_rising_curves_have_none() {
        assert_eq!(law(|_| 0.05).shape, LoadShape::Flat);
        let rising = law(|streams| 0.05 + 0.02 * streams);
        assert_eq!((rising.shape, rising.knee), (LoadShape::Rising, None));
    }

    #[test]
    fn too_few_loads_say_nothing() {
        let bootstrap = Bootstrap { confidence: 0.95, resamples: 100, seed: 1 };
        assert_eq!(load_law(&[(1.0, 1.0), (2.0, 1.0), (3.0, 2.0)], &bootstrap), None);
        assert_eq!(load_law(&[(1.0, 1.0), (2.0, 0.0), (3.0, 2.0), (4.0, 3.0)], &bootstrap), None);
        assert_eq!(load_law(&[], &bootstrap), None);
    }
}
