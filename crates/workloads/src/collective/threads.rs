//! Ranks that are threads of this process, with memory that all of them see.
//!
//! A mean is taken as networks do it: every rank hands in its numbers, each rank adds up one share of them, and all
//! ranks collect all shares. A share is added up as soon as all ranks have handed in the tensor, by whichever call of its
//! rank comes next, so that sums are taken while other gradients are still computed. Sums are taken in the order of the
//! ranks.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, PoisonError, RwLock};

use super::Collective;

/// Numbers that are added up or copied under one lock: few enough for the nearest cache.
const PIECE: usize = 2048;

/// What all ranks see.
struct Board {
    barrier: Barrier,
    /// Tensors under way, by their number.
    tensors: Mutex<BTreeMap<u64, Arc<Tensor>>>,
    /// Some tensor came a stage further.
    advanced: Condvar,
    /// One number of each rank.
    numbers: Mutex<Vec<f64>>,
}

/// A tensor under way.
struct Tensor {
    /// What each rank handed in. From the second stage on, the share of a rank in its own part is the mean; only that
    /// rank has read the same share of the others.
    parts: Vec<RwLock<Vec<f32>>>,
    /// How many ranks have handed it in, added up their share, and collected the shares of the others.
    given: AtomicUsize,
    summed: AtomicUsize,
    collected: AtomicUsize,
}

/// One of several ranks.
struct Member {
    rank: usize,
    size: usize,
    board: Arc<Board>,
    /// Tensors that it has handed in so far.
    begun: u64,
    open: VecDeque<OpenTensor>,
}

/// A tensor that a rank has handed in and not taken back.
struct OpenTensor {
    number: u64,
    length: usize,
    tensor: Arc<Tensor>,
    is_summed: bool,
    is_collected: bool,
}

/// A team of this many ranks, each to be moved to a thread of its own. A rank that never calls what the others call keeps
/// them waiting.
pub fn team(size: usize) -> Vec<Box<dyn Collective + Send>> {
    let board = Arc::new(Board {
        barrier: Barrier::new(size),
        tensors: Mutex::default(),
        advanced: Condvar::new(),
        numbers: Mutex::new(vec![0.0; size]),
    });
    let member = |rank| {
        let member = Member { rank, size, board: Arc::clone(&board), begun: 0, open: VecDeque::new() };
        Box::new(member) as Box<dyn Collective + Send>
    };
    (0..size).map(member).collect()
}

impl Board {
    /// The tensor with this number; the first rank that hands it in makes it.
    fn tensor(&self, number: u64, size: usize) -> Arc<Tensor> {
        let make = || {
            Arc::new(Tensor {
                parts: (0..size).map(|_| RwLock::default()).collect(),
                given: AtomicUsize::new(0),
                summed: AtomicUsize::new(0),
                collected: AtomicUsize::new(0),
            })
        };
        let mut tensors = self.tensors.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tensors.entry(number).or_insert_with(make))
    }

    /// One more rank has come so far; the last one wakes the others.
    fn advance(&self, count: &AtomicUsize, size: usize) {
        if count.fetch_add(1, Ordering::AcqRel) + 1 == size {
            let _tensors = self.tensors.lock().unwrap_or_else(PoisonError::into_inner);
            self.advanced.notify_all();
        }
    }

    /// Waits until all ranks have come so far.
    fn wait(&self, count: &AtomicUsize, size: usize) {
        if count.load(Ordering::Acquire) == size {
            return;
        }
        let tensors = self.tensors.lock().unwrap_or_else(PoisonError::into_inner);
        let is_behind = |_: &mut BTreeMap<u64, Arc<Tensor>>| count.load(Ordering::Acquire) < size;
        drop(self.advanced.wait_while(tensors, is_behind));
    }
}

/// The part of a vector that one rank averages, by the length of the vector.
fn share(rank: usize, size: usize, length: usize) -> Range<usize> {
    let each = length.div_ceil(size).max(1);
    (rank * each).min(length)..((rank + 1) * each).min(length)
}

/// Ranges of at most `PIECE` numbers.
fn pieces(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(PIECE).map(move |start| start..(start + PIECE).min(end))
}

