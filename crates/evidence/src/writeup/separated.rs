//! Tables with a sign between values: CSV, TSV and their relatives, with quotes.

use super::raw::{LONGEST_CELL, RawTable, cut};

/// Reads separated values line by line; a quoted value may span lines.
#[derive(Debug)]
pub struct SeparatedTable {
    separator: char,
    table: RawTable,
    row: Vec<(String, u64)>,
    value: String,
    in_quotes: bool,
    has_header: bool,
}

/// The sign between values, judging by the first lines of a file: every line has the same number of values, at least
/// two, and the first line holds names rather than numbers.
pub fn separator(lines: &[&str]) -> Option<char> {
    let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    let (header, rows) = lines.split_first()?;
    if rows.is_empty() {
        return None;
    }
    ['\t', ',', ';'].into_iter().find(|separator| {
        let names = split(header, *separator);
        let named = names.len() >= 2
            && names.iter().all(|name| {
                name.len() <= 60
                    && !name.trim().is_empty()
                    && name.trim().parse::<f64>().is_err()
                    && !name.ends_with('.')
            });
        named
            && rows.iter().all(|row| split(row, *separator).len() == names.len())
            && has_number(rows, *separator)
    })
}

fn has_number(rows: &[&str], separator: char) -> bool {
    rows.iter().flat_map(|row| split(row, separator)).any(|value| value.trim().parse::<f64>().is_ok())
}

fn split(line: &str, separator: char) -> Vec<String> {
    let mut table = SeparatedTable::new(separator);
    table.push(1, line);
    table.table.header
}

impl SeparatedTable {
    /// A reader for values with this sign between them.
    pub fn new(separator: char) -> SeparatedTable {
        SeparatedTable {
            separator,
            table: RawTable::default(),
            row: Vec::new(),
            value: String::new(),
            in_quotes: false,
            has_header: false,
        }
    }

    /// Takes the next line. False for an empty line, which ends the table.
    pub fn push(&mut self, number: u64, text: &str) -> bool {
        if self.in_quotes {
            self.value.push('\n');
        } else if text.trim().is_empty() {
            return false;
        }
        if self.table.first == 0 {
            self.table.first = number;
        }
        self.table.last = number;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '"' if self.in_quotes && characters.peek() == Some(&'"') => {
                    characters.next();
                    self.hold('"');
                }
                '"' if self.in_quotes => self.in_quotes = false,
                '"' if self.value.trim().is_empty() => {
                    self.value.clear();
                    self.in_quotes = true;
                }
                _ if character == self.separator && !self.in_quotes => self.close_value(number),
                _ => self.hold(character),
            }
        }
        // A quote that was never closed would swallow the rest of the file.
        if self.in_quotes && self.value.len() >= LONGEST_CELL {
            self.in_quotes = false;
        }
        if !self.in_quotes {
            self.close_row(number);
        }
        true
    }

    fn hold(&mut self, character: char) {
        if self.value.len() < LONGEST_CELL {
            self.value.push(character);
        }
    }

    fn close_value(&mut self, number: u64) {
        self.row.push((cut(self.value.trim()).to_owned(), number));
        self.value.clear();
    }

    fn close_row(&mut self, number: u64) {
        self.close_value(number);
        let row = std::mem::take(&mut self.row);
        if self.has_header {
            self.table.add_row(row);
        } else {
            self.table.header = row.into_iter().map(|(name, _)| name).collect();
            self.has_header = true;
        }
    }

    /// The table, if there were a header and at least one row.
    pub fn finish(mut self) -> Option<RawTable> {
        if self.in_quotes {
            self.close_row(self.table.last);
        }
        (self.has_header && !self.table.rows.is_empty()).then_some(self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_hold_separators_quotes_and_lines() {
        let mut table = SeparatedTable::new(',');
        for (number, line) in [(1, "name,note,t"), (2, r#"a,"x, ""y"" "#), (3, r#"z",1.5"#), (4, "b,,2")] {
            assert!(table.push(number, line));
        }
        assert!(!table.push(5, ""));
        let table = table.finish().unwrap();
        assert_eq!(table.header, ["name", "note", "t"]);
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0][1].0, "x, \"y\" \nz");
        assert_eq!(table.rows[1], [("b".into(), 4), (String::new(), 4), ("2".into(), 4)]);
    }

    #[test]
    fn the_separator_shows_in_the_first_lines() {
        assert_eq!(separator(&["a,b", "1,2", "3,4"]), Some(','));
        assert_eq!(separator(&["a\tb, c", "1\t2"]), Some('\t'));
        assert_eq!(separator(&["Well, then", "it was, in all, so"]), None);
        assert_eq!(separator(&["1,2", "3,4"]), None);
        assert_eq!(separator(&["one line, only"]), None);
    }

    proptest! {
        #[test]
        fn any_lines_are_read_without_panic(lines in proptest::collection::vec("[\",a1 \t]{0,20}|.*", 0..6)) {
            let mut table = SeparatedTable::new(',');
            for (index, line) in lines.iter().enumerate() {
                table.push(index as u64, line);
            }
            let _ = table.finish();
            let _ = separator(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        }

        #[test]
        fn quoted_values_read_back(values in proptest::collection::vec("[a-z\", ]{0,8}", 2..5)) {
            let line: Vec<String> = values.iter().map(|value| format!("\"{}\"", value.replace('"', "\"\""))).collect();
            let mut table = SeparatedTable::new(',');
            table.push(1, "a,b");
            table.push(2, &line.join(","));
            let table = table.finish().unwrap();
            let read: Vec<&str> = table.rows[0].iter().map(|(value, _)| value.as_str()).collect();
            let wanted: Vec<&str> = values.iter().map(|value| value.trim()).collect();
            prop_assert_eq!(read, wanted);
        }
    }
}
