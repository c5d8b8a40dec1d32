//! The distribution of the studentized range: how far the lowest and the highest of several equal groups lie apart.

use std::cell::OnceCell;

use crate::distribution::normal_cdf;
use crate::samples::proper;

/// The grid that both integrals are tabulated on.
const STEP: f64 = 0.025;
/// Beyond this the density of a normal variable is below 1e-14.
const REACH: f64 = 8.0;
/// The widest range of normal variables that is tabulated; wider ones have a probability below 1e-8 even among ten
/// thousand groups.
const WIDEST: f64 = 15.0;
/// Intervals of Simpson's rule over the estimated deviation; an even number.
const PARTS: usize = 64;

/// The range of k standard normal variables, divided by an independent estimate of their deviation.
///
/// The range's own distribution k·∫φ(z)·[Φ(z) − Φ(z − w)]^(k−1) dz is tabulated once; each question then costs one
/// short integral over the deviation. It is written out because no maintained crate has it.
///
/// Source: Tukey, 1953; Copenhaver & Holland, "Computation of the distribution of the maximum studentized range
/// statistic", 1988. Oracle: `scipy.stats.studentized_range`.
#[derive(Debug, Clone)]
pub struct StudentizedRange {
    groups: usize,
    /// P(range ≤ w) at multiples of [`STEP`].
    table: OnceCell<Vec<f64>>,
}

impl StudentizedRange {
    /// The distribution for a number of groups; fewer than two are taken as two.
    pub fn new(groups: usize) -> Self {
        Self { groups: groups.max(2), table: OnceCell::new() }
    }

    /// How many groups it is for.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// P(Q ≤ q) with `freedom` degrees of freedom; infinitely many where the deviation is known.
    pub fn probability(&self, q: f64, freedom: f64) -> f64 {
        if freedom.is_infinite() {
            return self.of_range(q);
        }
        let width = 1.0 / (2.0 * freedom).sqrt();
        let (low, high) = ((1.0 - 7.0 * width).max(1e-9), 1.0 + 8.0 * width);
        let part = (high - low) / PARTS as f64;
        let (mut sum, mut weights) = (0.0, 0.0);
        for index in 0..=PARTS {
            let deviation = low + part * index as f64;
            // The density of χ/√ν at `deviation`, up to a factor that the weights take out again.
            let density =
                ((freedom - 1.0) * deviation.ln() + freedom * (1.0 - deviation * deviation) / 2.0).exp();
            let simpson = match index {
                0 | PARTS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            sum += simpson * density * self.of_range(q * deviation);
            weights += simpson * density;
        }
        sum / weights
    }

    /// The q with P(Q ≤ q) = `confidence`. `None` unless the confidence is between 0 and 1 and there is at least one
    /// degree of freedom.
    pub fn quantile(&self, confidence: f64, freedom: f64) -> Option<f64> {
        let confidence = proper(confidence)?;
        if freedom.is_nan() || freedom < 1.0 {
            return None;
        }
        let (mut low, mut high) = (0.0, WIDEST);
        while self.probability(high, freedom) < confidence {
            (low, high) = (high, 2.0 * high);
            if high > 1e6 {
                return None;
            }
        }
        while high - low > 1e-9 * high {
            let middle = f64::midpoint(low, high);
            if self.probability(middle, freedom) < confidence { low = middle } else { high = middle }
        }
        Some(high)
    }

    fn of_range(&self, width: f64) -> f64 {
        let table = self.table.get_or_init(|| tabulate(self.groups));
        let place = width.max(0.0) / STEP;
        let index = place as usize;
        match (table.get(index), table.get(index + 1)) {
            (Some(below), Some(above)) => below + (above - below) * (place - index as f64),
            _ => 1.0,
        }
    }
}

fn tabulate(groups: usize) -> Vec<f64> {
    let steps = (REACH / STEP) as usize;
    let widths = (WIDEST / STEP) as usize;
    let at = |index: usize| (index as f64 - (steps + widths) as f64) * STEP;
    // Φ at every point that z and z − w fall on.
    let cumulative: Vec<f64> = (0..=2 * steps + widths).map(|index| normal_cdf(at(index))).collect();
    let power = i32::try_from(groups - 1).unwrap_or(i32::MAX);
    let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let densities: Vec<f64> = (0..=2 * steps).map(|index| density(at(index + widths))).collect();
    let probability = |width: usize| {
        let terms = densities.iter().enumerate().map(|(index, density)| {
            let between = cumulative[index + widths] - cumulative[index + widths - width];
            density * between.powi(power)
        });
        (groups as f64 * STEP * terms.sum::<f64>()).min(1.0)
    };
    (0..=widths).map(probability).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        // scipy.stats.studentized_range.ppf(0.95, groups, freedom), and the printed tables of Harter.
        for (groups, freedom, expected) in [
            (2, 10.0, 3.151),
            (3, 10.0, 3.877),
            (5, 20.0, 4.232),
            (10, 60.0, 4.646),
            (20, 10.0, 6.467),
            (20, 120.0, 5.126),
            (20, f64::INFINITY, 5.012),
            (100, f64::INFINITY, 6.085),
            (3, 3.0, 5.910),
        ] {
            let q = StudentizedRange::new(groups).quantile(0.95, freedom).unwrap();
            assert!((q - expected).abs() < 0.003, "{groups}, {freedom}: {q}");
        }
    }

    #[test]
    fn two_groups_are_students_t() {
        let q = StudentizedRange::new(2).quantile(0.95, 9.0).unwrap();
        assert!((q / 2_f64.sqrt() - 2.262_157).abs() < 1e-3, "{q}");
    }

    #[test]
    fn refuses_what_has_no_quantile() {
        let range = StudentizedRange::new(3);
        assert_eq!(range.quantile(1.0, 5.0), None);
        assert_eq!(range.quantile(0.95, 0.5), None);
        assert_eq!(range.quantile(0.95, f64::NAN), None);
        assert_eq!(StudentizedRange::new(0).groups(), 2);
    }
}
