//! Aligned text for terminals. The caller colors each piece by its tone.

use unicode_width::UnicodeWidthStr;

use crate::table::{Align, Cell, Column, Table, Tone};
use crate::words::{can_fit, fit, wrap};

/// Paints a piece of text in its tone.
pub type Paint<'a> = &'a dyn Fn(Tone, &str) -> String;

/// A painter that leaves text as it is.
pub fn plain(_: Tone, text: &str) -> String {
    text.to_owned()
}

/// The table as lines of aligned text, as wide as they need to be.
pub fn render(table: &Table, paint: Paint<'_>) -> String {
    lines(table, usize::MAX, paint)
}

/// The table as lines of aligned text that fit a width: secondary columns are left out, long texts wrapped.
pub fn render_within(table: &Table, width: usize, paint: Paint<'_>) -> String {
    let mut table = table.clone();
    let dropped = drop_secondary(&mut table, width);
    if !dropped.is_empty() {
        let is_about = |note: &String| dropped.iter().any(|name| note.starts_with(&format!("{name}: ")));
        table.notes.retain(|note| !is_about(note));
        table.notes.push(format!("not shown at this width: {}", dropped.join(", ")));
    }
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    break_names(&mut table, width);
    let mut out = String::new();
    for (index, part) in parts(table, &names, width).into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let fitted = can_fit(&part, &widths(&part), width).then(|| fit(&part, width));
        out.push_str(&lines(fitted.as_ref().unwrap_or(&part), width, paint));
    }
    out
}

fn is_too_wide(table: &Table, width: usize) -> bool {
    widths(table).iter().map(|column| column + 2).sum::<usize>() > width
}

/// Writes names of columns that are wider than what stands below them on several lines, the widest first, until the table
/// fits.
fn break_names(table: &mut Table, width: usize) {
    let below = |table: &Table, index: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(index));
        cells.map(|cell| cell.text.width()).max().unwrap_or(0)
    };
    let mut tried = vec![false; table.columns.len()];
    while is_too_wide(table, width) {
        let excess = |index: usize, column: &Column| column.name_width().saturating_sub(below(table, index));
        let found = table.columns.iter().enumerate().filter(|(index, _)| !tried.get(*index).unwrap_or(&true));
        let Some((index, most)) =
            found.map(|(index, column)| (index, excess(index, column))).max_by_key(|one| one.1)
        else {
            return;
        };
        if most == 0 {
            return;
        }
        let room = below(table, index).max(6);
        if let (Some(column), Some(tried)) = (table.columns.get_mut(index), tried.get_mut(index)) {
            column.name = broken(&column.name, room);
            *tried = true;
        }
    }
}

