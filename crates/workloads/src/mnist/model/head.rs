//! The two linear layers after the convolutions, dropout between them, and the loss.

use assay_kernels::{Layout, Threads, Write, cross_entropy, dropout, matmul, reduce};

use super::{Batch, Training};
use crate::WorkloadError;
use crate::initial::DrawKey;
use crate::mnist::network::{CLASSES, FEATURES, HIDDEN, Parameters};
use crate::profile::Profile;
use crate::tensors::zeros;

pub(super) struct ClassifierHead {
    features: Vec<f32>,
    dfeatures: Vec<f32>,
    hidden: Vec<f32>,
    dhidden: Vec<f32>,
    /// What each number of the hidden layer is multiplied with: 0 where it is dropped.
    mask: Vec<f32>,
    /// Outputs, then their gradients.
    logits: Vec<f32>,
    /// What a softmax made of the outputs.
    probabilities: Vec<f32>,
    row_loss: Vec<f32>,
    targets: Vec<u32>,
    test_rows: usize,
}

/// The bytes of the memory for batches of this many images.
pub(super) fn planned_bytes(batch: usize, test_batch: usize) -> u128 {
    let rows = batch.max(test_batch) as u128;
    4 * (rows * (FEATURES + HIDDEN + 2 * CLASSES + 2) as u128
        + batch as u128 * (FEATURES + 2 * HIDDEN) as u128)
}

fn flops(rows: usize, inputs: usize, outputs: usize) -> f64 {
    2.0 * rows as f64 * inputs as f64 * outputs as f64
}

impl ClassifierHead {
    /// Memory for batches of this many images to train and to test with.
    pub(super) fn new(
        threads: &Threads,
        batch: usize,
        test_batch: usize,
    ) -> Result<ClassifierHead, WorkloadError> {
        let buffer = |rows: usize, each: usize| zeros(threads, "activations", rows.saturating_mul(each));
        let rows = batch.max(test_batch);
        Ok(ClassifierHead {
            features: buffer(rows, FEATURES)?,
            dfeatures: buffer(batch, FEATURES)?,
            hidden: buffer(rows, HIDDEN)?,
            dhidden: buffer(batch, HIDDEN)?,
            mask: buffer(batch, HIDDEN)?,
            logits: buffer(rows, CLASSES)?,
            probabilities: buffer(rows, CLASSES)?,
            row_loss: buffer(rows, 1)?,
            targets: vec![0; rows],
            test_rows: test_batch,
        })
    }

    /// Where the features of this many images belong.
    pub(super) fn features_mut(&mut self, rows: usize) -> &mut [f32] {
        &mut self.features[..rows * FEATURES]
    }

    /// The gradients of the features of the last batch.
    pub(super) fn feature_gradients(&self, rows: usize) -> &[f32] {
        &self.dfeatures[..rows * FEATURES]
    }

    /// The most images of one batch of a test.
    pub(super) fn test_rows(&self) -> usize {
        self.test_rows
    }

    /// Draws the masks of a batch: those of an image depend on the step and on its place in the batch of all ranks, so that
    /// several ranks drop what one would.
    pub(super) fn drop_out(
        &mut self,
        threads: &Threads,
        profile: &Profile,
        training: &Training,
        batch: &Batch<'_>,
    ) {
        const ONES: [f32; HIDDEN] = [1.0; HIDDEN];
        let key = DrawKey::new("dropout", training.seed).at(batch.step);
        let masks = self.mask.chunks_exact_mut(HIDDEN).take(batch.labels.len());
        profile.timed("dropout", 0.0, || {
            for (place, mask) in masks.enumerate() {
                let seed = key.draw((batch.first + place) as u64);
                dropout::forward(threads, seed, training.dropout, &ONES, mask);
            }
        });
    }

    /// From features to outputs.
    pub(super) fn forward(
        &mut self,
        threads: &Threads,
        profile: &Profile,
        weights: &Parameters,
        rows: usize,
        trains: bool,
    ) {
        let [.., weight3, bias3, weight4, bias4] = &weights.tensors;
        let ClassifierHead { features, hidden, mask, logits, .. } = self;
        let features = &features[..rows * FEATURES];
        let (hidden, logits) = (&mut hidden[..rows * HIDDEN], &mut logits[..rows * CLASSES]);
        profile.timed("layer3", flops(rows, FEATURES, HIDDEN), || {
            matmul(threads, Layout::NT, rows, HIDDEN, FEATURES, features, weight3, hidden, Write::Set);
        });
        profile.timed("relu", 0.0, || {
            for row in hidden.chunks_exact_mut(HIDDEN) {
                for (value, bias) in row.iter_mut().zip(bias3) {
                    let sum = *value + bias;
                    *value = if sum < 0.0 { 0.0 } else { sum };
                }
            }
            if trains {
                hidden.iter_mut().zip(mask.iter()).for_each(|(value, factor)| *value *= *factor);
            }
        });
        profile.timed("layer4", flops(rows, HIDDEN, CLASSES), || {
            matmul(threads, Layout::NT, rows, CLASSES, HIDDEN, hidden, weight4, logits, Write::Set);
            for row in logits.chunks_exact_mut(CLASSES) {
                row.iter_mut().zip(bias4).for_each(|(value, bias)| *value += bias);
            }
        });
    }

