//! Lines of one shape in a listing are records: `step 100 loss 6.612 2.05 steps/s`, `nodes=1 fps=31.2`.

use std::collections::BTreeMap;

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
    let mut shapes: BTreeMap<Vec<String>, Vec<Vec<RawCell>>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.text.len() < 300) {
        let (header, cells) = record(line);
        let named = header.iter().filter(|name| !name.is_empty()).count();
        if (2..=MOST_FIELDS).contains(&cells.len()) && named >= 1 {
            shapes.entry(header).or_default().push(cells);
        }
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

/// The numbers of a line with the words before each, and quoted names.
fn record(line: &Line) -> (Vec<String>, Vec<RawCell>) {
    let (mut header, mut cells) = (Vec::new(), Vec::new());
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
            let joined = name.iter().rev().take(2).rev().copied().collect::<Vec<_>>().join(" ");
            header.push(match unit {
                Some(unit) => format!("{joined} ({unit})").trim().to_owned(),
                None => joined,
            });
            cells.push(RawCell { text: number.to_owned(), line: line.number });
            name.clear();
        } else if !is_stamp(piece) {
            name.push(quoted);
        }
    }
    (header, cells)
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

    #[test]
    fn lines_of_one_shape_are_one_table() {
        let lines: Vec<Line> = [
            "09:17:40 step 100  loss 6.6120  2.05 steps/s",
            "done",
            "11:59:25 step 20000 loss 2.3514 2.05 steps/s",
        ]
        .iter()
        .enumerate()
        .map(|(index, text)| Line { number: index as u64 + 1, text: (*text).to_owned() })
        .collect();
        let found = tables(&lines);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].header, ["step", "loss", "(steps/s)"]);
        assert_eq!(found[0].rows[1][1].text, "2.3514");
    }
}
