//! reStructuredText: sections, paragraphs, literal blocks, and tables of four kinds.

use super::builder::DocumentBuilder;
use super::separated;
use crate::writeup::{GridTable, RawTable, grid};

/// Reads a reStructuredText.
pub(super) fn read(text: &str, builder: &mut DocumentBuilder) {
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = RstReader { lines: &lines, builder, at: 0, adornments: Vec::new(), said: false };
    while reader.at < lines.len() {
        reader.block();
    }
    reader.end_paragraph();
}

struct RstReader<'a, 'b> {
    lines: &'a [&'a str],
    builder: &'b mut DocumentBuilder,
    at: usize,
    /// The lines under (and over) headings, in the order of their first use: outer ones come first.
    adornments: Vec<(char, bool)>,
    said: bool,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The sign that a line repeats, where it does nothing else.
fn rule(line: &str) -> Option<char> {
    let line = line.trim_end();
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 3 && line.chars().all(|character| character == first)).then_some(first)
}

/// Whether a line is the border of a simple table: `=====  ===`.
fn is_border(line: &str) -> bool {
    let line = line.trim();
    line.contains("= ") && line.chars().all(|character| matches!(character, '=' | ' '))
}

/// The text without roles and references: `:ref:`x`` and `` `x <y>`_ ``.
fn plain(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let before = rest.get(..at).unwrap_or_default();
        let role = before.strip_suffix(':').and_then(|before| before.rfind(':').map(|colon| (before, colon)));
        match role {
            Some((before, colon))
                if before.get(colon + 1..).is_some_and(|name| {
                    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                }) =>
            {
                kept.push_str(before.get(..colon).unwrap_or_default());
            }
            _ => kept.push_str(before),
        }
        let inside = rest.get(at..).unwrap_or_default().trim_start_matches('`');
        let Some(end) = inside.find('`') else {
            kept.push_str(inside);
            return kept;
        };
        let text = inside.get(..end).unwrap_or_default();
        kept.push_str(text.split_once(" <").map_or(text, |(name, _)| name));
        rest = inside.get(end..).unwrap_or_default().trim_start_matches('`').trim_start_matches('_');
    }
    kept.push_str(rest);
    kept
}

impl RstReader<'_, '_> {
    fn line(&self, at: usize) -> &str {
        self.lines.get(at).copied().unwrap_or_default()
    }

    fn block(&mut self) {
        let line = self.line(self.at);
        let next = self.line(self.at + 1);
        if line.trim().is_empty() {
            self.end_paragraph();
            self.at += 1;
        } else if grid::starts(line) {
            self.grid();
        } else if is_border(line) {
            self.simple();
        } else if let Some(name) = line.trim_start().strip_prefix(".. ") {
            let name = name.to_owned();
            self.directive(&name);
        } else if let Some(sign) = rule(next).filter(|_| {
            rule(line).is_none() && next.trim_end().len() + 2 >= line.trim_end().len() && indent(line) == 0
        }) {
            self.heading(self.at, sign, false);
            self.at += 2;
        } else if let Some(sign) =
            rule(line).filter(|sign| rule(self.line(self.at + 2)) == Some(*sign) && !next.trim().is_empty())
        {
            self.heading(self.at + 1, sign, true);
            self.at += 3;
        } else if rule(line).is_some() {
            self.end_paragraph();
            self.at += 1;
        } else {
            self.paragraph_line();
        }
    }

    fn heading(&mut self, at: usize, sign: char, over: bool) {
        self.end_paragraph();
        let adornment = (sign, over);
        let level = match self.adornments.iter().position(|known| *known == adornment) {
            Some(place) => place + 1,
            None => {
                self.adornments.push(adornment);
                self.adornments.len()
            }
        };
        let text = plain(self.line(at).trim());
        self.builder.heading(at as u64 + 1, level.min(6), &text);
    }

