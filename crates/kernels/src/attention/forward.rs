//! The forward pass: for each block of queries a running maximum, sum and mean over the blocks of keys.

use super::pack::{HeadVectors, transpose_panels};
use super::tiles::{Cut, Item, Numbers, Vectors};
use super::{AttentionShape, KEYS, PANEL, QUERIES, Section, scratch_length, split_scratch};
use crate::dispatch::dispatch;
use crate::math::exp_weight;
use crate::math::product::{Left, ProductSize, Right, product};
use crate::{Threads, Write};

/// How the work is cut into tasks.
fn cut(threads: &Threads, shape: &AttentionShape) -> Cut {
    let mut cut = Cut { shape: *shape, block: QUERIES, per_task: 1 };
    cut.per_task = threads.items_per_task(cut.items(), 1);
    cut
}

/// The scratch of one task: four blocks, the scores of a panel, and maximum and sum of each query.
fn scratch_of_task(shape: &AttentionShape) -> usize {
    let blocks = shape.row().saturating_mul(2 * (KEYS + QUERIES));
    blocks.saturating_add(KEYS * PANEL + 2 * QUERIES)
}

pub(super) fn scratch(threads: &Threads, shape: &AttentionShape) -> usize {
    scratch_length(cut(threads, shape).tasks(), scratch_of_task(shape))
}

pub(super) fn run(
    threads: &Threads,
    shape: &AttentionShape,
    qkv: &[f32],
    out: &mut [f32],
    logsumexp: &mut [f32],
    scratch: &mut [f32],
) {
    let cut = cut(threads, shape);
    let scratch = split_scratch(scratch, cut.tasks(), scratch_of_task(shape));
    let parts = (Vectors::new(out, 1, cut), Numbers::new(logsumexp, cut), scratch);
    threads.run_parts(parts, |_, (mut out, mut logsumexp, scratch)| {
        for number in out.numbers() {
            let item = out.item(number);
            let mut block = QueryBlock::new(shape, scratch);
            block.compute(shape, qkv, item);
            let logsumexp = logsumexp.next(item.count);
            for (position, logsumexp) in logsumexp.iter_mut().enumerate() {
                *logsumexp = block.finish(shape, position, out.vector(number, 0, position));
            }
        }
    });
}

/// The working memory of one block of queries.
struct QueryBlock<'a> {
    keys: &'a mut [f32],
    values: &'a mut [f32],
    queries: &'a mut [f32],
    means: &'a mut [f32],
    scores: &'a mut [f32],
    largest: &'a mut [f32],
    total: &'a mut [f32],
}

impl<'a> QueryBlock<'a> {
    fn new(shape: &AttentionShape, scratch: &'a mut [f32]) -> Self {
        let row = shape.row();
        let (keys, scratch) = scratch.split_at_mut(KEYS * row);
        let (values, scratch) = scratch.split_at_mut(KEYS * row);
        let (queries, scratch) = scratch.split_at_mut(QUERIES * row);
        let (means, scratch) = scratch.split_at_mut(QUERIES * row);
        let (scores, scratch) = scratch.split_at_mut(KEYS * PANEL);
        let (largest, total) = scratch.split_at_mut(QUERIES);
        Self { keys, values, queries, means, scores, largest, total }
    }

    /// Sums up powers and weighted values of all keys that the queries of an item see.
    fn compute(&mut self, shape: &AttentionShape, qkv: &[f32], item: Item) {
        let source = |section| HeadVectors::qkv(qkv, section, item.sequence, item.head);
        // The rows of the queries are needed only to transpose them; the means take their place.
        source(Section::Query).copy(shape, item.first, item.count, self.means);
        transpose_panels(shape, item.count, shape.scale(), self.means, self.queries);
        self.largest.fill(f32::NEG_INFINITY);
        self.total.fill(0.0);
        let seen = shape.keys_seen(item.first + item.count - 1);
        for first in (0..seen).step_by(KEYS) {
            let count = KEYS.min(seen - first);
            source(Section::Key).copy(shape, first, count, self.keys);
            source(Section::Value).copy(shape, first, count, self.values);
            for panel in (0..item.count).step_by(PANEL) {
                let queries = PANEL.min(item.count - panel);
                let seen = shape.keys_seen(item.first + panel + queries - 1);
                if first < seen {
                    let mask = shape.causal.then_some(item.first + panel);
                    self.add_keys(shape, panel, queries, first, count.min(seen - first), mask);
                }
            }
        }
    }

