//! What a number with a unit may repeat or be computed from.

use super::relative::{COLUMN, ROW, magnitude};
use super::{Around, Linked, Place, Referent};
use crate::claims::expected::decimals;
use crate::claims::pairs::{JOINTS, side};
use crate::grid::{Cell, Grid};
use crate::interval::Interval;
use crate::quantity::Quantity;
use crate::unit::Unit;

/// Words of differences and of sums.
const DIFFERENCES: [&str; 24] = [
    "les",
    "less",
    "more",
    "saves",
    "save",
    "saved",
    "saving",
    "difference",
    "gap",
    "cheaper",
    "longer",
    "shorter",
    "faster",
    "slower",
    "higher",
    "lower",
    "above",
    "below",
    "gain",
    "lose",
    "loses",
    "drop",
    "fewer",
    "improve",
];
const SUMS: [&str; 7] = ["total", "altogether", "together", "sum", "combined", "all", "overall"];

/// Numbers of the text, the nearest, that a number may be computed from.
const MOST_WRITTEN: usize = 40;

/// Links an absolute number.
pub fn absolute(around: &Around<'_>, quantity: &Quantity) -> Linked {
    let clause = around.sentence.clause_at(quantity.start);
    let says = |words: &[&str]| clause.words.iter().any(|word| words.contains(&word.as_str()));
    let search = Search {
        around,
        quantity,
        difference: if says(&DIFFERENCES) { 2.0 } else { -1.5 },
        sum: if says(&SUMS) { 2.0 } else { -1.5 },
        computed: if crate::claims::level::is_computed(around.sentence, quantity) { 1.5 } else { 0.0 },
        written: written(around, quantity),
        linked: Linked::default(),
    };
    search.run()
}

/// A number of a table or of the text, with how near it is.
#[derive(Clone)]
struct Term {
    interval: Interval,
    unit: Unit,
    place: Place,
    near: f64,
}

struct Search<'a> {
    around: &'a Around<'a>,
    quantity: &'a Quantity,
    difference: f64,
    sum: f64,
    computed: f64,
    written: Vec<Term>,
    linked: Linked,
}

impl Term {
    fn of_cell(cell: &Cell, place: Place) -> Term {
        Term { interval: cell.interval(), unit: cell.unit.clone(), place, near: 1.0 }
    }
}

/// The size of a difference.
fn positive(value: Interval) -> Interval {
    if value.middle() < 0.0 { value.times(Interval::exact(-1.0)) } else { value }
}

fn written(around: &Around<'_>, quantity: &Quantity) -> Vec<Term> {
    let mut found = Vec::new();
    for (index, sentence) in around.pool.sentences.iter().enumerate() {
        let own = index == around.own;
        let same = sentence.block == around.sentence.block;
        let near = if own {
            1.0
        } else if same && index < around.own {
            0.3
        } else if sentence.block.abs_diff(around.sentence.block) <= 1 {
            -0.3
        } else {
            -1.0
        };
        for (at, one) in sentence.quantities.iter().enumerate() {
            if own && one.start == quantity.start || one.unit.points {
                continue;
            }
            let read = side(one);
            found.push(Term {
                interval: read.interval,
                unit: one.unit.clone(),
                place: Place::Written(index, at),
                near,
            });
        }
    }
    let implied = crate::claims::facts::implied(around.sentence);
    found.extend(implied.into_iter().map(|value| Term {
        interval: Interval::exact(value),
        unit: Unit::none(),
        place: Place::Implied(value),
        near: 0.5,
    }));
    found.sort_by(|one, other| other.near.total_cmp(&one.near));
    found.truncate(MOST_WRITTEN);
    found
}

