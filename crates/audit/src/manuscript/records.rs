//! Lines of one shape in a listing are records: `step 100 loss 6.612 2.05 steps/s`, `nodes=1 fps=31.2`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Line, RawCell, RawTable};
use crate::unit::leading_unit;

/// Listings with more lines are logs; their records are read by `evidence`.
const MOST_LINES: usize = 400;
const MOST_FIELDS: usize = 12;

/// The tables that lines of the same shape make, in the order of their first lines.
pub(super) fn tables(lines: &[Line]) -> Vec<RawTable> {
    if lines.len() > MOST_LINES {
        return Vec::new();
    }
    let records = lines.iter().filter(|line| line.text.len() < 300).map(record).filter(|record| {
        let named = record.header.iter().filter(|name| !name.is_empty()).count();
        (2..=MOST_FIELDS).contains(&record.cells.len()) && named >= 1
    });
    let mut shapes: BTreeMap<Vec<String>, Vec<Vec<RawCell>>> = BTreeMap::new();
    for record in labeled(records.collect()) {
        shapes.entry(record.header).or_default().push(record.cells);
    }
    let mut tables: Vec<RawTable> = shapes
        .into_iter()
        .filter(|(_, rows)| rows.len() >= 2)
        .map(|(header, rows)| {
            let header_line = rows.first().and_then(|row| row.first()).map_or(1, |cell| cell.line);
            RawTable { caption: String::new(), header, header_line, rows }
        })
        .collect();
    tables.sort_by_key(|table| table.header_line);
    tables
}

/// A line as a row: its numbers with the words before each, and quoted names.
struct Record {
    header: Vec<String>,
    cells: Vec<RawCell>,
    /// The words before the name of the first number, and that name alone: `int8` and `nll` of `int8 nll 1.70`.
    label: Option<(String, String)>,
}

/// Lines that differ in the words they begin with are rows with these words as labels, where no two have the same.
fn labeled(mut records: Vec<Record>) -> Vec<Record> {
    let key = |record: &Record| {
        let (_, name) = record.label.as_ref()?;
        let rest = record.header.iter().skip(1).cloned();
        Some(std::iter::once(name.clone()).chain(rest).collect::<Vec<String>>())
    };
    let mut labels: BTreeMap<Vec<String>, Vec<&str>> = BTreeMap::new();
    for record in &records {
        if let (Some(key), Some((label, _))) = (key(record), &record.label) {
            labels.entry(key).or_default().push(label);
        }
    }
    let differ = |labels: &Vec<&str>| {
        labels.len() >= 2 && labels.iter().collect::<BTreeSet<_>>().len() == labels.len()
    };
    let tables: BTreeSet<Vec<String>> =
        labels.into_iter().filter(|(_, labels)| differ(labels)).map(|(key, _)| key).collect();
    for record in &mut records {
        let Some(key) = key(record).filter(|key| tables.contains(key)) else { continue };
        let line = record.cells.first().map_or(1, |cell| cell.line);
        let text = record.label.take().map(|(label, _)| label).unwrap_or_default();
        record.header = std::iter::once(String::new()).chain(key).collect();
        record.cells.insert(0, RawCell { text, line });
    }
    records
}

fn record(line: &Line) -> Record {
    let (mut header, mut cells, mut label) = (Vec::new(), Vec::new(), None);
    let mut name: Vec<&str> = Vec::new();
    let text = line.text.as_str();
    let mut pieces = text
        .split(|one: char| one.is_whitespace() || "=,()[]{}|;".contains(one))
        .map(|piece| piece.trim_end_matches(':'))
        .filter(|piece| !piece.is_empty())
        .peekable();
    while let Some(piece) = pieces.next() {
        let quoted = piece.trim_matches(['\'', '"']);
        if quoted.len() + 2 == piece.len() && cells.is_empty() && name.is_empty() {
            header.push(String::new());
            cells.push(RawCell { text: quoted.to_owned(), line: line.number });
            continue;
        }
        let number = piece.split('/').next().unwrap_or_default();
        if piece.starts_with(|one: char| one.is_ascii_digit()) && is_number(number) {
            let unit = pieces.peek().filter(|next| is_unit(next)).copied();
            if unit.is_some() {
                pieces.next();
            }
            let titled = |name: String| match unit {
                Some(unit) => format!("{name} ({unit})").trim().to_owned(),
                None => name,
            };
            if let Some((last, lead)) =
                name.split_last().filter(|(_, lead)| cells.is_empty() && !lead.is_empty())
            {
                label = Some((lead.join(" "), titled((*last).to_owned())));
            }
            header.push(titled(name.iter().rev().take(2).rev().copied().collect::<Vec<_>>().join(" ")));
            cells.push(RawCell { text: number.to_owned(), line: line.number });
            name.clear();
        } else if !is_stamp(piece) {
            name.push(quoted);
        }
    }
    Record { header, cells, label }
}

fn is_number(text: &str) -> bool {
    let body = text.trim_end_matches(|one: char| one.is_ascii_alphabetic() || one == '%');
    let unit = text.get(body.len()..).unwrap_or_default();
    body.replace(',', "").parse::<f64>().is_ok() && (unit.is_empty() || leading_unit(unit).is_some())
}

/// Whether a word is a unit that measures something.
fn is_unit(text: &str) -> bool {
    leading_unit(text).is_some_and(|(unit, length)| length == text.len() && !unit.is_count() && !unit.times)
}

/// Clock times, dates and log levels name nothing.
fn is_stamp(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits >= 4 && text.contains([':', '-']) || ["INFO", "WARNING", "DEBUG"].contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(texts: &[&str]) -> Vec<Line> {
        (1..).zip(texts).map(|(number, text)| Line { number, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn words_that_lines_begin_with_are_labels() {
        let lines = numbered(&["fp16   nll 1.6991  weights 13.48 GB", "int8   nll 1.7013  weights 7.00 GB"]);
        let found = tables(&lines);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].header, ["", "nll", "weights (GB)"]);
        assert_eq!(
            found[0].rows[1].iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>(),
            ["int8", "1.7013", "7.00"]
        );
        // The same words again and again name the number, not the line.
        let again = [lines[0].clone(), lines[0].clone()];
        assert_eq!(tables(&again)[0].header, ["fp16 nll", "weights (GB)"]);
    }

    #[test]
    fn lines_of_one_shape_are_one_table() {
        let lines = numbered(&[
            "09:17:40 step 100  loss 6.6120  2.05 steps/s",
            "done",
            "11:59:25 step 20000 loss 2.3514 2.05 steps/s",
        ]);
        let found = tables(&lines);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].header, ["step", "loss", "(steps/s)"]);
        assert_eq!(found[0].rows[1][1].text, "2.3514");
    }
}
