//! What the machine can do: the peak of its arithmetic and the bandwidth of its memory, measured with the instruction set in use.
//!
//! Both functions return samples of short pieces, so that the caller can show a median with a range and see how steady
//! the machine is. Neither takes more than about two seconds, also on a slow or busy machine.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::dispatch::{Instructions, Isa, dispatch, isa};
use crate::threads::{Chunks, Threads};

/// The number of samples that are taken if there is time.
const SAMPLES: usize = 50;
/// After this time no further sample is begun.
const TIME_LIMIT: Duration = Duration::from_millis(1500);
/// How long one sample of the arithmetic takes, nearly.
const PIECE: Duration = Duration::from_millis(10);
/// Floats in each of the three arrays of the triad: 64 MiB, to be larger than the caches.
const ARRAY: usize = 16 << 20;

/// Chains of dependent multiply-adds that run side by side: enough to hide the latency of the instruction (4 cycles,
/// 2 a cycle, with reserve), few enough for 16 registers.
const CHAINS: usize = 12;

/// Does `steps` steps of multiply-adds in registers and returns the number of floating-point operations, a multiply-add
/// counted as two.
fn multiply_add(steps: usize) -> u64 {
    match isa() {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "the call needs instructions that were found at run time")]
        // SAFETY: an instruction set is only ever in use after its features were detected on this machine.
        Isa::Avx512 => unsafe { multiply_add_avx512(steps) },
        _ => multiply_add_loops(steps),
    }
}

/// Written out, because the compiler keeps arrays of this size in memory: a fiftieth of the speed.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn multiply_add_avx512(steps: usize) -> u64 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};

    let factor = _mm512_set1_ps(std::hint::black_box(0.5));
    let term = _mm512_set1_ps(std::hint::black_box(0.5));
    let mut chains = [_mm512_set1_ps(std::hint::black_box(1.0)); CHAINS];
    for _ in 0..steps {
        for chain in &mut chains {
            *chain = _mm512_fmadd_ps(*chain, factor, term);
        }
    }
    std::hint::black_box(chains);
    (steps * CHAINS * 16 * 2) as u64
}

dispatch! {
    fn multiply_add_loops<I>(steps: usize) -> u64 {
        const LANES: usize = <I as Instructions>::LANES;
        // Values the compiler cannot see through; the fixed point of x -> x/2 + 1/2 is 1, so nothing overflows and
        // nothing becomes subnormal.
        let factor = std::hint::black_box([0.5_f32; LANES]);
        let term = std::hint::black_box([0.5_f32; LANES]);
        let mut chains = std::hint::black_box([[1.0_f32; LANES]; CHAINS]);
        for _ in 0..steps {
            for chain in &mut chains {
                for lane in 0..LANES {
                    chain[lane] = I::mul_add(chain[lane], factor[lane], term[lane]);
                }
            }
        }
        std::hint::black_box(chains);
        (steps * CHAINS * LANES * 2) as u64
    }
}

/// Samples of the floating-point operations per second that all threads together reach with multiply-adds on data in
/// registers. On the plain instruction set a multiply-add is two instructions.
pub fn fma_peak(threads: &Threads) -> Vec<f64> {
    /// More pieces than threads, so that a thread that starts late costs little.
    const TASKS_PER_THREAD: usize = 4;
    let steps = steps_for(PIECE / TASKS_PER_THREAD as u32);
    let tasks = threads.count() * TASKS_PER_THREAD;
    sample(|| {
        let operations = AtomicU64::new(0);
        threads.run(tasks, |_| {
            operations.fetch_add(multiply_add(steps), Relaxed);
        });
        operations.into_inner()
    })
}

/// Samples of the bytes per second that all threads together move in `x = y + factor * z` on arrays larger than the
/// caches. Counted are the three streams of the formula, not the reading of `x` into the cache before it is written.
pub fn triad(threads: &Threads) -> Vec<f64> {
    let share = threads.items_per_task(ARRAY, 1 << 16);
    let mut x = vec![0.0_f32; ARRAY];
    let mut y = vec![0.0_f32; ARRAY];
    let mut z = vec![0.0_f32; ARRAY];
    // The first write decides where pages lie, so it is done by the threads that will use them.
    let parts = (Chunks::new(&mut x, share), Chunks::new(&mut y, share), Chunks::new(&mut z, share));
    threads.run_parts(parts, |_, (x, y, z)| {
        x.fill(1.0);
        y.fill(2.0);
        z.fill(3.0);
    });
    let bytes = (3 * ARRAY * size_of::<f32>()) as u64;
    sample(|| {
        threads.run_parts(Chunks::new(&mut x, share), |index, x| {
            let first = index * share;
            let range = first..first + x.len();
            add_scaled(x, &y[range.clone()], std::hint::black_box(0.5), &z[range]);
        });
        bytes
    })
}

dispatch! {
    /// One piece of the triad.
    fn add_scaled<I>(x: &mut [f32], y: &[f32], factor: f32, z: &[f32]) {
        for ((x, &y), &z) in x.iter_mut().zip(y).zip(z) {
            *x = I::mul_add(factor, z, y);
        }
    }
}

/// How many steps of [`multiply_add`] take about as long as asked for, on one thread.
fn steps_for(time: Duration) -> usize {
    let mut steps = 1000;
    loop {
        let begin = Instant::now();
        multiply_add(steps);
        if begin.elapsed() >= time / 2 {
            return steps;
        }
        steps *= 2;
    }
}

/// Rates of a piece of work that says how much it did. The first piece warms up and does not count.
fn sample(mut work: impl FnMut() -> u64) -> Vec<f64> {
    work();
    let begin = Instant::now();
    let mut rates = Vec::with_capacity(SAMPLES);
    while rates.len() < SAMPLES && (rates.is_empty() || begin.elapsed() < TIME_LIMIT) {
        let piece = Instant::now();
        let amount = work();
        rates.push(amount as f64 / piece.elapsed().as_secs_f64());
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::with_isa;

    #[test]
    fn operations_are_counted_for_every_instruction_set() {
        for isa in Isa::available() {
            let operations = with_isa(isa, || multiply_add(10));
            assert!(operations > 0 && operations.is_multiple_of(10 * 2 * CHAINS as u64));
        }
    }

    #[test]
    fn rates_are_positive_and_soon_there() {
        let threads = Threads::new(2);
        for rates in [fma_peak(&threads), triad(&threads)] {
            assert!(!rates.is_empty() && rates.iter().all(|rate| rate.is_finite() && *rate > 1e6));
        }
    }
}
