//! Convolution, max-pool over windows of two by two, and rectified linear unit in one, for one image at a time: whoever
//! calls it splits a batch by images over threads.
//!
//! Images have their channels last (height by width by channels), and so has the weight (filters by kernel height by
//! kernel width by channels): what the kernel sees in one of its rows is then one piece of memory. Rows and columns that
//! fill no window are not computed.
//!
//! The backward pass uses that a window hands its gradient to one of its four positions, and to none if the rectifier
//! closed it: it adds up only what is there, which is less than a quarter of the arithmetic of a plain convolution.
//!
//! A kernel that sees one channel has rows too short for vectors. [`patches`] lays out what it sees at every position,
//! and the convolution becomes one with a kernel of one element and as many channels as there were taps.
//!
//! | file | holds |
//! |---|---|
//! | `backward.rs` | the backward pass |
//! | `combine.rs` | sums of pieces of memory, each times a factor |

mod backward;
mod combine;

pub use backward::{backward_input, backward_weight};

use combine::Term;

use crate::Write;
use crate::dispatch::dispatch;
use crate::math::product::{COLUMNS, Left, ProductSize, Right, padded, product};

/// The place of a window that the rectifier closed.
const CLOSED: u8 = 4;

/// The sizes of one image and its convolution, with stride 1 and no padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PooledConvolutionShape {
    /// Channels of the input.
    pub channels: usize,
    /// Rows of the input.
    pub height: usize,
    /// Columns of the input.
    pub width: usize,
    /// Channels of the output.
    pub filters: usize,
    /// Rows of the kernel.
    pub kernel_height: usize,
    /// Columns of the kernel.
    pub kernel_width: usize,
}

impl PooledConvolutionShape {
    /// Rows of the output.
    pub fn output_height(&self) -> usize {
        (self.height + 1).saturating_sub(self.kernel_height) / 2
    }

    /// Columns of the output.
    pub fn output_width(&self) -> usize {
        (self.width + 1).saturating_sub(self.kernel_width) / 2
    }

    /// Windows, each of which gives one element a filter.
    pub fn windows(&self) -> usize {
        self.output_height() * self.output_width()
    }

    /// Elements of the input.
    pub fn input_length(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Elements of the output.
    pub fn output_length(&self) -> usize {
        self.windows() * self.filters
    }

    /// Elements of the kernel of one filter.
    pub fn taps(&self) -> usize {
        self.kernel_height * self.line()
    }

    /// Elements of the weight.
    pub fn weight_length(&self) -> usize {
        self.filters * self.taps()
    }

    /// Elements of the weight as [`pack`] writes it.
    pub fn panels_length(&self) -> usize {
        padded(self.filters) * self.taps()
    }

    /// What the kernel sees in one row.
    fn line(&self) -> usize {
        self.kernel_width * self.channels
    }

    /// A row of the input.
    fn input_line(&self) -> usize {
        self.width * self.channels
    }

    /// Where the kernel begins in the input at the first position of each window.
    fn begins(&self) -> impl Iterator<Item = usize> + use<> {
        let PooledConvolutionShape { width, channels, .. } = *self;
        let (rows, columns) = (self.output_height(), self.output_width());
        (0..rows).flat_map(move |row| (0..columns).map(move |column| 2 * (row * width + column) * channels))
    }

    /// How far the four positions of a window are from its first; none for a closed window.
    fn places(&self) -> [usize; 5] {
        [0, self.channels, self.input_line(), self.input_line() + self.channels, 0]
    }

    fn check(&self, input: usize, outputs: [usize; 2]) {
        assert!(
            (1..=self.height).contains(&self.kernel_height) && (1..=self.width).contains(&self.kernel_width),
            "the kernel must fit into an image"
        );
        assert!(self.channels > 0 && self.filters > 0, "there must be a channel and a filter");
        assert!(input == self.input_length(), "the input must have {} elements", self.input_length());
        assert!(
            outputs == [self.output_length(); 2],
            "output and index must have {} elements",
            self.output_length()
        );
    }

    fn check_weight(&self, weight: usize, bias: usize) {
        assert!(weight == self.weight_length(), "the weight must have {} elements", self.weight_length());
        assert!(bias == self.filters, "the bias must have {} elements", self.filters);
    }
}

/// Memory that the passes work in, for one thread.
#[derive(Debug)]
pub struct Workspace {
    /// What the convolution gives along the two rows of a line of windows, for the filters of one panel.
    rows: Vec<f32>,
    /// What sums are made of.
    terms: Vec<Term>,
}

impl Workspace {
    /// Memory for a shape.
    pub fn new(shape: &PooledConvolutionShape) -> Workspace {
        let (rows, terms) = Workspace::lengths(shape);
        Workspace { rows: vec![0.0; rows], terms: vec![Term::default(); terms] }
    }

    fn check(&self, shape: &PooledConvolutionShape) {
        let whole = Workspace::lengths(shape);
        assert!((self.rows.len(), self.terms.len()) == whole, "the workspace must be that of the shape");
    }

