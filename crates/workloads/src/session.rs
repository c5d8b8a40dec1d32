//! The iterations of a run by the native engine: the same loop for every workload.

use std::time::Instant;

use assay_model::WorkloadEvent;

use crate::collective::Collective;
use crate::process::{cpu_seconds, wait_for_line};
use crate::profile::Profile;
use crate::summary::{Iteration, IterationOutcome, IterationSummary};
use crate::{Emitter, WorkloadEnd, WorkloadError};

/// What one rank computes.
pub(crate) trait TimedWork {
    /// Lays ready what the iteration with this number, from 0, takes. It is not timed.
    fn prepare(&mut self, number: u64);

    /// Computes the iteration that was prepared, together with the other ranks. `look` asks for what only the first
    /// iteration reports.
    fn iterate(&mut self, look: bool, ranks: &mut dyn Collective) -> IterationOutcome;

    /// The norm of all gradients of the last iteration, where there are any.
    fn gradient_norm(&mut self) -> Option<f64>;

    /// The values by which engines are checked against each other; `first` is the first iteration.
    fn parity(&mut self, first: &IterationOutcome) -> IterationOutcome {
        // A step has clipped its gradients already, so that its own norm is the one to report.
        IterationOutcome { gradient_norm: first.gradient_norm.or_else(|| self.gradient_norm()), ..*first }
    }

    /// The steps that this many iterations come to, those before a resumed run included.
    fn steps(&self, iterations: u64) -> u64 {
        iterations
    }

    /// The number of the first iteration: above 0 for a resumed run.
    fn first(&self) -> u64 {
        0
    }

    /// The profile of its operations.
    fn profile(&self) -> &Profile;

    /// What follows an iteration outside its time, for example a checkpoint or a test. `done` counts steps, those
    /// before a resumed run included. Only the first rank is asked.
    fn follow(
        &mut self,
        _done: u64,
        _last: bool,
        _began: Instant,
        _outlet: &mut Emitter<'_>,
    ) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// What is left to do and to say when `done` iterations have come to an end. Only the first rank is asked.
    fn close(
        &mut self,
        _ended: WorkloadEnd,
        _done: u64,
        _began: Instant,
        _outlet: &mut Emitter<'_>,
    ) -> Result<(), WorkloadError> {
        Ok(())
    }
}

/// How many iterations there are, and how they go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IterationSchedule {
    /// Iterations before those that count.
    pub(crate) warmup: u64,
    /// Iterations that count.
    pub(crate) iterations: u64,
    /// Whether each iteration waits for a line on standard input.
    pub(crate) paced: bool,
    /// What to do about a loss that is not a finite number.
    pub(crate) calmer: &'static str,
}

/// Does all iterations, as long as nothing ends them. All ranks come to the same end.
pub(crate) fn iterate(
    schedule: &IterationSchedule,
    work: &mut dyn TimedWork,
    ranks: &mut dyn Collective,
    began: Instant,
    summary: &mut IterationSummary,
    emitter: &mut Emitter<'_>,
) -> Result<WorkloadEnd, WorkloadError> {
    let IterationSchedule { warmup, iterations, paced, .. } = *schedule;
    let first = work.first();
    let of = warmup.saturating_add(iterations);
    let leads = ranks.rank() == 0;
    let mut phase_start = began.elapsed().as_secs_f64();
    for number in 0..of {
        let stop = emitter.stopped() || (leads && paced && !wait_for_line(std::io::stdin(), emitter));
        if ranks.any(stop) {
            return Ok(WorkloadEnd::Stopped);
        }
        if number == warmup {
            // The profile is of the iterations that count.
            work.profile().clear();
        }
        let (iteration, outcome) = once(work, ranks, first + number, number == 0);
        let step = work.steps(first + number + 1);
        summary.report_iteration(step, number < warmup, iteration, emitter);
        if number == 0 {
            summary.report_parity(&work.parity(&outcome), emitter);
        }
        if let Some(ended) = diverged(step, &outcome, schedule.calmer, emitter) {
            return Ok(ended);
        }
        emitter.emit(WorkloadEvent::Progress { done: number + 1, of });
        if number + 1 == warmup || number + 1 == of {
            let end_s = began.elapsed().as_secs_f64();
            let name = if number < warmup { "warmup" } else { "train" };
            emitter.emit(WorkloadEvent::Phase { name: name.to_owned(), start_s: phase_start, end_s });
            phase_start = end_s;
        }
        let followed = if leads { work.follow(step, number + 1 == of, began, emitter) } else { Ok(()) };
        if ranks.any(followed.is_err()) {
            return followed.map(|()| WorkloadEnd::Stopped);
        }
    }
    Ok(WorkloadEnd::Done)
}

/// One iteration, timed.
fn once(
    work: &mut dyn TimedWork,
    ranks: &mut dyn Collective,
    number: u64,
    look: bool,
) -> (Iteration, IterationOutcome) {
    work.prepare(number);
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let outcome = work.iterate(look, ranks);
    let seconds = start.elapsed().as_secs_f64();
    let iteration = Iteration {
        seconds,
        cpu_seconds: ranks.sum_of_processes(cpu_seconds() - cpu),
        loss: outcome.loss,
        gradient_norm: outcome.gradient_norm,
    };
    (iteration, outcome)
}

/// The ending of a run whose loss or gradient is not a finite number.
fn diverged(
    step: u64,
    outcome: &IterationOutcome,
    calmer: &str,
    emitter: &mut Emitter<'_>,
) -> Option<WorkloadEnd> {
    let what = if !outcome.loss.is_finite() {
        format!("the loss is {}", outcome.loss)
    } else if outcome.gradient_norm.is_some_and(|norm| !norm.is_finite()) {
        "the norm of the gradient is not a finite number".to_owned()
    } else {
        return None;
    };
    emitter.emit(WorkloadEvent::Failed {
        reason: format!("{what} at step {step}"),
        hint: Some(calmer.to_owned()),
    });
    Some(WorkloadEnd::Diverged)
}
