//! Samples to an estimate: the median with its order-statistic interval, and the doubts that go with it.

use assay_model::{Caveat, Estimate};
use assay_stats as stats;
/// The median, for rooms that otherwise need no statistics of their own.
pub use assay_stats::median;

use crate::CONFIDENCE;

/// The estimate for the values of one cell, in the order they were measured; none without a value.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let interval = stats::median_interval(values, CONFIDENCE)?;
    Some(Estimate {
        center: interval.center,
        low: interval.low,
        high: interval.high,
        confidence: interval.confidence,
        samples: interval.samples,
        caveats: caveats(values),
    })
}

/// How far the middle half of the values spreads, as a share of the median.
pub fn spread(values: &[f64]) -> Option<f64> {
    let low = stats::quantile(values, 0.25)?;
    let high = stats::quantile(values, 0.75)?;
    let median = stats::quantile(values, 0.5)?;
    (values.len() > 1 && median != 0.0).then(|| (high - low) / median.abs())
}

/// The doubts about values, in the order they were measured.
pub(crate) fn caveats(values: &[f64]) -> Vec<Caveat> {
    let mut found = Vec::new();
    if values.len() == 1 {
        found.push(caveat(
            "one_run",
            "a single run: how far another run would differ is unknown",
            "at least 6 repeats give a 95 % interval",
        ));
    } else if (1..6).contains(&values.len()) {
        found.push(caveat(
            "few_runs",
            "fewer than 6 runs: the interval covers less than 95 %",
            "raise the repeats to 6 or more and run again; finished runs are kept",
        ));
    }
    if stats::first_is_outlier(values) {
        found.push(caveat(
            "first_run_differs",
            "the first run differs from the others (cold cache, first compilation)",
            "add a warm-up to the command, or examine the first run separately",
        ));
    }
    caveats_of_order(values, &mut found);
    if stats::tukey(values).is_some_and(|outliers| outliers.severe > 0) {
        found.push(caveat(
            "outliers",
            "some runs are outliers; they hardly move the median",
            "`assay show --runs` marks them; `assay doctor` lists sources of noise",
        ));
    }
    found
}

/// A trend so unlikely by chance is called one; few would be among the cells of a table of a hundred.
const TREND_LEVEL: f64 = 0.001;
/// From this many runs on their correlation is judged: with fewer, the estimate of it is noise.
const MINIMUM_FOR_CORRELATION: usize = 20;

/// Doubts about repeats that are not independent draws of one thing.
fn caveats_of_order(values: &[f64], found: &mut Vec<Caveat>) {
    let drift = stats::trend::trend(values).filter(|trend| trend.p < TREND_LEVEL);
    if let Some(trend) = drift {
        let text = format!("the runs drift: {:+.1} % from the first to the last", 100.0 * trend.total_change);
        found.push(caveat(
            "drift",
            &text,
            "look for heat, memory growth or other load; `assay show --runs` lists the runs in order",
        ));
    } else if values.len() >= MINIMUM_FOR_CORRELATION
        && let Some(effective) = stats::steady::effective_samples(values)
        && effective < values.len() as f64 / 2.0
    {
        let text =
            format!("neighboring runs are correlated: {} runs are worth about {effective:.0}", values.len());
        found.push(caveat(
            "correlated_runs",
            &text,
            "the interval is too narrow; shuffle the order of runs or spread them over time",
        ));
    }
    if let Some(modes) = stats::trend::two_modes(values).filter(|modes| modes.high > 1.02 * modes.low) {
        let text = format!(
            "the runs fall into two groups, {:.0} % of them {:.0} % higher than the rest",
            100.0 * modes.upper_share,
            100.0 * (modes.high / modes.low - 1.0)
        );
        found.push(caveat(
            "two_modes",
            &text,
            "two states of the machine or the program: placement, clock, cache; judge them apart",
        ));
    }
}

/// For each value whether it is a severe outlier: more than 3 interquartile ranges outside the quartiles.
pub fn outliers(values: &[f64]) -> Vec<bool> {
    let labels = stats::labels(values).unwrap_or_default();
    let severe =
        labels.iter().map(|label| matches!(label, stats::Label::SevereLow | stats::Label::SevereHigh));
    severe.chain(std::iter::repeat(false)).take(values.len()).collect()
}

/// A caveat from its parts.
pub(crate) fn caveat(code: &str, text: &str, hint: &str) -> Caveat {
    Caveat { code: code.to_owned(), text: text.to_owned(), hint: hint.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(values: &[f64]) -> Vec<String> {
        estimate(values).unwrap().caveats.into_iter().map(|caveat| caveat.code).collect()
    }

    #[test]
    fn six_steady_runs_raise_no_doubt_and_tell_their_true_coverage() {
        let estimate = estimate(&[1.0, 1.01, 1.02, 1.03, 1.04, 1.05]).unwrap();
        assert_eq!((estimate.low, estimate.high, estimate.samples), (1.0, 1.05, 6));
        assert!((estimate.confidence - 0.96875).abs() < 1e-12);
        assert!(estimate.caveats.is_empty());
    }

    #[test]
    fn one_run_and_few_runs_are_doubtful() {
        assert_eq!(codes(&[1.0]), ["one_run"]);
        assert_eq!(codes(&[1.0, 1.1, 1.2]), ["few_runs"]);
        assert!(estimate(&[]).is_none());
    }

    #[test]
    fn outliers_are_marked_in_the_order_of_the_values() {
        assert_eq!(outliers(&[1.0, 1.1, 9.0, 1.05, 1.02, 1.08]), [false, false, true, false, false, false]);
        assert_eq!(outliers(&[1.0, 9.0]), [false, false]);
    }

    #[test]
    fn runs_that_are_no_independent_repeats_are_doubtful() {
        let drifting: Vec<f64> = (0..14).map(|run| 100.0 + f64::from(run)).collect();
        assert!(codes(&drifting).contains(&"drift".to_owned()));
        let blocks: Vec<f64> =
            (0..60).map(|run| 100.0 + f64::from(run / 6 % 3) + 0.1 * f64::from(run % 3)).collect();
        assert!(codes(&blocks).contains(&"correlated_runs".to_owned()), "{:?}", codes(&blocks));
        let two: Vec<f64> =
            (0..16).map(|run| if run % 2 == 0 { 100.0 } else { 120.0 } + f64::from(run % 3)).collect();
        assert!(codes(&two).contains(&"two_modes".to_owned()));
    }

    #[test]
    fn a_cold_first_run_is_noticed() {
        let values = [1763.3, 139.6, 139.7, 139.5, 139.6, 139.7, 139.6, 139.55];
        assert!(codes(&values).contains(&"first_run_differs".to_owned()));
    }
}
