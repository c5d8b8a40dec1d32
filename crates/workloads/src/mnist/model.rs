//! The network in memory: weights, gradients, buffers, and what a step does with them.
//!
//! | file | holds |
//! |---|---|
//! | `convolutions.rs` | both convolutions of all images, a share of the images on each thread |
//! | `head.rs` | the two linear layers, the loss, and their backward passes |

mod convolutions;
mod head;

use assay_kernels::{Threads, reduce, sgd};

use self::convolutions::Convolutions;
use self::head::ClassifierHead;
use super::network::{CLASSES, Parameters};
use crate::WorkloadError;
use crate::collective::{Collective, hand_in, take_back};
use crate::data::idx::PIXELS;
use crate::profile::Profile;

pub use crate::summary::IterationOutcome;

/// How weights are updated, and what comes on the way there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    pub learning_rate: f32,
    /// Momentum; 0 for none.
    pub momentum: f32,
    /// The share of the hidden layer that is dropped.
    pub dropout: f32,
    /// Whether there is a softmax before the loss, which has one of its own.
    pub softmax: bool,
    /// The seed of the masks of dropout.
    pub seed: u64,
}

/// What one rank sees in a step.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Its images.
    pub pixels: &'a [u8],
    /// Their labels.
    pub labels: &'a [u32],
    /// The place of its first image in the batch of all ranks.
    pub first: usize,
    /// Images of all ranks.
    pub total: usize,
    /// The number of the step, from 0.
    pub step: u64,
}

/// What a test gave.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tested {
    /// Images that were classified correctly.
    pub right: u64,
    pub images: u64,
    /// The sum of their losses.
    pub loss: f64,
}

/// A network with everything that training needs.
pub struct Model {
    threads: Threads,
    profile: Profile,
    weights: Parameters,
    gradients: Parameters,
    /// What momentum keeps.
    velocity: Option<Parameters>,
    convolutions: Convolutions,
    head: ClassifierHead,
    training: Training,
}

impl Model {
    /// A network with initial weights, for batches of this many images to train and to test with.
    pub fn new(
        threads: Threads,
        training: Training,
        batch: usize,
        test_batch: usize,
        seed: u64,
        profile: Profile,
    ) -> Result<Model, WorkloadError> {
        let momentum = training.momentum != 0.0;
        let velocity = momentum.then(|| Parameters::zeros(&threads, "optimizer")).transpose()?;
        Ok(Model {
            weights: Parameters::initial(&threads, seed)?,
            gradients: Parameters::zeros(&threads, "gradients")?,
            velocity,
            convolutions: Convolutions::new(&threads, batch)?,
            head: ClassifierHead::new(&threads, batch, test_batch)?,
            threads,
            profile,
            training,
        })
    }

    pub fn weights(&self) -> &Parameters {
        &self.weights
    }

    /// The gradients of the last step.
    pub fn gradients(&self) -> &Parameters {
        &self.gradients
    }

    /// The profile of its operations.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The norm of all gradients of the last step.
    pub fn gradient_norm(&self) -> f64 {
        let squares = |tensor: &Vec<f32>| reduce::sum_of_squares(&self.threads, tensor);
        self.gradients.tensors.iter().map(squares).sum::<f64>().sqrt()
    }

    /// One step together with the models of the other ranks, whose gradients and losses are averaged with its own. With
    /// `look`, the root mean square of the outputs and the norm of the gradient are computed on the way.
    pub fn step(&mut self, batch: &Batch<'_>, look: bool, ranks: &mut dyn Collective) -> IterationOutcome {
        // A rank's own sums times this, in the mean over the ranks, are means over all samples, also where ranks have
        // different numbers of them.
        let scale = ranks.size() as f64 / batch.total.max(1) as f64;
        let (loss, squares) = self.gradients_of(batch, scale, look, ranks);
        let loss = ranks.mean_number(loss * scale);
        let output = squares.map(|squares| ranks.mean_number(squares * scale / CLASSES as f64).sqrt());
        let (convolutions, head) = self.gradients.tensors.split_at_mut(4);
        take_back(&self.profile, ranks, head.iter_mut().chain(convolutions));
        let gradient_norm = look.then(|| self.gradient_norm());
        self.update();
        IterationOutcome { loss, output, gradient_norm }
    }

    /// Sets the gradients to those of a batch, and hands them in. Gives the sum of its losses and, where asked for, of the squares of its
    /// outputs.
    fn gradients_of(
        &mut self,
        batch: &Batch<'_>,
        scale: f64,
        look: bool,
        ranks: &mut dyn Collective,
    ) -> (f64, Option<f64>) {
        let Model { threads, profile, weights, gradients, convolutions, head, training, .. } = self;
        let rows = batch.labels.len();
        if rows == 0 {
            gradients.tensors.iter_mut().for_each(|tensor| tensor.fill(0.0));
            let (convolutions, head) = gradients.tensors.split_at_mut(4);
            hand_in(profile, ranks, head.iter_mut().chain(convolutions));
            return (0.0, look.then_some(0.0));
        }
        convolutions.forward(threads, profile, weights, batch.pixels, head.features_mut(rows));
        head.drop_out(threads, profile, training, batch);
        head.forward(threads, profile, weights, rows, true);
        let squares = look.then(|| head.sum_of_squares(threads, rows));
        let loss = head.loss(threads, profile, training.softmax, batch.labels, scale as f32);
        head.backward(threads, profile, weights, gradients, rows);
        hand_in(profile, ranks, &mut gradients.tensors[4..]);
        convolutions.backward(threads, profile, weights, gradients, head.feature_gradients(rows));
        hand_in(profile, ranks, &mut gradients.tensors[..4]);
        (loss, squares)
    }

    fn update(&mut self) {
        let Model { threads, profile, weights, gradients, velocity, training, .. } = self;
        let Training { learning_rate, momentum, .. } = *training;
        profile.timed("optimizer", 0.0, || {
            let pairs = weights.tensors.iter_mut().zip(&gradients.tensors);
            match velocity {
                None => pairs.for_each(|(weight, gradient)| {
                    sgd::step_plain(threads, learning_rate, weight, gradient);
                }),
                Some(velocity) => {
                    for ((weight, gradient), velocity) in pairs.zip(&mut velocity.tensors) {
                        sgd::step(threads, learning_rate, momentum, weight, gradient, velocity);
                    }
                }
            }
        });
    }

    /// Tests the network on images, without dropout.
    pub fn test(&mut self, pixels: &[u8], labels: &[u8]) -> Tested {
        let quiet = Profile::off();
        let Model { threads, weights, convolutions, head, training, .. } = self;
        convolutions.pack(&quiet, weights);
        let mut tested = Tested::default();
        let most = head.test_rows();
        for (pixels, labels) in pixels.chunks(most * PIXELS).zip(labels.chunks(most)) {
            convolutions.features(threads, weights, pixels, head.features_mut(labels.len()));
            head.forward(threads, &quiet, weights, labels.len(), false);
            tested.right += head.right(labels);
            tested.images += labels.len() as u64;
            tested.loss += head.test_loss(threads, training.softmax, labels);
        }
        tested
    }
}

/// The bytes of a network for batches of these sizes on this many threads.
pub fn planned_bytes(threads: usize, batch: usize, test_batch: usize, momentum: bool) -> u128 {
    let copies = if momentum { 3 } else { 2 };
    let parameters = 4 * copies * super::network::parameters() as u128;
    parameters + convolutions::planned_bytes(threads, batch) + head::planned_bytes(batch, test_batch)
}

#[cfg(test)]
mod tests;
