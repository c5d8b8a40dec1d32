//! One number for every parameter of the model: weights, gradients, or moments of the optimizer.

use assay_kernels::Threads;

use super::shape::LmShape;
use crate::WorkloadError;
use crate::tensors::{self, Tensor};

/// The tensors of one layer.
#[derive(Debug, Default)]
pub struct Layer {
    /// Weight of the norm before attention.
    pub attention_norm: Vec<f32>,
    /// Queries, keys and values.
    pub qkv: Vec<f32>,
    /// What comes after attention.
    pub attention_out: Vec<f32>,
    /// Weight of the norm before the feed-forward layer.
    pub feed_forward_norm: Vec<f32>,
    pub gate_up: Vec<f32>,
    pub down: Vec<f32>,
}

impl Layer {
    fn tensors(&self) -> [&[f32]; 6] {
        [
            &self.attention_norm,
            &self.qkv,
            &self.attention_out,
            &self.feed_forward_norm,
            &self.gate_up,
            &self.down,
        ]
    }

    /// All of them.
    pub fn tensors_mut(&mut self) -> [&mut Vec<f32>; 6] {
        [
            &mut self.attention_norm,
            &mut self.qkv,
            &mut self.attention_out,
            &mut self.feed_forward_norm,
            &mut self.gate_up,
            &mut self.down,
        ]
    }
}

/// All tensors of the model.
#[derive(Debug, Default)]
pub struct Parameters {
    /// What tokens begin as.
    pub embedding: Vec<f32>,
    pub layers: Vec<Layer>,
    /// Weight of the last norm.
    pub norm: Vec<f32>,
    /// The output matrix.
    pub head: Vec<f32>,
}

impl Parameters {
    /// Zeros. Every page is touched, so that no iteration pays for it.
    pub fn zeros(
        threads: &Threads,
        shape: &LmShape,
        what: &'static str,
    ) -> Result<Parameters, WorkloadError> {
        Parameters::make(shape, |tensor| tensors::zeros(threads, what, tensor.len()))
    }

    /// The initial weights.
    pub fn initial(threads: &Threads, shape: &LmShape, seed: u64) -> Result<Parameters, WorkloadError> {
        Parameters::make(shape, |tensor| tensor.initial(threads, seed))
    }

    fn make(
        shape: &LmShape,
        values: impl Fn(&Tensor) -> Result<Vec<f32>, WorkloadError>,
    ) -> Result<Parameters, WorkloadError> {
        let mut parameters = Parameters::default();
        parameters.layers.resize_with(shape.layers, Layer::default);
        for (description, tensor) in shape.tensors().iter().zip(parameters.vectors_mut()) {
            *tensor = values(description)?;
        }
        Ok(parameters)
    }

    /// All tensors, in the order of [`LmShape::tensors`].
    pub fn tensors(&self) -> impl Iterator<Item = &[f32]> {
        let layers = self.layers.iter().flat_map(Layer::tensors);
        std::iter::once(self.embedding.as_slice()).chain(layers).chain([self.norm.as_slice(), &self.head])
    }

    /// All tensors, in the order of [`LmShape::tensors`].
    pub fn tensors_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.vectors_mut().map(Vec::as_mut_slice)
    }

    /// All tensors, in the order in which a backward pass completes their gradients.
    pub fn backwards_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let layers = self.layers.iter_mut().rev().flat_map(Layer::tensors_mut);
        [&mut self.head, &mut self.norm].into_iter().chain(layers).chain([&mut self.embedding])
    }

    fn vectors_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let layers = self.layers.iter_mut().flat_map(Layer::tensors_mut);
        std::iter::once(&mut self.embedding).chain(layers).chain([&mut self.norm, &mut self.head])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_have_the_lengths_of_the_shape_in_its_order() {
        let shape = LmShape { width: 6, hidden: 10, layers: 2, heads: 3, vocabulary: 11 };
        let threads = Threads::new(2);
        let mut parameters = Parameters::initial(&threads, &shape, 1).unwrap();
        let lengths: Vec<usize> = parameters.tensors().map(<[f32]>::len).collect();
        assert_eq!(lengths, shape.tensors().iter().map(Tensor::len).collect::<Vec<_>>());
        assert_eq!(lengths, parameters.tensors_mut().map(|tensor| tensor.len()).collect::<Vec<_>>());
        let mut expected = vec![0.0; 60];
        shape.tensors()[6].start.fill("layers.0.down", 1, 0, &mut expected);
        assert_eq!(parameters.layers[0].down, expected);
    }
}
