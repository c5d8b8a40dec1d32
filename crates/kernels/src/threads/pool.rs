//! The workers, and the protocol by which they share the tasks of one piece of work.
//!
//! All coordination is in one word, the ticket: the number of the piece of work in the upper half, the tasks not yet
//! handed out in the lower. A thread takes a task by lowering the lower half in a compare-and-swap, which fails if
//! meanwhile another piece of work has begun. So a worker that comes late can never take part in the wrong one, and
//! the caller need not wait for workers that got no task.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::dispatch::{Isa, force, isa};

/// How long a thread looks for work, or for the end of it, before it goes to sleep. Waking a sleeping thread costs
/// about as much.
const SPIN: Duration = Duration::from_micros(50);

/// The number of tasks that fit into the lower half of a ticket.
const MOST_TASKS: u64 = u32::MAX as u64;

/// One piece of work. It lives on the stack of the caller, who stays until all tasks are done.
struct PoolJob<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    tasks: usize,
    isa: Isa,
}

/// Keeps what is written often by different threads in different cache lines (two, as they are fetched in pairs).
#[repr(align(128))]
#[derive(Default)]
struct CacheLine<T>(T);

/// What callers and workers share.
#[derive(Default)]
struct Shared {
    ticket: CacheLine<AtomicU64>,
    /// Tasks of the present piece of work that are done.
    done: CacheLine<AtomicUsize>,
    job: AtomicPtr<()>,
    /// The first panic of the present piece of work; the flag says that there is one without taking the lock.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    panicked: AtomicBool,
    /// Whether the pool is being dropped, and the place where idle workers sleep.
    closing: AtomicBool,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    morning: Condvar,
    /// Whether the caller sleeps until the last task is done, and where.
    caller_sleeps: AtomicBool,
    finish: Mutex<()>,
    finished: Condvar,
}

thread_local! {
    /// Whether this thread is inside a task, where another fork would wait for itself.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Worker threads that wait for work.
pub(super) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Held by the caller whose work is being done.
    entry: Mutex<()>,
    spin: Duration,
}

impl Pool {
    /// Starts as many of `workers` threads as the system allows.
    pub(super) fn start(workers: usize) -> Self {
        let shared = Arc::new(Shared::default());
        // A thread that spins while others wait for its core only delays them.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = if workers < cores { SPIN } else { Duration::ZERO };
        let workers = (1..=workers)
            .map_while(|number| {
                let shared = Arc::clone(&shared);
                std::thread::Builder::new()
                    .name(format!("kernels-{number}"))
                    .spawn(move || shared.serve(spin))
                    .ok()
            })
            .collect();
        Self { shared, workers, entry: Mutex::default(), spin }
    }

    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    pub(super) fn run(&self, tasks: usize, work: &(dyn Fn(usize) + Sync)) {
        if INSIDE.get() {
            return (0..tasks).for_each(work);
        }
        assert!(tasks as u64 <= MOST_TASKS, "too many tasks: {tasks}");
        let _entry = lock(&self.entry);
        let job = PoolJob { work, tasks, isa: isa() };
        self.shared.publish(&job, self.workers.len());
        INSIDE.set(true);
        self.shared.work(self.shared.ticket.0.load(Acquire));
        INSIDE.set(false);
        self.shared.wait(tasks, self.spin);
        if self.shared.panicked.swap(false, Relaxed)
            && let Some(panic) = lock(&self.shared.panic).take()
        {
            resume_unwind(panic);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.closing.store(true, SeqCst);
        drop(lock(&self.shared.bed));
        self.shared.morning.notify_all();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of tasks, so it cannot end by one; and drop must not panic itself.
            let _ended = worker.join();
        }
    }
}

