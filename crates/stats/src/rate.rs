//! Means of ratios.

use crate::samples::finite;

/// The geometric mean exp(mean of ln x).
///
/// `None` if there are no values, or one is not finite or not above zero. Oracle: `scipy.stats.gmean`.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let ratios = positive(ratios)?;
    Some((ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp())
}

/// A geometric mean that says what it hides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeometricSummary {
    /// The geometric mean.
    pub center: f64,
    /// How many ratios it covers.
    pub count: usize,
    /// The index of the smallest ratio, the first one where several are equal.
    pub lowest: usize,
    /// The index of the largest ratio, the first one where several are equal.
    pub highest: usize,
}

/// The geometric mean of ratios with their count and extremes, so that the worst one can always be named beside it.
/// Which end is the worst depends on the metric and is for the caller to say.
///
/// `None` as for [`geometric_mean`]. Costs with known weights are better added up.
pub fn geometric_summary(ratios: &[f64]) -> Option<GeometricSummary> {
    let center = geometric_mean(ratios)?;
    let first_best = |better: fn(f64, f64) -> bool| {
        let mut best = (0, *ratios.first()?);
        for (index, ratio) in ratios.iter().enumerate() {
            if better(*ratio, best.1) {
                best = (index, *ratio);
            }
        }
        Some(best.0)
    };
    Some(GeometricSummary {
        center,
        count: ratios.len(),
        lowest: first_best(|a, b| a < b)?,
        highest: first_best(|a, b| a > b)?,
    })
}

fn positive(values: &[f64]) -> Option<&[f64]> {
    finite(values)?.iter().all(|value| *value > 0.0).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_names_both_ends() {
        let summary = geometric_summary(&[2.0, 0.5, 4.0, 0.25, 4.0]).unwrap();
        assert_eq!((summary.count, summary.lowest, summary.highest), (5, 3, 2));
        assert!((summary.center - 4.0_f64.powf(0.2)).abs() < 1e-15);
    }

    #[test]
    fn refuses_what_has_no_ratio() {
        assert_eq!(geometric_mean(&[1.0, -1.0]), None);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_summary(&[1.0, f64::NAN]), None);
    }
}
