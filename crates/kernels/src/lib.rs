//! Fast CPU mathematics with hand-written backward passes. Knows tensors and threads, nothing of benchmarks.
//!
//! All data are row-major `f32` slices that belong to the caller; no function allocates. Functions that can use more
//! than one core take a [`Threads`] pool first. Wrong lengths are mistakes in the calling code and stop it by an
//! assertion; NaN and infinity are data and propagate.
//!
//! Results are the same bit for bit for the same thread count and the same [`Isa`]: the partition of the work
//! follows from the shape and the thread count, and sums across parts are taken in a fixed order.
//!
//! Where to start: [`threads`] (the pool), [`dispatch`] (one source, several instruction sets),
//! [`selection`] (which of them is used, and why), [`matmul()`] (nearly
//! all the time of a training step), then one module per operation. [`limits`] measures what the machine can do.

pub mod adam_w;
pub mod attention;
pub mod bias;
pub mod convolution;
pub mod cross_entropy;
pub mod dispatch;
pub mod dropout;
pub mod embedding;
pub mod gelu;
pub mod huge_pages;
pub mod layer_norm;
pub mod limits;
mod math;
pub mod matmul;
pub mod max_pool;
pub mod packed;
pub mod pooled_convolution;
pub mod reduce;
pub mod relu;
pub mod rms_norm;
pub mod rope;
pub mod selection;
mod self_check;
pub mod sgd;
pub mod swiglu;
pub mod threads;

pub use dispatch::{Isa, instructions, isa};
pub use matmul::{Layout, Write, matmul};
pub use threads::Threads;
