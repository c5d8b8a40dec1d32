//! The operations of the model, each by one call of a kernel, with their arithmetic for the profile.

use assay_kernels::rope::{Direction, RotaryTable};
use assay_kernels::threads::Chunks;
use assay_kernels::{
    Layout, Threads, Write, attention, cross_entropy, embedding, matmul, rms_norm, rope, swiglu,
};

use super::options::LmWork;
use super::shape::LmShape;
use crate::profile::Profile;

/// Numbers that one task copies or clears.
const PIECE: usize = 1 << 16;
const EPSILON: f32 = 1e-5;
const ROPE_BASE: f64 = 10_000.0;

/// The kernels with everything that stays the same from call to call.
pub(super) struct Operations {
    pub(super) threads: Threads,
    pub(super) shape: LmShape,
    pub(super) attention: attention::AttentionShape,
    pub(super) profile: Profile,
    pub(super) table: RotaryTable,
}

/// A matrix with its role: `outputs` rows of `inputs` numbers.
#[derive(Clone, Copy)]
pub(super) struct Linear<'a> {
    pub(super) operation: &'static str,
    pub(super) weight: &'a [f32],
    pub(super) outputs: usize,
    pub(super) inputs: usize,
}

impl Operations {
    pub(super) fn new(threads: Threads, shape: &LmShape, work: &LmWork, profile: Profile) -> Operations {
        Operations {
            threads,
            shape: *shape,
            attention: attention_shape(shape, work),
            profile,
            table: RotaryTable::new(work.context, shape.head_size(), ROPE_BASE),
        }
    }

    /// `y = x·Wᵀ`, or `y += x·Wᵀ`.
    pub(super) fn linear(&self, linear: Linear<'_>, x: &[f32], y: &mut [f32], write: Write) {
        let Linear { operation, weight, outputs, inputs } = linear;
        let rows = x.len() / inputs;
        self.profile.timed(operation, flops(rows, outputs, inputs), || {
            matmul(&self.threads, Layout::NT, rows, outputs, inputs, x, weight, y, write);
        });
    }

    /// `dx = dy·W`.
    pub(super) fn linear_input(&self, linear: Linear<'_>, dy: &[f32], dx: &mut [f32]) {
        let Linear { operation, weight, outputs, inputs } = linear;
        let rows = dy.len() / outputs;
        self.profile.timed(operation, flops(rows, outputs, inputs), || {
            matmul(&self.threads, Layout::NN, rows, inputs, outputs, dy, weight, dx, Write::Set);
        });
    }

    /// `dW = dyᵀ·x`, or `dW += dyᵀ·x`.
    pub(super) fn linear_weight(
        &self,
        linear: Linear<'_>,
        dy: &[f32],
        x: &[f32],
        dw: &mut [f32],
        write: Write,
    ) {
        let Linear { operation, outputs, inputs, .. } = linear;
        let rows = x.len() / inputs;
        self.profile.timed(operation, flops(rows, outputs, inputs), || {
            matmul(&self.threads, Layout::TN, outputs, inputs, rows, dy, x, dw, write);
        });
    }

    pub(super) fn norm(&self, x: &[f32], weight: &[f32], y: &mut [f32], inverse: &mut [f32]) {
        self.profile.timed("norm", 0.0, || {
            rms_norm::forward(&self.threads, x, weight, EPSILON, y, inverse);
        });
    }

    /// Adds to `dx` and sets `dweight`.
    #[expect(clippy::too_many_arguments, reason = "what the kernel needs")]
    pub(super) fn norm_backward(
        &self,
        x: &[f32],
        weight: &[f32],
        inverse: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        dweight: &mut [f32],
        scratch: &mut [f32],
    ) {
        self.profile.timed("norm", 0.0, || {
            dweight.fill(0.0);
            rms_norm::backward(&self.threads, x, weight, inverse, dy, dx, dweight, scratch);
        });
    }

