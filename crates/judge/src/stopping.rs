//! Whether a cell has been repeated enough. Precision decides, never significance: stopping as soon as a difference
//! looks significant finds differences that are not there.

use assay_stats::{self as stats, Decision, PrecisionRule};

/// How often a cell is to be repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repeats {
    /// Never fewer than this.
    pub at_least: u32,
    /// Never more than this.
    pub at_most: u32,
    /// Stop between the two when the interval's half-width is below this share of the center.
    pub precision: Option<f64>,
}

/// Whether a cell with these values, after `runs` runs, needs another run.
pub fn needs_more(values: &[f64], runs: u32, repeats: &Repeats) -> bool {
    match repeats.precision {
        None => runs < repeats.at_least,
        Some(precision) => {
            let decision = stats::decide(values, runs as usize, &rule(precision, repeats));
            matches!(decision, Decision::Continue { .. })
        }
    }
}

/// Whether the values pin their median down to the asked share of it.
pub fn is_precise(values: &[f64], repeats: &Repeats) -> bool {
    repeats.precision.is_none_or(|precision| {
        let rule = PrecisionRule { minimum: 0, maximum: 0, ..rule(precision, repeats) };
        matches!(stats::decide(values, values.len(), &rule), Decision::Reached { .. })
    })
}

/// About how many repeats would reach the precision, at the spread that the values show: the half-width falls with the
/// square root of their number. None where they reach it already, or where there are too few to say.
pub fn repeats_for(values: &[f64], precision: f64) -> Option<usize> {
    let interval = stats::median_interval(values, crate::CONFIDENCE)?;
    let width = interval.relative_half_width().filter(|width| *width > precision)?;
    let enough = interval.confidence >= crate::CONFIDENCE && precision > 0.0;
    enough.then(|| (values.len() as f64 * (width / precision).powi(2)).ceil() as usize)
}

fn rule(precision: f64, repeats: &Repeats) -> PrecisionRule {
    PrecisionRule {
        relative_half_width: precision,
        minimum: repeats.at_least as usize,
        maximum: repeats.at_most as usize,
        confidence: crate::CONFIDENCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPEATS: Repeats = Repeats { at_least: 10, at_most: 30, precision: Some(0.02) };

    #[test]
    fn a_steady_cell_stops_at_the_least_and_a_noisy_one_at_the_most() {
        let steady: Vec<f64> = (0..10).map(|i| 100.0 + f64::from(i) * 0.01).collect();
        assert!(!needs_more(&steady, 10, &REPEATS));
        assert!(needs_more(&steady[..9], 9, &REPEATS));
        let noisy: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i % 7) * 10.0).collect();
        assert!(needs_more(&noisy[..10], 10, &REPEATS));
        assert!(!needs_more(&noisy, 30, &REPEATS));
        assert!(is_precise(&steady, &REPEATS) && !is_precise(&noisy, &REPEATS));
    }

    #[test]
    fn what_a_precision_would_take_is_estimated() {
        let noisy: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i % 7) * 10.0).collect();
        let needed = repeats_for(&noisy, 0.02).unwrap();
        assert!((100..2_000).contains(&needed), "{needed}");
        assert_eq!(repeats_for(&[1.0; 10], 0.02), None);
        assert_eq!(repeats_for(&[1.0, 2.0], 0.02), None);
    }

    #[test]
    fn without_a_precision_the_least_is_enough() {
        let repeats = Repeats { at_least: 6, at_most: 6, precision: None };
        assert!(needs_more(&[], 5, &repeats));
        assert!(!needs_more(&[], 6, &repeats));
    }

    #[test]
    fn failed_runs_do_not_repeat_for_ever() {
        assert!(!needs_more(&[], 30, &REPEATS));
    }
}
