//! Jupyter notebooks: Markdown cells, code cells and their text outputs.

use serde_json::Value;

use super::{Block, Line, RawTable, Text, aligned, markdown};

pub(super) fn blocks(source: &str) -> Vec<Block> {
    let Ok(notebook) = serde_json::from_str::<Value>(source) else { return Vec::new() };
    let mut finder = LineFinder { source, at: 0, line: 1, in_vain: 64 * source.len() + (64 << 20) };
    let mut blocks = Vec::new();
    for cell in notebook.get("cells").and_then(Value::as_array).into_iter().flatten() {
        let lines = finder.lines(cell.get("source"));
        if cell.get("cell_type").and_then(Value::as_str) == Some("markdown") {
            let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
            let cell = markdown::blocks(&text.join("\n"));
            blocks.extend(cell.into_iter().map(|block| renumbered(block, &lines)));
            continue;
        }
        if !lines.is_empty() {
            blocks.push(Block::Listing(lines));
        }
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let text =
                output.get("text").or_else(|| output.get("data").and_then(|data| data.get("text/plain")));
            let lines = finder.lines(text);
            blocks.extend(aligned::split(lines));
        }
    }
    blocks
}

/// Finds the source line of each string of the notebook, in order.
struct LineFinder<'a> {
    source: &'a str,
    at: usize,
    line: u64,
    /// Bytes that may still be looked through without finding a string, which may be escaped in another way.
    in_vain: usize,
}

impl LineFinder<'_> {
    /// The lines of a text, which a notebook keeps as one string or as a list of strings.
    fn lines(&mut self, value: Option<&Value>) -> Vec<Line> {
        let pieces: Vec<&str> = match value {
            Some(Value::String(text)) => vec![text.as_str()],
            Some(Value::Array(pieces)) => pieces.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut lines: Vec<Line> = Vec::new();
        let mut open = false;
        for piece in pieces {
            let number = self.find(piece);
            for (index, text) in piece.split('\n').enumerate() {
                if (index == 0 && open) || (index > 0 && text.is_empty() && piece.ends_with('\n')) {
                    if let Some(last) = lines.last_mut().filter(|_| index == 0) {
                        last.text.push_str(text);
                    }
                    continue;
                }
                lines.push(Line { number, text: text.to_owned() });
            }
            open = !piece.ends_with('\n');
        }
        lines
    }

    fn find(&mut self, piece: &str) -> u64 {
        let quoted = serde_json::to_string(piece).unwrap_or_default();
        let rest = self.source.get(self.at..).unwrap_or_default();
        if quoted.len() <= 2 || self.in_vain == 0 {
            return self.line;
        }
        match rest.find(quoted.as_str()) {
            Some(found) => {
                let passed = rest.get(..found).unwrap_or_default();
                self.line += passed.bytes().filter(|byte| *byte == b'\n').count() as u64;
                self.at += found;
            }
            None => self.in_vain = self.in_vain.saturating_sub(rest.len()),
        }
        self.line
    }
}

/// The block of a cell with the lines of the notebook's file.
fn renumbered(block: Block, lines: &[Line]) -> Block {
    let number = |line: u64| {
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        lines.get(index).or(lines.last()).map_or(line, |line| line.number)
    };
    let text = |mut text: Text| {
        text.starts.iter_mut().for_each(|(_, line)| *line = number(*line));
        text
    };
    match block {
        Block::Heading(heading) => Block::Heading(text(heading)),
        Block::Paragraph(paragraph) => Block::Paragraph(text(paragraph)),
        Block::Listing(mut listing) => {
            listing.iter_mut().for_each(|line| line.number = number(line.number));
            Block::Listing(listing)
        }
        Block::Table(mut table) => {
            let RawTable { header_line, rows, .. } = &mut table;
            *header_line = number(*header_line);
            rows.iter_mut().flatten().for_each(|cell| cell.line = number(cell.line));
            Block::Table(table)
        }
    }
}
