//! Seeded random numbers. The generator is written out here (SplitMix64), so that a seed gives the same bytes whatever
//! crates are linked.

/// A stream of random numbers that belongs to a seed.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed` for one purpose. Streams of different purposes are independent, so that the rubbish
    /// between two lines does not change the lines.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mut random = Self { state: seed };
        for byte in purpose.bytes() {
            random.state = random.next() ^ u64::from(byte);
        }
        random
    }

    /// Sixty-four random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`: the high half of a 64 × 64-bit product. Zero for a bound of zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// A number from `low` up to `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About a normal number with mean 0 and deviation 1: the sum of four uniform ones, which never lies beyond 3.5.
    /// A bound is wanted here: a sample must not hold an outlier that nobody asked for.
    pub(crate) fn normal(&mut self) -> f64 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xFFFF).sum();
        (sum as f64 / 65536.0 - 2.0) * 3.0_f64.sqrt()
    }

    /// True in `chance` of all cases.
    pub(crate) fn chance(&mut self, chance: f64) -> bool {
        self.between(0.0, 1.0) < chance
    }

    /// One of `all`; the default where there is none.
    pub(crate) fn pick<T: Copy + Default>(&mut self, all: &[T]) -> T {
        all.get(self.below(all.len() as u64) as usize).copied().unwrap_or_default()
    }

    /// Brings `all` into a random order.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// A stream for a part of the whole, for example one of several runs.
    pub(crate) fn fork(&mut self) -> Self {
        Self { state: self.next() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned() {
        // Replayed campaigns name a sample by its seed, so these numbers must never change.
        let drawn = |purpose: &str| -> Vec<u64> {
            let mut random = Random::new(42, purpose);
            (0..4).map(|_| random.below(1000)).collect()
        };
        assert_eq!(drawn("log"), [933, 993, 516, 390]);
        assert_eq!(drawn("rubbish"), [464, 66, 82, 592]);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = Random::new(1, "");
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..10_000 {
            assert!((3..=5).contains(&random.whole(3, 5)));
            assert!((1.5..2.5).contains(&random.between(1.5, 2.5)));
            let normal = random.normal();
            assert!(normal.abs() < 3.5);
            sum += normal;
            squares += normal * normal;
        }
        assert!((sum / 1e4).abs() < 0.05);
        assert!((squares / 1e4 - 1.0).abs() < 0.05);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.pick::<u8>(&[]), 0);
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut all: Vec<u32> = (0..50).collect();
        Random::new(9, "").shuffle(&mut all);
        assert_ne!(all, (0..50).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
    }
}
