//! Tables that are aligned with blanks, as `print` and terminal programs write them: columns at least two blanks (or a
//! tab) from one another, with or without a rule of dashes under the header.

use super::raw::RawTable;

/// A line with its columns.
struct AlignedLine<'a> {
    number: u64,
    cells: Vec<&'a str>,
    is_rule: bool,
}

/// Whether a line of a write-up is what a program printed, pasted without a fence: it joins several numbers to keys, and
/// is neither an item of a list nor a sentence.
pub fn is_output(text: &str) -> bool {
    let text = text.trim();
    if text.ends_with(['.', '!', '?'])
        || text.starts_with(['-', '*', '>', '|', '+', '<'])
        || text.contains("**")
    {
        return false;
    }
    let bytes = text.as_bytes();
    let joints = memchr::memchr2_iter(b':', b'=', bytes).filter(|place| {
        let rest = bytes.get(place + 1..).unwrap_or_default().trim_ascii_start();
        let before = place.checked_sub(1).and_then(|place| bytes.get(place)).copied().unwrap_or(b'0');
        rest.first().is_some_and(u8::is_ascii_digit) && !before.is_ascii_digit()
    });
    let lower = text.to_ascii_lowercase();
    joints.count() >= 2 && ["loss", "acc"].iter().any(|word| lower.contains(word))
}

/// Whether a line was written by hand: it ends like a sentence and has the length of one.
pub fn is_written(text: &str) -> bool {
    let text = text.trim();
    let ends = text.ends_with(['!', '?', ';']) || text.ends_with('.') && !text.ends_with("..");
    ends && text.split_whitespace().count() >= 6
}

/// Whether a line has at least two columns.
pub fn has_columns(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    memchr::memmem::find(line, b"  ").is_some() || memchr::memchr(b'\t', line).is_some()
}

/// Whether a line is a rule of dashes under a header or around a table.
pub fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3
        && line.chars().all(|character| matches!(character, '-' | '=' | '─' | '━' | ' ' | '+' | '|' | '\t'))
}

/// The table that lines form, if they form one: names in the first line, as many columns in every row, and numbers in
/// most rows.
pub fn table(lines: &[(u64, String)]) -> Option<RawTable> {
    let lines: Vec<AlignedLine<'_>> = lines.iter().map(|(number, line)| split(*number, line)).collect();
    let mut rows = lines.iter().filter(|line| !line.is_rule);
    let header = rows.next()?;
    let rows: Vec<&AlignedLine<'_>> = rows.collect();
    let has_rule = lines.get(1).is_some_and(|line| line.is_rule);
    let width = header.cells.len();
    let least = if has_rule { 1 } else { 2 };
    let named = width >= 2 && header.cells.iter().all(|cell| !starts_with_number(cell));
    // `Avg: -12.5` and `loss=0.3` are keys with their numbers, not names of columns.
    let holds_number = |cell: &&&str| {
        let behind = cell.rsplit_once([':', '=']).map(|(_, behind)| behind.trim_start());
        behind.is_some_and(starts_with_number)
    };
    let named = named && header.cells.iter().filter(holds_number).count() < 2;
    if !named || rows.len() < least || rows.iter().any(|row| row.cells.len() != width) {
        return None;
    }
    // `load duration:   22 ms` over `eval count:   23`: keys with values, not rows of one header.
    let keyed = rows.iter().filter(|row| row.cells.first().is_some_and(|cell| cell.ends_with(':'))).count();
    if keyed * 2 > rows.len() {
        return None;
    }
    let has_number = |row: &&&AlignedLine<'_>| row.cells.iter().any(|cell| starts_with_number(cell));
    if rows.iter().filter(has_number).count() * 4 < rows.len() * 3 {
        return None;
    }
    let mut table = RawTable {
        first: header.number,
        last: lines.last()?.number,
        header: header.cells.iter().map(|cell| (*cell).to_owned()).collect(),
        ..RawTable::default()
    };
    for row in rows {
        table.add_row(row.cells.iter().map(|cell| ((*cell).to_owned(), row.number)).collect());
    }
    Some(table)
}

fn starts_with_number(cell: &str) -> bool {
    cell.trim_start_matches(['-', '+', '~', '$', '.']).starts_with(|first: char| first.is_ascii_digit())
}

fn split(number: u64, line: &str) -> AlignedLine<'_> {
    let line = line.trim();
    let cells =
        line.split('\t').flat_map(|part| part.split("  ")).map(str::trim).filter(|cell| !cell.is_empty());
    AlignedLine { number, cells: cells.collect(), is_rule: is_rule(line) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<RawTable> {
        let lines: Vec<(u64, String)> =
            text.lines().enumerate().map(|(index, line)| (index as u64 + 1, line.to_owned())).collect();
        table(&lines)
    }

    #[test]
    fn columns_by_blanks_with_and_without_a_rule() {
        for text in [
            "Model     Latency (ms)  Acc\nsmall     12.5          91.5%\nvery big  101.25        93%\n",
            "Model     Latency (ms)  Acc\n--------  ------------  ---\nsmall     12.5          91.5%\nvery big  101.25        93%\n",
        ] {
            let table = read(text).unwrap();
            assert_eq!(table.header, ["Model", "Latency (ms)", "Acc"]);
            assert_eq!(table.rows[1][0].0, "very big");
            assert_eq!(table.rows.len(), 2);
        }
    }

    #[test]
    fn prose_and_logs_are_no_tables() {
        assert!(read("We ran it.  It was fast.\nAnd then  we stopped.\nAll good  here.\n").is_none());
        assert!(read("step 1  loss 2\nstep 2  loss 1\n").is_none());
        assert!(read("a  b\n1  2\n").is_none());
        assert!(read("").is_none());
    }

    proptest! {
        #[test]
        fn any_lines_are_read(text in "[a-c1 \t\n.-]{0,80}|.*") {
            let _ = read(&text);
        }
    }
}
