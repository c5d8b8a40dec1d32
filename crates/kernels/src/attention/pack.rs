//! Vectors of a head brought together in scratch.

use super::{AttentionShape, PANEL, Section};
use crate::dispatch::dispatch;

/// Where the vectors of a head come from: `sections` times all heads in a row.
#[derive(Clone, Copy)]
pub(super) struct HeadVectors<'a> {
    buffer: &'a [f32],
    sections: usize,
    section: usize,
    sequence: usize,
    head: usize,
}

impl<'a> HeadVectors<'a> {
    /// Queries, keys or values.
    pub(super) fn qkv(buffer: &'a [f32], section: Section, sequence: usize, head: usize) -> Self {
        Self { buffer, sections: 3, section: section as usize, sequence, head }
    }

    /// A buffer like the output.
    pub(super) fn output(buffer: &'a [f32], sequence: usize, head: usize) -> Self {
        Self { buffer, sections: 1, section: 0, sequence, head }
    }

    /// The vector at a position.
    pub(super) fn vector(&self, shape: &AttentionShape, position: usize) -> &'a [f32] {
        &self.buffer[shape.vector(self.sections, self.section, self.sequence, self.head, position)]
    }

    /// Copies `count` vectors from position `first` on to the rows of a block.
    pub(super) fn copy(&self, shape: &AttentionShape, first: usize, count: usize, block: &mut [f32]) {
        for (position, row) in (first..first + count).zip(block.chunks_exact_mut(shape.row())) {
            row[..shape.head_size].copy_from_slice(self.vector(shape, position));
        }
    }
}

/// Multiplies the rows of a block by `factor` and writes each panel of them transposed to `panels`. Rows that are
/// missing in the last panel count as zeros.
pub(super) fn transpose_panels(
    shape: &AttentionShape,
    count: usize,
    factor: f32,
    block: &mut [f32],
    panels: &mut [f32],
) {
    let size = PANEL * shape.row();
    let blocks = block.chunks_exact_mut(size).zip(panels.chunks_exact_mut(size));
    for ((rows, panel), first) in blocks.zip((0..count).step_by(PANEL)) {
        let present = (count - first).min(PANEL) * shape.row();
        rows[present..].fill(0.0);
        transpose(rows, shape.row(), factor, panel);
    }
}

dispatch! {
    /// Multiplies sixteen rows of `width` elements, a multiple of eight, and writes them transposed.
    fn transpose<I>(rows: &mut [f32], width: usize, factor: f32, transposed: &mut [f32]) {
        const SIDE: usize = 8;
        for row in (0..PANEL).step_by(SIDE) {
            for column in (0..width).step_by(SIDE) {
                let mut square = [[0.0; SIDE]; SIDE];
                for (line, values) in square.iter_mut().enumerate() {
                    let source = &mut rows[(row + line) * width + column..][..SIDE];
                    for (value, source) in values.iter_mut().zip(source) {
                        *source *= factor;
                        *value = *source;
                    }
                }
                for place in 0..SIDE {
                    let target = &mut transposed[(column + place) * PANEL + row..][..SIDE];
                    for (target, values) in target.iter_mut().zip(&square) {
                        *target = values[place];
                    }
                }
            }
        }
    }
}
