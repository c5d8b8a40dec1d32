//! Scaling laws: how throughput grows with the number of workers.

use crate::bootstrap::{Bootstrap, percentile_ends};
use crate::interval::Interval;
use crate::lack_of_fit::{LackOfFit, Weighed};
use crate::random::Indices;
use crate::samples::{finite, mean, proper};

/// The fewest levels that a law is fitted to.
pub const MINIMUM_LEVELS: usize = 6;
/// How far beyond the largest measured count a law is trusted.
const PREDICTION_REACH: f64 = 2.0;
const STEPS: usize = 200;

/// The fewest different batch sizes that the half-performance law is fitted to: one more than its parameters.
pub const MINIMUM_BATCH_SIZES: usize = 3;

/// Which parts of the universal law are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// Hockney's law of a rate over the batch size, rate(b) = b / (t₀ + b/r∞): the curve of Amdahl's law with
    /// t₀ = (1 − σ)/λ and r∞ = λ/σ.
    HalfPerformance,
    /// Amdahl's law: contention only, κ = 0.
    Amdahl,
    /// The universal scalability law: contention and coherence.
    Universal,
}

/// A measured level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingLevel {
    /// How many workers: N ≥ 1.
    pub workers: f64,
    /// Their throughput together.
    pub throughput: f64,
    /// The weight of this level: one over the throughput's variance, or 1 for all.
    pub weight: f64,
}

/// A fitted law X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaling {
    pub law: Law,
    /// λ: the throughput of one worker.
    pub single: f64,
    /// σ: the share of work that waits for others.
    pub contention: f64,
    /// κ: the cost of keeping workers consistent.
    pub coherence: f64,
    /// 1 − residual over total sum of squares, unweighted.
    pub determination: f64,
    /// Akaike's criterion for few levels: the law with the lower value explains the levels better.
    pub criterion: f64,
    /// The largest measured N.
    pub largest: f64,
    /// How many levels it rests on.
    pub levels: usize,
}

impl Scaling {
    /// r∞ = λ/σ: the rate that ever larger batches approach. `None` where the fit sees no limit.
    pub fn asymptote(&self) -> Option<f64> {
        let limit = self.single / self.contention;
        (self.contention > 0.0 && limit.is_finite()).then_some(limit)
    }

    /// t₀ = (1 − σ)/λ: the seconds that every step costs, whatever its batch.
    pub fn overhead(&self) -> f64 {
        (1.0 - self.contention) / self.single
    }

    /// t₀·r∞: the batch size at which half of r∞ is reached. `None` where the fit sees no limit.
    pub fn half_performance(&self) -> Option<f64> {
        self.asymptote().map(|limit| limit * self.overhead())
    }

    /// √((1 − σ)/κ): where throughput peaks. `None` if it never does.
    pub fn peak(&self) -> Option<f64> {
        let square = (1.0 - self.contention) / self.coherence;
        (self.coherence > 0.0 && square >= 0.0 && square.is_finite()).then(|| square.sqrt())
    }

    /// The law's throughput. `None` below one worker and beyond twice the largest measured count, where no fit is to
    /// be trusted.
    pub fn predict(&self, workers: f64) -> Option<f64> {
        (1.0..=PREDICTION_REACH * self.largest)
            .contains(&workers)
            .then(|| self.single * shape(workers, self.contention, self.coherence))
    }
}

/// E(N) = X(N) / (N·X(base)/base): the share of linear scaling that is reached. `None` unless all values are above
/// zero and finite.
pub fn efficiency(workers: f64, throughput: f64, base_workers: f64, base_throughput: f64) -> Option<f64> {
    let all = [workers, throughput, base_workers, base_throughput];
    let usable = finite(&all)?.iter().all(|value| *value > 0.0);
    let efficiency = throughput / workers / (base_throughput / base_workers);
    (usable && efficiency.is_finite()).then_some(efficiency)
}

/// Fits a law by weighted least squares on throughput, with σ ≥ 0 and κ ≥ 0. Every choice of parameters that are held
/// at zero is fitted, and the best one that keeps the bounds is taken.
///
/// `None` for fewer than [`MINIMUM_LEVELS`] different numbers of workers, or if a value is not finite, a throughput or
/// a weight is not above zero, or a count is below 1.
///
/// Source: Gunther, "Guerrilla Capacity Planning", 2007. Oracle: `scipy.optimize.curve_fit`.
pub fn fit(levels: &[ScalingLevel], law: Law) -> Option<Scaling> {
    check(levels, law)?;
    minimum(levels, law)
}

