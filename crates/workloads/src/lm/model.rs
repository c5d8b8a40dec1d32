//! The whole model in memory: weights, gradients, buffers, and what an iteration does with them.

use assay_kernels::{Threads, Write, reduce};

use super::buffers::{Buffers, Scratch};
use super::layer;
use super::operations::{Linear, Operations};
use super::options::{LmWork, Phase};
use super::parameters::Parameters;
use super::shape::LmShape;
use crate::WorkloadError;
use crate::collective::{Collective, hand_in, take_back};
use crate::profile::Profile;
use crate::training::Training;

pub use crate::summary::IterationOutcome;

/// A model with everything that its phase needs.
pub struct Model {
    operations: Operations,
    work: LmWork,
    weights: Parameters,
    gradients: Option<Parameters>,
    moments: Option<[Parameters; 2]>,
    buffers: Buffers,
    updates: u64,
}

/// The state of a model that a checkpoint holds.
pub struct CheckpointState<'a> {
    pub weights: &'a mut Parameters,
    /// The first and second moments of the optimizer, where there is one.
    pub moments: Option<&'a mut [Parameters; 2]>,
    /// Updates so far.
    pub updates: &'a mut u64,
}

impl Model {
    /// A model with initial weights, its memory taken and touched.
    pub fn new(
        threads: Threads,
        shape: &LmShape,
        work: &LmWork,
        seed: u64,
        profile: Profile,
    ) -> Result<Model, WorkloadError> {
        let zeros = |what| Parameters::zeros(&threads, shape, what);
        let gradients = if work.phase == Phase::Forward { None } else { Some(zeros("gradients")?) };
        let moments = match work.phase {
            Phase::Step => Some([zeros("optimizer")?, zeros("optimizer")?]),
            Phase::Forward | Phase::ForwardBackward => None,
        };
        Ok(Model {
            weights: Parameters::initial(&threads, shape, seed)?,
            gradients,
            moments,
            buffers: Buffers::new(&threads, shape, work)?,
            operations: Operations::new(threads, shape, work, profile),
            work: *work,
            updates: 0,
        })
    }

    pub fn weights(&self) -> &Parameters {
        &self.weights
    }

    /// The gradients of the last iteration; none for phase forward. A step leaves them clipped.
    pub fn gradients(&self) -> Option<&Parameters> {
        self.gradients.as_ref()
    }

    /// What a checkpoint reads into and writes from.
    pub fn state(&mut self) -> CheckpointState<'_> {
        CheckpointState {
            weights: &mut self.weights,
            moments: self.moments.as_mut(),
            updates: &mut self.updates,
        }
    }

    /// The profile of its operations.
    pub fn profile(&self) -> &Profile {
        &self.operations.profile
    }

    /// The threads it computes with.
    pub fn threads(&self) -> &Threads {
        &self.operations.threads
    }

    /// One iteration of its phase, together with the models of the other ranks, whose gradients and losses are averaged
    /// with its own. With `measure`, the root mean square of all logits is computed on the way.
    pub fn iterate(
        &mut self,
        inputs: &[u32],
        targets: &[u32],
        training: &Training,
        measure: bool,
        ranks: &mut dyn Collective,
    ) -> IterationOutcome {
        let (loss, output) = match self.work.phase {
            Phase::Forward => self.forward(inputs, targets, measure),
            Phase::ForwardBackward | Phase::Step => self.forward_backward(inputs, targets, measure, ranks),
        };
        let loss = ranks.mean_number(loss);
        let output = output.map(|output| ranks.mean_number(output * output).sqrt());
        if let Some(gradients) = &mut self.gradients {
            take_back(&self.operations.profile, ranks, gradients.backwards_mut());
        }
        let gradient_norm = (self.work.phase == Phase::Step).then(|| self.update(training));
        IterationOutcome { loss, output, gradient_norm }
    }

    /// The norm of all gradients of the last iteration; none for phase forward.
    pub fn gradient_norm(&self) -> Option<f64> {
        let threads = &self.operations.threads;
        let squares = |tensor: &[f32]| reduce::sum_of_squares(threads, tensor);
        self.gradients.as_ref().map(|gradients| gradients.tensors().map(squares).sum::<f64>().sqrt())
    }

    fn forward(&mut self, inputs: &[u32], targets: &[u32], measure: bool) -> (f64, Option<f64>) {
        let Model { operations, weights, buffers, .. } = self;
        let x = &mut buffers.streams[0];
        operations.embed(inputs, &weights.embedding, x);
        for layer in &weights.layers {
            layer::forward_in_place(operations, layer, x, &mut buffers.scratch);
        }
        let mut head = OutputHead { operations, weights, rows: buffers.rows, measure, squares: 0.0 };
        let loss = head.forward(x, targets, &mut buffers.scratch);
        (loss, head.output(targets.len()))
    }

    /// Hands in the gradients as they are completed.
    fn forward_backward(
        &mut self,
        inputs: &[u32],
        targets: &[u32],
        measure: bool,
        ranks: &mut dyn Collective,
    ) -> (f64, Option<f64>) {
        let Model { operations, weights, gradients: Some(gradients), buffers, work, .. } = self else {
            return (f64::NAN, None);
        };
        let Buffers { streams, kept, scratch, rows } = buffers;
        operations.embed(inputs, &weights.embedding, &mut streams[0]);
        for (number, layer) in weights.layers.iter().enumerate() {
            let mut kept = kept.of(number, &mut gradients.layers[..number]);
            let (before, after) = streams.split_at_mut(number + 1);
            layer::forward_keeping(operations, layer, &before[number], &mut kept, scratch);
            layer::forward_rest(operations, layer, &kept, scratch, &mut after[0]);
        }
        let mut head = OutputHead { operations, weights, rows: *rows, measure, squares: 0.0 };
        let loss = head.forward_backward(&streams[weights.layers.len()], targets, scratch, gradients);
        let output = head.output(targets.len());
        hand_in(&operations.profile, ranks, [&mut gradients.head, &mut gradients.norm]);
        for (number, layer) in weights.layers.iter().enumerate().rev() {
            let x0 = &streams[number];
            let (before, mine) = gradients.layers.split_at_mut(number);
            let found = kept.keep_attention() || number + 1 == weights.layers.len();
            let mut kept = kept.of(number, before);
            // What the last layer computed is still there.
            if !found {
                if work.checkpointing {
                    layer::forward_keeping(operations, layer, x0, &mut kept, scratch);
                } else {
                    layer::attention(operations, layer, x0, &mut kept, scratch);
                }
            }
            layer::backward(operations, layer, &mut mine[0], x0, &mut kept, scratch);
            hand_in(&operations.profile, ranks, mine[0].tensors_mut());
        }
        operations.embed_backward(inputs, &scratch.dx, &mut gradients.embedding);
        hand_in(&operations.profile, ranks, [&mut gradients.embedding]);
        (loss, output)
    }

    /// Clips the gradients and updates the weights, unless a gradient is not finite. Returns the norm before clipping.
    fn update(&mut self, training: &Training) -> f64 {
        let norm =
            self.operations.profile.timed("optimizer", 0.0, || self.gradient_norm().unwrap_or(f64::NAN));
        let Model { operations, weights, gradients: Some(gradients), moments: Some([first, second]), .. } =
            self
        else {
            return norm;
        };
        if !norm.is_finite() {
            return norm;
        }
        self.updates += 1;
        operations.profile.timed("optimizer", 0.0, || {
            let state = first.tensors_mut().zip(second.tensors_mut());
            let tensors = weights.tensors_mut().zip(gradients.tensors_mut()).zip(state);
            training.update(&operations.threads, norm, self.updates, tensors);
        });
        norm
    }
}

