//! What may bear on a relative number.

use crate::claims::naming::{named_columns, named_rows};
use crate::claims::pairs::{Candidate, Pool, Tier, cell_operand, operand};
use crate::claims::relation::{Match, Relation, compare};
use crate::claims::sentence::Sentence;
use crate::finding::Operand;
use crate::grid::{ColumnKind, MOST_PAIRED_ROWS};
use crate::interval::Interval;
use crate::quantity::Quantity;

/// What may bear on a claim, from all tiers but the last.
pub struct Evidence<'a> {
    pub quantity: &'a Quantity,
    pub candidates: Vec<Candidate>,
    /// The words behind the claim name one row: `6 % longer than with AdamW`, `31 % of F16`.
    pub reference: bool,
    /// The clause names one row of one table, and its words say which metric is compared.
    pub sole_row: bool,
    /// The sentence names two rows or two columns of a table.
    pub names_two: bool,
    /// The joined pair stands right before the claim: `71.5 → 86.0 %, so 14.5 points`.
    pub beside_pair: bool,
}

impl Evidence<'_> {
    pub fn tier(&self, tier: Tier) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(move |candidate| candidate.tier == tier)
    }

    pub fn agreeing(&self, tier: Tier) -> Option<&Candidate> {
        let agrees = |candidate: &&Candidate| compare(self.quantity, candidate.value) == Match::Agrees;
        let direct = self.tier(tier).filter(|candidate| !candidate.derived).find(agrees);
        direct.or_else(|| self.tier(tier).find(agrees))
    }

    pub fn best(&self, tier: Tier) -> Match {
        self.tier(tier).map(|candidate| compare(self.quantity, candidate.value)).max().unwrap_or(Match::Far)
    }

    /// Whether a candidate of a tier gives the number under another reading of its words.
    pub fn agrees_as(&self, relation: Relation, tier: Tier) -> bool {
        relation == Relation::Less
            && self.tier(tier).any(|candidate| {
                let ratio = candidate.value.middle();
                let saved = ratio / (1.0 + ratio);
                (self.quantity.low..=self.quantity.high).contains(&saved)
            })
    }

    /// Whether the sentence has exactly one pair of numbers of one kind.
    pub fn sole_pair(&self) -> bool {
        let mut pairs = self.tier(Tier::Sentence).filter(|candidate| !candidate.derived);
        let Some(first) = pairs.next() else { return false };
        pairs.all(|other| other.operands == first.operands)
    }

    pub fn has(&self, tier: Tier) -> bool {
        self.tier(tier).any(|candidate| !candidate.derived)
    }

    pub fn of(&self, tier: Tier) -> Vec<&Candidate> {
        self.tier(tier).filter(|candidate| !candidate.derived).collect()
    }
}

/// Cells that hold percentages or shares, and what is missing to the whole.
pub fn restatements(
    sentence: &Sentence,
    context: &Sentence,
    quantity: &Quantity,
    pool: &Pool<'_>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for grid in pool.grids {
        let named = named_rows(sentence, grid);
        let nearby = named_rows(context, grid);
        let mut columns = named_columns(sentence, grid);
        // The only column of percentages needs no name.
        let percents: Vec<usize> =
            grid.measures().filter(|column| grid.columns[*column].unit.percent).collect();
        if let [only] = percents.as_slice() {
            columns.push(*only);
        }
        for row in 0..grid.rows.len().min(MOST_PAIRED_ROWS) {
            for column in grid.measures() {
                let Some(cell) = grid.cell(row, column) else { continue };
                let share = cell.unit.percent || cell.unit.is_none() && (0.0..=1.0).contains(&cell.value);
                let Some(operand) = cell_operand(grid, row, column).filter(|_| share) else { continue };
                let percent = grid.columns[column].kind == ColumnKind::Measure && columns.contains(&column);
                let tier = match (named.contains(&row) && named.len() <= 3, percent) {
                    (true, true) => Tier::Named,
                    (true, false) | (_, true) => Tier::NamedRow,
                    _ if nearby.contains(&row) => Tier::NamedRow,
                    _ => Tier::Table,
                };
                let value = cell.interval();
                let rest = Interval::exact(1.0).minus(value);
                let make = |value: Interval, formula: String, derived: bool| Candidate {
                    tier,
                    value,
                    formula,
                    operands: vec![operand.clone()],
                    derived,
                };
                // A percentage of another size is another thing.
                let near = (1.0 / 1.8..=1.8).contains(&(quantity.value / cell.value));
                found.push(make(value, operand.text.clone(), tier != Tier::Named || !near));
                found.push(make(rest, format!("1 - {}", operand.text), true));
            }
        }
    }
    for (line, listed) in pool.listed {
        let shares = |other: &&Quantity| other.unit.percent || other.unit.is_none() && !other.is_integer();
        for other in listed.iter().filter(shares) {
            let operand = Operand { text: other.text.clone(), value: other.value, line: *line };
            found.push(Candidate {
                tier: Tier::NamedRow,
                value: Interval::new(other.low, other.high),
                formula: other.text.clone(),
                operands: vec![operand],
                derived: true,
            });
        }
    }
    for other in pool.sentences {
        let same = |one: &&Quantity| {
            one.unit.percent && (one.start != quantity.start || other.text != sentence.text)
        };
        for one in other.quantities.iter().filter(same) {
            found.push(Candidate {
                tier: Tier::Table,
                value: Interval::new(one.low, one.high),
                formula: one.text.clone(),
                operands: vec![operand(other, one)],
                derived: true,
            });
        }
    }
    found
}
