//! CSV, TSV and files with semicolons, by the `csv` crate.

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::builder::DocumentBuilder;
use super::line_index::LineIndex;
use crate::line::clean;
use crate::writeup::RawTable;

/// Lines that are looked at to find the separator.
const LOOKED_AT: usize = 20;

/// The separator of a text, by its first lines: it parts every line into the same number of values, at least two, and
/// the first line holds names rather than numbers. A name such as `results.csv` makes one row enough.
pub(super) fn separator(text: &str, named: bool) -> Option<u8> {
    let start = body_start(text);
    let body = text.get(start..).unwrap_or_default();
    [b'\t', b',', b';', b'|'].into_iter().find(|separator| {
        if *separator == b'|' && !named {
            return false;
        }
        let mut reader = reader(body.as_bytes(), *separator);
        let mut records = reader.byte_records().map_while(Result::ok).take(LOOKED_AT);
        let Some(header) = records.next() else { return false };
        let rows: Vec<ByteRecord> = records.collect();
        let least = if named { 1 } else { 2 };
        let fitting = rows.iter().take_while(|row| row.len() == header.len()).count();
        header.len() >= 2
            && header.iter().all(|name| is_name(name, named))
            && fitting >= least
            && (named || fitting == rows.len())
            && rows.iter().flatten().any(|value| is_number(value, named))
    })
}

/// Whether a value can be the name of a column. In a file that is not called a table, lines of a log must not pass.
fn is_name(value: &[u8], named: bool) -> bool {
    let text = clean(value.trim_ascii());
    text.parse::<f64>().is_err()
        && (named
            || !text.is_empty()
                && text.len() <= 60
                && !text.ends_with('.')
                && !text.contains([':', '=', '{']))
}

fn is_number(value: &[u8], named: bool) -> bool {
    match named {
        true => value.iter().any(u8::is_ascii_digit),
        false => clean(value.trim_ascii()).replace(',', ".").parse::<f64>().is_ok(),
    }
}

/// Where the table begins, behind comments at the top of the file.
fn body_start(text: &str) -> usize {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() && !line.starts_with('#') {
            break;
        }
        start += line.len();
    }
    start
}

fn reader(bytes: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(bytes)
}

/// The values of one line.
pub(super) fn record(line: &str, separator: u8) -> Vec<String> {
    let mut record = ByteRecord::new();
    match reader(line.as_bytes(), separator).read_byte_record(&mut record) {
        Ok(true) => record.iter().map(|value| clean(value).into_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Reads a table of separated values; gives the place where it ends, which is before the end of the text where other
/// text follows.
pub(super) fn read(text: &str, separator: u8, builder: &mut DocumentBuilder) -> usize {
    let lines = LineIndex::from(text, 1);
    let start = body_start(text);
    for (at, line) in super::line_index::lines_of(text.get(..start).unwrap_or_default(), 0) {
        let comment = line.trim_start_matches('#').trim();
        if !comment.is_empty() {
            builder.prose(lines.at(at), comment.as_bytes());
        }
    }
    builder.end_of_block();
    let mut reader = reader(text.get(start..).unwrap_or_default().as_bytes(), separator);
    let mut record = ByteRecord::new();
    let mut table = RawTable::default();
    let mut end = text.len();
    while let Ok(true) = reader.read_byte_record(&mut record) {
        let offset = record.position().map_or(0, |position| position.byte() as usize) + start;
        let line = lines.at(skip_blanks(text, offset));
        if table.header.is_empty() {
            table.first = line;
            table.header = record.iter().map(|value| clean(value).into_owned()).collect();
            continue;
        }
        if record.len() == 1 && table.header.len() > 1 {
            end = offset;
            break;
        }
        table.last = line;
        // A comma for decimals gives one value more; nothing else is known to, so such rows are kept as they are.
        table.add_row(record.iter().map(|value| (clean(value).into_owned(), line)).collect());
    }
    if !table.rows.is_empty() {
        builder.table(table);
    }
    end
}

/// The reader begins a record at the blank lines before it.
fn skip_blanks(text: &str, offset: usize) -> usize {
    let rest = text.as_bytes().get(offset..).unwrap_or_default();
    offset + rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::read_document;
    use assay_model::Document;
    use proptest::prelude::*;

    fn document(name: &str, text: &str) -> Document {
        read_document(name, text.as_bytes())
    }

    #[test]
    fn the_separator_shows_in_the_first_lines() {
        assert_eq!(separator("a,b\n1,2\n3,4\n", false), Some(b','));
        assert_eq!(separator("a\tb, c\n1\t2\n2\t3\n", false), Some(b'\t'));
        assert_eq!(separator("a;b\n1,5;2\n2,5;3\n", false), Some(b';'));
        assert_eq!(separator("Well, then\nit was, in all, so\n", false), None);
        assert_eq!(separator("1,2\n3,4\n", false), None);
        assert_eq!(separator("one line, only\n", false), None);
    }

    #[test]
    fn quotes_hold_separators_quotes_and_lines() {
        let text = "name,note,time (s)\na,\"x, \"\"y\"\"\nz\",1.5\nb,,2\n";
        let document = document("results.csv", text);
        let rows = &document.tables[0].rows;
        let texts: Vec<&str> = rows[0].cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["a", "x, \"y\" z", "1.5"]);
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn a_cell_of_70_kb_loses_no_row_and_is_reported() {
        let text = format!("prompt,time (s)\n{},1.5\nb,2.5\n", "x".repeat(70_000));
        let document = document("results.csv", &text);
        assert_eq!(document.tables[0].rows.len(), 2);
        assert_eq!(document.tables[0].rows[0].cells[1].value, Some(1.5));
        assert_eq!(document.omissions.len(), 1, "{:?}", document.omissions);
    }

    #[test]
    fn text_behind_a_table_is_read_too() {
        let document = document("out.csv", "a (s),b (s)\n1,2\n3,4\nAccuracy on test set: 97.13%\n");
        assert_eq!(document.tables[0].rows.len(), 2);
        assert!(document.runs.iter().any(|run| run.span.first == 4), "{:?}", document.runs);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[\",;a1 \t\n#.]{0,80}|.*") {
            let _ = document("any.csv", &text);
        }

        #[test]
        fn quoted_values_read_back(values in proptest::collection::vec("[a-z\", ]{1,8}", 2..5)) {
            let line: Vec<String> = values.iter().map(|value| format!("\"{}\"", value.replace('"', "\"\""))).collect();
            let wanted: Vec<&str> = values.iter().map(|value| value.trim()).collect();
            prop_assert_eq!(record(&line.join(","), b','), wanted);
        }
    }
}
