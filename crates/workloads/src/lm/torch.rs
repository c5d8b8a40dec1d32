//! `lm` computed by an installed PyTorch.

use super::checkpoint::Checkpoint;
use super::native::note_resume;
use super::options::{LmOptions, Phase};
use crate::engine::torch::{self, TorchRun};
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

const FLOAT: u128 = 4;

/// Runs it. `text` are the tokens of the text to train on; without them the tokens are random.
pub(super) fn run(
    options: &LmOptions,
    machine: &SeriesLimits,
    text: Option<&[u32]>,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    if let Some(path) = &options.resume {
        // Checked here, so that the adapter can trust it.
        let checkpoint = Checkpoint::open(path)?;
        checkpoint.check(path, &options.shape, options.work.phase == Phase::Step)?;
        note_resume(options, &checkpoint, emitter);
    }
    let tokens = text.map(|tokens| tokens.iter().flat_map(|token| token.to_le_bytes()).collect());
    let job = TorchRun {
        script: include_str!("torch.py"),
        settings: options.in_effect(),
        native_only: &["save", "profile"],
        files: tokens.into_iter().map(|bytes| ("tokens", bytes)).collect(),
        planned: options.warmup.saturating_add(options.iterations),
        effort: options.effort(),
        least_bytes: least_bytes(options),
        smaller: "lower batch_size, context or size, or set checkpointing = true",
    };
    torch::run(job, machine, emitter)
}

/// The least memory that PyTorch needs on the CPU for weights, gradients, moments and what its backward pass keeps, in
/// bytes. Interpreter, libraries and temporary copies come on top.
fn least_bytes(options: &LmOptions) -> u128 {
    let shape = &options.shape;
    let [width, hidden, layers, vocabulary] =
        [shape.width, shape.hidden, shape.layers, shape.vocabulary].map(|size| size as u128);
    let tokens = options.work.tokens() as u128;
    let trains = options.work.phase != Phase::Forward;
    let copies = match options.work.phase {
        Phase::Forward => 1,
        Phase::ForwardBackward => 2,
        Phase::Step => 4,
    };
    // Both inputs of the layer's halves, both norms, three projections, two of them turned, and what attention gives;
    // gate and up, and their product.
    let layer = tokens * (10 * width + 3 * hidden);
    let kept = match (trains, options.work.checkpointing) {
        (false, _) => layer,
        (true, false) => layers * layer,
        (true, true) => layer + layers * tokens * width,
    };
    // Logits and their log-softmax.
    FLOAT * (copies * shape.parameters() + kept + 2 * tokens * vocabulary)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod memory {
    use super::*;
    use assay_model::Value;

    fn least(pairs: &[(&str, Value)]) -> u128 {
        let settings = pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        least_bytes(&LmOptions::read(&settings, 2).unwrap())
    }

    /// PyTorch 2.15 takes between 1.2 and 1.7 GB beside the interpreter for forward and backward of the small model.
    #[test]
    fn the_small_model_is_about_what_pytorch_takes() {
        let bytes = least(&[("phase", "forward_backward".into())]);
        assert!((1_150_000_000..1_700_000_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn phases_and_checkpointing_matter_and_absurd_sizes_do_not_overflow() {
        let of = |phase: &str, checkpointing| {
            least(&[("phase", phase.into()), ("checkpointing", Value::Switch(checkpointing))])
        };
        assert!(of("forward", false) < of("forward_backward", true));
        assert!(of("forward_backward", true) < of("forward_backward", false));
        assert!(of("forward_backward", false) < of("step", false));
        let absurd = ["batch_size", "context", "width", "hidden"].map(|name| (name, Value::from(1 << 24)));
        assert!(least(&[&absurd[..], &[("heads", 64.into())]].concat()) > 1 << 80);
    }
}
