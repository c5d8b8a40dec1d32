//! The means of a model's tokens, as features of sentences.

use std::path::Path;

use assay_kernels::Threads;

use super::encoder::Encoder;
use super::folder::Folder;
use super::head::Head;
use super::options::Task;
use super::sentences::{Batch, Sentence};
use super::tokens::Tokens;
use crate::WorkloadError;
use crate::profile::Profile;

/// Sentences that are computed at once.
const BATCH: usize = 32;

/// A model that makes features.
pub struct Features {
    encoder: Encoder,
    tokens: Tokens,
    width: usize,
    positions: usize,
}

impl Features {
    /// Reads the model of a folder.
    pub fn open(path: &Path, threads: usize) -> Result<Features, WorkloadError> {
        let mut folder = Folder::open(path)?;
        let shape = folder.config.shape;
        let tokens = folder.tokens()?;
        if tokens.vocabulary() > shape.vocabulary {
            let reason = format!(
                "its tokenizer has {} tokens, and its model knows {}",
                tokens.vocabulary(),
                shape.vocabulary
            );
            return Err(WorkloadError::file("use", path, reason));
        }
        let threads = Threads::new(threads);
        let weights = folder.load(&threads, Task::Embed, 0)?;
        Ok(Features {
            encoder: Encoder::new(threads, &shape, weights, Profile::off()),
            tokens,
            width: shape.width,
            positions: shape.positions,
        })
    }

    /// Numbers of one sentence's features.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The ids of a sentence, cut where it is too long.
    pub fn ids(&self, text: &str) -> Result<Vec<u32>, String> {
        Ok(self.tokens.encode(text, self.positions)?.ids)
    }

    /// The features of all sentences, one behind the other; `report` is called with how many are done.
    pub fn compute(
        &mut self,
        texts: &[String],
        emit: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, WorkloadError> {
        let mut features = Vec::with_capacity(texts.len() * self.width);
        let (mut batch, mut scratch, mut means) = (Batch::default(), Vec::new(), Vec::new());
        for texts in texts.chunks(BATCH) {
            let sentence = |text: &String| {
                let ids =
                    self.ids(text).map_err(|reason| WorkloadError::file("use", Path::new(text), reason))?;
                Ok(Sentence { ids, label: None })
            };
            let sentences: Vec<Sentence> =
                texts.iter().map(sentence).collect::<Result<_, WorkloadError>>()?;
            batch.fill(sentences.iter(), None, self.tokens.special().pad);
            let tokens = self.encoder.encode(&batch)?;
            Head::Embedding.answer(self.width, &batch, tokens, &mut scratch, &mut means);
            features.extend_from_slice(&means);
            emit(features.len() / self.width);
        }
        Ok(features)
    }
}
