//! One rank.

use super::Collective;

/// A run of one rank, which has nobody to ask.
#[derive(Debug, Default)]
pub struct Single;

impl Collective for Single {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn mean(&mut self, _values: &mut [f32]) {}

    fn mean_number(&mut self, number: f64) -> f64 {
        number
    }

    fn any(&mut self, yes: bool) -> bool {
        yes
    }
}
