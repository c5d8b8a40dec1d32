//! The backward pass: probabilities of a block are made again from the logarithms the forward pass kept.
//!
//! One item is a whole head of a sequence, so that no two tasks add to the same gradient. With `P` the probabilities,
//! `O` the output and `D` the sums of `dO * O` over each query: `dV = Pᵀ dO`, `dP = dO Vᵀ`, `dS = P (dP - D)`,
//! `dQ = scale dS K` and `dK = scale dSᵀ Q`.

use super::pack::{HeadVectors, transpose_panels};
use super::tiles::{Cut, Item, Vectors};
use super::{AttentionShape, KEYS, PANEL, QUERIES, Section, scratch_length, split_scratch};
use crate::dispatch::{Instructions, dispatch};
use crate::math::exp_weight;
use crate::math::product::{Left, ProductSize, Right, product};
use crate::math::sums::sum;
use crate::{Threads, Write};

/// What the backward pass reads.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) qkv: &'a [f32],
    pub(super) out: &'a [f32],
    pub(super) logsumexp: &'a [f32],
    pub(super) dout: &'a [f32],
}

/// How the work is cut into tasks.
fn cut(threads: &Threads, shape: &AttentionShape) -> Cut {
    let mut cut = Cut { shape: *shape, block: shape.context.max(1), per_task: 1 };
    cut.per_task = threads.items_per_task(cut.items(), 1);
    cut
}

/// The scratch of one task: the gradients of all keys and values of a head, blocks of the rest.
fn scratch_of_task(shape: &AttentionShape) -> usize {
    let keys = shape.context.next_multiple_of(PANEL);
    let rows = keys.saturating_mul(2).saturating_add(2 * KEYS + 5 * QUERIES);
    rows.saturating_mul(shape.row()).saturating_add(2 * KEYS * QUERIES + 2 * QUERIES)
}

pub(super) fn scratch(threads: &Threads, shape: &AttentionShape) -> usize {
    scratch_length(cut(threads, shape).tasks(), scratch_of_task(shape))
}

pub(super) fn run(
    threads: &Threads,
    shape: &AttentionShape,
    inputs: Inputs<'_>,
    dqkv: &mut [f32],
    scratch: &mut [f32],
) {
    let cut = cut(threads, shape);
    let scratch = split_scratch(scratch, cut.tasks(), scratch_of_task(shape));
    threads.run_parts((Vectors::new(dqkv, 3, cut), scratch), |_, (mut dqkv, scratch)| {
        for number in dqkv.numbers() {
            let item = dqkv.item(number);
            let mut head = HeadMemory::new(shape, scratch);
            for first in (0..shape.context).step_by(QUERIES) {
                let count = QUERIES.min(shape.context - first);
                head.add_queries(shape, inputs, Item { first, count, ..item });
                let rows = head.dqueries.chunks_exact(shape.row()).take(count);
                for (position, row) in rows.enumerate() {
                    let target = dqkv.vector(number, Section::Query as usize, first + position);
                    multiply(&row[..shape.head_size], shape.scale(), target);
                }
            }
            for (section, gradients) in [(Section::Key, &head.dkeys), (Section::Value, &head.dvalues)] {
                for (position, row) in gradients.chunks_exact(shape.row()).take(shape.context).enumerate() {
                    dqkv.vector(number, section as usize, position).copy_from_slice(&row[..shape.head_size]);
                }
            }
        }
    });
}

/// The working memory of one head.
struct HeadMemory<'a> {
    dkeys: &'a mut [f32],
    dvalues: &'a mut [f32],
    keys: &'a mut [f32],
    values: &'a mut [f32],
    /// Scaled queries of a block, by rows and transposed by panels.
    queries: &'a mut [f32],
    query_panels: &'a mut [f32],
    /// Gradients of the output of a block, the same.
    douts: &'a mut [f32],
    dout_panels: &'a mut [f32],
    dqueries: &'a mut [f32],
    /// Probabilities of a block: a row for each key.
    weights: &'a mut [f32],
    /// Gradients of the scores, the same.
    slopes: &'a mut [f32],
    logsumexp: &'a mut [f32],
    /// The sum of output times its gradient for each query.
    deltas: &'a mut [f32],
}

