//! Rows of numbers under a line of column names.

use assay_model::Unit;

mod heads;

use super::naming::{LineContext, NumberedLine, in_share, suffix_unit};
use super::plan::{CounterSlot, NumberForm, NumberPlace, Plan, Slot};
use super::tokens::{Token, TokenKind, scale_of};
use crate::clock::is_moment;
use crate::vocabulary::{
    CounterKind, MetricKind, NamedMetric, PrintedUnit, Split, Vocabulary, split_unit, words,
};

/// Column names and what they mean.
#[derive(Debug, Clone, Default)]
pub(super) struct TableHeader {
    columns: Vec<Column>,
    /// The same with every word a column, for rows that have as many cells.
    words: Option<Box<TableHeader>>,
    /// Which header of the stream it is, so that plans are not shared between tables.
    pub number: u64,
}

#[derive(Debug, Clone)]
struct Column {
    text: String,
    counter: Option<CounterKind>,
    /// Where its name begins in the header's line.
    start: usize,
}

/// The fewest columns of a table.
const FEWEST: usize = 3;

impl TableHeader {
    /// The column names of a line, if it is nothing but column names; what a bar appends behind them does not count.
    /// `above` is the line above it, if that holds no numbers.
    pub fn read(
        line: &NumberedLine<'_>,
        above: &str,
        context: &LineContext,
        vocabulary: &Vocabulary,
    ) -> Option<TableHeader> {
        let joined = column_names(line, true)?;
        // `Transfer Size (Bytes)   Bandwidth(GB/s)`.
        let sized = matches!(joined.as_slice(), [size, rate]
            if words(&size.text).contains(&"size".to_owned())
                && split_unit(&rate.text).1.is_some_and(|unit| unit.is_telling()));
        let commented = sized || line.tokens.first().is_some_and(|token| token.kind == TokenKind::Sign(b'#'));
        let apart = column_names(line, false).filter(|apart| apart.len() > joined.len());
        let named = |columns| TableHeader::of(columns, commented, above, context, vocabulary);
        let words = apart.and_then(named).map(Box::new);
        Some(TableHeader { words, ..named(joined)? })
    }

    fn of(
        mut columns: Vec<Column>,
        commented: bool,
        above: &str,
        context: &LineContext,
        vocabulary: &Vocabulary,
    ) -> Option<TableHeader> {
        // A comment sign before column names makes two of them a header.
        if columns.len() < (if commented { 2 } else { FEWEST }) || columns.len() > 40 {
            return None;
        }
        // Detectors print `Box(P R mAP50)`: side by side these letters are precision and recall.
        let pair =
            columns.iter().position(|column| column.text == "R").and_then(|place| place.checked_sub(1));
        if let Some(pair) = pair.and_then(|place| columns.get_mut(place..place + 2))
            && let [precision, recall] = pair
            && matches!(precision.text.as_str(), "P" | "Box P" | "Mask P" | "Pose P")
        {
            precision.text = "precision".to_owned();
            recall.text = "recall".to_owned();
        }
        heads::name_groups(&mut columns, above);
        heads::name_statistics(&mut columns, above, context, vocabulary);
        let mut known = 0;
        for column in &mut columns {
            column.counter = vocabulary.counter(&column.text);
            let (phrase, unit) = split_unit(&column.text);
            let named = header_metric(&phrase, unit.as_ref(), vocabulary).is_some();
            known += usize::from(column.counter.is_some() || named);
        }
        // Benchmarks of communication step through sizes.
        if let Some(first) = columns.first_mut().filter(|first| {
            commented && matches!(words(&first.text).last().map(String::as_str), Some("size" | "byte"))
        }) {
            first.counter = Some(CounterKind::Step);
            known += 1;
        }
        let short = columns.iter().all(|column| column.text.len() <= 32);
        let enough = known >= 2 && known * 5 >= columns.len();
        (short && enough).then_some(TableHeader { columns, words: None, number: 0 })
    }

