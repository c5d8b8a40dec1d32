//! What `bench/judge` measures.
//!
//! | file | holds |
//! |---|---|
//! | `judge/rates.rs` | how often tables name losers that are none, and find those that are |
//! | `judge/coverage.rs` | whether intervals cover as often as they claim |
//! | `judge/speed.rs` | how fast verdicts, change points and resamples are |

pub mod coverage;
pub mod rates;
pub mod speed;

use std::collections::BTreeMap;

use assay_judge::{CellEvidence, Counts, Evidence};
use assay_model::{CellId, Direction, Metric, PointId, Unit};
use assay_random::Random;

/// The noise of all simulations: log-normal, 5 %.
pub const NOISE: f64 = 0.05;

/// A time of which the median is `level`.
pub fn time(random: &mut Random, level: f64) -> f64 {
    level * (NOISE * random.normal()).exp()
}

/// Repeats of a time.
pub fn times(random: &mut Random, level: f64, repeats: usize) -> Vec<f64> {
    (0..repeats).map(|_| time(random, level)).collect()
}

/// A record of one metric, one cell for each list of values.
pub fn record(name: &str, cells: Vec<Vec<f64>>) -> Evidence {
    let cell = |(index, values): (usize, Vec<f64>)| CellEvidence {
        cell: CellId { point: PointId(format!("{index:06}")), platform: "local".to_owned() },
        workload: "command".to_owned(),
        settings: [("cell".to_owned(), i64::try_from(index).unwrap_or_default().into())].into(),
        planned: true,
        counts: Counts { succeeded: values.len() as u64, ..Counts::default() },
        values,
        without: 0,
        fewer: None,
        replayed: None,
        parity: BTreeMap::new(),
        amounts: BTreeMap::new(),
        busy_elsewhere: None,
    };
    Evidence {
        name: name.to_owned(),
        metric: Metric {
            name: "duration.wall".to_owned(),
            unit: Unit::Seconds,
            better: Some(Direction::Lower),
        },
        cells: cells.into_iter().enumerate().map(cell).collect(),
        rate: None,
    }
}
