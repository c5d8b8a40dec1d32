//! The head of the masked language model: only masked tokens go through it, and their scores over the vocabulary exist
//! for a piece of them at a time.

use assay_kernels::{Threads, Write, bias, cross_entropy, reduce};

use crate::WorkloadError;
use crate::bert::data::Sequences;
use crate::bert::layer::Scratch;
use crate::bert::operations::{Moments, Operations};
use crate::bert::parameters::Parameters;
use crate::bert::shape::BertShape;
use crate::tensors::zeros;

/// The most numbers that the scores of one piece of tokens take, unless one token alone takes more.
const MOST_SCORES: usize = 1 << 22;

/// Tokens whose scores are computed at once.
fn rows_of_piece(shape: &BertShape, masked: usize) -> usize {
    (MOST_SCORES / shape.vocabulary.max(1)).clamp(1, masked.max(1))
}

/// The numbers that the head takes for this many masked tokens.
pub(super) fn head_numbers(shape: &BertShape, masked: u128) -> u128 {
    let rows = rows_of_piece(shape, usize::try_from(masked).unwrap_or(usize::MAX)) as u128;
    masked * (6 * shape.width as u128 + 3) + rows * shape.vocabulary as u128
}

/// Its buffers.
pub(super) struct HeadBuffers {
    /// What the encoder gave for the masked tokens, later the gradient of that.
    tokens: Vec<f32>,
    /// What the transform made of them, before and after its activation, and after its norm.
    transformed: Vec<f32>,
    active: Vec<f32>,
    normed: Vec<f32>,
    moments: Moments,
    /// Gradients.
    dnormed: Vec<f32>,
    dactive: Vec<f32>,
    scores: Vec<f32>,
    row_loss: Vec<f32>,
    rows: usize,
}

impl HeadBuffers {
    pub(super) fn new(
        threads: &Threads,
        shape: &BertShape,
        masked: usize,
    ) -> Result<HeadBuffers, WorkloadError> {
        let rows = rows_of_piece(shape, masked);
        let wide = || zeros(threads, "activations", masked * shape.width);
        Ok(HeadBuffers {
            tokens: wide()?,
            transformed: wide()?,
            active: wide()?,
            normed: wide()?,
            moments: Moments::new(threads, masked)?,
            dnormed: wide()?,
            dactive: wide()?,
            scores: zeros(threads, "activations", rows * shape.vocabulary)?,
            row_loss: zeros(threads, "activations", rows)?,
            rows,
        })
    }

    /// The mean loss and, where it is measured, the root mean square of all scores. Sets the gradients of the head, begins
    /// that of the words, and sets `scratch.dx`.
    #[expect(clippy::too_many_arguments, reason = "all that a head is between")]
    pub(super) fn forward_backward(
        &mut self,
        operations: &Operations,
        weights: &Parameters,
        gradients: &mut Parameters,
        x: &[f32],
        sequences: &Sequences,
        scratch: &mut Scratch,
        measure: bool,
    ) -> (f64, Option<f64>) {
        let width = operations.shape.width;
        for (row, place) in self.tokens.chunks_exact_mut(width).zip(&sequences.places) {
            row.copy_from_slice(&x[*place as usize * width..][..width]);
        }
        operations.linear("transform", &weights.transform, &self.tokens, &mut self.transformed);
        operations.activate(&self.transformed, &mut self.active);
        operations.norm(&self.active, &weights.transform_norm, &mut self.normed, &mut self.moments);
        let result = self.scores(operations, weights, gradients, &sequences.targets, scratch, measure);
        let HeadBuffers { tokens, transformed, active, moments, dnormed, dactive, .. } = self;
        let (norm, sums) = (&weights.transform_norm.weight, &mut scratch.sums);
        operations.norm_backward(
            active,
            norm,
            moments,
            dnormed,
            dactive,
            &mut gradients.transform_norm,
            sums,
        );
        operations.activate_backward(transformed, dactive, dnormed);
        operations.affine("transform", dnormed, tokens, &mut gradients.transform, sums);
        operations.input("transform", &weights.transform.weight, width, dnormed, tokens, Write::Set);
        operations.clear(&mut scratch.dx);
        for (row, place) in tokens.chunks_exact(width).zip(&sequences.places) {
            scratch.dx[*place as usize * width..][..width].copy_from_slice(row);
        }
        result
    }

    /// The scores of all tokens over the vocabulary, piece by piece: sets `dnormed` and the gradients of words and bias.
    fn scores(
        &mut self,
        operations: &Operations,
        weights: &Parameters,
        gradients: &mut Parameters,
        targets: &[u32],
        scratch: &mut Scratch,
        measure: bool,
    ) -> (f64, Option<f64>) {
        let BertShape { width, vocabulary, .. } = operations.shape;
        let threads = &operations.threads;
        let scale = 1.0 / targets.len() as f32;
        let (mut sum, mut squares) = (0.0, 0.0);
        gradients.decoder_bias.fill(0.0);
        let pieces = self.normed.chunks(self.rows * width).zip(self.dnormed.chunks_mut(self.rows * width));
        for (number, ((normed, dnormed), targets)) in pieces.zip(targets.chunks(self.rows)).enumerate() {
            let scores = &mut self.scores[..targets.len() * vocabulary];
            operations.product("decoder", &weights.word, vocabulary, normed, scores);
            operations
                .profile
                .timed("decoder", 0.0, || bias::forward(threads, &weights.decoder_bias, scores));
            if measure {
                squares += reduce::sum_of_squares(threads, scores);
            }
            let row_loss = &mut self.row_loss[..targets.len()];
            sum += operations.profile.timed("loss", 0.0, || {
                cross_entropy::forward_backward(threads, scores, vocabulary, targets, scale, row_loss)
            });
            let write = if number == 0 { Write::Set } else { Write::Add };
            operations.weight("decoder", vocabulary, scores, normed, &mut gradients.word, write);
            operations.bias("decoder", scores, &mut gradients.decoder_bias, &mut scratch.sums);
            operations.input("decoder", &weights.word, vocabulary, scores, dnormed, Write::Set);
        }
        let count = targets.len() as f64;
        (sum / count, measure.then(|| (squares / (count * vocabulary as f64)).sqrt()))
    }
}
