//! Hugging Face Trainer on Gaudi: the same with the memory of the device.

use crate::kind::{SampleJob, SampleKind};

use super::hugging_face::{self, trainer_options};

pub(crate) const KIND: SampleKind = SampleKind {
    name: "gaudi",
    summary: "Hugging Face Trainer on Gaudi: loss dictionaries with memory, rates, metrics",
    options: trainer_options!("58.2"),
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    hugging_face::compose_with(job, true);
}