    fn paragraph_line(&mut self) {
        let line = self.line(self.at).trim().to_owned();
        let literal = line.ends_with("::");
        let text = if literal { line.trim_end_matches(':') } else { &line };
        if !text.is_empty() {
            self.builder.prose(self.at as u64 + 1, plain(text).as_bytes());
            self.said = true;
        }
        let outer = indent(self.line(self.at));
        self.at += 1;
        if literal {
            self.end_paragraph();
            self.literal(outer);
        }
    }

    /// The lines of a block that is indented deeper than what is around it; blank lines do not end it.
    fn indented(&self, outer: usize) -> std::ops::Range<usize> {
        let first = (self.at..self.lines.len())
            .find(|at| !self.line(*at).trim().is_empty())
            .unwrap_or(self.lines.len());
        let mut last = first;
        for at in first..self.lines.len() {
            let line = self.line(at);
            if line.trim().is_empty() {
                continue;
            }
            if indent(line) <= outer {
                break;
            }
            last = at + 1;
        }
        first..last
    }

    fn literal(&mut self, outer: usize) {
        let block = self.indented(outer);
        if block.is_empty() {
            return;
        }
        self.builder.open_listing(block.start as u64 + 1);
        for at in block.clone() {
            let line = self.line(at).trim_end().to_owned();
            self.builder.listing_line(at as u64 + 1, line.trim_start().as_bytes());
        }
        self.builder.close_listing(block.end as u64);
        self.at = block.end;
    }

    fn directive(&mut self, name: &str) {
        self.end_paragraph();
        let outer = indent(self.line(self.at));
        let (kind, argument) = name.split_once("::").unwrap_or((name, ""));
        let number = self.at as u64 + 1;
        self.at += 1;
        match kind.trim() {
            "code" | "code-block" | "sourcecode" | "parsed-literal" | "literalinclude" => self.literal(outer),
            "list-table" => {
                self.title(number, argument);
                self.list_table(number, outer);
            }
            "csv-table" => {
                self.title(number, argument);
                self.csv_table(number, outer);
            }
            // A table with a title, or a note: what is inside is read as usual.
            "table" | "note" | "warning" | "tip" | "important" | "admonition" | "rubric" => {
                self.title(number, argument);
                while self.line(self.at).trim_start().starts_with(':') {
                    self.at += 1;
                }
            }
            // Comments, images, references: their content is not text.
            _ => self.at = self.indented(outer).end.max(self.at),
        }
    }

    fn title(&mut self, number: u64, title: &str) {
        if !title.trim().is_empty() {
            self.builder.caption(number, &plain(title.trim()));
        }
    }

    fn grid(&mut self) {
        self.end_paragraph();
        let mut table = GridTable::default();
        let from = self.at;
        while self.at < self.lines.len() && table.push(self.at as u64 + 1, self.line(self.at)) {
            self.at += 1;
        }
        self.at = self.at.max(from + 1);
        if let Some(raw) = table.finish() {
            self.builder.table(raw);
        }
    }

    /// A simple table: columns by the border, rows by lines whose first column is not blank.
    fn simple(&mut self) {
        self.end_paragraph();
        let border = self.line(self.at).to_owned();
        let columns = columns(&border);
        let mut table = RawTable { first: self.at as u64 + 1, ..RawTable::default() };
        let mut rows: Vec<Vec<(String, u64)>> = Vec::new();
        let mut borders = 1;
        self.at += 1;
        while self.at < self.lines.len() && borders < 3 {
            let line = self.line(self.at);
            if is_border(line) || line.trim().chars().all(|character| character == '=') && line.contains("==")
            {
                borders += 1;
                if borders == 2 {
                    let heads: Vec<Vec<String>> =
                        rows.drain(..).map(|row| row.into_iter().map(|(text, _)| text).collect()).collect();
                    table.header = crate::writeup::raw::joined_header(&heads);
                }
            } else if line.trim().is_empty() && borders == 2 && !is_simple_open(self.lines, self.at) {
                break;
            } else if !line.trim().is_empty()
                && !line.trim().chars().all(|character| matches!(character, '-' | ' '))
            {
                take_simple_row(line, self.at as u64 + 1, &columns, &mut rows);
            }
            self.at += 1;
        }
        table.last = self.at as u64;
        // Without a second border inside, the first row is the header.
        if table.header.is_empty() && !rows.is_empty() {
            table.header = rows.remove(0).into_iter().map(|(text, _)| text).collect();
        }
        rows.into_iter().for_each(|row| table.add_row(row));
        if !table.header.is_empty() {
            self.builder.table(table);
        }
    }

