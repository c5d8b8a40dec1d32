//! CSV and TSV.

use super::{Block, MOST_ROWS, RawCell, RawTable};

pub(super) fn blocks(source: &str, separator: char) -> Vec<Block> {
    let mut lines =
        source.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((first, header)) = lines.next() else { return Vec::new() };
    let separator = if header.contains(separator) { separator } else { ';' };
    let header: Vec<String> = fields(header, separator);
    if header.len() < 2 {
        return Vec::new();
    }
    let rows = lines.take(MOST_ROWS).map(|(index, line)| {
        let fields = fields(line, separator).into_iter();
        fields.map(|text| RawCell { text, line: index as u64 + 1 }).collect()
    });
    vec![Block::Table(RawTable {
        caption: String::new(),
        header,
        header_line: first as u64 + 1,
        rows: rows.collect(),
    })]
}

/// The fields of a line, without their quotes.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => {
                fields.push(std::mem::take(&mut field).trim().to_owned())
            }
            _ => field.push(character),
        }
    }
    fields.push(field.trim().to_owned());
    fields
}
