//! What a percentage, a factor or a difference may compare.

use super::{Around, Linked, Place, Referent};
use crate::claims::metric::Metric;
use crate::claims::pairs::{JOINTS, Side, is_nearest, side};
use crate::claims::relation::Relation;
use crate::grid::{ColumnKind, Grid};
use crate::interval::Interval;
use crate::quantity::Quantity;

pub(super) const ROW: f64 = 2.5;
pub(super) const COLUMN: f64 = 2.0;
/// How clearly a column may be named by the sentences before alone.
const EARLIER_ONLY: f64 = 0.6;

/// Numbers of the text, the nearest, that a claim may compare.
const MOST_SIDES: usize = 40;

/// Links a relative number.
pub fn relative(around: &Around<'_>, quantity: &Quantity, relation: Relation) -> Linked {
    let metric = Metric::of(around.sentence, quantity);
    // `0.72 times as fast`: the smaller over the larger.
    let below_one = relation == Relation::Times && quantity.value < 1.0;
    let relation = if below_one { Relation::Share } else { relation };
    let mut search = Search { around, quantity, relation, metric, linked: Linked::default() };
    for index in around.linked_tables() {
        search.table(index);
    }
    search.prose();
    search.linked
}

struct Search<'a> {
    around: &'a Around<'a>,
    quantity: &'a Quantity,
    relation: Relation,
    metric: Metric,
    linked: Linked,
}

