//! Which numbers of a line are kept, and under which name each.

use assay_model::Unit;

use super::chatter::is_configuration;
use super::key::Key;
use super::{Namer, in_share};
use crate::generic::plan::{NumberPlace, Plan, Slot};
use crate::generic::tokens::{Token, TokenKind, scale_of};
use crate::vocabulary::{CounterKind, MetricKind, NamedMetric, PrintedUnit, split_unit};

impl Namer<'_> {
    /// The unit of the noun, for a statistic alone: `Latency (ms):` above `p99: 12.3`.
    pub(super) fn borrowed_unit(&self, key: &Key) -> Option<PrintedUnit> {
        if !self.vocabulary.is_statistic(&key.text) {
            return None;
        }
        // The unit of a heading is that of its own noun.
        let own = !self.about.is_empty() || !self.noun.is_empty();
        let heading = || split_unit(self.context.key.as_deref().filter(|_| !own)?).1;
        self.about_unit.clone().or_else(heading)
    }

    /// The digits in the words around a number belong to its name.
    pub(super) fn fix_names(&mut self, index: usize) {
        // The first words of a line may label all of its numbers.
        let from = if self.plan.slots.is_empty() { 0 } else { self.from };
        let behind =
            self.line.tokens.iter().skip(index + 1).take_while(|token| token.kind == TokenKind::Word);
        let to = index + 1 + behind.count().min(2);
        self.plan.fix(self.line.runs_in(from, to));
    }

    /// `250=0.05%, 500=22.22%`: a number before an equals sign is the key of the one behind it.
    pub(super) fn is_key(&self, index: usize) -> bool {
        let joint = self.line.tokens.get(index + 1).zip(self.line.tokens.get(index + 2));
        joint.is_some_and(|(joint, value)| {
            joint.kind == TokenKind::Sign(b'=')
                && joint.gap == 0
                && value.gap == 0
                && matches!(value.kind, TokenKind::Number(_))
        })
    }

    pub(super) fn push(
        &mut self,
        index: usize,
        token: &Token,
        mut named: NamedMetric,
        printed: Option<&PrintedUnit>,
    ) {
        let Some(place) = self.line.place(token) else { return };
        if let (TokenKind::Number(number), None) = (&token.kind, printed)
            && let Some(suffix) = number.suffix
        {
            named.factor *= scale_of(suffix);
        }
        let classed = named.kind == MetricKind::Share
            || named.qualifier.is_empty() && matches!(named.kind, MetricKind::Time | MetricKind::Rate);
        if let Some(class) = self.class.as_ref().filter(|_| classed) {
            let own = (!named.qualifier.is_empty()).then(|| format!("{}_", named.qualifier));
            named.qualifier = own.unwrap_or_default() + class;
        }
        self.add_conditions(&mut named);
        for part in self.nested.iter().flatten() {
            let own = std::mem::take(&mut named.qualifier);
            named.qualifier = if own.is_empty() { part.clone() } else { format!("{own}_{part}") };
        }
        if named.kind == MetricKind::Share && named.unit == Unit::One && in_share(token) {
            named.unit = Unit::Fraction;
        }
        // A counter's quotient is a share already.
        if matches!(token.kind, TokenKind::Counter { .. }) {
            (named.unit, named.factor) = (Unit::Fraction, 1.0);
        }
        let value = match &token.kind {
            TokenKind::Number(number) => number.value,
            _ => self.last_value,
        };
        self.push_at(index, place, value, named);
    }

    /// Notes that the number at a place is read under a name.
    pub(super) fn push_at(&mut self, index: usize, place: NumberPlace, value: f64, named: NamedMetric) {
        self.plan.slots.push(Slot {
            place,
            token: index,
            metric: named.name(),
            unit: named.unit.clone(),
            factor: named.factor,
            kind: named.kind,
            known: true,
            averaged: named.averaged,
            when_complete: false,
            inferred: named.inferred,
        });
        self.last = Some(named);
        self.last_value = value;
    }

    pub(super) fn finish(mut self) -> Plan {
        let epochs = self.plan.counters.iter().any(|counter| counter.kind == CounterKind::Epoch);
        let batches = self.plan.counters.iter().any(|counter| counter.within_epoch);
        let steps = self.plan.slots.iter().any(|slot| slot.metric == "step_s");
        if let [time] = self.bare.as_slice()
            && !self.plan.slots.iter().any(|slot| slot.metric == "epoch_s")
            && (epochs && !batches || batches && (steps && self.bar || self.is_epoch_summary()))
        {
            self.plan.slots.push(Slot { when_complete: batches, ..time.clone() });
        }
        self.plan.configuration = is_configuration(self.line);
        let known = self.plan.is_known();
        let counted = !self.plan.counters.is_empty();
        // Sizes and counts say nothing of the unknown words beside them: `cc: [6.1]; Total memory: [4294967296]`.
        let measured = self.plan.slots.iter().any(|slot| {
            slot.known
                && matches!(
                    slot.kind,
                    MetricKind::Value | MetricKind::Share | MetricKind::Time | MetricKind::Rate
                )
        });
        self.plan.slots.retain(|slot| slot.known || measured || counted || !known);
        self.plan.slots.retain(|slot| slot.kind != MetricKind::Knob || known || counted);
        // `loss=0.126, avg_loss=0.128`: beside the number of a step the mean is another one.
        for place in 1..self.plan.slots.len() {
            let (before, behind) = self.plan.slots.split_at_mut(place);
            if let Some(slot) = behind.first_mut().filter(|slot| slot.averaged)
                && before.iter().any(|other| other.metric == slot.metric && !other.averaged)
            {
                slot.metric.push_str(".mean");
            }
        }
        // One name, one number: the first of a line counts.
        let mut seen: Vec<String> = Vec::new();
        self.plan.slots.retain(|slot| {
            let fresh = !seen.contains(&slot.metric);
            seen.push(slot.metric.clone());
            fresh
        });
        self.plan
    }

    /// `19/19 - 12s - loss: 0.35`: a time between dashes behind the batches of an epoch is that of the epoch.
    pub(super) fn is_epoch_summary(&self) -> bool {
        let kinds: Vec<_> = self.line.tokens.iter().take(4).map(|token| &token.kind).collect();
        matches!(
            kinds.as_slice(),
            [
                TokenKind::Counter { .. },
                TokenKind::Sign(b'-'),
                TokenKind::Number(_) | TokenKind::Clock { .. },
                TokenKind::Sign(b'-')
            ]
        )
    }
}
