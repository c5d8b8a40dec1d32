//! The values of one cell, prepared once for any number of comparisons.

use std::cell::OnceCell;

use thiserror::Error;

use crate::ratio::{Refusal, Side};
use crate::samples::mean_and_variance;

/// Positive values that are compared with those of other groups by their ratio: checked and sorted once. See
/// [`PositiveSamples::ratio_interval`].
#[derive(Debug, Clone)]
pub struct PositiveSamples {
    sorted: Vec<f64>,
    of_logarithms: OnceCell<Option<(f64, f64)>>,
}

/// Why values cannot be compared by their ratio.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Flaw {
    /// A value is zero or negative, and has no ratio on a logarithmic scale.
    #[error("sample {index} is {value}, and ratios need values above zero")]
    NotPositive {
        /// Which sample, from 0.
        index: usize,
        value: f64,
    },
    /// A value is infinite or not a number.
    #[error("sample {index} is not a finite number")]
    NotFinite {
        /// Which sample, from 0.
        index: usize,
    },
}

impl Flaw {
    /// The refusal of a comparison that has the flawed values on this side.
    pub fn on(self, side: Side) -> Refusal {
        match self {
            Flaw::NotPositive { index, value } => Refusal::NotPositive { side, index, value },
            Flaw::NotFinite { index } => Refusal::NotFinite { side, index },
        }
    }
}

impl PositiveSamples {
    /// Prepares values, in any order and of any number.
    pub fn new(values: &[f64]) -> Result<Self, Flaw> {
        for (index, value) in values.iter().copied().enumerate() {
            if !value.is_finite() {
                return Err(Flaw::NotFinite { index });
            }
            if value <= 0.0 {
                return Err(Flaw::NotPositive { index, value });
            }
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Self { sorted, of_logarithms: OnceCell::new() })
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The values in ascending order.
    pub(crate) fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Mean and variance of the logarithms, computed on the first call; `None` for fewer than two values.
    pub(crate) fn of_logarithms(&self) -> Option<(f64, f64)> {
        *self.of_logarithms.get_or_init(|| {
            let logarithms: Vec<f64> = self.sorted.iter().map(|value| value.ln()).collect();
            mean_and_variance(&logarithms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flaws_name_the_sample() {
        assert_eq!(
            PositiveSamples::new(&[1.0, -2.0]).unwrap_err(),
            Flaw::NotPositive { index: 1, value: -2.0 }
        );
        let flaw = PositiveSamples::new(&[f64::INFINITY]).unwrap_err();
        assert_eq!(flaw.to_string(), "sample 0 is not a finite number");
        assert_eq!(flaw.on(Side::Other), Refusal::NotFinite { side: Side::Other, index: 0 });
    }

    #[test]
    fn few_values_have_no_variance() {
        assert_eq!(PositiveSamples::new(&[]).unwrap().count(), 0);
        assert_eq!(PositiveSamples::new(&[2.0]).unwrap().of_logarithms(), None);
    }
}