/// The fit itself, for levels that were checked.
fn minimum(levels: &[ScalingLevel], law: Law) -> Option<Scaling> {
    let free: &[[bool; 2]] = match law {
        Law::Amdahl | Law::HalfPerformance => &[[true, false], [false, false]],
        Law::Universal => &[[true, true], [true, false], [false, true], [false, false]],
    };
    let fits = free.iter().filter_map(|free| minimize(levels, *free));
    let best = fits
        .filter(|fit| fit.parameters.iter().all(|value| *value >= 0.0))
        .min_by(|a, b| a.residual.total_cmp(&b.residual))?;
    describe(levels, law, &best)
}

fn check(levels: &[ScalingLevel], law: Law) -> Option<()> {
    let usable = |level: &ScalingLevel| {
        let all = [level.workers, level.throughput, level.weight];
        all.iter().all(|value| value.is_finite() && *value > 0.0) && level.workers >= 1.0
    };
    let mut counts: Vec<f64> = levels.iter().map(|level| level.workers).collect();
    counts.sort_unstable_by(f64::total_cmp);
    counts.dedup();
    (levels.iter().all(usable) && counts.len() >= fewest(law)).then_some(())
}

fn fewest(law: Law) -> usize {
    if law == Law::HalfPerformance { MINIMUM_BATCH_SIZES } else { MINIMUM_LEVELS }
}

/// X(N)/λ.
fn shape(workers: f64, contention: f64, coherence: f64) -> f64 {
    workers / (1.0 + contention * (workers - 1.0) + coherence * workers * (workers - 1.0))
}

/// One fit: σ and κ, the best λ for them, and the weighted residual.
#[derive(Clone, Copy)]
struct Fit {
    parameters: [f64; 2],
    single: f64,
    residual: f64,
}

/// λ is linear in the law, so it follows from σ and κ. `None` where the law has no positive throughput.
fn project(levels: &[ScalingLevel], parameters: [f64; 2]) -> Option<Fit> {
    let [contention, coherence] = parameters;
    let shapes: Vec<f64> = levels.iter().map(|level| shape(level.workers, contention, coherence)).collect();
    if !shapes.iter().all(|value| value.is_finite() && *value > 0.0) {
        return None;
    }
    let sum = |term: &dyn Fn(&ScalingLevel, f64) -> f64| -> f64 {
        levels.iter().zip(&shapes).map(|(level, shape)| level.weight * term(level, *shape)).sum()
    };
    let single = sum(&|level, shape| level.throughput * shape) / sum(&|_, shape| shape * shape);
    let residual = sum(&|level, shape| (level.throughput - single * shape).powi(2));
    residual.is_finite().then_some(Fit { parameters, single, residual })
}

/// Levenberg and Marquardt's method on σ and κ, those not `free` held at zero.
fn minimize(levels: &[ScalingLevel], free: [bool; 2]) -> Option<Fit> {
    let mut fit = start(levels, free)?;
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let Some(step) = step(levels, &fit, free, damping) else { break };
        let [contention, coherence] = fit.parameters;
        let trial = project(levels, [contention + step[0], coherence + step[1]]);
        match trial {
            Some(better) if better.residual <= fit.residual => {
                let gain = fit.residual - better.residual;
                fit = better;
                damping = (damping / 10.0).max(1e-15);
                if gain <= 1e-15 * fit.residual {
                    break;
                }
            }
            _ => damping *= 10.0,
        }
        if damping > 1e12 {
            break;
        }
    }
    Some(fit)
}

/// The best point of a coarse grid.
fn start(levels: &[ScalingLevel], free: [bool; 2]) -> Option<Fit> {
    let grid = |free: bool| -> &[f64] {
        if free { &[0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.5] } else { &[0.0] }
    };
    let points = grid(free[0]).iter().flat_map(|a| grid(free[1]).iter().map(move |b| [*a, *b]));
    points.filter_map(|point| project(levels, point)).min_by(|a, b| a.residual.total_cmp(&b.residual))
}

