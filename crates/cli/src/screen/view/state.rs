//! Events to the state of a view. Time is passed in, so that the same events give the same state.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_campaign::Plan;
use assay_launch::LaunchEvent;
use assay_model::{RunId, RunResult, Status, Unit};
use assay_report::number::counted;

use crate::screen::progress::{Live, label, outcome};

/// Messages that are kept.
const MOST_MESSAGES: usize = 200;
/// Values of a running run that are kept for its curve.
const MOST_TRAIL: usize = 400;

/// All that a view shows.
#[derive(Default)]
pub struct ViewState {
    pub total: usize,
    pub finished: usize,
    pub failed: usize,
    /// When the last run ended, after the beginning.
    pub last_finished: Duration,
    pub running: BTreeMap<RunId, ActiveRun>,
    /// The headline's values, by cell.
    pub values: BTreeMap<usize, Vec<f64>>,
    /// Runs that failed, by cell.
    pub failures: BTreeMap<usize, usize>,
    /// The headline's unit, once a run has stated it.
    pub unit: Option<Unit>,
    /// The run that ended last, in words.
    pub latest: String,
    pub messages: Vec<String>,
}

/// A run that goes on.
pub struct ActiveRun {
    pub label: String,
    pub began: Duration,
    pub live: Live,
    /// Its rates, or else its losses, as they came.
    pub trail: Vec<f64>,
}

impl ViewState {
    /// Takes in an event that happened at a time.
    pub fn take(&mut self, plan: &Plan, event: &LaunchEvent<'_>, at: Duration) {
        match event {
            LaunchEvent::Began { finished_before, certain, .. } => {
                self.total = *certain;
                if *finished_before > 0 {
                    let runs = counted(*finished_before as u64, "run");
                    self.message(&format!("{runs} already in the record, {certain} to go"));
                }
            }
            LaunchEvent::Added { runs } => self.total += runs,
            LaunchEvent::Started { run, cell, first_metric_in_s } => {
                let label = label(plan, *cell, run);
                let live = Live::new(*first_metric_in_s);
                self.running.insert((*run).clone(), ActiveRun { label, began: at, live, trail: Vec::new() });
            }
            LaunchEvent::Progress { run, cell, progress, first_metric_in_s } => {
                let Some(active) = self.running.get_mut(*run) else { return };
                active.live.take(plan, *cell, progress, *first_metric_in_s);
                let value = progress.rate.as_ref().map(|(rate, _)| *rate).or(progress.loss);
                if let Some(value) = value.filter(|value| active.trail.last() != Some(value)) {
                    if active.trail.len() == MOST_TRAIL {
                        active.trail.remove(0);
                    }
                    active.trail.push(value);
                }
            }
            LaunchEvent::Finished { run, cell, result } => self.finish(plan, (run, *cell), result, at),
            LaunchEvent::Tick => {}
            LaunchEvent::Warning(text) => self.message(&format!("warning: {text}")),
        }
    }

    fn finish(&mut self, plan: &Plan, (run, cell): (&RunId, usize), result: &RunResult, at: Duration) {
        self.running.remove(run);
        if result.status == Status::Interrupted {
            return;
        }
        self.finished += 1;
        self.last_finished = at;
        let label = label(plan, cell, run);
        self.latest = format!("{label}  {}", outcome(plan, result));
        if !result.status.is_usable() {
            self.failed += 1;
            *self.failures.entry(cell).or_default() += 1;
            let status = result.status.to_string();
            self.message(&format!("failed: {label}: {}", status.strip_prefix("failed: ").unwrap_or(&status)));
            for hint in result.all_hints() {
                self.message(&format!("hint: {hint}"));
            }
        }
        let found = result.observations.iter().find(|found| found.metric == plan.headline);
        if let Some(found) = found.filter(|_| result.status.is_usable()) {
            self.unit = Some(found.unit.clone());
            self.values.entry(cell).or_default().push(found.value);
        }
    }

    /// Keeps a message.
    pub fn message(&mut self, text: &str) {
        if self.messages.len() == MOST_MESSAGES {
            self.messages.remove(0);
        }
        self.messages.push(assay_model::untrusted::one_line(text).into_owned());
    }
}