    /// The sum of the squares of the outputs.
    pub(super) fn sum_of_squares(&self, threads: &Threads, rows: usize) -> f64 {
        reduce::sum_of_squares(threads, &self.logits[..rows * CLASSES])
    }

    /// The sum of the losses; outputs become their gradients, each times `scale`.
    pub(super) fn loss(
        &mut self,
        threads: &Threads,
        profile: &Profile,
        softmax: bool,
        labels: &[u32],
        scale: f32,
    ) -> f64 {
        let rows = labels.len();
        let ClassifierHead { logits, probabilities, row_loss, .. } = self;
        let (logits, row_loss) = (&mut logits[..rows * CLASSES], &mut row_loss[..rows]);
        profile.timed("loss", 0.0, || {
            if !softmax {
                return cross_entropy::forward_backward(threads, logits, CLASSES, labels, scale, row_loss);
            }
            let probabilities = &mut probabilities[..rows * CLASSES];
            probabilities.copy_from_slice(logits);
            probabilities.chunks_exact_mut(CLASSES).for_each(soften);
            logits.copy_from_slice(probabilities);
            let loss = cross_entropy::forward_backward(threads, logits, CLASSES, labels, scale, row_loss);
            for (gradient, probabilities) in
                logits.chunks_exact_mut(CLASSES).zip(probabilities.chunks_exact(CLASSES))
            {
                let mean: f32 = gradient.iter().zip(probabilities).map(|(g, p)| g * p).sum();
                gradient.iter_mut().zip(probabilities).for_each(|(g, p)| *g = p * (*g - mean));
            }
            loss
        })
    }

    /// The sum of the losses of a test. Outputs are used up.
    pub(super) fn test_loss(&mut self, threads: &Threads, softmax: bool, labels: &[u8]) -> f64 {
        let rows = labels.len();
        let ClassifierHead { logits, row_loss, targets, .. } = self;
        let (logits, row_loss) = (&mut logits[..rows * CLASSES], &mut row_loss[..rows]);
        if softmax {
            logits.chunks_exact_mut(CLASSES).for_each(soften);
        }
        let targets = &mut targets[..rows];
        targets.iter_mut().zip(labels).for_each(|(target, label)| *target = u32::from(*label));
        cross_entropy::forward(threads, logits, CLASSES, targets, row_loss)
    }

    /// How many outputs are largest where the label is.
    pub(super) fn right(&self, labels: &[u8]) -> u64 {
        let rows = self.logits.chunks_exact(CLASSES).zip(labels);
        rows.filter(|(row, label)| largest(row) == usize::from(**label)).count() as u64
    }

    /// Sets the gradients of both layers and of the features, from those of the outputs.
    pub(super) fn backward(
        &mut self,
        threads: &Threads,
        profile: &Profile,
        weights: &Parameters,
        gradients: &mut Parameters,
        rows: usize,
    ) {
        let [.., weight3, _, weight4, _] = &weights.tensors;
        let [.., dweight3, dbias3, dweight4, dbias4] = &mut gradients.tensors;
        let ClassifierHead { features, dfeatures, hidden, dhidden, mask, logits, .. } = self;
        let (features, dfeatures) = (&features[..rows * FEATURES], &mut dfeatures[..rows * FEATURES]);
        let (hidden, dhidden) = (&hidden[..rows * HIDDEN], &mut dhidden[..rows * HIDDEN]);
        let dlogits = &logits[..rows * CLASSES];
        profile.timed("layer4_backward", 2.0 * flops(rows, HIDDEN, CLASSES), || {
            matmul(threads, Layout::TN, CLASSES, HIDDEN, rows, dlogits, hidden, dweight4, Write::Set);
            matmul(threads, Layout::NN, rows, HIDDEN, CLASSES, dlogits, weight4, dhidden, Write::Set);
            sum_rows(dlogits, dbias4);
        });
        profile.timed("relu", 0.0, || {
            for ((gradient, value), factor) in dhidden.iter_mut().zip(hidden).zip(mask.iter()) {
                *gradient = if *value <= 0.0 { 0.0 } else { *gradient * *factor };
            }
            sum_rows(dhidden, dbias3);
        });
        profile.timed("layer3_backward", 2.0 * flops(rows, FEATURES, HIDDEN), || {
            matmul(threads, Layout::TN, HIDDEN, FEATURES, rows, dhidden, features, dweight3, Write::Set);
            matmul(threads, Layout::NN, rows, FEATURES, HIDDEN, dhidden, weight3, dfeatures, Write::Set);
        });
    }
}

/// Sets `sums` to the sum of all rows.
fn sum_rows(rows: &[f32], sums: &mut [f32]) {
    sums.fill(0.0);
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// Replaces a row by its softmax.
fn soften(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|value| *value = (*value - largest).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
}

/// The place of the largest element; the first of equal ones.
fn largest(row: &[f32]) -> usize {
    let mut best = 0;
    for (place, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = place;
        }
    }
    best
}
