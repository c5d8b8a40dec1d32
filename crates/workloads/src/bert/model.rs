//! The masked language model in memory: weights, gradients, buffers, and what a training step does with them.

mod head;

use assay_kernels::{Threads, attention, embedding, reduce};

use self::head::{HeadBuffers, head_numbers};
use super::data::{Sequences, masked_of};
use super::layer::{self, Kept, Scratch, kept_of_token, scratch_of_token};
use super::operations::{Moments, Operations, attention_shape};
use super::options::Task;
use super::parameters::Parameters;
use super::shape::BertShape;
use crate::WorkloadError;
use crate::collective::{Collective, hand_in, take_back};
use crate::profile::Profile;
use crate::tensors::zeros;
use crate::training::Training;

pub use crate::summary::IterationOutcome;

/// A model with everything that training needs.
pub struct Model {
    operations: Operations,
    weights: Parameters,
    gradients: Parameters,
    moments: [Parameters; 2],
    /// The input of each layer and the output of the last.
    streams: Vec<Vec<f32>>,
    kept: Vec<Kept>,
    /// The sum of the embeddings, which their norm is given, and what it keeps.
    embedded: Vec<f32>,
    embedded_moments: Moments,
    head: HeadBuffers,
    scratch: Scratch,
    /// The place of each token in its sequence.
    places: Vec<u32>,
    updates: u64,
}

/// How many numbers of four bytes a model takes for a batch, without its weights, gradients and moments.
pub fn numbers(threads: &Threads, shape: &BertShape, batch: usize, context: usize) -> u128 {
    let (batch, context) = (batch as u128, context as u128);
    let tokens = batch * context;
    let layers = shape.layers as u128;
    let streams = (layers + 2) * shape.width as u128;
    let each = streams + layers * kept_of_token(shape) + scratch_of_token(shape) + 3;
    let masked = batch * masked_of(usize::try_from(context).unwrap_or(usize::MAX)) as u128;
    let small = tokens * shape.width as u128;
    // Where the work is so large that the kernels' own arithmetic could overflow, the answer does not matter.
    let attention = if small > 1 << 40 {
        0
    } else {
        let attended = attention_shape(shape, batch as usize, context as usize);
        attention::forward_scratch(threads, &attended).max(attention::backward_scratch(threads, &attended))
            as u128
    };
    let sums =
        8 * threads.count() as u128 * (shape.vocabulary.max(shape.hidden).max(3 * shape.width)) as u128;
    tokens * each + head_numbers(shape, masked) + attention + sums
}

impl Model {
    /// A model with weights, its memory taken and touched.
    pub fn new(
        threads: Threads,
        shape: &BertShape,
        weights: Parameters,
        batch: usize,
        context: usize,
        profile: Profile,
    ) -> Result<Model, WorkloadError> {
        let tokens = batch * context;
        let parameters = |what| Parameters::zeros(&threads, shape, Task::Pretrain, what);
        let stream = || zeros(&threads, "activations", tokens * shape.width);
        Ok(Model {
            gradients: parameters("gradients")?,
            moments: [parameters("optimizer")?, parameters("optimizer")?],
            streams: (0..=shape.layers).map(|_| stream()).collect::<Result<_, _>>()?,
            kept: (0..shape.layers).map(|_| Kept::new(&threads, shape, tokens)).collect::<Result<_, _>>()?,
            embedded: stream()?,
            embedded_moments: Moments::new(&threads, tokens)?,
            head: HeadBuffers::new(&threads, shape, batch * masked_of(context))?,
            scratch: Scratch::new(&threads, shape, batch, context)?,
            places: (0..tokens).map(|row| (row % context) as u32).collect(),
            operations: Operations::new(threads, shape, batch, context, profile),
            weights,
            updates: 0,
        })
    }

    pub fn weights_mut(&mut self) -> &mut Parameters {
        &mut self.weights
    }

    /// The gradients of the last step, clipped.
    pub fn gradients_mut(&mut self) -> &mut Parameters {
        &mut self.gradients
    }

    /// The profile of its operations.
    pub fn profile(&self) -> &Profile {
        &self.operations.profile
    }

    /// One training step, together with the models of the other ranks, whose gradients and losses are averaged with its
    /// own. With `measure`, the root mean square of all scores is computed on the way.
    pub fn step(
        &mut self,
        sequences: &Sequences,
        training: &Training,
        measure: bool,
        ranks: &mut dyn Collective,
    ) -> IterationOutcome {
        let (loss, output) = self.forward_backward(sequences, measure, ranks);
        let loss = ranks.mean_number(loss);
        let output = output.map(|output| ranks.mean_number(output * output).sqrt());
        take_back(&self.operations.profile, ranks, self.gradients.backwards_mut());
        IterationOutcome { loss, output, gradient_norm: Some(self.update(training)) }
    }

