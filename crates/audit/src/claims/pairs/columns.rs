//! Comparisons of columns within one row.

use super::{Candidate, Columns, Side, Tier, candidates, cell_operand};
use crate::claims::naming::named_columns;
use crate::claims::relation::Relation;
use crate::claims::sentence::Sentence;
use crate::finding::Operand;
use crate::grid::{Cell, Grid, MOST_PAIRED_ROWS};
use crate::unit::Unit;

/// Comparisons of two columns within a row.
pub(super) fn within_rows(
    grid: &Grid,
    named: &[usize],
    sentence: &Sentence,
    relation: Relation,
    columns: &Columns,
    found: &mut Vec<Candidate>,
) {
    let share = matches!(relation, Relation::Share | Relation::Value);
    let mentioned = named_columns(sentence, grid);
    let measures: Vec<usize> = columns.fitting.iter().chain(&columns.others).copied().collect();
    for row in 0..grid.rows.len().min(MOST_PAIRED_ROWS) {
        for (position, one) in measures.iter().enumerate() {
            for other in &measures[position + 1..] {
                let (Some(a), Some(b)) = (grid.cell(row, *one), grid.cell(row, *other)) else { continue };
                if !a.unit.same_measure(&b.unit) {
                    continue;
                }
                let both = mentioned.contains(one) && mentioned.contains(other);
                // `| cold start | 3.42 s | 2.08 s |`: two columns of one kind are what a named row compares.
                let paired = relation.is_comparison() && is_only_pair(grid, *one, *other);
                let tier = match (named.contains(&row), both) {
                    (true, true) => Tier::Named,
                    (true, _) if paired => Tier::NamedRow,
                    (_, true) => Tier::NamedRow,
                    (true, _) if share => Tier::NamedRow,
                    _ => Tier::Table,
                };
                let operands: Vec<Operand> = [cell_operand(grid, row, *one), cell_operand(grid, row, *other)]
                    .into_iter()
                    .flatten()
                    .collect();
                found.extend(candidates(
                    tier,
                    relation,
                    &Side::of_cell(a),
                    &Side::of_cell(b),
                    operands,
                    relation != Relation::Share && !(paired && tier <= Tier::NamedRow),
                ));
            }
        }
        if share {
            let tier = if named.contains(&row) { Tier::NamedRow } else { Tier::Table };
            slashed(grid, row, tier, relation, found);
        }
    }
}

/// Whether two columns are the only ones of their unit.
fn is_only_pair(grid: &Grid, one: usize, other: usize) -> bool {
    let unit = &grid.columns[one].unit;
    let alike = grid.measures().filter(|column| grid.columns[*column].unit.same_symbols(unit));
    !unit.is_relative() && alike.eq([one.min(other), one.max(other)])
}

/// A cell such as `19,112 / 26,548`.
fn slashed(grid: &Grid, row: usize, tier: Tier, relation: Relation, found: &mut Vec<Candidate>) {
    let Some(texts) = grid.rows.get(row).map(|row| &row.texts) else { return };
    for text in texts {
        let Some((one, other)) = text.split_once('/') else { continue };
        let read = |text: &str| Cell::read(text, &Unit::none(), grid.rows[row].line);
        let (Some(a), Some(b)) = (read(one), read(other)) else { continue };
        let operand = |cell: &Cell| Operand { text: cell.text.clone(), value: cell.value, line: cell.line };
        let operands = vec![operand(&a), operand(&b)];
        found.extend(candidates(tier, relation, &Side::of_cell(&a), &Side::of_cell(&b), operands, false));
    }
}
