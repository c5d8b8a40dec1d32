//! Labels for values that lie far out. Nothing is ever removed: a median does not mind, and a rare slow run is a fact.

use crate::quantile::{median, of_sorted};
use crate::samples::sorted;
use crate::spread::median_absolute_deviation;

/// Beyond this many scaled deviations the first repeat is called different: hyperfine's threshold.
const FIRST_REPEAT_LIMIT: f64 = 10.0;

/// Scales the median absolute deviation of normal data to its standard deviation: 1 / Φ⁻¹(3/4).
const DEVIATION_SCALE: f64 = 1.4826;

/// Where a value lies relative to Tukey's fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Below the outer fence, more than 3 interquartile ranges under the first quartile.
    SevereLow,
    /// Below the inner fence, more than 1.5 interquartile ranges under the first quartile.
    MildLow,
    /// Between the inner fences.
    Inside,
    /// Above the inner fence.
    MildHigh,
    /// Above the outer fence.
    SevereHigh,
}

/// Tukey's fences of one set of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fences {
    /// First quartile − 3 interquartile ranges.
    pub outer_low: f64,
    /// First quartile − 1.5 interquartile ranges.
    pub inner_low: f64,
    /// Third quartile + 1.5 interquartile ranges.
    pub inner_high: f64,
    /// Third quartile + 3 interquartile ranges.
    pub outer_high: f64,
}

impl Fences {
    /// The label of one value. A value on a fence is still inside it.
    pub fn label(&self, value: f64) -> Label {
        if value < self.outer_low {
            Label::SevereLow
        } else if value < self.inner_low {
            Label::MildLow
        } else if value > self.outer_high {
            Label::SevereHigh
        } else if value > self.inner_high {
            Label::MildHigh
        } else {
            Label::Inside
        }
    }
}

/// Tukey's fences at 1.5 and 3 interquartile ranges. `None` for fewer than four samples, where quartiles say nothing,
/// and if one is not finite.
///
/// Source: Tukey, "Exploratory Data Analysis", 1977.
pub fn fences(samples: &[f64]) -> Option<Fences> {
    if samples.len() < 4 {
        return None;
    }
    let sorted = sorted(samples)?;
    let (first, third) = (of_sorted(&sorted, 0.25)?, of_sorted(&sorted, 0.75)?);
    let range = third - first;
    Some(Fences {
        outer_low: first - 3.0 * range,
        inner_low: first - 1.5 * range,
        inner_high: third + 1.5 * range,
        outer_high: third + 3.0 * range,
    })
}

/// The label of every sample, in the order given. `None` as for [`fences`].
pub fn labels(samples: &[f64]) -> Option<Vec<Label>> {
    let fences = fences(samples)?;
    Some(samples.iter().map(|value| fences.label(*value)).collect())
}

/// How many samples lie beyond Tukey's fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outliers {
    /// Between an inner and an outer fence.
    pub mild: usize,
    /// Beyond an outer fence.
    pub severe: usize,
}

/// Counts the samples beyond Tukey's fences. `None` as for [`fences`].
pub fn tukey(samples: &[f64]) -> Option<Outliers> {
    let labels = labels(samples)?;
    let count = |kinds: [Label; 2]| labels.iter().filter(|label| kinds.contains(label)).count();
    Some(Outliers {
        mild: count([Label::MildLow, Label::MildHigh]),
        severe: count([Label::SevereLow, Label::SevereHigh]),
    })
}

/// What the first repeat looks like beside the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstRepeat {
    /// (x₁ − median) / (1.4826 · MAD), over all repeats.
    pub modified_z: f64,
    /// Whether it is so far above the others that a cold cache or an unfinished warm-up is likely.
    pub stands_out: bool,
}

/// Whether the first of the samples, given in the order measured, lies far above the rest: modified z above 10.
///
/// `None` for fewer than three samples, if one is not finite, and where more than half of them are equal, since the
/// median absolute deviation is not a scale then.
///
/// Source: Iglewicz & Hoaglin's modified z-score; the threshold and the use on the first run are hyperfine's.
pub fn first_repeat(samples: &[f64]) -> Option<FirstRepeat> {
    if samples.len() < 3 {
        return None;
    }
    let center = median(samples)?;
    let scale = DEVIATION_SCALE * median_absolute_deviation(samples, center)?;
    let modified_z = (samples.first()? - center) / scale;
    modified_z.is_finite().then_some(FirstRepeat { modified_z, stands_out: modified_z > FIRST_REPEAT_LIMIT })
}

/// Whether [`first_repeat`] says that the first sample stands out; `false` where it says nothing.
pub fn first_is_outlier(samples: &[f64]) -> bool {
    first_repeat(samples).is_some_and(|first| first.stands_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_fences() {
        // Quartiles 2 and 4 without the far values' help: fences at −4, −1, 7, 10.
        let samples = [1.0, 2.0, 3.0, 4.0, 5.0];
        let fences = fences(&samples).unwrap();
        assert_eq!(
            (fences.outer_low, fences.inner_low, fences.inner_high, fences.outer_high),
            (-4.0, -1.0, 7.0, 10.0)
        );
        let found: Vec<Label> = [-4.1, -4.0, -1.0, 7.0, 10.0, 10.1].map(|value| fences.label(value)).to_vec();
        assert_eq!(
            found,
            [
                Label::SevereLow,
                Label::MildLow,
                Label::Inside,
                Label::Inside,
                Label::MildHigh,
                Label::SevereHigh
            ]
        );
        assert_eq!(labels(&samples).unwrap(), [Label::Inside; 5]);
        assert_eq!(labels(&[1.0, 2.0, 3.0]), None);
        let far = [1.0, 2.0, 3.0, 4.0, 5.0, 100.0];
        assert_eq!(tukey(&far), Some(Outliers { mild: 0, severe: 1 }));
    }

    #[test]
    fn a_cold_first_repeat_is_seen() {
        let cold = first_repeat(&[30.0, 10.0, 10.2, 9.9, 10.1, 10.0]).unwrap();
        assert!(cold.stands_out && cold.modified_z > 10.0);
        assert!(!first_repeat(&[10.3, 10.0, 10.2, 9.9, 10.1, 10.0]).unwrap().stands_out);
        // A fast first repeat is not a cold start.
        assert!(!first_is_outlier(&[1.0, 10.0, 10.2, 9.9, 10.1, 10.0]));
    }

    #[test]
    fn no_scale_no_answer() {
        assert_eq!(first_repeat(&[9.0, 1.0, 1.0, 1.0]), None);
        assert_eq!(first_repeat(&[1.0, 2.0]), None);
        assert_eq!(first_repeat(&[1.0, 2.0, f64::NAN]), None);
    }
}
