//! The encoder for answers: weights packed once, sentences of any lengths one behind the other, no work for padding that
//! nobody asked for, and one fork a layer.
//!
//! The rows of a batch are cut into parts. A part looks at the keys and values of all rows of its sentences, which the
//! fork before has computed, and then goes alone through the rest of the layer and the projections of the next one. A
//! row's numbers do not depend on the rows beside it, so that a sentence has the same bits in any batch.

mod part;

use assay_kernels::Threads;
use assay_kernels::attention::Heads;
use assay_kernels::threads::Chunks;

use self::part::{EncoderPart, Fixed, PartStep};
use super::parameters::Parameters;
use super::sentences::Batch;
use super::shape::BertShape;
use crate::WorkloadError;
use crate::profile::Profile;
use crate::tensors::zeros;

/// The most rows of a part: they and the panels they are multiplied with stay in the caches.
const MOST_ROWS: usize = 48;

/// The encoder with its weights and memory.
pub struct Encoder {
    threads: Threads,
    profile: Profile,
    fixed: Fixed,
    /// What stands for each token between layers.
    stream: Vec<f32>,
    /// Queries, keys and values of this layer and of the next.
    qkv: [Vec<f32>; 2],
    scratch: Vec<f32>,
}

impl Encoder {
    /// Packs the weights. Memory is taken when a batch needs more than any before.
    pub fn new(threads: Threads, shape: &BertShape, weights: Parameters, profile: Profile) -> Encoder {
        Encoder {
            threads,
            profile,
            fixed: Fixed::new(shape, weights),
            stream: Vec::new(),
            qkv: [Vec::new(), Vec::new()],
            scratch: Vec::new(),
        }
    }

    /// The profile of its operations.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Numbers that a batch of this many rows, the longest sentence of which has `longest`, takes beside the weights.
    pub fn numbers(threads: usize, shape: &BertShape, rows: usize, longest: usize) -> u128 {
        let per = rows_of_part(threads, rows);
        let parts = rows.div_ceil(per.max(1)) as u128;
        7 * rows as u128 * shape.width as u128 + parts * scratch_of_part(shape, per, longest) as u128
    }

    /// Takes the memory for batches of this many rows, the longest sentence of which has `longest`, before they come.
    pub fn reserve(&mut self, rows: usize, longest: usize) -> Result<(), WorkloadError> {
        let shape = self.fixed.shape;
        let per = rows_of_part(self.threads.count(), rows);
        let scratch = rows.div_ceil(per) * scratch_of_part(&shape, per, longest);
        let [current, next] = &mut self.qkv;
        let wanted = [
            (&mut self.stream, rows * shape.width),
            (current, 3 * rows * shape.width),
            (next, 3 * rows * shape.width),
            (&mut self.scratch, scratch),
        ];
        for (buffer, length) in wanted {
            if buffer.len() < length {
                *buffer = zeros(&self.threads, "activations", length)?;
            }
        }
        Ok(())
    }

    /// What stands for each token of a batch after the last layer, row by row. All ids must be in the vocabulary, and
    /// no sentence longer than there are positions.
    pub fn encode(&mut self, batch: &Batch) -> Result<&[f32], WorkloadError> {
        let longest = batch.starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        self.reserve(batch.rows(), longest)?;
        if batch.rows() == 0 {
            return Ok(&[]);
        }
        let layers = self.fixed.layers.len();
        self.fork(batch, longest, &[(PartStep::Embed, 0), (PartStep::Project, 0)]);
        for layer in 0..layers {
            self.qkv.swap(0, 1);
            let steps = [
                (PartStep::Attend, layer),
                (PartStep::Out, layer),
                (PartStep::Up, layer),
                (PartStep::Down, layer),
                (PartStep::Project, layer + 1),
            ];
            let last = layer + 1 == layers;
            self.fork(batch, longest, if last { &steps[..4] } else { &steps });
        }
        Ok(&self.stream[..batch.rows() * self.fixed.shape.width])
    }

