//! Numbers that a comparison may be about, from the clause outward.

mod clause;
mod columns;

use std::collections::HashSet;

use super::bound::StatedLimits;
use super::metric::Metric;
use super::naming::{mentions_noun, named_columns, named_rows};
use super::relation::Relation;
use super::sentence::Sentence;
use crate::finding::Operand;
use crate::grid::{Cell, ColumnKind, Grid, MOST_PAIRED_ROWS};
use crate::interval::Interval;
use crate::quantity::Quantity;
use crate::unit::Unit;
pub use clause::is_nearest;
use columns::within_rows;

/// How close a pair is to the claim. A stronger tier is never excused by a weaker one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// A pair joined by `from … to`, `against`, `instead of` in the sentence.
    Clause,
    /// Two rows or two columns that the sentence names, in the metric that it names.
    Named,
    /// Numbers of the sentence.
    Sentence,
    /// Numbers of its paragraph and of the one before.
    Beside,
    /// One row that the sentence names, with any other, in the metric that it names.
    NamedRow,
    /// The same rows in other metrics.
    OtherMetric,
    /// Any two cells of a column or of a row.
    Table,
}

/// What two numbers give.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub tier: Tier,
    pub value: Interval,
    pub formula: String,
    pub operands: Vec<Operand>,
    /// Computed from more than two numbers, or from settings: it may support a claim, but not refute one.
    pub derived: bool,
}

/// What a sentence is held against: tables and sentences around it, and what the document says once for all.
pub struct Pool<'a> {
    pub grids: &'a [&'a Grid],
    pub sentences: &'a [Sentence],
    /// The numbers of listings, by their line.
    pub listed: &'a [(u64, Vec<Quantity>)],
    /// The words of the listings.
    pub listed_words: &'a HashSet<String>,
    pub limits: &'a StatedLimits<'a>,
}

/// Words that join the two sides of one comparison and nothing else.
pub const JOINTS: [&str; 15] = [
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
    "down from",
    "up from",
    "out of",
    "over",
];

impl Pool<'_> {
    /// Whether two plain counts are settings of one column: `from 32 to 128` names rows.
    fn are_settings(&self, one: &Quantity, other: &Quantity) -> bool {
        one.unit.is_count() && self.are_numbers_of_settings(one.value, other.value)
    }

    /// Whether a column of settings has both numbers.
    pub fn are_numbers_of_settings(&self, one: f64, other: f64) -> bool {
        let holds = |grid: &Grid, column: usize, value: f64| {
            (0..grid.rows.len().min(MOST_PAIRED_ROWS))
                .any(|row| grid.cell(row, column).is_some_and(|cell| cell.value == value))
        };
        self.grids
            .iter()
            .any(|grid| grid.settings().any(|column| holds(grid, column, one) && holds(grid, column, other)))
    }

    /// Pairs of cells of one column, and of one row where columns have the same unit.
    pub fn cells(
        &self,
        sentence: &Sentence,
        context: &Sentence,
        claim: &Quantity,
        relation: Relation,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        let metric = Metric::of(sentence, claim);
        let clause = sentence.clause_at(claim.start);
        let nearest =
            self.grids.iter().filter(|grid| grid.file == sentence.file && grid.block < sentence.block);
        let nearest = nearest.map(|grid| grid.block).max();
        for grid in self.grids.iter().filter(|grid| grid.rows.len() >= 2) {
            let named = named_rows(sentence, grid);
            let own = named_rows(&clause, grid);
            let nearby = named_rows(context, grid);
            let columns = Columns::of(grid, sentence, &clause, &metric);
            let paired = grid.rows.len().min(MOST_PAIRED_ROWS);
            for one in 0..paired {
                for other in one + 1..paired {
                    let is_there = |rows: &[usize]| rows.contains(&one) || rows.contains(&other);
                    let fits = own.is_empty() || is_there(&own);
                    let few = named.len() <= 3 || own.len() == 2;
                    let both = fits && few && named.contains(&one) && named.contains(&other)
                        || grid.rows.len() == 2 && grid.file == sentence.file && nearest == Some(grid.block);
                    let either = fits && is_there(&named);
                    let beside = nearby.contains(&one) && nearby.contains(&other) && nearby.len() <= 3;
                    let tier = match (both && !grid.repeats, either || beside) {
                        (true, _) => Tier::Named,
                        (_, true) => Tier::NamedRow,
                        _ => Tier::Table,
                    };
                    row_pair(grid, (one, other), tier, relation, &columns, &mut found);
                }
            }
            within_rows(grid, &named, sentence, relation, &columns, &mut found);
            let about: Vec<usize> = if grid.rows.len() <= 3 { (0..grid.rows.len()).collect() } else { named };
            against_cells(grid, &about, sentence, claim, relation, &columns, &mut found);
        }
        found
    }

    /// Pairs of numbers of the sentence, and then of its paragraph.
    pub fn beside(&self, sentence: &Sentence, claim: &Quantity, relation: Relation) -> Vec<Candidate> {
        let mut sides = Vec::new();
        self.push_sides(sentence, sentence, claim, &mut sides);
        let mut found = pairs(&sides, Tier::Sentence, relation);
        for other in self
            .sentences
            .iter()
            .filter(|other| sentence.block.wrapping_sub(other.block) <= 1 && other.text != sentence.text)
        {
            self.push_sides(other, sentence, claim, &mut sides);
        }
        sides.truncate(MOST_SIDES);
        found.extend(pairs(&sides, Tier::Beside, relation));
        found
    }

    /// Every pair of numbers of one measure in the prose and the listings, and of these with cells.
    pub fn document(&self, sentence: &Sentence, claim: &Quantity, relation: Relation) -> Vec<Candidate> {
        let mut sides = Vec::new();
        for other in self.sentences {
            self.push_sides(other, sentence, claim, &mut sides);
        }
        for (line, quantities) in self.listed {
            for quantity in quantities.iter().filter(|quantity| !quantity.unit.is_relative()) {
                let operand = Operand { text: quantity.text.clone(), value: quantity.value, line: *line };
                sides.push((side(quantity), operand));
            }
        }
        sides.truncate(MOST_SIDES);
        let mut found = pairs(&sides, Tier::Table, relation);
        for grid in self.grids {
            for row in 0..grid.rows.len().min(MOST_PAIRED_ROWS) {
                for column in grid.numeric() {
                    let (Some(cell), Some(operand)) =
                        (grid.cell(row, column), cell_operand(grid, row, column))
                    else {
                        continue;
                    };
                    let cell = Side::of_cell(cell);
                    for (other, second) in
                        sides.iter().filter(|(other, _)| other.unit.same_measure(&cell.unit))
                    {
                        let operands = vec![operand.clone(), second.clone()];
                        found.extend(candidates(Tier::Table, relation, &cell, other, operands, true));
                    }
                }
            }
        }
        found
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
            if !(is_claim || quantity.unit.times || quantity.unit.points || quantity.in_words) {
                sides.push((side(quantity), operand(other, quantity)));
            }
        }
    }
}

