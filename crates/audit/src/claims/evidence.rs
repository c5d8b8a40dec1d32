//! Pairs of numbers that a comparison may be about, from the clause outward.

use super::naming::named_rows;
use super::relation::Relation;
use super::sentence::Sentence;
use crate::finding::Operand;
use crate::grid::{Grid, MOST_PAIRED_ROWS};
use crate::interval::Interval;
use crate::quantity::Quantity;
use crate::unit::Unit;

/// How close a pair is to the claim. A stronger tier is never excused by a weaker one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// A pair joined by `from … to`, `against`, `instead of` in the sentence.
    Clause,
    /// Two rows that the sentence names.
    NamedRows,
    /// Numbers of the paragraph and of the one before it.
    Beside,
    /// One row that the sentence names, with any other.
    NamedRow,
    /// Any two rows of a table.
    Table,
    /// Anything of the document.
    Document,
}

/// What two numbers give.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub tier: Tier,
    pub value: Interval,
    pub formula: String,
    pub operands: Vec<Operand>,
    /// Computed from more than two numbers.
    pub derived: bool,
}

/// All that a document offers.
pub struct Pool<'a> {
    pub grids: &'a [Grid],
    pub sentences: &'a [Sentence],
    /// The numbers of listings, by their line.
    pub listed: &'a [(u64, Vec<Quantity>)],
}

/// Words that join the two sides of a comparison.
const JOINTS: [&str; 20] = [
    "to",
    "vs",
    "vs.",
    "versus",
    "against",
    "instead of",
    "compared with",
    "compared to",
    "->",
    "→",
    "rather than",
    "than",
    "down from",
    "up from",
    "and",
    "where",
    "over",
    "but",
    "before:",
    "out of",
];

