//! Attention by blocks, as in FlashAttention (Dao and others, 2022): no score matrix beyond a block is ever stored.
//!
//! Queries, keys and values lie in one buffer `qkv` of rows `[q | k | v]`, each part `heads * head_size` wide; rows of
//! the output are `heads * head_size` wide. Scores are scaled by `1 / sqrt(head_size)`. With a causal mask a query
//! sees the keys up to its own position, and blocks of keys beyond it are skipped.
//!
//! Scores are kept transposed, a row for each key and a column for each query: the softmax then runs down the columns,
//! sixteen queries side by side, and needs no sums across a vector. All products are small blocks in the cache
//! (the `product` module of the crate). The forward pass keeps the logarithm of the sum of each query's powers, from which the
//! backward pass makes the same probabilities again.

mod backward;
mod forward;
mod pack;
mod rows;
mod tiles;

use std::ops::Range;

pub use rows::{Heads, rows};

use crate::Threads;
use crate::math::product::{COLUMNS, padded};
use crate::threads::{Chunks, Parts};

/// Queries of a block, a multiple of a panel.
const QUERIES: usize = 64;
/// Keys of a block, a multiple of a panel.
const KEYS: usize = 64;
/// Queries side by side.
const PANEL: usize = COLUMNS;
/// Floats of a cache line. Scratch begins at one, so that no vector lies across two.
const LINE: usize = 16;

/// The sizes of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttentionShape {
    /// Sequences.
    pub batch: usize,
    /// Positions of a sequence.
    pub context: usize,
    /// Heads, each on its own.
    pub heads: usize,
    /// Elements of a query, key or value. Any size works; multiples of sixteen waste nothing.
    pub head_size: usize,
    /// Whether a query sees only keys up to its own position.
    pub causal: bool,
}

impl AttentionShape {
    /// Elements of the output; `qkv` has three times as many.
    pub fn output_length(&self) -> usize {
        self.batch * self.context * self.heads * self.head_size
    }

    /// Elements of `logsumexp`: one for each query of each head.
    pub fn logsumexp_length(&self) -> usize {
        self.batch * self.heads * self.context
    }

    /// What a score is multiplied by.
    fn scale(&self) -> f32 {
        1.0 / (self.head_size as f32).sqrt()
    }

    /// Floats from row to row of a block in scratch.
    fn row(&self) -> usize {
        padded(self.head_size)
    }

    /// The number of keys that the query at `position` and those before it see.
    fn keys_seen(&self, position: usize) -> usize {
        if self.causal { (position + 1).min(self.context) } else { self.context }
    }

    /// The vectors of one head in a buffer whose rows consist of several sections of all heads.
    fn vector(
        &self,
        sections: usize,
        section: usize,
        sequence: usize,
        head: usize,
        position: usize,
    ) -> Range<usize> {
        let row = sequence * self.context + position;
        let begin = ((row * sections + section) * self.heads + head) * self.head_size;
        begin..begin + self.head_size
    }

    fn check(&self, qkv: usize, out: usize, logsumexp: usize) {
        let length = self.output_length();
        assert!(qkv == 3 * length, "qkv must have {} elements", 3 * length);
        assert!(out == length, "the output must have {length} elements");
        let length = self.logsumexp_length();
        assert!(logsumexp == length, "logsumexp must have {length} elements");
    }
}

/// Which parts of `qkv` are meant.
#[derive(Clone, Copy)]
enum Section {
    Query,
    Key,
    Value,
}

/// The scratch of `tasks` tasks, with room to begin at a cache line.
fn scratch_length(tasks: usize, for_task: usize) -> usize {
    tasks.saturating_mul(for_task).saturating_add(LINE - 1)
}

/// Splits scratch into the parts of the tasks.
fn split_scratch(scratch: &mut [f32], tasks: usize, for_task: usize) -> Chunks<'_, f32> {
    let needed = scratch_length(tasks, for_task);
    assert!(scratch.len() >= needed, "the scratch must hold {needed} elements");
    let skip = scratch.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE - 1);
    let chunks = Chunks::new(&mut scratch[skip..skip + tasks * for_task], for_task);
    debug_assert_eq!(chunks.count(), tasks);
    chunks
}

/// The length of the scratch that [`forward`] needs; for absurd shapes the largest number there is.
pub fn forward_scratch(threads: &Threads, shape: &AttentionShape) -> usize {
    forward::scratch(threads, shape)
}

/// Sets `out` to the mean of the values weighted by the softmax of the scores, and `logsumexp` (batch by heads by
/// context) to what the backward pass needs. The contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn forward(
    threads: &Threads,
    shape: &AttentionShape,
    qkv: &[f32],
    out: &mut [f32],
    logsumexp: &mut [f32],
    scratch: &mut [f32],
) {
    shape.check(qkv.len(), out.len(), logsumexp.len());
    if !out.is_empty() {
        forward::run(threads, shape, qkv, out, logsumexp, scratch);
    }
}

/// The length of the scratch that [`backward`] needs; for absurd shapes the largest number there is.
pub fn backward_scratch(threads: &Threads, shape: &AttentionShape) -> usize {
    backward::scratch(threads, shape)
}

/// Sets `dqkv` to the gradients of queries, keys and values. `out` and `logsumexp` are those of the forward pass; the
/// contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit the shape.
#[expect(clippy::too_many_arguments, reason = "one argument for each buffer")]
pub fn backward(
    threads: &Threads,
    shape: &AttentionShape,
    qkv: &[f32],
    out: &[f32],
    logsumexp: &[f32],
    dout: &[f32],
    dqkv: &mut [f32],
    scratch: &mut [f32],
) {
    shape.check(qkv.len(), out.len(), logsumexp.len());
    assert!(dout.len() == out.len(), "out and dout must have the same length");
    assert!(dqkv.len() == qkv.len(), "qkv and dqkv must have the same length");
    if !out.is_empty() {
        backward::run(threads, shape, backward::Inputs { qkv, out, logsumexp, dout }, dqkv, scratch);
    }
}
