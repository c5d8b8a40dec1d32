//! What fills a screen: paragraphs and tables, one below the other.

use unicode_width::UnicodeWidthStr;

use crate::table::{Cell, Table, Tone};
use crate::text::{Paint, render};
use crate::words::{clean, fit, wrap};

/// The width where there is no terminal.
pub const WIDTH: usize = 80;

/// How much is shown, and how wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether everything is shown; otherwise each part is a few lines.
    pub full: bool,
}

impl Default for LayoutOptions {
    fn default() -> LayoutOptions {
        LayoutOptions { width: WIDTH, full: false }
    }
}

/// A piece of what is printed.
#[derive(Debug, Clone, PartialEq)]
pub enum TerminalBlock {
    /// Text that is wrapped; further lines begin below the text and not below what leads it in.
    Paragraph {
        /// Columns left free before it.
        indent: usize,
        /// What leads it in: a label or a mark; may be empty.
        lead: Cell,
        /// The text.
        pieces: Vec<Cell>,
    },
    /// A table.
    Table {
        /// Columns left free before it.
        indent: usize,
        /// The table.
        table: Table,
    },
    /// An empty line.
    Gap,
}

impl TerminalBlock {
    /// Plain text, indented.
    pub fn plain(indent: usize, text: impl AsRef<str>) -> TerminalBlock {
        TerminalBlock::toned(indent, text, Tone::Plain)
    }

    /// Text with a tone, indented.
    pub fn toned(indent: usize, text: impl AsRef<str>, tone: Tone) -> TerminalBlock {
        TerminalBlock::Paragraph {
            indent,
            lead: Cell::default(),
            pieces: vec![Cell::toned(clean(text.as_ref()), tone)],
        }
    }

    /// Pieces of text behind a label.
    pub fn labelled(indent: usize, lead: Cell, pieces: Vec<Cell>) -> TerminalBlock {
        let pieces = pieces.into_iter().map(|piece| Cell::toned(clean(&piece.text), piece.tone)).collect();
        TerminalBlock::Paragraph { indent, lead: Cell::toned(clean(&lead.text), lead.tone), pieces }
    }
}

/// The blocks as lines that fit the width.
pub fn text(blocks: &[TerminalBlock], width: usize, paint: Paint<'_>) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            TerminalBlock::Paragraph { indent, lead, pieces } => {
                push_paragraph(&mut out, *indent, lead, pieces, width, paint);
            }
            TerminalBlock::Table { indent, table } => {
                let rendered = render(&fit(table, width.saturating_sub(*indent)), paint);
                for line in rendered.lines() {
                    push_line(&mut out, &format!("{}{line}", " ".repeat(*indent)));
                }
            }
            TerminalBlock::Gap => out.push('\n'),
        }
    }
    out
}

fn push_paragraph(
    out: &mut String,
    indent: usize,
    lead: &Cell,
    pieces: &[Cell],
    width: usize,
    paint: Paint<'_>,
) {
    let margin = indent + lead.text.width() + usize::from(!lead.text.is_empty());
    let lines = wrap(pieces, width.saturating_sub(margin));
    for (index, line) in lines.iter().enumerate() {
        let words: Vec<String> = line.iter().map(|piece| paint(piece.tone, &piece.text)).collect();
        let start = if index == 0 && !lead.text.is_empty() {
            format!("{}{} ", " ".repeat(indent), paint(lead.tone, &lead.text))
        } else {
            " ".repeat(margin)
        };
        push_line(out, &format!("{start}{}", words.join(" ")));
    }
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::plain;

    #[test]
    fn a_paragraph_hangs_below_its_text() {
        let block = TerminalBlock::labelled(
            2,
            Cell::new("hint:"),
            vec![Cell::new("one two three"), Cell::new("four")],
        );
        assert_eq!(
            text(&[block, TerminalBlock::Gap], 16, &plain),
            "  hint: one two\n        three\n        four\n\n"
        );
    }
}
