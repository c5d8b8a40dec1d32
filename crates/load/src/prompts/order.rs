//! The order in which prompts are asked. A request finds its place in it by its number alone, so that threads need
//! not share anything.

use assay_random::Random;

/// Rounds of the scrambling: with four the order passes for random.
const ROUNDS: u64 = 4;

/// An order of `count` things that begins again when all have had their turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    count: u64,
    seed: u64,
}

impl Order {
    /// A random order, another one in every round.
    pub(super) fn shuffled(count: u64, seed: u64) -> Self {
        Self { count, seed }
    }

    /// The same kind of order for another number of things.
    pub(super) fn of(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Which of the things is the turn of `index`.
    pub(super) fn place(self, index: u64) -> u64 {
        let (round, mut place) = (index / self.count, index % self.count);
        // A Feistel network permutes all numbers of an even number of bits; walking on while the number is none of
        // ours leaves a permutation of ours. The domain is less than four times as large, so the walk is short.
        let half = (64 - (self.count - 1).leading_zeros()).div_ceil(2).max(1);
        let mask = (1_u64 << half) - 1;
        loop {
            let (mut left, mut right) = (place >> half, place & mask);
            for step in 0..ROUNDS {
                let key = round.wrapping_mul(ROUNDS).wrapping_add(step);
                let scrambled =
                    Random::item(self.seed ^ key.rotate_left(32), "order", right).next_u64() & mask;
                (left, right) = (right, left ^ scrambled);
            }
            place = left << half | right;
            if place < self.count {
                return place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_round_is_a_permutation(count in 1_u64..300, seed: u64, round in 0_u64..1000) {
            let order = Order::shuffled(count, seed);
            let mut places: Vec<u64> = (0..count).map(|index| order.place(round * count + index)).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn first_places_are_spread_evenly() {
        let mut seen = [0; 10];
        for seed in 0..5000 {
            seen[Order::shuffled(10, seed).place(0) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (400..600).contains(count)), "{seen:?}");
    }
}
