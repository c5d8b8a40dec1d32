//! One column, and the ways in which it may follow from others.

use assay_model::{Document, Source};

use super::super::grid::Field;
use super::super::wording;
use super::super::written::{self, Range};

/// Lines of arithmetic that a finding shows at most.
const LINES: usize = 8;

/// A number of the column under test.
pub(super) struct Stated {
    /// What it stands for.
    pub range: Range,
    /// As it is written.
    pub text: String,
    /// Which row it is.
    pub label: String,
    /// Where.
    pub source: Source,
}

impl Stated {
    /// The number in a field, if there is one.
    pub fn new(document: &Document, label: &str, field: &Field<'_>) -> Option<Stated> {
        let range = field.range()?;
        let text = field.cell.text.trim().to_owned();
        Some(Stated { range, text, label: label.to_owned(), source: field.source(document) })
    }
}

/// What a formula gives for one row.
#[derive(Clone)]
pub(super) struct Predicted {
    /// The number.
    pub range: Range,
    /// The arithmetic, without the result.
    pub text: String,
}

/// One way in which the column may follow from others.
pub(super) struct Candidate {
    /// The formula, in the words of the table's header.
    pub formula: String,
    /// What it gives, row by row; none where an operand is missing.
    pub rows: Vec<Option<Predicted>>,
    /// Whether the column ought to follow from it, rather than may.
    pub strict: bool,
    /// Whether even one row that follows from it can hardly be chance: it takes two numbers of the row.
    pub telling: bool,
}

/// A candidate held against what the table states.
pub(super) struct Held<'a> {
    pub candidate: &'a Candidate,
    /// Rows that agree.
    pub fits: Vec<usize>,
    /// Rows that do not.
    pub misses: Vec<usize>,
}

impl Held<'_> {
    /// How many rows could be held against it.
    pub fn rows(&self) -> usize {
        self.fits.len() + self.misses.len()
    }
}

/// Holds all candidates against the column and gives the one that agrees best: the largest share of rows, then the
/// most rows, then the one named first.
pub(super) fn best<'a>(
    stated: &[Option<Stated>],
    candidates: &'a [Candidate],
    agrees: impl Fn(Range, Range) -> bool,
) -> Option<Held<'a>> {
    let mut best: Option<Held<'a>> = None;
    for candidate in candidates {
        let held = hold(stated, candidate, &agrees);
        if held.rows() == 0 {
            continue;
        }
        let better = best.as_ref().is_none_or(|other| {
            let (mine, theirs) = (held.fits.len() * other.rows(), other.fits.len() * held.rows());
            (mine, held.fits.len(), held.candidate.strict)
                > (theirs, other.fits.len(), other.candidate.strict)
        });
        if better {
            best = Some(held);
        }
    }
    best
}

fn hold<'a>(
    stated: &[Option<Stated>],
    candidate: &'a Candidate,
    agrees: &impl Fn(Range, Range) -> bool,
) -> Held<'a> {
    let mut held = Held { candidate, fits: Vec::new(), misses: Vec::new() };
    for (row, (stated, predicted)) in stated.iter().zip(&candidate.rows).enumerate() {
        match (stated, predicted) {
            (Some(stated), Some(predicted)) if agrees(stated.range, predicted.range) => held.fits.push(row),
            (Some(_), Some(_)) => held.misses.push(row),
            _ => {}
        }
    }
    held
}

/// A line of arithmetic for each of some rows.
pub(super) fn lines(stated: &[Option<Stated>], candidate: &Candidate, rows: &[usize]) -> Vec<String> {
    let line = |row: &usize| {
        let stated = stated.get(*row)?.as_ref()?;
        let predicted = candidate.rows.get(*row)?.as_ref()?;
        let result = wording::plain(predicted.range.value());
        let label = if stated.label.is_empty() { String::new() } else { format!("{}: ", stated.label) };
        Some(format!("{label}{} = {result}, stated {}", predicted.text, stated.text))
    };
    limited(rows.iter().filter_map(line).collect())
}

/// The places of some rows.
pub(super) fn sources(stated: &[Option<Stated>], rows: &[usize]) -> Vec<Source> {
    let places = rows.iter().filter_map(|row| stated.get(*row)?.as_ref());
    places.map(|stated| stated.source.clone()).take(LINES).collect()
}

/// The names of some rows, for a sentence.
pub(super) fn labels(stated: &[Option<Stated>], rows: &[usize]) -> String {
    let named = rows.iter().filter_map(|row| stated.get(*row)?.as_ref());
    let names: Vec<String> = named
        .map(|stated| match stated.label.is_empty() {
            true => format!("line {}", stated.source.line),
            false => stated.label.clone(),
        })
        .collect();
    match names.len() {
        0..=4 => names.join("; "),
        more => {
            format!("{} and {} more", names.iter().take(3).cloned().collect::<Vec<_>>().join("; "), more - 3)
        }
    }
}

/// Lines up to the number that a finding shows.
pub(super) fn limited(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > LINES {
        let more = lines.len() - (LINES - 1);
        lines.truncate(LINES - 1);
        lines.push(format!("and {more} more rows"));
    }
    lines
}

/// A number as the table writes it, with its unit where the header and not the cell tells it.
pub(super) fn operand(field: &Field<'_>) -> String {
    let value = field.cell.value.unwrap_or(f64::NAN);
    let text = field.cell.text.trim();
    let as_written = written::numbers(text).first().is_some_and(|(number, _, _)| *number == value);
    match &field.cell.unit {
        _ if as_written => text.to_owned(),
        Some(unit) => wording::with_unit(value, unit),
        None => wording::plain(value),
    }
}
