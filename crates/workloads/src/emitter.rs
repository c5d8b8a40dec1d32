//! What a workload is given by its caller, and how it answers.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::{Value, WorkloadEvent};

/// Where a workload says what it does. What was said stays said, however the run ends.
pub struct Emitter<'a> {
    emit: &'a mut dyn FnMut(WorkloadEvent),
    stop: &'a AtomicBool,
}

impl<'a> Emitter<'a> {
    /// An emitter that hands every line to `emit`. A workload looks at `stop` between iterations and ends early when it
    /// is set.
    pub fn new(emit: &'a mut dyn FnMut(WorkloadEvent), stop: &'a AtomicBool) -> Emitter<'a> {
        Emitter { emit, stop }
    }

    /// Says one thing.
    pub fn emit(&mut self, event: WorkloadEvent) {
        (self.emit)(event);
    }

    /// Says which value of a setting is in effect.
    pub fn setting(&mut self, name: &str, value: impl Into<Value>) {
        self.emit(WorkloadEvent::Setting { name: name.to_owned(), value: value.into() });
    }

    /// Says something that the reader of the numbers should know.
    pub fn note(&mut self, text: impl Into<String>) {
        self.emit(WorkloadEvent::Note { text: text.into(), hint: None });
    }

    /// Says a value with a unit that is not the canonical one of its metric, or of a metric that is not canonical.
    pub fn value_in(&mut self, metric: &str, value: f64, unit: &str, step: Option<u64>) {
        self.emit(WorkloadEvent::Value {
            metric: metric.to_owned(),
            value,
            unit: Some(unit.to_owned()),
            step,
            scope: None,
            count: None,
            seconds: None,
            derived: false,
        });
    }

    /// Whether the run should end as soon as it can.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The flag itself, for what watches it from another thread.
    pub fn stop_flag(&self) -> &'a AtomicBool {
        self.stop
    }
}

/// What the machine allows, as far as the caller knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesLimits {
    /// Bytes of memory that are free for the workload; without them nothing is refused.
    pub memory_bytes: Option<u64>,
    /// The measured peak of the threads in use, in floating-point operations per second.
    pub peak_flops: Option<f64>,
    /// Cores.
    pub threads: usize,
}

/// How a run that could be begun came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadEnd {
    Done,
    /// It needs more memory than there is, and was not begun.
    DoesNotFit,
    /// The loss was not a finite number.
    Diverged,
    /// What it measured may not be used, for a reason that was reported.
    Failed,
    /// The stop flag was set, or the pacing input ended.
    Stopped,
}
