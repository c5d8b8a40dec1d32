//! Tables drawn with `+---+`, as terminal programs print them.

use super::raw::{RawTable, cut};

/// Reads a drawn table line by line.
#[derive(Debug, Default)]
pub struct GridTable {
    table: RawTable,
    rules: u64,
    taken: u64,
}

/// Whether a line is a horizontal rule of a drawn table, which is also how one begins.
pub fn starts(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3
        && text.starts_with('+')
        && text.ends_with('+')
        && text.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'=' | b':'))
        && text.contains(['-', '='])
}

impl GridTable {
    /// Takes the next line. False if the line is not part of the table.
    pub fn push(&mut self, number: u64, text: &str) -> bool {
        let text = text.trim();
        if starts(text) {
            if self.taken == 0 {
                self.table.first = number;
            }
            self.rules += 1;
        } else if self.taken > 0 && text.starts_with('|') && text.ends_with('|') && text.len() > 1 {
            let inner = text.get(1..text.len() - 1).unwrap_or_default();
            let row: Vec<String> = inner.split('|').map(|cell| cut(cell.trim()).to_owned()).collect();
            self.take_row(row, number);
        } else {
            return false;
        }
        self.taken += 1;
        self.table.last = number;
        true
    }

    fn take_row(&mut self, row: Vec<String>, number: u64) {
        if self.rules <= 1 {
            join(&mut self.table.header, row);
            return;
        }
        // A line whose first cell is empty continues the row above it.
        let continues = row.first().is_some_and(String::is_empty);
        match self.table.rows.last_mut().filter(|_| continues) {
            Some(above) => {
                for (cell, more) in above.iter_mut().zip(row) {
                    if !more.is_empty() {
                        let joined = format!("{} {more}", cell.0);
                        cell.0 = cut(joined.trim()).to_owned();
                    }
                }
            }
            None => self.table.add_row(row.into_iter().map(|cell| (cell, number)).collect()),
        }
    }

    /// The table, if the lines were one.
    pub fn finish(self) -> Option<RawTable> {
        (self.rules >= 2 && !self.table.header.is_empty()).then_some(self.table)
    }
}

/// Adds a second line of headers to the first.
fn join(header: &mut Vec<String>, row: Vec<String>) {
    if header.is_empty() {
        *header = row;
        return;
    }
    for (cell, more) in header.iter_mut().zip(row) {
        let joined = format!("{cell} {more}");
        *cell = cut(joined.trim()).to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(lines: &[&str]) -> Option<RawTable> {
        let mut table = GridTable::default();
        for (index, line) in lines.iter().enumerate() {
            if !table.push(index as u64 + 1, line) {
                break;
            }
        }
        table.finish()
    }

    #[test]
    fn a_drawn_table() {
        let table = read(&[
            "+------+--------+",
            "| Name | t (ms) |",
            "+------+--------+",
            "| one  |  2.21  |",
            "| two  |   --   |",
            "+------+--------+",
            "done",
        ])
        .unwrap();
        assert_eq!(table.header, ["Name", "t (ms)"]);
        assert_eq!(
            table.rows,
            [[("one".into(), 4), ("2.21".into(), 4)], [("two".into(), 5), ("--".into(), 5)]]
        );
        assert_eq!((table.first, table.last), (1, 6));
    }

    #[test]
    fn cells_over_two_lines_are_joined() {
        let table = read(&[
            "+--+--+",
            "| a | b |",
            "+==+==+",
            "| x | 1 |",
            "|   | s |",
            "+--+--+",
            "| y | 2 |",
            "+--+--+",
        ])
        .unwrap();
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0][1].0, "1 s");
    }

    proptest! {
        #[test]
        fn any_lines_are_read_without_panic(lines in proptest::collection::vec("[|+=a1 -]{0,20}|.*", 0..6)) {
            let _ = read(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
