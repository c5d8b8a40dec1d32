//! The values of one metric over a run: the first, the last, their sum, and a series that stays small.

use assay_model::{Keep, Observation, Origin, Scope, Series, Source, Unit};

use crate::clock::Stamp;

/// The most values of one series that are kept. Beyond, every second value is dropped and the stride doubled, so a
/// thinned series still spans the whole run.
pub const LONGEST_SERIES: usize = 20_000;

/// One value that a reader found.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    /// The metric's canonical name.
    pub metric: &'a str,
    /// The value in the base unit.
    pub value: f64,
    /// The base unit; that of the canonical metric if none is given.
    pub unit: Option<&'a Unit>,
    /// What it was taken over.
    pub scope: Option<Scope>,
    /// How it came about.
    pub origin: Origin,
    /// The step it belongs to.
    pub step: Option<f64>,
    /// How many it was taken over.
    pub count: Option<f64>,
    /// The seconds it was taken over.
    pub seconds: Option<f64>,
    /// As it was written.
    pub written: Option<&'a str>,
    /// Which of several values is the observation.
    pub keep: Keep,
    /// Whether it stands for the whole run: the observation then, and no part of the series.
    pub whole: bool,
    /// How its name or unit was inferred, where the text beside it does not state it.
    pub inferred: Option<&'static str>,
    /// Whether nobody knows its name, which is the key as written.
    pub unfamiliar: bool,
}

impl<'a> Value<'a> {
    /// A value that evidence reports.
    pub fn reported(metric: &'a str, value: f64) -> Value<'a> {
        Value {
            metric,
            value,
            unit: None,
            scope: None,
            origin: Origin::Reported,
            step: None,
            count: None,
            seconds: None,
            written: None,
            keep: Keep::Last,
            whole: false,
            inferred: None,
            unfamiliar: false,
        }
    }

    /// A value that follows from others.
    pub fn derived(metric: &'a str, value: f64) -> Value<'a> {
        Value { origin: Origin::Derived, ..Value::reported(metric, value) }
    }

    /// At a step.
    pub fn at(self, step: f64) -> Value<'a> {
        Value { step: Some(step), ..self }
    }

    /// Taken over a scope.
    pub fn over(self, scope: Scope) -> Value<'a> {
        Value { scope: Some(scope), ..self }
    }

    /// With the count and seconds it was computed from.
    pub fn counted(self, count: f64, seconds: f64) -> Value<'a> {
        Value { count: Some(count), seconds: Some(seconds), ..self }
    }

    /// As it was written.
    pub fn written(self, written: &'a str) -> Value<'a> {
        Value { written: Some(written), ..self }
    }
}

/// Where a value stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub file: u16,
    pub line: u64,
}

/// The values of one metric.
#[derive(Debug)]
pub(crate) struct Collector {
    pub metric: String,
    /// The reader that found it first; a reader before it in the order takes over.
    pub owner: usize,
    unit: Unit,
    scope: Option<Scope>,
    origin: Origin,
    keep: Keep,
    first: (f64, Place),
    last: (f64, Place),
    count: Option<f64>,
    seconds: Option<f64>,
    written: String,
    sum: f64,
    seen: u64,
    values: Vec<f64>,
    steps: Vec<f64>,
    stamps: Vec<Stamp>,
    stride: u64,
    /// What the evidence states for the whole run, beside the values per step.
    whole: Option<(f64, Place)>,
    inferred: Option<&'static str>,
    unfamiliar: bool,
}

impl Collector {
    pub fn new(found: &Value<'_>, owner: usize, place: Place) -> Collector {
        Collector {
            metric: found.metric.to_owned(),
            owner,
            unit: found.unit.cloned().unwrap_or_else(|| assay_model::names::unit(found.metric)),
            scope: found.scope,
            origin: found.origin,
            keep: found.keep,
            first: (found.value, place),
            last: (found.value, place),
            count: None,
            seconds: None,
            written: String::new(),
            sum: 0.0,
            seen: 0,
            values: Vec::new(),
            steps: Vec::new(),
            stamps: Vec::new(),
            stride: 1,
            whole: None,
            inferred: found.inferred,
            unfamiliar: found.unfamiliar,
        }
    }

    /// Whether it counts or numbers something: a key that nobody knows, with one and the same whole number throughout,
    /// or with one that only rises.
    pub fn is_chatter(&self) -> bool {
        let first = self.first.0;
        let whole = self.unfamiliar && self.values.iter().all(|value| value.fract() == 0.0);
        let rises = self.values.windows(2).all(|pair| matches!(pair, [before, behind] if before < behind));
        whole && (rises && self.values.len() > 2 || self.values.iter().all(|value| *value == first))
    }

