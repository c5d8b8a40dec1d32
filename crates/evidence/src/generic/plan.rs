//! A plan: which numbers of a line's shape are read, and what each of them is. Made once for a shape, used for every
//! line of it.

use std::sync::Arc;

use assay_model::Unit;

use super::naming::LineContext;
use super::table::TableHeader;
use super::tokens::span;
use crate::text::{clock_seconds, number};
use crate::vocabulary::{CounterKind, MetricKind};

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NumberForm {
    Plain,
    /// `1:02:03`.
    Clock,
    /// `3 minutes and 20.5 seconds`.
    Span,
    /// `0,6931`.
    Comma,
    /// `98/100`: the run of digits that the number below the line begins with.
    Ratio(usize),
}

/// Where a number stands in every line of a shape: its run of digits, counted from the start of the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberPlace {
    pub run: usize,
    pub negative: bool,
    pub form: NumberForm,
}

impl NumberPlace {
    /// The number in a line of the shape, and its text.
    pub fn read<'a>(&self, text: &'a str, runs: &[u32]) -> Option<(f64, &'a str)> {
        let start = *runs.get(self.run)? as usize;
        let rest = text.get(start..)?;
        let (value, behind) = match self.form {
            NumberForm::Clock => {
                let end =
                    rest.find(|letter: char| !(letter.is_ascii_digit() || letter == ':' || letter == '.'));
                let written = rest.get(..end.unwrap_or(rest.len()))?;
                (clock_seconds(written)?, rest.get(written.len()..)?)
            }
            NumberForm::Span => {
                let (seconds, length) = span(rest)?;
                (seconds, rest.get(length..)?)
            }
            NumberForm::Comma => with_comma(rest)?,
            NumberForm::Plain | NumberForm::Ratio(_) => number(rest)?,
        };
        let value = match self.form {
            NumberForm::Ratio(below) => value / number(text.get(*runs.get(below)? as usize..)?)?.0,
            _ if self.negative => -value,
            _ => value,
        };
        let start = start - usize::from(self.negative);
        let unit = behind.find([' ', ',', '|', ')', ']', '}', '\t']).unwrap_or(behind.len()).min(12);
        // Of `0.91/0.88` each number was written for itself.
        let unit = if behind.starts_with('/')
            && behind.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
            && !matches!(self.form, NumberForm::Ratio(_))
        {
            0
        } else {
            unit
        };
        let end = text.len() - behind.len() + unit;
        value.is_finite().then(|| (value, text.get(start..end).unwrap_or_default()))
    }

    /// The number below the line of a counter.
    pub fn below(&self, text: &str, runs: &[u32]) -> Option<f64> {
        let NumberForm::Ratio(below) = self.form else { return None };
        number(text.get(*runs.get(below)? as usize..)?).map(|(value, _)| value)
    }

    /// The number above the line of a counter, or the number itself.
    pub fn above(&self, text: &str, runs: &[u32]) -> Option<f64> {
        number(text.get(*runs.get(self.run)? as usize..)?).map(|(value, _)| value)
    }
}

/// A number with a comma before its decimals, and what stands behind it.
fn with_comma(text: &str) -> Option<(f64, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let decimals = text.get(whole..)?.strip_prefix(',').map_or(0, digits);
    let end = if decimals == 0 { whole } else { whole + 1 + decimals };
    let value = text.get(..end)?.replace(',', ".").parse().ok()?;
    Some((value, text.get(end..)?))
}

/// One number that becomes a value of a metric.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub place: NumberPlace,
    /// Which token of the line it is.
    pub token: usize,
    pub metric: String,
    pub unit: Unit,
    pub factor: f64,
    pub kind: MetricKind,
    /// Whether the vocabulary knows it.
    pub known: bool,
    /// Whether the words beside it call it a mean.
    pub averaged: bool,
    /// Read only where the line's counter is complete.
    pub when_complete: bool,
    pub inferred: Option<&'static str>,
}

/// A counter of the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CounterSlot {
    pub kind: CounterKind,
    pub place: NumberPlace,
    /// Whether it starts again with every epoch, as batches do.
    pub within_epoch: bool,
}

/// What is read from lines of one shape.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub slots: Vec<Slot>,
    pub counters: Vec<CounterSlot>,
    /// The line states a loss that is not a number.
    pub diverged: bool,
    /// The line lists settings.
    pub configuration: bool,
    /// The line is a rule of signs.
    pub rule: bool,
    /// The line is a banner: what it says.
    pub banner: Option<String>,
    /// The line is a header: what stands below it are its rows.
    pub header: Option<Arc<TableHeader>>,
    /// The column names of such a line as written.
    pub names: String,
    /// The line is a heading: what it says about the lines below it.
    pub heading: Option<LineContext>,
    /// Counters that begin another part of the line: their runs of digits, and the words before these.
    pub pieces: Vec<(usize, String)>,
    /// Runs of digits that belong to a name, such as the one in `p99`: lines that differ in them say different things.
    pub fixed: Vec<usize>,
}

impl Plan {
    /// Notes that the digits of a token belong to a name.
    pub fn fix(&mut self, runs: impl Iterator<Item = usize>) {
        for run in runs {
            if !self.fixed.contains(&run) {
                self.fixed.push(run);
            }
        }
    }

    pub fn is_known(&self) -> bool {
        self.slots.iter().any(|slot| slot.known && slot.kind != MetricKind::Knob)
    }
}
