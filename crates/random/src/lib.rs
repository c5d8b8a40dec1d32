//! Seeded random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
//!
//! The generator is written out here rather than taken from a crate, because seeds are stored in records, campaign
//! files and golden numbers: the same seed has to give the same bits in every later version, and crates for random
//! numbers reserve the right to change their sequences. Resampling and the order of runs, which need more than 64 bits
//! of state, use ChaCha8 in `stats` and `campaign`.

/// The increment of SplitMix64: 2⁶⁴ divided by the golden ratio, made odd.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finalizer of SplitMix64: every bit of the result depends on every bit of `z`.
#[inline(always)]
pub const fn finalize(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The number at `index` (from 0) of the sequence with this seed, without computing those before it.
#[inline(always)]
pub const fn draw(seed: u64, index: u64) -> u64 {
    finalize(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// A sequence of random numbers that belongs to a seed.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The sequence of `seed` for one purpose. Sequences of different purposes are independent, so that drawing more
    /// numbers for one of them does not change the others.
    pub fn stream(seed: u64, purpose: &str) -> Self {
        let mut random = Self::new(seed);
        for byte in purpose.bytes() {
            random.state = random.next_u64() ^ u64::from(byte);
        }
        random
    }

    /// The sequence of one item of a stream, for example of one request: the same whatever was drawn before it.
    pub fn item(seed: u64, purpose: &str, item: u64) -> Self {
        let mut random = Self::stream(seed, purpose);
        random.state = random.next_u64() ^ finalize(item);
        random
    }

    /// A sequence for a part of the whole, for example for one of several runs.
    pub fn fork(&mut self) -> Self {
        Self { state: self.next_u64() }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        finalize(self.state)
    }

    /// A number below `bound`: the high half of a 64 × 64-bit product. Zero for a bound of zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// An integer from `low` to `high`, both included.
    pub fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// A number from 0 up to 1, never 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `low` up to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.between(0.0, 1.0) < probability
    }

    /// One of `all`, or the default value if `all` is empty.
    pub fn pick<T: Copy + Default>(&mut self, all: &[T]) -> T {
        all.get(self.below(all.len() as u64) as usize).copied().unwrap_or_default()
    }

    /// Puts `all` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// An exponential number with mean 1. The argument of the logarithm is never 0.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A normal number with mean 0 and standard deviation 1 (Box and Muller 1958; the second number of the pair is
    /// dropped, so that the sequence has no hidden state).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Roughly a normal number with mean 0 and standard deviation 1: the sum of four uniform ones, never beyond 3.5.
    /// Generated samples need the bound: they must not contain an outlier that nobody asked for.
    pub fn bounded_normal(&mut self) -> f64 {
        let bits = self.next_u64();
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xFFFF).sum();
        (sum as f64 / 65536.0 - 2.0) * 3.0_f64.sqrt()
    }

    /// A gamma number with the given shape parameter and mean 1: Marsaglia and Tsang, "A simple method for generating
    /// gamma variables", 2000, with their power transform for shapes below 1.
    pub fn gamma(&mut self, shape: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_pinned() {
        // Records, campaigns and golden numbers name data by a seed, so these numbers must never change.
        let drawn = |purpose: &str| -> Vec<u64> {
            let mut random = Random::stream(42, purpose);
            (0..4).map(|_| random.below(1000)).collect()
        };
        assert_eq!(drawn("log"), [933, 993, 516, 390]);
        assert_eq!(drawn("rubbish"), [464, 66, 82, 592]);
        // The first number of seed 0, as published with the reference implementation.
        assert_eq!(Random::new(0).next_u64(), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn a_draw_by_index_is_the_number_of_the_sequence() {
        let mut random = Random::new(77);
        for index in 0..10 {
            assert_eq!(draw(77, index), random.next_u64());
        }
    }

    #[test]
    fn sequences_of_items_differ_and_repeat() {
        let first = Random::item(1, "jitter", 1).next_u64();
        assert_eq!(first, Random::item(1, "jitter", 1).next_u64());
        assert_ne!(first, Random::item(1, "jitter", 2).next_u64());
        assert_ne!(first, Random::item(2, "jitter", 1).next_u64());
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = Random::stream(1, "");
        for _ in 0..10_000 {
            assert!((3..=5).contains(&random.whole(3, 5)));
            assert!((1.5..2.5).contains(&random.between(1.5, 2.5)));
            assert!((0.0..1.0).contains(&random.unit()));
            assert!(random.bounded_normal().abs() < 3.5);
        }
        assert_eq!(random.below(0), 0);
        assert_eq!(random.pick::<u8>(&[]), 0);
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut all: Vec<u32> = (0..50).collect();
        Random::stream(9, "").shuffle(&mut all);
        assert_ne!(all, (0..50).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
    }

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
            let mut random = Random::stream(7, "gamma");
            let (mean, variance) = moments(|| random.gamma(shape));
            assert!((mean - 1.0).abs() < 0.02, "shape {shape}: mean {mean}");
            assert!((variance * shape - 1.0).abs() < 0.06, "shape {shape}: variance {variance}");
        }
    }

    #[test]
    fn normal_and_exponential_have_their_moments() {
        let mut random = Random::stream(7, "normal");
        for (mean, variance) in [moments(|| random.normal()), moments(|| random.bounded_normal())] {
            assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        }
        let (mean, variance) = moments(|| random.exponential());
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
