//! From tokens to an answer: the pooler and classifier of a model, a head that was trained on means, or the mean itself.
//!
//! A head's file is safetensors with `weight` (classes × width) and `bias` (classes); the entry `assay.bert-head` of its
//! metadata is JSON with the names of the classes.

use std::path::Path;

use assay_kernels::Write;
use assay_kernels::packed::{Activation, Packed};
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use super::parameters::Affine;
use super::sentences::Batch;
use crate::WorkloadError;
use crate::weights::Weights;

/// The entry of the metadata that is ours.
const ENTRY: &str = "assay.bert-head";

/// What is made of the tokens of a sentence.
#[derive(Debug)]
pub enum Head {
    /// A classifier of what a pooler makes of the first token.
    Pooled { pooler: Packed, classifier: Packed },
    /// A classifier of the mean of all tokens.
    Mean(Packed),
    /// The mean of all tokens.
    Embedding,
}

impl Head {
    /// The head of a model.
    pub fn pooled(width: usize, pooler: &Affine, classifier: &Affine) -> Head {
        let pack = |affine: &Affine| Packed::new(&affine.weight, &affine.bias, width);
        Head::Pooled { pooler: pack(pooler), classifier: pack(classifier) }
    }

    /// Numbers of an answer.
    pub fn outputs(&self, width: usize) -> usize {
        match self {
            Head::Pooled { classifier, .. } => classifier.outputs(),
            Head::Mean(classifier) => classifier.outputs(),
            Head::Embedding => width,
        }
    }

    /// The answers to all sentences of a batch, one behind the other. `scratch` is lent.
    pub fn answer(
        &self,
        width: usize,
        batch: &Batch,
        tokens: &[f32],
        scratch: &mut Vec<f32>,
        out: &mut Vec<f32>,
    ) {
        let count = batch.count();
        out.clear();
        out.resize(count * self.outputs(width), 0.0);
        scratch.clear();
        scratch.resize(2 * count * width, 0.0);
        let (rows, pooled) = scratch.split_at_mut(count * width);
        match self {
            Head::Pooled { pooler, classifier } => {
                for (row, start) in rows.chunks_exact_mut(width).zip(&batch.starts) {
                    row.copy_from_slice(&tokens[start * width..][..width]);
                }
                pooler.apply(rows, pooled, Write::Set, Activation::Tanh);
                classifier.apply(pooled, out, Write::Set, Activation::Nothing);
            }
            Head::Mean(classifier) => {
                means(width, batch, tokens, rows);
                classifier.apply(rows, out, Write::Set, Activation::Nothing);
            }
            Head::Embedding => means(width, batch, tokens, out),
        }
    }
}

