//! The values of runs, packed. Runs of one workload observe the same metrics, so each list of metrics is kept once
//! and a run holds only its numbers.

use std::collections::HashMap;

use assay_model::Observation;

use crate::chosen::chosen;

/// The numbers of one run; which metrics they belong to is known to the state.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ValueList {
    shape: u32,
    numbers: Box<[f64]>,
}

/// The lists of metrics that runs have observed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Shapes {
    metrics: HashMap<Box<str>, u32>,
    lists: Vec<Box<[u32]>>,
    known: HashMap<Box<[u32]>, u32>,
}

impl Shapes {
    /// Packs the observations that stand for their metrics.
    pub(super) fn pack(&mut self, observations: &[Observation]) -> ValueList {
        let mut pairs: Vec<(u32, f64)> = Vec::new();
        for observation in chosen(observations).into_iter().filter_map(|place| observations.get(place)) {
            pairs.push((self.metric(&observation.metric), observation.value));
        }
        pairs.sort_unstable_by_key(|(metric, _)| *metric);
        let list: Box<[u32]> = pairs.iter().map(|(metric, _)| *metric).collect();
        let shape = match self.known.get(&list) {
            Some(shape) => *shape,
            None => {
                let shape = self.lists.len() as u32;
                self.lists.push(list.clone());
                self.known.insert(list, shape);
                shape
            }
        };
        ValueList { shape, numbers: pairs.into_iter().map(|(_, value)| value).collect() }
    }

    /// The value of a metric in a list.
    pub(super) fn value(&self, list: &ValueList, metric: &str) -> Option<f64> {
        let metric = self.metrics.get(metric)?;
        let position = self.lists.get(list.shape as usize)?.binary_search(metric).ok()?;
        list.numbers.get(position).copied()
    }

    fn metric(&mut self, name: &str) -> u32 {
        if let Some(metric) = self.metrics.get(name) {
            return *metric;
        }
        let metric = self.metrics.len() as u32;
        self.metrics.insert(name.into(), metric);
        metric
    }
}
