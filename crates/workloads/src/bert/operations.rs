//! The operations of training, each by one or two calls of a kernel, with their arithmetic for the profile.

use assay_kernels::threads::Chunks;
use assay_kernels::{Layout, Threads, Write, attention, bias, gelu, layer_norm, matmul};

use super::parameters::Affine;
use super::shape::BertShape;
use crate::profile::Profile;

/// Numbers that one task copies or clears.
const PIECE: usize = 1 << 16;

/// The kernels with everything that stays the same from call to call.
pub(super) struct Operations {
    pub(super) threads: Threads,
    pub(super) shape: BertShape,
    pub(super) attention: attention::AttentionShape,
    pub(super) profile: Profile,
}

/// The mean and the inverse deviation of each row, which a norm keeps for its backward pass.
#[derive(Debug, Default)]
pub(super) struct Moments {
    pub(super) mean: Vec<f32>,
    pub(super) inverse: Vec<f32>,
}

impl Operations {
    pub(super) fn new(
        threads: Threads,
        shape: &BertShape,
        batch: usize,
        context: usize,
        profile: Profile,
    ) -> Operations {
        let attention = attention_shape(shape, batch, context);
        Operations { threads, shape: *shape, attention, profile }
    }

    /// `y = x·Wᵀ + bias`.
    pub(super) fn linear(&self, name: &'static str, affine: &Affine, x: &[f32], y: &mut [f32]) {
        let outputs = affine.bias.len();
        self.product(name, &affine.weight, outputs, x, y);
        self.profile.timed(name, 0.0, || bias::forward(&self.threads, &affine.bias, y));
    }

    /// `y = x·Wᵀ`.
    pub(super) fn product(
        &self,
        name: &'static str,
        weight: &[f32],
        outputs: usize,
        x: &[f32],
        y: &mut [f32],
    ) {
        let inputs = weight.len() / outputs.max(1);
        let rows = x.len() / inputs.max(1);
        self.profile.timed(name, flops(rows, outputs, inputs), || {
            matmul(&self.threads, Layout::NT, rows, outputs, inputs, x, weight, y, Write::Set);
        });
    }

    /// `dx = dy·W`, or `dx += dy·W`.
    pub(super) fn input(
        &self,
        name: &'static str,
        weight: &[f32],
        outputs: usize,
        dy: &[f32],
        dx: &mut [f32],
        write: Write,
    ) {
        let inputs = weight.len() / outputs.max(1);
        let rows = dy.len() / outputs.max(1);
        self.profile.timed(name, flops(rows, outputs, inputs), || {
            matmul(&self.threads, Layout::NN, rows, inputs, outputs, dy, weight, dx, write);
        });
    }

    /// `dW = dyᵀ·x`, or `dW += dyᵀ·x`.
    pub(super) fn weight(
        &self,
        name: &'static str,
        outputs: usize,
        dy: &[f32],
        x: &[f32],
        dw: &mut [f32],
        write: Write,
    ) {
        let inputs = dw.len() / outputs.max(1);
        let rows = x.len() / inputs.max(1);
        self.profile.timed(name, flops(rows, outputs, inputs), || {
            matmul(&self.threads, Layout::TN, outputs, inputs, rows, dy, x, dw, write);
        });
    }

    /// Sets the gradients of a matrix and its bias.
    pub(super) fn affine(
        &self,
        name: &'static str,
        dy: &[f32],
        x: &[f32],
        gradient: &mut Affine,
        scratch: &mut [f32],
    ) {
        let outputs = gradient.bias.len();
        self.weight(name, outputs, dy, x, &mut gradient.weight, Write::Set);
        gradient.bias.fill(0.0);
        self.bias(name, dy, &mut gradient.bias, scratch);
    }

    /// Adds the sums of all columns.
    pub(super) fn bias(&self, name: &'static str, dy: &[f32], dbias: &mut [f32], scratch: &mut [f32]) {
        self.profile.timed(name, 0.0, || bias::backward(&self.threads, dy, dbias, scratch));
    }

    pub(super) fn norm(&self, x: &[f32], norm: &Affine, y: &mut [f32], moments: &mut Moments) {
        let Moments { mean, inverse } = moments;
        self.profile.timed("norm", 0.0, || {
            let epsilon = self.shape.epsilon;
            layer_norm::forward(&self.threads, x, &norm.weight, &norm.bias, epsilon, y, mean, inverse);
        });
    }

    /// Sets `dx` and the gradients of the norm.
    #[expect(clippy::too_many_arguments, reason = "what the kernel needs")]
    pub(super) fn norm_backward(
        &self,
        x: &[f32],
        weight: &[f32],
        moments: &Moments,
        dy: &[f32],
        dx: &mut [f32],
        gradient: &mut Affine,
        scratch: &mut [f32],
    ) {
        self.profile.timed("norm", 0.0, || {
            gradient.weight.fill(0.0);
            gradient.bias.fill(0.0);
            self.clear(dx);
            let Moments { mean, inverse } = moments;
            let Affine { weight: dweight, bias: dbias } = gradient;
            layer_norm::backward(&self.threads, x, weight, mean, inverse, dy, dx, dweight, dbias, scratch);
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

    pub(super) fn activate(&self, x: &[f32], y: &mut [f32]) {
        self.profile.timed("gelu", 0.0, || gelu::forward(&self.threads, self.shape.activation, x, y));
    }

    pub(super) fn activate_backward(&self, x: &[f32], dy: &[f32], dx: &mut [f32]) {
        self.profile.timed("gelu", 0.0, || gelu::backward(&self.threads, self.shape.activation, x, dy, dx));
    }

    /// `sum = a + b`.
    pub(super) fn add(&self, a: &[f32], b: &[f32], sum: &mut [f32]) {
        self.profile.timed("add", 0.0, || {
            self.threads.run_parts(Chunks::new(sum, PIECE), |piece, sum| {
                let first = piece * PIECE;
                for ((sum, a), b) in sum.iter_mut().zip(&a[first..]).zip(&b[first..]) {
                    *sum = a + b;
                }
            });
        });
    }

    pub(super) fn clear(&self, values: &mut [f32]) {
        self.threads.run_parts(Chunks::new(values, PIECE), |_, part| part.fill(0.0));
    }
}

pub(super) fn attention_shape(shape: &BertShape, batch: usize, context: usize) -> attention::AttentionShape {
    attention::AttentionShape {
        batch,
        context,
        heads: shape.heads,
        head_size: shape.head_size(),
        causal: false,
    }
}

fn flops(rows: usize, outputs: usize, inputs: usize) -> f64 {
    2.0 * rows as f64 * outputs as f64 * inputs as f64
}
