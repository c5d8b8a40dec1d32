//! Tables whose numbers have a decimal comma: `0,1469`.

use crate::writeup::RawTable;

/// Writes the numbers of a table with points, if they have commas for decimals. A comma is one where it cannot part
/// thousands (`0,1469`, `12,5`), and a table in which a number has a point keeps its commas.
pub(super) fn to_points(raw: &mut RawTable) {
    let mut decimal = 0;
    for (text, _) in raw.rows.iter().flatten() {
        match kind(text) {
            Some(Comma::Decimal) => decimal += 1,
            Some(Comma::Point) => return,
            _ => {}
        }
    }
    if decimal < 2 {
        return;
    }
    for (text, _) in raw.rows.iter_mut().flatten() {
        if kind(text).is_some() {
            *text = text.replace(',', ".");
        }
    }
}

/// How a cell that is one number writes it.
enum Comma {
    /// `0,5` or `12,25`.
    Decimal,
    /// `1,250`, which may be either.
    Either,
    /// `0.5`.
    Point,
}

fn kind(text: &str) -> Option<Comma> {
    let bare = text.trim_matches(['*', '_', ' ', '~', '$', '%', '€', '+', '-', '\u{2212}']);
    if bare.is_empty() || !bare.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.')) {
        return None;
    }
    if bare.contains('.') {
        return Some(Comma::Point);
    }
    let (whole, decimals) = bare.split_once(',')?;
    if decimals.contains(',') || decimals.is_empty() || whole.is_empty() {
        return None;
    }
    let grouped = decimals.len() == 3 && whole.len() <= 3 && !whole.starts_with('0');
    Some(if grouped { Comma::Either } else { Comma::Decimal })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: [&str; 3]) -> Vec<String> {
        let row = row.iter().map(|text| ((*text).to_owned(), 1)).collect();
        let mut raw = RawTable { rows: vec![row], ..RawTable::default() };
        to_points(&mut raw);
        raw.rows.concat().into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn commas_are_decimals_where_they_cannot_part_thousands() {
        assert_eq!(cells(["0,1469", "**0,42**", "1,250"]), ["0.1469", "**0.42**", "1.250"]);
        assert_eq!(cells(["1,250", "12,500", "3"]), ["1,250", "12,500", "3"]);
        assert_eq!(cells(["0,1469", "0,42", "1.5"]), ["0,1469", "0,42", "1.5"]);
        assert_eq!(cells(["a, b", "0,42", "1, 2"]), ["a, b", "0,42", "1, 2"]);
    }
}
