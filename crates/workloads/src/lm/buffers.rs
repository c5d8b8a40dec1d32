//! All memory of a run besides its parameters, taken once before the first iteration.

use assay_kernels::Threads;

use super::options::{Phase, Work};
use super::parameters::{touch, zeroed};
use super::plan::Lengths;
use super::shape::Shape;
use crate::WorkloadError;

/// What a layer keeps for its backward pass, beside its input. What is cheap to compute again is not kept: norms,
/// attention and the product of the activation.
#[derive(Default)]
pub(super) struct Kept {
    /// Queries, keys and values, turned by their positions.
    pub(super) qkv: Vec<f32>,
    /// Gate and up; the backward pass replaces them by their gradients.
    pub(super) gate_up: Vec<f32>,
}

/// Scratch that all layers share.
#[derive(Default)]
pub(super) struct Scratch {
    /// The output of a norm, or gradients of the same shape.
    pub(super) normed: Vec<f32>,
    /// One thing after another: the product of the activation, gradients, logits.
    pub(super) arena: Vec<f32>,
    /// The gradient of the stream; empty without a backward pass.
    pub(super) dx: Vec<f32>,
    /// What attention gave; empty without a backward pass.
    pub(super) attended: Vec<f32>,
    /// The stream after attention; empty without a backward pass.
    pub(super) x1: Vec<f32>,
    /// The inverse root mean square of each row of the norm that was computed last.
    pub(super) inverse: Vec<f32>,
    /// The logarithm of the sum of exponentials of each row of scores.
    pub(super) logsumexp: Vec<f32>,
    /// The losses of the rows in work.
    pub(super) row_loss: Vec<f32>,
    pub(super) attention: Vec<f32>,
    pub(super) norm: Vec<f32>,
}

/// All buffers.
pub(super) struct Buffers {
    /// The input of each layer and the output of the last; just one that changes in place without a backward pass.
    pub(super) streams: Vec<Vec<f32>>,
    /// One for each layer, or one that is used again and again, or none without a backward pass.
    pub(super) kept: Vec<Kept>,
    pub(super) scratch: Scratch,
    /// Rows of logits that are computed at once.
    pub(super) rows: usize,
}

impl Buffers {
    pub(super) fn new(threads: &Threads, shape: &Shape, work: &Work) -> Result<Buffers, WorkloadError> {
        let lengths = Lengths::new(threads, shape, work);
        let backward = work.phase != Phase::Forward;
        let buffer = |length: u128| {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            zeroed("activations", length).map(|mut buffer| {
                touch(threads, &mut buffer);
                buffer
            })
        };
        let only = |wanted: bool, length: u128| buffer(if wanted { length } else { 0 });
        let kept = || -> Result<Kept, WorkloadError> {
            Ok(Kept { qkv: buffer(lengths.qkv)?, gate_up: buffer(lengths.gate_up)? })
        };
        Ok(Buffers {
            streams: (0..lengths.streams).map(|_| buffer(lengths.stream)).collect::<Result<_, _>>()?,
            kept: (0..lengths.kept).map(|_| kept()).collect::<Result<_, _>>()?,
            scratch: Scratch {
                normed: buffer(lengths.stream)?,
                arena: buffer(lengths.arena)?,
                dx: only(backward, lengths.stream)?,
                attended: only(backward, lengths.stream)?,
                x1: only(backward, lengths.stream)?,
                inverse: buffer(lengths.tokens)?,
                logsumexp: buffer(lengths.logsumexp)?,
                row_loss: buffer(lengths.rows)?,
                attention: buffer(lengths.attention_scratch)?,
                norm: buffer(lengths.norm_scratch)?,
            },
            rows: usize::try_from(lengths.rows).unwrap_or(usize::MAX),
        })
    }

    /// The bytes of all buffers.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let Scratch { normed, arena, dx, attended, x1, inverse, logsumexp, row_loss, attention, norm } =
            &self.scratch;
        let scratch = [normed, arena, dx, attended, x1, inverse, logsumexp, row_loss, attention, norm];
        let kept = self.kept.iter().flat_map(|Kept { qkv, gate_up }| [qkv, gate_up]);
        4 * scratch.into_iter().chain(kept).chain(&self.streams).map(Vec::capacity).sum::<usize>()
    }
}
