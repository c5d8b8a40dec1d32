//! Which observation stands for a metric where a run has several.

use std::collections::BTreeMap;

use assay_model::{Observation, Origin};

/// The positions of the observations that stand for their metrics, in order. What this program measured goes
/// before what a log reports, that before what was derived, and a prediction comes last; among equals the last one
/// seen, which in a log is the final figure.
pub(crate) fn chosen(observations: &[Observation]) -> Vec<usize> {
    let mut best: BTreeMap<&str, usize> = BTreeMap::new();
    for (position, observation) in observations.iter().enumerate() {
        let place = best.entry(&observation.metric).or_insert(position);
        let held = observations.get(*place).map_or(0, |held| trust(held.origin));
        if trust(observation.origin) >= held {
            *place = position;
        }
    }
    let mut positions: Vec<usize> = best.into_values().collect();
    positions.sort_unstable();
    positions
}

fn trust(origin: Origin) -> u8 {
    match origin {
        Origin::Measured => 3,
        Origin::Reported => 2,
        Origin::Derived => 1,
        Origin::Prediction => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Unit;

    #[test]
    fn measured_wins_and_the_last_of_equals_counts() {
        let observation = |metric: &str, value, origin| Observation::new(metric, value, Unit::One, origin);
        let list = [
            observation("a", 1.0, Origin::Reported),
            observation("b", 1.0, Origin::Measured),
            observation("a", 2.0, Origin::Reported),
            observation("b", 2.0, Origin::Reported),
            observation("a", 3.0, Origin::Prediction),
        ];
        assert_eq!(chosen(&list), [1, 2]);
        assert!(chosen(&[]).is_empty());
    }
}
