//! The curve of latency over throughput: loads of several sizes, each made several times in turns. A point of the curve
//! is the median over its loads with its interval; an invalid load is counted and left out.

use assay_model::{Estimate, Unit};

use super::{EndpointSummary, SloBounds, Validity, Verdict};
use crate::estimate::estimate;

/// How large a load was.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum LoadLevel {
    /// Streams of a closed loop.
    Streams(u64),
    /// Requests per second.
    Rate(f64),
}

impl std::fmt::Display for LoadLevel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadLevel::Streams(1) => write!(out, "1 stream"),
            LoadLevel::Streams(streams) => write!(out, "{streams} streams"),
            LoadLevel::Rate(rate) => write!(out, "{rate} requests/s"),
        }
    }
}

/// A metric of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Output tokens per second of all requests together.
    OutputThroughput,
    /// Requests per second that ended well.
    RequestThroughput,
    /// Time to first token, the median of a load's requests.
    Ttft,
    /// The same at the 99th percentile.
    TtftP99,
    /// Time per token, the median of a load's requests.
    Tpot,
    /// End to end, the median of a load's requests.
    E2e,
    /// The same at the 99th percentile.
    E2eP99,
    /// Good requests per second.
    Goodput,
    /// The share of good requests.
    GoodShare,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Metric; 9] = [
        Metric::OutputThroughput,
        Metric::RequestThroughput,
        Metric::Goodput,
        Metric::GoodShare,
        Metric::Ttft,
        Metric::TtftP99,
        Metric::Tpot,
        Metric::E2e,
        Metric::E2eP99,
    ];

    /// The words for it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::OutputThroughput => "output_throughput",
            Metric::RequestThroughput => "request_throughput",
            Metric::Ttft => "ttft p50",
            Metric::TtftP99 => "ttft p99",
            Metric::Tpot => "tpot p50",
            Metric::E2e => "e2e p50",
            Metric::E2eP99 => "e2e p99",
            Metric::Goodput => "goodput",
            Metric::GoodShare => "good",
        }
    }

    /// Whether a larger value is better.
    pub fn is_rate(self) -> bool {
        matches!(
            self,
            Metric::OutputThroughput | Metric::RequestThroughput | Metric::Goodput | Metric::GoodShare
        )
    }

    /// The SLO of its requests, in seconds.
    pub fn slo_s(self, bounds: &SloBounds) -> Option<f64> {
        match self {
            Metric::Ttft | Metric::TtftP99 => bounds.ttft_s,
            Metric::Tpot => bounds.tpot_s,
            Metric::E2e | Metric::E2eP99 => bounds.e2e_s,
            _ => None,
        }
    }

    /// Its unit.
    pub fn unit(self) -> Unit {
        match self {
            Metric::OutputThroughput => Unit::parse("tokens/s").0,
            Metric::RequestThroughput | Metric::Goodput => Unit::parse("requests/s").0,
            Metric::GoodShare => Unit::parse("fraction").0,
            _ => Unit::Seconds,
        }
    }

    pub(super) fn of(self, summary: &EndpointSummary) -> Option<f64> {
        match self {
            Metric::Goodput => summary.goodput().filter(|_| summary.has_bounds),
            Metric::GoodShare => summary.good.value().filter(|_| summary.has_bounds),
            Metric::OutputThroughput => summary.output_throughput(),
            Metric::RequestThroughput => summary.request_throughput(),
            Metric::Ttft => summary.ttft.quantile(0.5),
            Metric::TtftP99 => summary.ttft.quantile(0.99),
            Metric::Tpot => summary.tpot.quantile(0.5),
            Metric::E2e => summary.e2e.quantile(0.5),
            Metric::E2eP99 => summary.e2e.quantile(0.99),
        }
    }
}

/// What one load says of one endpoint.
#[derive(Debug, Clone, Copy)]
pub struct LoadReading<'a> {
    /// The endpoint's name.
    pub endpoint: &'a str,
    /// How large the load was.
    pub level: LoadLevel,
    /// The metrics.
    pub summary: &'a EndpointSummary,
    /// What they are worth.
    pub verdict: &'a Verdict,
}

/// All loads of one size on one endpoint.
#[derive(Debug, Clone)]
pub struct Point {
    /// The endpoint's name.
    pub endpoint: String,
    /// How large the loads were.
    pub level: LoadLevel,
    /// Each metric that was seen, over the loads that count.
    pub estimates: Vec<(Metric, Estimate)>,
    /// Loads that count.
    pub loads: usize,
    /// Invalid loads.
    pub invalid: usize,
    /// Suspect loads; these count.
    pub suspect: usize,
    /// What was seen in the first invalid load, or else in the first suspect one.
    pub doubt: Option<String>,
}

impl Point {
    /// The estimate of a metric.
    pub fn estimate(&self, metric: Metric) -> Option<&Estimate> {
        self.estimates.iter().find(|(known, _)| *known == metric).map(|(_, estimate)| estimate)
    }
}

