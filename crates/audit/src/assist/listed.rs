//! The quantities of documents, each with a name that a model can use.

use assay_model::Document;

use crate::grid::Grid;
use crate::interval::Interval;
use crate::manuscript::{Block, Manuscript};
use crate::quantity::{Quantity, quantities as of_text};
use crate::unit::Unit;

/// Quantities that are listed; later ones are left out.
const MOST: usize = 1500;

/// A quantity with its name and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedQuantity {
    /// Its name: `q17`.
    pub id: String,
    pub file: String,
    pub line: u64,
    /// As it is written.
    pub text: String,
    /// Row and column for a cell; empty for prose.
    pub about: String,
    pub(super) interval: Interval,
    unit: Unit,
}

impl ListedQuantity {
    /// Whether two quantities can be compared: the same measure, or one without a unit.
    pub(super) fn fits(&self, other: &ListedQuantity) -> bool {
        let relative = |unit: &Unit| unit.is_relative();
        if relative(&self.unit) != relative(&other.unit) {
            return self.unit.is_none() || other.unit.is_none();
        }
        self.unit.is_none() || other.unit.is_none() || self.unit.same_measure(&other.unit)
    }

    /// Whether a product (or a ratio) of the operands may have this quantity's unit.
    pub(super) fn fits_product(&self, operands: &[&ListedQuantity], is_ratio: bool) -> bool {
        if self.unit.is_none() || operands.iter().any(|operand| operand.unit.is_none()) {
            return true;
        }
        let mut exponents = [0_i8; 7];
        for (index, operand) in operands.iter().enumerate() {
            let sign = if is_ratio && index > 0 { -1 } else { 1 };
            for (sum, own) in exponents.iter_mut().zip(operand.unit.measure_exponents()) {
                *sum = sum.saturating_add(sign * own);
            }
        }
        exponents == self.unit.measure_exponents()
    }

    pub(super) fn is_percent(&self) -> bool {
        self.unit.percent || self.unit.points
    }

    pub(super) fn scale(&self) -> f64 {
        if self.unit.scale == 0.0 { 1.0 } else { self.unit.scale }
    }

    /// What it is called in a formula.
    pub(super) fn described(&self) -> String {
        if self.about.is_empty() { self.text.clone() } else { format!("{} {}", self.about, self.text) }
    }
}

/// The quantities of documents: those of prose and listings, then the cells of tables, in the order of the files.
pub fn quantities(documents: &[Document]) -> Vec<ListedQuantity> {
    let mut found: Vec<ListedQuantity> = Vec::new();
    for document in documents.iter().filter(|document| !document.text.is_empty()) {
        let manuscript = Manuscript::read(&document.file, &document.text);
        for block in &manuscript.blocks {
            match block {
                Block::Heading(text) | Block::Paragraph(text) => {
                    let own = of_text(&text.text);
                    found.extend(own.iter().map(|one| in_text(one, &document.file, text.line_at(one.start))));
                }
                Block::Listing(lines) => {
                    for line in lines.iter().filter(|line| line.text.len() < 400) {
                        let own = of_text(&line.text);
                        found.extend(own.iter().map(|one| in_text(one, &document.file, line.number)));
                    }
                }
                Block::Table(_) => {}
            }
            if found.len() > MOST {
                break;
            }
        }
        for grid in crate::grids(&manuscript).iter().filter(|grid| is_table(grid, &manuscript)) {
            found.extend(cells(grid));
        }
    }
    found.truncate(MOST);
    for (index, quantity) in found.iter_mut().enumerate() {
        quantity.id = format!("q{}", index + 1);
    }
    found
}

/// Whether a grid is a table of the document, not lines of a listing read as one.
fn is_table(grid: &Grid, manuscript: &Manuscript) -> bool {
    matches!(manuscript.blocks.get(grid.block), Some(Block::Table(_)))
}

fn in_text(quantity: &Quantity, file: &str, line: u64) -> ListedQuantity {
    ListedQuantity {
        id: String::new(),
        file: file.to_owned(),
        line,
        text: quantity.text.clone(),
        about: String::new(),
        interval: Interval::new(quantity.low, quantity.high),
        unit: quantity.unit.clone(),
    }
}

fn cells(grid: &Grid) -> Vec<ListedQuantity> {
    let mut found = Vec::new();
    for row in 0..grid.rows.len() {
        for column in grid.numeric() {
            let Some(cell) = grid.cell(row, column) else { continue };
            found.push(ListedQuantity {
                id: String::new(),
                file: grid.file.clone(),
                line: cell.line,
                text: cell.text.clone(),
                about: format!("{}, {}", grid.row_name(row), grid.columns[column].header),
                interval: cell.interval(),
                unit: cell.unit.clone(),
            });
        }
    }
    found
}
