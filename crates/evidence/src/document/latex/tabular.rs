//! Rows and cells of a LaTeX table.

use super::inline::plain;
use super::source::{command_name, group};
use crate::document::line_index::LineIndex;
use crate::writeup::RawTable;
use crate::writeup::raw::{MOST_COLUMNS, beyond, joined_header};

/// Rows that were read, and where rules stand between them.
#[derive(Default)]
struct Rows {
    rows: Vec<Vec<TexCell>>,
    /// How many rows stand above each rule.
    rules: Vec<usize>,
    /// Rows above `\endfirsthead` or `\endhead`, which long tables repeat on every page.
    head: Option<usize>,
    /// Rows that a page break repeats, and no others.
    repeated: Vec<std::ops::Range<usize>>,
    /// Cells of columns that are not kept.
    left_out_cells: u64,
}

/// A table has a head, a foot and a last foot; every row is held against all that are kept.
const MOST_REPEATED: usize = 8;

#[derive(Debug, Clone)]
struct TexCell {
    text: String,
    line: u64,
    /// Rows that the cell reaches down into, its own among them.
    rows: usize,
}

/// The table in the body of an environment that stands at `start` of the file.
pub(super) fn read(body: &str, start: usize, lines: &LineIndex) -> Option<RawTable> {
    let mut rows = Rows::default();
    let mut from = 0;
    let (mut at, mut depth) = (0, 0_usize);
    let bytes = body.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if depth == 0 && bytes.get(at + 1) == Some(&b'\\') => {
                rows.add(body.get(from..at).unwrap_or_default(), start + from, lines);
                at = super::source::after_options(body, at + 2);
                from = at;
                continue;
            }
            b'\\' if depth == 0 && command_name(body, at) == "tabularnewline" => {
                rows.add(body.get(from..at).unwrap_or_default(), start + from, lines);
                at += "\\tabularnewline".len();
                from = at;
                continue;
            }
            b'\\' => at += 1,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    rows.add(body.get(from..).unwrap_or_default(), start + from, lines);
    rows.table()
}

impl Rows {
    /// Takes the source of one row, with the rules above it.
    fn add(&mut self, source: &str, start: usize, lines: &LineIndex) {
        let body = self.without_rules(source);
        let offset = source.len() - body.len();
        let cells = split_cells(body);
        if cells.iter().all(|(_, text)| plain(text).is_empty()) {
            return;
        }
        let mut row = Vec::new();
        for (at, text) in cells {
            let blank = text.len() - text.trim_start().len();
            let line = lines.at(start + offset + at + blank);
            let (text, columns, rows) = spans(text);
            let cell = TexCell { text, line, rows };
            row.extend(std::iter::repeat_n(cell, columns));
        }
        self.left_out_cells += beyond(row.iter().map(|cell: &TexCell| cell.text.as_str()));
        row.truncate(MOST_COLUMNS);
        self.rows.push(row);
    }