impl Shared {
    /// Makes a piece of work known and wakes as many sleepers as it can use.
    fn publish(&self, job: &PoolJob<'_>, workers: usize) {
        self.done.0.store(0, Relaxed);
        self.job.store(std::ptr::from_ref(job).cast_mut().cast(), Relaxed);
        let number = (self.ticket.0.load(Relaxed) >> 32).wrapping_add(1) << 32;
        self.ticket.0.store(number | job.tasks as u64, SeqCst);
        if self.sleepers.load(SeqCst) > 0 {
            drop(lock(&self.bed));
            if job.tasks > workers {
                self.morning.notify_all();
            } else {
                (1..job.tasks).for_each(|_| self.morning.notify_one());
            }
        }
    }

    /// Does tasks of the piece of work that `ticket` belongs to until none is left, and adds them to the count.
    fn work(&self, mut ticket: u64) {
        let number = ticket >> 32;
        let mut completed = 0;
        let mut tasks = 0;
        while ticket >> 32 == number && ticket & MOST_TASKS > 0 {
            let job = self.job.load(Relaxed).cast::<PoolJob<'_>>();
            match self.ticket.0.compare_exchange_weak(ticket, ticket - 1, SeqCst, Acquire) {
                Ok(_) => {
                    // SAFETY: the swap succeeded, so the piece of work of this ticket was the present one and `job`
                    // was read while it was. Its caller waits until the task taken here is counted as done.
                    let job = unsafe { &*job };
                    tasks = job.tasks;
                    self.perform(job, tasks - (ticket & MOST_TASKS) as usize);
                    completed += 1;
                    ticket = self.ticket.0.load(Acquire);
                }
                Err(other) => ticket = other,
            }
        }
        if completed > 0 && self.done.0.fetch_add(completed, SeqCst) + completed == tasks {
            // From here on the caller may return, so the job must not be touched any more.
            if self.caller_sleeps.load(SeqCst) {
                drop(lock(&self.finish));
                self.finished.notify_one();
            }
        }
    }

    /// Does one task, or drops it if another has panicked.
    fn perform(&self, job: &PoolJob<'_>, task: usize) {
        if self.panicked.load(Relaxed) {
            return;
        }
        let work = AssertUnwindSafe(|| {
            force(job.isa, || (job.work)(task));
        });
        if let Err(panic) = catch_unwind(work) {
            lock(&self.panic).get_or_insert(panic);
            self.panicked.store(true, Relaxed);
        }
    }

    /// Waits until all tasks are done.
    fn wait(&self, tasks: usize, spin: Duration) {
        if spin_until(spin, || self.done.0.load(Acquire) == tasks) {
            return;
        }
        self.caller_sleeps.store(true, SeqCst);
        let mut guard = lock(&self.finish);
        while self.done.0.load(SeqCst) != tasks {
            guard = self.finished.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.caller_sleeps.store(false, SeqCst);
    }

    /// The life of a worker: look for work, do it, sleep when there has been none for a while.
    fn serve(&self, spin: Duration) {
        INSIDE.set(true);
        let open = |ticket: u64| ticket & MOST_TASKS > 0;
        loop {
            let news = || open(self.ticket.0.load(Acquire)) || self.closing.load(Relaxed);
            if !spin_until(spin, news) {
                let guard = lock(&self.bed);
                self.sleepers.fetch_add(1, SeqCst);
                let asleep = !open(self.ticket.0.load(SeqCst)) && !self.closing.load(SeqCst);
                if asleep {
                    drop(self.morning.wait(guard).unwrap_or_else(PoisonError::into_inner));
                }
                self.sleepers.fetch_sub(1, SeqCst);
            }
            if self.closing.load(SeqCst) {
                return;
            }
            self.work(self.ticket.0.load(Acquire));
        }
    }
}

/// Looks at a condition until it holds or the time is up; says whether it held.
fn spin_until(limit: Duration, condition: impl Fn() -> bool) -> bool {
    const LOOKS_PER_CLOCK: u32 = 64;
    let mut begin = None;
    loop {
        for _ in 0..LOOKS_PER_CLOCK {
            if condition() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.get_or_insert_with(Instant::now).elapsed() >= limit {
            return false;
        }
    }
}

/// A lock whose data cannot be left broken by a panic, as nothing that panics runs while it is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
