//! Attention of some queries over all keys of their sequence, inside one task and without a backward pass: sequences of
//! different lengths stand one behind the other in `qkv`, and whoever calls this knows where each begins.

use std::ops::Range;

use super::PANEL;
use crate::Write;
use crate::dispatch::dispatch;
use crate::math::exp_weight;
use crate::math::product::{COLUMNS, Left, ProductSize, Right, padded, product};

/// The heads of a row of `qkv`, which is `[q | k | v]`, each part `heads * head_size` wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Heads.
    pub count: usize,
    /// Elements of a query, key or value.
    pub size: usize,
}

impl Heads {
    /// Elements of a row of the output.
    pub fn width(&self) -> usize {
        self.count * self.size
    }

    /// The length of the scratch that [`rows`] needs for this many keys; for absurd numbers the largest there is.
    pub fn scratch(&self, keys: usize) -> usize {
        let copies = if self.size.is_multiple_of(COLUMNS) { 0 } else { padded(self.size) };
        let each = PANEL.saturating_add(copies);
        let queries = PANEL.saturating_mul(self.size.saturating_add(copies));
        keys.saturating_mul(each).saturating_add(queries)
    }
}

/// Sets `out` to what the queries of the rows `queries` see: the mean of the values of the rows `keys`, weighted by the
/// softmax of the scores. The contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit together.
pub fn rows(
    heads: Heads,
    qkv: &[f32],
    keys: Range<usize>,
    queries: Range<usize>,
    out: &mut [f32],
    scratch: &mut [f32],
) {
    let width = heads.width();
    let whole = 3 * width;
    assert!(out.len() == queries.len() * width, "there must be a row of the output for every query");
    assert!(keys.end.max(queries.end) * whole <= qkv.len(), "queries and keys must be in qkv");
    assert!(!keys.is_empty() || queries.is_empty(), "queries need a key to look at");
    let needed = heads.scratch(keys.len());
    assert!(scratch.len() >= needed, "the scratch must hold {needed} elements");
    for (panel, out) in out.chunks_mut(PANEL * width).enumerate() {
        let first = queries.start + panel * PANEL;
        for head in 0..heads.count {
            let place = head * heads.size;
            one_panel(heads, &qkv[place..], keys.clone(), first, &mut out[place..], scratch);
        }
    }
}

/// Up to [`PANEL`] queries of one head, whose query, key and value lie at the beginning of each third of a row.
fn one_panel(
    heads: Heads,
    qkv: &[f32],
    keys: Range<usize>,
    first: usize,
    out: &mut [f32],
    scratch: &mut [f32],
) {
    let (width, size) = (heads.width(), heads.size);
    let queries = out.len().div_ceil(width);
    let (turned, scratch) = scratch.split_at_mut(PANEL * size);
    let (scores, scratch) = scratch.split_at_mut(PANEL * keys.len());
    turn(&qkv[first * 3 * width..], 3 * width, queries, size, 1.0 / (size as f32).sqrt(), turned);
    let shape = ProductSize { rows: keys.len(), columns: PANEL, depth: size };
    let left = Left { data: &qkv[keys.start * 3 * width + width..], row: 3 * width, step: 1 };
    product(shape, left, Right { data: turned, row: PANEL }, scores, PANEL, Write::Set);
    soften(scores);
    let weights = Left { data: scores, row: 1, step: PANEL };
    let values = &qkv[keys.start * 3 * width + 2 * width..];
    if size.is_multiple_of(COLUMNS) {
        let shape = ProductSize { rows: queries, columns: size, depth: keys.len() };
        product(shape, weights, Right { data: values, row: 3 * width }, out, width, Write::Set);
        return;
    }
    // Heads that do not fill whole tiles are brought to rows that do.
    let row = padded(size);
    let (copies, means) = scratch.split_at_mut(row * keys.len());
    for (copy, values) in copies.chunks_exact_mut(row).zip(values.chunks(3 * width)) {
        copy[..size].copy_from_slice(&values[..size]);
        copy[size..].fill(0.0);
    }
    let shape = ProductSize { rows: queries, columns: row, depth: keys.len() };
    product(shape, weights, Right { data: copies, row }, means, row, Write::Set);
    for (out, mean) in out.chunks_mut(width).zip(means.chunks_exact(row)) {
        out[..size].copy_from_slice(&mean[..size]);
    }
}

dispatch! {
    /// Writes the first `size` elements of `count` rows times `factor` as columns side by side, with zeros behind them.
    fn turn<I>(rows: &[f32], stride: usize, count: usize, size: usize, factor: f32, columns: &mut [f32]) {
        let (columns, _) = columns.as_chunks_mut::<PANEL>();
        for (place, column) in columns.iter_mut().take(size).enumerate() {
            for (lane, value) in column.iter_mut().enumerate() {
                *value = if lane < count { rows[lane * stride + place] * factor } else { 0.0 };
            }
        }
    }
}

dispatch! {
    /// Turns scores, a row for each key and a column for each query, into weights whose columns sum up to 1.
    fn soften<I>(scores: &mut [f32]) {
        let (rows, _) = scores.as_chunks_mut::<PANEL>();
        let mut largest = [f32::NEG_INFINITY; PANEL];
        for row in &*rows {
            for (largest, &score) in largest.iter_mut().zip(row) {
                *largest = if score > *largest { score } else { *largest };
            }
        }
        let mut sums = [0.0; PANEL];
        for row in &mut *rows {
            for lane in 0..PANEL {
                row[lane] = exp_weight::<I>(row[lane] - largest[lane]);
                sums[lane] += row[lane];
            }
        }
        let factors = sums.map(|sum: f32| 1.0 / sum);
        for row in rows {
            for lane in 0..PANEL {
                row[lane] *= factors[lane];
            }
        }
    }
}
