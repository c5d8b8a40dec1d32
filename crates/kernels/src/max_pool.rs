//! Largest element of windows that do not overlap, over planes of images (NCHW). Rows and columns that do not fill a
//! window are left out.

use crate::Threads;
use crate::dispatch::dispatch;
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// What is pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaxPoolShape {
    /// Images times channels.
    pub planes: usize,
    /// Rows of a plane.
    pub height: usize,
    /// Columns of a plane.
    pub width: usize,
    /// Rows of a window.
    pub window_height: usize,
    /// Columns of a window.
    pub window_width: usize,
}

impl MaxPoolShape {
    /// Rows of an output plane.
    pub fn output_height(&self) -> usize {
        self.height / self.window_height
    }

    /// Columns of an output plane.
    pub fn output_width(&self) -> usize {
        self.width / self.window_width
    }

    /// Elements of the output.
    pub fn output_length(&self) -> usize {
        self.planes * self.output_height() * self.output_width()
    }

    /// Elements of the input.
    pub fn input_length(&self) -> usize {
        self.planes * self.height * self.width
    }

    /// The planes for one task, after a check of the lengths.
    fn planes_per_task(&self, threads: &Threads, input: usize, outputs: [usize; 2]) -> usize {
        assert!(self.window_height > 0 && self.window_width > 0, "a window must not be empty");
        assert!(self.output_height() > 0 && self.output_width() > 0, "a plane must hold a window");
        assert!(input == self.input_length(), "the input must have {} elements", self.input_length());
        assert!(
            outputs == [self.output_length(); 2],
            "output and index must have {} elements",
            self.output_length()
        );
        let least = LEAST_ELEMENTS.div_ceil(self.height * self.width);
        threads.items_per_task(self.planes, least)
    }
}

/// Sets `y` to the largest element of every window and `index` to its place in its plane. Of equal elements the first
/// counts; NaN counts as largest.
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn forward(threads: &Threads, shape: &MaxPoolShape, x: &[f32], y: &mut [f32], index: &mut [u32]) {
    let planes = shape.planes_per_task(threads, x.len(), [y.len(), index.len()]);
    let plane = shape.height * shape.width;
    let output = shape.output_height() * shape.output_width();
    let parts = (Chunks::new(y, planes * output), Chunks::new(index, planes * output));
    threads.run_parts(parts, |part, (y, index)| {
        let x = x[part * planes * plane..].chunks_exact(plane);
        let outputs = y.chunks_exact_mut(output).zip(index.chunks_exact_mut(output));
        for (x, (y, index)) in x.zip(outputs) {
            forward_plane(shape, x, y, index);
        }
    });
}

fn forward_plane(shape: &MaxPoolShape, x: &[f32], y: &mut [f32], index: &mut [u32]) {
    let width = shape.output_width();
    let rows = y.chunks_exact_mut(width).zip(index.chunks_exact_mut(width));
    for (row, (y, index)) in rows.enumerate() {
        let first = row * shape.window_height;
        for line in first..first + shape.window_height {
            let begin = line * shape.width;
            let x = &x[begin..begin + shape.width];
            let is_first = line == first;
            if shape.window_width == 2 {
                take_pairs(x, begin as u32, is_first, y, index);
            } else {
                take_line(x, begin as u32, shape.window_width, is_first, y, index);
            }
        }
    }
}

/// Whether an element takes the place of the largest so far.
#[inline(always)]
fn wins(value: f32, largest: f32) -> bool {
    value > largest || value.is_nan()
}

dispatch! {
    /// Takes one line of windows that are two columns wide into account. Without branches, so that it vectorizes.
    fn take_pairs<I>(x: &[f32], begin: u32, is_first: bool, y: &mut [f32], index: &mut [u32]) {
        let pairs = x.as_chunks::<2>().0.iter().zip(y.iter_mut().zip(index));
        for (column, (&[first, second], (y, index))) in pairs.enumerate() {
            let place = begin + 2 * column as u32;
            let second_wins = wins(second, first);
            let value = if second_wins { second } else { first };
            let place = if second_wins { place + 1 } else { place };
            let new = is_first | wins(value, *y);
            *y = if new { value } else { *y };
            *index = if new { place } else { *index };
        }
    }
}

/// Takes one line of windows of any width into account.
fn take_line(x: &[f32], begin: u32, window: usize, is_first: bool, y: &mut [f32], index: &mut [u32]) {
    let mut place = begin;
    for (x, (y, index)) in x.chunks_exact(window).zip(y.iter_mut().zip(index)) {
        for (column, &value) in x.iter().enumerate() {
            if (is_first && column == 0) || wins(value, *y) {
                (*y, *index) = (value, place);
            }
            place += 1;
        }
    }
}

/// Sets `dx` to the gradient: what arrives at a window goes to the element that was the largest.
///
/// # Panics
/// If the lengths do not fit the shape or an index is not in its plane.
pub fn backward(threads: &Threads, shape: &MaxPoolShape, index: &[u32], dy: &[f32], dx: &mut [f32]) {
    let planes = shape.planes_per_task(threads, dx.len(), [dy.len(), index.len()]);
    let plane = shape.height * shape.width;
    let output = shape.output_height() * shape.output_width();
    threads.run_parts(Chunks::new(dx, planes * plane), |part, dx| {
        let begin = part * planes * output;
        dx.fill(0.0);
        let inputs = index[begin..].chunks_exact(output).zip(dy[begin..].chunks_exact(output));
        for (dx, (index, dy)) in dx.chunks_exact_mut(plane).zip(inputs) {
            for (&index, &dy) in index.iter().zip(dy) {
                dx[index as usize] += dy;
            }
        }
    });
}