impl Pool<'_> {
    /// The pairs of a sentence that a word joins. The claim itself is no operand.
    pub fn clause(&self, sentence: &Sentence, claim: &Quantity, relation: Relation) -> Vec<Candidate> {
        let mut found = Vec::new();
        let own = &sentence.quantities;
        for (index, one) in own.iter().enumerate() {
            let Some(other) = own.get(index + 1) else { break };
            if one.start == claim.start || other.start == claim.start || one.in_words || other.in_words {
                continue;
            }
            let between = sentence.text.get(one.end..other.start).unwrap_or_default();
            if !joins(between) || !is_nearest(own, claim, one.start, other.end) {
                continue;
            }
            let (a, b) = same_unit(one, other);
            let comparable = a.unit.same_measure(&b.unit) && !(a.unit.times || b.unit.times);
            let ratio = relation != Relation::Points;
            let percent = a.unit.percent && b.unit.percent;
            if !comparable
                || (ratio && percent && relation == Relation::Times)
                || (!ratio && !percent && !a.unit.is_none())
            {
                continue;
            }
            let from = sentence.text.get(..one.start).is_some_and(|head| head.trim_end().ends_with("from"));
            if a.unit.is_count() && !strong_joint(between) && !from {
                continue;
            }
            let operands = vec![operand(sentence, &a), operand(sentence, &b)];
            found.extend(candidates(Tier::Clause, relation, &side(&a), &side(&b), operands));
        }
        found
    }

    /// Pairs of rows of a table: named ones, and each named one with all others.
    pub fn rows(&self, sentence: &Sentence, context: &Sentence, relation: Relation) -> Vec<Candidate> {
        let mut found = Vec::new();
        let derived = speaks_of_shares(sentence);
        for grid in self.grids.iter().filter(|grid| grid.rows.len() >= 2) {
            let named = named_rows(sentence, grid);
            let nearby = named_rows(context, grid);
            let paired = grid.rows.len().min(MOST_PAIRED_ROWS);
            for one in 0..paired {
                for other in one + 1..paired {
                    let both = named.contains(&one) && named.contains(&other);
                    let beside = nearby.contains(&one) && nearby.contains(&other) && nearby.len() <= 3;
                    let tier = if both && named.len() <= 3 {
                        Tier::NamedRows
                    } else if named.contains(&one) || named.contains(&other) || beside {
                        Tier::NamedRow
                    } else {
                        Tier::Table
                    };
                    row_pair(grid, one, other, tier, relation, derived, &mut found);
                }
            }
        }
        found
    }

    /// Ratios of two columns within a row.
    pub fn within_rows(&self, sentence: &Sentence, relation: Relation) -> Vec<Candidate> {
        let mut found = Vec::new();
        if !matches!(relation, Relation::Share | Relation::Value) {
            return found;
        }
        for grid in self.grids {
            let named = named_rows(sentence, grid);
            for row in 0..grid.rows.len().min(MOST_PAIRED_ROWS) {
                let tier = if named.contains(&row) { Tier::NamedRow } else { Tier::Table };
                let columns: Vec<usize> = grid.measures().collect();
                for (position, one) in columns.iter().enumerate() {
                    for other in &columns[position + 1..] {
                        let (Some(a), Some(b)) = (grid.cell(row, *one), grid.cell(row, *other)) else {
                            continue;
                        };
                        if !a.unit.same_measure(&b.unit) {
                            continue;
                        }
                        let sides = (Side::of_cell(a), Side::of_cell(b));
                        let operands = vec![cell_operand(grid, row, *one), cell_operand(grid, row, *other)];
                        found.extend(candidates(
                            tier,
                            relation,
                            &sides.0,
                            &sides.1,
                            operands.into_iter().flatten().collect(),
                        ));
                    }
                }
                slashed(grid, row, tier, relation, &mut found);
            }
        }
        found
    }

    /// Pairs of numbers of the paragraph and of the one before it, and of these with cells of the rows they name.
    pub fn beside(&self, sentence: &Sentence, claim: &Quantity, relation: Relation) -> Vec<Candidate> {
        let mut sides = Vec::new();
        for other in self.sentences.iter().filter(|other| sentence.block.wrapping_sub(other.block) <= 1) {
            self.push_sides(other, sentence, claim, &mut sides);
        }
        sides.truncate(MOST_SIDES);
        pairs(&sides, Tier::Beside, relation)
    }

    /// Every pair of numbers of one measure in the document.
    pub fn document(&self, sentence: &Sentence, claim: &Quantity, relation: Relation) -> Vec<Candidate> {
        let mut sides = Vec::new();
        for other in self.sentences {
            self.push_sides(other, sentence, claim, &mut sides);
        }
        for grid in self.grids {
            for row in 0..grid.rows.len().min(MOST_PAIRED_ROWS) {
                for column in grid.numeric() {
                    if let (Some(cell), Some(operand)) =
                        (grid.cell(row, column), cell_operand(grid, row, column))
                    {
                        sides.push((Side::of_cell(cell), operand));
                    }
                }
            }
        }
        for (line, quantities) in self.listed {
            for quantity in quantities {
                let operand = Operand { text: quantity.text.clone(), value: quantity.value, line: *line };
                sides.push((side(quantity), operand));
            }
        }
        sides.truncate(MOST_SIDES);
        pairs(&sides, Tier::Document, relation)
    }

    /// The numbers of a sentence that may be compared, without the claim itself.
    fn push_sides(
        &self,
        other: &Sentence,
        sentence: &Sentence,
        claim: &Quantity,
        sides: &mut Vec<(Side, Operand)>,
    ) {
        let own = other.block == sentence.block && other.text == sentence.text;
        for quantity in &other.quantities {
            let is_claim = own && quantity.start == claim.start;
            if !(is_claim || quantity.unit.times || quantity.in_words) {
                sides.push((side(quantity), operand(other, quantity)));
            }
        }
    }
}

/// Numbers of a document that are compared with one another.
const MOST_SIDES: usize = 300;

/// What the pairs of some numbers give.
fn pairs(sides: &[(Side, Operand)], tier: Tier, relation: Relation) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (index, (one, first)) in sides.iter().enumerate() {
        for (other, second) in &sides[index + 1..] {
            let counts = one.unit.is_count()
                && tier == Tier::Beside
                && !matches!(relation, Relation::Share | Relation::Value);
            if one.unit.same_measure(&other.unit) && one.value != other.value && !counts {
                found.extend(candidates(tier, relation, one, other, vec![first.clone(), second.clone()]));
            }
        }
    }
    found
}

/// One side of a comparison.
#[derive(Debug, Clone)]
struct Side {
    value: f64,
    interval: Interval,
    unit: Unit,
}

impl Side {
    fn of_cell(cell: &crate::grid::Cell) -> Side {
        Side { value: cell.value, interval: Interval::new(cell.low, cell.high), unit: cell.unit.clone() }
    }
}

fn side(quantity: &Quantity) -> Side {
    Side {
        value: quantity.value,
        interval: Interval::new(quantity.low, quantity.high),
        unit: quantity.unit.clone(),
    }
}