    /// Takes all parts through some steps: at once, or one step after the other where each is to be timed.
    fn fork(&mut self, batch: &Batch, longest: usize, steps: &[(PartStep, usize)]) {
        let Encoder { threads, profile, fixed, stream, qkv: [current, next], scratch } = self;
        let (fixed, current): (&Fixed, &[f32]) = (fixed, current);
        let BertShape { width, hidden, .. } = fixed.shape;
        let rows = batch.rows();
        let per = rows_of_part(threads.count(), rows);
        let of_part = scratch_of_part(&fixed.shape, per, longest);
        let mut go = |steps: &[(PartStep, usize)]| {
            let parts = (
                Chunks::new(&mut stream[..rows * width], per * width),
                Chunks::new(&mut next[..3 * rows * width], 3 * per * width),
                Chunks::new(&mut scratch[..rows.div_ceil(per) * of_part], of_part),
            );
            threads.run_parts(parts, |number, (stream, next, scratch)| {
                let count = stream.len() / width;
                let (attended, rest) = scratch.split_at_mut(per * width);
                let (inner, rest) = rest.split_at_mut(per * hidden);
                let mut part = EncoderPart {
                    first: number * per,
                    stream,
                    next,
                    attended: &mut attended[..count * width],
                    hidden: &mut inner[..count * hidden],
                    scratch: rest,
                };
                for (step, layer) in steps {
                    fixed.go(*step, *layer, batch, current, &mut part);
                }
            });
        };
        if profile.is_on() {
            for step in steps {
                profile.timed(step.0.name(), fixed.flops(step.0, batch), || go(&[*step]));
            }
        } else {
            go(steps);
        }
    }
}

/// How many rows a part has: as many parts as threads, or a multiple of that.
fn rows_of_part(threads: usize, rows: usize) -> usize {
    let rounds = rows.div_ceil(threads * MOST_ROWS).max(1);
    rows.div_ceil(threads * rounds).max(1)
}

/// The scratch of a part: what attention gave, the inside of the feed-forward layer, and what attention needs.
fn scratch_of_part(shape: &BertShape, rows: usize, longest: usize) -> usize {
    let heads = Heads { count: shape.heads, size: shape.head_size() };
    rows.saturating_mul(shape.width + shape.hidden).saturating_add(heads.scratch(longest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bert::options::Task;
    use crate::bert::sentences::Sentence;
    use crate::bert::shape::tests::little;

    fn encoder(threads: usize, profile: Profile) -> Encoder {
        let mut weights = Parameters::initial(&Threads::new(1), &little(), Task::Embed, 3).unwrap();
        // Biases and norms that begin as zeros and ones would hide mistakes.
        for (number, tensor) in weights.tensors_mut(Task::Embed).enumerate() {
            for (place, value) in tensor.iter_mut().enumerate() {
                *value = *value * 20.0 + ((number * 31 + place * 17) % 13) as f32 / 26.0 - 0.2;
            }
        }
        Encoder::new(Threads::new(threads), &little(), weights, profile)
    }

    fn sentences() -> Vec<Sentence> {
        let lengths = [3, 16, 2, 9, 1, 14];
        let sentence = |length: usize| (0..length).map(|place| (place * 7 + length) as u32 % 40).collect();
        lengths.map(|length| Sentence { ids: sentence(length), label: None }).into()
    }

    fn run(encoder: &mut Encoder, list: &[Sentence], length: Option<usize>) -> Vec<f32> {
        let mut batch = Batch::default();
        batch.fill(list.iter(), length, 0);
        encoder.encode(&batch).unwrap().to_vec()
    }

    #[test]
    fn a_sentence_has_the_same_bits_alone_in_a_batch_padded_and_on_any_threads() {
        let list = sentences();
        let mut one = encoder(1, Profile::off());
        let alone: Vec<Vec<f32>> =
            list.iter().map(|sentence| run(&mut one, std::slice::from_ref(sentence), None)).collect();
        assert!(alone.iter().flatten().all(|value| value.is_finite()));
        for threads in [1, 2, 3] {
            let mut encoder = encoder(threads, Profile::off());
            assert_eq!(run(&mut encoder, &list, None), alone.concat(), "{threads} threads");
            let padded = run(&mut encoder, &list, Some(16));
            for (padded, alone) in padded.chunks(16 * 12).zip(&alone) {
                assert_eq!(&padded[..alone.len()], alone, "{threads} threads, padded");
            }
        }
        assert_eq!(run(&mut one, &[], None), [0f32; 0]);
    }

    #[test]
    fn a_profile_changes_no_bit() {
        let list = sentences();
        let plain = run(&mut encoder(2, Profile::off()), &list, None);
        assert_eq!(run(&mut encoder(2, Profile::on()), &list, None), plain);
    }

    #[test]
    fn parts_are_a_multiple_of_the_threads_and_small() {
        for (threads, rows, expected) in [(2, 27, 14), (2, 128, 32), (1, 100, 34), (4, 3, 1), (2, 1, 1)] {
            assert_eq!(rows_of_part(threads, rows), expected, "{threads} {rows}");
        }
    }
}
