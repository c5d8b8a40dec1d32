//! Fast CPU mathematics with hand-written backward passes. Knows tensors and threads, nothing of benchmarks.
//!
//! All data are row-major `f32` slices that belong to the caller; no function allocates. Functions that can use more
//! than one core take a [`Threads`] pool first. Wrong lengths are mistakes in the calling code and stop it by an
//! assertion; NaN and infinity are data and propagate.
//!
//! Results are the same bit for bit for the same thread count and the same [`Isa`]: the partition of the work
//! follows from the shape and the thread count, and sums across parts are taken in a fixed order.
//!
//! | file | holds |
//! |---|---|
//! | `threads.rs` | the pool of threads |
//! | `dispatch.rs`, `selection.rs`, `self_check.rs` | one source, several instruction sets: which is used, and the check of each before its first use |
//! | `matmul.rs`, `packed.rs` | products of matrices: nearly all the time of a training step |
//! | `attention.rs`, `rope.rs`, `embedding.rs` | attention by blocks, rotary positions, token embeddings |
//! | `convolution.rs`, `max_pool.rs`, `pooled_convolution.rs` | images |
//! | `bias.rs`, `gelu.rs`, `relu.rs`, `swiglu.rs`, `dropout.rs` | element by element |
//! | `layer_norm.rs`, `rms_norm.rs`, `cross_entropy.rs` | row by row |
//! | `adam_w.rs`, `sgd.rs` | optimizers |
//! | `math.rs`, `reduce.rs` | elementary functions and sums |
//! | `limits.rs` | the peak of the arithmetic and the memory bandwidth of this machine, measured |
//! | `huge_pages.rs` | huge pages for large buffers |

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