fn operand(sentence: &Sentence, quantity: &Quantity) -> Operand {
    Operand { text: quantity.text.clone(), value: quantity.value, line: sentence.line_of(quantity) }
}

fn cell_operand(grid: &Grid, row: usize, column: usize) -> Option<Operand> {
    let cell = grid.cell(row, column)?;
    let header = &grid.columns.get(column)?.header;
    Some(Operand {
        text: format!("{} {header} {}", grid.row_name(row), cell.text),
        value: cell.value,
        line: cell.line,
    })
}

/// Whether no other relative number of the sentence is nearer to a pair than the claim.
fn is_nearest(own: &[Quantity], claim: &Quantity, start: usize, end: usize) -> bool {
    let distance = |quantity: &Quantity| {
        if quantity.end <= start { start - quantity.end } else { quantity.start.saturating_sub(end) }
    };
    own.iter().filter(|other| other.unit.is_relative()).all(|other| distance(other) >= distance(claim))
}

/// Whether a sentence may compare something per device, per token or per euro.
fn speaks_of_shares(sentence: &Sentence) -> bool {
    let words = [
        "efficiency",
        "efficient",
        "each",
        "single",
        "cost",
        "price",
        "cheaper",
        "expensive",
        "energy",
        "hour",
        "weak",
        "strong",
        "token",
        "gpu-hour",
        "node-hour",
    ];
    sentence.text.contains(" per ")
        || sentence.text.contains('/')
        || words.iter().any(|word| sentence.mentions(word))
}

/// Whether a text joins two numbers of one comparison.
fn joins(between: &str) -> bool {
    let text = between.to_lowercase();
    if between.chars().count() > 48 {
        return false;
    }
    let bare = text.trim().trim_start_matches([',', '(']).trim();
    JOINTS.iter().any(|joint| {
        bare == *joint
            || bare.starts_with(&format!("{joint} "))
            || bare.ends_with(&format!(" {joint}"))
            || bare.contains(&format!(" {joint} "))
    })
}

/// Whether a text joins two plain counts, which often stand beside each other without being compared.
fn strong_joint(between: &str) -> bool {
    let text = between.to_lowercase();
    ["instead of", "against", "versus", "vs", "->", "→", "compared", "rather than"]
        .iter()
        .any(|joint| text.contains(joint))
}

/// The unit of the second number is the first one's too where that has none: `from 13.0 to 9.1 tokens/s`.
fn same_unit(one: &Quantity, other: &Quantity) -> (Quantity, Quantity) {
    let (mut a, mut b) = (one.clone(), other.clone());
    let borrow = |to: &mut Quantity, from: &Quantity| {
        let scale = if from.unit.scale == 0.0 { 1.0 } else { from.unit.scale };
        to.value = to.written * scale;
        (to.low, to.high) = (to.low * scale, to.high * scale);
        to.unit = from.unit.clone();
    };
    if a.unit.is_none() && a.unit.scale == 1.0 && !b.unit.is_count() {
        borrow(&mut a, other);
    } else if b.unit.is_none() && b.unit.scale == 1.0 && !a.unit.is_count() {
        borrow(&mut b, one);
    }
    (a, b)
}

fn candidates(
    tier: Tier,
    relation: Relation,
    one: &Side,
    other: &Side,
    operands: Vec<Operand>,
) -> Vec<Candidate> {
    if one.value == 0.0 || other.value == 0.0 {
        return Vec::new();
    }
    let (small, large) = if one.value.abs() <= other.value.abs() { (0, 1) } else { (1, 0) };
    let text = |index: usize| operands.get(index).map_or("", |operand| operand.text.as_str());
    let values = relation.values(one.interval, other.interval).into_iter();
    values
        .map(|value| {
            let formula = match relation {
                Relation::Points => format!("{} - {}", text(large), text(small)),
                _ => format!("{} / {}", text(large), text(small)),
            };
            Candidate { tier, value, formula, operands: operands.clone(), derived: false }
        })
        .collect()
}

