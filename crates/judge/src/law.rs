//! Laws of the field, fitted to all runs of a study: with bands, a test against repeats, and the limits of validity.

use assay_stats::bootstrap::Bootstrap;
use assay_stats::scaling::{
    self, Law, MINIMUM_BATCH_SIZES, MINIMUM_LEVELS, ScalingLevel, bands, fit, lack_of_fit,
};
use serde::Serialize;

use crate::CONFIDENCE;
use crate::gather::CellEvidence;

/// How often residuals are resampled for bands.
const RESAMPLES: usize = 1_000;
/// The seed of the resamples. A fixed one: the same record prints the same bands.
const SEED: u64 = 1;
/// Runs beyond the law's parameters that bands need: residuals of fewer say nothing.
const SPARE_RUNS: usize = 3;
/// A law that typically misses its runs by more than this share does not describe them, whether repeats show it or not.
const LARGEST_MISFIT: f64 = 0.1;
/// The efficiency that is still worth its workers.
pub const WORTHWHILE: f64 = 0.7;

/// A law of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LawKind {
    /// rate(b) = b / (t₀ + b/r∞) over the batch size.
    HalfPerformance,
    /// X(N) = λN / (1 + σ(N − 1)).
    Amdahl,
    /// X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
    Universal,
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ranged {
    /// The value.
    pub center: f64,
    /// The ends of its 95 % interval; none where there are too few runs for one.
    pub ends: Option<(f64, f64)>,
}

/// A law at one place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BandPoint {
    /// The setting's value.
    pub at: f64,
    /// The law's value and its band.
    pub value: Ranged,
}

/// A fitted law.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedLaw {
    /// Which law.
    pub law: LawKind,
    /// λ: the rate of one worker.
    pub single: f64,
    /// σ: the share of work that waits for others.
    pub contention: Ranged,
    /// κ: the cost of keeping workers consistent.
    pub coherence: Ranged,
    /// r∞: the rate that ever larger batches or counts approach; none where the runs show no limit.
    pub asymptote: Option<Ranged>,
    /// t₀: the seconds that every step costs, whatever its batch.
    pub overhead: Ranged,
    /// The batch size at which half of r∞ is reached: t₀·r∞.
    pub half_performance: Option<Ranged>,
    /// The share of the variance that it explains.
    pub determination: f64,
    /// Akaike's criterion for few samples; lower is better.
    pub criterion: f64,
    /// Where the rate peaks, if it does.
    pub peak: Option<Ranged>,
    /// The test against repeats: the statistic, its degrees of freedom, and p; none without repeats.
    pub lack_of_fit: Option<LackOfFit>,
    /// The law at the measured places, and at twice the largest, beyond which it says nothing.
    pub band: Vec<BandPoint>,
    /// What each run differs by from the law, as a share: place and residual.
    pub residuals: Vec<(f64, f64)>,
    /// The largest measured place.
    pub largest: f64,
    /// How many runs it rests on.
    pub runs: usize,
}

/// The F test for lack of fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LackOfFit {
    /// F.
    pub statistic: f64,
    /// The degrees of freedom of the lack.
    pub freedom: f64,
    /// The degrees of freedom of repeats.
    pub freedom_of_repeats: f64,
    /// The chance of so large an F if the law were true.
    pub p: f64,
    /// By how much the law typically misses the means of repeats, as a share of them.
    pub misfit: f64,
    /// Whether the law is rejected: by p below 0.05 and a misfit above 1 %.
    pub rejects: bool,
}

impl FittedLaw {
    /// Why it does not describe its runs, where that is so: then its parameters must not be used.
    pub fn rejected(&self) -> Option<String> {
        if let Some(test) = self.lack_of_fit.filter(|test| test.rejects) {
            return Some(format!(
                "repeats reject it (F({}, {}) = {:.0}, p = {:.1e})",
                test.freedom, test.freedom_of_repeats, test.statistic, test.p
            ));
        }
        let squares: f64 = self.residuals.iter().map(|(_, residual)| residual * residual).sum();
        let typical = (squares / self.residuals.len().max(1) as f64).sqrt();
        (typical > LARGEST_MISFIT).then(|| format!("its residuals are typically {:.0} %", 100.0 * typical))
    }

    /// The most workers before the efficiency falls below [`WORTHWHILE`]; none beyond twice the largest count.
    pub fn worthwhile(&self) -> Option<f64> {
        let cost = |n: f64| 1.0 + self.contention.center * (n - 1.0) + self.coherence.center * n * (n - 1.0);
        let most = 2.0 * self.largest;
        let mut count = 1.0;
        while count + 1.0 <= most && 1.0 / cost(count + 1.0) >= WORTHWHILE {
            count += 1.0;
        }
        (count + 1.0 <= most).then_some(count)
    }
}

