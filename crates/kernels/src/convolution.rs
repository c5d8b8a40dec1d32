//! Convolution of images (NCHW) with a general kernel, stride 1 and no padding.
//!
//! Each pass is a small matrix product over spans of positions. Positions are counted along whole rows of the input,
//! those included at which the kernel would reach over the right edge: what the kernel sees at successive positions is then
//! a contiguous piece of the input for each of its elements, and is copied instead of gathered. Results at positions over
//! the edge are left out, which wastes `kernel_width - 1` columns of `width`.

mod span;

use span::{SPAN, Span};

use crate::math::product::{Left, ProductSize, Right, padded, product};
use crate::rms_norm::add_rows;
use crate::threads::Chunks;
use crate::{Threads, Write};

/// The sizes of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvolutionShape {
    /// Images.
    pub batch: usize,
    /// Channels of an input image.
    pub channels: usize,
    /// Rows of an input image.
    pub height: usize,
    /// Columns of an input image.
    pub width: usize,
    /// Channels of an output image.
    pub filters: usize,
    /// Rows of the kernel.
    pub kernel_height: usize,
    /// Columns of the kernel.
    pub kernel_width: usize,
}

impl ConvolutionShape {
    /// Rows of an output image.
    pub fn output_height(&self) -> usize {
        self.height + 1 - self.kernel_height
    }

    /// Columns of an output image.
    pub fn output_width(&self) -> usize {
        self.width + 1 - self.kernel_width
    }

    /// Elements of the input: batch by channels by height by width.
    pub fn input_length(&self) -> usize {
        self.batch * self.image()
    }

    /// Elements of the output: batch by filters by output height by output width.
    pub fn output_length(&self) -> usize {
        self.batch * self.output_image()
    }

    /// Elements of the weight: filters by channels by kernel height by kernel width.
    pub fn weight_length(&self) -> usize {
        self.filters * self.taps()
    }

    fn image(&self) -> usize {
        self.channels * self.height * self.width
    }

    fn output_image(&self) -> usize {
        self.filters * self.output_height() * self.output_width()
    }

    /// Elements of the kernel of one filter.
    fn taps(&self) -> usize {
        self.channels * self.kernel_height * self.kernel_width
    }

    /// Where an element of the kernel lies in an image when the kernel stands at position zero.
    fn place_of_tap(&self, tap: usize) -> usize {
        let (line, column) = (tap / self.kernel_width, tap % self.kernel_width);
        let (channel, row) = (line / self.kernel_height, line % self.kernel_height);
        (channel * self.height + row) * self.width + column
    }

    /// The spans of an image.
    fn spans(&self) -> impl Iterator<Item = Span> + use<> {
        let shape = *self;
        let positions = (self.output_height() - 1) * self.width + self.output_width();
        (0..positions).step_by(SPAN).map(move |first| Span { shape, first })
    }

    fn check(&self, input: usize, weight: usize, output: usize) {
        assert!(
            (1..=self.height).contains(&self.kernel_height) && (1..=self.width).contains(&self.kernel_width),
            "the kernel must fit into an image"
        );
        assert!(self.channels > 0 && self.filters > 0, "there must be a channel and a filter");
        assert!(input == self.input_length(), "the input must have {} elements", self.input_length());
        assert!(weight == self.weight_length(), "the weight must have {} elements", self.weight_length());
        assert!(output == self.output_length(), "the output must have {} elements", self.output_length());
    }

    /// The tasks that `images` images each make.
    fn tasks(&self, images: usize) -> usize {
        self.batch.div_ceil(images)
    }
}

/// Splits scratch into a chunk for each task.
fn split_scratch(scratch: &mut [f32], needed: usize, for_task: usize) -> Chunks<'_, f32> {
    assert!(scratch.len() >= needed, "the scratch must hold {needed} elements");
    Chunks::new(&mut scratch[..needed], for_task)
}

/// The length of the scratch that [`forward`] and [`backward_input`] need.
pub fn scratch(threads: &Threads, shape: &ConvolutionShape) -> usize {
    shape.tasks(threads.items_per_task(shape.batch, 1)) * scratch_of_task(shape)
}

/// What the kernel sees in a span, and a span of the output.
fn scratch_of_task(shape: &ConvolutionShape) -> usize {
    (shape.taps() + shape.filters) * SPAN
}

/// y = x * weight + bias, where the bias has an element for each filter. The contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn forward(
    threads: &Threads,
    shape: &ConvolutionShape,
    x: &[f32],
    weight: &[f32],
    bias: &[f32],
    y: &mut [f32],
    scratch: &mut [f32],
) {
    shape.check(x.len(), weight.len(), y.len());
    assert!(bias.len() == shape.filters, "the bias must have {} elements", shape.filters);
    let images = threads.items_per_task(shape.batch, 1);
    let taps = shape.taps();
    let scratch = split_scratch(scratch, self::scratch(threads, shape), scratch_of_task(shape));
    let parts = (Chunks::new(y, images * shape.output_image()), scratch);
    threads.run_parts(parts, |part, (y, scratch)| {
        let (seen, result) = scratch.split_at_mut(taps * SPAN);
        let inputs = x[part * images * shape.image()..].chunks_exact(shape.image());
        for (x, y) in inputs.zip(y.chunks_exact_mut(shape.output_image())) {
            for span in shape.spans() {
                span.see(x, seen);
                let size = ProductSize { rows: shape.filters, columns: SPAN, depth: taps };
                let left = Left { data: weight, row: taps, step: 1 };
                product(size, left, Right { data: seen, row: SPAN }, result, SPAN, Write::Set);
                span.write(result, bias, y);
            }
        }
    });
}

