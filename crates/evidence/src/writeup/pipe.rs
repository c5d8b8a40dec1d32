//! Markdown tables: `| a | b |` over `|---|---|`, with or without pipes at the ends.

use super::raw::{RawTable, cut};

/// Reads a Markdown table line by line.
#[derive(Debug, Default)]
pub struct PipeTable {
    table: RawTable,
    /// How many lines were taken: the header, the delimiter row and so on.
    taken: u64,
}

/// Whether a line can be the header or a row of a Markdown table.
pub fn starts(text: &str) -> bool {
    let text = text.trim();
    text.contains('|')
        && !is_delimiter(text)
        && !text.starts_with('+')
        && cells(text).iter().any(|cell| !cell.is_empty())
}

/// Whether a line is the row of dashes under the header.
pub fn is_delimiter(text: &str) -> bool {
    let text = text.trim();
    text.contains('-')
        && text.contains('|')
        && text.bytes().all(|byte| matches!(byte, b'-' | b':' | b'|' | b' ' | b'\t'))
        && cells(text).iter().all(|cell| cell.contains('-'))
}

impl PipeTable {
    /// Takes the next line. False if the line is not part of the table: the table ended before it, or the lines
    /// so far are not a table at all.
    pub fn push(&mut self, number: u64, text: &str) -> bool {
        let belongs = match self.taken {
            0 => starts(text),
            1 => is_delimiter(text) && cells(text).len() == self.table.header.len(),
            _ => text.contains('|') && !is_delimiter(text),
        };
        if !belongs {
            return false;
        }
        match self.taken {
            0 => {
                self.table.first = number;
                self.table.header = cells(text);
            }
            1 => {}
            _ => self.table.add_row(cells(text).into_iter().map(|cell| (cell, number)).collect()),
        }
        self.table.last = number;
        self.taken += 1;
        true
    }

    /// Whether the row of dashes has come.
    pub fn is_certain(&self) -> bool {
        self.taken >= 2
    }

    /// The table, if the lines were one.
    pub fn finish(self) -> Option<RawTable> {
        (self.taken >= 2).then_some(self.table)
    }
}

/// The cells of a row. A pipe behind a backslash or between backticks is text.
pub fn cells(text: &str) -> Vec<String> {
    let text = text.trim();
    let text = text.strip_prefix('|').unwrap_or(text);
    let mut found = Vec::new();
    let mut current = String::new();
    let mut in_code = false;
    // Backticks pair only where there is an even number of them; a single one is text.
    let code_is_possible = text.matches('`').count().is_multiple_of(2);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'|') => {
                characters.next();
                current.push('|');
            }
            '|' if !in_code => {
                found.push(cut(current.trim()).to_owned());
                current.clear();
            }
            _ => {
                in_code ^= character == '`' && code_is_possible;
                current.push(character);
            }
        }
    }
    if !current.trim().is_empty() {
        found.push(cut(current.trim()).to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(lines: &[&str]) -> Option<RawTable> {
        let mut table = PipeTable::default();
        for (index, line) in lines.iter().enumerate() {
            if !table.push(index as u64 + 10, line) {
                break;
            }
        }
        table.finish()
    }

    #[test]
    fn a_table_with_and_without_outer_pipes() {
        for lines in [["| a | b |", "|---|:-:|", "| 1 |  |", "text"], ["a | b", "--|--", "1 |", "text"]] {
            let table = read(&lines).unwrap();
            assert_eq!(table.header, ["a", "b"]);
            assert_eq!((table.first, table.last, table.rows.len()), (10, 12, 1));
            assert_eq!(table.rows[0][0], ("1".to_owned(), 12));
        }
    }

    #[test]
    fn a_log_line_with_a_pipe_is_no_table() {
        assert_eq!(read(&["INFO: | Train Step=1", "INFO: | Train Step=2"]), None);
        assert_eq!(read(&["|---|---|", "| 1 | 2 |"]), None);
        assert_eq!(read(&["a | b"]), None);
    }

    #[test]
    fn pipes_inside_cells() {
        assert_eq!(cells(r"| a \| b | `c | d` |"), ["a | b", "`c | d`"]);
        assert_eq!(cells("| | x | |"), ["", "x", ""]);
    }

    proptest! {
        #[test]
        fn any_lines_are_read_without_panic(lines in proptest::collection::vec("[|a1 `\\\\:+-]{0,20}|.*", 0..6)) {
            let _ = read(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