/// The law that describes the runs of a study best, by Akaike's criterion where there are two to choose from.
pub(crate) fn fitted(group: &[(f64, &CellEvidence)], is_batch: bool) -> Result<FittedLaw, String> {
    let mut places: Vec<f64> = group.iter().map(|(place, _)| *place).collect();
    places.dedup();
    let (laws, fewest): (&[Law], usize) = match is_batch {
        true => (&[Law::HalfPerformance], MINIMUM_BATCH_SIZES),
        false => (&[Law::Amdahl, Law::Universal], MINIMUM_LEVELS),
    };
    if places.len() < fewest {
        let what = if is_batch { "batch sizes" } else { "counts" };
        return Err(format!("a law needs {fewest} different {what}, and there are {}", places.len()));
    }
    let levels: Vec<ScalingLevel> = group
        .iter()
        .flat_map(|(place, cell)| {
            // Errors grow with the rate, so that each level weighs by its own size.
            let middle = assay_stats::median(&cell.values).unwrap_or(1.0);
            cell.values.iter().map(move |rate| ScalingLevel {
                workers: *place,
                throughput: *rate,
                weight: middle.powi(-2),
            })
        })
        .collect();
    let fits = laws.iter().filter_map(|law| fit(&levels, *law));
    // With hardly more runs than parameters the criterion is not defined, and the simpler law comes first.
    let best = fits.min_by(|a, b| a.criterion.partial_cmp(&b.criterion).unwrap_or(std::cmp::Ordering::Less));
    Ok(described(&levels, &places, &best.ok_or("no law describes these rates")?))
}

fn described(levels: &[ScalingLevel], places: &[f64], best: &scaling::Scaling) -> FittedLaw {
    let mut at = places.to_vec();
    at.push(2.0 * best.largest);
    let parameters = if best.law == Law::Universal { 3 } else { 2 };
    let bootstrap = Bootstrap { confidence: CONFIDENCE, resamples: RESAMPLES, seed: SEED };
    let enough = levels.len() >= parameters + SPARE_RUNS;
    let bands = enough.then(|| bands(levels, best, &at, &bootstrap)).flatten();
    let ranged = |center: f64, interval: Option<&assay_stats::Interval>| Ranged {
        center,
        // Refits that ran elsewhere give no interval of this one.
        ends: interval
            .map(|interval| (interval.low, interval.high))
            .filter(|(low, high)| (*low..=*high).contains(&center)),
    };
    let value = |place: f64| best.predict(place).unwrap_or(f64::NAN);
    let band = at.iter().enumerate().map(|(index, place)| BandPoint {
        at: *place,
        value: ranged(value(*place), bands.as_ref().and_then(|bands| bands.at.get(index))),
    });
    FittedLaw {
        law: match best.law {
            Law::HalfPerformance => LawKind::HalfPerformance,
            Law::Amdahl => LawKind::Amdahl,
            Law::Universal => LawKind::Universal,
        },
        single: best.single,
        contention: ranged(best.contention, bands.as_ref().map(|bands| &bands.contention)),
        coherence: ranged(best.coherence, bands.as_ref().map(|bands| &bands.coherence)),
        asymptote: best
            .asymptote()
            .map(|limit| ranged(limit, bands.as_ref().and_then(|bands| bands.asymptote.as_ref()))),
        overhead: ranged(best.overhead(), bands.as_ref().map(|bands| &bands.overhead)),
        half_performance: best
            .half_performance()
            .map(|half| ranged(half, bands.as_ref().and_then(|bands| bands.half_performance.as_ref()))),
        determination: best.determination,
        criterion: best.criterion,
        peak: best.peak().map(|peak| ranged(peak, bands.as_ref().and_then(|bands| bands.peak.as_ref()))),
        lack_of_fit: lack_of_fit(levels, best).map(|test| LackOfFit {
            statistic: test.statistic,
            freedom: test.freedom,
            freedom_of_repeats: test.freedom_of_repeats,
            p: test.p,
            misfit: test.misfit,
            rejects: test.rejects(),
        }),
        residuals: levels
            .iter()
            .map(|level| (level.workers, level.throughput / value(level.workers) - 1.0))
            .collect(),
        band: band.collect(),
        largest: best.largest,
        runs: levels.len(),
    }
}
