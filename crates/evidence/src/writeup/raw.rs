//! A table as it stands, before anybody knows what it means.

/// How many rows of a table are kept; the rest is counted.
pub const MOST_ROWS: usize = 100_000;
/// How many columns of a table are kept.
pub const MOST_COLUMNS: usize = 500;
/// How many cells of a table are kept. A file cannot hold so many, but cells that span columns and rows stand for many.
const MOST_CELLS: usize = 2_000_000;
/// How many bytes of a cell are kept.
pub const LONGEST_CELL: usize = 4096;

/// A table of texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawTable {
    /// The first line.
    pub first: u64,
    /// The last line.
    pub last: u64,
    /// The header of each column; group headers first, joined by ` / `.
    pub header: Vec<String>,
    /// The cells of each row with the line they stand on.
    pub rows: Vec<Vec<(String, u64)>>,
    /// Rows that were seen and not kept.
    pub left_out: u64,
    /// Cells that were cut, because they are longer than a cell may be.
    pub cut_cells: u64,
    /// Cells of columns that were seen and not kept.
    pub left_out_cells: u64,
    /// Cells in all rows that were added.
    pub cells: usize,
}

impl RawTable {
    /// Leaves out the columns of the header that no row keeps.
    pub(crate) fn cut_header(&mut self) {
        self.left_out_cells += beyond(self.header.iter().map(String::as_str));
        self.header.truncate(MOST_COLUMNS);
    }

    /// Adds a row as long as there is room, and counts it otherwise.
    pub(crate) fn add_row(&mut self, mut row: Vec<(String, u64)>) {
        if self.rows.len() < MOST_ROWS && self.cells + row.len() <= MOST_CELLS {
            self.cells += row.len().min(MOST_COLUMNS);
            self.left_out_cells += beyond(row.iter().map(|(text, _)| text.as_str()));
            row.truncate(MOST_COLUMNS);
            for (text, _) in row.iter_mut().filter(|(text, _)| text.len() > LONGEST_CELL) {
                text.truncate(cut(text).len());
                self.cut_cells += 1;
            }
            self.rows.push(row);
        } else {
            self.left_out += 1;
        }
    }
}

/// How many texts stand beyond the columns that are kept.
pub(crate) fn beyond<'a>(row: impl Iterator<Item = &'a str>) -> u64 {
    row.skip(MOST_COLUMNS).filter(|text| !text.trim().is_empty()).count() as u64
}

/// Joins the header rows of each column, outermost first.
pub(crate) fn joined_header(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut header = Vec::with_capacity(columns);
    for column in 0..columns {
        let mut parts: Vec<&str> =
            rows.iter().filter_map(|row| row.get(column).map(String::as_str)).collect();
        parts.retain(|part| !part.is_empty());
        parts.dedup();
        header.push(cut(&parts.join(" / ")).to_owned());
    }
    header
}

/// The text, cut at a character boundary where it is longer than a cell may be.
pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_CELL);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_spanned_cells_are_kept_up_to_a_limit_and_then_counted() {
        let row = || vec![(String::from("1"), 1); MOST_COLUMNS];
        let mut table = RawTable::default();
        for _ in 0..MOST_CELLS / MOST_COLUMNS + 3 {
            table.add_row(row());
        }
        assert_eq!((table.rows.len(), table.left_out), (MOST_CELLS / MOST_COLUMNS, 3));
    }
}
