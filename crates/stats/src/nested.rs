//! Variance within jobs and between jobs. Iterations of one process are not independent repeats: they share its
//! memory layout, its machine and its neighbors.

use crate::distribution::student_quantile;
use crate::interval::Interval;
use crate::samples::{mean_and_variance, proper};

/// Where the variance of nested measurements lives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NestedVariance {
    /// The mean over jobs with Student's interval over job means; `samples` counts jobs.
    pub mean: Interval,
    /// S₁²: the mean variance of iterations within a job.
    pub within: f64,
    /// S₂²: the variance of the job means.
    pub of_means: f64,
    /// T₂² = S₂² − S₁²/r₁: what jobs differ by beyond what their iterations explain. It may come out negative, which
    /// means that no difference between jobs was seen.
    pub between: f64,
    /// r₁: how many iterations a job has; the harmonic mean where jobs have different counts, which is what the
    /// variance of a job's mean depends on.
    pub iterations: f64,
    /// How many iterations there are in all.
    pub total_iterations: usize,
}

impl NestedVariance {
    /// The share of the variance of a single iteration that lies between jobs: T₂² / (T₂² + S₁²), at least 0.
    pub fn share_between(&self) -> Option<f64> {
        let between = self.between.max(0.0);
        let share = between / (between + self.within);
        share.is_finite().then_some(share)
    }

    /// How many jobs of this many iterations each are needed for an interval of this half-width:
    /// (t·√(T₂² + S₁²/iterations) / half-width)², with t for that number of jobs and T₂² at least 0. `None` if the
    /// half-width is not above zero, or if that takes more jobs than anybody would run.
    pub fn jobs_needed(&self, iterations: f64, half_width: f64) -> Option<usize> {
        if half_width.is_nan() || half_width <= 0.0 {
            return None;
        }
        let of_means = self.between.max(0.0) + self.within / iterations.max(1.0);
        let enough = |jobs: &usize| {
            student_quantile(0.5 + self.mean.confidence / 2.0, *jobs as f64 - 1.0)
                .is_some_and(|factor| factor * (of_means / *jobs as f64).sqrt() <= half_width)
        };
        // More jobs only ever narrow the interval, so that the count can be halved.
        let (mut low, mut high) = (2, MOST_JOBS);
        if !enough(&high) {
            return None;
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            if enough(&middle) { high = middle } else { low = middle + 1 }
        }
        Some(high)
    }

    /// The number of iterations per job that gives the best precision for the cost: ⌈√(c₂/c₁ · T₁²/T₂²)⌉, with c₂ the
    /// cost of one more job without its iterations and c₁ that of one iteration.
    ///
    /// `None` where no difference between jobs was seen (T₂² ≤ 0), so that more iterations are always the better buy,
    /// and for costs that are not above zero.
    pub fn best_iterations(&self, job_cost: f64, iteration_cost: f64) -> Option<usize> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if !positive(job_cost) || !positive(iteration_cost) || !positive(self.between) {
            return None;
        }
        let best = (job_cost / iteration_cost * self.within / self.between).sqrt().ceil();
        best.is_finite().then_some((best as usize).max(1))
    }
}

/// The most jobs that anybody would run.
const MOST_JOBS: usize = 100_000;

/// Splits the variance of iterations grouped by job. Jobs may have different numbers of iterations: the variance within
/// is then pooled, and every job's mean counts the same, since the interval is one over jobs.
///
/// `None` for fewer than two jobs, jobs of fewer than two iterations, a value that is not finite, or a confidence that
/// is not between 0 and 1.
///
/// Source: Kalibera & Jones, "Rigorous benchmarking in reasonable time", 2013, with the corrected estimator of their
/// published library. Oracle: numpy by the same formulas.
pub fn nested_variance<J: AsRef<[f64]>>(jobs: &[J], confidence: f64) -> Option<NestedVariance> {
    let mut means = Vec::with_capacity(jobs.len());
    let (mut squares, mut freedom, mut inverse, mut total) = (0.0, 0.0, 0.0, 0);
    for job in jobs {
        let job = job.as_ref();
        let (mean, variance) = mean_and_variance(job)?;
        means.push(mean);
        squares += variance * (job.len() - 1) as f64;
        freedom += (job.len() - 1) as f64;
        inverse += 1.0 / job.len() as f64;
        total += job.len();
    }
    let within = squares / freedom;
    let (center, of_means) = mean_and_variance(&means)?;
    let count = jobs.len() as f64;
    let half = student_quantile(0.5 + proper(confidence)? / 2.0, count - 1.0)? * (of_means / count).sqrt();
    Some(NestedVariance {
        mean: Interval { center, low: center - half, high: center + half, confidence, samples: jobs.len() },
        within,
        of_means,
        between: of_means - within * inverse / count,
        iterations: count / inverse,
        total_iterations: total,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costly_jobs_ask_for_more_iterations() {
        let jobs = [[10.0, 12.0, 11.0], [11.5, 13.5, 12.5], [9.0, 11.0, 10.0]];
        let nested = nested_variance(&jobs, 0.95).unwrap();
        assert_eq!(nested.best_iterations(1.0, 1.0), Some(1));
        assert!(nested.best_iterations(100.0, 1.0).unwrap() > 5);
        assert_eq!(nested.best_iterations(0.0, 1.0), None);
    }

    #[test]
    fn equal_jobs_have_no_best_count() {
        let nested = nested_variance(&[[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], 0.95).unwrap();
        assert!(nested.between < 0.0);
        assert_eq!(nested.best_iterations(10.0, 1.0), None);
    }

    #[test]
    fn refuses_what_is_not_nested() {
        assert_eq!(nested_variance::<Vec<f64>>(&[], 0.95), None);
        assert_eq!(nested_variance(&[vec![1.0, 2.0]], 0.95), None);
        assert_eq!(nested_variance(&[vec![1.0], vec![2.0]], 0.95), None);
        assert_eq!(nested_variance(&[vec![1.0, 2.0], vec![2.0]], 0.95), None);
    }

    #[test]
    fn jobs_may_have_different_counts() {
        let even = nested_variance(&[vec![1.0, 3.0], vec![2.0, 4.0]], 0.95).unwrap();
        let uneven = nested_variance(&[vec![1.0, 3.0], vec![2.0, 4.0, 3.0]], 0.95).unwrap();
        assert!((even.iterations - 2.0).abs() < 1e-12 && (uneven.iterations - 2.4).abs() < 1e-12);
        // Pooled: (2 + 2) / (1 + 2), over job means 2 and 3.
        assert!((uneven.within - 4.0 / 3.0).abs() < 1e-12 && (uneven.of_means - 0.5).abs() < 1e-12);
        let needed = |half_width: f64| uneven.jobs_needed(uneven.iterations, half_width);
        assert!(needed(1e9).is_some() && needed(0.0).is_none());
        assert!(needed(0.1).unwrap() > needed(0.5).unwrap());
    }
}
