//! Puts a name together from the phrase that names a metric, the words around it and a printed unit.

use assay_model::Unit;

use super::file::{Better, MetricEntry};
use super::phrases::Remaining;
use super::rates::{FLOWS, rate_in_words, rate_name};
use super::{MetricKind, NamedMetric, PrintedUnit, Vocabulary, words};

/// More unknown words beside a metric's word than this are a sentence.
const MOST_QUALIFIERS: usize = 4;

impl Vocabulary {
    /// The same for words that are cut already.
    pub fn metric_of_words(&self, spoken: &[String], unit: Option<&PrintedUnit>) -> Option<NamedMetric> {
        let found = self.find(spoken);
        let mut rest = Remaining::default();
        let matched = found.as_ref().map_or(0..0, |found| found.at.clone());
        self.sort(spoken, &matched, &mut rest);
        if rest.qualifiers.len() > MOST_QUALIFIERS {
            return None;
        }
        if rest.qualifiers.iter().any(|word| self.budgets.contains(word)) {
            return None;
        }
        let entry = found.as_ref().and_then(|found| self.metrics.get(found.metric));
        // `param_noise_stddev` counts no parameters: what is counted stands last.
        let behind = spoken.get(matched.end..).unwrap_or_default();
        let counted = entry.is_some_and(|entry| entry.kind == MetricKind::Count);
        if counted && behind.iter().any(|word| rest.qualifiers.contains(word)) {
            return None;
        }
        // `Data 0.2s` is the time of the data, though the word says nothing of an accuracy.
        let vague = entry.is_none_or(|entry| entry.kind == MetricKind::Time);
        if vague && rest.qualifiers.is_empty() && spoken.iter().any(|word| word == "data") {
            rest.qualifiers.push("data".to_owned());
        }
        let noun = spoken.get(matched).unwrap_or_default();
        // A bare `power` is an exponent as often as a draw of watts.
        let physical =
            entry.is_some_and(|entry| matches!(entry.kind, MetricKind::Power | MetricKind::Energy));
        if physical && unit.is_none() && spoken.len() == 1 {
            return None;
        }
        // `truncation_rate=0.17` is a share of something; only what flows has a speed.
        let is_speed = |word: &String| FLOWS.contains(&word.as_str());
        if unit.is_none()
            && noun == ["rate"]
            && !rest.qualifiers.is_empty()
            && !rest.qualifiers.iter().any(is_speed)
        {
            return None;
        }
        // `documents_per_second`: words that are a rate, of whatever it is.
        if let (None, None, Some(rate)) = (entry, unit, rate_in_words(spoken)) {
            return self.by_unit(None, noun, Remaining::default(), &rate);
        }
        match unit {
            Some(unit) if unit.is_telling() && unit.unit != Unit::Fraction => {
                self.by_unit(entry, noun, rest, unit)
            }
            _ => self.by_words(entry?, rest, unit),
        }
    }

    fn by_words(
        &self,
        entry: &MetricEntry,
        rest: Remaining,
        unit: Option<&PrintedUnit>,
    ) -> Option<NamedMetric> {
        let (mut base_unit, mut factor) = Unit::parse(&entry.unit);
        if let Some(printed) = unit {
            let fits = match entry.kind {
                MetricKind::Power => printed.unit == Unit::Other("W".to_owned()),
                MetricKind::Energy => printed.unit == Unit::Other("J".to_owned()),
                MetricKind::Time | MetricKind::Memory => false,
                // `Rate  90.0%` is a share of something.
                MetricKind::Rate => printed.unit != Unit::Fraction,
                _ => true,
            };
            if !fits {
                return None;
            }
            if matches!(printed.unit, Unit::Fraction | Unit::Count(_)) {
                (base_unit, factor) = (printed.unit.clone(), printed.factor);
            }
        }
        Some(self.put_together(entry, rest, base_unit, factor))
    }

    fn put_together(&self, entry: &MetricEntry, rest: Remaining, unit: Unit, factor: f64) -> NamedMetric {
        let mut metric = NamedMetric {
            base: entry.name.clone(),
            split: rest.split,
            qualifier: rest.qualifiers.join("_"),
            statistic: rest.statistic,
            kind: entry.kind,
            better: entry.better.map(Better::direction),
            unit,
            factor,
            averaged: false,
            inferred: None,
        };
        let mean = metric.statistic.as_deref() == Some("mean");
        // Every loss and every accuracy that is printed is a mean over something.
        if mean && matches!(entry.kind, MetricKind::Value | MetricKind::Share) {
            metric.statistic = None;
            metric.averaged = true;
        }
        // An overall accuracy is no sum.
        if metric.kind == MetricKind::Share && metric.statistic.as_deref() == Some("total") {
            metric.statistic = None;
        }
        if metric.base == "memory" && metric.statistic.as_deref() == Some("max") {
            metric.statistic = Some("peak".to_owned());
        }
        metric
    }