    /// The same header with the units that the line below it states.
    pub fn with_units(&self, text: &str) -> Option<TableHeader> {
        let columns = heads::with_units(&self.columns, text)?;
        let words = self.words.as_ref().and_then(|words| words.with_units(text)).map(Box::new);
        Some(TableHeader { columns, words, number: self.number })
    }

    /// The plan of a row under this header; none if the line is no row of it.
    pub fn row(
        &self,
        line: &NumberedLine<'_>,
        split: Option<Split>,
        vocabulary: &Vocabulary,
    ) -> Option<Plan> {
        if let Some(words) = &self.words
            && words.cells(line).is_some_and(|cells| cells.len() == words.columns.len())
            && self.cells_by_gaps(line).is_none()
        {
            return words.row(line, split, vocabulary);
        }
        let cells = match self.cells(line) {
            Some(cells) if cells.len() == self.columns.len() => cells,
            cells => self.cells_by_gaps(line).or(cells)?,
        };
        let numbered = self.row_number(&cells);
        let first = cells.first().cloned();
        let label = match &first {
            // However many words it has: `BenchmarkDecodeAll/small` is one label.
            Some(Cell::Words(label)) if label.len() > 4 && self.is_one_token(line) => vec![label.join("_")],
            Some(Cell::Words(label)) => without_average(label),
            Some(Cell::Value(token)) if numbered == Some(RowNumber::Class) => {
                vec!["class".to_owned(), line.slice(token).to_owned()]
            }
            _ => Vec::new(),
        };
        let values = cells.iter().filter(|cell| matches!(cell, Cell::Value(_))).count();
        if values < 2 && self.columns.len() > 2 || values == 0 || label.len() > 4 {
            return None;
        }
        // A row may have a label that no column stands over, or lack one that a column stands over.
        let start = self.columns.first().map_or(0, |column| column.start);
        let words = line.tokens.iter().take_while(|token| token.kind == TokenKind::Word);
        let outside = !label.is_empty() && words.last().is_some_and(|last| last.end < start);
        let (columns, cells) = match (label.is_empty(), cells.len().cmp(&self.columns.len())) {
            (_, std::cmp::Ordering::Equal) if outside => (self.columns.as_slice(), cells.get(1..)?),
            (_, std::cmp::Ordering::Greater) if numbered.is_some() => {
                (self.columns.as_slice(), cells.get(1..)?)
            }
            (_, std::cmp::Ordering::Equal) | (true, std::cmp::Ordering::Greater) => {
                (self.columns.as_slice(), cells.as_slice())
            }
            (false, std::cmp::Ordering::Greater) if cells.len() == self.columns.len() + 1 => {
                (self.columns.as_slice(), cells.get(1..)?)
            }
            _ => return None,
        };
        let mut plan = Plan::default();
        if let (Some(number), Some(Cell::Value(token))) = (numbered, &first)
            && let Some(place) = line.place(token)
        {
            match number {
                RowNumber::Class => plan.fix(std::iter::once(place.run)),
                RowNumber::Step => {
                    plan.counters.push(CounterSlot { kind: CounterKind::Step, place, within_epoch: false })
                }
                RowNumber::Index => {}
            }
        } else if !label.is_empty() {
            let words = line.tokens.iter().take_while(|token| !matches!(token.kind, TokenKind::Number(_)));
            plan.fix(line.runs_in(0, words.count()));
        }
        let row = Row { line, label: label.join("_"), split, vocabulary, unit: self.unit_of_row(line) };
        for (column, cell) in columns.iter().zip(cells) {
            if let Cell::Value(token) = cell {
                row.cell(column, token, &mut plan);
            }
        }
        // Of columns with one name, such as those of two passes, the first counts.
        let mut seen: Vec<String> = Vec::new();
        plan.slots.retain(|slot| {
            let fresh = !seen.contains(&slot.metric);
            seen.push(slot.metric.clone());
            fresh
        });
        plan.is_known().then_some(plan)
    }

