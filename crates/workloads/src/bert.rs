//! `bert`: a BERT encoder that classifies or embeds sentences, or is pre-trained as a masked language model, computed by
//! this program or by an installed PyTorch.
//!
//! # The model
//!
//! ```text
//! x = norm(word[token] + position[place] + kind[0])
//! for each layer:
//!     x = norm(x + out · attention(qkv · x))
//!     x = norm(x + down · gelu(up · x))
//! classify: scores = classifier · tanh(pooler · x[first]), or head · mean of x
//! embed:    mean of x over the tokens of the sentence, not scaled to a length
//! pretrain: loss = mean cross-entropy of softmax(word · norm(gelu(transform · x)) + bias) at the masked tokens
//! ```
//!
//! All matrices have biases; norms are layer norms; attention looks both ways, with the scale `1 / sqrt(head size)`;
//! there is no dropout. How everything begins is described in [`shape`], synthetic sentences in [`sentences`], masks in [`data`].
//!
//! # What an iteration is
//!
//! For `classify` and `embed`, one pass over the sentences, batch by batch. Each batch is timed by itself from the moment
//! when its tokens lie ready until the answers lie in memory: that is its latency. Sentences are turned into tokens
//! before. For `pretrain`, one training step: loss, gradients, mean over all tasks, clipping and AdamW as for `lm`.
//!
//! # What is reported
//!
//! The time of each iteration (`time.iteration`) and its CPU time, of warm-up iterations with `.warmup` behind the name.
//! Of answers `latency` (the mean over batches), its `.p50`, `.p90` and `.p99`, `inferences_per_s`, `accuracy` where
//! there are labels, and `length.median`, `length.p90`, `length.most` in tokens. Of a sentence that was given as `text`
//! also its ids, `logits`, `probabilities` and label. `parity.output` is the root mean square of all answers of the first
//! iteration; of pre-training the parity values are those of `lm`.
//!
//! | file | holds |
//! |---|---|
//! | `description.rs` | the settings, as campaigns see them |
//! | `options.rs` | the settings, typed and checked |
//! | `shape.rs`, `parameters.rs` | sizes, tensors, parameters, arithmetic |
//! | `config.rs`, `folder.rs` | models in folders |
//! | `tokens.rs`, `sentences.rs`, `data.rs` | text to ids, sentences to batches, sequences with masks |
//! | `encoder.rs`, `head.rs` | the mathematics of answers |
//! | `layer.rs`, `model.rs`, `operations.rs` | the mathematics of training |
//! | `inference.rs`, `pretrain.rs` | runs of this engine |
//! | `features.rs`, `train.rs` | heads that are trained on means |
//! | `torch.rs`, `torch.py` | runs of PyTorch |

pub mod config;
pub mod data;
mod description;
pub mod encoder;
pub mod features;
pub mod folder;
pub mod head;
mod inference;
mod layer;
pub mod model;
mod operations;
pub mod options;
pub mod parameters;
mod pretrain;
pub mod sentences;
pub mod shape;
pub mod tokens;
mod torch;
pub mod train;

pub use description::description;
pub use options::BertOptions;

use assay_model::Settings;

use self::data::TokenizedText;
use self::folder::Folder;
use self::head::Trained;
use self::options::Task;
use self::sentences::Sentences;
use self::tokens::Tokens;
use crate::engine::EngineKind;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

/// What the process itself needs besides all buffers.
const PROCESS_BYTES: u128 = 48 << 20;

/// The name of the workload.
pub const NAME: &str = "bert";

/// Runs it with the engine that the settings name.
pub fn run(
    settings: &Settings,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let mut options = BertOptions::read(settings, machine.threads)?;
    let opened = Opened::open(&mut options)?;
    if options.task == Task::Pretrain {
        let text = TokenizedText::open(&options, &opened.tokens)?;
        return if options.engine == EngineKind::Torch {
            torch::pretrain(&options, opened, text, machine, emitter)
        } else {
            pretrain::run(&options, opened, text, machine, emitter)
        };
    }
    let sentences = Sentences::open(&options, &opened.tokens, &opened.labels)?;
    if options.engine == EngineKind::Torch {
        torch::answer(&options, opened, sentences, machine, emitter)
    } else {
        inference::run(&options, opened, sentences, machine, emitter)
    }
}

/// What the files of a run gave.
pub(crate) struct Opened {
    /// The model's folder.
    pub(crate) folder: Option<Folder>,
    /// The head to use instead of the model's.
    pub(crate) trained: Option<Trained>,
    /// What turns text into ids.
    pub(crate) tokens: Tokens,
    /// The names of the classes; empty where they have none.
    pub(crate) labels: Vec<String>,
}

impl Opened {
    /// Opens what the options name, and settles what follows from it.
    pub(crate) fn open(options: &mut BertOptions) -> Result<Opened, WorkloadError> {
        let folder = options.model.as_deref().map(Folder::open).transpose()?;
        if let Some(folder) = &folder {
            options.settle_model(folder.config.shape)?;
        }
        let reads = options.text.is_some() || options.data.is_some();
        let tokens = match (&options.tokenizer, &folder) {
            (Some(path), _) => Tokens::open(path, true)?,
            (None, Some(folder)) if reads => folder.tokens()?,
            (None, _) => Tokens::made_up(options.shape.vocabulary),
        };
        if !tokens.are_made_up() {
            options.settle_vocabulary(tokens.vocabulary())?;
        }
        let width = options.shape.width;
        let trained = options.head.as_deref().map(|path| Trained::open(path, width)).transpose()?;
        let labels = match (&trained, &folder) {
            (Some(trained), _) => trained.labels.clone(),
            (None, Some(folder)) => folder.config.labels.clone(),
            (None, None) => Vec::new(),
        };
        if let Some(trained) = &trained {
            options.shape.classes = trained.labels.len();
        }
        Ok(Opened { folder, trained, tokens, labels })
    }

    /// Says what is not real about a run.
    pub(crate) fn report_made_up(&self, options: &BertOptions, emitter: &mut Emitter<'_>) {
        if self.folder.is_none() {
            emitter.note("the weights are random, made from the seed: answers mean nothing, times do");
        } else if let Some(folder) = &self.folder
            && self.trained.is_none()
            && !folder.has_head(options.task)
        {
            emitter
                .note("the model has no head for this task: that of this run is random, made from the seed");
        }
        if options.text.is_none() && options.data.is_none() {
            emitter.note(format!(
                "the tokens are random, made from the seed: {} in a sequence",
                options.context
            ));
        } else if self.tokens.are_made_up() {
            emitter.note("no vocabulary: token ids are hashes of the words");
        }
    }
}
