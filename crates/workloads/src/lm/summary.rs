//! What a run says of its iterations, one by one and all together.

use assay_model::{Scope, Told, names};

use super::model::Outcome;
use super::options::Options;
use crate::Outlet;

/// The metric for the CPU time of an iteration, all threads together.
pub(crate) const CPU: &str = "cpu.iteration";

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
pub(crate) struct Summary {
    /// Those that count.
    counted: Vec<Iteration>,
    warmups: u64,
    /// Seconds of the very first one, warm-up or not.
    first_s: Option<f64>,
}

impl Summary {
    /// How many iterations count so far.
    pub(crate) fn counted(&self) -> u64 {
        self.counted.len() as u64
    }

    /// How many iterations there were, warm-up included.
    pub(crate) fn done(&self) -> u64 {
        self.counted() + self.warmups
    }

    /// Tells what is known before the first iteration.
    pub(crate) fn tell_before(&self, options: &Options, outlet: &mut Outlet<'_>) {
        let Options { shape, work, .. } = options;
        outlet.tell(Told::value(names::PARAMETERS, shape.parameters() as f64));
        outlet.tell(Told::value(names::PARAMETERS_WITHOUT_HEAD, shape.parameters_without_head() as f64));
        outlet.value_in("flops.iteration", flops(options), "FLOP", None);
        let backward = if work.phase.forward_passes() > 1.0 { "; backward twice the forward" } else { "" };
        outlet.note(format!(
            "FLOPs: 2·m·n·k of every matrix product, attention in full as 4·tokens·context·width a layer{backward}; \
             norms, rotations, activations, softmax, loss, embedding, optimizer and recomputation left out"
        ));
    }

    /// Tells one iteration.
    pub(crate) fn tell_iteration(
        &mut self,
        step: u64,
        warmup: bool,
        iteration: Iteration,
        outlet: &mut Outlet<'_>,
    ) {
        let series = |name: &str| if warmup { format!("{name}.warmup") } else { name.to_owned() };
        outlet.value_in(&series(names::TIME_ITERATION), iteration.seconds, "s", Some(step));
        outlet.value_in(&series(CPU), iteration.cpu_seconds, "s", Some(step));
        let finite =
            [(names::LOSS_TRAIN, Some(iteration.loss)), (names::GRADIENT_NORM, iteration.gradient_norm)];
        for (name, value) in finite {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                outlet.tell(Told::at(name, step, value));
            }
        }
        self.count(warmup, iteration);
    }

    /// Counts an iteration that is told elsewhere.
    pub(crate) fn count(&mut self, warmup: bool, iteration: Iteration) {
        self.first_s.get_or_insert(iteration.seconds);
        if warmup {
            self.warmups += 1;
        } else {
            self.counted.push(iteration);
        }
    }

    /// Tells the values by which engines are checked against each other.
    pub(crate) fn tell_parity(&self, outcome: &Outcome, gradient_norm: Option<f64>, outlet: &mut Outlet<'_>) {
        let values = [
            (names::PARITY_LOSS, Some(outcome.loss)),
            (names::PARITY_OUTPUT, outcome.output),
            (names::PARITY_GRADIENT, gradient_norm),
        ];
        for (name, value) in values {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                outlet.tell(Told::value(name, value));
            }
        }
    }

    /// Tells what all iterations that count came to.
    pub(crate) fn tell_after(&self, options: &Options, peak_flops: Option<f64>, outlet: &mut Outlet<'_>) {
        if let Some(seconds) = self.first_s {
            outlet.tell(Told::value(names::TIME_FIRST, seconds));
        }
        let count = self.counted.len() as f64;
        let seconds: f64 = self.counted.iter().map(|iteration| iteration.seconds).sum();
        if count > 0.0 && seconds > 0.0 {
            outlet.tell(mean(names::TIME_ITERATION, seconds, count));
            outlet.value_in(&format!("{}.median", names::TIME_ITERATION), self.median(), "s", None);
            // Under the name that write-ups of such tables are read by, too.
            outlet.tell(mean(options.work.phase.metric(), seconds, count));
            let cpu: f64 = self.counted.iter().map(|iteration| iteration.cpu_seconds).sum();
            outlet.tell(mean(CPU, cpu, count));
            outlet.tell(Told::rate(names::TOKENS_PER_S, count * options.work.tokens() as f64, seconds));
            outlet.tell(Told::rate(names::SAMPLES_PER_S_LOOP, count * options.work.batch as f64, seconds));
            let flops = count * flops(options);
            outlet.tell(Told::rate(names::FLOPS_PER_S, flops, seconds));
            if let Some(peak) = peak_flops.filter(|peak| *peak > 0.0) {
                outlet.tell(Told::derived(names::MFU, flops / seconds / peak));
            }
        }
    }

    fn median(&self) -> f64 {
        let mut seconds: Vec<f64> = self.counted.iter().map(|iteration| iteration.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        if seconds.len().is_multiple_of(2) {
            (seconds[middle - 1] + seconds[middle]) / 2.0
        } else {
            seconds[middle]
        }
    }
}

/// Floating-point operations of one iteration.
fn flops(options: &Options) -> f64 {
    let work = &options.work;
    work.phase.forward_passes() * options.shape.forward_flops(work.tokens(), work.context)
}

/// The mean of a series, in seconds.
fn mean(metric: &str, seconds: f64, count: f64) -> Told {
    Told::Value {
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