/// Numbers of a document that are compared with one another.
const MOST_SIDES: usize = 200;

/// What the pairs of some numbers give.
fn pairs(sides: &[(Side, Operand)], tier: Tier, relation: Relation) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (index, (one, first)) in sides.iter().enumerate() {
        for (other, second) in &sides[index + 1..] {
            let share = matches!(relation, Relation::Share | Relation::Value);
            // Counts beside each other are rarely compared, and a ratio of percentages hardly ever.
            let unlikely =
                (one.unit.is_count() || one.unit.percent && relation != Relation::Points) && !share;
            let derived = unlikely || one.unit.is_count();
            if one.unit.same_measure(&other.unit) && !(unlikely && one.unit.percent) {
                let operands = vec![first.clone(), second.clone()];
                found.extend(candidates(tier, relation, one, other, operands, derived));
            }
        }
    }
    found
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side {
    pub value: f64,
    pub interval: Interval,
    pub unit: Unit,
}

impl Side {
    pub fn of_cell(cell: &Cell) -> Side {
        Side { value: cell.value, interval: cell.interval(), unit: cell.unit.clone() }
    }

    pub fn scaled(&self, by: f64) -> Side {
        Side {
            value: self.value * by,
            interval: self.interval.times(Interval::exact(by)),
            unit: self.unit.clone(),
        }
    }
}

pub fn side(quantity: &Quantity) -> Side {
    let interval = if quantity.unit.is_count() && quantity.is_integer() && quantity.value < 1000.0 {
        Interval::exact(quantity.value)
    } else {
        Interval::new(quantity.low, quantity.high)
    };
    Side { value: quantity.value, interval, unit: quantity.unit.clone() }
}

pub fn operand(sentence: &Sentence, quantity: &Quantity) -> Operand {
    Operand { text: quantity.text.clone(), value: quantity.value, line: sentence.line_of(quantity) }
}

pub fn cell_operand(grid: &Grid, row: usize, column: usize) -> Option<Operand> {
    let cell = grid.cell(row, column)?;
    let header = &grid.columns.get(column)?.header;
    Some(Operand {
        text: [grid.row_name(row).as_str(), header.trim(), &cell.text]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<&str>>()
            .join(" "),
        value: cell.value,
        line: cell.line,
    })
}

