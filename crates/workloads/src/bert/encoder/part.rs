//! The way of one part through the layers: what each step computes.

use assay_kernels::attention::{self, Heads};
use assay_kernels::packed::{Activation, Packed};
use assay_kernels::{Write, layer_norm};

use crate::bert::parameters::{Affine, Layer, Parameters};
use crate::bert::sentences::Batch;
use crate::bert::shape::BertShape;

/// One step of a part's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartStep {
    Embed,
    Project,
    Attend,
    Out,
    Up,
    Down,
}

impl PartStep {
    pub(super) fn name(self) -> &'static str {
        match self {
            PartStep::Embed => "embedding",
            PartStep::Project => "qkv",
            PartStep::Attend => "attention",
            PartStep::Out => "attention_out",
            PartStep::Up => "up",
            PartStep::Down => "down",
        }
    }
}

pub(super) struct PackedLayer {
    qkv: Packed,
    out: Packed,
    attention_norm: Affine,
    up: Packed,
    down: Packed,
    output_norm: Affine,
}

impl PackedLayer {
    fn new(shape: &BertShape, layer: &Layer) -> PackedLayer {
        let pack = |affine: &Affine, inputs: usize| Packed::new(&affine.weight, &affine.bias, inputs);
        PackedLayer {
            qkv: pack(&layer.qkv, shape.width),
            out: pack(&layer.out, shape.width),
            attention_norm: layer.attention_norm.clone(),
            up: pack(&layer.up, shape.width),
            down: pack(&layer.down, shape.hidden),
            output_norm: layer.output_norm.clone(),
        }
    }
}

/// What does not change from batch to batch.
pub(super) struct Fixed {
    pub(super) shape: BertShape,
    heads: Heads,
    word: Vec<f32>,
    position: Vec<f32>,
    kind: Vec<f32>,
    norm: Affine,
    pub(super) layers: Vec<PackedLayer>,
}

/// What one part works on.
pub(super) struct EncoderPart<'a> {
    pub(super) first: usize,
    pub(super) stream: &'a mut [f32],
    pub(super) next: &'a mut [f32],
    pub(super) attended: &'a mut [f32],
    pub(super) hidden: &'a mut [f32],
    pub(super) scratch: &'a mut [f32],
}

impl Fixed {
    /// Packs the weights.
    pub(super) fn new(shape: &BertShape, weights: Parameters) -> Fixed {
        Fixed {
            shape: *shape,
            heads: Heads { count: shape.heads, size: shape.head_size() },
            layers: weights.layers.iter().map(|layer| PackedLayer::new(shape, layer)).collect(),
            word: weights.word,
            position: weights.position,
            kind: weights.kind,
            norm: weights.norm,
        }
    }

    pub(super) fn go(
        &self,
        step: PartStep,
        layer: usize,
        batch: &Batch,
        qkv: &[f32],
        part: &mut EncoderPart<'_>,
    ) {
        let EncoderPart { first, stream, next, attended, hidden, scratch } = part;
        let epsilon = self.shape.epsilon;
        let norm = |stream: &mut [f32], norm: &Affine| {
            layer_norm::in_place(stream, &norm.weight, &norm.bias, epsilon);
        };
        if step == PartStep::Embed {
            self.embed(batch, *first, stream);
            return norm(stream, &self.norm);
        }
        let layer = &self.layers[layer];
        match step {
            PartStep::Embed => {}
            PartStep::Project => layer.qkv.apply(stream, next, Write::Set, Activation::Nothing),
            PartStep::Attend => self.attend(batch, *first, qkv, attended, scratch),
            PartStep::Out => {
                layer.out.apply(attended, stream, Write::Add, Activation::Nothing);
                norm(stream, &layer.attention_norm);
            }
            PartStep::Up => {
                layer.up.apply(stream, hidden, Write::Set, Activation::Gelu(self.shape.activation))
            }
            PartStep::Down => {
                layer.down.apply(hidden, stream, Write::Add, Activation::Nothing);
                norm(stream, &layer.output_norm);
            }
        }
    }

    /// The sum of what stands for each token, its position and its kind.
    fn embed(&self, batch: &Batch, first: usize, stream: &mut [f32]) {
        let width = self.shape.width;
        let row = |number: usize| number * width..(number + 1) * width;
        let mut sentence = batch.sentence_of(first);
        for (number, stream) in (first..).zip(stream.chunks_exact_mut(width)) {
            while batch.starts[sentence + 1] <= number {
                sentence += 1;
            }
            let word = &self.word[row(batch.ids[number] as usize)];
            let position = &self.position[row(number - batch.starts[sentence])];
            for (((sum, word), position), kind) in stream.iter_mut().zip(word).zip(position).zip(&self.kind) {
                *sum = word + position + kind;
            }
        }
    }

    /// Attention for the rows of a part, each sentence on its own.
    fn attend(&self, batch: &Batch, first: usize, qkv: &[f32], attended: &mut [f32], scratch: &mut [f32]) {
        let width = self.shape.width;
        let end = first + attended.len() / width;
        let mut row = first;
        while row < end {
            let sentence = batch.sentence_of(row);
            let begin = batch.starts[sentence];
            let until = batch.starts[sentence + 1].min(end);
            let keys = begin..begin + batch.real[sentence];
            let out = &mut attended[(row - first) * width..(until - first) * width];
            attention::rows(self.heads, qkv, keys, row..until, out, scratch);
            row = until;
        }
    }

    /// The arithmetic of a step for a whole batch.
    pub(super) fn flops(&self, step: PartStep, batch: &Batch) -> f64 {
        let [width, hidden, rows] =
            [self.shape.width, self.shape.hidden, batch.rows()].map(|size| size as f64);
        match step {
            PartStep::Embed => 0.0,
            PartStep::Project => 6.0 * rows * width * width,
            PartStep::Attend => {
                let lengths = batch.starts.windows(2).map(|ends| ends[1] - ends[0]);
                lengths.zip(&batch.real).map(|(rows, keys)| 4.0 * (rows * keys) as f64 * width).sum()
            }
            PartStep::Out => 2.0 * rows * width * width,
            PartStep::Up | PartStep::Down => 2.0 * rows * width * hidden,
        }
    }
}
