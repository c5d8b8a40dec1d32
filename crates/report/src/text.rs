//! Aligned text for terminals. Colour is the caller's: it is given each piece with its tone.

use unicode_width::UnicodeWidthStr;

use crate::table::{Align, Cell, Table, Tone, superscript};

/// Paints a piece of text in its tone.
pub type Paint<'a> = &'a dyn Fn(Tone, &str) -> String;

/// A painter that leaves text as it is.
pub fn plain(_: Tone, text: &str) -> String {
    text.to_owned()
}

/// The table as lines of aligned text.
pub fn render(table: &Table, paint: Paint<'_>) -> String {
    let mut out = String::new();
    for (index, line) in table.heading.iter().enumerate() {
        let tone = if index == 0 { Tone::Strong } else { Tone::Plain };
        push_line(&mut out, &paint(tone, line));
    }
    if !table.heading.is_empty() && !table.columns.is_empty() {
        out.push('\n');
    }
    if !table.columns.is_empty() {
        let widths = widths(table);
        let header: Vec<Cell> =
            table.columns.iter().map(|column| Cell::toned(column.name.clone(), Tone::Faint)).collect();
        if table.columns.iter().any(|column| !column.name.is_empty()) {
            push_row(&mut out, table, &header, &widths, paint);
        }
        for row in &table.rows {
            push_row(&mut out, table, row, &widths, paint);
        }
    }
    if !(table.notes.is_empty() && table.footnotes.is_empty()) {
        out.push('\n');
    }
    for note in &table.notes {
        push_line(&mut out, note);
    }
    for (index, footnote) in table.footnotes.iter().enumerate() {
        let mark = superscript(index + 1);
        push_line(&mut out, &format!("{mark} {}", paint(Tone::Doubt, &footnote.text)));
        push_line(&mut out, &format!("  hint: {}", footnote.hint));
    }
    out
}

fn widths(table: &Table) -> Vec<usize> {
    let mut widths: Vec<usize> = table.columns.iter().map(|column| column.name.width()).collect();
    for row in &table.rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.width());
        }
    }
    widths
}

fn push_row(out: &mut String, table: &Table, row: &[Cell], widths: &[usize], paint: Paint<'_>) {
    let mut line = String::new();
    for ((cell, column), width) in row.iter().zip(&table.columns).zip(widths) {
        let padding = " ".repeat(width.saturating_sub(cell.text.width()));
        line.push_str("  ");
        let painted = paint(cell.tone, &cell.text);
        match column.align {
            Align::Left => line.extend([painted, padding]),
            Align::Right => line.extend([padding, painted]),
        }
    }
    push_line(out, line.trim_end());
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn columns_line_up_whatever_they_hold() {
        let table = Table {
            heading: vec!["A table".into()],
            columns: vec![Column::left("name"), Column::right("µs")],
            rows: vec![
                vec![Cell::new("längste"), Cell::new("1.5")],
                vec![Cell::new("b"), Cell::new("1000.25")],
            ],
            ..Table::default()
        };
        assert_eq!(
            render(&table, &plain),
            "A table\n\n  name          µs\n  längste      1.5\n  b        1000.25\n"
        );
    }
}
