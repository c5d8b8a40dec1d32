//! `mnist` computed by this program: prepare, iterate, test, report.

use std::time::Instant;

use assay_kernels::Threads;
use assay_model::{WorkloadEvent, names};

use super::model::{self, Batch, Model, Tested};
use super::options::MnistOptions;
use super::samples::Samples;
use crate::collective::{Collective, processes};
use crate::data::idx::PIXELS;
use crate::native::{self, MemoryNeed, NativeRun, RunStart};
use crate::profile::Profile;
use crate::schedule::{IterationSteps, StepSchedule, order};
use crate::session::{IterationSchedule, TimedWork};
use crate::summary::IterationOutcome;
use crate::{Emitter, SeriesLimits, WorkloadEnd, WorkloadError, memory};

pub(super) fn run(
    options: &MnistOptions,
    samples: &Samples,
    schedule: &StepSchedule,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let began = RunStart::now();
    native::report_settings(options.in_effect(), &[], emitter);
    if let Some(note) = &samples.note {
        emitter.note(note);
    }
    if !fits(options, schedule, machine, emitter) {
        return Ok(WorkloadEnd::DoesNotFit);
    }
    let MnistOptions { warmup, paced, .. } = *options;
    let iterations = schedule.iterations() - warmup;
    let iteration_schedule = IterationSchedule { warmup, iterations, paced, calmer: "lower learning_rate" };
    let effort = options.effort(schedule);
    let run = NativeRun { began, schedule: iteration_schedule, effort, profile: options.profile.as_deref() };
    run.on_all(machine, emitter, |rank, emitter| {
        let rank = Rank::prepare(options, samples, schedule, rank)?;
        began.report_stage(emitter);
        Ok(rank)
    })
}

/// Whether everything fits into memory. The data are there already.
fn fits(
    options: &MnistOptions,
    schedule: &StepSchedule,
    machine: &SeriesLimits,
    emitter: &mut Emitter<'_>,
) -> bool {
    let momentum = options.training.momentum != 0.0;
    let threads = options.threads_of_task();
    let model = model::planned_bytes(threads, options.batch, options.test_batch, momentum);
    // Pixels and labels of an iteration, in order.
    let iteration = u128::from(schedule.samples_of_iteration()) * (PIXELS + size_of::<u32>()) as u128;
    let tasks = processes::tasks_on_this_node(options.tasks) as u128;
    let need =
        MemoryNeed { total: tasks * model + memory::of_tasks(tasks) + iteration, parts: String::new() };
    let hint = |_| "lower batch_size, test_batch_size, steps_per_iteration or tasks".to_owned();
    native::fits(&need, machine, hint, emitter)
}

/// One rank of a run under way.
struct Rank<'a> {
    samples: &'a Samples,
    schedule: &'a StepSchedule,
    options: &'a MnistOptions,
    model: Model,
    rank: usize,
    /// The epoch that `order` is of.
    epoch: Option<u64>,
    order: Vec<u32>,
    /// The iteration under way, with the part of its samples that is this rank's.
    block: Option<IterationSteps>,
    pixels: Vec<u8>,
    labels: Vec<u32>,
    /// Steps done.
    steps: u64,
    /// Seconds of the iterations of this epoch so far.
    epoch_s: f64,
    /// What the first step gave.
    first: Option<IterationOutcome>,
    tested: Option<Tested>,
}

