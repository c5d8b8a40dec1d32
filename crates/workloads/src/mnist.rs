//! `mnist`: a small convolutional network that learns to classify digits, computed by this program or by an installed
//! PyTorch.
//!
//! # The network
//!
//! ```text
//! convolution 1 -> 32, 3 x 3; max-pool 2 x 2; relu
//! convolution 32 -> 64, 3 x 3; max-pool 2 x 2; relu
//! linear 1600 -> 128; relu; dropout
//! linear 128 -> 10; cross-entropy
//! ```
//!
//! All with biases. With `softmax` there is one between the last layer and the loss, which has a softmax of its own: the
//! network of some published examples, which learns more slowly. Weights are updated by stochastic gradient descent. How
//! everything begins is described in [`network`].
//!
//! # Data
//!
//! Images of 28 by 28 pixels: the files of MNIST or Fashion-MNIST, or digits drawn from the seed ([`crate::data`]). A
//! pixel `p` becomes `(p / 255 - 0.1307) / 0.3081`, computed in 64 bits. Every epoch goes through all samples in an order
//! of its own ([`crate::schedule::order`]), and its last step takes what is left. With several tasks, the batch of a step
//! is divided among them in the order of the ranks.
//!
//! *Dropout.* Step `s` (from 0) has the key with the name `dropout` at `s`, by the rule of [`crate::initial`]; its draw `i`
//! is the seed of the mask of the image at place `i` of the batch of all ranks, by the rule of
//! [`assay_kernels::dropout`]. Tasks therefore drop what a single one would.
//!
//! # What an iteration is
//!
//! `steps_per_iteration` steps, or fewer at the end of an epoch. The clock runs from the moment when the pixels of all its
//! steps lie in order until the weights are updated. The test after every epoch is not in it.
//!
//! # What is reported
//!
//! Series have the number of steps done as their step. `loss.train` is the mean over the samples of an iteration.
//! `accuracy`, `loss.test` and `epoch_s` (seconds of its iterations) are reported after every epoch, and after the last step
//! of a run that ends within one. `parity.loss`, `parity.output` and `parity.gradient` are those of the first step.
//!
//! | file | holds |
//! |---|---|
//! | `description.rs` | the settings, as campaigns see them |
//! | `options.rs` | the settings, typed and checked |
//! | `samples.rs` | the data that the settings ask for |
//! | `network.rs` | tensors, memory layout, arithmetic |
//! | `model.rs`, `model/` | the mathematics, from one kernel call to a whole step |
//! | `native.rs` | a run of this engine |
//! | `torch.rs`, `torch.py` | a run of PyTorch |

mod description;
pub mod model;
mod native;
pub mod network;
pub mod options;
pub mod samples;
mod torch;

pub use description::description;
pub use model::Model;
pub use options::MnistOptions;

use assay_kernels::Threads;
use assay_model::Settings;

use self::samples::Samples;
use crate::engine::EngineKind;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

/// The name of the workload.
pub const NAME: &str = "mnist";

/// Runs it with the engine that the settings name.
pub fn run(
    settings: &Settings,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let mut options = MnistOptions::read(settings, machine.threads)?;
    let samples = Samples::open(&Threads::new(options.threads), &options)?;
    let schedule = options.settle(&samples)?;
    match options.engine {
        EngineKind::Native => native::run(&options, &samples, &schedule, machine, emitter),
        EngineKind::Torch => torch::run(&options, &samples, &schedule, machine, emitter),
    }
}
