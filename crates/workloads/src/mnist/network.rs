//! The network: its tensors, how they lie in memory, and its arithmetic.
//!
//! How the tensors begin, by the rule of [`crate::initial`], in the order and the layout that PyTorch has; the bound is
//! `1 / sqrt(inputs)` for weights and biases, as PyTorch's own default is:
//!
//! | tensor | shape | inputs |
//! |---|---|---|
//! | `layer1.conv.weight`, `.bias` | 32 × 1 × 3 × 3, 32 | 9 |
//! | `layer2.conv.weight`, `.bias` | 64 × 32 × 3 × 3, 64 | 288 |
//! | `layer3.weight`, `.bias` | 128 × 1600, 128 | 1600 |
//! | `layer4.weight`, `.bias` | 10 × 128, 10 | 128 |
//!
//! In memory channels come last, so that what a kernel sees in a row is one piece: [`arranged`] and [`published`] go from
//! one layout to the other.

use assay_kernels::Threads;
use assay_kernels::pooled_convolution::PooledConvolutionShape;

use crate::WorkloadError;
use crate::data::idx::SIDE;
use crate::initial::Start;
use crate::tensors::{self, Tensor};

pub use crate::data::idx::CLASSES;

/// Rows and columns of the kernels.
pub(super) const KERNEL: usize = 3;
/// Positions of the first kernel along a side.
const POSITIONS: usize = SIDE + 1 - KERNEL;

/// The first convolution, over patches of one channel.
pub(super) const FIRST: PooledConvolutionShape = PooledConvolutionShape {
    channels: KERNEL * KERNEL,
    height: POSITIONS,
    width: POSITIONS,
    filters: 32,
    kernel_height: 1,
    kernel_width: 1,
};

pub(super) const SECOND: PooledConvolutionShape = PooledConvolutionShape {
    channels: FIRST.filters,
    height: POSITIONS / 2,
    width: POSITIONS / 2,
    filters: 64,
    kernel_height: KERNEL,
    kernel_width: KERNEL,
};

/// Windows of the second convolution.
const WINDOWS: usize = ((POSITIONS / 2 + 1 - KERNEL) / 2) * ((POSITIONS / 2 + 1 - KERNEL) / 2);
/// Numbers that the convolutions make of an image.
pub const FEATURES: usize = WINDOWS * SECOND.filters;
/// Numbers of the hidden layer.
pub const HIDDEN: usize = 128;

/// All tensors, in the order in which they are used.
pub fn tensors() -> [Tensor; 8] {
    let uniform = |inputs: usize| Start::Uniform((1.0 / (inputs as f64).sqrt()) as f32);
    let tensor =
        |name: &str, dimensions: &[usize], inputs: usize| Tensor::new(name, dimensions, uniform(inputs));
    let taps = KERNEL * KERNEL;
    [
        tensor("layer1.conv.weight", &[FIRST.filters, 1, KERNEL, KERNEL], taps),
        tensor("layer1.conv.bias", &[FIRST.filters], taps),
        tensor("layer2.conv.weight", &[SECOND.filters, FIRST.filters, KERNEL, KERNEL], taps * FIRST.filters),
        tensor("layer2.conv.bias", &[SECOND.filters], taps * FIRST.filters),
        tensor("layer3.weight", &[HIDDEN, FEATURES], FEATURES),
        tensor("layer3.bias", &[HIDDEN], FEATURES),
        tensor("layer4.weight", &[CLASSES, HIDDEN], HIDDEN),
        tensor("layer4.bias", &[CLASSES], HIDDEN),
    ]
}

pub fn parameters() -> usize {
    tensors().iter().map(Tensor::len).sum()
}

/// Floating-point operations of a training step that one sample needs: two for each multiplication of a matrix product or
/// convolution. Positions that no window takes up are left out, and so are gradients that are zero because another
/// position of their window was the largest.
pub fn flops() -> f64 {
    let matrices = FEATURES * HIDDEN + HIDDEN * CLASSES;
    let forward = first_products() * 4 + second_products() * 4 + matrices;
    let backward = first_products() + 2 * second_products() + 2 * matrices;
    2.0 * (forward + backward) as f64
}

