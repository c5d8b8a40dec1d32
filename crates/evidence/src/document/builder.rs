//! The document that every format builds: a log, prose, tables and settings, line by line.

mod cells;
mod listings;
mod output;
mod tables;

use assay_model::{Document, NotebookCell, Omission, ReadRun, SettingFact, Source, Standing, Value};

use self::cells::place_in_cells;
use self::listings::ListedItem;
use self::tables::{HeldLine, MOST_HELD};
use super::blocks::Blocks;
use super::file_name;
use super::outline::Outline;
use super::prose::Prose;
use crate::dialects::Taken;
use crate::engine::{Engine, Seen};
use crate::line::clean;
use crate::needles::Needles;
use crate::readers::Readers;
use crate::writeup::aligned;

/// A document that grows.
pub(super) struct DocumentBuilder {
    engine: Engine,
    outline: Outline,
    blocks: Blocks,
    prose: Prose,
    document: Document,
    /// Settings that the file's name or code declares.
    named: Vec<SettingFact>,
    readers: Readers,
    /// Shown lines only to find out whether a dialect takes them.
    scratch: Option<Box<Engine>>,
    /// Lines that may be a table aligned with blanks, until it is known.
    columns: Vec<HeldLine>,
    /// A line that is a heading of a write-up or a comment above columns of numbers; the next line decides.
    heading: Option<(u64, Vec<u8>)>,
    number: u64,
    /// Items of lists with numbers, each with the heading above it. They are results where nothing else holds any.
    items: Vec<ListedItem>,
    /// Whether there is a listing, which holds the results that items of lists speak of.
    has_listing: bool,
}

impl DocumentBuilder {
    pub fn new(readers: &Readers, file: &str) -> DocumentBuilder {
        let mut engine = Engine::new(readers, vec![file.to_owned()]);
        let named = file_name::settings(file);
        engine.base.settings.clone_from(&named);
        engine.draft = engine.base.draft();
        DocumentBuilder {
            engine,
            outline: Outline::default(),
            blocks: Blocks::default(),
            prose: Prose::default(),
            document: Document { file: file.to_owned(), ..Document::default() },
            named,
            readers: readers.clone(),
            scratch: None,
            columns: Vec::new(),
            heading: None,
            number: 0,
            items: Vec::new(),
            has_listing: false,
        }
    }

    /// The search for key strings, if no line without one can matter: the file is long prose.
    pub fn idle(&self) -> Option<&Needles> {
        let quiet =
            self.prose.is_full() && !self.outline.in_fence() && !self.blocks.is_open() && self.number > 3;
        self.engine.idle().filter(|_| quiet)
    }

    /// Notes lines that concern nobody.
    pub fn pass_over(&mut self, count: u64, bytes: &[u8]) {
        self.number += count;
        let Some(text) = bytes.strip_suffix(b"\n") else { return };
        let last = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        if last.trim_ascii().is_empty() {
            self.outline.after_blank();
        } else {
            self.outline.after_line();
        }
    }

    pub fn line(&mut self, number: u64, bytes: &[u8]) {
        self.number = number;
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let Some(first) = start.and_then(|start| bytes.get(start).copied()) else {
            return self.blank();
        };
        self.settle_heading(Some(bytes));
        if first == b'#' && !self.outline.is_markdown() && self.outline.heading(&clean(bytes)).is_some() {
            self.heading = Some((number, bytes.to_vec()));
            return;
        }
        if matches!(first, b'`' | b'~') && self.fence(number, bytes) {
            return;
        }
        if matches!(first, b'#' | b'<') && !self.outline.in_fence() && self.heading_line(number, bytes) {
            return;
        }
        self.content(number, bytes, first);
        self.outline.after_line();
    }

    fn blank(&mut self) {
        self.settle_heading(None);
        self.end_block();
        self.end_paragraph();
        self.outline.after_blank();
    }

    /// A line of a paragraph.
    pub fn prose(&mut self, number: u64, bytes: &[u8]) {
        self.outline.is_write_up();
        self.listing_line(number, bytes);
    }

