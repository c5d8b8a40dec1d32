//! An iteration takes no memory: everything is planned and taken before the first one. Alone in its program, because every
//! thread's memory counts.

#![expect(unsafe_code, reason = "an allocator that counts")]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use assay_kernels::Threads;
use assay_model::{Settings, Value};
use assay_workloads::collective::Single;
use assay_workloads::lm::data::BatchSource;
use assay_workloads::profile::Profile;
use assay_workloads::{lm, mnist};

/// The system's allocator, and how often memory was asked for.
struct Counting(AtomicU64);

#[global_allocator]
static ALLOCATOR: Counting = Counting(AtomicU64::new(0));

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(start, layout) }
    }
}

/// How often memory was asked for by the last of several equal iterations.
fn allocations(mut iterate: impl FnMut()) -> u64 {
    iterate();
    iterate();
    let before = ALLOCATOR.0.load(Ordering::Relaxed);
    iterate();
    ALLOCATOR.0.load(Ordering::Relaxed) - before
}

fn of_lm(phase: &str, checkpointing: bool) -> u64 {
    let numbers =
        [("width", 96), ("hidden", 200), ("layers", 3), ("heads", 3), ("context", 70), ("batch_size", 2)];
    let mut settings: Settings =
        numbers.into_iter().map(|(name, number)| (name.to_owned(), Value::Integer(number))).collect();
    settings.insert("size".to_owned(), "custom".into());
    settings.insert("phase".to_owned(), phase.into());
    settings.insert("checkpointing".to_owned(), Value::Switch(checkpointing));
    let lm::LmOptions { shape, work, seed, training, .. } = lm::LmOptions::read(&settings, 2).unwrap();
    let mut model = lm::model::Model::new(Threads::new(2), &shape, &work, seed, Profile::off()).unwrap();
    let source = BatchSource::new(None, shape.vocabulary, work.context, seed, 0);
    let (mut inputs, mut targets) = (vec![0; work.tokens()], vec![0; work.tokens()]);
    allocations(|| {
        source.fill(0, &mut inputs, &mut targets);
        model.iterate(&inputs, &targets, &training, false, &mut Single::default());
    })
}

fn of_mnist() -> u64 {
    use mnist::model::{Batch, Training};
    let training = Training { learning_rate: 0.01, momentum: 0.9, dropout: 0.5, softmax: false, seed: 1 };
    let mut model = mnist::Model::new(Threads::new(2), training, 16, 16, 1, Profile::off()).unwrap();
    let (pixels, labels) = (vec![7; 16 * 784], vec![3; 16]);
    let batch = Batch { pixels: &pixels, labels: &labels, first: 0, total: 16, step: 0 };
    allocations(|| {
        model.step(&batch, false, &mut Single::default());
    })
}

#[test]
fn no_iteration_takes_memory() {
    for phase in ["forward", "forward_backward", "step"] {
        for checkpointing in [false, true] {
            assert_eq!(of_lm(phase, checkpointing), 0, "lm {phase}, checkpointing {checkpointing}");
        }
    }
    assert_eq!(of_mnist(), 0, "mnist");
}
