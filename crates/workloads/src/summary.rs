//! What a run says of its iterations, one by one and all together.

use std::ops::Range;

use assay_model::{Scope, WorkloadEvent, names};

use crate::Emitter;
use crate::schedule::StepSchedule;

/// The metric for the CPU time of an iteration, all threads together.
pub(crate) const CPU: &str = "cpu.iteration";

/// What an iteration computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationOutcome {
    /// The mean loss of the iteration, over all ranks.
    pub loss: f64,
    /// The root mean square of all outputs, where it was asked for.
    pub output: Option<f64>,
    /// The norm of all gradients before clipping; only from a step that computes it anyway.
    pub gradient_norm: Option<f64>,
}

/// What one iteration of all ranks together takes: what rates are computed from.
#[derive(Debug, Clone)]
pub(crate) struct WorkAmount {
    pub(crate) samples: f64,
    /// Tokens, where samples consist of them.
    pub(crate) tokens: Option<f64>,
    /// Floating-point operations.
    pub(crate) flops: f64,
    /// How they are counted, in words.
    pub(crate) formula: String,
    /// The metric by which write-ups know the time of such an iteration.
    pub(crate) metric: &'static str,
    /// Parameters of the model, as metrics.
    pub(crate) parameters: Vec<(&'static str, f64)>,
    /// Whether weights change, so that the last loss means something.
    pub(crate) trains: bool,
    /// Ranks.
    pub(crate) tasks: usize,
    /// Where iterations differ in size: what each of them does. The numbers above are those of a whole one.
    pub(crate) schedule: Option<StepSchedule>,
}

impl WorkAmount {
    /// The steps that this many iterations come to.
    pub(crate) fn steps(&self, iterations: u64) -> u64 {
        match &self.schedule {
            Some(schedule) => (0..iterations).map(|number| schedule.steps_of(number)).sum(),
            None => iterations,
        }
    }

    /// The samples of the iterations with these numbers, from 0.
    fn samples_of(&self, numbers: Range<u64>) -> f64 {
        match &self.schedule {
            Some(schedule) => numbers.map(|number| schedule.samples_of(number)).sum::<u64>() as f64,
            None => (numbers.end - numbers.start) as f64 * self.samples,
        }
    }
}

/// One iteration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Iteration {
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) loss: f64,
    pub(crate) gradient_norm: Option<f64>,
}

/// The iterations so far.
#[derive(Debug, Default)]
pub(crate) struct IterationSummary {
    /// Those that count.
    counted: Vec<Iteration>,
    warmups: u64,
    /// Seconds of the very first one, warm-up or not.
    first_s: Option<f64>,
    /// The loss of the last one, warm-up or not.
    last_loss: Option<f64>,
}

impl IterationSummary {
    /// How many iterations count so far.
    pub(crate) fn counted(&self) -> u64 {
        self.counted.len() as u64
    }

    /// How many iterations there were, warm-up included.
    pub(crate) fn done(&self) -> u64 {
        self.counted() + self.warmups
    }

    /// Reports what is known before the first iteration.
    pub(crate) fn report_before(&self, effort: &WorkAmount, emitter: &mut Emitter<'_>) {
        for (name, count) in &effort.parameters {
            emitter.emit(WorkloadEvent::value(name, *count));
        }
        emitter.value_in("flops.iteration", effort.flops, "FLOP", None);
        emitter.value_in("samples.iteration", effort.samples, "samples", None);
        emitter.note(format!("FLOPs: {}", effort.formula));
        if effort.tasks > 1 {
            emitter.note(format!(
                "{} tasks: batch_size is that of one task; rates, samples and tokens are those of all together",
                effort.tasks
            ));
        }
    }

