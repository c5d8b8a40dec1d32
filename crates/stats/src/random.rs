//! Seeded random numbers. The way from random bits to an index is written out here, so that the same seed gives the
//! same resamples whatever version of a random-number crate is linked.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const LOW_HALF: u64 = u32::MAX as u64;

/// A stream of random indices.
pub(crate) struct Indices {
    generator: ChaCha8Rng,
}

impl Indices {
    /// The stream that belongs to `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self { generator: ChaCha8Rng::from_seed(key) }
    }

    /// Replaces the content of `target` by as many values drawn from `samples` with replacement.
    ///
    /// An index is the high half of a 32 × 32-bit product, two of them from one 64-bit number, low half first. Its bias is below n / 2³² for n samples, which no resample can show.
    pub(crate) fn resample(&mut self, samples: &[f64], target: &mut Vec<f64>) {
        target.clear();
        let bound = samples.len() as u64;
        let index = |half: u64| ((half * bound) >> 32) as usize;
        for _ in 0..bound / 2 {
            let drawn = self.generator.next_u64();
            target.extend(samples.get(index(drawn & LOW_HALF)));
            target.extend(samples.get(index(drawn >> 32)));
        }
        if bound % 2 == 1 {
            let drawn = self.generator.next_u64();
            target.extend(samples.get(index(drawn & LOW_HALF)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned() {
        // These numbers are part of what a record's seed promises: they must never change.
        let mut indices = Indices::new(42);
        let mut drawn = Vec::new();
        let values: Vec<f64> = (0..9).map(f64::from).collect();
        indices.resample(&values, &mut drawn);
        assert_eq!(drawn, [0.0, 3.0, 0.0, 2.0, 3.0, 4.0, 5.0, 3.0, 5.0]);
        indices.resample(&[], &mut drawn);
        assert!(drawn.is_empty());
    }

    #[test]
    fn resamples_are_drawn_from_both_halves() {
        let mut generator = Indices::new(5).generator;
        let values = [0.0, 1.0, 2.0, 3.0];
        let mut expected = Vec::new();
        for _ in 0..2 {
            let drawn = generator.next_u64();
            // The top two bits of each half.
            expected.extend([values[((drawn >> 30) & 3) as usize], values[(drawn >> 62) as usize]]);
        }
        let mut drawn = Vec::new();
        Indices::new(5).resample(&values, &mut drawn);
        assert_eq!(drawn, expected);
    }
}