impl Search<'_> {
    fn push(&mut self, (score, named): (f64, bool), one: &Side, other: &Side, places: (Place, Place)) {
        if one.value == 0.0 || other.value == 0.0 || one.value == other.value {
            return;
        }
        let unitless = self.relation == Relation::Points && !one.unit.percent;
        let (first, second) =
            if one.value.abs() >= other.value.abs() { places } else { (places.1, places.0) };
        let sign = if self.relation == Relation::Points { '-' } else { '/' };
        for value in self.relation.values(one.interval, other.interval) {
            let large = one.value.abs().max(other.value.abs()) > 1.0;
            let value = if unitless && large { value.times(Interval::exact(0.01)) } else { value };
            let score = score - magnitude(self.quantity, value);
            self.linked
                .add(self.quantity, Referent { score, value, one: first, other: Some(second), sign, named });
        }
    }

    /// How likely a column is by its words and its unit, and whether either says so.
    fn column_score(&self, grid: &Grid, index: usize, column: usize) -> (f64, bool) {
        let affinity = self.around.affinities[index].columns[column];
        let unit = &grid.columns[column].unit;
        let setting = grid.columns[column].kind == ColumnKind::Setting;
        // What another clause is about says little.
        let far = self.metric.is_of_sentence;
        let kind = match (self.metric.is_named(), unit.is_none(), self.metric.fits(&grid.columns[column])) {
            _ if self.metric.is_about_settings && !setting => -2.0,
            (false, ..) | (_, true, _) => 0.0,
            (_, _, true) if far => 0.3,
            (_, _, true) => 1.0,
            (_, _, false) if far => -0.5,
            (_, _, false) => -3.0,
        };
        let only = grid.measures().count() == 1;
        let points = self.relation == Relation::Points && unit.percent;
        // What only the sentences before mention is not named.
        (COLUMN * affinity + kind, affinity > EARLIER_ONLY || kind > 0.0 || only || points)
    }

    fn table(&mut self, index: usize) {
        let grid = self.around.pool.grids[index];
        let rows = grid.rows.len();
        let base = self.around.tables[index];
        let measures: Vec<usize> = grid
            .numeric()
            .filter(|column| {
                grid.columns[*column].kind == ColumnKind::Measure || self.metric.is_about_settings
            })
            .take(24)
            .collect();
        for column in &measures {
            let (score, named) = self.column_score(grid, index, *column);
            let score = (base + score, named);
            for one in 0..rows {
                for other in one + 1..rows {
                    self.rows(index, (one, other), *column, score);
                }
            }
            let is_efficiency = grid.columns[*column].words.iter().any(|word| word == "efficiency");
            if matches!(self.relation, Relation::Value | Relation::Share)
                || self.relation == Relation::Efficiency && is_efficiency
            {
                self.restated(index, *column, score);
            }
            if self.relation == Relation::Times {
                self.factors(index, *column, score);
            }
            if self.relation == Relation::Points {
                self.differences(index, *column, score);
            }
        }
        for row in 0..rows {
            self.within(index, row, &measures, base);
        }
        if self.metric.is_per && measures.len() <= 10 {
            self.quotients(index, &measures, base);
        }
    }

    /// Two rows in one column.
    fn rows(
        &mut self,
        index: usize,
        (one, other): (usize, usize),
        column: usize,
        (score, named): (f64, bool),
    ) {
        let grid = self.around.pool.grids[index];
        let (Some(a), Some(b)) = (grid.cell(one, column), grid.cell(other, column)) else { return };
        let plain = a.unit.percent || a.unit.is_none();
        if !a.unit.same_measure(&b.unit) || self.relation == Relation::Points && !plain {
            return;
        }
        let affinity = &self.around.affinities[index].rows;
        // At least one must be named, but where a table beside the sentence has only two.
        let sentence = self.around.sentence;
        let beside = grid.file == sentence.file && grid.block.abs_diff(sentence.block) <= 4;
        let clear = affinity[one] + affinity[other] >= 0.6 || grid.rows.len() == 2 && beside;
        let named = named && clear;
        let mut score = score + ROW * (affinity[one] + affinity[other]);
        // People compare with the first row, the last one, and the one before.
        score += if one == 0 { 0.4 } else { 0.0 } + if other == one + 1 { 0.4 } else { 0.0 };
        if rows_alike(grid, one, other) {
            score += 0.5;
        }
        let (x, y) = (Side::of_cell(a), Side::of_cell(b));
        let places = (Place::Cell(index, one, column), Place::Cell(index, other, column));
        let efficiency = self.relation == Relation::Efficiency;
        if self.relation == Relation::Value {
            score -= 1.5;
        }
        self.push((if efficiency { score - 2.5 } else { score }, named), &x, &y, places);
        if self.relation == Relation::Points {
            return;
        }
        for setting in grid.settings() {
            let (Some(n), Some(m)) = (grid.cell(one, setting), grid.cell(other, setting)) else { continue };
            if n.value <= 0.0 || m.value <= 0.0 || n.value == m.value || setting == column {
                continue;
            }
            let penalty = if efficiency {
                0.0
            } else if self.metric.is_per || self.metric.is_for_one {
                1.0
            } else {
                3.0
            };
            for exponent in [-1, 1] {
                let (u, v) = (x.scaled(n.value.powi(exponent)), y.scaled(m.value.powi(exponent)));
                self.push((score - penalty, named), &u, &v, places);
            }
        }
    }

    /// Cells that are differences themselves: `+1.1` of a column of gains.
    fn differences(&mut self, index: usize, column: usize, (score, named): (f64, bool)) {
        let grid = self.around.pool.grids[index];
        for row in 0..grid.rows.len() {
            let Some(cell) = grid.cell(row, column).filter(|cell| cell.text.starts_with(['+', '-', '−']))
            else {
                continue;
            };
            let scale = if cell.unit.percent { 1.0 } else { 0.01 };
            let value = cell.interval().times(Interval::exact(if cell.value < 0.0 { -scale } else { scale }));
            let score = score + 1.5 * ROW * self.around.affinities[index].rows[row];
            let one = Place::Cell(index, row, column);
            self.linked.add(self.quantity, Referent { score, value, one, other: None, sign: ' ', named });
        }
    }

    /// Factors that a table has: `1.69x` of a column of speed-ups.
    fn factors(&mut self, index: usize, column: usize, (score, named): (f64, bool)) {
        let grid = self.around.pool.grids[index];
        let found = &grid.columns[column];
        let names = ["speedup", "speed-up", "factor", "ratio"];
        let is_factor = found.unit.times
            || found.unit.is_none() && found.words.iter().any(|word| names.contains(&word.as_str()));
        for row in 0..if is_factor { grid.rows.len() } else { 0 } {
            let Some(cell) = grid.cell(row, column) else { continue };
            let score = score + 1.0 + 1.5 * ROW * self.around.affinities[index].rows[row];
            let one = Place::Cell(index, row, column);
            let value = cell.interval();
            self.linked.add(self.quantity, Referent { score, value, one, other: None, sign: ' ', named });
        }
    }

    /// Percentages and shares that a table has.
    fn restated(&mut self, index: usize, column: usize, (score, named): (f64, bool)) {
        let grid = self.around.pool.grids[index];
        let affinity = &self.around.affinities[index].rows;
        let cells: Vec<(usize, Interval)> =
            (0..grid.rows.len()).filter_map(|row| Some((row, grid.cell(row, column)?.interval()))).collect();
        let sum = cells.iter().fold(Interval::exact(0.0), |sum, (_, cell)| sum.plus(*cell));
        let missing = ["miss", "lose", "error", "fail", "wrong", "lost", "failed"];
        let rest = if missing.iter().any(|word| self.around.sentence.mentions(word)) { 0.0 } else { 1.5 };
        for (row, interval) in &cells {
            let Some(cell) = grid.cell(*row, column) else { continue };
            let place = Place::Cell(index, *row, column);
            let row_score = score + 1.5 * ROW * affinity[*row];
            let share = cell.unit.percent || cell.unit.is_none() && (0.0..=1.0).contains(&cell.value);
            if share {
                let own = Referent {
                    score: row_score + 1.0,
                    value: *interval,
                    one: place,
                    other: None,
                    sign: ' ',
                    named,
                };
                self.linked.add(self.quantity, own);
                let value = Interval::exact(1.0).minus(*interval);
                self.linked.add(self.quantity, Referent { score: row_score - rest, value, ..own });
            } else if let Some(value) = interval.over(sum) {
                let whole = Some(Place::Column(index, column));
                let referent =
                    Referent { score: row_score - 0.5, value, one: place, other: whole, sign: '/', named };
                self.linked.add(self.quantity, referent);
            }
        }
    }

    /// Two columns in one row.
    fn within(&mut self, index: usize, row: usize, measures: &[usize], base: f64) {
        let grid = self.around.pool.grids[index];
        let affinity = &self.around.affinities[index];
        for (position, one) in measures.iter().enumerate() {
            for other in &measures[position + 1..] {
                let (Some(a), Some(b)) = (grid.cell(row, *one), grid.cell(row, *other)) else { continue };
                if !a.unit.same_measure(&b.unit) {
                    continue;
                }
                let unit = &grid.columns[*one].unit;
                let alike =
                    measures.iter().filter(|column| grid.columns[**column].unit.same_symbols(unit)).count();
                let words = affinity.columns[*one] + affinity.columns[*other];
                let kind = if unit.is_none() || !self.metric.is_named() {
                    0.0
                } else if self.metric.fits_unit(&a.unit) {
                    1.0
                } else {
                    -3.0
                };
                let only = if alike == 2 { 1.0 } else { 0.0 };
                let plain = a.unit.is_none();
                let strange = match self.relation {
                    Relation::Points => !a.unit.percent && !plain,
                    relation => plain && relation.is_comparison(),
                };
                let same = if strange { -2.5 } else { 0.0 };
                let score = base + 1.5 * ROW * affinity.rows[row] + COLUMN * words + kind + only + same - 0.5;
                let places = (Place::Cell(index, row, *one), Place::Cell(index, row, *other));
                let named = words > EARLIER_ONLY || kind > 0.0 || alike == 2;
                self.push((score, named), &Side::of_cell(a), &Side::of_cell(b), places);
            }
        }
    }

    /// Prices of tokens, joules of frames: quotients and products of two columns, compared between rows.
    fn quotients(&mut self, index: usize, measures: &[usize], base: f64) {
        let grid = self.around.pool.grids[index];
        let affinity = &self.around.affinities[index];
        for (position, first) in measures.iter().enumerate() {
            for second in &measures[position + 1..] {
                for one in 0..grid.rows.len() {
                    for other in one + 1..grid.rows.len() {
                        let cell =
                            |row: usize, column: usize| grid.cell(row, column).map(|cell| cell.interval());
                        let cells = [
                            cell(one, *first),
                            cell(one, *second),
                            cell(other, *first),
                            cell(other, *second),
                        ];
                        let [Some(a), Some(b), Some(c), Some(d)] = cells else { continue };
                        let score = base
                            + ROW * (affinity.rows[one] + affinity.rows[other])
                            + 0.5 * COLUMN * (affinity.columns[*first] + affinity.columns[*second])
                            - 1.0;
                        let places = (Place::Cell(index, one, *first), Place::Cell(index, other, *first));
                        let both = [Some((a.times(b), c.times(d))), a.over(b).zip(c.over(d))];
                        for (left, right) in both.into_iter().flatten() {
                            let make = |interval: Interval| Side {
                                value: interval.middle(),
                                interval,
                                unit: crate::unit::Unit::none(),
                            };
                            self.push((score, false), &make(left), &make(right), places);
                        }
                    }
                }
            }
        }
    }

    /// Numbers of the sentence, of those around it, and of these with cells.
    fn prose(&mut self) {
        let around = self.around;
        let mut sides: Vec<(Side, Place, f64)> = Vec::new();
        let own_block = around.sentence.block;
        for (index, sentence) in around.pool.sentences.iter().enumerate() {
            let distance = own_block.abs_diff(sentence.block);
            let near = if index == around.own {
                2.0
            } else if distance == 0 {
                1.0
            } else if distance <= 1 {
                0.3
            } else {
                -0.8
            };
            for (at, quantity) in sentence.quantities.iter().enumerate() {
                let claim = index == around.own && quantity.start == self.quantity.start;
                let unusable = quantity.unit.times || quantity.unit.points || quantity.in_words;
                if claim || unusable {
                    continue;
                }
                sides.push((side(quantity), Place::Written(index, at), near));
            }
        }
        sides.sort_by(|one, other| other.2.total_cmp(&one.2));
        sides.truncate(MOST_SIDES);
        let rows: Vec<bool> = sides.iter().map(|(_, place, _)| names_rows(around, *place)).collect();
        for (position, (one, first, near)) in sides.iter().enumerate() {
            for (behind, (other, second, beside)) in sides[position + 1..].iter().enumerate() {
                if !one.unit.same_measure(&other.unit) {
                    continue;
                }
                let settings = rows[position] && rows[position + 1 + behind]
                    || one.unit.is_count() && around.pool.are_numbers_of_settings(one.value, other.value);
                let joined =
                    !settings && !one.unit.is_count() && joined(around, self.quantity, *first, *second);
                let count = one.unit.is_count() || one.unit.percent && self.relation != Relation::Points;
                let kind =
                    if self.metric.is_named() && !one.unit.is_none() && !self.metric.fits_unit(&one.unit) {
                        -2.0
                    } else {
                        0.5
                    };
                let score = near + beside + kind + if joined { 3.0 } else { 0.0 }
                    - if settings {
                        5.0
                    } else if count {
                        2.0
                    } else {
                        0.0
                    };
                let named = !one.unit.is_count() && kind > 0.0;
                self.push((score, named), one, other, (*first, *second));
            }
        }
        self.restated_prose(&sides);
        for (side, place, near) in sides.iter().filter(|(side, _, near)| *near > 0.0 && !side.unit.is_none())
        {
            self.against_cells(side, *place, *near);
        }
    }

    fn restated_prose(&mut self, sides: &[(Side, Place, f64)]) {
        if !matches!(self.relation, Relation::Value | Relation::Share | Relation::Efficiency) {
            return;
        }
        for (side, place, near) in sides.iter().filter(|(side, ..)| side.unit.percent) {
            let referent = Referent {
                score: near + 0.5,
                value: side.interval,
                one: *place,
                other: None,
                sign: ' ',
                named: false,
            };
            self.linked.add(self.quantity, referent);
        }
    }

    /// A number of the text against the cells of a column: `clang 5.88 s, so ours is 1.36x faster`. It may support a
    /// claim, but refutes none.
    fn against_cells(&mut self, side: &Side, place: Place, near: f64) {
        for index in self.around.linked_tables() {
            let grid = self.around.pool.grids[index];
            for column in grid.measures().take(24) {
                if !grid.columns[column].unit.same_measure(&side.unit) {
                    continue;
                }
                let (score, _) = self.column_score(grid, index, column);
                let score = self.around.tables[index] + score + near - 1.0;
                for row in 0..grid.rows.len() {
                    let Some(cell) = grid.cell(row, column) else { continue };
                    if !cell.unit.same_measure(&side.unit) {
                        continue;
                    }
                    let score = score + ROW * self.around.affinities[index].rows[row];
                    self.push(
                        (score, false),
                        side,
                        &Side::of_cell(cell),
                        (place, Place::Cell(index, row, column)),
                    );
                }
            }
        }
    }
}

