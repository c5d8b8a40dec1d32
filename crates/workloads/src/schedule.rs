//! Epochs, steps and iterations of a training over a data set.
//!
//! An epoch sees every sample once, in steps of one batch; the last step of an epoch takes what is left. Iterations, by
//! which a run is timed, are a few steps each and never reach over the end of an epoch, so that the last one of an epoch
//! may be shorter.

use std::ops::Range;

use crate::initial::DrawKey;

/// How a data set is gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSchedule {
    /// Samples of an epoch.
    samples: u64,
    /// Samples of a step, of all ranks together.
    batch: u64,
    /// Steps of the whole run.
    steps: u64,
    /// Steps of an iteration, unless it is cut short.
    steps_per_iteration: u64,
}

/// The steps of one iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationSteps {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The number of its first step in the run, from 0.
    pub first_step: u64,
    /// Its samples, as places in the order of the epoch.
    pub samples: Range<u64>,
    /// Whether the epoch ends with it.
    pub ends_epoch: bool,
}

impl StepSchedule {
    /// A schedule. No number may be zero.
    pub fn new(samples: u64, batch: u64, steps: u64, steps_per_iteration: u64) -> StepSchedule {
        let (samples, batch) = (samples.max(1), batch.max(1));
        let steps_per_iteration = steps_per_iteration.clamp(1, samples.div_ceil(batch));
        StepSchedule { samples, batch, steps: steps.max(1), steps_per_iteration }
    }

    pub fn steps_of_epoch(&self) -> u64 {
        self.samples.div_ceil(self.batch)
    }

    /// Steps of the whole run.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Samples of an iteration that is not cut short.
    pub fn samples_of_iteration(&self) -> u64 {
        self.batch.saturating_mul(self.steps_per_iteration)
    }

    fn iterations_of_epoch(&self) -> u64 {
        self.steps_of_epoch().div_ceil(self.steps_per_iteration)
    }

    /// Iterations of the whole run.
    pub fn iterations(&self) -> u64 {
        let (epochs, rest) = (self.steps / self.steps_of_epoch(), self.steps % self.steps_of_epoch());
        epochs.saturating_mul(self.iterations_of_epoch()) + rest.div_ceil(self.steps_per_iteration)
    }

    /// The iteration with a number, from 0.
    pub fn block(&self, iteration: u64) -> IterationSteps {
        let (epoch, within) =
            (iteration / self.iterations_of_epoch(), iteration % self.iterations_of_epoch());
        let before = epoch.saturating_mul(self.steps_of_epoch());
        let begin = within * self.steps_per_iteration;
        let left = self.steps.saturating_sub(before);
        let end = (begin + self.steps_per_iteration).min(self.steps_of_epoch()).min(left).max(begin);
        let place = |step: u64| step.saturating_mul(self.batch).min(self.samples);
        IterationSteps {
            epoch,
            first_step: before.saturating_add(begin),
            samples: place(begin)..place(end),
            ends_epoch: end == self.steps_of_epoch(),
        }
    }

    /// How many samples the iteration with this number has.
    pub fn samples_of(&self, iteration: u64) -> u64 {
        let samples = self.block(iteration).samples;
        samples.end - samples.start
    }

    /// How many steps the iteration with this number has.
    pub fn steps_of(&self, iteration: u64) -> u64 {
        self.samples_of(iteration).div_ceil(self.batch)
    }

    /// The samples of each step of a block, in its order.
    pub fn batches(&self, block: &IterationSteps) -> impl Iterator<Item = Range<u64>> + use<> {
        let (batch, end) = (self.batch, block.samples.end);
        let mut begin = block.samples.start;
        std::iter::from_fn(move || {
            let step = begin..begin.saturating_add(batch).min(end);
            begin = step.end;
            (!step.is_empty()).then_some(step)
        })
    }
}

/// The order of an epoch: sample numbers, sorted by draws of the key of [`crate::initial`] with the name `order` at the
/// number of the epoch. Draw `i` belongs to sample `i`; of equal draws the smaller number comes first.
pub fn order(seed: u64, epoch: u64, order: &mut [u32]) {
    let key = DrawKey::new("order", seed).at(epoch);
    for (number, place) in (0..).zip(order.iter_mut()) {
        *place = number;
    }
    order.sort_unstable_by_key(|number| (key.draw(u64::from(*number)), *number));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_sees_every_sample_once_and_its_last_steps_may_be_smaller() {
        let schedule = StepSchedule::new(103, 10, 2 * 11, 4);
        assert_eq!((schedule.steps_of_epoch(), schedule.iterations()), (11, 6));
        let blocks: Vec<IterationSteps> = (0..6).map(|number| schedule.block(number)).collect();
        assert_eq!(blocks.iter().map(|block| block.epoch).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1]);
        assert_eq!(blocks[2].samples, 80..103);
        assert_eq!(blocks[4].first_step, 15);
        assert_eq!(
            blocks.iter().map(|block| block.ends_epoch).collect::<Vec<_>>(),
            [false, false, true].repeat(2)
        );
        let last: Vec<_> = schedule.batches(&blocks[2]).collect();
        assert_eq!(last, [80..90, 90..100, 100..103]);
        assert_eq!([schedule.samples_of(0), schedule.samples_of(5)], [40, 23]);
        assert_eq!([schedule.steps_of(0), schedule.steps_of(5)], [4, 3]);
    }

    #[test]
    fn a_run_may_end_within_an_epoch() {
        let schedule = StepSchedule::new(100, 10, 13, 5);
        assert_eq!(schedule.iterations(), 3);
        assert_eq!(schedule.block(2).samples, 0..30);
        assert!(!schedule.block(2).ends_epoch);
        assert_eq!(schedule.samples_of(2), 30);
        assert_eq!(StepSchedule::new(100, 100, 1, 9).iterations(), 1);
        // An iteration is at most an epoch.
        assert_eq!(StepSchedule::new(100, 50, 7, 1000).samples_of_iteration(), 100);
    }

    #[test]
    fn every_epoch_has_an_order_of_its_own() {
        let of = |seed, epoch| {
            let mut numbers = [0; 50];
            order(seed, epoch, &mut numbers);
            numbers
        };
        assert_eq!(of(1, 0), of(1, 0));
        assert_ne!(of(1, 0), of(1, 1));
        assert_ne!(of(1, 0), of(2, 0));
        let mut sorted = of(3, 4);
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..50));
    }
}
