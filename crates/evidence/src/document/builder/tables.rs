//! Tables: lines that may be one are held back until that is known.

use super::DocumentBuilder;
use crate::document::blocks::Block;
use crate::engine::Seen;
use crate::line::clean;
use crate::writeup::{self, Context, RawTable, aligned};

/// A line that waits for the ones behind it.
pub(super) struct HeldLine {
    pub number: u64,
    pub bytes: Vec<u8>,
    pub seen: Seen,
}

/// More aligned lines than this are output of a program.
pub(super) const MOST_HELD: usize = 2_000;

impl DocumentBuilder {
    /// Whether a line may belong to a table that is aligned with blanks. Inside a log, aligned lines are output.
    pub(super) fn may_be_column_line(&self, bytes: &[u8]) -> bool {
        let log = self.engine.draft.evidence && !self.outline.is_markdown();
        // Bars part the columns of another kind of table, or the fields of a log.
        let log = log || memchr::memchr(b'|', bytes).is_some();
        !log && (aligned::has_columns(bytes) || !self.columns.is_empty() && aligned::is_rule(&clean(bytes)))
    }

    /// Reads the lines that were held back: as a table if they form one, and line by line otherwise.
    pub(super) fn release_columns(&mut self) {
        if self.columns.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.columns);
        let lines: Vec<(u64, String)> =
            held.iter().map(|line| (line.number, clean(&line.bytes).into_owned())).collect();
        if let Some(raw) = aligned::table(&lines) {
            self.end_paragraph();
            return self.interpret(raw);
        }
        for line in held {
            self.plain_line(line.number, &line.bytes, line.seen);
        }
    }

    pub(super) fn block(&mut self, number: u64, bytes: &[u8]) {
        let text = clean(bytes);
        if let Some(done) = self.blocks.push(number, &text) {
            self.add(done);
        }
    }

    pub(super) fn end_block(&mut self) {
        self.release_columns();
        if self.blocks.in_html() {
            return;
        }
        if let Some(done) = self.blocks.end() {
            self.add(done);
        }
    }

    pub(super) fn end_arrays(&mut self) {
        let context = self.context();
        self.document.runs.extend(self.blocks.arrays(&context, self.prose.declared()));
    }

    pub(super) fn add(&mut self, block: Block) {
        // A table parts what stands before it from what stands behind it.
        self.end_paragraph();
        let Block::Table(raw) = block;
        self.interpret(raw);
    }

    /// A table.
    pub(in crate::document) fn table(&mut self, raw: RawTable) {
        self.end_block();
        self.number = self.number.max(raw.last);
        self.end_paragraph();
        self.interpret(raw);
    }

    fn interpret(&mut self, mut raw: RawTable) {
        raw.cut_header();
        if raw.left_out_cells > 0 {
            self.omit("table cells beyond column 500", raw.left_out_cells, raw.first);
        }
        if raw.left_out > 0 {
            self.omit("table rows", raw.left_out, raw.last);
        }
        if raw.cut_cells > 0 {
            self.omit("table cells longer than 4 KiB, cut", raw.cut_cells, raw.first);
        }
        let context = self.context();
        let table = writeup::interpret(raw, &context);
        self.document.runs.extend(writeup::runs(&table, &context));
        self.document.tables.push(table);
    }

    pub(super) fn context(&self) -> Context {
        Context {
            file: self.document.file.clone(),
            platform: self.platform(),
            headings: self.outline.headings().to_vec(),
            recent: self.prose.recent().to_vec(),
        }
    }

    /// The make of machine that the nearest heading names.
    pub(super) fn platform(&self) -> Option<String> {
        self.outline.headings().iter().rev().find_map(|heading| writeup::platform(heading)).map(str::to_owned)
    }
}
