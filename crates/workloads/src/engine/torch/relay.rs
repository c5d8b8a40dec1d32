//! Hands on what the adapter says, adds what all iterations come to, and finds out what its end means.

use std::process::Command;
use std::sync::atomic::Ordering;

use assay_model::{WorkloadEvent, names};

use super::child::{self, Gone};
use super::{ENGINE, MISSING, failed, missing};
use crate::summary::{CPU, Iteration, IterationSummary, WorkAmount};
use crate::{Emitter, WorkloadEnd, WorkloadError};

/// The exit codes of the adapter that say more than that it failed.
mod exit {
    /// PyTorch is not there, too old, or has no such device or mode.
    pub(super) const MISSING: i32 = 4;
    /// The loss or the gradient is not a finite number.
    pub(super) const DIVERGED: i32 = 5;
}

/// One run of the adapter.
pub(super) struct Relay<'a, 'b> {
    effort: &'a WorkAmount,
    /// Iterations that there should be.
    planned: u64,
    peak_flops: Option<f64>,
    emitter: &'a mut Emitter<'b>,
    summary: IterationSummary,
    /// The time of the iteration whose CPU time is reported next.
    seconds: f64,
    /// The line that says how it ended.
    last: Option<WorkloadEvent>,
}

impl<'a, 'b> Relay<'a, 'b> {
    pub(super) fn new(
        effort: &'a WorkAmount,
        planned: u64,
        peak_flops: Option<f64>,
        emitter: &'a mut Emitter<'b>,
    ) -> Relay<'a, 'b> {
        let summary = IterationSummary::default();
        summary.report_before(effort, emitter);
        Relay { effort, planned, peak_flops, emitter, summary, seconds: 0.0, last: None }
    }

    /// Runs the adapter to its end.
    pub(super) fn run(mut self, python: &str, command: &mut Command) -> Result<WorkloadEnd, WorkloadError> {
        let stop = self.emitter.stop_flag();
        let gone = child::watch(command, &|| stop.load(Ordering::Relaxed), &mut |events| self.hear(events));
        let gone = gone.map_err(|error| missing(format!("cannot start `{python}`: {error}")))?;
        self.end(python, &gone)
    }

    /// What ends the run is kept until its meaning is known; everything else is handed on.
    fn hear(&mut self, events: WorkloadEvent) {
        match events {
            WorkloadEvent::Failed { .. } | WorkloadEvent::DoesNotFit { .. } | WorkloadEvent::Done { .. } => {
                self.last = Some(events)
            }
            WorkloadEvent::Value { ref metric, value, step: Some(_), .. } => {
                self.count(metric, value);
                self.emitter.emit(events);
            }
            other => self.emitter.emit(other),
        }
    }

    /// An iteration is whole when both of its times are known; the CPU time comes second.
    fn count(&mut self, metric: &str, value: f64) {
        let (name, warmup) = match metric.strip_suffix(".warmup") {
            Some(name) => (name, true),
            None => (metric, false),
        };
        if name == names::TIME_ITERATION {
            self.seconds = value;
        } else if name == CPU {
            let iteration =
                Iteration { seconds: self.seconds, cpu_seconds: value, loss: f64::NAN, gradient_norm: None };
            self.summary.count(warmup, iteration);
        } else if name == names::LOSS_TRAIN {
            self.summary.note_loss(value);
        }
    }

    fn end(mut self, python: &str, gone: &Gone) -> Result<WorkloadEnd, WorkloadError> {
        let Some(status) = gone.status else { return Ok(self.summed_up(WorkloadEnd::Stopped)) };
        match (self.last.take(), status.code()) {
            (Some(WorkloadEvent::Done { steps }), Some(0)) if steps < self.planned => {
                Ok(self.summed_up(WorkloadEnd::Stopped))
            }
            (Some(WorkloadEvent::Done { .. }), Some(0)) => Ok(self.summed_up(WorkloadEnd::Done)),
            (Some(events @ WorkloadEvent::DoesNotFit { .. }), _) => {
                self.emitter.emit(events);
                Ok(WorkloadEnd::DoesNotFit)
            }
            (Some(events @ WorkloadEvent::Failed { .. }), Some(exit::DIVERGED)) => {
                self.emitter.emit(events);
                Ok(self.summed_up(WorkloadEnd::Diverged))
            }
            (Some(WorkloadEvent::Failed { reason, hint }), Some(exit::MISSING)) => {
                Err(WorkloadError::EngineMissing { engine: ENGINE, reason, hint }.or_hint(MISSING))
            }
            (Some(WorkloadEvent::Failed { reason, hint }), _) => {
                Err(WorkloadError::EngineFailed { engine: ENGINE, reason, hint })
            }
            _ => Err(broken_off(python, gone, &status.to_string())),
        }
    }

    /// Reports what the iterations came to, as the native engine does.
    fn summed_up(self, ended: WorkloadEnd) -> WorkloadEnd {
        self.summary.report_after(self.effort, self.peak_flops, self.emitter);
        if ended != WorkloadEnd::Diverged {
            self.emitter.emit(WorkloadEvent::Done { steps: self.effort.steps(self.summary.done()) });
        }
        ended
    }
}

/// The adapter ended without saying why.
fn broken_off(python: &str, gone: &Gone, status: &str) -> WorkloadError {
    let last_words = gone.last_words.join("; ");
    let words = if last_words.is_empty() { "it said nothing".to_owned() } else { last_words };
    let reason = format!("`{python}` ended with {status}: {words}");
    // Whatever does not come to the adapter's first line is not a Python that can run it.
    if gone.spoke { failed(reason) } else { missing(reason) }
}
