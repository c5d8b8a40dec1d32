//! In which order runs go, and how long they will take.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::Plan;
use crate::campaign::OrderBy;

/// How many runs there will be and how long they will take.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct TimeEstimate {
    /// Runs that are certain.
    pub runs_at_least: u64,
    /// Runs if every cell needs all the repeats it may have.
    pub runs_at_most: u64,
    /// Seconds for the runs that are certain, over the cells whose time is known; none where none is.
    pub seconds_at_least: Option<f64>,
    /// Seconds for all the runs there may be, cut off by the budget.
    pub seconds_at_most: Option<f64>,
    /// Cells whose time is not known.
    pub cells_unknown: usize,
}

/// The seed that follows from a plan's hash. 48 bits, so that every tool that reads JSON reads it exactly.
pub(super) fn default_seed(hash: &str) -> u64 {
    hash.get(..12).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

impl Plan {
    /// The cells in the order of a round, counted from 1. Every cell comes once; one that is run less often than the
    /// others is left out once it has had its repeats, and the rest stay in their order. With the order `cells` all
    /// rounds are alike but for that, and all repeats of a cell are run before the next cell.
    pub fn round(&self, round: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        if self.order.shuffle {
            let stream = match self.order.by {
                OrderBy::Rounds => round,
                OrderBy::Cells => 1,
            };
            shuffle(&mut order, self.seed, stream);
        }
        order.retain(|cell| self.fewer_of(*cell).is_none_or(|repeats| round <= repeats));
        order
    }

    /// The runs that are certain, in the order in which they go: cell and repeat.
    pub fn sequence(&self) -> Vec<(usize, u32)> {
        match self.order.by {
            OrderBy::Rounds => (1..=self.repeats.at_least)
                .flat_map(|round| self.round(round).into_iter().map(move |cell| (cell, round)))
                .collect(),
            OrderBy::Cells => {
                let cells = self.round(1).into_iter();
                cells.flat_map(|cell| (1..=self.least_of(cell)).map(move |repeat| (cell, repeat))).collect()
            }
        }
    }

    /// How many runs there will be and how long they will take with `jobs` at once.
    pub fn estimate(&self, jobs: usize) -> TimeEstimate {
        let cells = 0..self.cells.len();
        let known: Vec<(usize, f64)> =
            cells.clone().filter_map(|cell| Some((cell, self.expected_s(cell)?))).collect();
        let jobs = jobs.max(1) as f64;
        let longest = known.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
        let seconds = |repeats: &dyn Fn(usize) -> u32| {
            let total: f64 = known.iter().map(|(cell, seconds)| seconds * f64::from(repeats(*cell))).sum();
            // However many go at once, the longest run takes as long as it takes.
            (!known.is_empty()).then_some((total / jobs).max(longest))
        };
        let at_least = seconds(&|cell| self.least_of(cell));
        let at_most = seconds(&|cell| self.most_of(cell));
        let bounded = match (at_least, at_most, self.repeats.budget_s) {
            (Some(least), Some(most), Some(budget)) => Some(most.min(budget).max(least)),
            _ => at_most,
        };
        TimeEstimate {
            runs_at_least: cells.clone().map(|cell| u64::from(self.least_of(cell))).sum(),
            runs_at_most: cells.map(|cell| u64::from(self.most_of(cell))).sum(),
            seconds_at_least: at_least,
            seconds_at_most: bounded,
            cells_unknown: self.cells.len() - known.len(),
        }
    }
}

/// Shuffles by Fisher and Yates. Key, stream and draws are spelled out here, so that a seed in a record gives the
/// same order on every machine and with every later version of the libraries.
fn shuffle(order: &mut [usize], seed: u64, round: u32) {
    let mut key = [0_u8; 32];
    for (place, byte) in key.iter_mut().zip(seed.to_le_bytes().into_iter().chain(round.to_le_bytes())) {
        *place = byte;
    }
    let mut random = ChaCha8Rng::from_seed(key);
    for last in (1..order.len()).rev() {
        let chosen = below(&mut random, last as u64 + 1) as usize;
        order.swap(last, chosen);
    }
}

/// A number below `bound`, each equally likely (Lemire 2019, "Fast random integer generation in an interval").
fn below(random: &mut ChaCha8Rng, bound: u64) -> u64 {
    loop {
        let product = u128::from(random.next_u64()) * u128::from(bound);
        let low = product as u64;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_a_seed_never_changes() {
        let order = |seed, round| {
            let mut order: Vec<usize> = (0..8).collect();
            shuffle(&mut order, seed, round);
            order
        };
        assert_eq!(order(42, 1), GOLDEN);
        assert_eq!(order(42, 1), order(42, 1));
        assert_ne!(order(42, 1), order(42, 2));
        assert_ne!(order(42, 1), order(43, 1));
    }

    /// Written down once; a change here would reorder every recorded campaign.
    const GOLDEN: [usize; 8] = [6, 0, 5, 3, 7, 2, 1, 4];

    #[test]
    fn draws_are_even() {
        let mut random = ChaCha8Rng::from_seed([7; 32]);
        let mut counts = [0_u32; 5];
        for _ in 0..50_000 {
            counts[below(&mut random, 5) as usize] += 1;
        }
        // Each count is binomial with mean 10,000 and deviation 89.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 450), "{counts:?}");
    }
}
