//! Lists of names with one number each are tables of two columns: `gcc 13.2     18.42 s`, `- in memory: 4.31 s`.

use std::collections::HashSet;

use super::{Block, Line, RawCell, RawTable};
use crate::unit::{Unit, leading_unit};

/// The header of the values, which have a unit and no name.
pub const LIST_HEADER: &str = " ";

/// The longest name and the longest line that are read as a field.
const LONGEST_NAME: usize = 60;
const LONGEST_LINE: usize = 200;
/// The longest paragraph that is tried as a list.
const MOST_LINES: usize = 60;

/// A name, the number behind it as written, and its unit.
struct Field {
    name: String,
    value: String,
    unit: Unit,
    line: u64,
}

/// The tables that consecutive fields of one unit make, with the position of their last block.
pub(super) fn tables(blocks: &[Block]) -> Vec<(usize, RawTable)> {
    let mut found = Vec::new();
    let mut group = Group::default();
    let mut last = 0;
    let mut end = |group: &mut Group, at: usize| {
        let Group { fields, .. } = std::mem::take(group);
        if fields.len() >= 2 {
            found.push((at, table(fields)));
        }
    };
    for (index, block) in blocks.iter().enumerate() {
        match block {
            Block::Paragraph(text) if text.lines() == 1 => {
                take(&mut group, line(&text.text, text.line_at(0)), |group| end(group, last));
            }
            // A paragraph is a list only where each of its lines is a field.
            Block::Paragraph(text) if text.lines() <= MOST_LINES => {
                end(&mut group, last);
                let fields: Option<Vec<Field>> =
                    text.source_lines().map(|(number, text)| line(text, number)).collect();
                for field in fields.unwrap_or_default() {
                    take(&mut group, Some(field), |group| end(group, index));
                }
                end(&mut group, index);
            }
            Block::Listing(lines) => {
                end(&mut group, last);
                for Line { number, text } in lines.iter().filter(|line| !line.text.trim().is_empty()) {
                    take(&mut group, line(text, *number), |group| end(group, index));
                }
                end(&mut group, index);
            }
            _ => end(&mut group, last),
        }
        last = index;
    }
    end(&mut group, last);
    found
}

/// Fields of one unit with different names.
#[derive(Default)]
struct Group {
    fields: Vec<Field>,
    names: HashSet<String>,
}

/// Adds a field to a group of its unit, or ends the group.
fn take(group: &mut Group, field: Option<Field>, mut end: impl FnMut(&mut Group)) {
    let Some(field) = field else { return end(group) };
    let fits = group.fields.last().is_none_or(|last| last.unit.same_symbols(&field.unit));
    if !fits || group.names.contains(&field.name) {
        end(group);
    }
    group.names.insert(field.name.clone());
    group.fields.push(field);
}

fn table(fields: Vec<Field>) -> RawTable {
    let header_line = fields.first().map_or(1, |field| field.line);
    let rows = fields.into_iter().map(|field| {
        let line = field.line;
        [field.name, field.value].map(|text| RawCell { text, line }).to_vec()
    });
    // A table without any header would be read as one of metrics in rows.
    let header = vec![String::new(), LIST_HEADER.to_owned()];
    RawTable { caption: String::new(), header, header_line, rows: rows.collect() }
}

fn line(text: &str, number: u64) -> Option<Field> {
    let text = text.trim();
    if text.len() > LONGEST_LINE {
        return None;
    }
    // Columns set apart with spaces; more than one number makes a record.
    if let Some((name, value)) = text.split_once("  ") {
        return of(name, value.trim_start(), number).filter(|_| !value.trim().contains("  "));
    }
    field(text, number)
}

/// `name: 4.31 s`, with anything but another number of its own behind it.
fn field(text: &str, line: u64) -> Option<Field> {
    let (name, value) = text.split_once(": ").or_else(|| text.split_once(" = "))?;
    of(name, value.trim_start(), line)
}

fn of(name: &str, value: &str, line: u64) -> Option<Field> {
    let name = name.trim().trim_start_matches(['-', '*', '•', '+']).trim().trim_end_matches([':', '=']);
    let named = name.chars().any(char::is_alphabetic) && name.len() <= LONGEST_NAME;
    let digits: String =
        value.chars().take_while(|one| one.is_ascii_digit() || ".,".contains(*one)).collect();
    let digits = digits.trim_end_matches(['.', ',']);
    if !named || !digits.starts_with(|one: char| one.is_ascii_digit()) {
        return None;
    }
    let rest = value.get(digits.len()..)?;
    let (unit, length) = leading_unit(rest)?;
    let measures = !unit.is_count() && !unit.is_relative();
    let spelled = rest.get(..length)?.trim();
    let ends = rest.get(length..)?.chars().next().is_none_or(|next| !next.is_alphanumeric());
    (measures && ends).then(|| Field {
        name: name.to_owned(),
        value: format!("{digits} {spelled}"),
        unit,
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manuscript::Manuscript;

    #[test]
    fn names_with_one_number_each_are_a_table() {
        let source = "Results:\n\n    gcc 13.2     18.42 s\n    clang 17     17.05 s\n\n- small: 84 ms\n- large: 402 ms, slow\n- count: 12\n";
        let manuscript = Manuscript::read("a.md", source);
        let found = tables(&manuscript.blocks);
        let texts = |index: usize| -> Vec<String> {
            found[index].1.rows.iter().map(|row| format!("{}={}", row[0].text, row[1].text)).collect()
        };
        assert_eq!(found.len(), 2);
        assert_eq!(texts(0), ["gcc 13.2=18.42 s", "clang 17=17.05 s"]);
        assert_eq!(texts(1), ["small=84 ms", "large=402 ms"]);
    }
}
