//! A call of every kernel with numbers from a seed; each returns all that it computed.

use crate::attention::{self, Heads};
use crate::gelu::Kind;
use crate::matmul::{Layout, Write, matmul};
use crate::packed::{Packed, Then};
use crate::{
    Threads, adam_w, bias, convolution, cross_entropy, dropout, embedding, gelu, layer_norm, max_pool,
    pooled_convolution, reduce, relu, rms_norm, rope, sgd, swiglu,
};

pub(super) type Case = fn(&Threads) -> Vec<f32>;

/// The name of a case begins with the module of its kernel.
pub(super) const CASES: &[(&str, Case)] = &[
    ("matmul", products),
    ("attention", attention_of_all),
    ("attention rows", attention_of_rows),
    ("packed", packed),
    ("convolution", convolutions),
    ("pooled_convolution", pooled_convolutions),
    ("max_pool", max_pools),
    ("bias", biases),
    ("layer_norm", layer_norms),
    ("rms_norm", rms_norms),
    ("rope", rotations),
    ("gelu", gelus),
    ("swiglu", swiglus),
    ("relu", relus),
    ("dropout", dropouts),
    ("embedding", embeddings),
    ("cross_entropy", losses),
    ("adam_w", adam_w_steps),
    ("sgd", sgd_steps),
    ("reduce", reductions),
];

/// Numbers between -1 and 1.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    (0..count as u64)
        .map(|index| (assay_random::draw(seed, index) >> 40) as f32 / (1 << 23) as f32 - 1.0)
        .collect()
}

fn below(count: usize, bound: u32, seed: u64) -> Vec<u32> {
    (0..count as u64).map(|index| (assay_random::draw(seed, index) % u64::from(bound)) as u32).collect()
}

fn products(threads: &Threads) -> Vec<f32> {
    let mut all = Vec::new();
    let mut multiply = |layout, (m, n, k): (usize, usize, usize), write| {
        let (a, b, mut c) = (numbers(m * k, 1), numbers(k * n, 2), numbers(m * n, 3));
        matmul(threads, layout, m, n, k, &a, &b, &mut c, write);
        all.extend(c);
    };
    for layout in [Layout::NN, Layout::NT, Layout::TN, Layout::TT] {
        for write in [Write::Set, Write::Add] {
            multiply(layout, (37, 29, 41), write);
        }
        multiply(layout, (3, 67, 130), Write::Set);
    }
    // Longer than any block of inner indices.
    multiply(Layout::NT, (65, 49, 600), Write::Set);
    multiply(Layout::TN, (49, 35, 600), Write::Add);
    all
}

fn attention_of_all(threads: &Threads) -> Vec<f32> {
    let mut all = Vec::new();
    for causal in [true, false] {
        let shape = attention::Shape { batch: 2, context: 21, heads: 2, head_size: 20, causal };
        let qkv = numbers(3 * shape.output_length(), 1);
        let mut out = vec![0.0; shape.output_length()];
        let mut logsumexp = vec![0.0; shape.logsumexp_length()];
        let mut scratch = vec![0.0; attention::forward_scratch(threads, &shape)];
        attention::forward(threads, &shape, &qkv, &mut out, &mut logsumexp, &mut scratch);
        let (dout, mut dqkv) = (numbers(out.len(), 2), vec![0.0; qkv.len()]);
        let mut scratch = vec![0.0; attention::backward_scratch(threads, &shape)];
        attention::backward(threads, &shape, &qkv, &out, &logsumexp, &dout, &mut dqkv, &mut scratch);
        all.extend([out, logsumexp, dqkv].concat());
    }
    all
}

fn attention_of_rows(_: &Threads) -> Vec<f32> {
    let heads = Heads { count: 2, size: 20 };
    let (qkv, mut out) = (numbers(19 * 3 * heads.width(), 1), vec![0.0; 7 * heads.width()]);
    let mut scratch = vec![0.0; heads.scratch(19)];
    attention::rows(heads, &qkv, 0..19, 5..12, &mut out, &mut scratch);
    out
}

fn packed(_: &Threads) -> Vec<f32> {
    let (inputs, outputs, rows) = (23, 37, 7);
    let packed = Packed::new(&numbers(inputs * outputs, 1), &numbers(outputs, 2), inputs);
    let x = numbers(rows * inputs, 3);
    let apply = |(write, then)| {
        let mut y = numbers(rows * outputs, 4);
        packed.apply(&x, &mut y, write, then);
        y
    };
    let (exact, tanh) = (Then::Gelu(Kind::Exact), Then::Gelu(Kind::Tanh));
    let calls =
        [(Write::Set, Then::Nothing), (Write::Add, exact), (Write::Set, tanh), (Write::Add, Then::Tanh)];
    calls.map(apply).concat()
}

