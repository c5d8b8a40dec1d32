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

    /// A uniform index below `bound`: the high half of a 64 × 64-bit product. Its bias is below bound / 2⁶⁴, which no
    /// resample can show. A bound of zero gives zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.generator.next_u64()) * bound as u128;
        (product >> 64) as usize
    }

    /// Replaces the content of `target` by as many values drawn from `samples` with replacement.
    pub(crate) fn resample(&mut self, samples: &[f64], target: &mut Vec<f64>) {
        target.clear();
        for _ in samples {
            let index = self.below(samples.len());
            target.extend(samples.get(index));
        }
    }

    /// Draws as many indices as there are counts, with replacement, and replaces each count by how often its index
    /// was drawn.
    ///
    /// An index is the high half of a 32 × 32-bit product, two of them from one 64-bit number, low half first: half
    /// the random bits of [`Indices::below`]. Its bias is below n / 2³² for n counts, which no resample can show.
    pub(crate) fn count_resample(&mut self, counts: &mut [u32]) {
        counts.fill(0);
        let bound = counts.len() as u64;
        let mut add = |half: u64| {
            if let Some(count) = counts.get_mut(((half * bound) >> 32) as usize) {
                *count += 1;
            }
        };
        for _ in 0..bound / 2 {
            let drawn = self.generator.next_u64();
            add(drawn & LOW_HALF);
            add(drawn >> 32);
        }
        if bound % 2 == 1 {
            add(self.generator.next_u64() & LOW_HALF);
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
        let drawn: Vec<usize> = (0..8).map(|_| indices.below(1000)).collect();
        assert_eq!(drawn, [348, 285, 493, 367, 825, 67, 489, 266]);
        let mut indices = Indices::new(42);
        let mut counts = [0; 9];
        indices.count_resample(&mut counts);
        assert_eq!(counts, [2, 0, 1, 3, 1, 2, 0, 0, 0]);
        indices.count_resample(&mut counts);
        assert_eq!(counts, [2, 1, 3, 0, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn counts_are_drawn_from_both_halves() {
        let mut generator = Indices::new(5).generator;
        let mut expected = [0; 4];
        for _ in 0..2 {
            let drawn = generator.next_u64();
            // The top two bits of each half.
            expected[((drawn >> 30) & 3) as usize] += 1;
            expected[(drawn >> 62) as usize] += 1;
        }
        let mut counts = [7; 4];
        Indices::new(5).count_resample(&mut counts);
        assert_eq!(counts, expected);
        Indices::new(5).count_resample(&mut []);
    }

    #[test]
    fn indices_stay_below_the_bound() {
        let mut indices = Indices::new(7);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[indices.below(5)] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(indices.below(0), 0);
    }
}
