//! Successive positions of the kernel in an image.

use std::ops::Range;

use super::ConvolutionShape;
use crate::dispatch::dispatch;

/// Positions of a span.
pub(super) const SPAN: usize = 64;

/// The positions from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) shape: ConvolutionShape,
    pub(super) first: usize,
}

impl Span {
    /// The pieces of the span that lie within a row of the output: the range in the span, and the place in a channel
    /// of the output.
    fn runs(self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let (width, output_width) = (self.shape.width, self.shape.output_width());
        let end = self.first + SPAN;
        let rows = self.first / width..self.shape.output_height().min(end.div_ceil(width));
        rows.filter_map(move |row| {
            let begin = (row * width).max(self.first);
            let run = begin..(row * width + output_width).min(end);
            let place = row * output_width + begin - row * width;
            (!run.is_empty()).then(|| (run.start - self.first..run.end - self.first, place))
        })
    }

    /// The range of an image that an element of the kernel sees. At the end of the image it may be shorter than a span.
    fn range(self, tap: usize) -> Range<usize> {
        let begin = self.shape.place_of_tap(tap) + self.first;
        begin..(begin + SPAN).min(self.shape.image())
    }

    /// Copies what every element of the kernel sees, a row of `seen` for each.
    pub(super) fn see(self, image: &[f32], seen: &mut [f32]) {
        for (tap, row) in seen.as_chunks_mut::<SPAN>().0.iter_mut().enumerate() {
            let piece = &image[self.range(tap)];
            if let Ok(whole) = <&[f32; SPAN]>::try_from(piece) {
                *row = *whole;
            } else {
                row[..piece.len()].copy_from_slice(piece);
                row[piece.len()..].fill(0.0);
            }
        }
    }

    /// Adds each row of `seen` to what its element of the kernel sees.
    pub(super) fn add_seen(self, seen: &[f32], image: &mut [f32]) {
        for (tap, row) in seen.as_chunks::<SPAN>().0.iter().enumerate() {
            add(row, &mut image[self.range(tap)]);
        }
    }

    /// Writes a row for each filter, plus its bias, to the output.
    pub(super) fn write(self, rows: &[f32], bias: &[f32], output: &mut [f32]) {
        let channel = self.shape.output_height() * self.shape.output_width();
        let filters = rows.chunks_exact(SPAN).zip(output.chunks_exact_mut(channel));
        for ((row, output), &bias) in filters.zip(bias) {
            for (run, place) in self.runs() {
                for (output, &value) in output[place..].iter_mut().zip(&row[run]) {
                    *output = value + bias;
                }
            }
        }
    }

    /// Reads a row for each filter from the gradient of the output; positions over the edge are zero.
    pub(super) fn read(self, gradient: &[f32], rows: &mut [f32]) {
        let channel = self.shape.output_height() * self.shape.output_width();
        for (row, gradient) in rows.chunks_exact_mut(SPAN).zip(gradient.chunks_exact(channel)) {
            row.fill(0.0);
            for (run, place) in self.runs() {
                let length = run.len();
                row[run].copy_from_slice(&gradient[place..place + length]);
            }
        }
    }
}

dispatch! {
    fn add<I>(x: &[f32; SPAN], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}

dispatch! {
    /// Transposes rows of a span to rows of `width`, which may be more than there are rows; the rest is zero.
    pub(super) fn transpose<I>(rows: &[f32], width: usize, transposed: &mut [f32]) {
        let (rows, _) = rows.as_chunks::<SPAN>();
        for (position, target) in transposed.chunks_exact_mut(width).enumerate() {
            let (present, missing) = target.split_at_mut(rows.len());
            for (target, row) in present.iter_mut().zip(rows) {
                *target = row[position];
            }
            missing.fill(0.0);
        }
    }
}
