//! The names that the vocabulary can give, for campaigns that ask for one before anything was read.

use assay_model::{Metric, Unit};

use super::{Better, MetricKind, Split, Vocabulary};

impl Vocabulary {
    /// The names that words alone lead to: each metric with a direction, on each split, and with the statistics that are
    /// asked for.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut found: Vec<Metric> = Vec::new();
        for entry in &self.metrics {
            let better = entry.better.map(Better::direction);
            let (splits, statistics): (&[Option<Split>], &[&str]) = match entry.kind {
                MetricKind::Value | MetricKind::Share => (
                    &[None, Some(Split::Train), Some(Split::Eval), Some(Split::Test)],
                    &["", "best", "final"],
                ),
                MetricKind::Time | MetricKind::Rate => {
                    (&[None], &["", "mean", "median", "min", "max", "total", "p50", "p90", "p95", "p99"])
                }
                MetricKind::Memory => (&[None], &["", "peak"]),
                _ => continue,
            };
            let unit = match entry.kind {
                MetricKind::Share => Unit::Fraction,
                MetricKind::Time => Unit::Seconds,
                MetricKind::Memory => Unit::Bytes,
                _ => Unit::parse(&entry.unit).0,
            };
            for split in splits {
                for statistic in statistics {
                    let parts = [entry.name.as_str(), split.map_or("", Split::word), statistic];
                    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                    let name = parts.join(".");
                    if better.is_some() && !found.iter().any(|known| known.name == name) {
                        found.push(Metric { name, unit: unit.clone(), better });
                    }
                }
            }
        }
        found
    }
}