/// Floating-point operations of the convolutions of one sample, forward and backward.
pub(super) fn convolution_flops() -> [f64; 2] {
    let forward = 4 * (first_products() + second_products());
    let backward = first_products() + 2 * second_products();
    [2.0 * forward as f64, 2.0 * backward as f64]
}

/// Multiplications of the first convolution at one position of every window.
fn first_products() -> usize {
    FIRST.windows() * FIRST.weight_length()
}

fn second_products() -> usize {
    SECOND.windows() * SECOND.weight_length()
}

/// One number for every parameter: weights, gradients, or velocities of the optimizer, channels last.
#[derive(Debug)]
pub struct Parameters {
    /// The tensors, in the order of [`tensors()`].
    pub tensors: [Vec<f32>; 8],
}

impl Parameters {
    /// The initial weights.
    pub fn initial(threads: &Threads, seed: u64) -> Result<Parameters, WorkloadError> {
        Parameters::make(|number, tensor| Ok(arranged(number, &tensor.initial(threads, seed)?)))
    }

    pub fn zeros(threads: &Threads, what: &'static str) -> Result<Parameters, WorkloadError> {
        Parameters::make(|_, tensor| tensors::zeros(threads, what, tensor.len()))
    }

    fn make(
        values: impl Fn(usize, &Tensor) -> Result<Vec<f32>, WorkloadError>,
    ) -> Result<Parameters, WorkloadError> {
        let mut made: [Vec<f32>; 8] = Default::default();
        for (number, (tensor, place)) in tensors().iter().zip(&mut made).enumerate() {
            *place = values(number, tensor)?;
        }
        Ok(Parameters { tensors: made })
    }
}

/// The two dimensions of a tensor that lie the other way round in memory; none where nothing differs.
fn turned(number: usize) -> Option<[usize; 2]> {
    match number {
        2 => Some([FIRST.filters, KERNEL * KERNEL]),
        4 => Some([SECOND.filters, WINDOWS]),
        _ => None,
    }
}

/// A tensor with its channels last, from the layout that PyTorch has.
pub fn arranged(number: usize, values: &[f32]) -> Vec<f32> {
    turned(number).map_or_else(|| values.to_vec(), |[channels, places]| turn(values, channels, places))
}

/// A tensor in the layout that PyTorch has.
pub fn published(number: usize, values: &[f32]) -> Vec<f32> {
    turned(number).map_or_else(|| values.to_vec(), |[channels, places]| turn(values, places, channels))
}

/// Turns each block of `rows` by `columns` numbers.
fn turn(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let turn_block = |block: &[f32]| -> Vec<f32> {
        (0..columns).flat_map(|column| (0..rows).map(move |row| block[row * columns + column])).collect()
    };
    values.chunks_exact(rows * columns).flat_map(turn_block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_is_that_of_the_published_summary() {
        assert_eq!((FEATURES, parameters()), (1600, 225_034));
        assert_eq!(SECOND.windows() * SECOND.filters, FEATURES);
        assert_eq!(FIRST.windows(), SECOND.height * SECOND.width);
        assert_eq!((FIRST.weight_length(), SECOND.weight_length()), (288, 18_432));
        assert!((flops() / 1e6 - 7.25).abs() < 0.01, "{}", flops());
    }

    #[test]
    fn tensors_go_to_channels_last_and_back() {
        for (number, tensor) in tensors().iter().enumerate() {
            let values: Vec<f32> = (0..tensor.len()).map(|value| value as f32).collect();
            assert_eq!(published(number, &arranged(number, &values)), values, "{}", tensor.name);
        }
        // Filter 1, channel 2, row 0, column 1 of the second convolution.
        let values: Vec<f32> = (0..18_432).map(|value| value as f32).collect();
        assert_eq!(arranged(2, &values)[288 + 32 + 2], values[288 + 2 * 9 + 1]);
    }
}