    /// Notes the rules and marks at the beginning of a row's source and gives what follows them.
    fn without_rules<'a>(&mut self, source: &'a str) -> &'a str {
        let mut rest = source.trim_start();
        while rest.starts_with('\\') {
            let name = command_name(rest, 0);
            let behind = 1 + name.len();
            match name {
                "hline" | "toprule" | "midrule" | "bottomrule" | "specialrule" | "cmidrule" | "cline"
                | "Xhline" => {
                    if matches!(name, "hline" | "toprule" | "midrule" | "bottomrule" | "Xhline") {
                        self.rules.push(self.rows.len());
                    }
                }
                "endhead" | "endfoot" | "endlastfoot" if self.repeated.len() >= MOST_REPEATED => {}
                "endfirsthead" => self.head = Some(self.rows.len()),
                "endhead" => match self.head {
                    Some(head) => self.repeated.push(head..self.rows.len()),
                    None => self.head = Some(self.rows.len()),
                },
                "endfoot" | "endlastfoot" => {
                    let from = self.repeated.last().map_or(self.head.unwrap_or(0), |range| range.end);
                    self.repeated.push(from..self.rows.len());
                }
                "addlinespace" | "rowcolor" | "centering" | "small" | "footnotesize" | "noalign"
                | "caption" | "label" | "morecmidrules" => {}
                _ => break,
            }
            let mut end = super::source::after_arguments(rest, behind);
            // `\cmidrule(lr){2-3}`.
            if let Some(trim) = rest.get(end..).filter(|tail| tail.starts_with('('))
                && let Some(close) = trim.find(')')
            {
                end = super::source::after_arguments(rest, end + close + 1);
            }
            rest = rest.get(end..).unwrap_or_default().trim_start();
        }
        rest
    }

    fn table(self) -> Option<RawTable> {
        let Rows { rows, rules, head, repeated, left_out_cells } = self;
        let heads = head.unwrap_or_else(|| header_rows(&rules, rows.len()));
        let laid_out = lay_out(rows);
        let header: Vec<Vec<String>> = laid_out
            .iter()
            .take(heads)
            .map(|row| row.iter().map(|(text, _)| text.clone()).collect())
            .collect();
        let mut table = RawTable { header: joined_header(&header), left_out_cells, ..RawTable::default() };
        for (index, row) in laid_out.into_iter().enumerate().skip(heads) {
            if !repeated.iter().any(|range| range.contains(&index)) {
                table.add_row(row);
            }
        }
        (!table.header.is_empty() && !table.rows.is_empty()).then_some(table)
    }
}

/// How many rows are the header: those above the first rule that has rows above and below it, or the first row.
fn header_rows(rules: &[usize], rows: usize) -> usize {
    rules.iter().copied().find(|above| *above > 0 && *above < rows).filter(|above| *above <= 4).unwrap_or(1)
}

/// Cells of a row with the place where each begins.
fn split_cells(source: &str) -> Vec<(usize, &str)> {
    let mut cells = Vec::new();
    let (mut from, mut depth) = (0, 0_usize);
    let mut escaped = false;
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'&' if depth == 0 => {
                cells.push((from, source.get(from..at).unwrap_or_default()));
                from = at + 1;
            }
            _ => {}
        }
    }
    cells.push((from, source.get(from..).unwrap_or_default()));
    cells
}

/// The text of a cell, and the columns and rows that it takes.
fn spans(source: &str) -> (String, usize, usize) {
    let mut text = source.trim();
    let (mut columns, mut rows) = (1, 1);
    for _ in 0..2 {
        let name = if text.starts_with('\\') { command_name(text, 0) } else { "" };
        let span = match name {
            "multicolumn" => &mut columns,
            "multirow" => &mut rows,
            _ => break,
        };
        let first = super::source::after_options(text, 1 + name.len());
        let Some((number, end)) = group(text, first) else { break };
        *span = number.trim().trim_start_matches('-').parse::<usize>().unwrap_or(1).clamp(1, MOST_COLUMNS);
        let end = super::source::after_options(text, end);
        // `\multirow{2}{*}{text}` and `\multirow{2}*{text}`.
        let end = match group(text, end) {
            Some((_, end)) => end,
            None => end + usize::from(text.get(end..).is_some_and(|rest| rest.starts_with('*'))),
        };
        let Some((inner, _)) = group(text, super::source::after_options(text, end)) else { break };
        text = inner.trim();
    }
    (plain(text), columns, rows)
}

/// Copies cells that reach down into the empty cells below them.
fn lay_out(rows: Vec<Vec<TexCell>>) -> Vec<Vec<(String, u64)>> {
    let mut hanging: Vec<(String, usize)> = Vec::new();
    let mut laid_out = Vec::with_capacity(rows.len());
    for row in rows {
        let mut cells = Vec::with_capacity(row.len());
        for (index, cell) in row.into_iter().enumerate() {
            if hanging.len() <= index {
                hanging.resize(index + 1, (String::new(), 0));
            }
            let mut text = cell.text;
            if let Some((above, left)) = hanging.get_mut(index) {
                if *left > 0 {
                    *left -= 1;
                    if text.is_empty() {
                        text.clone_from(above);
                    }
                }
                if cell.rows > 1 {
                    above.clone_from(&text);
                    *left = cell.rows - 1;
                }
            }
            cells.push((text, cell.line));
        }
        laid_out.push(cells);
    }
    laid_out
}