/// Sets `dx` to the gradient of the input. The contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn backward_input(
    threads: &Threads,
    shape: &ConvolutionShape,
    weight: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    scratch: &mut [f32],
) {
    shape.check(dx.len(), weight.len(), dy.len());
    let images = threads.items_per_task(shape.batch, 1);
    let taps = shape.taps();
    let scratch = split_scratch(scratch, self::scratch(threads, shape), scratch_of_task(shape));
    let parts = (Chunks::new(dx, images * shape.image()), scratch);
    threads.run_parts(parts, |part, (dx, scratch)| {
        let (seen, gradient) = scratch.split_at_mut(taps * SPAN);
        let gradients = dy[part * images * shape.output_image()..].chunks_exact(shape.output_image());
        dx.fill(0.0);
        for (dx, dy) in dx.chunks_exact_mut(shape.image()).zip(gradients) {
            for span in shape.spans() {
                span.read(dy, gradient);
                let size = ProductSize { rows: taps, columns: SPAN, depth: shape.filters };
                let left = Left { data: weight, row: 1, step: taps };
                product(size, left, Right { data: gradient, row: SPAN }, seen, SPAN, Write::Set);
                span.add_seen(seen, dx);
            }
        }
    });
}

/// The length of the scratch that [`backward_weight`] needs.
pub fn backward_weight_scratch(threads: &Threads, shape: &ConvolutionShape) -> usize {
    shape.tasks(threads.items_per_task(shape.batch, 1)) * weight_scratch_of_task(shape)
}

/// Sums for weight and bias, what the kernel sees in a span, and a span of the gradient in two forms.
fn weight_scratch_of_task(shape: &ConvolutionShape) -> usize {
    let filters = padded(shape.filters);
    (shape.taps() + 1) * filters + (shape.taps() + shape.filters + filters) * SPAN
}

/// Adds the gradients of weight and bias to `dweight` and `dbias`. The contents of `scratch` do not matter.
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn backward_weight(
    threads: &Threads,
    shape: &ConvolutionShape,
    x: &[f32],
    dy: &[f32],
    dweight: &mut [f32],
    dbias: &mut [f32],
    scratch: &mut [f32],
) {
    shape.check(x.len(), dweight.len(), dy.len());
    assert!(dbias.len() == shape.filters, "dbias must have {} elements", shape.filters);
    let images = threads.items_per_task(shape.batch, 1);
    let (taps, filters) = (shape.taps(), padded(shape.filters));
    let (needed, for_task) = (backward_weight_scratch(threads, shape), weight_scratch_of_task(shape));
    threads.run_parts(split_scratch(scratch, needed, for_task), |part, scratch| {
        let (sums, scratch) = scratch.split_at_mut((taps + 1) * filters);
        let (seen, scratch) = scratch.split_at_mut(taps * SPAN);
        let (gradient, transposed) = scratch.split_at_mut(shape.filters * SPAN);
        let (weight_sums, bias_sums) = sums.split_at_mut(taps * filters);
        weight_sums.fill(0.0);
        bias_sums.fill(0.0);
        let inputs = x[part * images * shape.image()..].chunks_exact(shape.image());
        let gradients = dy[part * images * shape.output_image()..].chunks_exact(shape.output_image());
        for (x, dy) in inputs.zip(gradients).take(images) {
            for span in shape.spans() {
                span.see(x, seen);
                span.read(dy, gradient);
                span::transpose(gradient, filters, transposed);
                let size = ProductSize { rows: taps, columns: filters, depth: SPAN };
                let left = Left { data: seen, row: SPAN, step: 1 };
                let right = Right { data: transposed, row: filters };
                product(size, left, right, weight_sums, filters, Write::Add);
                add_rows(transposed, bias_sums);
            }
        }
    });
    add_sums(shape, &scratch[..needed], for_task, dweight, dbias);
}

/// Adds the sums of all tasks, in their order, to the gradients.
fn add_sums(
    shape: &ConvolutionShape,
    scratch: &[f32],
    for_task: usize,
    dweight: &mut [f32],
    dbias: &mut [f32],
) {
    let (taps, filters) = (shape.taps(), padded(shape.filters));
    for sums in scratch.chunks_exact(for_task) {
        let (weight_sums, bias_sums) = sums[..(taps + 1) * filters].split_at(taps * filters);
        for (filter, dweight) in dweight.chunks_exact_mut(taps).enumerate() {
            for (dweight, sums) in dweight.iter_mut().zip(weight_sums.chunks_exact(filters)) {
                *dweight += sums[filter];
            }
        }
        for (dbias, &sum) in dbias.iter_mut().zip(bias_sums) {
            *dbias += sum;
        }
    }
}
