//! Two sets of samples to a verdict. An interval for the ratio of the two decides; a p-value alone never does.

use assay_model::{Direction, Metric, Verdict};
use assay_stats::ratio::Side;
use assay_stats::{
    self as stats, Family, Flaw, MarginPosition, PositiveSamples, RatioInterval, RatioMethod, Refusal,
};
use serde::Serialize;

use crate::CONFIDENCE;

/// How one set of samples compares with a base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// This one over the base: the center of the interval, or the ratio of the medians where there is none.
    pub ratio: f64,
    /// The interval of the ratio; none when there are too few samples for one.
    pub interval: Option<RatioEnds>,
    /// The chance of so large a difference in ranks between equals (Mann–Whitney), of this comparison alone.
    pub p: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
    /// Why nothing may be said, where that is so.
    pub reason: Option<String>,
    /// What corrections for many comparisons need to know.
    #[serde(skip)]
    pub tests: Tests,
}

impl Effect {
    /// Whether more runs would give an interval.
    pub fn lacks_runs(&self) -> bool {
        self.interval.is_none() && self.reason.as_deref().is_none_or(|reason| reason.starts_with(TOO_FEW))
    }
}

/// How the reason begins where more runs would help.
const TOO_FEW: &str = "a comparison needs";

/// The p-values of one comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tests {
    /// By ranks (Mann–Whitney).
    ranks: Option<f64>,
    /// The smallest that ranks of this many samples can give.
    smallest: Option<f64>,
    /// By means of logarithms (Welch).
    means: Option<f64>,
}

impl Tests {
    fn new(base: &CellSample<'_>, other: &CellSample<'_>) -> Tests {
        let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
        Tests {
            ranks: stats::mann_whitney(base.values, other.values).map(|test| test.p),
            smallest: stats::rank_test::smallest_p(base.values.len(), other.values.len()),
            means: stats::welch::welch(&logarithms(base.values), &logarithms(other.values))
                .map(|test| test.p),
        }
    }

    /// The p-value to correct for this number of comparisons: by ranks, unless so few samples could never pass.
    fn for_family(&self, comparisons: usize) -> Option<f64> {
        let reachable = self.smallest? * comparisons as f64 <= 1.0 - CONFIDENCE;
        if reachable { self.ranks } else { self.means.or(self.ranks) }
    }
}

/// Corrects the verdicts of comparisons that stand in one table by Holm's method: what is not significant among so
/// many is unclear. Answers with the corrected p-value of each; none where there is no test.
///
/// Intervals stay those of each comparison alone. A p-value never makes a verdict, it only takes one back.
pub fn correct(effects: &mut [&mut Effect]) -> Vec<Option<f64>> {
    let count = effects.iter().filter(|effect| effect.tests.ranks.is_some()).count();
    let raw: Vec<Option<f64>> = effects.iter().map(|effect| effect.tests.for_family(count)).collect();
    let known: Vec<f64> = raw.iter().copied().flatten().collect();
    let mut adjusted = stats::holm(&known).unwrap_or_default().into_iter();
    let corrected: Vec<Option<f64>> =
        raw.iter().map(|p| p.is_some().then(|| adjusted.next()).flatten()).collect();
    for (effect, p) in effects.iter_mut().zip(&corrected) {
        let named = matches!(effect.verdict, Verdict::Better | Verdict::Worse);
        if named && count > 1 && p.is_some_and(|p| p > 1.0 - CONFIDENCE) {
            effect.verdict = Verdict::Unclear;
            effect.reason = Some(format!("not significant among {count} comparisons (Holm)"));
        }
    }
    corrected
}

/// The ends of an interval for a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioEnds {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How the ratio was estimated.
    pub estimator: Estimator,
}

/// How a ratio is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The median of all ratios of two runs (Hodges and Lehmann), its interval by ranks.
    HodgesLehmann,
    /// The ratio of the geometric means, its interval by Welch's t on logarithms.
    GeometricMeans,
}

impl From<RatioMethod> for Estimator {
    fn from(method: RatioMethod) -> Estimator {
        match method {
            RatioMethod::HodgesLehmann | RatioMethod::HodgesLehmannAsymptotic => Estimator::HodgesLehmann,
            RatioMethod::Welch => Estimator::GeometricMeans,
        }
    }
}

/// The values of one cell, prepared for any number of comparisons.
#[derive(Debug)]
pub struct CellSample<'a> {
    values: &'a [f64],
    group: Result<PositiveSamples, Flaw>,
}