    /// The loss of some sequences and, where it is measured, the root mean square of all scores; sets all gradients, and
    /// hands them in as they are completed.
    pub fn forward_backward(
        &mut self,
        sequences: &Sequences,
        measure: bool,
        ranks: &mut dyn Collective,
    ) -> (f64, Option<f64>) {
        let Model { operations, weights, gradients, streams, kept, head, scratch, .. } = self;
        let (embedded, moments) = (&mut self.embedded, &mut self.embedded_moments);
        embed(operations, weights, &sequences.ids, &self.places, embedded);
        operations.norm(embedded, &weights.norm, &mut streams[0], moments);
        for ((number, layer), kept) in weights.layers.iter().enumerate().zip(&mut *kept) {
            let (before, after) = streams.split_at_mut(number + 1);
            layer::forward(operations, layer, &before[number], kept, scratch, &mut after[0]);
        }
        let last = &streams[weights.layers.len()];
        let (loss, output) =
            head.forward_backward(operations, weights, gradients, last, sequences, scratch, measure);
        hand_in(&operations.profile, ranks, gradients.head_mut());
        for (number, layer) in weights.layers.iter().enumerate().rev() {
            let gradient = &mut gradients.layers[number];
            layer::backward(operations, layer, gradient, &streams[number], &kept[number], scratch);
            hand_in(&operations.profile, ranks, gradients.layers[number].vectors_mut());
        }
        let Scratch { dx, one, sums, .. } = scratch;
        let weight = &weights.norm.weight;
        operations.norm_backward(embedded, weight, moments, dx, one, &mut gradients.norm, sums);
        embed_backward(operations, gradients, &sequences.ids, &self.places, one, sums);
        hand_in(&operations.profile, ranks, gradients.embedding_mut());
        (loss, output)
    }

    pub fn gradient_norm(&mut self) -> f64 {
        let threads = &self.operations.threads;
        let squares = |tensor: &mut [f32]| reduce::sum_of_squares(threads, tensor);
        self.gradients.tensors_mut(Task::Pretrain).map(squares).sum::<f64>().sqrt()
    }

    /// Clips the gradients and updates the weights, unless a gradient is not finite. Returns the norm before clipping.
    fn update(&mut self, training: &Training) -> f64 {
        let norm = self.gradient_norm();
        if !norm.is_finite() {
            return norm;
        }
        self.updates += 1;
        let Model { operations, weights, gradients, moments: [first, second], updates, .. } = self;
        operations.profile.timed("optimizer", 0.0, || {
            let state = first.tensors_mut(Task::Pretrain).zip(second.tensors_mut(Task::Pretrain));
            let both = weights.tensors_mut(Task::Pretrain).zip(gradients.tensors_mut(Task::Pretrain));
            training.update(&operations.threads, norm, *updates, both.zip(state));
        });
        norm
    }
}

/// The sum of what stands for each token, its place and its kind.
fn embed(operations: &Operations, weights: &Parameters, ids: &[u32], places: &[u32], sum: &mut [f32]) {
    let width = operations.shape.width;
    operations.profile.timed("embedding", 0.0, || {
        embedding::forward(&operations.threads, ids, &weights.word, width, sum);
        for (row, place) in sum.chunks_exact_mut(width).zip(places) {
            let position = &weights.position[*place as usize * width..][..width];
            for ((sum, position), kind) in row.iter_mut().zip(position).zip(&weights.kind) {
                *sum = *sum + position + kind;
            }
        }
    });
}

/// Adds to the gradient of the words, which the head has begun, and sets those of places and kinds.
fn embed_backward(
    operations: &Operations,
    gradients: &mut Parameters,
    ids: &[u32],
    places: &[u32],
    dsum: &[f32],
    sums: &mut [f32],
) {
    let width = operations.shape.width;
    operations.profile.timed("embedding", 0.0, || {
        embedding::backward(&operations.threads, ids, dsum, width, &mut gradients.word);
        gradients.position.fill(0.0);
        embedding::backward(&operations.threads, places, dsum, width, &mut gradients.position);
        gradients.kind.fill(0.0);
    });
    operations.bias("embedding", dsum, &mut gradients.kind[..width], sums);
}

#[cfg(test)]
mod tests;