fn candidates(
    tier: Tier,
    relation: Relation,
    one: &Side,
    other: &Side,
    operands: Vec<Operand>,
    derived: bool,
) -> Vec<Candidate> {
    // Equal values are no comparison; their digits would allow any small one.
    if one.value == 0.0 || other.value == 0.0 || one.value == other.value {
        return Vec::new();
    }
    let (small, large) = if one.value.abs() <= other.value.abs() { (0, 1) } else { (1, 0) };
    let text = |index: usize| operands.get(index).map_or("", |operand| operand.text.as_str());
    let unitless = relation == Relation::Points && !one.unit.percent;
    let values = relation.values(one.interval, other.interval).into_iter();
    values
        .map(|value| {
            let formula = match relation {
                Relation::Points => format!("{} - {}", text(large), text(small)),
                _ => format!("{} / {}", text(large), text(small)),
            };
            // Percentages without a sign: a word error rate of 4.38.
            let value = if unitless && one.value.abs().max(other.value.abs()) > 1.0 {
                value.times(Interval::exact(0.01))
            } else {
                value
            };
            Candidate { tier, value, formula, operands: operands.clone(), derived }
        })
        .collect()
}

/// Which columns of a table a claim may be about.
pub struct Columns {
    /// Measures that fit the metric of the claim; all where it names none.
    fitting: Vec<usize>,
    others: Vec<usize>,
    /// Settings whose ratio the claim may state: `eight times the GPUs`.
    settings: Vec<usize>,
    /// Settings that the claim may divide by: `per node`, `node-hours`.
    shared: Vec<usize>,
    /// Whether the claim may be about something per token or per euro.
    per: bool,
}

impl Columns {
    fn of(grid: &Grid, sentence: &Sentence, clause: &Sentence, metric: &Metric) -> Columns {
        let measures: Vec<usize> = grid.measures().collect();
        // What another clause names says nothing where this one has a metric of its own.
        let mut named = named_columns(clause, grid);
        if named.is_empty() && !metric.is_named() {
            named = named_columns(sentence, grid);
        }
        let fits = |column: &usize| metric.fits(&grid.columns[*column]);
        let both = |column: &usize| fits(column) && named.contains(column);
        // The column that is named, then what the metric allows, then anything.
        // Where the words name a metric that no column has, what they compare is not in this table.
        let any = !metric.is_named();
        let choices: [&dyn Fn(&usize) -> bool; 4] =
            [&both, &fits, &|column| named.contains(column), &|_| any];
        let mut fitting = Vec::new();
        for choice in choices {
            if fitting.is_empty() {
                fitting = measures.iter().copied().filter(|column| choice(column)).collect();
            }
        }
        let others = measures.into_iter().filter(|column| !fitting.contains(column)).collect();
        let settings = if metric.is_about_settings { grid.settings().collect() } else { Vec::new() };
        let mentioned = |setting: &usize| {
            grid.columns[*setting].words.iter().any(|word| word.len() > 1 && mentions_noun(sentence, word))
        };
        let shared = grid.settings().filter(|_| metric.is_per);
        let shared = shared.filter(|setting| metric.is_for_one || mentioned(setting)).collect();
        Columns { fitting, others, settings, shared, per: metric.is_per }
    }
}

