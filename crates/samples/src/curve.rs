//! Losses that fall as in a real run.

use assay_random::Random;

/// A training loss: falls from `start` towards `floor`, with noise.
#[derive(Debug, Clone)]
pub(crate) struct LossCurve {
    /// The loss before the first step.
    pub(crate) start: f64,
    /// Where it ends up.
    pub(crate) floor: f64,
    /// Steps in which the distance to the floor falls to about a third.
    pub(crate) steps: f64,
    /// The deviation of the noise.
    pub(crate) noise: f64,
}

impl LossCurve {
    /// The loss at a step.
    pub(crate) fn at(&self, step: f64, random: &mut Random) -> f64 {
        self.smooth(step) + self.noise * random.bounded_normal()
    }

    /// The loss at a step without noise.
    pub(crate) fn smooth(&self, step: f64) -> f64 {
        // Beyond forty nothing is left to see, and numbers near zero are slow to compute.
        self.floor + (self.start - self.floor) * (-(step / self.steps).min(40.0)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_falls_from_start_to_floor() {
        let curve = LossCurve { start: 10.0, floor: 7.0, steps: 100.0, noise: 0.01 };
        let mut random = Random::stream(3, "curve");
        assert!((curve.at(0.0, &mut random) - 10.0).abs() < 0.05);
        assert!((curve.at(1e6, &mut random) - 7.0).abs() < 0.05);
        assert!(curve.smooth(100.0) < curve.smooth(50.0));
    }
}