/// The mean of the real tokens of each sentence.
fn means(width: usize, batch: &Batch, tokens: &[f32], out: &mut [f32]) {
    for ((mean, start), real) in out.chunks_exact_mut(width).zip(&batch.starts).zip(&batch.real) {
        mean.fill(0.0);
        for row in tokens[start * width..].chunks_exact(width).take(*real) {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        let factor = 1.0 / *real as f32;
        mean.iter_mut().for_each(|sum| *sum *= factor);
    }
}

/// The shares of the classes of one answer.
pub fn probabilities(logits: &[f32]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = logits.iter().map(|logit| f64::from(logit - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// The class with the largest score, the first of equals.
pub fn best(logits: &[f32]) -> usize {
    let better = |best: usize, place: usize| if logits[place] > logits[best] { place } else { best };
    (1..logits.len()).fold(0, better)
}

/// A head that was trained on means.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// Classes × width.
    pub weight: Vec<f32>,
    /// One for each class.
    pub bias: Vec<f32>,
    /// The names of the classes.
    pub labels: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct About {
    labels: Vec<String>,
}

impl Trained {
    /// Reads a head for a model of this width.
    pub fn open(path: &Path, width: usize) -> Result<Trained, WorkloadError> {
        const HINT: &str = "give a file that `assay bench bert train-head` wrote for this model";
        let wrong = |reason: String| WorkloadError::file("use", path, reason).or_hint(HINT);
        let mut weights = Weights::open(path, "use").map_err(|error| error.or_hint(HINT))?;
        let about =
            weights.header().entry(ENTRY).ok_or_else(|| wrong("it is not the file of a head".to_owned()))?;
        let about: About = serde_json::from_str(about).map_err(|error| wrong(error.to_string()))?;
        let classes = about.labels.len();
        let shape = weights.header().info("weight").map(|info| info.shape.clone());
        if classes < 2 || shape.as_deref() != Some(&[classes, width]) {
            return Err(wrong(format!(
                "its weights have the shape {:?}, and {classes} classes of a model {width} wide need another",
                shape.unwrap_or_default()
            )));
        }
        let (mut weight, mut bias) = (vec![0.0; classes * width], vec![0.0; classes]);
        weights.read("weight", &mut weight)?;
        weights.read("bias", &mut bias)?;
        Ok(Trained { weight, bias, labels: about.labels })
    }

    /// Writes it.
    pub fn save(&self, path: &Path) -> Result<(), WorkloadError> {
        let wrong = |error: String| WorkloadError::file("write", path, error);
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let (weight, bias) = (bytes(&self.weight), bytes(&self.bias));
        let classes = self.bias.len();
        let width = self.weight.len() / classes.max(1);
        let view = |shape: Vec<usize>, data| {
            TensorView::new(Dtype::F32, shape, data).map_err(|error| wrong(error.to_string()))
        };
        let tensors =
            [("weight", view(vec![classes, width], &weight)?), ("bias", view(vec![classes], &bias)?)];
        let about = serde_json::to_string(&About { labels: self.labels.clone() });
        let about = about.map_err(|error| wrong(error.to_string()))?;
        let entries = [(ENTRY.to_owned(), about)].into_iter().collect();
        let bytes =
            safetensors::serialize(tensors, Some(entries)).map_err(|error| wrong(error.to_string()))?;
        std::fs::write(path, bytes).map_err(|error| wrong(error.to_string()))
    }

    pub fn head(&self, width: usize) -> Head {
        Head::Mean(Packed::new(&self.weight, &self.bias, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bert::sentences::Sentence;

    fn batch() -> Batch {
        let sentence = |length| Sentence { ids: vec![0; length], label: None };
        let mut batch = Batch::default();
        batch.fill([sentence(1), sentence(2)].iter(), Some(2), 0);
        batch
    }

    #[test]
    fn heads_look_at_the_first_token_or_at_the_mean_of_the_real_ones() {
        let tokens = [1.0, 2.0, 90.0, 90.0, 3.0, 0.0, 5.0, 4.0];
        let (mut scratch, mut out) = (Vec::new(), Vec::new());
        Head::Embedding.answer(2, &batch(), &tokens, &mut scratch, &mut out);
        assert_eq!(out, [1.0, 2.0, 4.0, 2.0]);
        let trained = Trained {
            weight: vec![1.0, 0.0, 0.0, -1.0],
            bias: vec![0.5, 0.0],
            labels: vec![String::new(); 2],
        };
        trained.head(2).answer(2, &batch(), &tokens, &mut scratch, &mut out);
        assert_eq!(out, [1.5, -2.0, 4.5, -2.0]);
        let identity = Affine { weight: vec![1.0, 0.0, 0.0, 1.0], bias: vec![0.0; 2] };
        Head::pooled(2, &identity, &identity).answer(2, &batch(), &tokens, &mut scratch, &mut out);
        let expected = [1f32, 2.0, 3.0, 0.0].map(f32::tanh);
        assert!(out.iter().zip(expected).all(|(got, wanted)| (got - wanted).abs() < 1e-6), "{out:?}");
    }

    #[test]
    fn shares_sum_up_to_one_and_the_first_of_equals_wins() {
        let shares = probabilities(&[-1.9072, 2.1699]);
        assert!((shares[0] - 0.0167).abs() < 5e-5 && (shares[0] + shares[1] - 1.0).abs() < 1e-12);
        assert_eq!([best(&[1.0, 3.0, 3.0]), best(&[2.0]), best(&[0.0, 0.0])], [1, 0, 0]);
        assert!(probabilities(&[1000.0, 0.0])[0] > 0.99);
    }

    #[test]
    fn a_head_is_read_as_it_was_written_and_only_for_its_model() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("head.safetensors");
        let labels = vec!["neg".to_owned(), "pos".to_owned()];
        let trained = Trained { weight: vec![0.5, -1.0, 2.0, 3.5, 0.0, 1.0], bias: vec![0.1, 0.2], labels };
        trained.save(&path).unwrap();
        assert_eq!(Trained::open(&path, 3).unwrap(), trained);
        assert!(Trained::open(&path, 4).unwrap_err().to_string().contains("[2, 3]"));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        assert!(Trained::open(&path, 3).is_err());
        assert!(trained.save(&directory.path().join("missing/head")).is_err());
    }
}