/// One damped Gauss-Newton step of all three parameters; that of λ is left to the projection.
fn step(levels: &[ScalingLevel], fit: &Fit, free: [bool; 2], damping: f64) -> Option<[f64; 2]> {
    let mut normal = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for level in levels {
        let n = level.workers;
        let shape = shape(n, fit.parameters[0], fit.parameters[1]);
        let slope = -fit.single * shape * shape / n;
        let gradient = [
            shape,
            if free[0] { slope * (n - 1.0) } else { 0.0 },
            if free[1] { slope * n * (n - 1.0) } else { 0.0 },
        ];
        let error = level.throughput - fit.single * shape;
        for (row, a) in gradient.iter().enumerate() {
            right[row] += level.weight * a * error;
            for (column, b) in gradient.iter().enumerate() {
                normal[row][column] += level.weight * a * b;
            }
        }
    }
    for (index, row) in normal.iter_mut().enumerate() {
        row[index] = if row[index] == 0.0 { 1.0 } else { row[index] * (1.0 + damping) };
    }
    let [_, contention, coherence] = solve(normal, right)?;
    Some([contention, coherence])
}

/// Cramer's rule for three unknowns.
fn solve(matrix: [[f64; 3]; 3], right: [f64; 3]) -> Option<[f64; 3]> {
    // Equations are scaled to a unit diagonal first: the parameters differ by many powers of ten.
    let scale = [matrix[0][0].sqrt(), matrix[1][1].sqrt(), matrix[2][2].sqrt()];
    let mut scaled = matrix;
    let mut known = right;
    for row in 0..3 {
        known[row] /= scale[row];
        for column in 0..3 {
            scaled[row][column] /= scale[row] * scale[column];
        }
    }
    let whole = determinant(&scaled);
    let mut solution = [0.0; 3];
    for (column, value) in solution.iter_mut().enumerate() {
        let mut replaced = scaled;
        for (row, line) in replaced.iter_mut().enumerate() {
            line[column] = known[row];
        }
        *value = determinant(&replaced) / whole / scale[column];
    }
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}

fn determinant(m: &[[f64; 3]; 3]) -> f64 {
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}

fn describe(levels: &[ScalingLevel], law: Law, fit: &Fit) -> Option<Scaling> {
    let [contention, coherence] = fit.parameters;
    let count = levels.len() as f64;
    let mean = levels.iter().map(|level| level.throughput).sum::<f64>() / count;
    let total: f64 = levels.iter().map(|level| (level.throughput - mean).powi(2)).sum();
    let error =
        |level: &ScalingLevel| level.throughput - fit.single * shape(level.workers, contention, coherence);
    let residual: f64 = levels.iter().map(|level| error(level).powi(2)).sum();
    // The law's parameters and the variance of the errors.
    let parameters = match law {
        Law::Amdahl | Law::HalfPerformance => 3.0,
        Law::Universal => 4.0,
    };
    let criterion = count * (fit.residual.max(f64::MIN_POSITIVE) / count).ln()
        + 2.0 * parameters
        + 2.0 * parameters * (parameters + 1.0) / (count - parameters - 1.0);
    Some(Scaling {
        law,
        single: fit.single,
        contention,
        coherence,
        determination: if total > 0.0 { 1.0 - residual / total } else { 0.0 },
        criterion,
        largest: levels.iter().map(|level| level.workers).max_by(f64::total_cmp)?,
        levels: levels.len(),
    })
}

/// The F test for lack of fit of a scaling law; see [`crate::lack_of_fit`].
pub fn lack_of_fit(levels: &[ScalingLevel], fit: &Scaling) -> Option<LackOfFit> {
    let runs: Vec<Weighed> = levels
        .iter()
        .map(|level| Weighed { place: level.workers, value: level.throughput, weight: level.weight })
        .collect();
    let parameters = if fit.law == Law::Universal { 3 } else { 2 };
    crate::lack_of_fit::lack_of_fit(
        &runs,
        |workers| fit.single * shape(workers, fit.contention, fit.coherence),
        parameters,
    )
}

/// How far a fitted law may be off, from refits to resampled residuals.
#[derive(Debug, Clone, PartialEq)]
pub struct Bands {
    /// The law's value at each place that was asked for, with its interval.
    pub at: Vec<Interval>,
    /// σ.
    pub contention: Interval,
    /// κ.
    pub coherence: Interval,
    /// r∞ = λ/σ; `None` where more than one refit in forty sees no limit.
    pub asymptote: Option<Interval>,
    /// t₀ = (1 − σ)/λ.
    pub overhead: Interval,
    /// t₀·r∞; `None` as r∞ is.
    pub half_performance: Option<Interval>,
    /// √((1 − σ)/κ); `None` where more than one refit in forty sees no peak.
    pub peak: Option<Interval>,
}

