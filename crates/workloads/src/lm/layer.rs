//! One layer, forward and backward.

use assay_kernels::Write;
use assay_kernels::rope::Direction;

use super::buffers::{Kept, Scratch};
use super::operations::{Linear, Operations};
use super::parameters::Layer;
use super::shape::LmShape;

/// The matrices of a layer with their roles.
struct Matrices<'a> {
    qkv: Linear<'a>,
    attention_out: Linear<'a>,
    gate_up: Linear<'a>,
    down: Linear<'a>,
}

impl<'a> Matrices<'a> {
    fn new(shape: &LmShape, layer: &'a Layer) -> Matrices<'a> {
        let LmShape { width, hidden, .. } = *shape;
        let linear = |operation, weight, outputs, inputs| Linear { operation, weight, outputs, inputs };
        Matrices {
            qkv: linear("qkv", &layer.qkv, 3 * width, width),
            attention_out: linear("attention_out", &layer.attention_out, width, width),
            gate_up: linear("gate_up", &layer.gate_up, 2 * hidden, width),
            down: linear("down", &layer.down, width, hidden),
        }
    }
}

/// Forward without keeping anything: the stream changes in place.
pub(super) fn forward_in_place(operations: &Operations, layer: &Layer, x: &mut [f32], scratch: &mut Scratch) {
    let LmShape { width, hidden, .. } = operations.shape;
    let rows = x.len() / width;
    let matrices = Matrices::new(&operations.shape, layer);
    let Scratch { normed, arena, inverse, logsumexp, attention, .. } = scratch;

    let (qkv, rest) = arena.split_at_mut(3 * rows * width);
    let attended = &mut rest[..rows * width];
    operations.norm(x, &layer.attention_norm, normed, inverse);
    operations.linear(matrices.qkv, normed, qkv, Write::Set);
    operations.rotate(Direction::Forward, qkv);
    operations.attend(qkv, attended, logsumexp, attention);
    operations.linear(matrices.attention_out, attended, x, Write::Add);

    let (gate_up, rest) = arena.split_at_mut(2 * rows * hidden);
    let product = &mut rest[..rows * hidden];
    operations.norm(x, &layer.feed_forward_norm, normed, inverse);
    operations.linear(matrices.gate_up, normed, gate_up, Write::Set);
    operations.swiglu(gate_up, product);
    operations.linear(matrices.down, product, x, Write::Add);
}

/// Forward from `x0` up to gate and up, keeping what the backward pass needs.
pub(super) fn forward_keeping(
    operations: &Operations,
    layer: &Layer,
    x0: &[f32],
    kept: &mut Kept<'_>,
    scratch: &mut Scratch,
) {
    let matrices = Matrices::new(&operations.shape, layer);
    operations.norm(x0, &layer.attention_norm, &mut scratch.normed, &mut scratch.inverse);
    operations.linear(matrices.qkv, &scratch.normed, kept.qkv, Write::Set);
    operations.rotate(Direction::Forward, kept.qkv);
    attention(operations, layer, x0, kept, scratch);
    operations.norm(kept.x1, &layer.feed_forward_norm, &mut scratch.normed, &mut scratch.inverse);
    operations.linear(matrices.gate_up, &scratch.normed, kept.gate_up, Write::Set);
}

/// From queries, keys and values to what attention gives and the stream after it. Where there is no place for them in
/// memory that is there anyway, the backward pass does this again: it costs some three percent of an iteration, and
/// keeping them would cost a sixth of its memory.
pub(super) fn attention(
    operations: &Operations,
    layer: &Layer,
    x0: &[f32],
    kept: &mut Kept<'_>,
    scratch: &mut Scratch,
) {
    operations.attend(kept.qkv, kept.attended, kept.logsumexp, &mut scratch.attention);
    operations.copy(x0, kept.x1);
    let matrices = Matrices::new(&operations.shape, layer);
    operations.linear(matrices.attention_out, kept.attended, kept.x1, Write::Add);
}

/// The rest of the forward pass, right after `forward_keeping`: from gate and up to the stream after the layer.
pub(super) fn forward_rest(
    operations: &Operations,
    layer: &Layer,
    kept: &Kept<'_>,
    scratch: &mut Scratch,
    x: &mut [f32],
) {
    let matrices = Matrices::new(&operations.shape, layer);
    let product = &mut scratch.arena[..kept.gate_up.len() / 2];
    operations.swiglu(kept.gate_up, product);
    operations.copy(kept.x1, x);
    operations.linear(matrices.down, product, x, Write::Add);
}

/// Backward, right after `forward_keeping` or `attention` of the same layer: `scratch.dx` goes from the gradient after
/// the layer to the one before it. Gate and up in `kept` are used up.
pub(super) fn backward(
    operations: &Operations,
    layer: &Layer,
    gradients: &mut Layer,
    x0: &[f32],
    kept: &mut Kept<'_>,
    scratch: &mut Scratch,
) {
    feed_forward_backward(operations, layer, gradients, kept, scratch);
    attention_backward(operations, layer, gradients, x0, kept, scratch);
}

fn feed_forward_backward(
    operations: &Operations,
    layer: &Layer,
    gradients: &mut Layer,
    kept: &mut Kept<'_>,
    scratch: &mut Scratch,
) {
    let matrices = Matrices::new(&operations.shape, layer);
    let Scratch { normed, arena, dx, norm, inverse, .. } = scratch;
    let x1 = &*kept.x1;
    let product = &mut arena[..kept.gate_up.len() / 2];
    operations.swiglu(kept.gate_up, product);
    operations.linear_weight(matrices.down, dx, product, &mut gradients.down, Write::Set);
    let dproduct = product;
    operations.linear_input(matrices.down, dx, dproduct);
    operations.swiglu_backward(kept.gate_up, dproduct);
    operations.norm(x1, &layer.feed_forward_norm, normed, inverse);
    operations.linear_weight(matrices.gate_up, kept.gate_up, normed, &mut gradients.gate_up, Write::Set);
    let dnormed = normed;
    operations.linear_input(matrices.gate_up, kept.gate_up, dnormed);
    let weight = &layer.feed_forward_norm;
    let dweight = &mut gradients.feed_forward_norm;
    operations.norm_backward(x1, weight, inverse, dnormed, dx, dweight, norm);
}

fn attention_backward(
    operations: &Operations,
    layer: &Layer,
    gradients: &mut Layer,
    x0: &[f32],
    kept: &Kept<'_>,
    scratch: &mut Scratch,
) {
    let matrices = Matrices::new(&operations.shape, layer);
    let Scratch { normed, arena, dx, norm, attention, inverse, .. } = scratch;
    let (attended, logsumexp) = (&*kept.attended, &*kept.logsumexp);
    let dqkv = &mut arena[..kept.qkv.len()];
    operations.linear_weight(matrices.attention_out, dx, attended, &mut gradients.attention_out, Write::Set);
    operations.linear_input(matrices.attention_out, dx, normed);
    operations.attend_backward(kept.qkv, attended, logsumexp, normed, dqkv, attention);
    operations.rotate(Direction::Backward, dqkv);
    operations.norm(x0, &layer.attention_norm, normed, inverse);
    operations.linear_weight(matrices.qkv, dqkv, normed, &mut gradients.qkv, Write::Set);
    let dnormed = normed;
    operations.linear_input(matrices.qkv, dqkv, dnormed);
    let dweight = &mut gradients.attention_norm;
    operations.norm_backward(x0, &layer.attention_norm, inverse, dnormed, dx, dweight, norm);
}