    /// What the number before the first column is, if there is one.
    fn row_number(&self, cells: &[Cell<'_>]) -> Option<RowNumber> {
        let Some(Cell::Value(token)) = cells.first() else { return None };
        let whole = matches!(&token.kind, TokenKind::Number(number) if number.whole);
        let start = self.columns.first()?.start;
        if !whole || token.end > start || cells.len() != self.columns.len() + 1 {
            return None;
        }
        let named = |word: &str| self.columns.iter().any(|column| column.text.eq_ignore_ascii_case(word));
        Some(if named("precision") && named("recall") {
            RowNumber::Class
        } else if self.columns.iter().any(|column| column.counter.is_some()) {
            RowNumber::Index
        } else {
            RowNumber::Step
        })
    }

    /// Whether the label of a row has no blanks in it.
    fn is_one_token(&self, line: &NumberedLine<'_>) -> bool {
        line.tokens.get(1).is_some_and(|second| second.gap >= 2)
    }

    /// The unit that a row states in its last column, which is headed `Units`.
    fn unit_of_row(&self, line: &NumberedLine<'_>) -> Option<PrintedUnit> {
        let headed = self.columns.last()?.text.to_ascii_lowercase();
        let last = line.text.trim_end().rsplit([' ', '\t', '|']).next()?;
        PrintedUnit::parse(last).filter(|_| matches!(headed.as_str(), "unit" | "units"))
    }

    /// The cells of a line that wide gaps part: a cell is the number that it begins with, whatever follows.
    fn cells_by_gaps<'a>(&self, line: &NumberedLine<'a>) -> Option<Vec<Cell<'a>>> {
        let mut cells: Vec<Cell<'a>> = Vec::new();
        for token in line.tokens {
            if !cells.is_empty() && token.gap < 2 {
                match cells.last_mut() {
                    Some(Cell::Words(spoken)) => {
                        spoken.extend(words(line.text.get(token.start..token.end).unwrap_or_default()));
                    }
                    // `3;1` is two numbers.
                    Some(cell) if token.kind == TokenKind::Sign(b';') => *cell = Cell::Words(Vec::new()),
                    _ => {}
                }
                continue;
            }
            cells.push(match token.kind {
                TokenKind::Number(_) | TokenKind::Clock { .. } => Cell::Value(token),
                _ => Cell::Words(words(line.text.get(token.start..token.end).unwrap_or_default())),
            });
        }
        (cells.len() == self.columns.len()).then_some(cells)
    }

    /// The cells of a line; none if it holds anything else before the last column.
    fn cells<'a>(&self, line: &NumberedLine<'a>) -> Option<Vec<Cell<'a>>> {
        let mut cells: Vec<Cell<'a>> = Vec::new();
        let mut open = false;
        for token in line.tokens {
            match &token.kind {
                TokenKind::Word => {
                    let spoken = words(line.text.get(token.start..token.end)?);
                    match cells.last_mut() {
                        Some(Cell::Words(last)) if open && token.gap <= 1 => last.extend(spoken),
                        _ => cells.push(Cell::Words(spoken)),
                    }
                    open = true;
                }
                TokenKind::Number(_) | TokenKind::Counter { .. } | TokenKind::Clock { .. } => {
                    cells.push(Cell::Value(token));
                    open = false;
                }
                TokenKind::Pipe => open = false,
                TokenKind::Sign(b':') if cells.len() == 1 => {}
                _ if cells.len() >= self.columns.len() => break,
                _ => return None,
            }
        }
        Some(cells)
    }
}