impl Search<'_> {
    fn run(mut self) -> Linked {
        for index in self.around.linked_tables() {
            self.table(index);
        }
        self.prose();
        self.linked
    }

    fn push(
        &mut self,
        (score, named): (f64, bool),
        value: Interval,
        one: Place,
        other: Option<Place>,
        sign: char,
    ) {
        let size = magnitude(self.quantity, value);
        self.linked.add(self.quantity, Referent { score: score - size, value, one, other, sign, named });
    }

    /// How well a unit fits the one of the claim.
    fn fit(&self, unit: &Unit) -> Option<f64> {
        let own = &self.quantity.unit;
        if own.is_none() {
            return (unit.is_count() && !unit.times).then_some(if unit.is_none() { 0.0 } else { -1.0 });
        }
        if own.same_symbols(unit) {
            return Some(1.0);
        }
        if !own.same_measure(unit) {
            return None;
        }
        // What is counted may be left out, but not be another thing.
        if unit.is_count() && own.is_count() {
            return unit.is_none().then_some(-0.5);
        }
        Some(if own.same_things(unit) { 0.3 } else { -1.0 })
    }

    fn table(&mut self, index: usize) {
        let around = self.around;
        let grid = around.pool.grids[index];
        let own_line = around.sentence.line_of(self.quantity);
        let columns: Vec<usize> = grid.numeric().take(24).collect();
        for column in &columns {
            let score = around.tables[index] + COLUMN * around.affinities[index].columns[*column];
            let partner = self.partner(grid, *column);
            for row in 0..grid.rows.len() {
                let Some(cell) = grid.cell(row, *column) else { continue };
                if grid.is_list() && cell.line == own_line {
                    continue;
                }
                let place = Place::Cell(index, row, *column);
                let score = score + 1.5 * ROW * around.affinities[index].rows[row];
                if let Some(fit) = self.fit_cell(cell) {
                    let (own, other) = (decimals(&self.quantity.text), decimals(&cell.text));
                    let digits = if own == other {
                        0.5
                    } else if own > other {
                        -1.5
                    } else {
                        0.0
                    };
                    let bare = Interval::exact(1.0 / cell.unit.factor());
                    let value = if self.quantity.unit.is_none() {
                        cell.interval().times(bare)
                    } else {
                        cell.interval()
                    };
                    let named =
                        partner > 0.0 || fit >= 1.0 && around.affinities[index].columns[*column] > 0.3;
                    self.push((score + fit + digits + partner, named), value, place, None, ' ');
                }
                self.with_written(cell, place, score);
                self.with_cells(index, row, *column, score);
            }
            self.sums(index, *column, score);
        }
    }

    /// How well a cell fits; a number without unit may repeat one that has.
    fn fit_cell(&self, cell: &Cell) -> Option<f64> {
        if self.quantity.unit.is_none() && !cell.unit.is_relative() && !cell.unit.is_count() {
            return Some(-0.7);
        }
        self.fit(&cell.unit)
    }

    /// `155 ms instead of 1,340 ms`: where the number joined to this one is of a column, this one should be, too.
    fn partner(&self, grid: &Grid, column: usize) -> f64 {
        let own = &self.around.sentence.quantities;
        let Some(at) = own.iter().position(|one| one.start == self.quantity.start) else { return 0.0 };
        let neighbors = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let found = neighbors.filter_map(|other| own.get(other)).any(|other| {
            let (first, second) = if other.start < self.quantity.start {
                (other, self.quantity)
            } else {
                (self.quantity, other)
            };
            let between =
                self.around.sentence.text.get(first.end..second.start).unwrap_or_default().to_lowercase();
            let joins = between.len() <= 30
                && between.split_whitespace().any(|word| JOINTS.contains(&word) || word == "instead");
            let holds = |row: usize| {
                grid.cell(row, column).is_some_and(|cell| {
                    let bare = if other.unit.is_none() { cell.unit.factor() } else { 1.0 };
                    let alike = other.unit.is_none() || cell.unit.same_measure(&other.unit);
                    alike && Interval::new(other.low * bare, other.high * bare).meets(cell.interval())
                })
            };
            joins && !other.unit.is_relative() && (0..grid.rows.len()).any(holds)
        });
        if found { 3.0 } else { 0.0 }
    }

    /// A cell with a number of the text: a rate times a price.
    fn with_written(&mut self, cell: &Cell, place: Place, score: f64) {
        for index in 0..self.written.len() {
            let other = &self.written[index];
            if other.near < -0.5 || other.unit.is_relative() {
                continue;
            }
            let score = score + other.near - 1.5 + self.computed;
            let other = other.clone();
            self.combine(&Term::of_cell(cell, place), &other, score, false);
        }
    }

    /// Two cells of a row, or of a column.
    fn with_cells(&mut self, index: usize, row: usize, column: usize, score: f64) {
        let around = self.around;
        let grid = around.pool.grids[index];
        let Some(cell) = grid.cell(row, column) else { return };
        let place = Place::Cell(index, row, column);
        for second in grid.numeric().take(24).filter(|second| *second > column) {
            let Some(other) = grid.cell(row, second) else { continue };
            let words = 0.5 * COLUMN * around.affinities[index].columns[second];
            let (one, other) =
                (Term::of_cell(cell, place), Term::of_cell(other, Place::Cell(index, row, second)));
            self.combine(&one, &other, score + words - 2.0 + self.computed, true);
        }
        let Some(fit) = self.fit(&cell.unit) else { return };
        for other_row in row + 1..grid.rows.len() {
            let Some(other) = grid.cell(other_row, column).filter(|other| other.unit == cell.unit) else {
                continue;
            };
            let rows = &around.affinities[index].rows;
            let score = score - 0.5 * ROW * rows[row] + ROW * rows[other_row] + fit + self.difference - 0.5;
            let value = positive(cell.interval().minus(other.interval()));
            if value.middle() > 0.0 {
                self.push(
                    (score, fit >= 1.0),
                    value,
                    place,
                    Some(Place::Cell(index, other_row, column)),
                    '-',
                );
            }
        }
    }

    fn sums(&mut self, index: usize, column: usize, score: f64) {
        let grid = self.around.pool.grids[index];
        let cells: Vec<&Cell> = (0..grid.rows.len()).filter_map(|row| grid.cell(row, column)).collect();
        let Some(fit) = cells.first().and_then(|cell| self.fit(&cell.unit)) else { return };
        if cells.len() < 2 {
            return;
        }
        let sum = cells.iter().fold(Interval::exact(0.0), |sum, cell| sum.plus(cell.interval()));
        self.push((score + fit + self.sum, fit >= 1.0), sum, Place::Column(index, column), None, ' ');
        let mean = sum.times(Interval::exact(1.0 / cells.len() as f64));
        self.push((score + fit - 1.0, false), mean, Place::Column(index, column), None, ' ');
    }

    /// Products, quotients, sums and differences of two numbers whose unit fits.
    fn combine(&mut self, one: &Term, other: &Term, score: f64, cells: bool) {
        if one.unit.is_relative() || other.unit.is_relative() {
            return;
        }
        // A factor of one would repeat the other number.
        let multiplies = one.interval != Interval::exact(1.0) && other.interval != Interval::exact(1.0);
        // A number of another paragraph is rarely half of a product.
        let close = one.near > 0.0 && other.near > 0.0;
        let cancels = if one.unit.shares_symbol(&other.unit) { 0.5 } else { 0.0 };
        let measured = close && !self.quantity.unit.is_count() && (cancels > 0.0 || self.computed > 0.0);
        let product = score + cancels;
        if let Some(fit) = self.fit(&one.unit.times(&other.unit)).filter(|_| multiplies) {
            let value = one.interval.times(other.interval);
            self.push((product + fit, measured && fit >= 1.0), value, one.place, Some(other.place), '×');
        }
        for (top, bottom) in [(one, other), (other, one)] {
            let fit = self.fit(&top.unit.over(&bottom.unit)).filter(|_| multiplies);
            if let (Some(fit), Some(value)) = (fit, top.interval.over(bottom.interval)) {
                self.push((product + fit, measured && fit >= 1.0), value, top.place, Some(bottom.place), '/');
            }
        }
        let Some(fit) = self.fit(&one.unit).filter(|_| one.unit.same_measure(&other.unit)) else { return };
        let score = score + fit - if cells { 1.0 } else { 0.0 };
        let (first, second) = (one.place, Some(other.place));
        let adds = self.sum > 0.0 || self.computed > 0.0;
        self.push((score + self.sum, adds), one.interval.plus(other.interval), first, second, '+');
        let value = positive(one.interval.minus(other.interval));
        if value.middle() > 0.0 {
            let named = fit >= 1.0 && self.difference > 0.0 && close && !self.quantity.unit.is_count();
            self.push((score + self.difference, named), value, first, second, '-');
        }
    }

    fn prose(&mut self) {
        for index in 0..self.written.len() {
            let one = self.written[index].clone();
            if let Some(fit) = self.fit(&one.unit) {
                self.push((one.near + fit - 0.5, false), one.interval, one.place, None, ' ');
            }
            for second in index + 1..self.written.len() {
                // Two numbers of other sentences are too unlikely to matter, and there are many of them.
                if one.near + self.written[second].near < 1.0 {
                    break;
                }
                let other = self.written[second].clone();
                let score = 1.3 * (one.near + other.near) - 0.5 + self.computed;
                self.combine(&one, &other, score, false);
            }
        }
        for (_, listed) in self.around.pool.listed {
            for one in listed {
                let bare = one.unit.is_none() && !self.quantity.unit.is_none();
                let fit = if bare { Some(-0.5) } else { self.fit(&one.unit) };
                if let Some(fit) = fit {
                    let value = if bare {
                        Interval::new(one.low, one.high).times(Interval::exact(self.quantity.unit.factor()))
                    } else {
                        Interval::new(one.low, one.high)
                    };
                    self.push((fit - 1.0, false), value, Place::Implied(one.value), None, ' ');
                }
            }
        }
    }
}