impl<'a> Rank<'a> {
    /// Takes all memory and makes the initial weights.
    fn prepare(
        options: &'a MnistOptions,
        samples: &'a Samples,
        schedule: &'a StepSchedule,
        rank: usize,
    ) -> Result<Rank<'a>, WorkloadError> {
        let profile = if options.profile.is_some() { Profile::on() } else { Profile::off() };
        let threads = Threads::new(options.threads_of_task());
        let MnistOptions { training, batch, test_batch, seed, .. } = options;
        let model = Model::new(threads, *training, *batch, *test_batch, *seed, profile)?;
        Ok(Rank {
            samples,
            schedule,
            options,
            model,
            rank,
            epoch: None,
            order: vec![0; samples.train.len()],
            block: None,
            pixels: Vec::new(),
            labels: Vec::new(),
            steps: 0,
            epoch_s: 0.0,
            first: None,
            tested: None,
        })
    }

    /// The part of a step's samples that is this rank's, as places in its batch.
    fn mine(&self, count: u64) -> std::ops::Range<u64> {
        let (rank, tasks) = (self.rank as u64, self.options.tasks as u64);
        count * rank / tasks..count * (rank + 1) / tasks
    }

    /// Does the steps of an iteration. Gives the mean loss over its samples, or the first that is not a finite number.
    fn steps_of(&mut self, block: &IterationSteps, look: bool, ranks: &mut dyn Collective) -> f64 {
        let (mut done, mut sum, mut all) = (0, 0.0, 0.0);
        for samples in self.schedule.batches(block) {
            let total = samples.end - samples.start;
            let mine = self.mine(total);
            let rows = (mine.end - mine.start) as usize;
            let batch = Batch {
                pixels: &self.pixels[done * PIXELS..(done + rows) * PIXELS],
                labels: &self.labels[done..done + rows],
                first: mine.start as usize,
                total: total as usize,
                step: self.steps,
            };
            let look = look && self.steps == 0;
            let outcome = self.model.step(&batch, look, ranks);
            if look {
                self.first = Some(outcome);
            }
            self.steps += 1;
            if !outcome.loss.is_finite() {
                return outcome.loss;
            }
            done += rows;
            sum += outcome.loss * total as f64;
            all += total as f64;
        }
        sum / all
    }

    /// Tests the network, and reports the result and what the epoch took.
    fn test(&mut self, began: Instant, emitter: &mut Emitter<'_>) {
        let start_s = began.elapsed().as_secs_f64();
        let test = &self.samples.test;
        let tested = self.model.test(&test.pixels, &test.labels);
        let end_s = began.elapsed().as_secs_f64();
        emitter.emit(WorkloadEvent::Phase { name: "eval".to_owned(), start_s, end_s });
        emitter.emit(WorkloadEvent::at(names::EPOCH_S, self.steps, self.epoch_s));
        emitter.emit(accuracy(&tested, Some(self.steps)));
        if tested.loss.is_finite() {
            emitter.emit(WorkloadEvent::at(
                names::LOSS_TEST,
                self.steps,
                tested.loss / tested.images.max(1) as f64,
            ));
        }
        self.tested = Some(tested);
        self.epoch_s = 0.0;
    }
}

/// The share of images that were classified correctly, with their number.
fn accuracy(tested: &Tested, step: Option<u64>) -> WorkloadEvent {
    let images = tested.images.max(1) as f64;
    WorkloadEvent::Value {
        metric: names::ACCURACY.to_owned(),
        value: tested.right as f64 / images,
        unit: None,
        step,
        scope: None,
        count: Some(images),
        seconds: None,
        derived: false,
    }
}

impl TimedWork for Rank<'_> {
    fn prepare(&mut self, number: u64) {
        let block = self.schedule.block(number);
        if self.epoch != Some(block.epoch) {
            order(self.options.seed, block.epoch, &mut self.order);
            self.epoch = Some(block.epoch);
        }
        self.pixels.clear();
        self.labels.clear();
        let train = &self.samples.train;
        for samples in self.schedule.batches(&block) {
            let mine = self.mine(samples.end - samples.start);
            let places = samples.start + mine.start..samples.start + mine.end;
            for number in &self.order[places.start as usize..places.end as usize] {
                let number = *number as usize;
                self.pixels.extend_from_slice(&train.pixels[number * PIXELS..(number + 1) * PIXELS]);
                self.labels.push(u32::from(train.labels[number]));
            }
        }
        self.block = Some(block);
    }

    fn iterate(&mut self, look: bool, ranks: &mut dyn Collective) -> IterationOutcome {
        let start = Instant::now();
        let block = self.block.clone();
        let loss = block.map_or(f64::NAN, |block| self.steps_of(&block, look, ranks));
        self.epoch_s += start.elapsed().as_secs_f64();
        IterationOutcome { loss, output: None, gradient_norm: None }
    }

    fn gradient_norm(&mut self) -> Option<f64> {
        Some(self.model.gradient_norm())
    }

    fn parity(&mut self, first: &IterationOutcome) -> IterationOutcome {
        self.first.unwrap_or(*first)
    }

    fn steps(&self, _: u64) -> u64 {
        self.steps
    }

    fn profile(&self) -> &Profile {
        self.model.profile()
    }

    fn follow(
        &mut self,
        _: u64,
        last: bool,
        began: Instant,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), WorkloadError> {
        if last || self.block.as_ref().is_some_and(|block| block.ends_epoch) {
            self.test(began, emitter);
        }
        Ok(())
    }

    fn close(
        &mut self,
        _: WorkloadEnd,
        _: u64,
        _: Instant,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), WorkloadError> {
        if let Some(tested) = &self.tested {
            emitter.emit(accuracy(tested, None));
        }
        Ok(())
    }
}
