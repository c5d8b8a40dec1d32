//! Thresholds learned from earlier records of the same cell.

use crate::quantile::quantiles;
use crate::samples::finite;

/// How many of the latest changes are looked at.
pub const WINDOW: usize = 30;
/// The fewest changes from which a threshold is learned.
pub const MINIMUM_CHANGES: usize = 10;

/// A threshold for changes that are not noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The largest change that is still usual.
    pub value: f64,
    /// How many earlier changes it rests on.
    pub samples: usize,
}

impl Threshold {
    /// A change in units of the threshold: above 1 it is unusual. `None` where the threshold is zero or the change is
    /// not finite.
    pub fn severity(&self, change: f64) -> Option<f64> {
        let severity = change.abs() / self.value;
        severity.is_finite().then_some(severity)
    }
}

/// Q3 + 3·IQR of the sizes of the last [`WINDOW`] changes, given oldest first: between records of the same thing, or
/// between neighbors in its history.
///
/// `None` for fewer than [`MINIMUM_CHANGES`] changes, or if one in the window is not finite.
///
/// Source: the rule of the Rust compiler's performance suite. Oracle: numpy.
pub fn threshold(changes: &[f64]) -> Option<Threshold> {
    let latest = finite(changes.get(changes.len().saturating_sub(WINDOW)..)?)?;
    if latest.len() < MINIMUM_CHANGES {
        return None;
    }
    let sizes: Vec<f64> = latest.iter().map(|change| change.abs()).collect();
    let quartiles = quantiles(&sizes, &[0.25, 0.75])?;
    let (first, third) = (*quartiles.first()?, *quartiles.last()?);
    Some(Threshold { value: third + 3.0 * (third - first), samples: sizes.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_window_counts() {
        let mut changes = vec![100.0; 20];
        changes.extend((0..30).map(|step| if step % 2 == 0 { 0.01 } else { -0.01 }));
        let threshold = threshold(&changes).unwrap();
        assert_eq!((threshold.value, threshold.samples), (0.01, 30));
        assert_eq!(threshold.severity(-0.02), Some(2.0));
    }

    #[test]
    fn too_short_a_history_teaches_nothing() {
        assert_eq!(threshold(&[0.1; 9]), None);
        assert_eq!(threshold(&[f64::NAN; 10]), None);
        assert_eq!(threshold(&[0.0; 10]).unwrap().severity(0.1), None);
    }
}