    /// A paragraph, an item of a list or the like ends.
    pub fn end_of_block(&mut self) {
        self.blank();
    }

    /// The caption of the table that follows. It says what the table is about, and may claim something as well.
    pub fn caption(&mut self, number: u64, text: &str) {
        self.end_of_block();
        self.prose(number, text.as_bytes());
        self.end_of_block();
    }

    /// A setting that code declares for the runs that follow.
    pub fn declare(&mut self, line: u64, name: &str, value: Value) {
        self.named.retain(|fact| fact.name != name);
        self.named.push(SettingFact {
            name: name.to_owned(),
            value,
            standing: Standing::Declared,
            by: "code".to_owned(),
            arithmetic: None,
            source: Source::new(self.document.file.clone(), line),
        });
        self.set_base(false);
    }

    /// A cell of a notebook is done.
    pub fn cell(&mut self, cell: NotebookCell) {
        self.document.cells.push(cell);
    }

    /// A limit left something out.
    pub fn omit(&mut self, what: &str, count: u64, line: u64) {
        self.document.omissions.push(Omission { what: what.to_owned(), count, line });
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.document.file
    }

    /// How many lines the file has.
    pub fn set_lines(&mut self, lines: u64) {
        self.number = lines;
    }

    /// Runs that another reader made.
    pub fn add_runs(&mut self, runs: Vec<ReadRun>) {
        self.document.runs.extend(runs);
    }

    /// Decides on a line that begins with `#` in a file that is not known to be a write-up: above numbers or another
    /// comment it is a comment, above text and blank lines a heading.
    fn settle_heading(&mut self, next: Option<&[u8]>) {
        let Some((number, bytes)) = self.heading.take() else { return };
        let comment = next.is_some_and(|next| {
            let next = next.trim_ascii_start();
            next.first().is_some_and(|first| {
                first.is_ascii_digit() || *first == b'#' && next.get(1).is_none_or(|next| *next == b' ')
            }) && next.get(1) != Some(&b'.')
        });
        // `# Avg bus bandwidth    : 31.8` closes the table above it.
        let stated = memchr::memmem::find(&bytes, b"  ").is_some() && bytes.ends_with(b" OK")
            || bytes.iter().rposition(|byte| *byte == b':').is_some_and(|place| {
                let value = bytes.get(place + 1..).unwrap_or_default().trim_ascii();
                memchr::memmem::find(&bytes, b"  ").is_some() && value.first().is_some_and(u8::is_ascii_digit)
            });
        let comment = comment || stated;
        if comment {
            self.content(number, &bytes, b'#');
            self.outline.after_line();
        } else {
            self.heading_line(number, &bytes);
        }
    }

    fn heading_line(&mut self, number: u64, bytes: &[u8]) -> bool {
        let text = clean(bytes);
        let Some((level, heading)) = self.outline.heading(&text) else { return false };
        self.heading(number, level, &heading);
        true
    }

    /// A section begins.
    pub fn heading(&mut self, number: u64, level: usize, heading: &str) {
        if heading.is_empty() {
            return;
        }
        self.number = self.number.max(number);
        // What came before belongs under the headings before, also where no blank line parts them.
        self.end_block();
        self.end_paragraph();
        self.end_arrays();
        self.close_runs(number);
        self.outline.enter(level, heading);
        self.prose.heading(number, heading, &self.document.file);
        self.set_base(false);
    }

