//! `lm`: a transformer language model with RMSNorm, rotary positions and SwiGLU, computed by this program or by an
//! installed PyTorch.
//!
//! # The model
//!
//! ```text
//! x = embedding[tokens]
//! for each layer:
//!     x += attention_out · attention(rope(qkv · rms_norm(x)))
//!     x += down · swiglu(gate_up · rms_norm(x))
//! loss = mean cross-entropy of softmax(head · rms_norm(x)) against the next tokens
//! ```
//!
//! No biases; epsilon of the norms 1e-5; rotations of interleaved pairs with base 10000; causal attention with the scale
//! `1 / sqrt(head size)`; the output matrix is not shared with the embedding. How everything begins is
//! described in [`shape`].
//!
//! # What an iteration is
//!
//! Every iteration has a number from 0, warm-up included, that chooses its data. `forward` computes the loss;
//! `forward_backward` also computes every gradient; `step` also scales the gradients down to the norm `clip`
//! (times `clip / (norm + 1e-6)` where that is below 1, as PyTorch does) and updates the weights with AdamW, warm-up
//! included. The clock runs from the moment when the tokens lie ready until all results lie in memory; the first
//! iteration also goes over the logits once more for `parity.output`.
//!
//! # What is reported
//!
//! Series have the number of iterations done as their step, so from 1, or from one more than the checkpoint's. The time
//! (`time.iteration`) and `cpu.iteration` (seconds of CPU) of warm-up iterations
//! have `.warmup` behind their names; `loss.train` goes through. `gradient_norm` (before clipping) is reported for `step`.
//! `parity.loss`, `parity.output` (root mean square of all logits) and `parity.gradient` (norm of all gradients, not
//! clipped) are those of the first iteration.
//!
//! | file | holds |
//! |---|---|
//! | `description.rs` | the settings, as campaigns see them |
//! | `options.rs` | the settings, typed and checked |
//! | `shape.rs` | sizes, tensors, parameters, arithmetic |
//! | `data.rs` | random tokens and texts |
//! | `plan.rs`, `buffers.rs`, `parameters.rs` | memory: planned, then taken |
//! | `operations.rs`, `layer.rs`, `model.rs` | the mathematics, from one kernel call to a whole iteration |
//! | `checkpoint.rs` | files to go on from |
//! | `native.rs` | a run of this engine |
//! | `torch.rs`, `torch.py` | a run of PyTorch |

mod buffers;
pub mod checkpoint;
pub mod data;
mod description;
mod layer;
pub mod model;
mod native;
mod operations;
pub mod options;
pub mod parameters;
pub mod plan;
pub mod shape;
mod torch;

pub use description::description;
pub use model::Model;
pub use options::LmOptions;

use assay_model::Settings;

use self::data::TokenizedText;
use crate::engine::EngineKind;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

/// The name of the workload.
pub const NAME: &str = "lm";

/// Runs it with the engine that the settings name.
pub fn run(
    settings: &Settings,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let mut options = LmOptions::read(settings, machine.threads)?;
    let text = TokenizedText::open(&options, machine.memory_bytes)?;
    if let Some(text) = &text {
        options.settle_vocabulary(text.vocabulary)?;
    }
    match options.engine {
        EngineKind::Native => native::run(&options, text, machine, emitter),
        EngineKind::Torch => {
            let tokens = text.as_ref().map(TokenizedText::numbers);
            torch::run(&options, machine, tokens.as_deref(), emitter)
        }
    }
}