    fn list_table(&mut self, first: u64, outer: usize) {
        let block = self.indented(outer);
        let mut rows: Vec<Vec<(String, u64)>> = Vec::new();
        let mut heads = 1;
        for at in block.clone() {
            let line = self.line(at).trim();
            let number = at as u64 + 1;
            if let Some(option) = line.strip_prefix(":header-rows:") {
                heads = option.trim().parse().unwrap_or(1);
            } else if line.starts_with(':') && rows.is_empty() {
                continue;
            } else if let Some(cell) = line.strip_prefix("* -") {
                rows.push(vec![(plain(cell.trim()), number)]);
            } else if let Some(cell) = line.strip_prefix("- ").or((line == "-").then_some("")) {
                rows.last_mut().into_iter().for_each(|row| row.push((plain(cell.trim()), number)));
            } else if let Some((cell, _)) = rows.last_mut().and_then(|row| row.last_mut()) {
                cell.push(' ');
                cell.push_str(&plain(line));
            }
        }
        self.at = block.end.max(self.at);
        self.finish_rows(rows, heads, first, block.end as u64);
    }

    fn csv_table(&mut self, first: u64, outer: usize) {
        let block = self.indented(outer);
        let mut rows: Vec<Vec<(String, u64)>> = Vec::new();
        let mut heads = 0;
        for at in block.clone() {
            let line = self.line(at).trim();
            let number = at as u64 + 1;
            if let Some(header) = line.strip_prefix(":header:") {
                rows.push(csv_cells(header).into_iter().map(|cell| (cell, number)).collect());
                heads = 1;
            } else if let Some(option) = line.strip_prefix(":header-rows:") {
                heads = option.trim().parse().unwrap_or(1);
            } else if !line.is_empty() && !line.starts_with(':') {
                rows.push(csv_cells(line).into_iter().map(|cell| (plain(&cell), number)).collect());
            }
        }
        self.at = block.end.max(self.at);
        self.finish_rows(rows, heads, first, block.end as u64);
    }

    fn finish_rows(&mut self, mut rows: Vec<Vec<(String, u64)>>, heads: usize, first: u64, last: u64) {
        let heads = heads.clamp(1, 4).min(rows.len());
        let body = rows.split_off(heads);
        let header: Vec<Vec<String>> =
            rows.into_iter().map(|row| row.into_iter().map(|(text, _)| text).collect()).collect();
        let mut table = RawTable {
            first,
            last,
            header: crate::writeup::raw::joined_header(&header),
            ..RawTable::default()
        };
        body.into_iter().for_each(|row| table.add_row(row));
        if !table.header.is_empty() {
            self.builder.table(table);
        }
    }

    fn end_paragraph(&mut self) {
        if std::mem::take(&mut self.said) {
            self.builder.end_of_block();
        }
    }
}

/// The values of a line of a CSV directive, which has blanks before its quotes.
fn csv_cells(line: &str) -> Vec<String> {
    separated::record(&line.trim().replace("\", \"", "\",\""), b',')
}

/// Whether another border follows a blank line inside a simple table before any other structure.
fn is_simple_open(lines: &[&str], at: usize) -> bool {
    lines.iter().skip(at + 1).take(3).any(|line| is_border(line))
}

/// Where each column of a border begins.
fn columns(border: &str) -> Vec<usize> {
    let bytes = border.as_bytes();
    (0..bytes.len())
        .filter(|at| {
            bytes.get(*at) == Some(&b'=') && at.checked_sub(1).and_then(|one| bytes.get(one)) != Some(&b'=')
        })
        .collect()
}

