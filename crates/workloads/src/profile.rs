//! Where the time of an iteration goes: time and arithmetic of each operation, and a Chrome trace of all of them.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::{Emitter, WorkloadError};

struct Event {
    operation: &'static str,
    start: f64,
    seconds: f64,
    flops: f64,
}

/// Events of one run. Without [`Profile::on`] it only passes calls on.
pub struct Profile {
    began: Instant,
    events: Option<RefCell<Vec<Event>>>,
}

/// One line of a Chrome trace: a complete event with times in microseconds.
#[derive(Serialize)]
struct TraceEvent<'a> {
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    ts: f64,
    dur: f64,
    pid: u32,
    tid: u32,
    args: TraceArguments,
}

#[derive(Serialize)]
struct TraceArguments {
    gflop: f64,
    gflop_per_s: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Trace<'a> {
    display_time_unit: &'a str,
    trace_events: Vec<TraceEvent<'a>>,
}

impl Profile {
    /// A profile that keeps nothing.
    pub fn off() -> Profile {
        Profile { began: Instant::now(), events: None }
    }

    /// A profile that keeps every operation.
    pub fn on() -> Profile {
        Profile { began: Instant::now(), events: Some(RefCell::default()) }
    }

    /// Whether anything is kept.
    pub fn is_on(&self) -> bool {
        self.events.is_some()
    }

    /// Does some work of an operation.
    #[inline]
    pub fn timed<R>(&self, operation: &'static str, flops: f64, work: impl FnOnce() -> R) -> R {
        let Some(events) = &self.events else { return work() };
        let start = self.began.elapsed().as_secs_f64();
        let result = work();
        let seconds = self.began.elapsed().as_secs_f64() - start;
        events.borrow_mut().push(Event { operation, start, seconds, flops });
        result
    }

    /// Forgets what was kept so far, so that warm-up is not in the profile.
    pub fn clear(&self) {
        if let Some(events) = &self.events {
            events.borrow_mut().clear();
        }
    }

    /// Reports time, arithmetic and share of peak of each operation, over all iterations that count, in the order in which
    /// the operations came first.
    pub fn report(&self, peak_flops: Option<f64>, iterations: u64, emitter: &mut Emitter<'_>) {
        let Some(events) = &self.events else { return };
        let events = events.borrow();
        let whole: f64 = events.iter().map(|event| event.seconds).sum();
        let mut operations: Vec<&str> = Vec::new();
        for event in events.iter() {
            if !operations.contains(&event.operation) {
                operations.push(event.operation);
            }
        }
        for operation in operations {
            let mine = || events.iter().filter(|event| event.operation == operation);
            let seconds: f64 = mine().map(|event| event.seconds).sum();
            let flops: f64 = mine().map(|event| event.flops).sum();
            if seconds == 0.0 {
                continue;
            }
            let name = format!("profile.{operation}");
            let each = iterations.max(1) as f64;
            emitter.value_in(&format!("{name}.seconds"), seconds / each, "s", None);
            emitter.value_in(&format!("{name}.share"), seconds / whole, "fraction", None);
            if flops > 0.0 {
                emitter.value_in(&format!("{name}.flops"), flops / each, "FLOP", None);
                emitter.value_in(&format!("{name}.flops_per_s"), flops / seconds, "FLOP/s", None);
                if let Some(peak) = peak_flops {
                    emitter.value_in(&format!("{name}.mfu"), flops / seconds / peak, "fraction", None);
                }
            }
        }
    }

    /// Writes the trace, to be opened with `chrome://tracing` or Perfetto.
    pub fn write(&self, path: &Path) -> Result<(), WorkloadError> {
        let Some(events) = &self.events else { return Ok(()) };
        let events = events.borrow();
        let trace_events = events.iter().map(|event| TraceEvent {
            name: event.operation,
            cat: "operation",
            ph: "X",
            ts: event.start * 1e6,
            dur: event.seconds * 1e6,
            pid: 1,
            tid: 1,
            args: TraceArguments { gflop: event.flops / 1e9, gflop_per_s: event.flops / 1e9 / event.seconds },
        });
        let trace = Trace { display_time_unit: "ms", trace_events: trace_events.collect() };
        let text = serde_json::to_vec(&trace).map_err(|error| WorkloadError::file("write", path, error))?;
        std::fs::write(path, text).map_err(|error| WorkloadError::file("write", path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::WorkloadEvent;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_profile_adds_up_by_operation_and_its_trace_is_json() {
        let profile = Profile::on();
        profile.timed("norm", 0.0, || ());
        profile.clear();
        let nap = || std::thread::sleep(std::time::Duration::from_millis(2));
        profile.timed("head", 4e6, nap);
        profile.timed("head", 4e6, nap);
        let (mut events, stop) = (Vec::new(), AtomicBool::new(false));
        profile.report(Some(1e12), 2, &mut Emitter::new(&mut |line| events.push(line), &stop));
        let value = |name: &str| {
            events.iter().find_map(|line| match line {
                WorkloadEvent::Value { metric, value, .. } if metric == name => Some(*value),
                _ => None,
            })
        };
        assert_eq!(value("profile.head.flops"), Some(4e6));
        assert_eq!(value("profile.head.share"), Some(1.0));
        assert!(value("profile.head.seconds").unwrap() >= 0.002);
        assert!(value("profile.head.mfu").unwrap() <= 0.002);
        assert_eq!(value("profile.norm.seconds"), None);

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.json");
        profile.write(&path).unwrap();
        let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(trace["traceEvents"].as_array().unwrap().len(), 2);
        assert!(profile.write(&directory.path().join("missing/trace.json")).is_err());
    }
}
