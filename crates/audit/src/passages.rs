//! A document as the audit read it, for showing: passages of text with the place of every quantity.

use assay_model::Document;

use crate::manuscript::{Block, Manuscript, RawCell, RawTable, Text};
use crate::quantity::quantities;

/// A part of a document, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Passage {
    Heading(Prose),
    Paragraph(Prose),
    /// Lines of a log, of a program's output or of source code.
    Listing(Vec<Prose>),
    Table {
        /// Empty where the table has no header.
        header: Vec<Prose>,
        rows: Vec<Vec<Prose>>,
    },
}

/// Text without mark-up, and where its quantities stand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prose {
    pub text: String,
    /// Where each line of the source begins in the text.
    pub lines: Vec<(usize, u64)>,
    pub numbers: Vec<NumberPlace>,
}

/// Where a quantity stands in a text, its unit included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberPlace {
    pub start: usize,
    pub end: usize,
    /// The number as written, before its unit.
    pub written: f64,
}

/// The quantities of a text. Names, versions and dates have none.
pub fn number_places(text: &str) -> Vec<NumberPlace> {
    let found = quantities(text).into_iter();
    found
        .filter(|quantity| {
            text.is_char_boundary(quantity.start)
                && text.is_char_boundary(quantity.end)
                && quantity.start < quantity.end
        })
        .map(|quantity| NumberPlace { start: quantity.start, end: quantity.end, written: quantity.written })
        .collect()
}

impl Prose {
    fn line(text: &str, line: u64) -> Prose {
        Prose { text: text.to_owned(), lines: vec![(0, line)], numbers: number_places(text) }
    }

    fn of(text: &Text) -> Prose {
        Prose { text: text.text.clone(), lines: text.starts().to_vec(), numbers: number_places(&text.text) }
    }

    /// The source line of a position in the text.
    pub fn line_at(&self, offset: usize) -> u64 {
        let index = self.lines.partition_point(|(start, _)| *start <= offset);
        self.lines.get(index.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }

    /// The first line of the source.
    pub fn first_line(&self) -> u64 {
        self.line_at(0)
    }

    /// The text line by line.
    fn split(&self) -> Vec<Prose> {
        let ends = self.lines.iter().skip(1).map(|(start, _)| *start).chain([self.text.len()]);
        let pieces = self.lines.iter().zip(ends);
        pieces
            .map(|((start, line), end)| {
                Prose::line(self.text.get(*start..end).unwrap_or_default().trim_end(), *line)
            })
            .collect()
    }
}

/// Lines of a log that are given; nobody reads more of them on a page.
const MOST_LINES: usize = 100_000;

/// The passages of a document whose source was kept. A file that is no write-up is one listing.
pub fn passages(document: &Document) -> Vec<Passage> {
    if document.text.is_empty() {
        return Vec::new();
    }
    let blocks = if is_log(&document.file) {
        Vec::new()
    } else {
        Manuscript::read(&document.file, &document.text).blocks
    };
    if blocks.is_empty() {
        let lines = document.text.lines().zip(1..).map(|(text, line)| Prose::line(text, line));
        return vec![Passage::Listing(lines.take(MOST_LINES).collect())];
    }
    let flows = flows(&document.file);
    blocks.iter().map(|block| passage(block, flows)).collect()
}

/// Whether a file is a log by its name.
fn is_log(file: &str) -> bool {
    let name = file.to_ascii_lowercase();
    [".log", ".out", ".err", ".log.gz", ".json", ".jsonl"].iter().any(|ending| name.ends_with(ending))
}

/// Whether the line breaks of paragraphs mean nothing in a file of this name.
fn flows(file: &str) -> bool {
    let name = file.to_ascii_lowercase();
    [".md", ".tex", ".html", ".htm", ".rst", ".ipynb", ".org"].iter().any(|ending| name.ends_with(ending))
}

fn passage(block: &Block, flows: bool) -> Passage {
    match block {
        Block::Heading(text) => Passage::Heading(Prose::of(text)),
        Block::Paragraph(text) if !flows && text.lines() > 1 => Passage::Listing(Prose::of(text).split()),
        Block::Paragraph(text) => Passage::Paragraph(Prose::of(text)),
        Block::Listing(lines) => {
            Passage::Listing(lines.iter().map(|line| Prose::line(&line.text, line.number)).collect())
        }
        Block::Table(table) => table_passage(table),
    }
}

fn table_passage(table: &RawTable) -> Passage {
    let header = table.header.iter().map(|text| Prose::line(text, table.header_line)).collect();
    let cell = |cell: &RawCell| Prose::line(&cell.text, cell.line);
    Passage::Table { header, rows: table.rows.iter().map(|row| row.iter().map(cell).collect()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str, text: &str) -> Vec<Passage> {
        passages(&Document { file: file.to_owned(), text: text.to_owned(), ..Document::default() })
    }

    #[test]
    fn quantities_have_places_and_names_have_none() {
        let found = read("a.md", "# Speed\n\nThe 5950X gives 37.5 %\nmore, or 1,240 tokens/s.\n");
        let [Passage::Heading(_), Passage::Paragraph(text)] = found.as_slice() else { panic!("{found:?}") };
        let shown: Vec<(&str, u64)> = text
            .numbers
            .iter()
            .map(|place| (&text.text[place.start..place.end], text.line_at(place.start)))
            .collect();
        assert_eq!(shown, [("37.5 %", 3), ("1,240 tokens/s", 4)]);
    }

    #[test]
    fn tables_and_logs_keep_their_lines() {
        let found = read("a.md", "| gpus | s |\n|---|---|\n| 2 | 4.5 |\n");
        let [Passage::Table { header, rows }] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((header.len(), rows[0][1].first_line()), (2, 3));
        let found = read("train.log", "step 1 loss 2.5\nstep 2 loss 2.25\n");
        let [Passage::Listing(lines)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((lines.len(), lines[1].first_line()), (2, 2));
    }
}