    /// A line that is neither blank nor structure.
    fn content(&mut self, number: u64, bytes: &[u8], first: u8) {
        if self.blocks.in_html() {
            return self.block(number, bytes);
        }
        let columnar = self.may_be_column_line(bytes);
        if !columnar {
            self.release_columns();
        }
        let mut seen = self.engine.line(0, number, bytes);
        if seen.taken == Taken::Whole {
            self.release_columns();
            self.blocks.abandon();
            return;
        }
        // Aligned lines may be a table: whoever reads tables looks first.
        if (!columnar || first == b'|') && !self.blocks.is_certain() {
            if self.is_read_without_dialect(number, bytes, seen) {
                self.blocks.abandon();
                return;
            }
            seen.leaves_rest = false;
        }
        let may_begin = matches!(first, b'|' | b'+' | b'<' | b'-' | b':') || self.blocks.is_open();
        if seen.taken == Taken::Nothing && (may_begin || memchr::memchr2(b'|', b'[', bytes).is_some()) {
            let open = self.blocks.is_open();
            self.block(number, bytes);
            if open || self.blocks.is_open() {
                self.release_columns();
                return;
            }
        }
        if columnar && seen.taken == Taken::Nothing {
            self.columns.push(HeldLine { number, bytes: bytes.to_vec(), seen });
            if self.columns.len() >= MOST_HELD {
                self.release_columns();
            }
            return;
        }
        self.release_columns();
        self.plain_line(number, bytes, seen);
    }

    /// Shows output that no dialect took to the generic reader. Prose of a write-up is none.
    fn is_read_without_dialect(&mut self, number: u64, bytes: &[u8], seen: Seen) -> bool {
        let output =
            self.outline.in_fence() || !self.outline.is_markdown() || aligned::is_output(&clean(bytes));
        seen.leaves_rest && output && self.engine.unclaimed(0, number, bytes) != Taken::Nothing
    }

    /// A line that belongs to no table.
    fn plain_line(&mut self, number: u64, bytes: &[u8], seen: Seen) {
        if self.is_read_without_dialect(number, bytes, seen) {
            return;
        }
        if seen.taken == Taken::Nothing && !self.outline.in_fence() {
            let log = self.engine.draft.evidence && !self.outline.is_markdown();
            self.prose.line(number, bytes, seen.names_setting, log, &self.document.file);
        }
        let listing = self.outline.in_fence() || !self.outline.is_markdown();
        if seen.names_setting && seen.taken == Taken::Nothing && listing {
            self.configuration(number, bytes);
        }
    }

    /// Assignments in a log or a fenced listing.
    fn configuration(&mut self, number: u64, bytes: &[u8]) {
        for declared in self.prose.assignments(bytes) {
            let source = self.document.source(number);
            self.engine.draft.setting(SettingFact {
                name: declared.name.to_string(),
                value: declared.value,
                standing: Standing::Declared,
                by: "configuration".to_owned(),
                arithmetic: None,
                source,
            });
        }
    }

    fn end_paragraph(&mut self) {
        let found = self.prose.end_paragraph(self.outline.headings(), &self.document.file);
        self.document.statements.extend(found);
    }

    fn close_runs(&mut self, number: u64) {
        self.engine.boundary(number);
        self.document.runs.append(&mut self.engine.runs);
    }

    /// What the runs of the next block begin with.
    fn set_base(&mut self, fenced: bool) {
        let base = &mut self.engine.base;
        base.title = self.outline.headings().last().cloned();
        base.settings.clone_from(&self.named);
        if fenced {
            base.settings.extend(self.prose.declared().iter().cloned());
        }
        let platform = self.platform();
        self.engine.base.platform = platform;
        self.engine.draft = self.engine.base.draft();
    }

    pub fn finish(mut self) -> Document {
        self.settle_heading(None);
        self.release_columns();
        // An HTML table that was never closed ends with its file.
        if let Some(done) = self.blocks.end() {
            self.add(done);
        }
        self.end_paragraph();
        self.end_arrays();
        self.close_runs(self.number);
        self.read_items();
        self.document.lines = self.number;
        self.document.runs.sort_by_key(|run| run.span.first);
        if let Some(from) = self.prose.full_since().filter(|_| self.outline.is_markdown()) {
            let lines = self.number.saturating_sub(from) + 1;
            self.omit("lines that were not searched for statements", lines, from);
        }
        place_in_cells(&mut self.document);
        self.document
    }
}
