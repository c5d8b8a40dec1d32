//! One number for every parameter of the model: weights, gradients, or moments of the optimizer.

use assay_kernels::Threads;

use super::options::Task;
use super::shape::BertShape;
use crate::WorkloadError;
use crate::tensors::{self, Tensor};

/// A matrix with its bias, or a norm.
#[derive(Debug, Clone, Default)]
pub struct Affine {
    /// The matrix, `outputs` rows of `inputs` numbers, or what a norm multiplies by.
    pub weight: Vec<f32>,
    /// What is added.
    pub bias: Vec<f32>,
}

/// The tensors of one layer.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    /// Queries, keys and values.
    pub qkv: Affine,
    /// What comes after attention.
    pub out: Affine,
    /// The norm after attention.
    pub attention_norm: Affine,
    /// Into the feed-forward layer.
    pub up: Affine,
    /// Out of it.
    pub down: Affine,
    /// The norm at the end.
    pub output_norm: Affine,
}

/// All tensors of the model; those that a task does not need are empty.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    /// What tokens begin as.
    pub word: Vec<f32>,
    /// What is added by position.
    pub position: Vec<f32>,
    /// What is added by kind.
    pub kind: Vec<f32>,
    /// The norm of their sum.
    pub norm: Affine,
    pub layers: Vec<Layer>,
    /// What a classifier makes of the first token.
    pub pooler: Affine,
    /// The classifier itself.
    pub classifier: Affine,
    /// What the masked language model makes of a token.
    pub transform: Affine,
    pub transform_norm: Affine,
    /// What is added to the scores of all tokens; their matrix is that of the embedding.
    pub decoder_bias: Vec<f32>,
}

impl Affine {
    fn vectors_mut(&mut self) -> [&mut Vec<f32>; 2] {
        [&mut self.weight, &mut self.bias]
    }
}

impl Layer {
    /// All of them.
    pub fn vectors_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let Layer { qkv, out, attention_norm, up, down, output_norm } = self;
        [qkv, out, attention_norm, up, down, output_norm].into_iter().flat_map(Affine::vectors_mut)
    }
}

impl Parameters {
    /// Zeros. Every page is touched, so that no iteration pays for it.
    pub fn zeros(
        threads: &Threads,
        shape: &BertShape,
        task: Task,
        what: &'static str,
    ) -> Result<Parameters, WorkloadError> {
        Parameters::make(shape, task, |tensor| tensors::zeros(threads, what, tensor.len()))
    }

    /// The initial weights.
    pub fn initial(
        threads: &Threads,
        shape: &BertShape,
        task: Task,
        seed: u64,
    ) -> Result<Parameters, WorkloadError> {
        Parameters::make(shape, task, |tensor| tensor.initial(threads, seed))
    }

    fn make(
        shape: &BertShape,
        task: Task,
        values: impl Fn(&Tensor) -> Result<Vec<f32>, WorkloadError>,
    ) -> Result<Parameters, WorkloadError> {
        let mut parameters = Parameters::default();
        parameters.layers.resize_with(shape.layers, Layer::default);
        for (description, tensor) in shape.tensors(task).iter().zip(parameters.vectors_mut(task)) {
            *tensor = values(description)?;
        }
        Ok(parameters)
    }

    /// All tensors of a task, in the order of [`BertShape::tensors`].
    pub fn tensors_mut(&mut self, task: Task) -> impl Iterator<Item = &mut [f32]> {
        self.vectors_mut(task).into_iter().map(Vec::as_mut_slice)
    }

    /// The tensors of the head of pre-training. Its scores come from the embedding, whose gradient is completed last.
    pub fn head_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let Parameters { transform, transform_norm, decoder_bias, .. } = self;
        transform.vectors_mut().into_iter().chain(transform_norm.vectors_mut()).chain([decoder_bias])
    }

    /// The tensors of the embedding.
    pub fn embedding_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let Parameters { word, position, kind, norm, .. } = self;
        [word, position, kind].into_iter().chain(norm.vectors_mut())
    }

    /// All tensors of pre-training, in the order in which a backward pass completes their gradients.
    pub fn backwards_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let Parameters {
            word, position, kind, norm, layers, transform, transform_norm, decoder_bias, ..
        } = self;
        let head =
            transform.vectors_mut().into_iter().chain(transform_norm.vectors_mut()).chain([decoder_bias]);
        let layers = layers.iter_mut().rev().flat_map(Layer::vectors_mut);
        head.chain(layers).chain([word, position, kind]).chain(norm.vectors_mut())
    }

    fn vectors_mut(&mut self, task: Task) -> Vec<&mut Vec<f32>> {
        let mut vectors = vec![&mut self.word, &mut self.position, &mut self.kind];
        vectors.extend(self.norm.vectors_mut());
        vectors.extend(self.layers.iter_mut().flat_map(Layer::vectors_mut));
        match task {
            Task::Embed => {}
            Task::Classify => {
                vectors.extend(self.pooler.vectors_mut());
                vectors.extend(self.classifier.vectors_mut());
            }
            Task::Pretrain => {
                vectors.extend(self.transform.vectors_mut());
                vectors.extend(self.transform_norm.vectors_mut());
                vectors.push(&mut self.decoder_bias);
            }
        }
        vectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bert::shape::tests::little;

    #[test]
    fn tensors_have_the_lengths_of_the_shape_in_its_order() {
        for task in [Task::Classify, Task::Embed, Task::Pretrain] {
            let mut parameters = Parameters::initial(&Threads::new(2), &little(), task, 1).unwrap();
            let lengths: Vec<usize> = parameters.tensors_mut(task).map(|tensor| tensor.len()).collect();
            let tensors = little().tensors(task);
            assert_eq!(lengths, tensors.iter().map(Tensor::len).collect::<Vec<_>>());
            let place = tensors.iter().position(|tensor| tensor.name == "layers.1.up.weight").unwrap();
            let mut expected = vec![0.0; tensors[place].len()];
            tensors[place].start.fill("layers.1.up.weight", 1, 0, &mut expected);
            assert_eq!(parameters.layers[1].up.weight, expected);
        }
    }
}