fn convolutions(threads: &Threads) -> Vec<f32> {
    let shape = convolution::Shape {
        batch: 2,
        channels: 2,
        height: 11,
        width: 13,
        filters: 5,
        kernel_height: 3,
        kernel_width: 3,
    };
    let (x, weight) = (numbers(shape.input_length(), 1), numbers(shape.weight_length(), 2));
    let (bias, dy) = (numbers(shape.filters, 3), numbers(shape.output_length(), 4));
    let mut scratch = vec![0.0; convolution::scratch(threads, &shape)];
    let (mut y, mut dx) = (vec![0.0; dy.len()], vec![0.0; x.len()]);
    convolution::forward(threads, &shape, &x, &weight, &bias, &mut y, &mut scratch);
    convolution::backward_input(threads, &shape, &weight, &dy, &mut dx, &mut scratch);
    let mut scratch = vec![0.0; convolution::backward_weight_scratch(threads, &shape)];
    let (mut dweight, mut dbias) = (numbers(weight.len(), 5), numbers(bias.len(), 6));
    convolution::backward_weight(threads, &shape, &x, &dy, &mut dweight, &mut dbias, &mut scratch);
    [y, dx, dweight, dbias].concat()
}

fn pooled_convolutions(_: &Threads) -> Vec<f32> {
    let shape = pooled_convolution::Shape {
        channels: 3,
        height: 10,
        width: 13,
        filters: 19,
        kernel_height: 3,
        kernel_width: 3,
    };
    let (x, weight) = (numbers(shape.input_length(), 1), numbers(shape.weight_length(), 2));
    let (bias, dy) = (numbers(shape.filters, 3), numbers(shape.output_length(), 4));
    let mut workspace = pooled_convolution::Workspace::new(&shape);
    let mut panels = vec![0.0; shape.panels_length()];
    pooled_convolution::pack(&shape, &weight, &mut panels);
    let (mut y, mut index) = (vec![0.0; dy.len()], vec![0; dy.len()]);
    pooled_convolution::forward(&shape, &panels, &bias, &x, &mut y, &mut index, &mut workspace);
    // Gradients go where the plain instructions send them: a window whose two largest elements are nearly equal may
    // choose either, and both are right.
    let index: Vec<u8> = (0..dy.len()).map(|place| (place % 5) as u8).collect();
    let (mut dweight, mut dbias) = (numbers(weight.len(), 5), numbers(bias.len(), 6));
    let mut dx = vec![0.0; x.len()];
    pooled_convolution::backward_weight(&shape, &x, &index, &dy, &mut dweight, &mut dbias, &mut workspace);
    pooled_convolution::backward_input(&shape, &weight, &index, &dy, &mut dx, &mut workspace);
    [y, dweight, dbias, dx].concat()
}

fn max_pools(threads: &Threads) -> Vec<f32> {
    let shape = max_pool::Shape { planes: 3, height: 9, width: 23, window_height: 2, window_width: 2 };
    let (x, dy) = (numbers(shape.input_length(), 1), numbers(shape.output_length(), 2));
    let (mut y, mut index) = (vec![0.0; dy.len()], vec![0; dy.len()]);
    max_pool::forward(threads, &shape, &x, &mut y, &mut index);
    let mut dx = vec![0.0; x.len()];
    max_pool::backward(threads, &shape, &index, &dy, &mut dx);
    [y, dx].concat()
}

fn biases(threads: &Threads) -> Vec<f32> {
    let (width, rows) = (37, 9);
    let mut y = numbers(rows * width, 1);
    bias::forward(threads, &numbers(width, 2), &mut y);
    let mut dbias = numbers(width, 3);
    let mut scratch = vec![0.0; bias::backward_scratch(threads, width)];
    bias::backward(threads, &y, &mut dbias, &mut scratch);
    [y, dbias].concat()
}

fn layer_norms(threads: &Threads) -> Vec<f32> {
    let (width, rows) = (37, 9);
    let (x, weight, bias) = (numbers(rows * width, 1), numbers(width, 2), numbers(width, 3));
    let (mut y, mut mean, mut inverse) = (vec![0.0; x.len()], vec![0.0; rows], vec![0.0; rows]);
    layer_norm::forward(threads, &x, &weight, &bias, 1e-5, &mut y, &mut mean, &mut inverse);
    let mut same = x.clone();
    layer_norm::in_place(&mut same, &weight, &bias, 1e-5);
    let (dy, mut dx) = (numbers(x.len(), 4), numbers(x.len(), 5));
    let (mut dweight, mut dbias) = (numbers(width, 6), numbers(width, 7));
    let mut scratch = vec![0.0; layer_norm::backward_scratch(threads, width)];
    layer_norm::backward(
        threads,
        &x,
        &weight,
        &mean,
        &inverse,
        &dy,
        &mut dx,
        &mut dweight,
        &mut dbias,
        &mut scratch,
    );
    [y, mean, inverse, same, dx, dweight, dbias].concat()
}

fn rms_norms(threads: &Threads) -> Vec<f32> {
    let (width, rows) = (37, 9);
    let (x, weight) = (numbers(rows * width, 1), numbers(width, 2));
    let (mut y, mut inverse) = (vec![0.0; x.len()], vec![0.0; rows]);
    rms_norm::forward(threads, &x, &weight, 1e-5, &mut y, &mut inverse);
    let (dy, mut dx, mut dweight) = (numbers(x.len(), 3), numbers(x.len(), 4), numbers(width, 5));
    let mut scratch = vec![0.0; rms_norm::backward_scratch(threads, width)];
    rms_norm::backward(threads, &x, &weight, &inverse, &dy, &mut dx, &mut dweight, &mut scratch);
    [y, inverse, dx, dweight].concat()
}

