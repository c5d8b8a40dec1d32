//! Two sets of samples to a verdict. An interval for the ratio of the two decides; a p-value alone never does.

use assay_model::{Direction, Metric, Verdict};
use assay_stats::ratio::Side;
use assay_stats::{self as stats, Flaw, Group, MarginPosition, RatioInterval, Refusal};
use serde::Serialize;

use crate::CONFIDENCE;

/// How one set of samples compares with a base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// This one over the base: the centre of the interval, or the ratio of the medians where there is none.
    pub ratio: f64,
    /// The interval of the ratio; none when there are too few samples for one.
    pub interval: Option<RatioEnds>,
    /// The chance of so large a difference in ranks between equals (Mann–Whitney).
    pub p: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
    /// Why nothing may be said, where that is so.
    pub reason: Option<String>,
}

/// The ends of an interval for a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioEnds {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The values of one cell, prepared for any number of comparisons.
#[derive(Debug)]
pub struct Sample<'a> {
    values: &'a [f64],
    group: Result<Group, Flaw>,
}

impl<'a> Sample<'a> {
    /// Prepares values. Samples that are compared with one another must have different seeds; see [`Group`].
    pub fn new(values: &'a [f64], seed: u64) -> Self {
        Self { values, group: Group::new(values, seed) }
    }

    fn group(&self, side: Side) -> Result<&Group, Refusal> {
        self.group.as_ref().map_err(|flaw| flaw.on(side))
    }
}

/// Compares a sample of a metric with a base. Without a direction nothing is better or worse, only same or unclear.
pub fn effect(base: &Sample<'_>, other: &Sample<'_>, metric: &Metric) -> Option<Effect> {
    let p = stats::mann_whitney(base.values, other.values).map(|test| test.p);
    match ratio_interval(base, other) {
        Ok(interval) => {
            let (verdict, reason) = verdict(&interval, metric);
            let ends = RatioEnds { low: interval.low, high: interval.high };
            // The interval's own centre: with few samples it is not the ratio of the medians.
            Some(Effect { ratio: interval.center, interval: Some(ends), p, verdict, reason })
        }
        Err(refusal) => {
            let ratio = stats::ratio_of_medians(base.values, other.values)?;
            let reason = Some(refusal.to_string());
            Some(Effect { ratio, interval: None, p, verdict: Verdict::Unclear, reason })
        }
    }
}

fn ratio_interval(base: &Sample<'_>, other: &Sample<'_>) -> Result<RatioInterval, Refusal> {
    base.group(Side::Base)?.ratio_interval(other.group(Side::Other)?, CONFIDENCE)
}

fn verdict(interval: &RatioInterval, metric: &Metric) -> (Verdict, Option<String>) {
    let margin = metric.margin();
    match (interval.against_margin(margin), metric.better) {
        (MarginPosition::Inside, _) => (Verdict::Same, None),
        (MarginPosition::Across, _) => {
            let reason = format!("the interval of the ratio reaches over the margin of {} %", margin * 100.0);
            (Verdict::Unclear, Some(reason))
        }
        (_, None) => {
            let reason = "which direction is better is not known for this metric";
            (Verdict::Unclear, Some(reason.to_owned()))
        }
        (MarginPosition::Above, Some(Direction::Higher))
        | (MarginPosition::Below, Some(Direction::Lower)) => (Verdict::Better, None),
        (MarginPosition::Above, Some(Direction::Lower))
        | (MarginPosition::Below, Some(Direction::Higher)) => (Verdict::Worse, None),
    }
}

#[cfg(test)]
mod tests {
    use assay_model::Unit;

    use super::*;

    const OLD: [f64; 10] = [1726., 1723., 1707., 1707., 1713., 1729., 1736., 1707., 1705., 1774.];
    const NEW: [f64; 10] = [1423., 1416., 1411., 1413., 1412., 1426., 1422., 1424., 1447., 1425.];

    fn between(base: &[f64], other: &[f64], better: Option<Direction>) -> Option<Effect> {
        effect(&Sample::new(base, 1), &Sample::new(other, 2), &metric("time", better))
    }

    fn metric(name: &str, better: Option<Direction>) -> Metric {
        Metric { name: name.to_owned(), unit: Unit::parse("s").0, better }
    }

    #[test]
    fn half_a_hundredth_is_much_for_an_accuracy_and_nothing_for_a_time() {
        let (good, poor) =
            ([99.16, 99.15, 99.25, 99.24, 99.1, 99.29], [98.69, 98.87, 98.75, 98.82, 98.79, 98.79]);
        let of = |name| {
            effect(&Sample::new(&good, 1), &Sample::new(&poor, 2), &metric(name, Some(Direction::Higher)))
        };
        assert_eq!(of("accuracy").unwrap().verdict, Verdict::Worse);
        assert_eq!(of("samples").unwrap().verdict, Verdict::Same);
    }

    #[test]
    fn a_real_difference_is_named_in_the_metrics_direction() {
        let lower = between(&OLD, &NEW, Some(Direction::Lower)).unwrap();
        assert_eq!(lower.verdict, Verdict::Better);
        assert!((lower.ratio - 0.827_997_67).abs() < 1e-6);
        assert_eq!(between(&OLD, &NEW, Some(Direction::Higher)).unwrap().verdict, Verdict::Worse);
        assert_eq!(between(&OLD, &NEW, None).unwrap().verdict, Verdict::Unclear);
    }

    #[test]
    fn noise_is_not_ranked() {
        let noisy = [90., 130., 100., 95., 120., 105.];
        let other = [100., 125., 99., 140., 93., 101.];
        assert_eq!(between(&noisy, &other, Some(Direction::Lower)).unwrap().verdict, Verdict::Unclear);
    }

    #[test]
    fn three_runs_a_side_say_nothing() {
        let effect = between(&[1., 2., 3.], &[10., 20., 30.], Some(Direction::Lower)).unwrap();
        assert_eq!(effect.verdict, Verdict::Unclear);
        assert!(effect.reason.unwrap().contains('4'));
    }

    #[test]
    fn values_without_a_ratio_name_their_side() {
        let effect = between(&OLD, &[0.; 10], Some(Direction::Lower)).unwrap();
        assert_eq!((effect.ratio, effect.verdict), (0., Verdict::Unclear));
        assert!(effect.reason.unwrap().contains("other group"));
    }
}