    pub(crate) fn report_iteration(
        &mut self,
        step: u64,
        warmup: bool,
        iteration: Iteration,
        emitter: &mut Emitter<'_>,
    ) {
        let series = |name: &str| if warmup { format!("{name}.warmup") } else { name.to_owned() };
        emitter.value_in(&series(names::TIME_ITERATION), iteration.seconds, "s", Some(step));
        emitter.value_in(&series(CPU), iteration.cpu_seconds, "s", Some(step));
        let finite =
            [(names::LOSS_TRAIN, Some(iteration.loss)), (names::GRADIENT_NORM, iteration.gradient_norm)];
        for (name, value) in finite {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                emitter.emit(WorkloadEvent::at(name, step, value));
            }
        }
        self.count(warmup, iteration);
    }

    /// Counts an iteration that is reported elsewhere.
    pub(crate) fn count(&mut self, warmup: bool, iteration: Iteration) {
        self.first_s.get_or_insert(iteration.seconds);
        self.last_loss = Some(iteration.loss);
        if warmup {
            self.warmups += 1;
        } else {
            self.counted.push(iteration);
        }
    }

    /// Takes note of a loss that is reported elsewhere.
    pub(crate) fn note_loss(&mut self, loss: f64) {
        self.last_loss = Some(loss);
    }

    /// Reports the values by which engines are checked against each other.
    pub(crate) fn report_parity(&self, outcome: &IterationOutcome, emitter: &mut Emitter<'_>) {
        let values = [
            (names::PARITY_LOSS, Some(outcome.loss)),
            (names::PARITY_OUTPUT, outcome.output),
            (names::PARITY_GRADIENT, outcome.gradient_norm),
        ];
        for (name, value) in values {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                emitter.emit(WorkloadEvent::value(name, value));
            }
        }
    }

    /// Reports what all iterations that count came to.
    pub(crate) fn report_after(
        &self,
        effort: &WorkAmount,
        peak_flops: Option<f64>,
        emitter: &mut Emitter<'_>,
    ) {
        if let Some(seconds) = self.first_s {
            emitter.emit(WorkloadEvent::value(names::TIME_FIRST, seconds));
        }
        if self.done() > 0 {
            emitter.emit(WorkloadEvent::value(names::SAMPLES, effort.samples_of(0..self.done())));
        }
        if let Some(last) = self.last_loss.filter(|loss| effort.trains && loss.is_finite()) {
            emitter.emit(WorkloadEvent::value(names::LOSS_FINAL, last));
        }
        let count = self.counted.len() as f64;
        let seconds: f64 = self.counted.iter().map(|iteration| iteration.seconds).sum();
        if count > 0.0 && seconds > 0.0 {
            emitter.emit(WorkloadEvent::derived(names::DURATION_LOOP, seconds));
            let samples = effort.samples_of(self.warmups..self.done());
            let whole = samples / effort.samples;
            emitter.emit(mean(names::TIME_ITERATION, seconds, count));
            if let Some(median) = self.median() {
                emitter.value_in(&format!("{}.median", names::TIME_ITERATION), median, "s", None);
            }
            // Under the name that write-ups of such tables are read by, too.
            if effort.metric != names::TIME_ITERATION {
                emitter.emit(mean(effort.metric, seconds, count));
            }
            if let Some(schedule) = &effort.schedule {
                let steps: u64 = (self.warmups..self.done()).map(|number| schedule.steps_of(number)).sum();
                emitter.emit(mean(names::STEP_S, seconds, steps as f64));
            }
            let cpu: f64 = self.counted.iter().map(|iteration| iteration.cpu_seconds).sum();
            emitter.emit(mean(CPU, cpu, count));
            if let Some(tokens) = effort.tokens {
                emitter.emit(WorkloadEvent::rate(names::TOKENS_PER_S, whole * tokens, seconds));
            }
            emitter.emit(WorkloadEvent::rate(names::SAMPLES_PER_S_LOOP, samples, seconds));
            let flops = whole * effort.flops;
            emitter.emit(WorkloadEvent::rate(names::FLOPS_PER_S, flops, seconds));
            if let Some(peak) = peak_flops.filter(|peak| *peak > 0.0) {
                emitter.emit(WorkloadEvent::derived(names::MFU, flops / seconds / peak));
            }
        }
    }

    fn median(&self) -> Option<f64> {
        let seconds: Vec<f64> = self.counted.iter().map(|iteration| iteration.seconds).collect();
        assay_stats::median(&seconds)
    }
}

/// The mean of this many values that sum up to `seconds`.
pub(crate) fn mean(metric: &str, seconds: f64, count: f64) -> WorkloadEvent {
    WorkloadEvent::Value {
        metric: metric.to_owned(),
        value: seconds / count,
        unit: Some("s".to_owned()),
        step: None,
        scope: Some(Scope::Loop),
        count: Some(count),
        seconds: Some(seconds),
        derived: true,
    }
}
