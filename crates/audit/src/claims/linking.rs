//! Linking: which numbers of a document the words around a claim point at.
//!
//! Every pair of cells, every cell and every product that a claim may be about is a referent with a score, the
//! logarithm of how likely its words, its metric and its place make it. Whether its value agrees with the claim plays no part in
//! the score. A claim whose likely referents all give something else is wrong, or about something that the document
//! does not have. (AggChecker, SIGMOD 2019, and BriQ, ICDE 2019, link in this way.)

mod absolute;
mod mentions;
mod relative;

use super::pairs::{Pool, cell_operand, operand};
use super::relation::{Match, Relation, compare};
use super::sentence::Sentence;
use crate::finding::Operand;
use crate::grid::{Grid, MOST_PAIRED_ROWS};
use crate::interval::Interval;
use crate::quantity::Quantity;
use mentions::{Affinity, Mentions, shared_words};

pub use absolute::absolute;
pub use relative::relative;

/// Where a number of a referent stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// Table, row and column.
    Cell(usize, usize, usize),
    /// Sentence and quantity.
    Written(usize, usize),
    /// The sum of a column.
    Column(usize, usize),
    /// A number that the words imply, such as 24 hours a day.
    Implied(f64),
}

/// What a claim may be about.
#[derive(Debug, Clone, Copy)]
pub struct Referent {
    pub score: f64,
    pub value: Interval,
    pub one: Place,
    pub other: Option<Place>,
    pub sign: char,
    /// Whether words or units say that this metric is meant.
    pub named: bool,
}

/// The referents of a claim, summed up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linked {
    /// The best referent of all.
    pub top: Option<Referent>,
    /// The best that agrees.
    pub agreeing: Option<Referent>,
    /// The best that nearly agrees.
    pub near: Option<Referent>,
}

/// Referents whose scores differ by no more are equally likely.
const CLOSE: f64 = 1.5;

impl Linked {
    pub fn add(&mut self, quantity: &Quantity, referent: Referent) {
        let better = |best: &Option<Referent>| best.is_none_or(|best| referent.score > best.score);
        if better(&self.top) {
            self.top = Some(referent);
        }
        if !better(&self.agreeing) && !better(&self.near) {
            return;
        }
        let verdict = compare(quantity, referent.value);
        if verdict == Match::Agrees && better(&self.agreeing) {
            self.agreeing = Some(referent);
        }
        if verdict >= Match::Near && better(&self.near) {
            self.near = Some(referent);
        }
    }

    /// Whether one of the likeliest referents agrees.
    pub fn agrees(&self) -> bool {
        self.top.is_some_and(|top| top.score >= 1.0) && self.gap() <= CLOSE
    }

    /// Whether the words leave hardly a doubt.
    pub fn is_clear(&self) -> bool {
        self.top.is_some_and(|top| top.score >= 6.0) && self.gap() >= 5.0
    }

    /// What a comparison seems to be about, where that gives another number. The limits were chosen on write-ups with known
    /// true numbers, of which some were changed: of the true comparisons 1 in 100 is beyond them, of the changed ones
    /// two fifths.
    pub fn missed_comparison(
        &self,
        quantity: &Quantity,
        relation: Relation,
        elsewhere: bool,
    ) -> Option<Referent> {
        let top = self.top?;
        let prose = matches!((top.one, top.other), (Place::Written(..), Some(Place::Written(..))));
        let (least, wanted) = match relation {
            Relation::Value => return None,
            // `a factor of 12 overall` names no metric; `40 % less` may be of one that no table has.
            Relation::Times | Relation::Efficiency | Relation::Change
                if !(top.named || prose || elsewhere) =>
            {
                (4.0, 4.0)
            }
            _ if !top.named => return None,
            // A share may be one of anything.
            _ if elsewhere || relation == Relation::Share => (5.5, 6.0),
            // Two numbers of the text are compared only where a word joins them.
            _ if prose => (6.0, 2.2),
            _ if top.score >= 6.0 => (6.0, 2.2),
            _ => (2.0, 2.7),
        };
        // A slip is rarely far off; what is far off is about something else.
        let ratio = (top.value.middle() / quantity.value).abs();
        let wanted = match ratio {
            0.25..=4.0 => wanted,
            0.1..=10.0 => wanted + 2.0,
            _ => return None,
        };
        (top.score >= least && self.gap() > wanted).then_some(top)
    }

