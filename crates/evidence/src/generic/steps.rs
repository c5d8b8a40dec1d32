//! Which step the numbers of a line belong to, and whether a line begins another run.

use assay_model::names::setting;

use super::plan::{Plan, Slot};
use super::{GenericReader, MOST_SHAPES};
use crate::facts::{Facts, setting_number};
use crate::vocabulary::{CounterKind, MetricKind};

/// How far a line says that the run is: its epoch, and its step.
pub(super) type Place = (f64, f64);

impl GenericReader {
    /// The step of a line, and whether its counter is complete.
    pub(super) fn step(&mut self, plan: &Plan, text: &str, facts: &mut Facts<'_>) -> (Option<f64>, bool) {
        let (mut epoch, mut step, mut batch) = (None, None, None);
        for counter in &plan.counters {
            let done = counter.place.above(text, &self.runs);
            let total = counter.place.below(text, &self.runs);
            match (counter.kind, counter.within_epoch) {
                (CounterKind::Epoch, _) => epoch = done.map(|done| (done, total)),
                (CounterKind::Step, true) => batch = done.map(|done| (done, total)),
                (CounterKind::Step, false) => step = done,
            }
        }
        if let Some((_, Some(total))) = epoch
            && facts.known(setting::EPOCHS).is_none()
        {
            facts.observe(setting::EPOCHS, setting_number(total), "log");
        }
        if let Some((done, _)) = epoch {
            self.epoch = Some(done);
            self.first_epoch.get_or_insert(done);
        }
        let base = self.first_epoch.map_or(0.0, |first| first.clamp(0.0, 1.0));
        let complete = batch.is_none_or(|(done, total)| total.is_none_or(|total| done >= total));
        let epoch_now = epoch.map(|(done, _)| done).or(self.epoch);
        let of = match (step, batch, epoch_now) {
            (Some(step), _, _) => Some(step),
            (None, Some((done, Some(total))), Some(epoch)) => Some((epoch - base) * total + done),
            (None, Some((done, _)), None) => Some(done),
            (None, _, epoch) => epoch,
        };
        (of, complete)
    }

    /// Steps that begin again are another run.
    pub(super) fn restart(&mut self, plan: &Plan, step: Place, epoch: Option<f64>, facts: &mut Facts<'_>) {
        let known = self.steps.get(&self.bare).copied();
        let again = known.is_some_and(|(first, last)| step < last && step <= first);
        let evidence = plan.slots.first().is_some_and(|slot| facts.has(&slot.metric));
        // The first epoch below a banner that was not seen before.
        let below = self.sections.is_new_run() && facts.has_evidence();
        let below = below && epoch.is_some() && epoch <= self.first_epoch;
        if again && evidence || below {
            facts.begin();
            facts.title(self.sections.title());
            self.steps.clear();
        }
        let first = self.steps.get(&self.bare).map_or(step, |(first, _)| *first);
        self.steps.insert(self.bare, (first, step));
    }

    /// Whether numbers with unknown keys vary from line to line. Those that never do are settings or chatter.
    pub(super) fn varies(&mut self, key: u64, plan: &Plan, text: &str) -> bool {
        let values: Vec<f64> = plan
            .slots
            .iter()
            .filter_map(|slot| slot.place.read(text, &self.runs))
            .map(|(value, _)| value)
            .collect();
        let counted = plan.counters.iter().any(|counter| !counter.within_epoch);
        let knobs = plan.slots.iter().any(|slot| slot.kind == MetricKind::Knob);
        let Some(known) = self.shapes.get_mut(&key) else { return false };
        let decimal = values.iter().any(|value| value.fract() != 0.0);
        match &known.first {
            None => known.first = Some(values),
            Some(first) => known.varies |= *first != values && (decimal || counted),
        }
        known.varies || (counted && knobs)
    }

    /// Whether the number of a line that counts epochs alone stands for a whole epoch, beside those of its batches.
    pub(super) fn is_summary(&mut self, slot: &Slot, plan: &Plan, facts: &Facts<'_>) -> bool {
        if !slot.known || !matches!(slot.kind, MetricKind::Value | MetricKind::Share) {
            return false;
        }
        if plan.counters.iter().any(|counter| counter.within_epoch) {
            if !self.batched.contains(&slot.metric) && self.batched.len() < MOST_SHAPES {
                self.batched.insert(slot.metric.clone());
            }
            return false;
        }
        plan.counters.iter().all(|counter| counter.kind == CounterKind::Epoch)
            && !plan.counters.is_empty()
            && (self.batched.contains(&slot.metric) || facts.is_of_a_bar(&slot.metric))
    }

    /// Whether the time on a complete bar is the one that was left, as bars print it until they are redrawn: it is
    /// far below the number of steps times the time of one.
    pub(super) fn is_time_left(&self, plan: &Plan, text: &str, seconds: f64) -> bool {
        let step = plan.slots.iter().find(|slot| slot.metric == "step_s");
        let step =
            step.and_then(|slot| Some(slot.place.read(text, &self.runs)?.0 * slot.factor)).unwrap_or(0.0);
        let steps = plan.counters.iter().find_map(|counter| counter.place.below(text, &self.runs));
        // Bars print whole seconds.
        seconds + 1.0 < step * steps.unwrap_or(0.0) * 0.5
    }
}
