//! All memory of a run besides its parameters, taken once before the first iteration.

use assay_kernels::Threads;

use super::options::{LmWork, Phase};
use super::parameters::Layer;
use super::plan::{Lengths, Policy};
use super::shape::LmShape;
use crate::WorkloadError;
use crate::tensors::zeros;

/// What a layer keeps for its backward pass, beside its input. What is cheap to compute again is not kept: norms and the
/// product of the activation.
pub(super) struct Kept<'a> {
    /// Queries, keys and values, turned by their positions.
    pub(super) qkv: &'a mut [f32],
    /// Gate and up; the backward pass replaces them by their gradients.
    pub(super) gate_up: &'a mut [f32],
    /// What attention gave.
    pub(super) attended: &'a mut [f32],
    /// The stream after attention.
    pub(super) x1: &'a mut [f32],
    /// The logarithm of the sum of exponentials of each row of scores.
    pub(super) logsumexp: &'a mut [f32],
}

/// Memory for what a layer keeps in any case.
struct LayerMemory {
    qkv: Vec<f32>,
    gate_up: Vec<f32>,
}

/// Where all layers keep what their backward passes need.
pub(super) struct Places {
    policy: Policy,
    /// One for each layer, or one that is used again and again, or one for the first layer alone.
    own: Vec<LayerMemory>,
    /// What attention gave, the stream after it, and the logarithms of sums: of the layer that was computed last, or of
    /// the first layer where the others keep theirs elsewhere.
    attended: Vec<f32>,
    x1: Vec<f32>,
    logsumexp: Vec<f32>,
}

impl Places {
    /// The place of a layer; `before` are the gradients of the layers before it.
    pub(super) fn of<'a>(&'a mut self, layer: usize, before: &'a mut [Layer]) -> Kept<'a> {
        let Places { policy, own, attended, x1, logsumexp } = self;
        if let (Policy::Lent, Some(lender)) = (*policy, before.last_mut()) {
            let LayerMemory { qkv, gate_up } = &own[0];
            let (first, rest) = lender.down.split_at_mut(x1.len());
            return Kept {
                qkv: &mut lender.qkv[..qkv.len()],
                gate_up: &mut lender.gate_up[..gate_up.len()],
                attended: &mut lender.attention_out[..attended.len()],
                x1: first,
                logsumexp: &mut rest[..logsumexp.len()],
            };
        }
        let LayerMemory { qkv, gate_up } = &mut own[if *policy == Policy::Own { layer } else { 0 }];
        Kept { qkv, gate_up, attended, x1, logsumexp }
    }

    /// Whether a layer but the last finds what attention gave again in its backward pass.
    pub(super) fn keep_attention(&self) -> bool {
        self.policy == Policy::Lent
    }
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
    /// The inverse root mean square of each row of the norm that was computed last.
    pub(super) inverse: Vec<f32>,
    /// The logarithm of the sum of exponentials of each row of scores; empty with a backward pass.
    pub(super) logsumexp: Vec<f32>,
    /// The losses of the rows in work.
    pub(super) row_loss: Vec<f32>,
    pub(super) attention: Vec<f32>,
    pub(super) norm: Vec<f32>,
}

pub(super) struct Buffers {
    /// The input of each layer and the output of the last; just one that changes in place without a backward pass.
    pub(super) streams: Vec<Vec<f32>>,
    pub(super) kept: Places,
    pub(super) scratch: Scratch,
    /// Rows of logits that are computed at once.
    pub(super) rows: usize,
}

impl Buffers {
    pub(super) fn new(threads: &Threads, shape: &LmShape, work: &LmWork) -> Result<Buffers, WorkloadError> {
        let lengths = Lengths::new(threads, shape, work);
        let backward = work.phase != Phase::Forward;
        let buffer =
            |length: u128| zeros(threads, "activations", usize::try_from(length).unwrap_or(usize::MAX));
        let only = |wanted: bool, length: u128| buffer(if wanted { length } else { 0 });
        let place = || -> Result<LayerMemory, WorkloadError> {
            Ok(LayerMemory { qkv: buffer(lengths.qkv)?, gate_up: buffer(lengths.gate_up)? })
        };
        Ok(Buffers {
            streams: (0..lengths.streams).map(|_| buffer(lengths.stream)).collect::<Result<_, _>>()?,
            kept: Places {
                policy: Policy::of(shape, work),
                own: (0..lengths.kept).map(|_| place()).collect::<Result<_, _>>()?,
                attended: only(backward, lengths.stream)?,
                x1: only(backward, lengths.stream)?,
                logsumexp: only(backward, lengths.logsumexp)?,
            },
            scratch: Scratch {
                normed: buffer(lengths.stream)?,
                arena: buffer(lengths.arena)?,
                dx: only(backward, lengths.stream)?,
                inverse: buffer(lengths.tokens)?,
                logsumexp: only(!backward, lengths.logsumexp)?,
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
        let Scratch { normed, arena, dx, inverse, logsumexp, row_loss, attention, norm } = &self.scratch;
        let scratch = [normed, arena, dx, inverse, logsumexp, row_loss, attention, norm];
        let Places { own, attended, x1, logsumexp, .. } = &self.kept;
        let own = own.iter().flat_map(|LayerMemory { qkv, gate_up }| [qkv, gate_up]);
        let kept = own.chain([attended, x1, logsumexp]);
        4 * scratch.into_iter().chain(kept).chain(&self.streams).map(Vec::capacity).sum::<usize>()
    }
}
