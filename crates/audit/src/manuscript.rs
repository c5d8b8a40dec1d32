//! A document as its author wrote it: headings, paragraphs, listings and tables, each with its lines.
//!
//! The readers of `evidence` look for runs and results. An audit also needs the words around every number and the
//! line of every cell, so it reads the source once more, for its structure alone.
//!
//! | file | holds |
//! |---|---|
//! | `markdown.rs` | Markdown, plain text and reStructuredText |
//! | `markup.rs` | inline mark-up of Markdown |
//! | `aligned.rs` | tables whose columns are aligned with spaces |
//! | `html.rs` | HTML |
//! | `latex.rs` | LaTeX |
//! | `notebook.rs` | Jupyter notebooks |
//! | `fields.rs` | lists of names with one number each, as tables |
//! | `records.rs` | lines of one shape in listings, as tables |
//! | `separated.rs` | CSV and TSV |
//! | `spans.rs` | cells that span several columns or rows |

mod aligned;
mod fields;
mod html;
mod latex;
mod markdown;
mod markup;
mod notebook;
mod records;
mod separated;
mod spans;

pub use fields::LIST_HEADER;

/// The longest source that is read for claims, in bytes; what is behind it is not audited.
pub const LONGEST_SOURCE: usize = 16 << 20;

/// The most rows of a table that are audited: a longer one is data, and every cell takes memory.
pub(crate) const MOST_ROWS: usize = 20_000;

/// A document in blocks, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manuscript {
    pub file: String,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Heading(Text),
    Paragraph(Text),
    /// Lines of a log, of a program's output or of source code.
    Listing(Vec<Line>),
    Table(RawTable),
}

/// Plain text that may run over several lines of the source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    pub text: String,
    /// Where each line of the source begins in the text.
    starts: Vec<(usize, u64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub number: u64,
    pub text: String,
}

/// A table of plain texts. The header may be empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawTable {
    pub caption: String,
    pub header: Vec<String>,
    pub header_line: u64,
    pub rows: Vec<Vec<RawCell>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawCell {
    pub text: String,
    pub line: u64,
}

impl Text {
    pub fn new(text: &str, line: u64) -> Text {
        Text { text: text.to_owned(), starts: vec![(0, line)] }
    }

    /// Adds a line of the source behind a space.
    pub fn push_line(&mut self, text: &str, line: u64) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.starts.push((self.text.len(), line));
        self.text.push_str(text);
    }

    /// The pieces of the text that come from one line of the source each, with their lines.
    pub fn source_lines(&self) -> impl Iterator<Item = (u64, &str)> {
        let ends = self.starts.iter().skip(1).map(|(start, _)| *start).chain([self.text.len()]);
        self.starts.iter().zip(ends).filter_map(|((start, line), end)| {
            let text = self.text.get(*start..end)?.trim();
            (!text.is_empty()).then_some((*line, text))
        })
    }

    /// Where each line of the source begins in the text.
    pub fn starts(&self) -> &[(usize, u64)] {
        &self.starts
    }

    /// How many lines of the source it runs over.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// The source line of a position in the text.
    pub fn line_at(&self, offset: usize) -> u64 {
        let index = self.starts.partition_point(|(start, _)| *start <= offset);
        index.checked_sub(1).and_then(|index| self.starts.get(index)).map_or(1, |(_, line)| *line)
    }
}

impl Manuscript {
    /// The tables that lines of a listing make, with the position of the listing.
    pub fn records(&self) -> impl Iterator<Item = (usize, RawTable)> {
        let blocks = self.blocks.iter().enumerate();
        blocks.flat_map(|(index, block)| {
            let tables = if let Block::Listing(lines) = block { records::tables(lines) } else { Vec::new() };
            tables.into_iter().map(move |table| (index, table))
        })
    }

    /// The tables that lists of names with one number each make, with the position of their block.
    pub fn fields(&self) -> Vec<(usize, RawTable)> {
        fields::tables(&self.blocks)
    }

    /// Reads a source by its file name and, where that says nothing, by its content.
    pub fn read(file: &str, source: &str) -> Manuscript {
        let mut end = source.len().min(LONGEST_SOURCE);
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let source = &source[..end];
        let name = file.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let start = source.trim_start().get(..200.min(source.trim_start().len())).unwrap_or_default();
        let mut blocks = match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "html" | "htm" | "xhtml" => html::blocks(source),
            "tex" | "latex" => latex::blocks(source),
            "ipynb" => notebook::blocks(source),
            "csv" => separated::blocks(source, ','),
            "tsv" => separated::blocks(source, '\t'),
            "json" | "jsonl" | "py" | "sh" | "toml" | "yaml" | "yml" => Vec::new(),
            _ if start.starts_with("<!DOCTYPE") || start.starts_with("<html") => html::blocks(source),
            _ if start.contains("\\documentclass") => latex::blocks(source),
            _ if start.starts_with('{') && start.contains("\"cells\"") => notebook::blocks(source),
            _ => markdown::blocks(source),
        };
        for block in &mut blocks {
            if let Block::Table(table) = block {
                table.rows.truncate(MOST_ROWS);
            }
        }
        Manuscript { file: file.to_owned(), blocks }
    }
}