/// Column names that take two lines of a box, joined column by column; none where either line is something else.
pub(super) fn joined(above: &str, below: &str) -> Option<String> {
    let bars = above.bytes().filter(|byte| *byte == b'|').count();
    let same = below.bytes().filter(|byte| *byte == b'|').count() == bars;
    if bars < FEWEST || !same || below.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let cells = above.split('|').zip(below.split('|')).map(|(above, below)| {
        let below = below.trim();
        // `(hh:mm:ss)` says how a time is written.
        let below = if below.contains(':') { "" } else { below };
        format!("{} {below}", above.trim()).trim().to_owned()
    });
    Some(cells.collect::<Vec<String>>().join("  |  "))
}

/// The column names of a line. A single blank joins words only where wider gaps part the columns; where names are not to be
/// joined, every word is one.
fn column_names(line: &NumberedLine<'_>, joins: bool) -> Option<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    let (mut open, mut glued) = (false, false);
    let has_bar = line.tokens.iter().any(|token| token.kind == TokenKind::Bar);
    let wide = joins && line.text.contains("  ");
    for token in line.tokens {
        match token.kind {
            TokenKind::Word => {
                let text = line.text.get(token.start..token.end)?;
                if open && (token.gap == 0 || token.gap == 1 && wide) {
                    let last = columns.last_mut()?;
                    last.text.push(' ');
                    last.text.push_str(text);
                } else {
                    columns.push(Column { text: text.to_owned(), counter: None, start: token.start });
                }
                open = true;
            }
            TokenKind::Pipe => open = false,
            TokenKind::Sign(b'#') => open = false,
            TokenKind::Sign(b'(') => glued = token.gap == 0,
            // `block(KiB) xfer(KiB)` are two columns.
            TokenKind::Sign(b')') => open &= !glued,
            TokenKind::Sign(b'/' | b'%' | b'@') => {}
            TokenKind::Sign(b':') if columns.len() >= FEWEST && has_bar => break,
            TokenKind::Bar if columns.is_empty() => {}
            _ => return None,
        }
    }
    Some(columns)
}

/// A number before the first column, where no column name stands over it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RowNumber {
    /// The class that a row of scores is about.
    Class,
    /// Counts rows where no column does.
    Step,
    /// Counts rows beside a column that counts.
    Index,
}

/// `macro avg` of a report of scores is the average by its name.
fn without_average(label: &[String]) -> Vec<String> {
    match label {
        [kind, average] if average == "avg" || average == "average" => vec![kind.clone()],
        other => other.to_vec(),
    }
}

/// A cell of a row.
#[derive(Clone)]
enum Cell<'a> {
    Words(Vec<String>),
    Value(&'a Token),
}

/// A line of numbers under a header.
struct Row<'a> {
    line: &'a NumberedLine<'a>,
    /// The words before its first number.
    label: String,
    split: Option<Split>,
    vocabulary: &'a Vocabulary,
    /// The unit that its last column states.
    unit: Option<PrintedUnit>,
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
        if let TokenKind::Number(number) = &token.kind
            && printed.is_none()
            && is_moment(&spoken.join(" "), number.value)
        {
            return None;
        }
        let counts = matches!(spoken.as_slice(), [word] if ["cnt", "count", "n", "run", "round"].contains(&word.as_str()));
        if counts && self.unit.is_some() {
            return None;
        }
        let printed = printed.or_else(|| self.unit.clone());
        // `Score  Units`: the unit says what the score is.
        let vague =
            matches!(spoken.as_slice(), [word] if ["score", "value", "result"].contains(&word.as_str()));
        let metric = match &self.unit {
            Some(unit) if vague => self.vocabulary.metric_of_words(&[], Some(unit)),
            _ => header_metric(&phrase, printed.as_ref(), self.vocabulary),
        };
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
            averaged: false,
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
            averaged: false,
            when_complete: false,
            inferred: None,
        })
    }
}

/// The metric that a header names.
fn header_metric(
    phrase: &str,
    printed: Option<&PrintedUnit>,
    vocabulary: &Vocabulary,
) -> Option<NamedMetric> {
    vocabulary.metric_of_words(&words(phrase), printed)
}