    /// Whether what is called the time of an epoch, because it stands beside its number, is the time since the start:
    /// it grows from epoch to epoch, to twice the first and beyond.
    pub fn is_elapsed(&self) -> bool {
        let rises = self.values.windows(2).all(|pair| matches!(pair, [before, behind] if before < behind));
        self.inferred.is_some() && self.values.len() >= 3 && rises && self.last.0 >= 2.0 * self.first.0
    }

    /// Takes one more value; it must be finite.
    pub fn take(&mut self, found: &Value<'_>, place: Place, stamp: Option<Stamp>) {
        self.origin = found.origin;
        if self.unit == Unit::Fraction && found.unit == Some(&Unit::One) {
            self.unit = Unit::One;
        }
        (self.count, self.seconds) = (found.count, found.seconds);
        self.written.clear();
        self.written.push_str(found.written.unwrap_or_default());
        if found.whole {
            self.whole = Some((found.value, place));
            return;
        }
        if self.seen == 0 || self.seen.is_multiple_of(self.stride) {
            self.values.push(found.value);
            self.steps.extend(found.step);
            self.stamps.extend(stamp);
            if self.values.len() > LONGEST_SERIES {
                thin(&mut self.values);
                thin(&mut self.steps);
                thin(&mut self.stamps);
                self.stride *= 2;
            }
        }
        self.seen += 1;
        self.sum += found.value;
        self.last = (found.value, place);
    }

    /// Whether the next value is one that a thinned series would not keep.
    pub fn would_drop(&self, skipped: u64) -> bool {
        // Asked about every line of a long log: the stride is a power of two, so that no division is needed.
        (self.seen + skipped) & (self.stride - 1) != 0
    }

    /// Counts values that were seen and not kept.
    pub fn count(&mut self, skipped: u64) {
        self.seen += skipped;
    }

    /// The value last seen, for live display.
    pub fn latest(&self) -> f64 {
        self.last.0
    }

    /// The unit.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// The step of the value last kept.
    pub fn step(&self) -> Option<f64> {
        self.steps.last().copied()
    }

    /// The observation that was asked for, with its source.
    pub fn observation(&self, files: &[String]) -> Option<Observation> {
        let (value, place, origin) = match (self.whole, self.keep) {
            (Some((value, place)), _) => (value, place, self.origin),
            (None, Keep::First) => (self.first.0, self.first.1, self.origin),
            (None, Keep::Last) => (self.last.0, self.last.1, self.origin),
            (None, Keep::Sum) => (self.sum, self.last.1, Origin::Derived),
            (None, Keep::Series) => return None,
        };
        Some(Observation {
            scope: self.scope,
            source: Some(source(place, files)),
            count: self.count,
            seconds: self.seconds,
            written: (!self.written.is_empty()).then(|| self.written.clone()),
            inferred: self.inferred.map(str::to_owned),
            ..Observation::new(&self.metric, value, self.unit.clone(), origin)
        })
    }

    /// The series, for more than one value.
    pub fn series(&self, files: &[String], began: Option<Stamp>) -> Option<Series> {
        if self.seen < 2 && self.keep != Keep::Series {
            return None;
        }
        let whole = self.steps.len() == self.values.len();
        let timed = self.stamps.len() == self.values.len();
        Some(Series {
            metric: self.metric.clone(),
            unit: self.unit.clone(),
            values: self.values.clone(),
            seen: self.seen,
            steps: if whole { self.steps.clone() } else { Vec::new() },
            at_s: match began {
                Some(began) if timed => self.stamps.iter().map(|stamp| stamp.after(began)).collect(),
                _ => Vec::new(),
            },
            source: Some(source(self.first.1, files)),
        })
    }
}

/// Drops every second entry, if there is one for each value.
fn thin<T>(entries: &mut Vec<T>) {
    let mut position = 0;
    entries.retain(|_| {
        position += 1;
        position % 2 == 1
    });
}

/// A place as evidence is cited.
pub(crate) fn source(place: Place, files: &[String]) -> Source {
    Source::new(files.get(usize::from(place.file)).cloned().unwrap_or_default(), place.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_series_are_thinned_and_keep_their_count() {
        let place = Place { file: 0, line: 1 };
        let mut collector = Collector::new(&Value::reported("loss", 0.0), 0, place);
        for step in 0..100_000 {
            let value = f64::from(step);
            collector.take(&Value::reported("loss", value).at(value), place, None);
        }
        let series = collector.series(&["a.log".into()], None).unwrap();
        assert_eq!(series.seen, 100_000);
        assert!(series.values.len() <= LONGEST_SERIES);
        assert_eq!(series.values, series.steps);
        assert!(series.values.windows(2).all(|pair| pair[1] - pair[0] == series.values[1]));
    }
}