impl<'a> CellSample<'a> {
    /// Prepares values.
    pub fn new(values: &'a [f64]) -> Self {
        Self { values, group: PositiveSamples::new(values) }
    }

    fn group(&self, side: Side) -> Result<&PositiveSamples, Refusal> {
        self.group.as_ref().map_err(|flaw| flaw.on(side))
    }
}

/// Compares a sample of a metric with a base, alone. Without a direction nothing is better or worse, only same or
/// unclear.
pub fn effect(base: &CellSample<'_>, other: &CellSample<'_>, metric: &Metric) -> Option<Effect> {
    effect_in(base, other, metric, &Family::single(CONFIDENCE)?)
}

/// The same as one of a family of comparisons, whose intervals hold together.
pub fn effect_in(
    base: &CellSample<'_>,
    other: &CellSample<'_>,
    metric: &Metric,
    family: &Family,
) -> Option<Effect> {
    let tests = Tests::new(base, other);
    let p = tests.ranks;
    let interval =
        base.group(Side::Base).and_then(|group| group.ratio_interval(other.group(Side::Other)?, family));
    match interval {
        Ok(interval) => {
            let (verdict, reason) = verdict(&interval, metric);
            let ends =
                RatioEnds { low: interval.low, high: interval.high, estimator: interval.method.into() };
            // The interval's own center: it is not the ratio of the medians.
            Some(Effect { ratio: interval.center, interval: Some(ends), p, verdict, reason, tests })
        }
        Err(refusal) => {
            let ratio = stats::ratio_of_medians(base.values, other.values)?;
            let reason = Some(match refusal {
                Refusal::TooFewSamples { needed, .. } => {
                    format!("{TOO_FEW} {needed} runs on each side")
                }
                Refusal::NotPositive { side, value, .. } => {
                    let place = if side == Side::Base { "of the base" } else { "here" };
                    format!("unknown, because ratios need values above zero, and a run {place} gave {value}")
                }
                other => other.to_string(),
            });
            Some(Effect { ratio, interval: None, p, verdict: Verdict::Unclear, reason, tests })
        }
    }
}

fn verdict(interval: &RatioInterval, metric: &Metric) -> (Verdict, Option<String>) {
    let margin = metric.margin();
    match (interval.against_margin(margin), metric.better) {
        (MarginPosition::Inside, _) => (Verdict::Same, None),
        (MarginPosition::Across, _) => {
            let reason = match interval.low > 1.0 || interval.high < 1.0 {
                false => "the interval of the ratio includes 1".to_owned(),
                true => format!("the difference may be below the margin of {} %", margin * 100.0),
            };
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
        effect(&CellSample::new(base), &CellSample::new(other), &metric("time", better))
    }

    fn metric(name: &str, better: Option<Direction>) -> Metric {
        Metric { name: name.to_owned(), unit: Unit::parse("s").0, better }
    }

    #[test]
    fn a_million_values_are_judged_as_a_few_are() {
        let values: Vec<f64> =
            (0..1_000_000_u64).map(|i| 100.0 + (i * 7_919 % 1_000) as f64 / 100.0).collect();
        let larger: Vec<f64> = values.iter().map(|value| 1.05 * value).collect();
        let found = between(&values, &larger, Some(Direction::Lower)).unwrap();
        assert_eq!(found.verdict, Verdict::Worse);
        assert!((found.ratio - 1.05).abs() < 1e-3, "{found:?}");
        let estimate = crate::estimate::estimate(&values).unwrap();
        assert!(estimate.samples == 1_000_000 && (estimate.center - 105.0).abs() < 0.1, "{estimate:?}");
    }

    #[test]
    fn half_a_hundredth_is_much_for_an_accuracy_and_nothing_for_a_time() {
        let (good, poor) =
            ([99.16, 99.15, 99.25, 99.24, 99.1, 99.29], [98.69, 98.87, 98.75, 98.82, 98.79, 98.79]);
        let of = |name| {
            effect(&CellSample::new(&good), &CellSample::new(&poor), &metric(name, Some(Direction::Higher)))
        };
        assert_eq!(of("accuracy").unwrap().verdict, Verdict::Worse);
        assert_eq!(of("samples").unwrap().verdict, Verdict::Same);
    }

    #[test]
    fn a_real_difference_is_named_in_the_metrics_direction() {
        let lower = between(&OLD, &NEW, Some(Direction::Lower)).unwrap();
        assert_eq!(lower.verdict, Verdict::Better);
        assert!((lower.ratio - 0.828).abs() < 2e-3);
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
        assert!(effect.reason.unwrap().contains("a run here gave"));
    }
}