/// The comparisons of two rows: each measure, and each measure per unit of each setting.
fn row_pair(
    grid: &Grid,
    (one, other): (usize, usize),
    tier: Tier,
    relation: Relation,
    columns: &Columns,
    found: &mut Vec<Candidate>,
) {
    let weaker = if tier == Tier::Table { Tier::Table } else { Tier::OtherMetric };
    let listed = columns.fitting.iter().map(|column| (*column, tier, false));
    let others = columns.others.iter().filter(|_| relation.is_comparison());
    let listed = listed.chain(others.map(|column| (*column, weaker, true)));
    let listed = listed.chain(columns.settings.iter().map(|column| (*column, tier, true)));
    for (column, tier, derived) in listed {
        // A percentage that is no comparison may be a ratio of these, but need not.
        let derived = derived || relation == Relation::Value;
        let (Some(a), Some(b)) = (grid.cell(one, column), grid.cell(other, column)) else { continue };
        // A column may hold several metrics.
        if !a.unit.same_measure(&b.unit) {
            continue;
        }
        let plain = a.unit.percent || a.unit.is_none();
        if relation == Relation::Points && !plain || relation == Relation::Efficiency && a.unit.is_relative()
        {
            continue;
        }
        let operands: Vec<Operand> = [cell_operand(grid, one, column), cell_operand(grid, other, column)]
            .into_iter()
            .flatten()
            .collect();
        let sides = (Side::of_cell(a), Side::of_cell(b));
        let efficiency = relation == Relation::Efficiency;
        if !efficiency {
            found.extend(candidates(tier, relation, &sides.0, &sides.1, operands.clone(), derived));
        }
        if relation == Relation::Points {
            found.extend(differences(grid, &[one, other], column, tier));
        }
        if relation == Relation::Points || grid.columns[column].kind == ColumnKind::Setting {
            continue;
        }
        for setting in grid.settings().filter(|setting| efficiency || columns.shared.contains(setting)) {
            let (Some(n), Some(m)) = (grid.cell(one, setting), grid.cell(other, setting)) else { continue };
            if n.value <= 0.0 || m.value <= 0.0 || n.value == m.value {
                continue;
            }
            // Per device, and as device-hours; the unit says which of the two an efficiency means.
            let exponents: &[i32] = match (efficiency, a.unit.is_rate(), a.unit.is_time()) {
                (true, true, _) => &[-1],
                (true, _, true) => &[1],
                _ => &[1, -1],
            };
            for exponent in exponents.iter().copied() {
                let pair = (sides.0.scaled(n.value.powi(exponent)), sides.1.scaled(m.value.powi(exponent)));
                found.extend(candidates(tier, relation, &pair.0, &pair.1, operands.clone(), !efficiency));
            }
        }
    }
    if relation != Relation::Points && columns.per {
        two_columns(grid, (one, other), weaker, relation, found);
    }
}

/// A number of the sentence against the cells of the rows that it names: `clang 5.88 s, so ours is 1.36x faster`.
fn against_cells(
    grid: &Grid,
    rows: &[usize],
    sentence: &Sentence,
    claim: &Quantity,
    relation: Relation,
    columns: &Columns,
    found: &mut Vec<Candidate>,
) {
    let measured = |one: &&Quantity| {
        one.start != claim.start && !(one.in_words || one.unit.is_count() || one.unit.is_relative())
    };
    for own in sentence.quantities.iter().filter(measured).take(8) {
        for row in rows.iter().take(8) {
            for column in &columns.fitting {
                let Some(cell) = grid.cell(*row, *column).filter(|cell| cell.unit.same_measure(&own.unit))
                else {
                    continue;
                };
                let Some(other) = cell_operand(grid, *row, *column) else { continue };
                let operands = vec![operand(sentence, own), other];
                found.extend(candidates(
                    Tier::NamedRow,
                    relation,
                    &side(own),
                    &Side::of_cell(cell),
                    operands,
                    true,
                ));
            }
        }
    }
}

/// Cells that are differences themselves: `+1.1` of a column of gains.
fn differences(grid: &Grid, rows: &[usize], column: usize, tier: Tier) -> Vec<Candidate> {
    let signed = rows.iter().filter_map(|row| Some((*row, grid.cell(*row, column)?)));
    let signed = signed.filter(|(_, cell)| cell.text.starts_with(['+', '-', '−']));
    let candidates = signed.filter_map(|(row, cell)| {
        let operand = cell_operand(grid, row, column)?;
        let scale = if cell.unit.percent { 1.0 } else { 0.01 };
        let value = cell.interval().times(Interval::exact(if cell.value < 0.0 { -scale } else { scale }));
        Some(Candidate { tier, value, formula: operand.text.clone(), operands: vec![operand], derived: true })
    });
    candidates.collect()
}

/// Comparisons of products and quotients of two measures, such as the price of a token.
fn two_columns(
    grid: &Grid,
    (one, other): (usize, usize),
    tier: Tier,
    relation: Relation,
    found: &mut Vec<Candidate>,
) {
    let columns: Vec<usize> = grid.measures().take(10).collect();
    for (position, first) in columns.iter().enumerate() {
        for second in &columns[position + 1..] {
            let cell = |row: usize, column: usize| grid.cell(row, column).map(Cell::interval);
            let cells = [cell(one, *first), cell(one, *second), cell(other, *first), cell(other, *second)];
            let [Some(a), Some(b), Some(c), Some(d)] = cells else { continue };
            let products = Some((a.times(b), c.times(d)));
            let quotients = a.over(b).zip(c.over(d));
            for (left, right) in [products, quotients].into_iter().flatten() {
                let make =
                    |interval: Interval| Side { value: interval.middle(), interval, unit: Unit::none() };
                let operands: Vec<Operand> =
                    [cell_operand(grid, one, *first), cell_operand(grid, other, *first)]
                        .into_iter()
                        .flatten()
                        .collect();
                found.extend(candidates(tier, relation, &make(left), &make(right), operands, true));
            }
        }
    }
}