    /// What an absolute number seems to be computed from, where that gives another one of its size. One that only seems to
    /// repeat a cell may as well be new.
    pub fn missed_value(&self, quantity: &Quantity) -> Option<Referent> {
        let top = self.top.filter(|top| top.named && top.score >= 2.0)?;
        let computed = top.other.is_some() || matches!(top.one, Place::Column(..));
        let ratio = top.value.middle() / quantity.value;
        (computed && self.gap() > 3.0 && (0.5..=2.0).contains(&ratio)).then_some(top)
    }

    /// How much less likely the best referent that agrees is than the best of all.
    pub fn gap(&self) -> f64 {
        let best = [self.agreeing, self.near].into_iter().flatten().map(|one| one.score).reduce(f64::max);
        match (self.top, best) {
            (Some(top), Some(best)) => top.score - best,
            _ => f64::INFINITY,
        }
    }
}

/// Tables before and after a claim, and of other documents, that it may be about.
const MOST_LINKED: usize = 8;

/// A claim with the tables and sentences that it may be about.
pub struct Around<'a> {
    pub sentence: &'a Sentence,
    pub pool: &'a Pool<'a>,
    /// The position of the sentence in the pool.
    pub own: usize,
    pub affinities: Vec<Affinity>,
    /// How likely each table is by its distance and its caption.
    pub tables: Vec<f64>,
}

impl<'a> Around<'a> {
    pub fn new(sentence: &'a Sentence, quantity: &Quantity, pool: &'a Pool<'a>) -> Around<'a> {
        let mentions = Mentions::of(sentence, (quantity.start, quantity.end), pool.sentences);
        let own = |grid: &&&Grid| grid.file == sentence.file;
        let before = pool.grids.iter().filter(own).filter(|grid| grid.block < sentence.block).count();
        let mut counts = (0, 0);
        let mut place = |grid: &&Grid| {
            let own = grid.file == sentence.file;
            let index = if own { &mut counts.0 } else { &mut counts.1 };
            let distance = match own {
                true if *index < before => before - 1 - *index,
                true => *index - before,
                false => *index,
            };
            *index += 1;
            let usable = distance < MOST_LINKED && (1..=MOST_PAIRED_ROWS).contains(&grid.rows.len());
            let affinity = if usable { mentions.affinity(grid) } else { Affinity::default() };
            let far = if own { 0.6 * f64::min(distance as f64, 3.0) } else { 1.5 };
            (affinity, shared_words(&mentions, &grid.caption) - far)
        };
        let (affinities, tables) = pool.grids.iter().map(&mut place).unzip();
        let own =
            pool.sentences.iter().position(|one| one.block == sentence.block && one.text == sentence.text);
        Around { sentence, pool, own: own.unwrap_or(0), affinities, tables }
    }

    /// The tables that a claim may be about.
    fn linked_tables(&self) -> Vec<usize> {
        (0..self.pool.grids.len()).filter(|index| !self.affinities[*index].rows.is_empty()).collect()
    }

    /// The operand at a place.
    pub fn operand(&self, place: Place) -> Option<Operand> {
        match place {
            Place::Cell(grid, row, column) => cell_operand(self.pool.grids.get(grid)?, row, column),
            Place::Written(index, quantity) => {
                let sentence = self.pool.sentences.get(index)?;
                Some(operand(sentence, sentence.quantities.get(quantity)?))
            }
            Place::Column(grid, column) => {
                let grid = self.pool.grids.get(grid)?;
                let header = &grid.columns.get(column)?.header;
                let text = format!("the sum of {header}");
                Some(Operand { text, value: 0.0, line: grid.header_line })
            }
            Place::Implied(value) => {
                let line = self.sentence.line_at(0);
                Some(Operand { text: crate::number::shown(value), value, line })
            }
        }
    }

    pub fn operands(&self, referent: &Referent) -> Vec<Operand> {
        let places = [Some(referent.one), referent.other];
        places.into_iter().flatten().filter_map(|place| self.operand(place)).collect()
    }

    pub fn formula(&self, referent: &Referent) -> String {
        let text = |place| self.operand(place).map_or(String::new(), |operand| operand.text);
        match referent.other {
            Some(other) => format!("{} {} {}", text(referent.one), referent.sign, text(other)),
            None => text(referent.one),
        }
    }
}