impl<'a> HeadMemory<'a> {
    fn new(shape: &AttentionShape, scratch: &'a mut [f32]) -> Self {
        let row = shape.row();
        let all_keys = shape.context.next_multiple_of(PANEL) * row;
        let (dkeys, scratch) = scratch.split_at_mut(all_keys);
        let (dvalues, scratch) = scratch.split_at_mut(all_keys);
        let (keys, scratch) = scratch.split_at_mut(KEYS * row);
        let (values, scratch) = scratch.split_at_mut(KEYS * row);
        let (queries, scratch) = scratch.split_at_mut(QUERIES * row);
        let (query_panels, scratch) = scratch.split_at_mut(QUERIES * row);
        let (douts, scratch) = scratch.split_at_mut(QUERIES * row);
        let (dout_panels, scratch) = scratch.split_at_mut(QUERIES * row);
        let (dqueries, scratch) = scratch.split_at_mut(QUERIES * row);
        let (weights, scratch) = scratch.split_at_mut(KEYS * QUERIES);
        let (slopes, scratch) = scratch.split_at_mut(KEYS * QUERIES);
        let (logsumexp, deltas) = scratch.split_at_mut(QUERIES);
        dkeys.fill(0.0);
        dvalues.fill(0.0);
        Self {
            dkeys,
            dvalues,
            keys,
            values,
            queries,
            query_panels,
            douts,
            dout_panels,
            dqueries,
            weights,
            slopes,
            logsumexp,
            deltas,
        }
    }

    /// Brings the queries of a block, and what belongs to them, into place.
    fn load_queries(&mut self, shape: &AttentionShape, inputs: Inputs<'_>, item: Item) {
        let query = HeadVectors::qkv(inputs.qkv, Section::Query, item.sequence, item.head);
        let dout = HeadVectors::output(inputs.dout, item.sequence, item.head);
        let out = HeadVectors::output(inputs.out, item.sequence, item.head);
        query.copy(shape, item.first, item.count, self.queries);
        transpose_panels(shape, item.count, shape.scale(), self.queries, self.query_panels);
        dout.copy(shape, item.first, item.count, self.douts);
        transpose_panels(shape, item.count, 1.0, self.douts, self.dout_panels);
        let of_head = (item.sequence * shape.heads + item.head) * shape.context + item.first;
        self.logsumexp[..item.count].copy_from_slice(&inputs.logsumexp[of_head..][..item.count]);
        self.logsumexp[item.count..].fill(0.0);
        self.deltas.fill(0.0);
        for (position, delta) in (item.first..item.first + item.count).zip(&mut *self.deltas) {
            *delta = inner(out.vector(shape, position), dout.vector(shape, position));
        }
    }

    /// Computes the gradients of a block of queries, and what it adds to those of keys and values.
    fn add_queries(&mut self, shape: &AttentionShape, inputs: Inputs<'_>, item: Item) {
        self.load_queries(shape, inputs, item);
        let seen = shape.keys_seen(item.first + item.count - 1);
        for first in (0..seen).step_by(KEYS) {
            let count = KEYS.min(seen - first);
            let source = |section| HeadVectors::qkv(inputs.qkv, section, item.sequence, item.head);
            source(Section::Key).copy(shape, first, count, self.keys);
            source(Section::Value).copy(shape, first, count, self.values);
            for panel in (0..item.count).step_by(PANEL) {
                let queries = PANEL.min(item.count - panel);
                let seen = shape.keys_seen(item.first + panel + queries - 1);
                if first < seen {
                    let mask = shape.causal.then_some(item.first + panel);
                    self.score(shape, panel, queries, first, count.min(seen - first), mask);
                }
            }
            self.add_to_keys(shape, item, first, count);
        }
    }