impl Tensor {
    /// Sets the share of a rank in its own part to the mean over all parts.
    fn sum(&self, rank: usize, length: usize) {
        let size = self.parts.len();
        let factor = 1.0 / size as f32;
        let mut means = [0.0; PIECE];
        for piece in pieces(share(rank, size, length)) {
            let means = &mut means[..piece.len()];
            means.fill(0.0);
            for part in &self.parts {
                let part = part.read().unwrap_or_else(PoisonError::into_inner);
                means.iter_mut().zip(&part[piece.clone()]).for_each(|(mean, value)| *mean += value);
            }
            means.iter_mut().for_each(|mean| *mean *= factor);
            self.parts[rank].write().unwrap_or_else(PoisonError::into_inner)[piece].copy_from_slice(means);
        }
    }

    /// Copies the shares of all other ranks into the part of this one.
    fn collect(&self, rank: usize, length: usize) {
        let size = self.parts.len();
        let mut means = [0.0; PIECE];
        for (other, part) in self.parts.iter().enumerate().filter(|(other, _)| *other != rank) {
            for piece in pieces(share(other, size, length)) {
                // Never two locks at once: the other rank may be copying from here.
                let means = &mut means[..piece.len()];
                means.copy_from_slice(&part.read().unwrap_or_else(PoisonError::into_inner)[piece.clone()]);
                self.parts[rank].write().unwrap_or_else(PoisonError::into_inner)[piece]
                    .copy_from_slice(means);
            }
        }
    }
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

    /// Adds up this rank's share of every tensor that all ranks have handed in; with `wait`, of all.
    fn add_up(&mut self, wait: bool) {
        let Member { rank, size, .. } = *self;
        for open in self.open.iter_mut().filter(|open| !open.is_summed) {
            if wait {
                self.board.wait(&open.tensor.given, size);
            } else if open.tensor.given.load(Ordering::Acquire) < size {
                // The others hand in tensors in the same order.
                return;
            }
            open.tensor.sum(rank, open.length);
            open.is_summed = true;
            self.board.advance(&open.tensor.summed, size);
        }
    }
}

impl Collective for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn begin_mean(&mut self, values: Vec<f32>) {
        let (number, size, length) = (self.begun, self.size, values.len());
        self.begun += 1;
        let tensor = self.board.tensor(number, size);
        *tensor.parts[self.rank].write().unwrap_or_else(PoisonError::into_inner) = values;
        self.board.advance(&tensor.given, size);
        self.open.push_back(OpenTensor { number, length, tensor, is_summed: false, is_collected: false });
        self.add_up(false);
    }

    fn finish_mean(&mut self) -> Vec<f32> {
        let Member { rank, size, .. } = *self;
        // All open tensors come through each stage together, so that ranks wait for each other a few times in all.
        self.add_up(true);
        for open in self.open.iter_mut().filter(|open| !open.is_collected) {
            self.board.wait(&open.tensor.summed, size);
            open.tensor.collect(rank, open.length);
            open.is_collected = true;
            self.board.advance(&open.tensor.collected, size);
        }
        let Some(OpenTensor { number, tensor, .. }) = self.open.pop_front() else { return Vec::new() };
        self.board.wait(&tensor.collected, size);
        self.board.tensors.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        std::mem::take(&mut *tensor.parts[rank].write().unwrap_or_else(PoisonError::into_inner))
    }

    fn mean_number(&mut self, number: f64) -> f64 {
        self.gather(number).iter().sum::<f64>() / self.size() as f64
    }

    fn any(&mut self, yes: bool) -> bool {
        self.gather(f64::from(u8::from(yes))).iter().any(|number| *number > 0.0)
    }
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
            for length in [0, 1, 2, 3, 7, 1000, 9001] {
                let results = all(size, |member| {
                    let mut sums = Vec::new();
                    for round in 0..20 {
                        let rank = member.rank();
                        let value = |i: usize| (i * (rank + 1) + round) as f32;
                        // Two at a time, of different lengths.
                        member.begin_mean((0..length).map(value).collect());
                        member.begin_mean((0..length / 2).map(value).collect());
                        sums.push(member.finish_mean());
                        let half = member.finish_mean();
                        assert_eq!(sums.last().unwrap()[..half.len()], half);
                    }
                    assert!(member.finish_mean().is_empty());
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
