//! Rows of numbers under a line of column names.

use assay_model::Unit;

use super::naming::{NumberedLine, in_share, suffix_unit};
use super::plan::{CounterSlot, NumberForm, NumberPlace, Plan, Slot};
use super::tokens::{Token, TokenKind, scale_of};
use crate::vocabulary::{
    CounterKind, MetricKind, NamedMetric, PrintedUnit, Split, Vocabulary, split_unit, words,
};

/// Column names and what they mean.
#[derive(Debug, Clone, Default)]
pub(super) struct TableHeader {
    columns: Vec<Column>,
    /// Which header of the stream it is, so that plans are not shared between tables.
    pub number: u64,
}

#[derive(Debug, Clone)]
struct Column {
    text: String,
    counter: Option<CounterKind>,
}

/// The fewest columns of a table.
const FEWEST: usize = 3;

impl TableHeader {
    /// The column names of a line, if it is nothing but column names; what a bar appends behind them does not count.
    pub fn read(line: &NumberedLine<'_>, vocabulary: &Vocabulary) -> Option<TableHeader> {
        let mut columns: Vec<Column> = Vec::new();
        let mut open = false;
        for token in line.tokens {
            match token.kind {
                TokenKind::Word => {
                    let text = line.text.get(token.start..token.end)?;
                    // A single blank joins words only where wider gaps part the columns.
                    if open && (token.gap == 0 || token.gap == 1 && line.text.contains("  ")) {
                        let last = columns.last_mut()?;
                        last.text.push(' ');
                        last.text.push_str(text);
                    } else {
                        columns.push(Column { text: text.to_owned(), counter: None });
                    }
                    open = true;
                }
                TokenKind::Pipe => open = false,
                TokenKind::Sign(b'(' | b')' | b'/' | b'%' | b'#' | b'@') => {}
                TokenKind::Sign(b':') if columns.len() >= FEWEST => break,
                TokenKind::Bar if columns.is_empty() => {}
                _ => return None,
            }
        }
        if columns.len() < FEWEST || columns.len() > 40 {
            return None;
        }
        let mut known = 0;
        for column in &mut columns {
            column.counter = vocabulary.counter(&column.text);
            let (phrase, unit) = split_unit(&column.text);
            let named = header_metric(&phrase, unit.as_ref(), vocabulary).is_some();
            known += usize::from(column.counter.is_some() || named);
        }
        let short = columns.iter().all(|column| column.text.len() <= 32);
        let enough = known >= 2 && known * 3 >= columns.len();
        (short && enough).then_some(TableHeader { columns, number: 0 })
    }

    /// The plan of a row under this header; none if the line is no row of it.
    pub fn row(
        &self,
        line: &NumberedLine<'_>,
        split: Option<Split>,
        vocabulary: &Vocabulary,
    ) -> Option<Plan> {
        let mut label = Vec::new();
        let mut values: Vec<&Token> = Vec::new();
        for token in line.tokens {
            match &token.kind {
                TokenKind::Word if values.is_empty() => {
                    label.extend(words(line.text.get(token.start..token.end)?))
                }
                TokenKind::Number(_) | TokenKind::Counter { .. } | TokenKind::Clock { .. } => {
                    values.push(token)
                }
                TokenKind::Pipe => {}
                _ if values.len() >= self.columns.len().saturating_sub(1) => break,
                _ => return None,
            }
        }
        if values.len() < 2 || label.len() > 4 {
            return None;
        }
        let columns = match (label.is_empty(), values.len().cmp(&self.columns.len())) {
            (true, std::cmp::Ordering::Less) => return None,
            (true, _) => self.columns.as_slice(),
            (false, std::cmp::Ordering::Equal) => self.columns.as_slice(),
            (false, _) if values.len() + 1 >= self.columns.len() => self.columns.get(1..)?,
            _ => return None,
        };
        let mut plan = Plan::default();
        let row = Row { line, label: label.join("_"), split, vocabulary };
        for (column, token) in columns.iter().zip(values) {
            row.cell(column, token, &mut plan);
        }
        plan.is_known().then_some(plan)
    }
}

