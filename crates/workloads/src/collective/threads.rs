//! Ranks that are threads of this process, with memory that all of them see.
//!
//! A mean is taken as networks do it: every rank hands in its numbers, each rank adds up one share of them, and all
//! ranks collect all shares. Nobody waits in the middle of a sum, and each number is added up once.

use std::sync::{Arc, Barrier, Mutex, PoisonError, RwLock};

use super::Collective;

/// What all ranks see.
struct Board {
    barrier: Barrier,
    /// What each rank handed in.
    given: Vec<RwLock<Vec<f32>>>,
    /// The share of the means that each rank computed.
    shares: Vec<RwLock<Vec<f32>>>,
    /// One number of each rank.
    numbers: Mutex<Vec<f64>>,
}

/// One of several ranks.
struct Member {
    rank: usize,
    board: Arc<Board>,
}

/// A team of this many ranks, each to be moved to a thread of its own. A rank that never calls what the others call keeps
/// them waiting.
pub fn team(size: usize) -> Vec<Box<dyn Collective>> {
    let slots = || (0..size).map(|_| RwLock::default()).collect();
    let board = Arc::new(Board {
        barrier: Barrier::new(size),
        given: slots(),
        shares: slots(),
        numbers: Mutex::new(vec![0.0; size]),
    });
    let member = |rank| Box::new(Member { rank, board: Arc::clone(&board) }) as Box<dyn Collective>;
    (0..size).map(member).collect()
}

impl Member {
    /// The numbers of all ranks, in their order.
    fn gather(&self, number: f64) -> Vec<f64> {
        self.board.numbers.lock().unwrap_or_else(PoisonError::into_inner)[self.rank] = number;
        self.board.barrier.wait();
        let all = self.board.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Nobody may put in the next number before all have read this one.
        self.board.barrier.wait();
        all
    }
}

impl Collective for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.board.given.len()
    }

    fn mean(&mut self, values: &mut [f32]) {
        let Board { barrier, given, shares, .. } = &*self.board;
        let share = values.len().div_ceil(given.len()).max(1);
        set(&given[self.rank], values);
        barrier.wait();
        let begin = (self.rank * share).min(values.len());
        let end = (begin + share).min(values.len());
        sum(given, begin, &mut values[begin..end]);
        set(&shares[self.rank], &values[begin..end]);
        barrier.wait();
        for (values, share) in values.chunks_mut(share).zip(shares) {
            values.copy_from_slice(&share.read().unwrap_or_else(PoisonError::into_inner));
        }
        // What was handed in is written again only by a rank that has passed the first barrier of its next mean, and
        // shares only after it; by then all have read them.
    }

    fn mean_number(&mut self, number: f64) -> f64 {
        self.gather(number).iter().sum::<f64>() / self.size() as f64
    }

    fn any(&mut self, yes: bool) -> bool {
        self.gather(f64::from(u8::from(yes))).iter().any(|number| *number > 0.0)
    }
}

fn set(slot: &RwLock<Vec<f32>>, values: &[f32]) {
    let mut slot = slot.write().unwrap_or_else(PoisonError::into_inner);
    slot.clear();
    slot.extend_from_slice(values);
}

/// Sets `means` to the means of what all ranks handed in, from the element `begin` on.
fn sum(given: &[RwLock<Vec<f32>>], begin: usize, means: &mut [f32]) {
    means.fill(0.0);
    for values in given {
        let values = values.read().unwrap_or_else(PoisonError::into_inner);
        for (mean, value) in means.iter_mut().zip(&values[begin..]) {
            *mean += value;
        }
    }
    let factor = 1.0 / given.len() as f32;
    means.iter_mut().for_each(|mean| *mean *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every rank of a team gets from `work`.
    fn all<R: Send>(size: usize, work: impl Fn(&mut dyn Collective) -> R + Sync) -> Vec<R> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = team(size)
                .into_iter()
                .map(|mut member| {
                    let work = &work;
                    scope.spawn(move || work(member.as_mut()))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn means_are_the_same_on_every_rank_for_any_length() {
        for size in 1..6 {
            for length in [0, 1, 2, 3, 7, 1000] {
                let results = all(size, |member| {
                    let mut sums = Vec::new();
                    for round in 0..20 {
                        let value = |i: usize| (i * (member.rank() + 1) + round) as f32;
                        let mut values: Vec<f32> = (0..length).map(value).collect();
                        member.mean(&mut values);
                        sums.push(values);
                    }
                    sums
                });
                let expected = |i: usize, round: usize| {
                    (0..size).map(|rank| (i * (rank + 1) + round) as f32).sum::<f32>() / size as f32
                };
                for (round, values) in results[0].iter().enumerate() {
                    for (i, value) in values.iter().enumerate() {
                        assert!((value - expected(i, round)).abs() <= 1e-6 * value.abs());
                    }
                }
                assert!(results.iter().all(|result| *result == results[0]));
            }
        }
    }

    #[test]
    fn numbers_and_answers_are_shared() {
        let results = all(3, |member| {
            let rank = member.rank();
            (member.mean_number(rank as f64), member.any(rank == 2), member.any(false), member.size())
        });
        assert!(results.iter().all(|result| *result == (1.0, true, false, 3)));
    }
}
