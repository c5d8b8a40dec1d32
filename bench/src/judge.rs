//! What `bench/judge` measures.
//!
//! | file | holds |
//! |---|---|
//! | `judge/rates.rs` | how often tables name losers that are none, and find those that are |
//! | `judge/live.rs` | the same of real campaigns |
//! | `judge/coverage.rs` | whether intervals cover as often as they claim |
//! | `judge/speed.rs` | how fast verdicts, change points and resamples are |

pub mod coverage;
pub mod live;
pub mod rates;
pub mod speed;

use assay_judge::{CellEvidence, Evidence};
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
    let cell = |(index, values): (usize, Vec<f64>)| {
        let id = CellId { point: PointId(format!("{index:06}")), platform: "local".to_owned() };
        let settings = [("cell".to_owned(), i64::try_from(index).unwrap_or_default().into())].into();
        CellEvidence::new(id, "command", settings, values)
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
        of_other_studies: 0,
    }
}
