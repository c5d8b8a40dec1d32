//! What every analysis does to its samples first.

/// The samples in ascending order; `None` if there are none or one is not finite.
pub(crate) fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    finite(samples)?;
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// The samples as they are; `None` if there are none or one is not finite.
pub(crate) fn finite(samples: &[f64]) -> Option<&[f64]> {
    (!samples.is_empty() && samples.iter().all(|value| value.is_finite())).then_some(samples)
}

/// A confidence strictly between 0 and 1; `None` otherwise.
pub(crate) fn proper(confidence: f64) -> Option<f64> {
    (confidence > 0.0 && confidence < 1.0).then_some(confidence)
}

/// The arithmetic mean, finite or `None`.
pub(crate) fn mean(samples: &[f64]) -> Option<f64> {
    let samples = finite(samples)?;
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    mean.is_finite().then_some(mean)
}

/// Mean and sample variance (divisor n − 1), in two passes so that a large offset does not eat the digits. `None`
/// for fewer than two samples.
pub(crate) fn mean_and_variance(samples: &[f64]) -> Option<(f64, f64)> {
    if samples.len() < 2 {
        return None;
    }
    let mean = mean(samples)?;
    let sum: f64 = samples.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = sum / (samples.len() - 1) as f64;
    variance.is_finite().then_some((mean, variance))
}