fn rotations(threads: &Threads) -> Vec<f32> {
    let table = rope::Table::new(11, 22, 10_000.0);
    let turn = |direction| {
        let mut x = numbers(22 * 50, 1);
        rope::apply(threads, &table, direction, &mut x, 50, 3, 2, 11);
        x
    };
    [rope::Direction::Forward, rope::Direction::Backward].map(turn).concat()
}

/// Numbers from far below to far above the range in which an activation bends.
fn wide_numbers(count: usize, seed: u64) -> Vec<f32> {
    numbers(count, seed).into_iter().map(|x| 12.0 * x).collect()
}

fn gelus(threads: &Threads) -> Vec<f32> {
    let (x, dy) = (wide_numbers(203, 1), numbers(203, 2));
    let both = |kind| {
        let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        gelu::forward(threads, kind, &x, &mut y);
        gelu::backward(threads, kind, &x, &dy, &mut dx);
        [y, dx].concat()
    };
    [Kind::Exact, Kind::Tanh].map(both).concat()
}

fn swiglus(threads: &Threads) -> Vec<f32> {
    let (hidden, rows) = (37, 5);
    let mut gate_up = wide_numbers(rows * 2 * hidden, 1);
    let mut y = vec![0.0; rows * hidden];
    swiglu::forward(threads, &gate_up, hidden, &mut y);
    swiglu::backward(threads, &mut gate_up, hidden, &numbers(rows * hidden, 2));
    [y, gate_up].concat()
}

fn relus(threads: &Threads) -> Vec<f32> {
    let (mut x, dy) = (numbers(103, 1), numbers(103, 2));
    x.extend([0.0, -0.0, f32::NAN]);
    let dy = [dy, vec![1.0; 3]].concat();
    let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    relu::forward(threads, &x, &mut y);
    relu::backward(threads, &x, &dy, &mut dx);
    [y, dx].concat()
}

fn dropouts(threads: &Threads) -> Vec<f32> {
    let x = numbers(1003, 1);
    let mut y = vec![0.0; x.len()];
    dropout::forward(threads, 7, 0.3, &x, &mut y);
    y
}

fn embeddings(threads: &Threads) -> Vec<f32> {
    let (width, ids) = (37, below(29, 11, 1));
    let mut y = vec![0.0; ids.len() * width];
    embedding::forward(threads, &ids, &numbers(11 * width, 2), width, &mut y);
    let mut dtable = numbers(11 * width, 3);
    embedding::backward(threads, &ids, &y, width, &mut dtable);
    [y, dtable].concat()
}

fn losses(threads: &Threads) -> Vec<f32> {
    let (vocabulary, targets) = (67, below(9, 67, 1));
    let mut logits = wide_numbers(targets.len() * vocabulary, 2);
    let (mut first, mut second) = (vec![0.0; targets.len()], vec![0.0; targets.len()]);
    let loss = cross_entropy::forward(threads, &logits, vocabulary, &targets, &mut first);
    let same = cross_entropy::forward_backward(threads, &mut logits, vocabulary, &targets, 0.1, &mut second);
    [vec![loss as f32, same as f32], first, second, logits].concat()
}

fn adam_w_steps(threads: &Threads) -> Vec<f32> {
    let hyper = adam_w::Hyper { rate: 1e-2, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weight_decay: 0.1 };
    let (mut w, g, mut m) = (numbers(103, 1), numbers(103, 2), numbers(103, 3));
    let mut v: Vec<f32> = numbers(103, 4).into_iter().map(f32::abs).collect();
    adam_w::step(threads, &hyper, 3, &mut w, &g, &mut m, &mut v);
    [w, m, v].concat()
}

fn sgd_steps(threads: &Threads) -> Vec<f32> {
    let (mut w, g, mut velocity) = (numbers(103, 1), numbers(103, 2), numbers(103, 3));
    sgd::step(threads, 0.1, 0.9, &mut w, &g, &mut velocity);
    let with_momentum = w.clone();
    sgd::step_plain(threads, 0.1, &mut w, &g);
    [with_momentum, w, velocity].concat()
}

fn reductions(threads: &Threads) -> Vec<f32> {
    let (mut x, mut y) = (numbers(1003, 1), numbers(1003, 2));
    let squares = reduce::sum_of_squares(threads, &x) as f32;
    reduce::scale(threads, &mut x, 0.3);
    reduce::add(threads, &x, &mut y);
    let finite = reduce::all_finite(threads, &x);
    let last = x.len() - 1;
    let with_nan = {
        let mut x = x.clone();
        x[last] = f32::NAN;
        reduce::all_finite(threads, &x)
    };
    [vec![squares, f32::from(u8::from(finite)), f32::from(u8::from(with_nan))], x, y].concat()
}