/// The points of all endpoints, smaller loads first.
#[derive(Debug, Clone)]
pub struct LoadCurve {
    /// The points.
    pub points: Vec<Point>,
    /// What a good request is.
    pub bounds: SloBounds,
}

impl LoadCurve {
    /// Puts loads together by endpoint and size.
    pub fn new(readings: &[LoadReading<'_>], bounds: SloBounds) -> LoadCurve {
        let mut keys: Vec<(&str, LoadLevel)> = Vec::new();
        for reading in readings {
            if !keys.contains(&(reading.endpoint, reading.level)) {
                keys.push((reading.endpoint, reading.level));
            }
        }
        // Endpoints stay in their order: sorting by level alone is stable.
        keys.sort_by(|(_, a), (_, b)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let point = |(endpoint, level)| {
            let of_point = readings.iter().filter(|one| one.endpoint == endpoint && one.level == level);
            point(endpoint, level, of_point.copied().collect())
        };
        LoadCurve { points: keys.into_iter().map(point).collect(), bounds }
    }

    /// The endpoints, each once.
    pub fn endpoints(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for point in &self.points {
            if !names.contains(&point.endpoint.as_str()) {
                names.push(&point.endpoint);
            }
        }
        names
    }
}

fn point(endpoint: &str, level: LoadLevel, readings: Vec<LoadReading<'_>>) -> Point {
    let counting: Vec<&LoadReading<'_>> =
        readings.iter().filter(|reading| reading.verdict.validity != Validity::Invalid).collect();
    let worst = readings.iter().map(|reading| reading.verdict.validity).max();
    let doubtful = readings.iter().map(|reading| reading.verdict).find(|one| Some(one.validity) == worst);
    let doubt = doubtful.and_then(|verdict| {
        let weighty = verdict.worst().or(verdict.reasons.first());
        weighty.map(|reason| reason.text.clone())
    });
    let estimates = Metric::ALL.into_iter().filter_map(|metric| {
        let values: Vec<f64> = counting.iter().filter_map(|reading| metric.of(reading.summary)).collect();
        Some((metric, estimate(&values)?))
    });
    Point {
        endpoint: endpoint.to_owned(),
        level,
        estimates: estimates.collect(),
        loads: counting.len(),
        invalid: readings.len() - counting.len(),
        suspect: counting.iter().filter(|reading| reading.verdict.validity == Validity::Suspect).count(),
        doubt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Collector, Reason, RequestResult, Window};

    fn summary(first_token_at_s: f64) -> EndpointSummary {
        let window = Window { begin_s: 0.0, end_at_s: 10.0, is_whole: false };
        let mut collector = Collector::new(window, SloBounds::default());
        let first_token_at_s = Some(first_token_at_s);
        collector.add(&RequestResult {
            end_at_s: 1.0,
            first_token_at_s,
            is_success: true,
            ..RequestResult::default()
        });
        collector.finish()
    }

    #[test]
    fn loads_of_one_size_are_one_point_and_invalid_ones_do_not_count() {
        let summaries: Vec<EndpointSummary> = [0.1, 0.2, 0.3, 9.0, 0.5].into_iter().map(summary).collect();
        let text = "schedule lag".to_owned();
        let verdicts = [Validity::Valid, Validity::Suspect, Validity::Invalid].map(|validity| {
            let reason = Reason { validity, metric: None, text: text.clone(), hint: "" };
            Verdict {
                validity,
                reasons: [reason].into_iter().filter(|_| validity > Validity::Valid).collect(),
            }
        });
        let reading = |index: usize, streams, validity: Validity| LoadReading {
            endpoint: "a",
            level: LoadLevel::Streams(streams),
            summary: &summaries[index],
            verdict: &verdicts[validity as usize],
        };
        let readings = [
            reading(4, 8, Validity::Suspect),
            reading(0, 1, Validity::Valid),
            reading(1, 1, Validity::Valid),
            reading(2, 1, Validity::Valid),
            reading(3, 1, Validity::Invalid),
        ];
        let curve = LoadCurve::new(&readings, SloBounds::default());
        let [one, eight] = curve.points.as_slice() else { panic!("{:?}", curve.points) };
        assert_eq!((one.level, one.loads, one.invalid), (LoadLevel::Streams(1), 3, 1));
        let first = one.estimate(Metric::Ttft).unwrap();
        assert!((first.center - 0.2).abs() < 0.001, "{first:?}");
        assert_eq!((eight.loads, eight.suspect), (1, 1));
        assert_eq!((&one.doubt, &eight.doubt), (&Some(text.clone()), &Some(text.clone())));
        assert!(eight.estimate(Metric::OutputThroughput).is_none(), "unknown tokens stay unknown");
        assert_eq!(curve.endpoints(), ["a"]);
    }
}
