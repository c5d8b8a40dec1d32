//! Seeded random numbers. The generator is written out here (SplitMix64), so that a seed gives the same arrivals,
//! prompts and schedules whatever crates are linked.

/// A stream of random numbers that belongs to a seed.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed` for one purpose. Streams of different purposes are independent, so that another number of
    /// prompts does not change the arrivals.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mut random = Self { state: seed };
        for byte in purpose.bytes() {
            random.state = random.next() ^ u64::from(byte);
        }
        random
    }

    /// The stream of one item, for example of one request: the same whatever came before it.
    pub(crate) fn of(seed: u64, purpose: &str, item: u64) -> Self {
        let mut random = Self::new(seed, purpose);
        random.state = random.next() ^ mix(item);
        random
    }

    /// Sixty-four random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// A number below `bound`: the high half of a 64 × 64-bit product. Zero for a bound of zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 up to 1, never 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An exponential number with mean 1. Its argument of the logarithm is never 0.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A normal number with mean 0 and deviation 1 (Box and Muller 1958; the second number of the pair is not kept,
    /// so that the stream has no hidden state).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A gamma number with the given shape and mean 1: Marsaglia and Tsang, "A simple method for generating gamma
    /// variables", 2000, with their power transform for shapes below 1.
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        let boosted = if shape < 1.0 { shape + 1.0 } else { shape };
        let d = boosted - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        let drawn = loop {
            let normal = self.normal();
            let cube = (1.0 + c * normal).powi(3);
            if cube > 0.0 && self.exponential() > d * cube - d - d * cube.ln() - normal * normal / 2.0 {
                break d * cube;
            }
        };
        let drawn = if shape < 1.0 { drawn * (1.0 - self.unit()).powf(1.0 / shape) } else { drawn };
        drawn / shape
    }
}

/// The finaliser of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of many draws.
    fn moments(draw: impl FnMut() -> f64) -> (f64, f64) {
        const COUNT: usize = 200_000;
        let draws: Vec<f64> = std::iter::repeat_with(draw).take(COUNT).collect();
        let mean = draws.iter().sum::<f64>() / COUNT as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / COUNT as f64;
        (mean, variance)
    }

    #[test]
    fn gamma_has_mean_one_and_the_variance_of_its_shape() {
        for shape in [0.25, 0.5, 1.0, 2.0, 10.0] {
            let mut random = Random::new(7, "gamma");
            let (mean, variance) = moments(|| random.gamma(shape));
            assert!((mean - 1.0).abs() < 0.02, "shape {shape}: mean {mean}");
            assert!((variance * shape - 1.0).abs() < 0.06, "shape {shape}: variance {variance}");
        }
    }

    #[test]
    fn normal_and_exponential_have_their_moments() {
        let mut random = Random::new(7, "normal");
        let (mean, variance) = moments(|| random.normal());
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        let (mean, variance) = moments(|| random.exponential());
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn streams_of_items_differ_and_come_again() {
        let first = Random::of(1, "jitter", 1).next();
        assert_eq!(first, Random::of(1, "jitter", 1).next());
        assert_ne!(first, Random::of(1, "jitter", 2).next());
        assert_ne!(first, Random::of(2, "jitter", 1).next());
    }
}