/// Pointwise bands of a fit by the residual bootstrap: relative residuals, widened by √(n/(n − p)) for what the fit
/// took out of them, are drawn with replacement onto the fitted values, and the law is fitted again.
///
/// `None` if a refit fails or the resamples do not support the confidence. Source: Efron & Tibshirani, "An Introduction
/// to the Bootstrap", 9.4; Davison & Hinkley, "Bootstrap Methods", 6.2.3. The coverage is simulated in `bench/judge`.
pub fn bands(levels: &[ScalingLevel], fit: &Scaling, places: &[f64], bootstrap: &Bootstrap) -> Option<Bands> {
    let confidence = proper(bootstrap.confidence)?;
    if confidence > bootstrap.reachable_confidence() {
        return None;
    }
    let fitted: Vec<f64> =
        levels.iter().map(|level| fit.single * shape(level.workers, fit.contention, fit.coherence)).collect();
    let parameters = if fit.law == Law::Universal { 3.0 } else { 2.0 };
    let count = levels.len() as f64;
    let widening = (count / (count - parameters)).sqrt();
    let raw: Vec<f64> = levels.iter().zip(&fitted).map(|(level, law)| level.throughput / law - 1.0).collect();
    let center = mean(&raw)?;
    let residuals: Vec<f64> = raw.iter().map(|residual| (residual - center) * widening).collect();
    let mut indices = Indices::new(bootstrap.seed);
    let mut drawn = Vec::with_capacity(levels.len());
    let mut refits: Vec<Scaling> = Vec::with_capacity(bootstrap.resamples);
    for _ in 0..bootstrap.resamples {
        indices.resample(&residuals, &mut drawn);
        let resampled: Vec<ScalingLevel> = levels
            .iter()
            .zip(fitted.iter().zip(&drawn))
            .map(|(level, (law, residual))| ScalingLevel { throughput: law * (1.0 + residual), ..*level })
            .collect();
        if resampled.iter().all(|level| level.throughput > 0.0) {
            refits.push(minimum(&resampled, fit.law)?);
        }
    }
    let over = |center: f64, of: &dyn Fn(&Scaling) -> f64| {
        percentile_ends(refits.iter().map(of).collect(), center, confidence, levels.len())
    };
    let value = |law: &Scaling, place: f64| law.single * shape(place, law.contention, law.coherence);
    // What only some refits have is known only where nearly all of them have it.
    let of_most = |of: &dyn Fn(&Scaling) -> Option<f64>| {
        let values: Vec<f64> = refits.iter().filter_map(of).collect();
        let center = of(fit).filter(|_| values.len() * 40 >= refits.len() * 39)?;
        percentile_ends(values, center, confidence, levels.len())
    };
    Some(Bands {
        at: places
            .iter()
            .map(|place| over(value(fit, *place), &|law| value(law, *place)))
            .collect::<Option<Vec<Interval>>>()?,
        contention: over(fit.contention, &|law| law.contention)?,
        coherence: over(fit.coherence, &|law| law.coherence)?,
        asymptote: of_most(&Scaling::asymptote),
        overhead: over(fit.overhead(), &|law| law.overhead())?,
        half_performance: of_most(&Scaling::half_performance),
        peak: of_most(&Scaling::peak),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn levels(single: f64, contention: f64, coherence: f64) -> Vec<ScalingLevel> {
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
            .map(|workers| ScalingLevel {
                workers,
                throughput: single * shape(workers, contention, coherence),
                weight: 1.0,
            })
            .to_vec()
    }

    #[test]
    fn linear_scaling_has_no_peak() {
        let scaling = fit(&levels(100.0, 0.0, 0.0), Law::Universal).unwrap();
        assert!(scaling.contention < 1e-9 && scaling.coherence < 1e-9);
        assert!(scaling.peak().is_none_or(|peak| peak > 1e4));
        assert!((scaling.predict(128.0).unwrap() / 12_800.0 - 1.0).abs() < 1e-4);
        assert_eq!(scaling.predict(129.0), None);
    }

    #[test]
    fn superlinear_scaling_stays_within_bounds() {
        let mut rising = levels(100.0, 0.0, 0.0);
        for level in &mut rising {
            level.throughput *= 1.0 + level.workers / 100.0;
        }
        let scaling = fit(&rising, Law::Universal).unwrap();
        assert_eq!((scaling.contention, scaling.coherence), (0.0, 0.0));
    }

    #[test]
    fn the_criterion_prefers_the_true_law() {
        let bent = levels(100.0, 0.05, 0.001);
        let criterion = |law| fit(&bent, law).unwrap().criterion;
        assert!(criterion(Law::Universal) < criterion(Law::Amdahl));
    }

    #[test]
    fn refuses_too_few_levels() {
        assert_eq!(fit(&levels(1.0, 0.1, 0.0)[..5], Law::Amdahl), None);
        let mut bad = levels(1.0, 0.1, 0.0);
        bad[3].throughput = f64::NAN;
        assert_eq!(fit(&bad, Law::Amdahl), None);
        assert_eq!(efficiency(4.0, 300.0, 1.0, 100.0), Some(0.75));
        assert_eq!(efficiency(4.0, 300.0, 1.0, 0.0), None);
    }

    #[test]
    fn repeats_reject_a_law_that_misses_them() {
        let rate = |batch: f64| batch / (0.1 + batch / 1000.0);
        let level = |batch: f64, factor: f64| ScalingLevel {
            workers: batch,
            throughput: rate(batch) * factor,
            weight: rate(batch).powi(-2),
        };
        let noise = [0.99, 1.0, 1.01];
        let all = |bend: f64| -> Vec<ScalingLevel> {
            let of = |batch: f64, by: f64| noise.map(|noise| level(batch, noise * by));
            [of(64.0, 1.0), of(128.0, bend), of(256.0, 1.0)].concat()
        };
        let true_law = fit(&all(1.0), Law::HalfPerformance).unwrap();
        assert!((true_law.asymptote().unwrap() / 1000.0 - 1.0).abs() < 0.01);
        assert!((true_law.overhead() / 0.1 - 1.0).abs() < 0.01);
        assert!(lack_of_fit(&all(1.0), &true_law).unwrap().p > 0.5);
        let bent = all(1.3);
        let test = lack_of_fit(&bent, &fit(&bent, Law::HalfPerformance).unwrap()).unwrap();
        assert_eq!((test.freedom, test.freedom_of_repeats), (1.0, 6.0));
        assert!(test.p < 1e-4, "{test:?}");
        // Without repeats there is nothing to hold the law against.
        let single: Vec<ScalingLevel> = [64.0, 128.0, 256.0].map(|batch| level(batch, 1.0)).to_vec();
        assert_eq!(lack_of_fit(&single, &fit(&single, Law::HalfPerformance).unwrap()), None);
    }

    #[test]
    fn bands_enclose_the_law_and_narrow_with_the_noise() {
        let noisy = |noise: f64| -> Vec<ScalingLevel> {
            let mut all = levels(100.0, 0.05, 0.0);
            for (index, level) in all.iter_mut().enumerate() {
                level.throughput *= 1.0 + noise * [1.0, -1.0, 0.5, -0.5][index % 4];
            }
            all
        };
        let width = |noise: f64| {
            let all = noisy(noise);
            let fit = fit(&all, Law::Amdahl).unwrap();
            let bootstrap = Bootstrap { confidence: 0.95, resamples: 400, seed: 1 };
            let bands = bands(&all, &fit, &[8.0], &bootstrap).unwrap();
            assert!(bands.at[0].low <= bands.at[0].center && bands.at[0].center <= bands.at[0].high);
            bands.at[0].high - bands.at[0].low
        };
        assert!(width(0.01) < width(0.05));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn exact_data_give_back_their_law(
            single in 1.0..1e6_f64,
            contention in 0.001..0.5_f64,
            coherence in 1e-5..0.01_f64,
        ) {
            let scaling = fit(&levels(single, contention, coherence), Law::Universal).unwrap();
            prop_assert!((scaling.single / single - 1.0).abs() < 1e-6);
            prop_assert!((scaling.contention / contention - 1.0).abs() < 1e-4);
            prop_assert!((scaling.coherence / coherence - 1.0).abs() < 1e-4);
        }
    }
}
