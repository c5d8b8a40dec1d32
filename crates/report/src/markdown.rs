//! Markdown.

use std::fmt::Write;

use crate::table::{Align, Table, superscript};

/// The table in Markdown, with its heading as a title.
pub fn render(table: &Table) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let mut heading = table.heading.iter();
    if let Some(title) = heading.next() {
        let _ = writeln!(out, "## {}\n", escape(title));
    }
    for line in heading {
        let _ = writeln!(out, "{}\n", escape(line));
    }
    if !table.columns.is_empty() {
        let names: Vec<String> = table.columns.iter().map(|column| escape(&column.name)).collect();
        let rules: Vec<&str> = table
            .columns
            .iter()
            .map(|column| if column.align == Align::Right { "---:" } else { "---" })
            .collect();
        let _ = writeln!(out, "| {} |\n| {} |", names.join(" | "), rules.join(" | "));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(&cell.text)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    for note in &table.notes {
        let _ = write!(out, "\n{}\n", escape(note));
    }
    if !table.footnotes.is_empty() {
        out.push('\n');
    }
    for (index, footnote) in table.footnotes.iter().enumerate() {
        let mark = superscript(index + 1);
        let _ = writeln!(out, "- {mark} {} *Hint: {}*", escape(&footnote.text), escape(&footnote.hint));
    }
    out
}

/// A text that Markdown leaves as it is, on one line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut in_code = false;
    for letter in text.chars() {
        match letter {
            '`' => in_code = !in_code,
            '|' => escaped.push('\\'),
            '*' | '_' | '<' | '~' | '[' if !in_code => escaped.push('\\'),
            _ => {}
        }
        escaped.push(if letter == '\n' || letter == '\r' { ' ' } else { letter });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Column};

    #[test]
    fn pipes_and_marks_do_not_break_the_table() {
        let table = Table {
            columns: vec![Column::left("a|b"), Column::right("n")],
            rows: vec![vec![Cell::new("x_y `a_b`"), Cell::new("~")]],
            ..Table::default()
        };
        assert_eq!(render(&table), "| a\\|b | n |\n| --- | ---: |\n| x\\_y `a_b` | \\~ |\n");
    }
}
