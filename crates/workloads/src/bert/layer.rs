//! One layer: forward with everything kept that its backward pass needs, and backward.

use assay_kernels::{Threads, Write, attention, bias, layer_norm};

use super::operations::{Moments, Operations, attention_shape};
use super::parameters::Layer;
use super::shape::BertShape;
use crate::WorkloadError;
use crate::tensors::zeros;

/// What a layer keeps for its backward pass, beside its input. The activation is computed again.
pub(super) struct Kept {
    qkv: Vec<f32>,
    attended: Vec<f32>,
    logsumexp: Vec<f32>,
    /// What the first norm was given, and what it made of it.
    first: Vec<f32>,
    first_moments: Moments,
    normed: Vec<f32>,
    /// The inside of the feed-forward layer before its activation.
    inside: Vec<f32>,
    /// What the second norm was given.
    second: Vec<f32>,
    second_moments: Moments,
}

/// Scratch that all layers share.
pub(super) struct Scratch {
    /// The gradient of the stream, and two more of its length.
    pub(super) dx: Vec<f32>,
    pub(super) one: Vec<f32>,
    two: Vec<f32>,
    /// The inside of a feed-forward layer, or gradients of queries, keys and values; twice.
    pub(super) wide: Vec<f32>,
    wider: Vec<f32>,
    attention: Vec<f32>,
    /// What norms and biases need.
    pub(super) sums: Vec<f32>,
}

/// The numbers that a layer keeps for each token.
pub(super) fn kept_of_token(shape: &BertShape) -> u128 {
    let [width, hidden, heads] = [shape.width, shape.hidden, shape.heads].map(|size| size as u128);
    7 * width + hidden + heads + 4
}

/// The numbers of the scratch for each token, without what kernels need.
pub(super) fn scratch_of_token(shape: &BertShape) -> u128 {
    let [width, hidden] = [shape.width, shape.hidden].map(|size| size as u128);
    3 * width + 2 * hidden.max(3 * width)
}

impl Moments {
    pub(super) fn new(threads: &Threads, rows: usize) -> Result<Moments, WorkloadError> {
        Ok(Moments {
            mean: zeros(threads, "activations", rows)?,
            inverse: zeros(threads, "activations", rows)?,
        })
    }
}

impl Kept {
    pub(super) fn new(threads: &Threads, shape: &BertShape, tokens: usize) -> Result<Kept, WorkloadError> {
        let buffer = |each: usize| zeros(threads, "activations", tokens * each);
        Ok(Kept {
            qkv: buffer(3 * shape.width)?,
            attended: buffer(shape.width)?,
            logsumexp: buffer(shape.heads)?,
            first: buffer(shape.width)?,
            first_moments: Moments::new(threads, tokens)?,
            normed: buffer(shape.width)?,
            inside: buffer(shape.hidden)?,
            second: buffer(shape.width)?,
            second_moments: Moments::new(threads, tokens)?,
        })
    }
}

impl Scratch {
    pub(super) fn new(
        threads: &Threads,
        shape: &BertShape,
        batch: usize,
        context: usize,
    ) -> Result<Scratch, WorkloadError> {
        let tokens = batch * context;
        let buffer = |length: usize| zeros(threads, "activations", length);
        let attended = attention_shape(shape, batch, context);
        let wide = shape.hidden.max(3 * shape.width);
        let attention = attention::forward_scratch(threads, &attended)
            .max(attention::backward_scratch(threads, &attended));
        let sums = layer_norm::backward_scratch(threads, shape.width)
            .max(bias::backward_scratch(threads, wide.max(shape.vocabulary)));
        Ok(Scratch {
            dx: buffer(tokens * shape.width)?,
            one: buffer(tokens * shape.width)?,
            two: buffer(tokens * shape.width)?,
            wide: buffer(tokens * wide)?,
            wider: buffer(tokens * wide)?,
            attention: buffer(attention)?,
            sums: buffer(sums)?,
        })
    }
}

/// The layer's output from its input.
pub(super) fn forward(
    operations: &Operations,
    layer: &Layer,
    x: &[f32],
    kept: &mut Kept,
    scratch: &mut Scratch,
    y: &mut [f32],
) {
    let Kept { qkv, attended, logsumexp, first, first_moments, normed, inside, second, second_moments } =
        kept;
    operations.linear("qkv", &layer.qkv, x, qkv);
    operations.attend(qkv, attended, logsumexp, &mut scratch.attention);
    operations.linear("attention_out", &layer.out, attended, &mut scratch.one);
    operations.add(x, &scratch.one, first);
    operations.norm(first, &layer.attention_norm, normed, first_moments);
    operations.linear("up", &layer.up, normed, inside);
    let active = &mut scratch.wide[..inside.len()];
    operations.activate(inside, active);
    operations.linear("down", &layer.down, active, &mut scratch.one);
    operations.add(normed, &scratch.one, second);
    operations.norm(second, &layer.output_norm, y, second_moments);
}

/// Turns `scratch.dx` from the gradient of the output into that of the input, and sets the layer's gradients.
pub(super) fn backward(
    operations: &Operations,
    layer: &Layer,
    gradient: &mut Layer,
    x: &[f32],
    kept: &Kept,
    scratch: &mut Scratch,
) {
    let Scratch { dx, one, two, wide, wider, attention, sums } = scratch;
    let (width, hidden) = (operations.shape.width, operations.shape.hidden);
    let norm = &layer.output_norm.weight;
    operations.norm_backward(
        &kept.second,
        norm,
        &kept.second_moments,
        dx,
        one,
        &mut gradient.output_norm,
        sums,
    );
    let (active, inner) = (&mut wide[..kept.inside.len()], &mut wider[..kept.inside.len()]);
    operations.activate(&kept.inside, active);
    operations.affine("down", one, active, &mut gradient.down, sums);
    operations.input("down", &layer.down.weight, width, one, inner, Write::Set);
    operations.activate_backward(&kept.inside, inner, active);
    operations.affine("up", active, &kept.normed, &mut gradient.up, sums);
    operations.input("up", &layer.up.weight, hidden, active, one, Write::Add);
    let norm = &layer.attention_norm.weight;
    operations.norm_backward(
        &kept.first,
        norm,
        &kept.first_moments,
        one,
        dx,
        &mut gradient.attention_norm,
        sums,
    );
    operations.affine("attention_out", dx, &kept.attended, &mut gradient.out, sums);
    operations.input("attention_out", &layer.out.weight, width, dx, two, Write::Set);
    let dqkv = &mut wide[..kept.qkv.len()];
    operations.attend_backward(&kept.qkv, &kept.attended, &kept.logsumexp, two, dqkv, attention);
    operations.affine("qkv", dqkv, x, &mut gradient.qkv, sums);
    operations.input("qkv", &layer.qkv.weight, 3 * width, dqkv, dx, Write::Add);
}