    /// A unit of time, rate or memory says what the number is; words that do not fit it qualify it.
    fn by_unit(
        &self,
        entry: Option<&MetricEntry>,
        noun: &[String],
        mut rest: Remaining,
        printed: &PrintedUnit,
    ) -> Option<NamedMetric> {
        let (unit, factor) = (printed.unit.clone(), printed.factor);
        let kind = match &unit {
            Unit::Seconds => MetricKind::Time,
            Unit::Bytes => MetricKind::Memory,
            Unit::Count(_) => MetricKind::Count,
            _ => MetricKind::Rate,
        };
        if entry.is_some_and(|entry| entry.kind == MetricKind::Ignore) {
            return entry.map(|entry| self.put_together(entry, rest, unit, factor));
        }
        let (base, keeps_noun) = match (&unit, &printed.per) {
            (Unit::Seconds, Some(thing)) => (
                match thing.as_str() {
                    "step" => "step_s".to_owned(),
                    "epoch" => "epoch_s".to_owned(),
                    other => format!("latency.per_{other}"),
                },
                entry.is_some_and(|entry| entry.kind != MetricKind::Time && entry.name != "throughput"),
            ),
            (Unit::PerSecond(thing), per) => {
                let name = rate_name(thing, noun, &mut rest);
                rest.qualifiers.retain(|word| Some(word) != per.as_ref());
                rest.qualifiers.extend(per.clone());
                (name, false)
            }
            (Unit::Bytes, Some(thing)) => (format!("memory.per_{thing}"), false),
            (Unit::Count(counted), Some(thing)) => (format!("{counted}.per_{thing}"), false),
            _ => match entry {
                Some(entry) if entry.kind == kind => (entry.name.clone(), false),
                // `GPU 296.2 MB`.
                None if kind == MetricKind::Memory && rest.qualifiers == ["gpu"] => {
                    ("memory".to_owned(), false)
                }
                Some(_) if kind == MetricKind::Memory => return None,
                _ if kind == MetricKind::Memory => return None,
                _ => ("duration".to_owned(), true),
            },
        };
        if keeps_noun {
            let start = noun.iter().filter(|word| *word != "time").cloned();
            rest.qualifiers.extend(start);
        }
        let entry = MetricEntry {
            name: base,
            better: Some(if kind == MetricKind::Rate { Better::Higher } else { Better::Lower }),
            kind,
            unit: String::new(),
            words: Vec::new(),
            foreign: Vec::new(),
        };
        Some(self.put_together(&entry, rest, unit, factor))
    }

    /// The one metric that a caption is about; none where it names several. Its other words say what was compared.
    pub fn topic(&self, phrase: &str, unit: Option<&PrintedUnit>) -> Option<NamedMetric> {
        let spoken = words(phrase);
        let found = self.find(&spoken)?;
        let entry = self.metrics.get(found.metric)?;
        let others = [spoken.get(..found.at.start), spoken.get(found.at.end..)];
        let several = others.into_iter().flatten().filter_map(|rest| self.find(rest)).any(|other| {
            self.metrics.get(other.metric).is_some_and(|other| {
                other.name != entry.name && !matches!(other.kind, MetricKind::Count | MetricKind::Ignore)
            })
        });
        let vague = matches!(entry.kind, MetricKind::Ignore | MetricKind::Knob);
        if several || vague {
            return None;
        }
        let mut rest = Remaining::default();
        self.sort(&spoken, &found.at, &mut rest);
        let noun = spoken.get(found.at).unwrap_or_default();
        let kept = Remaining { qualifiers: Vec::new(), ..rest };
        let named = match unit.filter(|unit| unit.is_telling() && unit.unit != Unit::Fraction) {
            Some(unit) => self.by_unit(Some(entry), noun, kept, unit),
            None => self.by_words(entry, kept, unit),
        };
        named.map(|named| NamedMetric {
            qualifier: String::new(),
            inferred: Some("named by the caption"),
            ..named
        })
    }
}