fn take_simple_row(line: &str, number: u64, columns: &[usize], rows: &mut Vec<Vec<(String, u64)>>) {
    let characters: Vec<char> = line.chars().collect();
    let cell = |index: usize, start: usize| {
        let end = columns.get(index + 1).copied().unwrap_or(usize::MAX).min(characters.len());
        let text: String = characters.get(start.min(end)..end).unwrap_or_default().iter().collect();
        plain(text.trim())
    };
    let row: Vec<String> = columns.iter().enumerate().map(|(index, start)| cell(index, *start)).collect();
    // A blank first column continues the row above.
    match rows.last_mut().filter(|_| row.first().is_some_and(String::is_empty)) {
        Some(above) => {
            for ((text, _), more) in above.iter_mut().zip(row).filter(|(_, more)| !more.is_empty()) {
                text.push(' ');
                text.push_str(&more);
            }
        }
        None => rows.push(row.into_iter().map(|text| (text, number)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use crate::document::read_document;
    use assay_model::Document;
    use proptest::prelude::*;

    fn read(text: &str) -> Document {
        read_document("notes.rst", text.as_bytes())
    }

    fn texts(document: &Document, table: usize) -> Vec<Vec<&str>> {
        let rows = document.tables[table].rows.iter();
        rows.map(|row| row.cells.iter().map(|cell| cell.text.as_str()).collect()).collect()
    }

    #[test]
    fn all_kinds_of_tables_give_the_same_rows() {
        let simple =
            "====  ==========\nGPUs  Time (s)\n====  ==========\n1     10.5\n2     5.5\n====  ==========\n";
        let grid = "+------+----------+\n| GPUs | Time (s) |\n+======+==========+\n| 1    | 10.5     |\n+------+----------+\n| 2    | 5.5      |\n+------+----------+\n";
        let list = ".. list-table:: Scaling\n   :header-rows: 1\n\n   * - GPUs\n     - Time (s)\n   * - 1\n     - 10.5\n   * - 2\n     - 5.5\n";
        let csv = ".. csv-table:: Scaling\n   :header: \"GPUs\", \"Time (s)\"\n\n   1, 10.5\n   2, 5.5\n";
        for (text, line) in [(simple, 4), (grid, 4), (list, 6), (csv, 4)] {
            let document = read(&format!("Title\n=====\n\n{text}\nAfterwards.\n"));
            assert_eq!(texts(&document, 0), [["1", "10.5"], ["2", "5.5"]], "{text}");
            let header: Vec<&str> =
                document.tables[0].columns.iter().map(|column| column.header.as_str()).collect();
            assert_eq!(header, ["GPUs", "Time (s)"], "{text}");
            assert_eq!(document.tables[0].headings, ["Title"]);
            assert_eq!(document.tables[0].rows[0].line, line + 3, "{text}");
        }
    }

    #[test]
    fn sections_literal_blocks_and_sentences() {
        let document = read(
            "#####\nBench\n#####\n\nRuns\n----\n\nThe log of :ref:`one run <a>`::\n\n  Accuracy on test set: 97.13%\n\nIt is 2.5x faster than ``x``.\n",
        );
        assert_eq!(document.runs[0].observations[0].source.as_ref().unwrap().line, 10);
        let [statement] = document.statements.as_slice() else { panic!("{:?}", document.statements) };
        assert_eq!(statement.text, "It is 2.5x faster than x.");
        assert_eq!(statement.headings, ["Bench", "Runs"]);
        assert_eq!(statement.span.first, 12);
    }

    proptest! {
        #[test]
        fn any_text_is_read(pieces in proptest::collection::vec(
            "====  ===\n|\\.\\. list-table::\n|\\.\\. csv-table::\n|   \\* - a\n|\\+--\\+\n|::\n|   b\n|\n|----\n|.{0,6}\n", 0..30)) {
            let _ = read(&pieces.concat());
        }
    }
}
