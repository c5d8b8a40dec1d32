//! What readers find in a run's output.

use assay_model::{Observation, Origin, Series, Source, Unit};

/// The most values of one series that are kept. Beyond, every second value is dropped and the step doubled, so a
/// thinned series still spans the whole run.
pub const LONGEST_SERIES: usize = 20_000;

/// Observations and series of one run.
#[derive(Debug, Default)]
pub struct Findings {
    /// Facts found, one for each metric.
    pub observations: Vec<Observation>,
    /// Values per step, for metrics seen more than once.
    pub series: Vec<Series>,
}

/// Collects the values of one metric over a run.
#[derive(Debug)]
pub struct Collector {
    metric: String,
    unit: Unit,
    first: Option<(f64, Source)>,
    last: Option<(f64, Source)>,
    sum: f64,
    seen: u64,
    values: Vec<f64>,
    step: u64,
}

impl Collector {
    /// Starts empty.
    pub fn new(metric: &str, unit: Unit) -> Collector {
        Collector {
            metric: metric.to_owned(),
            unit,
            first: None,
            last: None,
            sum: 0.0,
            seen: 0,
            values: Vec::new(),
            step: 1,
        }
    }

    /// The metric it collects.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// Takes one value in the base unit. What is not finite was not observed: a log's `inf` or `nan` is no number.
    pub fn take(&mut self, value: f64, source: Source) {
        if !value.is_finite() {
            return;
        }
        if self.seen.is_multiple_of(self.step) {
            self.values.push(value);
            if self.values.len() > LONGEST_SERIES {
                let mut position = 0;
                self.values.retain(|_| {
                    position += 1;
                    position % 2 == 1
                });
                self.step *= 2;
            }
        }
        self.seen += 1;
        self.sum += value;
        if self.first.is_none() {
            self.first = Some((value, source.clone()));
        }
        self.last = Some((value, source));
    }

    /// The value last seen, for live display.
    pub fn latest(&self) -> Option<f64> {
        self.last.as_ref().map(|(value, _)| *value)
    }

    /// Adds what was collected: the observation that `keep` asks for and, for more than one value, the series.
    pub fn report(&self, keep: crate::Keep, findings: &mut Findings) {
        use crate::Keep;
        let (Some((first, first_source)), Some((last, last_source))) = (&self.first, &self.last) else {
            return;
        };
        let chosen = match keep {
            Keep::First => Some((*first, first_source, Origin::Reported)),
            Keep::Last => Some((*last, last_source, Origin::Reported)),
            Keep::Sum => Some((self.sum, last_source, Origin::Derived)),
            Keep::Series => None,
        };
        if let Some((value, source, origin)) = chosen {
            findings.observations.push(Observation {
                source: Some(source.clone()),
                ..Observation::new(&self.metric, value, self.unit.clone(), origin)
            });
        }
        if self.seen > 1 || keep == Keep::Series {
            findings.series.push(Series {
                metric: self.metric.clone(),
                unit: self.unit.clone(),
                values: self.values.clone(),
                seen: self.seen,
                ..Series::default()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keep;

    fn source(line: u64) -> Source {
        Source { file: "stdout.log".into(), line }
    }

    #[test]
    fn long_series_are_thinned_and_keep_their_count() {
        let mut collector = Collector::new("loss", Unit::One);
        for step in 0..100_000 {
            collector.take(f64::from(step), source(1));
        }
        let mut findings = Findings::default();
        collector.report(Keep::Series, &mut findings);
        let series = &findings.series[0];
        assert_eq!(series.seen, 100_000);
        assert!(series.values.len() <= LONGEST_SERIES);
        assert!(series.values.windows(2).all(|pair| pair[1] - pair[0] == series.values[1]));
    }

    #[test]
    fn infinity_is_not_an_observation() {
        let mut collector = Collector::new("rate", Unit::One);
        collector.take(f64::INFINITY, source(1));
        let mut findings = Findings::default();
        collector.report(Keep::Last, &mut findings);
        assert!(findings.observations.is_empty());
    }
}