    /// Takes `count` keys from `first` on into account for one panel of queries. With a mask, which is the position
    /// of the panel's first query, later keys are hidden.
    fn add_keys(
        &mut self,
        shape: &AttentionShape,
        panel: usize,
        queries: usize,
        first: usize,
        count: usize,
        mask: Option<usize>,
    ) {
        let row = shape.row();
        let scores = &mut self.scores[..count * PANEL];
        let size = ProductSize { rows: count, columns: PANEL, depth: shape.head_size };
        let keys = Left { data: self.keys, row, step: 1 };
        let right = Right { data: &self.queries[panel * row..], row: PANEL };
        product(size, keys, right, scores, PANEL, Write::Set);

        let hidden_from = mask.map_or(count, |query| (query + 1).saturating_sub(first).min(count));
        let lead = mask.map_or(0, |query| (first + hidden_from).saturating_sub(query));
        let largest = &mut self.largest[panel..panel + PANEL];
        let mut correction = [0.0; PANEL];
        soften(scores, hidden_from, lead, largest, &mut self.total[panel..panel + PANEL], &mut correction);

        let means = &mut self.means[panel * row..][..queries * row];
        let write = if first == 0 {
            Write::Set
        } else {
            scale_rows(means, row, &correction);
            Write::Add
        };
        let size = ProductSize { rows: queries, columns: row, depth: count };
        let weights = Left { data: scores, row: 1, step: PANEL };
        product(size, weights, Right { data: self.values, row }, means, row, write);
    }

    /// Writes the output of one query and returns the logarithm of the sum of its powers.
    fn finish(&self, shape: &AttentionShape, position: usize, out: &mut [f32]) -> f32 {
        let means = &self.means[position * shape.row()..][..shape.head_size];
        let total = self.total[position];
        divide(means, total, out);
        self.largest[position] + total.ln()
    }
}

dispatch! {
    /// Turns scores, a row for each key, into powers relative to the largest score of each column so far, and brings
    /// maximum and sum up to date. Rows from `hidden_from` on are hidden from the first `lead` columns, `lead + 1`
    /// columns and so on.
    fn soften<I>(
        scores: &mut [f32],
        hidden_from: usize,
        lead: usize,
        largest: &mut [f32],
        total: &mut [f32],
        correction: &mut [f32; PANEL],
    ) {
        let (rows, _) = scores.as_chunks_mut::<PANEL>();
        for (hidden, row) in (lead..).zip(&mut rows[hidden_from..]) {
            row[..hidden.min(PANEL)].fill(f32::NEG_INFINITY);
        }
        let mut maximum = [f32::NEG_INFINITY; PANEL];
        maximum.copy_from_slice(largest);
        for row in &*rows {
            for (maximum, &score) in maximum.iter_mut().zip(row) {
                *maximum = if score > *maximum { score } else { *maximum };
            }
        }
        let mut sums = [0.0; PANEL];
        for row in rows {
            for lane in 0..PANEL {
                row[lane] = exp_weight::<I>(row[lane] - maximum[lane]);
                sums[lane] += row[lane];
            }
        }
        for lane in 0..PANEL {
            correction[lane] = exp_weight::<I>(largest[lane] - maximum[lane]);
            total[lane] = total[lane] * correction[lane] + sums[lane];
            largest[lane] = maximum[lane];
        }
    }
}

dispatch! {
    /// Multiplies each row by its factor.
    fn scale_rows<I>(rows: &mut [f32], width: usize, factors: &[f32; PANEL]) {
        for (row, &factor) in rows.chunks_exact_mut(width).zip(factors) {
            for value in row {
                *value *= factor;
            }
        }
    }
}

dispatch! {
    /// Sets `out` to `values / total`.
    fn divide<I>(values: &[f32], total: f32, out: &mut [f32]) {
        let factor = 1.0 / total;
        for (out, &value) in out.iter_mut().zip(values) {
            *out = value * factor;
        }
    }
}
