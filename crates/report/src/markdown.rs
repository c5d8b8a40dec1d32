//! Markdown.

use std::fmt::Write;

use assay_model::untrusted::{clean, one_line};

use crate::table::{Align, Table};

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
        let mark = footnote.lead(index);
        let _ = writeln!(out, "- {mark}{} *Hint: {}*", escape(&footnote.text), escape(&footnote.hint));
    }
    out
}

/// A text that Markdown leaves as it is, on one line. Code spans stay what they are; a backtick that opens none is
/// escaped, because what follows it is not code.
pub(crate) fn escape(text: &str) -> String {
    let text = one_line(text);
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(letter) = rest.chars().next() {
        if letter == '`' {
            let run = rest.len() - rest.trim_start_matches('`').len();
            let (ticks, behind) = rest.split_at(run);
            if let Some(end) = closing(behind, run) {
                let (code, after) = behind.split_at(end + run);
                escaped.push_str(ticks);
                escaped.extend(code.chars().flat_map(in_code));
                rest = after;
            } else {
                escaped.extend(ticks.chars().flat_map(|tick| ['\\', tick]));
                rest = behind;
            }
            continue;
        }
        if matches!(letter, '|' | '*' | '_' | '<' | '~' | '[' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
        rest = rest.split_at(letter.len_utf8()).1;
    }
    escaped
}

/// Where the backticks begin that close a code span opened with this many.
fn closing(text: &str, count: usize) -> Option<usize> {
    let mut start = 0;
    while let Some(found) = text.get(start..)?.find('`') {
        let at = start + found;
        let behind = text.get(at..)?;
        let run = behind.len() - behind.trim_start_matches('`').len();
        if run == count {
            return Some(at);
        }
        start = at + run;
    }
    None
}

/// A letter inside a code span. Only the pipe needs escaping there, and only because of tables.
fn in_code(letter: char) -> impl Iterator<Item = char> {
    let escape = (letter == '|').then_some('\\');
    escape.into_iter().chain([letter])
}

/// A text as code, whatever it holds.
pub(crate) fn code(text: &str) -> String {
    let text = one_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    if fence.len() > 1 || text.trim().is_empty() {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// Lines as a block of code, whatever they hold.
pub(crate) fn code_block(text: &str) -> String {
    let text = clean(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
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

    #[test]
    fn backticks_without_a_partner_hide_nothing() {
        assert_eq!(escape("`<b>` <b>"), "`<b>` \\<b>");
        assert_eq!(escape("``` <b> `"), "\\`\\`\\` \\<b> \\`");
        assert_eq!(escape("``a`b`` <i>"), "``a`b`` \\<i>");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code_block("```"), "````text\n```\n````\n");
    }
}
