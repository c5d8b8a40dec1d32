//! One endpoint against another. Both get the same requests at the same times in every round, so the ratio of a metric in one
//! round is one observation, and the interval is that of the median over rounds.

use assay_model::Estimate;
use assay_stats::mean_interval;

use super::{EndpointSummary, LoadLevel, Metric, Validity};
use crate::CONFIDENCE;
use crate::estimate::estimate;

/// One load, with the round it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct RoundReading<'a> {
    pub round: u64,
    pub endpoint: &'a str,
    pub level: LoadLevel,
    pub summary: &'a EndpointSummary,
    pub validity: Validity,
}

/// How an endpoint compares with the first one under loads of one size.
#[derive(Debug, Clone)]
pub struct Contrast {
    pub endpoint: String,
    pub base: String,
    pub level: LoadLevel,
    /// Rounds in which both have a load that counts.
    pub rounds: usize,
    /// For each metric, its value at this endpoint / its value at the base.
    pub ratios: Vec<(Metric, Estimate)>,
    /// How many comparisons stand beside each other for each metric: endpoints times sizes of load.
    pub comparisons: usize,
    /// The metrics whose difference is not significant among so many comparisons.
    pub insignificant: Vec<Metric>,
}

/// What the ratio of a metric says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Better,
    Worse,
    /// The interval lies inside the margin around 1.
    Same,
    /// The interval includes 1, or the difference may be below the margin.
    Indistinguishable,
    /// There are too few rounds for an interval.
    Undecided,
}

/// A ratio nearer to 1 than this is not worth naming.
const MARGIN: f64 = 0.01;
/// Fewer rounds give the median no interval of 95 %.
const LEAST_ROUNDS: usize = 6;

impl Standing {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Better => "better",
            Standing::Worse => "worse",
            Standing::Same => "same",
            Standing::Indistinguishable => "indistinguishable",
            Standing::Undecided => "undecided",
        }
    }

    fn of_larger(is_better: bool) -> Standing {
        if is_better { Standing::Better } else { Standing::Worse }
    }
}

impl Contrast {
    /// What the ratio of a metric says of the endpoint.
    pub fn standing(&self, metric: Metric) -> Option<Standing> {
        let (_, ratio) = self.ratios.iter().find(|(known, _)| *known == metric)?;
        let is_significant = !self.insignificant.contains(&metric);
        let (low, high) = (1.0 - MARGIN, 1.0 + MARGIN);
        Some(match ratio {
            ratio if ratio.samples < LEAST_ROUNDS => Standing::Undecided,
            ratio if ratio.low >= low && ratio.high <= high => Standing::Same,
            _ if !is_significant => Standing::Indistinguishable,
            ratio if ratio.low > 1.0 && ratio.center > high => Standing::of_larger(metric.is_rate()),
            ratio if ratio.high < 1.0 && ratio.center < low => Standing::of_larger(!metric.is_rate()),
            _ => Standing::Indistinguishable,
        })
    }
}

