//! A pool of threads for many short pieces of work: fork, join, and nothing in between.
//!
//! A training step forks and joins hundreds of times, often for a few microseconds of work. Workers therefore spin
//! for some tens of microseconds after a piece of work before they go to sleep, so that the next piece starts at
//! once and an idle pool costs nothing. Tasks are numbered and handed out by a counter: the first free thread takes
//! the next, so a core that is slow for a moment does not hold up the others. What a task computes depends on its
//! number only, never on the thread that ran it, which keeps results the same from run to run.
//!
//! The caller takes part and waits for the tasks, not for the workers: a worker that does not get a core in time is
//! simply not needed, and more threads than cores cost little.

#![expect(unsafe_code, reason = "borrowed closures and disjoint parts of buffers cross threads")]

mod parts;
mod pool;

use std::sync::{Mutex, PoisonError};

pub use parts::{Chunks, Parts};
use pool::Pool;

use crate::matmul::Workspace;

/// A pool of threads. The caller of [`Threads::run`] is one of them.
pub struct Threads {
    /// Absent for one thread.
    pool: Option<Pool>,
    count: usize,
    /// Buffers that no product uses at the moment.
    workspaces: Mutex<Vec<Workspace>>,
}

impl Threads {
    /// A pool of `count` threads, the caller included: `new(1)` and `new(0)` start none. If the system refuses to
    /// start that many, the pool has as many as could be started; see [`Threads::count`].
    pub fn new(count: usize) -> Self {
        let pool = (count > 1).then(|| Pool::start(count - 1));
        Self { count: 1 + pool.as_ref().map_or(0, Pool::workers), pool, workspaces: Mutex::default() }
    }

    /// The number of threads, the caller included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `work(task)` once for every task below `tasks`, on all threads, and returns when all are done. A panic in
    /// a task reaches the caller after the tasks under way have ended; tasks not yet begun are then dropped.
    ///
    /// Called from inside a task, it runs its tasks one after another on that thread.
    pub fn run(&self, tasks: usize, work: impl Fn(usize) + Sync) {
        match &self.pool {
            Some(pool) if tasks > 1 => pool.run(tasks, &work),
            _ => (0..tasks).for_each(work),
        }
    }

    /// Calls `work(index, part)` once for every part of the given buffers, on all threads. Several buffers go as a
    /// tuple and are split into the same number of parts:
    ///
    /// ```
    /// use assay_kernels::threads::{Chunks, Threads};
    /// let threads = Threads::new(2);
    /// let (mut squares, mut sums) = (vec![0.0; 40], vec![0.0; 4]);
    /// let parts = (Chunks::new(&mut squares, 10), Chunks::new(&mut sums, 1));
    /// threads.run_parts(parts, |index, (squares, sum)| {
    ///     squares.fill(index as f32 * index as f32);
    ///     sum[0] = squares.iter().sum();
    /// });
    /// assert_eq!(sums, [0.0, 10.0, 40.0, 90.0]);
    /// ```
    pub fn run_parts<P: Parts>(&self, parts: P, work: impl Fn(usize, P::Part) + Sync) {
        self.run(parts.count(), |index| {
            // SAFETY: `run` passes every index below the count once, so no part is handed out twice.
            work(index, unsafe { parts.part(index) });
        });
    }

    /// A good number of `items` for one task: some tasks for every thread, so that a slow core does not hold up the
    /// others, but at least `least` items each (the last task may have fewer). It depends on the arguments and the
    /// thread count only, so a partition made by it is always the same. Never zero.
    pub fn items_per_task(&self, items: usize, least: usize) -> usize {
        const TASKS_PER_THREAD: usize = 4;
        let tasks = if self.count == 1 { 1 } else { self.count * TASKS_PER_THREAD };
        items.div_ceil(tasks).max(least).max(1)
    }

    /// Lends buffers of the matrix product to `action` and keeps them for the next call. Callers that come at the same
    /// time get buffers of their own, so none waits for another.
    pub(crate) fn with_workspace(&self, action: impl FnOnce(&mut Workspace)) {
        let lock = || self.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        let mut workspace = lock().pop().unwrap_or_default();
        action(&mut workspace);
        lock().push(workspace);
    }
}

impl std::fmt::Debug for Threads {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Threads").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
