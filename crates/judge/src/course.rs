//! How the values of one run went over its steps: where warm-up ends, and where the level changes.

use assay_model::Unit;
use assay_stats::steady::{MINIMUM_ITERATIONS, SeriesShape, steady_state};

/// How a series went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Course {
    /// How many of its first values are warm-up; none where that cannot be said.
    pub warm_up: Option<usize>,
    /// Where the level changes after that, by position.
    pub changes: Vec<usize>,
}

/// Looks at a series of times or rates. Other series, such as a loss, are meant to change and say nothing about
/// warm-up; short ones are left alone too.
pub fn course(values: &[f64], unit: &Unit) -> Course {
    if values.len() < MINIMUM_ITERATIONS {
        return Course::default();
    }
    let costs: Vec<f64> = match unit {
        Unit::Seconds => values.to_vec(),
        Unit::PerSecond(_) => values.iter().map(|rate| 1.0 / rate).collect(),
        _ => return Course::default(),
    };
    let Some(steady) = steady_state(&costs) else { return Course::default() };
    let warm_up = match steady.shape {
        SeriesShape::Flat => Some(0),
        SeriesShape::Warmup | SeriesShape::Slowdown => Some(steady.start),
        SeriesShape::Unsteady => None,
    };
    let from = warm_up.unwrap_or(0);
    let changes = steady.segments.into_iter().filter(|end| *end > from && *end < values.len()).collect();
    Course { warm_up, changes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_is_warm_up_in_times_and_in_rates() {
        let times: Vec<f64> =
            (0..100).map(|step| if step < 10 { 2.0 } else { 1.0 } + 0.001 * f64::from(step % 3)).collect();
        assert_eq!(course(&times, &Unit::Seconds).warm_up, Some(10));
        let rates: Vec<f64> = times.iter().map(|time| 1.0 / time).collect();
        assert_eq!(course(&rates, &Unit::PerSecond("samples".into())).warm_up, Some(10));
        assert_eq!(course(&times, &Unit::One), Course::default());
        assert_eq!(course(&times[..5], &Unit::Seconds), Course::default());
    }
}