/// The last norm, the output matrix and the loss, over a piece of the rows at a time so that the logits of all rows
/// never exist at once.
struct OutputHead<'a> {
    operations: &'a Operations,
    weights: &'a Parameters,
    rows: usize,
    measure: bool,
    squares: f64,
}

impl OutputHead<'_> {
    fn linear(&self) -> Linear<'_> {
        let LmShape { width, vocabulary, .. } = self.operations.shape;
        Linear { operation: "head", weight: &self.weights.head, outputs: vocabulary, inputs: width }
    }

    /// The root mean square of all logits of this many rows, if it was measured.
    fn output(&self, rows: usize) -> Option<f64> {
        let count = rows as f64 * self.operations.shape.vocabulary as f64;
        self.measure.then(|| (self.squares / count).sqrt())
    }

    fn measure(&mut self, logits: &[f32]) {
        if self.measure {
            self.squares += reduce::sum_of_squares(&self.operations.threads, logits);
        }
    }

    fn forward(&mut self, x: &[f32], targets: &[u32], scratch: &mut Scratch) -> f64 {
        let LmShape { width, vocabulary, .. } = self.operations.shape;
        let Scratch { normed, arena, inverse, row_loss, .. } = scratch;
        self.operations.norm(x, &self.weights.norm, normed, inverse);
        let mut sum = 0.0;
        for (normed, targets) in normed.chunks(self.rows * width).zip(targets.chunks(self.rows)) {
            let logits = &mut arena[..targets.len() * vocabulary];
            self.operations.linear(self.linear(), normed, logits, Write::Set);
            self.measure(logits);
            sum += self.operations.loss(logits, targets, &mut row_loss[..targets.len()]);
        }
        sum / targets.len() as f64
    }

    /// Sets the gradients of the output matrix and of the last norm, and `scratch.dx`.
    fn forward_backward(
        &mut self,
        x: &[f32],
        targets: &[u32],
        scratch: &mut Scratch,
        gradients: &mut Parameters,
    ) -> f64 {
        let LmShape { width, vocabulary, .. } = self.operations.shape;
        let Scratch { normed, arena, dx, inverse, row_loss, norm, .. } = scratch;
        self.operations.norm(x, &self.weights.norm, normed, inverse);
        let scale = 1.0 / targets.len() as f32;
        let mut sum = 0.0;
        let pieces = normed.chunks_mut(self.rows * width).zip(targets.chunks(self.rows));
        for (piece, (normed, targets)) in pieces.enumerate() {
            let logits = &mut arena[..targets.len() * vocabulary];
            self.operations.linear(self.linear(), normed, logits, Write::Set);
            self.measure(logits);
            sum += self.operations.loss_backward(logits, targets, scale, &mut row_loss[..targets.len()]);
            let write = if piece == 0 { Write::Set } else { Write::Add };
            self.operations.linear_weight(self.linear(), logits, normed, &mut gradients.head, write);
            self.operations.linear_input(self.linear(), logits, normed);
        }
        self.operations.profile.timed("copy", 0.0, || self.operations.clear(dx));
        let (weight, dweight) = (&self.weights.norm, &mut gradients.norm);
        self.operations.norm_backward(x, weight, inverse, normed, dx, dweight, norm);
        sum / targets.len() as f64
    }
}

#[cfg(test)]
mod tests;
