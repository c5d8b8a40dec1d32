//! What the words of a sentence make one expect of an absolute number: the cell of a named row, a member of the column
//! that its neighbors are from, a total, an extreme, or what work, rate and time beside it give.
//!
//! An expectation that fails is a reason for doubt only where the number is found nowhere else in the document.

use super::naming::{named_columns, subject_rows};
use super::pairs::{JOINTS, Pool, cell_operand, operand, side};
use super::sentence::Sentence;
use crate::finding::Operand;
use crate::grid::{Cell, Grid, MOST_PAIRED_ROWS, words};
use crate::interval::Interval;
use crate::quantity::{Quantity, count_word};
use crate::unit::Unit;

/// What a number should have been.
#[derive(Debug, Clone)]
pub struct Expectation {
    pub interval: Interval,
    pub formula: String,
    pub operands: Vec<Operand>,
}

/// One way to expect something of a number.
type Kind = fn(&Sentence, &Sentence, &Quantity, &Pool<'_>) -> Vec<Expectation>;

/// A wrong copy is rarely off by more than this; what is further away is another thing.
const NEAR: f64 = 1.8;

/// The expectations about a number, the most specific kind first; empty where nothing is expected.
pub fn expectations(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    pool: &Pool<'_>,
) -> Vec<Expectation> {
    let typed = typed_products(sentence, context, quantity, pool);
    if !typed.is_empty() {
        return typed;
    }
    if adds_condition(sentence, quantity, pool) {
        return Vec::new();
    }
    let kinds: [Kind; 4] = [partners, totals, extremes, same_row];
    let found = kinds.iter().map(|kind| kind(sentence, context, quantity, pool));
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Words behind which a condition stands.
const CONDITIONS: [&str; 9] =
    ["with", "without", "using", "after", "under", "when", "if", "once", "disabling"];

/// Whether the clause of a number states a condition that no table has: `With PGO gcc comes down to 16.60 s`.
pub fn adds_condition(sentence: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> bool {
    let clause = sentence.clause_at(quantity.start);
    let tokens: Vec<String> = clause.text.split_whitespace().map(str::to_lowercase).collect();
    let known = |word: &String| {
        word.chars().any(|one| one.is_ascii_digit())
            || count_word(word).is_some()
            || pool.grids.iter().any(|grid| {
                grid.columns.iter().any(|column| column.words.contains(word))
                    || grid.rows.iter().take(200).any(|row| row.words.contains(word))
            })
    };
    tokens.iter().enumerate().filter(|(_, token)| CONDITIONS.contains(&token.as_str())).any(|(at, _)| {
        let behind = tokens[at + 1..].iter().take(2).cloned().collect::<Vec<String>>().join(" ");
        let named = words(&behind);
        named.first().is_some_and(|first| !known(first)) && !named.iter().all(known)
    })
}

/// Whether a cell measures what a number measures; a number without a unit must look like the cell.
fn is_alike(quantity: &Quantity, cell: &Cell) -> bool {
    if quantity.unit.is_none() {
        return !quantity.is_integer() && decimals(&quantity.text) <= decimals(&cell.text);
    }
    // What is counted must be the same thing.
    if quantity.unit.is_count() {
        return cell.unit.same_symbols(&quantity.unit);
    }
    cell.unit.same_measure(&quantity.unit) && cell.unit.same_things(&quantity.unit)
}

/// The decimals of the first number of a text.
pub fn decimals(text: &str) -> usize {
    let number: String = text
        .chars()
        .skip_while(|one| !one.is_ascii_digit())
        .take_while(|one| one.is_ascii_digit() || ".,".contains(*one))
        .collect();
    number.trim_end_matches(['.', ',']).split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The value of a number in the unit of a cell.
fn in_unit_of(quantity: &Quantity, cell: &Cell) -> f64 {
    if quantity.unit.is_none() { quantity.written * cell.unit.factor() } else { quantity.value }
}

fn is_near(quantity: &Quantity, cell: &Cell) -> bool {
    let ratio = in_unit_of(quantity, cell) / cell.value;
    (1.0 / NEAR..=NEAR).contains(&ratio)
}

fn is_cell(quantity: &Quantity, cell: &Cell) -> bool {
    let scale = if quantity.unit.is_none() { cell.unit.factor() } else { 1.0 };
    let stated = Interval::new(quantity.low * scale, quantity.high * scale).widened(0.002);
    is_alike(quantity, cell) && stated.meets(cell.interval())
}

fn of_cell(grid: &Grid, row: usize, column: usize) -> Option<Expectation> {
    let cell = grid.cell(row, column)?;
    let operand = cell_operand(grid, row, column)?;
    Some(Expectation { interval: cell.interval(), formula: operand.text.clone(), operands: vec![operand] })
}

/// The cells of the row that a number is about, in its unit.
fn same_row(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    pool: &Pool<'_>,
) -> Vec<Expectation> {
    let mut found = Vec::new();
    for grid in pool.grids.iter().filter(|grid| grid.rows.len() >= 2) {
        let rows = subject_rows(sentence, context, quantity.start, grid);
        let [row] = rows.as_slice() else { continue };
        let columns = grid.measures().filter(|column| {
            grid.cell(*row, *column).is_some_and(|cell| {
                is_alike(quantity, cell)
                    && is_near(quantity, cell)
                    && decimals(&quantity.text) == decimals(&cell.text)
                    && cell.spread.is_none()
            })
        });
        found.extend(columns.filter_map(|column| of_cell(grid, *row, column)));
    }
    found
}

/// Numbers of one kind in a sentence are from one column: where all but one are cells of it, so should be the last.
fn partners(sentence: &Sentence, _: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> Vec<Expectation> {
    let group: Vec<&Quantity> = sentence
        .quantities
        .iter()
        .filter(|other| other.start != quantity.start && other.unit.same_symbols(&quantity.unit))
        .filter(|other| !(other.in_words || other.range || other.is_integer() && other.unit.is_none()))
        .collect();
    if group.is_empty() || quantity.is_integer() && quantity.unit.is_count() {
        return Vec::new();
    }
    if group.len() == 1 && !are_joined(sentence, quantity, group[0]) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for grid in pool.grids {
        let named = named_columns(sentence, grid);
        for column in grid.measures() {
            let rows =
                || (0..grid.rows.len().min(MOST_PAIRED_ROWS)).filter(|row| grid.cell(*row, column).is_some());
            let holds = |one: &Quantity| {
                rows().any(|row| grid.cell(row, column).is_some_and(|cell| is_cell(one, cell)))
            };
            // One partner of few digits is in many columns.
            let digits = group[0].text.chars().filter(char::is_ascii_digit).count();
            let clear = group.len() > 1 || digits >= 3 || named.contains(&column);
            if !clear || !group.iter().all(|one| holds(one)) {
                continue;
            }
            let near =
                rows().filter(|row| grid.cell(*row, column).is_some_and(|cell| is_near(quantity, cell)));
            found.extend(near.filter_map(|row| of_cell(grid, row, column)));
        }
    }
    found
}

/// Whether a word or a comma joins two numbers.
fn are_joined(sentence: &Sentence, one: &Quantity, other: &Quantity) -> bool {
    let (first, second) = if one.start < other.start { (one, other) } else { (other, one) };
    let between = sentence.text.get(first.end..second.start).unwrap_or_default().to_lowercase();
    let words: Vec<&str> = between.split_whitespace().collect();
    let joins = |word: &&str| JOINTS.contains(word) || ["and", "against", "instead", "or"].contains(word);
    words.len() <= 6 && !between.contains(['.', ';']) && words.iter().any(joins)
}

/// `In total the table cost 305 GPU-hours`: the sum of a column.
fn totals(sentence: &Sentence, _: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> Vec<Expectation> {
    let text = sentence.clause_at(quantity.start).text.to_lowercase();
    let says = ["in total", "altogether", "sum of", "combined", "add up to", "in all", "sums to", "together"];
    let adds = !quantity.unit.is_rate() && !quantity.unit.is_none();
    if !adds || !says.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let mut found = listed_total(sentence, quantity);
    for grid in pool.grids.iter().filter(|grid| (2..MOST_PAIRED_ROWS).contains(&grid.rows.len())) {
        for column in grid.measures() {
            let cells: Vec<&Cell> = (0..grid.rows.len()).filter_map(|row| grid.cell(row, column)).collect();
            let alike = |cell: &&Cell| {
                cell.unit.same_measure(&quantity.unit)
                    && (cell.unit.counts_nothing() || cell.unit.shares_thing(&quantity.unit))
            };
            if cells.len() < 2 || !cells.iter().all(alike) {
                continue;
            }
            let sum = cells.iter().fold(Interval::exact(0.0), |sum, cell| sum.plus(cell.interval()));
            let ratio = quantity.value / sum.middle();
            if (1.0 / NEAR..=NEAR).contains(&ratio) {
                let formula = format!("the sum of {}", grid.columns[column].header);
                let operands = (0..grid.rows.len()).filter_map(|row| cell_operand(grid, row, column));
                found.push(Expectation { interval: sum, formula, operands: operands.collect() });
            }
        }
    }
    found
}

/// `$642, $104 and $250, together $996`: the numbers of one unit before a total in its sentence.
fn listed_total(sentence: &Sentence, quantity: &Quantity) -> Vec<Expectation> {
    let before = sentence.quantities.iter().filter(|other| other.end <= quantity.start);
    let terms: Vec<&Quantity> = before.filter(|other| other.unit.same_symbols(&quantity.unit)).collect();
    let sum = terms.iter().fold(Interval::exact(0.0), |sum, term| sum.plus(side(term).interval));
    let ratio = quantity.value / sum.middle();
    if terms.len() < 2 || !(1.0 / NEAR..=NEAR).contains(&ratio) {
        return Vec::new();
    }
    let operands: Vec<Operand> = terms.iter().map(|term| operand(sentence, term)).collect();
    let formula = terms.iter().map(|term| term.text.as_str()).collect::<Vec<&str>>().join(" + ");
    vec![Expectation { interval: sum, formula, operands }]
}

const SUPERLATIVES: [&str; 18] = [
    "highest", "lowest", "fastest", "slowest", "best", "worst", "largest", "smallest", "shortest", "longest",
    "cheapest", "maximum", "minimum", "most", "least", "quickest", "top", "greatest",
];

/// `The fastest needs 64.8 s`: a cell of a column in this unit.
fn extremes(sentence: &Sentence, _: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> Vec<Expectation> {
    let clauses = sentence.clauses_back(quantity.start);
    let says = clauses.iter().take(2).any(|clause| SUPERLATIVES.iter().any(|word| clause.mentions(word)));
    if !says || quantity.unit.is_none() || quantity.is_integer() && quantity.unit.is_count() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for grid in pool.grids.iter().filter(|grid| (2..MOST_PAIRED_ROWS).contains(&grid.rows.len())) {
        for column in grid.measures() {
            let rows = || (0..grid.rows.len()).filter_map(|row| Some((row, grid.cell(row, column)?)));
            if !rows().all(|(_, cell)| is_alike(quantity, cell)) {
                continue;
            }
            let order = |one: &(usize, &Cell), other: &(usize, &Cell)| one.1.value.total_cmp(&other.1.value);
            let ends = [rows().min_by(order), rows().max_by(order)].into_iter().flatten();
            let near = ends.filter(|(_, cell)| is_near(quantity, cell));
            found.extend(near.filter_map(|(row, _)| of_cell(grid, row, column)));
        }
    }
    found
}

/// A number with a unit, from the sentence or from the row that it is about.
struct Term {
    interval: Interval,
    unit: Unit,
    operand: Operand,
}

/// `1,281,167 images at 1,530 images/s take 14.0 min`: what two numbers give whose units do.
fn typed_products(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    pool: &Pool<'_>,
) -> Vec<Expectation> {
    if quantity.unit.is_none() || quantity.unit.is_count() {
        return Vec::new();
    }
    let own: Vec<Term> = sentence
        .quantities
        .iter()
        .filter(|other| other.start != quantity.start && !other.unit.is_relative() && !other.unit.is_none())
        .map(|other| Term {
            interval: side(other).interval,
            unit: other.unit.clone(),
            operand: operand(sentence, other),
        })
        .collect();
    let mut row_terms = Vec::new();
    for grid in pool.grids.iter().filter(|grid| grid.rows.len() <= MOST_PAIRED_ROWS) {
        let rows = subject_rows(sentence, context, quantity.start, grid);
        let [row] = rows.as_slice() else { continue };
        for column in grid.measures() {
            let (Some(cell), Some(operand)) = (grid.cell(*row, column), cell_operand(grid, *row, column))
            else {
                continue;
            };
            if !cell.unit.is_none() && !cell.unit.is_relative() {
                row_terms.push(Term { interval: cell.interval(), unit: cell.unit.clone(), operand });
            }
        }
    }
    let mut found = Vec::new();
    for (index, one) in own.iter().enumerate() {
        for other in own[index + 1..].iter().chain(&row_terms) {
            found.extend(product(quantity, one, other));
        }
    }
    if found.is_empty() {
        // The work may be given once for several sentences.
        let earlier = context.quantities.iter().skip(sentence.quantities.len());
        let counts =
            earlier.filter(|other| !other.unit.is_none() && other.unit.is_count() && other.value >= 100.0);
        for other in counts {
            let term = Term {
                interval: side(other).interval,
                unit: other.unit.clone(),
                operand: operand(sentence, other),
            };
            found.extend(row_terms.iter().filter_map(|row| product(quantity, &term, row)));
        }
    }
    found
}

/// What two numbers give in the unit of a third, where something that both count or measure cancels.
fn product(quantity: &Quantity, one: &Term, other: &Term) -> Option<Expectation> {
    let wanted = |unit: &Unit| unit.same_symbols(&quantity.unit);
    let cancels = one.unit.shares_symbol(&other.unit);
    if !cancels {
        return None;
    }
    let (interval, formula) = if wanted(&one.unit.times(&other.unit)) {
        (one.interval.times(other.interval), format!("{} × {}", one.operand.text, other.operand.text))
    } else if wanted(&one.unit.over(&other.unit)) {
        (one.interval.over(other.interval)?, format!("{} / {}", one.operand.text, other.operand.text))
    } else if wanted(&other.unit.over(&one.unit)) {
        (other.interval.over(one.interval)?, format!("{} / {}", other.operand.text, one.operand.text))
    } else {
        return None;
    };
    // Start-up and rounding make sums of what is given here as a product, so a small difference says nothing.
    let ratio = quantity.value / interval.middle();
    let stated = Interval::new(quantity.low, quantity.high).widened(0.006);
    let near = (0.2..=5.0).contains(&ratio) && (!(0.85..=1.15).contains(&ratio) || stated.meets(interval));
    let operands = vec![one.operand.clone(), other.operand.clone()];
    (near && interval.relative_width() < 0.3).then_some(Expectation { interval, formula, operands })
}