/// What is far from a claim is hardly what it means, and no slip of the pen either.
pub(super) fn magnitude(quantity: &Quantity, value: Interval) -> f64 {
    let ratio = value.middle() / quantity.value;
    if (0.1..=10.0).contains(&ratio) { 0.0 } else { 2.5 }
}

/// Whether two rows differ in one thing only.
fn rows_alike(grid: &Grid, one: usize, other: usize) -> bool {
    let settings: Vec<usize> = grid.settings().collect();
    let differing = settings
        .iter()
        .filter(|column| {
            grid.cell(one, **column).map(|cell| cell.value)
                != grid.cell(other, **column).map(|cell| cell.value)
        })
        .count();
    let labels = grid.rows[one].label != grid.rows[other].label;
    settings.len() + usize::from(!grid.rows[one].label.is_empty()) > 1 && differing + usize::from(labels) == 1
}

/// Whether a number of the text is what names a row: `at 8 requests/s`.
fn names_rows(around: &Around<'_>, place: Place) -> bool {
    let Place::Written(index, at) = place else { return false };
    let quantity = around.pool.sentences.get(index).and_then(|sentence| sentence.quantities.get(at));
    let Some(digits) = quantity
        .and_then(|one| one.text.split(|one: char| !(one.is_ascii_digit() || ".,".contains(one))).next())
    else {
        return false;
    };
    let named = |label: &str| {
        label.split(|one: char| !(one.is_ascii_digit() || ".,".contains(one))).any(|own| own == digits)
    };
    let tables = around.linked_tables();
    tables.iter().any(|index| around.pool.grids[*index].rows.iter().any(|row| named(&row.label)))
}

/// Whether a word joins two numbers of one sentence.
fn joined(around: &Around<'_>, claim: &Quantity, one: Place, other: Place) -> bool {
    let (Place::Written(index, first), Place::Written(second_index, second)) = (one, other) else {
        return false;
    };
    if index != second_index || first.abs_diff(second) != 1 {
        return false;
    }
    let Some(sentence) = around.pool.sentences.get(index) else { return false };
    let (Some(a), Some(b)) =
        (sentence.quantities.get(first.min(second)), sentence.quantities.get(first.max(second)))
    else {
        return false;
    };
    // A pair with a relative number of its own is not this one's.
    if index == around.own {
        let gap = if claim.end <= a.start { claim.end..a.start } else { b.end..claim.start };
        let gap = sentence.text.get(gap).unwrap_or("...;");
        if gap.len() > 60 || gap.contains(';') || !is_nearest(&sentence.quantities, claim, a.start, b.end) {
            return false;
        }
    }
    let between = sentence.text.get(a.end..b.start).unwrap_or_default().to_lowercase();
    between.len() <= 48 && between.split_whitespace().any(|word| JOINTS.contains(&word))
}
