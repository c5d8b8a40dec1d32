//! A table as it stands, before anybody knows what it means.

/// How many rows of a table are kept; the rest is counted.
pub const MOST_ROWS: usize = 100_000;
/// How many columns of a table are kept.
pub const MOST_COLUMNS: usize = 500;
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
}

impl RawTable {
    /// Adds a row as long as there is room, and counts it otherwise.
    pub(super) fn add_row(&mut self, mut row: Vec<(String, u64)>) {
        if self.rows.len() < MOST_ROWS {
            row.truncate(MOST_COLUMNS);
            self.rows.push(row);
        } else {
            self.left_out += 1;
        }
    }
}

/// The text, cut at a character boundary where it is longer than a cell may be.
pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_CELL);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
