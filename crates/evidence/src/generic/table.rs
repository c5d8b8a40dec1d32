//! Rows of numbers under a line of column names.

use assay_model::Unit;

use super::naming::NumberedLine;
use super::plan::{CounterSlot, NumberForm, Plan, Slot};
use super::tokens::{NumberToken, Token, TokenKind, scale_of};
use crate::vocabulary::{CounterKind, MetricKind, PrintedUnit, Split, Vocabulary, split_unit, words};

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
            known += usize::from(column.counter.is_some() || name(&column.text, vocabulary).is_some());
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
        let label = label.join("_");
        for (column, token) in columns.iter().zip(values) {
            self.cell(column, token, &label, line, split, vocabulary, &mut plan);
        }
        plan.is_known().then_some(plan)
    }

    #[expect(clippy::too_many_arguments, reason = "one call, all of it needed")]
    fn cell(
        &self,
        column: &Column,
        token: &Token,
        label: &str,
        line: &NumberedLine<'_>,
        split: Option<Split>,
        vocabulary: &Vocabulary,
        plan: &mut Plan,
    ) -> Option<()> {
        let place = line.place(token)?;
        if let Some(kind) = column.counter.filter(|_| !matches!(token.kind, TokenKind::Clock { .. })) {
            plan.counters.push(CounterSlot { kind, place, within_epoch: false });
            return Some(());
        }
        let (phrase, header_unit) = split_unit(&column.text);
        let (printed, suffix) = match &token.kind {
            TokenKind::Number(NumberToken { unit, suffix, .. }) => (unit.clone().or(header_unit), *suffix),
            TokenKind::Clock { .. } => (PrintedUnit::parse("s"), None),
            _ => (header_unit, None),
        };
        let spoken = words(&phrase);
        let memory = spoken.iter().any(|word| word.contains("mem"));
        let printed = match (printed, suffix) {
            (None, Some(b'G')) if memory => PrintedUnit::parse("GB"),
            (None, Some(b'M')) if memory => PrintedUnit::parse("MB"),
            (printed, _) => printed,
        };
        let metric = short_name(&phrase)
            .and_then(|name| vocabulary.metric(name, None))
            .or_else(|| vocabulary.metric_of_words(&spoken, printed.as_ref()));
        let known = metric.is_some();
        let slug = spoken.join("_");
        let mut named = match metric {
            Some(named) if named.kind == MetricKind::Ignore => return None,
            Some(named) => named,
            None if slug.is_empty() => return None,
            None => {
                let (unit, factor) =
                    printed.map_or((Unit::One, 1.0), |printed| (printed.unit, printed.factor));
                let metric = if label.is_empty() { slug } else { format!("{slug}.{label}") };
                let slot = Slot {
                    place,
                    metric,
                    unit,
                    factor,
                    kind: MetricKind::Value,
                    known: false,
                    when_complete: false,
                    inferred: None,
                };
                plan.slots.push(slot);
                return Some(());
            }
        };
        if printed_is_none_scale(&token.kind) {
            named.factor *= suffix.map_or(1.0, scale_of);
        }
        if matches!(named.kind, MetricKind::Value | MetricKind::Share) {
            named.split = named.split.or(split);
        }
        if named.kind == MetricKind::Share
            && named.unit == Unit::One
            && matches!(&token.kind, TokenKind::Number(number) if (0.0..=1.0).contains(&number.value))
        {
            named.unit = Unit::Fraction;
        }
        if !label.is_empty() && label != "all" {
            named.qualifier = if named.qualifier.is_empty() {
                label.to_owned()
            } else {
                format!("{}_{label}", named.qualifier)
            };
        }
        let form_is_ratio = matches!(place.form, NumberForm::Ratio(_));
        if form_is_ratio {
            return None;
        }
        plan.slots.push(Slot {
            place,
            metric: named.name(),
            unit: named.unit.clone(),
            factor: named.factor,
            kind: named.kind,
            known,
            when_complete: false,
            inferred: Some("named by the column header"),
        });
        Some(())
    }
}

fn printed_is_none_scale(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::Number(number) if number.unit.is_none() && number.suffix.is_some_and(|letter| letter != b'm'))
}

/// Letters that only a column header may use.
fn short_name(text: &str) -> Option<&'static str> {
    match text.trim() {
        "P" => Some("precision"),
        "R" => Some("recall"),
        _ => None,
    }
}

fn name(text: &str, vocabulary: &Vocabulary) -> Option<String> {
    let (phrase, unit) = split_unit(text);
    vocabulary.metric(&phrase, unit.as_ref()).map(|named| named.name())
}
