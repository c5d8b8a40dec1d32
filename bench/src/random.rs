//! A small generator: the same seed gives the same bench everywhere.

/// The generator of all rooms, with the draws that only the benches need.
#[derive(Debug, Clone)]
pub struct Random(assay_random::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(assay_random::Random::new(seed))
    }

    pub fn next_number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A share from 0 up to, but not including, 1.
    pub fn share(&mut self) -> f64 {
        self.0.unit()
    }

    /// An integer below a bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.next_number().checked_rem(bound as u64).unwrap_or(0) as usize
    }

    /// A number from a lower bound up to, but not including, an upper one.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// One of some values, which are listed where they are used.
    pub fn pick<T: Copy, const N: usize>(&mut self, values: [T; N]) -> T {
        const { assert!(N > 0, "there must be something to pick from") };
        values[self.below(N)]
    }

    /// Puts values in another order, every order alike likely.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    /// An integer from 1 to a bound, every order of magnitude alike likely.
    pub fn magnitude(&mut self, most: u32) -> u32 {
        f64::from(most.max(1)).powf(self.share()).floor() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_stay_in_their_bounds(seed: u64, bound in 1..10_000_u32) {
            let mut random = Random::new(seed);
            prop_assert!((0.0..1.0).contains(&random.share()));
            prop_assert!(random.below(bound as usize) < bound as usize);
            prop_assert!((1..=bound).contains(&random.magnitude(bound)));
            prop_assert!((-2.0..3.0).contains(&random.between(-2.0, 3.0)));
            prop_assert!([5, 6, 7].contains(&random.pick([5, 6, 7])));
        }

        #[test]
        fn a_shuffle_keeps_all(seed: u64, length in 0..40_usize) {
            let mut values: Vec<usize> = (0..length).collect();
            Random::new(seed).shuffle(&mut values);
            values.sort_unstable();
            prop_assert_eq!(values, (0..length).collect::<Vec<_>>());
        }
    }
}
