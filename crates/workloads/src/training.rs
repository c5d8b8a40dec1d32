//! How AdamW updates the weights of a model.

use assay_kernels::{Threads, adam_w, reduce};

use crate::WorkloadError;
use crate::settings::{CheckedSettings, wrong};

/// What to do about a loss that is not a finite number.
pub(crate) const CALMER: &str = "lower learning_rate, or limit the gradient with clip";

/// How weights are updated. The constants of AdamW that are not settings are those of PyTorch: 0.9, 0.999 and 1e-8. All
/// tensors decay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    pub learning_rate: f64,
    pub weight_decay: f64,
    /// Largest gradient norm; none where it is not limited.
    pub clip: Option<f64>,
}

/// One tensor: its weights, their gradients, and the two moments of the optimizer.
pub(crate) type Tensors<'a> = ((&'a mut [f32], &'a mut [f32]), (&'a mut [f32], &'a mut [f32]));

impl Training {
    pub(crate) fn read(checked: &CheckedSettings) -> Result<Training, WorkloadError> {
        let positive = |name: &str| match checked.number(name) {
            number if number >= 0.0 => Ok(number),
            number => Err(wrong(name, &number, "it must not be negative")),
        };
        Ok(Training {
            learning_rate: positive("learning_rate")?,
            weight_decay: positive("weight_decay")?,
            clip: Some(positive("clip")?).filter(|norm| *norm > 0.0),
        })
    }

    /// Clips gradients of this norm and updates all weights, for the time with this number, from 1.
    pub(crate) fn update<'a>(
        &self,
        threads: &Threads,
        norm: f64,
        number: u64,
        tensors: impl Iterator<Item = Tensors<'a>>,
    ) {
        let hyper = adam_w::Hyperparameters {
            rate: self.learning_rate,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: self.weight_decay,
        };
        let factor = self.clip.map(|clip| clip / (norm + 1e-6)).filter(|factor| *factor < 1.0);
        for ((weight, gradient), (first, second)) in tensors {
            if let Some(factor) = factor {
                reduce::scale(threads, gradient, factor as f32);
            }
            adam_w::step(threads, &hyper, number, weight, gradient, first, second);
        }
    }
}