    fn lengths(shape: &PooledConvolutionShape) -> (usize, usize) {
        let terms = shape.windows().max(shape.places().len() * shape.filters);
        (4 * shape.output_width() * COLUMNS, terms)
    }
}

/// Writes the weight in panels of a few filters, as [`forward`] takes it.
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn pack(shape: &PooledConvolutionShape, weight: &[f32], panels: &mut [f32]) {
    shape.check_weight(weight.len(), shape.filters);
    assert!(panels.len() == shape.panels_length(), "the panels must have {} elements", shape.panels_length());
    let taps = shape.taps();
    for (panel, weight) in panels.chunks_exact_mut(taps * COLUMNS).zip(weight.chunks(taps * COLUMNS)) {
        if weight.len() < panel.len() {
            panel.fill(0.0);
        }
        for (filter, weight) in weight.chunks_exact(taps).enumerate() {
            for (columns, &weight) in panel.as_chunks_mut::<COLUMNS>().0.iter_mut().zip(weight) {
                columns[filter] = weight;
            }
        }
    }
}

/// Sets `y` to the rectified largest element of every window of the convolution of `x` plus `bias`, and `index` to where
/// in the window it was. Of equal elements the first counts; NaN counts as largest and stays NaN.
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn forward(
    shape: &PooledConvolutionShape,
    panels: &[f32],
    bias: &[f32],
    x: &[f32],
    y: &mut [f32],
    index: &mut [u8],
    workspace: &mut Workspace,
) {
    shape.check(x.len(), [y.len(), index.len()]);
    assert!(panels.len() == shape.panels_length() && bias.len() == shape.filters, "panels and bias must fit");
    workspace.check(shape);
    if shape.windows() == 0 {
        return;
    }
    let positions = 2 * shape.output_width();
    let (upper, lower) = workspace.rows.split_at_mut(positions * COLUMNS);
    let of_line = shape.output_width() * shape.filters;
    let panels = panels.chunks_exact(shape.taps() * COLUMNS).zip(bias.chunks(COLUMNS));
    for (number, (panel, bias)) in panels.enumerate() {
        let mut shift = [0.0; COLUMNS];
        shift[..bias.len()].copy_from_slice(bias);
        let lines = y.chunks_exact_mut(of_line).zip(index.chunks_exact_mut(of_line));
        for (line, (y, index)) in lines.enumerate() {
            convolve_row(shape, panel, x, 2 * line, upper);
            convolve_row(shape, panel, x, 2 * line + 1, lower);
            let first = number * COLUMNS;
            pool(upper, lower, &shift, shape.filters, first..first + bias.len(), y, index);
        }
    }
}

/// One row of the convolution, as far as windows reach, for the filters of one panel.
fn convolve_row(shape: &PooledConvolutionShape, panel: &[f32], x: &[f32], row: usize, result: &mut [f32]) {
    let line = shape.line();
    let size = ProductSize { rows: 2 * shape.output_width(), columns: COLUMNS, depth: line };
    for (tap_row, right) in panel.chunks_exact(line * COLUMNS).enumerate() {
        let data = &x[(row + tap_row) * shape.input_line()..];
        let write = if tap_row == 0 { Write::Set } else { Write::Add };
        let left = Left { data, row: shape.channels, step: 1 };
        product(size, left, Right { data: right, row: COLUMNS }, result, COLUMNS, write);
    }
}

/// Whether an element takes the place of the largest so far.
#[inline(always)]
fn wins(value: f32, largest: f32) -> bool {
    (value > largest) | value.is_nan()
}

dispatch! {
    /// Pools one line of windows for some filters.
    fn pool<I>(
        upper: &[f32],
        lower: &[f32],
        shift: &[f32; COLUMNS],
        filters: usize,
        panel: std::ops::Range<usize>,
        y: &mut [f32],
        index: &mut [u8],
    ) {
        let windows = upper.as_chunks::<{ 2 * COLUMNS }>().0.iter().zip(lower.as_chunks::<{ 2 * COLUMNS }>().0);
        let outputs = y.chunks_exact_mut(filters).zip(index.chunks_exact_mut(filters));
        for ((upper, lower), (y, index)) in windows.zip(outputs) {
            let (mut values, mut places) = ([0.0; COLUMNS], [0; COLUMNS]);
            for filter in 0..COLUMNS {
                let [first, second] = [upper[filter], upper[COLUMNS + filter]];
                let [third, fourth] = [lower[filter], lower[COLUMNS + filter]];
                let (right, right_below) = (wins(second, first), wins(fourth, third));
                let top = if right { second } else { first };
                let bottom = if right_below { fourth } else { third };
                let below = wins(bottom, top);
                let value = if below { bottom } else { top } + shift[filter];
                let place = if below { 2 + u8::from(right_below) } else { u8::from(right) };
                values[filter] = if value < 0.0 { 0.0 } else { value };
                places[filter] = if value <= 0.0 { CLOSED } else { place };
            }
            y[panel.clone()].copy_from_slice(&values[..panel.len()]);
            index[panel.clone()].copy_from_slice(&places[..panel.len()]);
        }
    }
}

/// Writes what a square kernel sees at every position of an image with one channel: positions by taps.
///
/// # Panics
/// If the lengths do not fit together.
pub fn patches<const KERNEL: usize>(image: &[f32], width: usize, patches: &mut [f32]) {
    assert!(
        KERNEL > 0 && width >= KERNEL && image.len() >= KERNEL * width,
        "the kernel must fit into the image"
    );
    assert!(image.len().is_multiple_of(width), "the image must have whole rows");
    let (rows, columns) = (image.len() / width + 1 - KERNEL, width + 1 - KERNEL);
    assert!(patches.len() == rows * columns * KERNEL * KERNEL, "there must be a patch for every position");
    for (row, patches) in patches.chunks_exact_mut(columns * KERNEL * KERNEL).enumerate() {
        let lines = patches.as_chunks_mut::<KERNEL>().0;
        for tap_row in 0..KERNEL {
            let seen = &image[(row + tap_row) * width..][..width];
            let mine = lines.iter_mut().skip(tap_row).step_by(KERNEL);
            for (line, seen) in mine.zip(seen.windows(KERNEL)) {
                line.copy_from_slice(seen);
            }
        }
    }
}