/// A line of numbers under a header.
struct Row<'a> {
    line: &'a NumberedLine<'a>,
    /// The words before its first number.
    label: String,
    split: Option<Split>,
    vocabulary: &'a Vocabulary,
}

impl Row<'_> {
    /// Reads one cell; none where it holds nothing to keep.
    fn cell(&self, column: &Column, token: &Token, plan: &mut Plan) -> Option<()> {
        let place = self.line.place(token)?;
        if let Some(kind) = column.counter.filter(|_| !matches!(token.kind, TokenKind::Clock { .. })) {
            plan.counters.push(CounterSlot { kind, place, within_epoch: false });
            return Some(());
        }
        if matches!(place.form, NumberForm::Ratio(_)) {
            return None;
        }
        let (phrase, header_unit) = split_unit(&column.text);
        let spoken = words(&phrase);
        let (printed, scale) = match &token.kind {
            TokenKind::Number(number) => match number.unit.clone().or_else(|| suffix_unit(number, &spoken)) {
                Some(unit) => (Some(unit), 1.0),
                None => (header_unit, number.suffix.map_or(1.0, scale_of)),
            },
            TokenKind::Clock { .. } => (PrintedUnit::parse("s"), 1.0),
            _ => (header_unit, 1.0),
        };
        let metric = header_metric(&phrase, printed.as_ref(), self.vocabulary);
        let mut slot = match metric {
            Some(named) if named.kind == MetricKind::Ignore => return None,
            Some(named) => self.known(named, token, place),
            None => self.unknown(&spoken, printed, place)?,
        };
        slot.factor *= scale;
        plan.slots.push(slot);
        Some(())
    }

    fn known(&self, mut named: NamedMetric, token: &Token, place: NumberPlace) -> Slot {
        if matches!(named.kind, MetricKind::Value | MetricKind::Share) {
            named.split = named.split.or(self.split);
        }
        if named.kind == MetricKind::Share && named.unit == Unit::One && in_share(token) {
            named.unit = Unit::Fraction;
        }
        if !self.label.is_empty() && self.label != "all" {
            named.qualifier = if named.qualifier.is_empty() {
                self.label.clone()
            } else {
                format!("{}_{}", named.qualifier, self.label)
            };
        }
        Slot {
            place,
            token: usize::MAX,
            metric: named.name(),
            unit: named.unit,
            factor: named.factor,
            kind: named.kind,
            known: true,
            when_complete: false,
            inferred: Some("named by the column header"),
        }
    }

    /// A column that nobody knows keeps its own words, unless they name a setting.
    fn unknown(&self, spoken: &[String], printed: Option<PrintedUnit>, place: NumberPlace) -> Option<Slot> {
        let slug = spoken.join("_");
        if slug.is_empty() || self.vocabulary.is_budget(spoken) {
            return None;
        }
        let (unit, factor) = printed.map_or((Unit::One, 1.0), |printed| (printed.unit, printed.factor));
        Some(Slot {
            place,
            token: usize::MAX,
            metric: if self.label.is_empty() || self.label == "all" {
                slug
            } else {
                format!("{slug}.{}", self.label)
            },
            unit,
            factor,
            kind: MetricKind::Value,
            known: false,
            when_complete: false,
            inferred: None,
        })
    }
}

/// The metric that a header names; letters that only a header may use are tried first.
fn header_metric(
    phrase: &str,
    printed: Option<&PrintedUnit>,
    vocabulary: &Vocabulary,
) -> Option<NamedMetric> {
    let spelled = match phrase.trim() {
        // Detectors print `Box(P R mAP50)`: the first of a group in parentheses comes with the group's name.
        "P" | "Box P" | "Mask P" | "Pose P" => "precision",
        "R" => "recall",
        _ => phrase,
    };
    vocabulary.metric_of_words(&words(spelled), printed)
}
