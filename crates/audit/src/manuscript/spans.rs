//! Cells that span several columns or rows, and headers of several rows.

use super::{RawCell, RawTable};

/// Columns and rows that one cell may span.
const MOST: usize = 40;
/// Rows of a header.
const MOST_HEADERS: usize = 3;

/// A cell with the columns and the rows that it spans.
#[derive(Debug, Clone, Default)]
pub(super) struct Spanning {
    pub(super) cell: RawCell,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Spanning {
    pub(super) fn new(cell: RawCell, columns: usize, rows: usize) -> Spanning {
        Spanning { cell, columns: columns.clamp(1, MOST), rows: rows.clamp(1, MOST) }
    }
}

/// A table of which the first rows are its header. What spans several columns of the header belongs to each of them; in
/// other rows it is a remark in the first of them.
pub(super) fn table(caption: String, rows: Vec<Vec<Spanning>>, headers: usize) -> RawTable {
    let headers = headers.min(MOST_HEADERS).min(rows.len().saturating_sub(1).max(1));
    let mut expanded: Vec<Vec<RawCell>> = Vec::new();
    let mut hanging: Vec<(usize, usize, RawCell)> = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        expanded.push(expand(row, index < headers, &mut hanging));
    }
    let body = expanded.split_off(headers.min(expanded.len()));
    let width = expanded.iter().map(Vec::len).max().unwrap_or(0);
    let header_line = expanded.last().and_then(|row| row.first()).map_or(0, |cell| cell.line);
    let header = (0..width).map(|column| {
        let mut texts: Vec<&str> = Vec::new();
        for cell in expanded.iter().filter_map(|row| row.get(column)) {
            if !cell.text.is_empty() && texts.last() != Some(&cell.text.as_str()) {
                texts.push(&cell.text);
            }
        }
        texts.join(" ")
    });
    RawTable { caption, header: header.collect(), header_line, rows: body }
}

/// A row with a cell for every column. `hanging` are cells of rows above that reach down, with their columns and the rows
/// that they have left.
fn expand(row: Vec<Spanning>, is_header: bool, hanging: &mut Vec<(usize, usize, RawCell)>) -> Vec<RawCell> {
    let mut cells: Vec<RawCell> = Vec::new();
    let mut below: Vec<(usize, usize, RawCell)> = Vec::new();
    let mut reach_down = |cells: &mut Vec<RawCell>| {
        while let Some((_, left, cell)) = hanging.iter_mut().find(|(column, ..)| *column == cells.len()) {
            *left = left.saturating_sub(1);
            cells.push(cell.clone());
        }
    };
    for spanning in row {
        reach_down(&mut cells);
        for copy in 0..spanning.columns {
            let text = if copy == 0 || is_header { spanning.cell.text.clone() } else { String::new() };
            let cell = RawCell { text, line: spanning.cell.line };
            if spanning.rows > 1 {
                below.push((cells.len(), spanning.rows - 1, cell.clone()));
            }
            cells.push(cell);
        }
    }
    reach_down(&mut cells);
    hanging.retain(|(_, left, _)| *left > 0);
    hanging.extend(below);
    cells
}