/// Every other endpoint against the first, for each size of load. The comparisons of a metric are a family: what is not
/// significant among them by Holm's method is no difference, whatever its own interval says.
pub fn contrasts(readings: &[RoundReading<'_>]) -> Vec<Contrast> {
    let Some(base) = readings.first().map(|reading| reading.endpoint) else { return Vec::new() };
    let mut keys: Vec<(&str, LoadLevel)> = Vec::new();
    for reading in readings.iter().filter(|reading| reading.endpoint != base) {
        if !keys.contains(&(reading.endpoint, reading.level)) {
            keys.push((reading.endpoint, reading.level));
        }
    }
    let contrast = |(endpoint, level): (&str, LoadLevel)| {
        let counts = |name: &'_ str, one: &RoundReading<'_>| {
            one.endpoint == name && one.level == level && one.validity != Validity::Invalid
        };
        let pairs: Vec<(&EndpointSummary, &EndpointSummary)> = readings
            .iter()
            .filter(|one| counts(endpoint, one))
            .filter_map(|own| {
                let other = readings.iter().find(|one| counts(base, one) && one.round == own.round)?;
                Some((own.summary, other.summary))
            })
            .collect();
        let mut logarithms: Vec<(Metric, Vec<f64>)> = Vec::new();
        let ratios = Metric::ALL.into_iter().filter_map(|metric| {
            let ratio = |(own, other): &(&EndpointSummary, &EndpointSummary)| {
                Some(metric.of(own)? / metric.of(other)?)
            };
            let values: Vec<f64> = pairs.iter().filter_map(ratio).filter(|ratio| ratio.is_finite()).collect();
            logarithms.push((metric, values.iter().map(|ratio| ratio.max(f64::MIN_POSITIVE).ln()).collect()));
            Some((metric, estimate(&values)?))
        });
        let contrast = Contrast {
            endpoint: endpoint.to_owned(),
            base: base.to_owned(),
            level,
            rounds: pairs.len(),
            ratios: ratios.collect(),
            comparisons: 1,
            insignificant: Vec::new(),
        };
        (contrast, logarithms)
    };
    let (mut all, logarithms): (Vec<Contrast>, Vec<_>) = keys.into_iter().map(contrast).unzip();
    let count = all.len();
    for metric in Metric::ALL {
        let of_metric = |one: &Vec<(Metric, Vec<f64>)>| {
            let found = one.iter().find(|(known, _)| *known == metric);
            found.map(|(_, values)| values.clone()).unwrap_or_default()
        };
        let values: Vec<Vec<f64>> = logarithms.iter().map(of_metric).collect();
        for (contrast, is_significant) in all.iter_mut().zip(significant(&values)) {
            contrast.comparisons = count;
            contrast.insignificant.extend((!is_significant).then_some(metric));
        }
    }
    all
}

/// Which of several samples of logarithms have a mean that differs from 0, all together (Holm's method with Student's t).
/// A single sample is judged by its interval alone.
fn significant(samples: &[Vec<f64>]) -> Vec<bool> {
    let judged: Vec<usize> =
        (0..samples.len()).filter(|place| samples[*place].len() >= LEAST_ROUNDS).collect();
    let mut found = vec![judged.len() < 2; samples.len()];
    if judged.len() < 2 {
        return found;
    }
    let interval = |place: usize, confidence: f64| mean_interval(&samples[place], confidence);
    // How many half-widths the mean is from 0; a sample without scatter is as far as can be, unless its mean is 0.
    let distance = |place: &usize| {
        let ends = interval(*place, CONFIDENCE).map(|ends| (ends.center.abs(), (ends.high - ends.low) / 2.0));
        ends.map_or(0.0, |(center, half)| if center > 0.0 { center / half } else { 0.0 })
    };
    let mut ordered = judged;
    ordered.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    let count = ordered.len();
    for (rank, place) in ordered.into_iter().enumerate() {
        let level = 1.0 - (1.0 - CONFIDENCE) / (count - rank) as f64;
        let excludes = interval(place, level).is_some_and(|ends| ends.low > 0.0 || ends.high < 0.0);
        if !excludes {
            break;
        }
        found[place] = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Collector, RequestResult, SloBounds, Window};

    fn summary(e2e_s: f64) -> EndpointSummary {
        let window = Window { begin_s: 0.0, end_at_s: 10.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        collector.add(&RequestResult { end_at_s: e2e_s, is_success: true, ..RequestResult::default() });
        collector.finish()
    }

    #[test]
    fn what_is_not_significant_among_many_comparisons_is_no_difference() {
        let sure: Vec<f64> = [0.10, 0.11, 0.09, 0.10, 0.12, 0.10].to_vec();
        // Its own interval excludes 0, with p = 0.03.
        let lucky: Vec<f64> = [0.01, 0.06, 0.02, 0.09, 0.01, 0.02].to_vec();
        let none: Vec<f64> = [0.01, -0.02, 0.02, -0.01, 0.01, -0.01].to_vec();
        assert_eq!(significant(std::slice::from_ref(&lucky)), [true]);
        let many = [sure.clone(), lucky, none.clone(), none.clone(), none, vec![0.1; 3]];
        assert_eq!(significant(&many), [true, false, false, false, false, false]);
        assert_eq!(significant(&[sure, vec![0.0; 6], vec![0.5; 6]]), [true, false, true]);
    }

    #[test]
    fn rounds_are_paired_so_that_what_they_share_does_not_count() {
        // Rounds differ far more than endpoints do.
        let times = [1.0, 5.0, 2.0, 8.0, 3.0, 4.0];
        let (base, other): (Vec<EndpointSummary>, Vec<EndpointSummary>) =
            times.iter().map(|time| (summary(*time), summary(time * 1.1))).unzip();
        let reading = |endpoint: &'static str, round: u64, summary| {
            let (level, validity) = (LoadLevel::Streams(2), Validity::Valid);
            RoundReading { round, endpoint, level, summary, validity }
        };
        let readings: Vec<_> = (1..=6)
            .zip(base.iter().zip(&other))
            .flat_map(|(round, (base, other))| [reading("a", round, base), reading("b", round, other)])
            .collect();
        let all = contrasts(&readings);
        let [contrast] = all.as_slice() else { panic!("{all:?}") };
        let (_, ratio) = contrast.ratios.iter().find(|(metric, _)| *metric == Metric::E2e).unwrap();
        assert!((ratio.center - 1.1).abs() < 0.01 && ratio.low > 1.05 && ratio.high < 1.15, "{ratio:?}");
        assert_eq!(contrast.standing(Metric::E2e), Some(Standing::Worse));
        // An interval that excludes 1 by less than anybody would notice is no difference.
        let (near, far): (Vec<EndpointSummary>, Vec<EndpointSummary>) =
            times.iter().map(|time| (summary(*time), summary(time * 1.004))).unzip();
        let readings_near: Vec<_> = (1..=6)
            .zip(near.iter().zip(&far))
            .flat_map(|(round, (base, other))| [reading("a", round, base), reading("b", round, other)])
            .collect();
        assert_eq!(contrasts(&readings_near)[0].standing(Metric::E2e), Some(Standing::Same));
        let few = contrasts(&readings[..4]);
        assert_eq!((few[0].rounds, few[0].standing(Metric::E2e)), (2, Some(Standing::Undecided)));
        assert_eq!(contrasts(&[]).len(), 0);
    }
}
