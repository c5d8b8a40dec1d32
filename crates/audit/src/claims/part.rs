//! A rate of one part that was computed from all parts: `generated 449 tokens/s` over prompt and output tokens.

use assay_model::Source;

use super::pairs::{cell_operand, operand};
use super::sentence::Sentence;
use crate::finding::Level;
use crate::grid::{Grid, words};
use crate::interval::Interval;
use crate::number::shown;
use crate::quantity::Quantity;
use crate::{Class, Finding};

/// Columns in which parts are looked for.
const MOST_COLUMNS: usize = 12;
const MOST_ROWS: usize = 60;

/// Checks the rates of a sentence.
pub fn check(sentence: &Sentence, grids: &[&Grid]) -> Vec<Finding> {
    let rates = sentence.quantities.iter().filter(|quantity| {
        quantity.unit.is_rate() && !quantity.unit.counts_nothing() && !quantity.hedged && !quantity.range
    });
    let grids = grids.iter().filter(|grid| grid.rows.len() <= MOST_ROWS && grid.file == sentence.file);
    rates.filter_map(|quantity| grids.clone().find_map(|grid| in_grid(sentence, quantity, grid))).collect()
}

/// Two columns of the same things whose sum over a time is the rate, while the sentence names one of them.
fn in_grid(sentence: &Sentence, quantity: &Quantity, grid: &Grid) -> Option<Finding> {
    let numeric: Vec<usize> = grid.numeric().take(MOST_COLUMNS).collect();
    let counts = |column: &usize| {
        let found = &grid.columns[*column];
        found.words.iter().any(|word| quantity.unit.counts(word))
            && !found.unit.is_rate()
            && !found.unit.is_relative()
    };
    let parts: Vec<usize> = numeric.iter().copied().filter(counts).collect();
    let times: Vec<usize> =
        numeric.iter().copied().filter(|column| grid.columns[*column].unit.is_time()).collect();
    let clause = sentence.clause_at(quantity.start);
    for own in &parts {
        for other in parts.iter().filter(|other| *other != own) {
            if !names_only(&clause, grid, *own, *other) {
                continue;
            }
            for time in &times {
                let found = (0..grid.rows.len())
                    .find_map(|row| in_row(sentence, quantity, grid, row, (*own, *other, *time)));
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

/// Whether a clause has a word of one header that the other lacks, and none of the other's own words.
fn names_only(clause: &Sentence, grid: &Grid, own: usize, other: usize) -> bool {
    let words_of = |column: usize| words(&grid.columns[column].header);
    let (own, other) = (words_of(own), words_of(other));
    let says = |word: &String| clause.words.contains(word);
    own.iter().any(|word| !other.contains(word) && says(word))
        && !other.iter().any(|word| !own.contains(word) && says(word))
}

fn in_row(
    sentence: &Sentence,
    quantity: &Quantity,
    grid: &Grid,
    row: usize,
    (own, other, time): (usize, usize, usize),
) -> Option<Finding> {
    let cell = |column: usize| grid.cell(row, column).map(|cell| cell.interval());
    let (part, rest, seconds) = (cell(own)?, cell(other)?, cell(time)?);
    let stated = Interval::new(quantity.low, quantity.high);
    let (alone, both) = (part.over(seconds)?, part.plus(rest).over(seconds)?);
    if !both.meets(stated) || alone.widened(0.1).meets(stated) || rest.low <= 0.0 {
        return None;
    }
    let columns = [own, other, time];
    let operands = columns.iter().filter_map(|column| cell_operand(grid, row, *column));
    let header = |column: usize| grid.columns[column].header.as_str();
    let lines = columns.iter().filter_map(|column| grid.cell(row, *column)).map(|cell| cell.line);
    let mut sources = vec![Source::new(sentence.file.clone(), sentence.line_of(quantity))];
    sources.extend(lines.map(|line| Source::new(grid.file.clone(), line)));
    sources.dedup();
    Some(Finding {
        class: Class::TokenCount,
        level: Level::Doubtful,
        summary: format!(
            "`{}` counts {} as well; {} alone give {}",
            quantity.text,
            header(other),
            header(own),
            shown(alone.middle() / quantity.unit.factor())
        ),
        arithmetic: vec![format!("({} + {}) / {}", header(own), header(other), header(time))],
        sources,
        operands: std::iter::once(operand(sentence, quantity)).chain(operands).collect(),
        advice: "count only what the sentence speaks of, or say what is counted".to_owned(),
    })
}
