//! Hugging Face Trainer on Gaudi: the same with the memory of the device.

use crate::kind::{FLAG, Job, Kind, Values, log_options};

use super::hugging_face;

pub(crate) const KIND: Kind = Kind {
    name: "gaudi",
    summary: "Hugging Face Trainer on Gaudi: loss dictionaries with memory, rates, metrics",
    options: log_options![
        ("steps", "125", Values::Whole(1, 1 << 32), "training steps"),
        ("log-every", "5", Values::Whole(1, 1 << 16), "steps between two dictionaries"),
        ("batch-size", "8", Values::Whole(1, 1 << 16), "samples a step"),
        ("epochs", "1", Values::Whole(1, 10_000), "passes over the data"),
        ("rate", "58.2", Values::Number(0.001, 1e9), "samples a second"),
        ("bars", "false", FLAG, "progress bars between the dictionaries"),
        ("quoted", "false", FLAG, "numbers in quotes, as newer versions print them"),
        ("wrapped", "false", FLAG, "the summary dictionary runs over several lines"),
        ("eval", "true", FLAG, "an evaluation at the end"),
    ],
    compose,
};

fn compose(job: &mut Job<'_, '_>) {
    hugging_face::compose_with(job, true);
}