    /// Turns queries and keys by their positions, or their gradients back.
    pub(super) fn rotate(&self, direction: Direction, qkv: &mut [f32]) {
        let width = self.shape.width;
        // Keys follow queries in each row, so that both are turned as one row of twice as many heads.
        self.profile.timed("rope", 0.0, || {
            let (heads, context) = (2 * self.shape.heads, self.attention.context);
            rope::apply(&self.threads, &self.table, direction, qkv, 3 * width, 0, heads, context);
        });
    }

    pub(super) fn attend(&self, qkv: &[f32], out: &mut [f32], logsumexp: &mut [f32], scratch: &mut [f32]) {
        self.profile.timed("attention", self.attention_flops(), || {
            attention::forward(&self.threads, &self.attention, qkv, out, logsumexp, scratch);
        });
    }

    pub(super) fn attend_backward(
        &self,
        qkv: &[f32],
        out: &[f32],
        logsumexp: &[f32],
        dout: &[f32],
        dqkv: &mut [f32],
        scratch: &mut [f32],
    ) {
        self.profile.timed("attention", 2.0 * self.attention_flops(), || {
            attention::backward(&self.threads, &self.attention, qkv, out, logsumexp, dout, dqkv, scratch);
        });
    }

    fn attention_flops(&self) -> f64 {
        let attention::AttentionShape { batch, context, .. } = self.attention;
        4.0 * (batch * context) as f64 * context as f64 * self.shape.width as f64
    }

    pub(super) fn swiglu(&self, gate_up: &[f32], product: &mut [f32]) {
        self.profile.timed("swiglu", 0.0, || {
            swiglu::forward(&self.threads, gate_up, self.shape.hidden, product);
        });
    }

    /// Replaces gate and up by their gradients.
    pub(super) fn swiglu_backward(&self, gate_up: &mut [f32], dproduct: &[f32]) {
        self.profile.timed("swiglu", 0.0, || {
            swiglu::backward(&self.threads, gate_up, self.shape.hidden, dproduct);
        });
    }

    pub(super) fn embed(&self, tokens: &[u32], table: &[f32], x: &mut [f32]) {
        self.profile.timed("embedding", 0.0, || {
            embedding::forward(&self.threads, tokens, table, self.shape.width, x);
        });
    }

    /// Sets `dtable`.
    pub(super) fn embed_backward(&self, tokens: &[u32], dx: &[f32], dtable: &mut [f32]) {
        self.profile.timed("embedding", 0.0, || {
            self.clear(dtable);
            embedding::backward(&self.threads, tokens, dx, self.shape.width, dtable);
        });
    }

    /// The sum of the losses of some rows.
    pub(super) fn loss(&self, logits: &[f32], targets: &[u32], row_loss: &mut [f32]) -> f64 {
        self.profile.timed("loss", 0.0, || {
            cross_entropy::forward(&self.threads, logits, self.shape.vocabulary, targets, row_loss)
        })
    }

    /// The sum of the losses of some rows; logits are replaced by their gradients times `scale`.
    pub(super) fn loss_backward(
        &self,
        logits: &mut [f32],
        targets: &[u32],
        scale: f32,
        row_loss: &mut [f32],
    ) -> f64 {
        self.profile.timed("loss", 0.0, || {
            let vocabulary = self.shape.vocabulary;
            cross_entropy::forward_backward(&self.threads, logits, vocabulary, targets, scale, row_loss)
        })
    }

    pub(super) fn copy(&self, from: &[f32], to: &mut [f32]) {
        self.profile.timed("copy", 0.0, || {
            self.threads.run_parts(Chunks::new(to, PIECE), |piece, to| {
                to.copy_from_slice(&from[piece * PIECE..][..to.len()]);
            });
        });
    }

    pub(super) fn clear(&self, values: &mut [f32]) {
        self.threads.run_parts(Chunks::new(values, PIECE), |_, part| part.fill(0.0));
    }
}

pub(super) fn attention_shape(shape: &LmShape, work: &LmWork) -> attention::AttentionShape {
    attention::AttentionShape {
        batch: work.batch,
        context: work.context,
        heads: shape.heads,
        head_size: shape.head_size(),
        causal: true,
    }
}

fn flops(rows: usize, outputs: usize, inputs: usize) -> f64 {
    2.0 * rows as f64 * outputs as f64 * inputs as f64
}
