//! `mnist` computed by an installed PyTorch.

use assay_model::Value;

use super::network;
use super::options::MnistOptions;
use super::samples::Samples;
use crate::data::Images;
use crate::data::idx::PIXELS;
use crate::engine::torch::{self, TorchRun};
use crate::schedule::StepSchedule;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError};

const FLOAT: u128 = 4;

pub(super) fn run(
    options: &MnistOptions,
    samples: &Samples,
    schedule: &StepSchedule,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let mut settings = options.in_effect();
    let iterations = schedule.iterations() - options.warmup;
    settings.insert("iterations".to_owned(), Value::Integer(i64::try_from(iterations).unwrap_or(i64::MAX)));
    let Samples { train, test, note, .. } = samples;
    if let Some(note) = note {
        emitter.note(note);
    }
    let job = TorchRun {
        script: include_str!("torch.py"),
        settings,
        native_only: &["profile"],
        files: vec![
            ("train_images", train.pixels.clone()),
            ("train_labels", train.labels.clone()),
            ("test_images", test.pixels.clone()),
            ("test_labels", test.labels.clone()),
        ],
        planned: schedule.iterations(),
        effort: options.effort(schedule),
        least_bytes: least_bytes(options, schedule, [train, test]),
        smaller: "lower batch_size, test_batch_size or steps_per_iteration",
    };
    torch::run(job, machine, emitter)
}

/// The least memory that PyTorch needs on the CPU for data, weights, gradients and what its backward pass keeps, in bytes.
fn least_bytes(options: &MnistOptions, schedule: &StepSchedule, data: [&Images; 2]) -> u128 {
    // Outputs of both convolutions and both pools, with places of the largest.
    const KEPT: u128 = 32 * 26 * 26 + 3 * 32 * 13 * 13 + 64 * 11 * 11 + 3 * 64 * 5 * 5;
    let images = data.iter().map(|images| images.pixels.len() as u128).sum::<u128>();
    let iteration = u128::from(schedule.samples_of_iteration()) * PIXELS as u128;
    let rows = options.batch.max(options.test_batch) as u128;
    images + FLOAT * (iteration + rows * KEPT + 2 * network::parameters() as u128)
}

#[cfg(test)]
mod tests;
