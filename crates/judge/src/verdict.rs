//! Two sets of samples to a verdict. An interval for the ratio of the two decides; a p-value alone never does.

use assay_model::{Direction, Verdict};
use assay_stats::{self as stats, MarginPosition, RatioInterval};
use serde::Serialize;

use crate::CONFIDENCE;

/// Differences smaller than this share count as none.
pub const MARGIN: f64 = 0.01;

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

/// Compares samples with a base. Without a direction nothing is better or worse, only same or unclear.
pub fn effect(base: &[f64], other: &[f64], better: Option<Direction>, seed: u64) -> Option<Effect> {
    let p = stats::mann_whitney(base, other).map(|test| test.p);
    match stats::ratio_interval(base, other, CONFIDENCE, seed) {
        Ok(interval) => {
            let (verdict, reason) = verdict(&interval, better);
            let ends = RatioEnds { low: interval.low, high: interval.high };
            let reason = reason.map(str::to_owned);
            // The interval's own centre: with few samples it is not the ratio of the medians.
            Some(Effect { ratio: interval.center, interval: Some(ends), p, verdict, reason })
        }
        Err(refusal) => {
            let ratio = stats::ratio_of_medians(base, other)?;
            let reason = Some(refusal.to_string());
            Some(Effect { ratio, interval: None, p, verdict: Verdict::Unclear, reason })
        }
    }
}

fn verdict(interval: &RatioInterval, better: Option<Direction>) -> (Verdict, Option<&'static str>) {
    match (interval.against_margin(MARGIN), better) {
        (MarginPosition::Inside, _) => (Verdict::Same, None),
        (MarginPosition::Across, _) => {
            (Verdict::Unclear, Some("the interval of the ratio reaches over the margin of 1 %"))
        }
        (_, None) => (Verdict::Unclear, Some("which direction is better is not known for this metric")),
        (MarginPosition::Above, Some(Direction::Higher))
        | (MarginPosition::Below, Some(Direction::Lower)) => (Verdict::Better, None),
        (MarginPosition::Above, Some(Direction::Lower))
        | (MarginPosition::Below, Some(Direction::Higher)) => (Verdict::Worse, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: [f64; 10] = [1726., 1723., 1707., 1707., 1713., 1729., 1736., 1707., 1705., 1774.];
    const NEW: [f64; 10] = [1423., 1416., 1411., 1413., 1412., 1426., 1422., 1424., 1447., 1425.];

    #[test]
    fn a_real_difference_is_named_in_the_metrics_direction() {
        let lower = effect(&OLD, &NEW, Some(Direction::Lower), 1).unwrap();
        assert_eq!(lower.verdict, Verdict::Better);
        assert!((lower.ratio - 0.827_997_67).abs() < 1e-6);
        assert_eq!(effect(&OLD, &NEW, Some(Direction::Higher), 1).unwrap().verdict, Verdict::Worse);
        assert_eq!(effect(&OLD, &NEW, None, 1).unwrap().verdict, Verdict::Unclear);
    }

    #[test]
    fn noise_is_not_ranked() {
        let noisy = [90., 130., 100., 95., 120., 105.];
        let other = [100., 125., 99., 140., 93., 101.];
        assert_eq!(effect(&noisy, &other, Some(Direction::Lower), 1).unwrap().verdict, Verdict::Unclear);
    }

    #[test]
    fn three_runs_a_side_say_nothing() {
        let effect = effect(&[1., 2., 3.], &[10., 20., 30.], Some(Direction::Lower), 1).unwrap();
        assert_eq!(effect.verdict, Verdict::Unclear);
        assert!(effect.reason.unwrap().contains('4'));
    }
}
