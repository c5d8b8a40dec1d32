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
    /// r₁: how many iterations each job has.
    pub iterations: usize,
}

impl NestedVariance {
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

/// Splits the variance of iterations grouped by job.
///
/// `None` for fewer than two jobs, jobs of fewer than two iterations or of different counts, a value that is not
/// finite, or a confidence that is not between 0 and 1.
///
/// Source: Kalibera & Jones, "Rigorous benchmarking in reasonable time", 2013, with the corrected estimator of their
/// published library. Oracle: numpy by the same formulas.
pub fn nested_variance<J: AsRef<[f64]>>(jobs: &[J], confidence: f64) -> Option<NestedVariance> {
    let iterations = jobs.first()?.as_ref().len();
    let mut means = Vec::with_capacity(jobs.len());
    let mut within = 0.0;
    for job in jobs {
        if job.as_ref().len() != iterations {
            return None;
        }
        let (mean, variance) = mean_and_variance(job.as_ref())?;
        means.push(mean);
        within += variance / jobs.len() as f64;
    }
    let (center, of_means) = mean_and_variance(&means)?;
    let count = jobs.len() as f64;
    let half = student_quantile(0.5 + proper(confidence)? / 2.0, count - 1.0)? * (of_means / count).sqrt();
    Some(NestedVariance {
        mean: Interval { center, low: center - half, high: center + half, confidence, samples: jobs.len() },
        within,
        of_means,
        between: of_means - within / iterations as f64,
        iterations,
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
        assert_eq!(nested_variance(&[[1.0, f64::NAN], [2.0, 3.0]], 0.95), None);
    }
}