/// A name on lines of about this width, broken behind dots, underscores and spaces.
fn broken(name: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for piece in name.split_inclusive(['.', '_', ' ']) {
        match lines.last_mut() {
            Some(line) if line.width() + piece.trim_end().width() <= width => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// A table that cannot be made narrow enough as several, each with the columns that name its rows. There is more room in a
/// part, so that the full names of its columns may fit.
fn parts(table: Table, names: &[String], width: usize) -> Vec<Table> {
    let natural = widths(&table);
    if table.keys == 0 || table.keys >= table.columns.len() || can_fit(&table, &natural, width) {
        return vec![table];
    }
    let keys: usize = natural.iter().take(table.keys).map(|column| column + 2).sum();
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    let mut used = 0;
    for (index, column) in natural.iter().enumerate().skip(table.keys) {
        match chunks.last_mut() {
            Some(chunk) if keys + used + column + 2 <= width => chunk.push(index),
            _ => {
                chunks.push(vec![index]);
                used = 0;
            }
        }
        used += column + 2;
    }
    let last = chunks.len().saturating_sub(1);
    let part = |(number, chunk): (usize, Vec<usize>)| {
        let indices: Vec<usize> = (0..table.keys).chain(chunk).collect();
        let row = |row: &Vec<Cell>| {
            indices.iter().map(|index| row.get(*index).cloned().unwrap_or_default()).collect()
        };
        let column = |index: &usize| {
            let (column, name) = (table.columns.get(*index)?, names.get(*index)?);
            Some(Column { name: name.clone(), ..column.clone() })
        };
        let mut part = Table {
            heading: if number == 0 { table.heading.clone() } else { Vec::new() },
            columns: indices.iter().filter_map(column).collect(),
            keys: table.keys,
            rows: table.rows.iter().map(row).collect(),
            notes: if number == last { table.notes.clone() } else { Vec::new() },
            footnotes: if number == last { table.footnotes.clone() } else { Vec::new() },
        };
        break_names(&mut part, width);
        part
    };
    chunks.into_iter().enumerate().map(part).collect()
}

/// Removes secondary columns, the last first, until the table fits; returns their names.
fn drop_secondary(table: &mut Table, width: usize) -> Vec<String> {
    let mut dropped = Vec::new();
    while widths(table).iter().map(|column| column + 2).sum::<usize>() > width {
        let Some(index) = table.columns.iter().rposition(|column| column.secondary) else { break };
        let title = table.columns.get(index).map(|column| column.name.clone()).unwrap_or_default();
        // Columns of one name, such as the intervals of two records, are shown or left out together.
        let keep: Vec<bool> =
            table.columns.iter().map(|column| !(column.secondary && column.name == title)).collect();
        let mut kept = keep.iter();
        table.columns.retain(|_| kept.next().copied().unwrap_or(true));
        for row in &mut table.rows {
            let mut kept = keep.iter();
            row.retain(|_| kept.next().copied().unwrap_or(true));
        }
        // The unit in the heading of a column is not part of its name.
        dropped.insert(0, title.split(" [").next().unwrap_or_default().to_owned());
    }
    dropped
}

fn lines(table: &Table, width: usize, paint: Paint<'_>) -> String {
    let mut out = String::new();
    for (index, line) in table.heading.iter().enumerate() {
        let tone = if index == 0 { Tone::Strong } else { Tone::Plain };
        push_wrapped(&mut out, "", &Cell::toned(line, tone), width, paint);
    }
    if !table.heading.is_empty() && !table.columns.is_empty() {
        out.push('\n');
    }
    if !table.columns.is_empty() {
        let widths = widths(table);
        let names: Vec<Vec<&str>> =
            table.columns.iter().map(|column| column.name.split('\n').collect()).collect();
        let height = names.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            // Names on fewer lines stand right above their columns.
            let piece = |name: &Vec<&str>| {
                let own = (line + name.len()).checked_sub(height);
                own.and_then(|own| name.get(own)).copied().unwrap_or_default().to_owned()
            };
            let header: Vec<Cell> = names.iter().map(|name| Cell::toned(piece(name), Tone::Faint)).collect();
            if header.iter().any(|cell| !cell.text.is_empty()) {
                push_row(&mut out, table, &header, &widths, paint);
            }
        }
        for row in &table.rows {
            push_row(&mut out, table, row, &widths, paint);
        }
    }
    if !(table.notes.is_empty() && table.footnotes.is_empty()) {
        out.push('\n');
    }
    for note in &table.notes {
        push_wrapped(&mut out, "", &Cell::new(note), width, paint);
    }
    for (index, footnote) in table.footnotes.iter().enumerate() {
        push_wrapped(
            &mut out,
            &footnote.lead(index),
            &Cell::toned(&footnote.text, Tone::Doubt),
            width,
            paint,
        );
        push_wrapped(&mut out, "  ", &Cell::new(format!("hint: {}", footnote.hint)), width, paint);
    }
    out
}

/// A text after its lead; what does not fit the width continues below, indented.
fn push_wrapped(out: &mut String, lead: &str, text: &Cell, width: usize, paint: Paint<'_>) {
    if lead.width() + text.text.width() <= width {
        return push_line(out, &format!("{lead}{}", paint(text.tone, &text.text)));
    }
    let indent = " ".repeat(if lead.is_empty() { 2 } else { lead.width() });
    for (index, line) in wrap(std::slice::from_ref(text), width - indent.len()).into_iter().enumerate() {
        let start = if index == 0 { lead } else { indent.as_str() };
        let words: String = line.iter().map(|piece| paint(piece.tone, &piece.text)).collect();
        push_line(out, &format!("{start}{words}"));
    }
}

fn widths(table: &Table) -> Vec<usize> {
    let mut widths: Vec<usize> = table.columns.iter().map(Column::name_width).collect();
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

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_and_wrapped_notes() {
        let mut table = Table {
            heading: vec!["A heading that is longer than the width".into()],
            columns: vec![Column::left("name"), Column::right("spread").secondary(), Column::right("median")],
            rows: vec![vec![Cell::new("first cell"), Cell::new("11 %"), Cell::new("1.5")]],
            notes: vec!["a note that says something at length".into()],
            ..Table::default()
        };
        table.footnote("a doubt that does not fit either", "and its remedy");
        let text = render_within(&table, 26, &plain);
        assert!(text.lines().all(|line| line.width() <= 26), "{text}");
        assert!(text.contains("not shown at this width:\n  spread"), "{text}");
        assert!(!text.contains("11 %"), "{text}");
        assert_eq!(render_within(&table, 80, &plain), render(&table, &plain));
    }

    #[test]
    fn what_is_too_wide_is_printed_in_parts() {
        let cells = |words: &[&str]| words.iter().map(|word| Cell::new(*word)).collect::<Vec<_>>();
        let table = Table {
            columns: ["batch_size", "samples_per_s.loop [samples/s]", "accuracy [%]"]
                .map(Column::right)
                .into(),
            keys: 1,
            rows: vec![cells(&["8", "2984 (2051 – 4388)", "56.6 (51.2 – 59.8)"])],
            notes: vec!["a note".into()],
            ..Table::default()
        };
        let broken = render_within(&table, 60, &plain);
        assert!(broken.lines().all(|line| line.width() <= 60), "{broken}");
        assert_eq!(broken.matches("batch_size").count(), 1, "{broken}");
        let text = render_within(&table, 36, &plain);
        assert!(text.lines().all(|line| line.width() <= 36), "{text}");
        assert_eq!(text.matches("batch_size").count(), 2, "{text}");
        assert_eq!(text.matches("a note").count(), 1, "{text}");
        assert!(text.contains("samples_per_s.loop\n"), "{text}");
    }

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