/// The comparisons of two rows: each measure, and each measure per unit of each setting.
fn row_pair(
    grid: &Grid,
    one: usize,
    other: usize,
    tier: Tier,
    relation: Relation,
    derived: bool,
    found: &mut Vec<Candidate>,
) {
    // `for eight times the hardware` is about a setting; that is no evidence against anything.
    if relation == Relation::Times {
        for column in grid.settings() {
            let (Some(a), Some(b)) = (grid.cell(one, column), grid.cell(other, column)) else { continue };
            let operands: Vec<Operand> = [cell_operand(grid, one, column), cell_operand(grid, other, column)]
                .into_iter()
                .flatten()
                .collect();
            let found_here = candidates(tier, relation, &Side::of_cell(a), &Side::of_cell(b), operands);
            found.extend(found_here.into_iter().map(|one| Candidate { derived: true, ..one }));
        }
    }
    for column in grid.measures() {
        let (Some(a), Some(b)) = (grid.cell(one, column), grid.cell(other, column)) else { continue };
        let operands: Vec<Operand> = [cell_operand(grid, one, column), cell_operand(grid, other, column)]
            .into_iter()
            .flatten()
            .collect();
        let sides = (Side::of_cell(a), Side::of_cell(b));
        found.extend(candidates(tier, relation, &sides.0, &sides.1, operands.clone()));
        if relation == Relation::Points || !derived {
            continue;
        }
        for setting in grid.settings() {
            let (Some(n), Some(m)) = (grid.cell(one, setting), grid.cell(other, setting)) else { continue };
            if n.value <= 0.0 || m.value <= 0.0 || n.value == m.value {
                continue;
            }
            // Per device, and as device-hours.
            for exponent in [1, -1] {
                let scaled = |side: &Side, by: f64| Side {
                    value: side.value * by.powi(exponent),
                    interval: side.interval.times(Interval::exact(by.powi(exponent))),
                    unit: side.unit.clone(),
                };
                let pair = (scaled(&sides.0, n.value), scaled(&sides.1, m.value));
                let more = candidates(tier, relation, &pair.0, &pair.1, operands.clone());
                found.extend(more.into_iter().map(|one| Candidate { derived: true, ..one }));
            }
        }
    }
    if matches!(relation, Relation::Points | Relation::Value) || !derived {
        return;
    }
    two_columns(grid, one, other, tier, relation, found);
}

/// Comparisons of products and quotients of two measures, such as the price of a token.
fn two_columns(
    grid: &Grid,
    one: usize,
    other: usize,
    tier: Tier,
    relation: Relation,
    found: &mut Vec<Candidate>,
) {
    let columns: Vec<usize> = grid.measures().take(10).collect();
    for (position, first) in columns.iter().enumerate() {
        for second in &columns[position + 1..] {
            let cells = [
                grid.cell(one, *first),
                grid.cell(one, *second),
                grid.cell(other, *first),
                grid.cell(other, *second),
            ];
            let [Some(a), Some(b), Some(c), Some(d)] = cells else { continue };
            let interval = |cell: &crate::grid::Cell| Interval::new(cell.low, cell.high);
            for product in [true, false] {
                let combine = |one: &crate::grid::Cell, two: &crate::grid::Cell| {
                    if product {
                        Some(interval(one).times(interval(two)))
                    } else {
                        interval(one).over(interval(two))
                    }
                };
                let (Some(left), Some(right)) = (combine(a, b), combine(c, d)) else { continue };
                let make =
                    |interval: Interval| Side { value: interval.middle(), interval, unit: a.unit.clone() };
                let operands: Vec<Operand> =
                    [cell_operand(grid, one, *first), cell_operand(grid, other, *first)]
                        .into_iter()
                        .flatten()
                        .collect();
                let more = candidates(tier, relation, &make(left), &make(right), operands);
                found.extend(more.into_iter().map(|one| Candidate { derived: true, ..one }));
            }
        }
    }
}

/// A cell such as `19,112 / 26,548`.
fn slashed(grid: &Grid, row: usize, tier: Tier, relation: Relation, found: &mut Vec<Candidate>) {
    let Some(texts) = grid.rows.get(row).map(|row| &row.texts) else { return };
    for text in texts {
        let Some((one, other)) = text.split_once('/') else { continue };
        let read = |text: &str| crate::grid::Cell::read(text, &Unit::none(), grid.rows[row].line);
        let (Some(a), Some(b)) = (read(one), read(other)) else { continue };
        let operand = |cell: &crate::grid::Cell| Operand {
            text: cell.text.clone(),
            value: cell.value,
            line: cell.line,
        };
        let operands = vec![operand(&a), operand(&b)];
        found.extend(candidates(tier, relation, &Side::of_cell(&a), &Side::of_cell(&b), operands));
    }
}