    /// Computes probabilities and gradients of the scores of one panel of queries with `count` keys from `first` on,
    /// and what they add to the gradients of the queries.
    fn score(
        &mut self,
        shape: &AttentionShape,
        panel: usize,
        queries: usize,
        first: usize,
        count: usize,
        mask: Option<usize>,
    ) {
        let row = shape.row();
        let size = ProductSize { rows: count, columns: PANEL, depth: shape.head_size };
        let left = |data| Left { data, row, step: 1 };
        let right = |data| Right { data, row: PANEL };
        let weights = &mut self.weights[panel..];
        let slopes = &mut self.slopes[panel..];
        product(
            size,
            left(self.keys),
            right(&self.query_panels[panel * row..]),
            weights,
            QUERIES,
            Write::Set,
        );
        product(
            size,
            left(self.values),
            right(&self.dout_panels[panel * row..]),
            slopes,
            QUERIES,
            Write::Set,
        );

        let hidden_from = mask.map_or(count, |query| (query + 1).saturating_sub(first).min(count));
        let lead = mask.map_or(0, |query| (first + hidden_from).saturating_sub(query));
        let logsumexp = &self.logsumexp[panel..panel + PANEL];
        let deltas = &self.deltas[panel..panel + PANEL];
        differentiate(weights, slopes, count, hidden_from, lead, logsumexp, deltas);

        let size = ProductSize { rows: queries, columns: row, depth: count };
        let write = if first == 0 { Write::Set } else { Write::Add };
        let slopes = Left { data: slopes, row: 1, step: QUERIES };
        let dqueries = &mut self.dqueries[panel * row..];
        product(size, slopes, Right { data: self.keys, row }, dqueries, row, write);
    }

    /// Adds to the gradients of `count` keys and values from `first` on, by panels, so that with a mask only the
    /// queries from a panel on are needed.
    fn add_to_keys(&mut self, shape: &AttentionShape, item: Item, first: usize, count: usize) {
        let row = shape.row();
        for panel in (0..count).step_by(PANEL) {
            let hidden = if shape.causal { (first + panel).saturating_sub(item.first) } else { 0 };
            let rows = PANEL.min(count - panel);
            let size = ProductSize { rows, columns: row, depth: item.count - hidden };
            let place = (first + panel) * row;
            let left = |data| Left { data, row: QUERIES, step: 1 };
            let start = panel * QUERIES + hidden;
            let douts = Right { data: &self.douts[hidden * row..], row };
            product(size, left(&self.weights[start..]), douts, &mut self.dvalues[place..], row, Write::Add);
            let queries = Right { data: &self.queries[hidden * row..], row };
            product(size, left(&self.slopes[start..]), queries, &mut self.dkeys[place..], row, Write::Add);
        }
    }
}

dispatch! {
    /// Turns scores into probabilities and gradients of probabilities into gradients of scores. Rows from
    /// `hidden_from` on are hidden from the first `lead` columns, `lead + 1` columns and so on.
    fn differentiate<I>(
        weights: &mut [f32],
        slopes: &mut [f32],
        count: usize,
        hidden_from: usize,
        lead: usize,
        logsumexp: &[f32],
        deltas: &[f32],
    ) {
        let rows = weights.chunks_mut(QUERIES).zip(slopes.chunks_mut(QUERIES)).take(count);
        for (key, (weights, slopes)) in rows.enumerate() {
            let (weights, slopes) = (&mut weights[..PANEL], &mut slopes[..PANEL]);
            for lane in 0..PANEL {
                weights[lane] = exp_weight::<I>(weights[lane] - logsumexp[lane]);
                slopes[lane] = weights[lane] * (slopes[lane] - deltas[lane]);
            }
            if key >= hidden_from {
                let hidden = (lead + key - hidden_from).min(PANEL);
                weights[..hidden].fill(0.0);
                slopes[..hidden].fill(0.0);
            }
        }
    }
}

dispatch! {
    /// The inner product of two vectors.
    fn inner<I>(a: &[f32], b: &[f32]) -> f32 {
        sum([a, b], |sum, [a, b]| I::mul_add(a, b, sum))
    }
}

dispatch! {
    /// Sets `target` to `values * factor`.
    fn multiply<I>(values: &[f32], factor: f32, target: &mut [f32]) {
        for (target, &value) in target.iter_mut().zip(values) {
            *target = value * factor;
        }
    }
}
