//! Reads one whole file, whatever it is: a log, a write-up with headings, fenced logs, tables and prose, a table of
//! values, or a result file in JSON.

mod blocks;
mod file_name;
mod outline;
mod prose;

use assay_model::{Document, SettingFact, Source, Standing};

use crate::dialects::Taken;
use crate::engine::Engine;
use crate::line::clean;
use crate::lines::LineSplitter;
use crate::readers::Readers;
use crate::writeup::{self, Context};
use blocks::{Block, Blocks};
use outline::Outline;
use prose::Prose;

/// The most bytes of a JSON file that are held to be read as a whole.
const LARGEST_JSON: usize = 64 << 20;

/// Reads one file as bytes arrive.
pub struct DocumentReader {
    splitter: LineSplitter,
    lines: Lines,
    /// The bytes of what may be one JSON value; none once it is known to be text.
    json: Option<Vec<u8>>,
}

struct Lines {
    engine: Engine,
    outline: Outline,
    blocks: Blocks,
    prose: Prose,
    document: Document,
    number: u64,
}

impl DocumentReader {
    /// Starts a reading. The name is cited as given, and settings in it are taken as declared.
    pub fn new(readers: &Readers, file: &str) -> DocumentReader {
        let mut engine = Engine::new(readers, vec![file.to_owned()]);
        engine.base.settings = file_name::settings(file);
        engine.draft = engine.base.draft();
        let document = Document { file: file.to_owned(), ..Document::default() };
        DocumentReader {
            splitter: LineSplitter::default(),
            lines: Lines {
                engine,
                outline: Outline::default(),
                blocks: Blocks::new(file),
                prose: Prose::default(),
                document,
                number: 0,
            },
            json: Some(Vec::new()),
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(held) = &mut self.json {
            held.extend_from_slice(bytes);
            let first = held.iter().find(|byte| !byte.is_ascii_whitespace());
            if first.is_none_or(|byte| matches!(byte, b'{' | b'[')) && held.len() < LARGEST_JSON {
                return;
            }
            let held = std::mem::take(held);
            self.json = None;
            return self.text(&held);
        }
        self.text(bytes);
    }

    fn text(&mut self, bytes: &[u8]) {
        let DocumentReader { splitter, lines, .. } = self;
        splitter.feed(bytes, &mut |number, line| lines.line(number, line));
    }

    /// Ends the reading.
    pub fn finish(mut self) -> Document {
        if let Some(held) = self.json.take() {
            if let Some(runs) = crate::results::runs(&held, &self.lines.document.file) {
                let lines = memchr::memchr_iter(b'\n', &held).count() as u64;
                return Document { runs, lines, ..self.lines.document };
            }
            self.text(&held);
        }
        let DocumentReader { splitter, lines, .. } = &mut self;
        splitter.finish(&mut |number, line| lines.line(number, line));
        self.lines.finish()
    }
}

impl Lines {
    fn line(&mut self, number: u64, bytes: &[u8]) {
        self.number = number;
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let Some(first) = start.and_then(|start| bytes.get(start).copied()) else {
            return self.blank();
        };
        if matches!(first, b'`' | b'~') && self.fence(number, bytes) {
            return;
        }
        if matches!(first, b'#' | b'<') && !self.outline.in_fence() && self.heading(number, bytes) {
            return;
        }
        self.content(number, bytes, first);
        self.outline.after_line();
    }

    fn blank(&mut self) {
        self.end_block();
        self.end_paragraph();
        self.outline.after_blank();
    }

    /// A fence opens or closes. What stands behind it on its line is content unless it is one word.
    fn fence(&mut self, number: u64, bytes: &[u8]) -> bool {
        let text = clean(bytes);
        let Some(rest) = self.outline.fence(&text) else { return false };
        self.end_block();
        self.end_paragraph();
        self.close_runs(number);
        if self.outline.in_fence() {
            self.set_base(true);
            if rest.contains([' ', ':', '|']) {
                let rest = rest.to_owned();
                let first = rest.bytes().next().unwrap_or(b' ');
                self.content(number, rest.as_bytes(), first);
            }
        } else {
            self.end_arrays();
            self.prose.forget_declared();
            self.set_base(false);
        }
        true
    }

    fn heading(&mut self, number: u64, bytes: &[u8]) -> bool {
        let text = clean(bytes);
        let Some(heading) = self.outline.heading(&text) else { return false };
        self.end_block();
        self.end_paragraph();
        self.end_arrays();
        self.close_runs(number);
        self.prose.heading(number, &heading, &self.document.file);
        self.set_base(false);
        true
    }

    /// A line that is neither blank nor structure.
    fn content(&mut self, number: u64, bytes: &[u8], first: u8) {
        if self.blocks.in_html() {
            return self.block(number, bytes);
        }
        let seen = self.engine.line(0, number, bytes);
        if seen.taken == Taken::Whole {
            self.blocks.abandon();
            return;
        }
        let may_begin =
            matches!(first, b'|' | b'+' | b'<' | b'-' | b':') || self.blocks.is_open() || number <= 3;
        if seen.taken == Taken::Nothing && (may_begin || memchr::memchr2(b'|', b'[', bytes).is_some()) {
            let open = self.blocks.is_open();
            self.block(number, bytes);
            if open || self.blocks.is_open() {
                return;
            }
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
            let source = Source { file: self.document.file.clone(), line: number };
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

    fn block(&mut self, number: u64, bytes: &[u8]) {
        let text = clean(bytes);
        if let Some(done) = self.blocks.push(number, &text, self.outline.in_fence()) {
            self.add(done);
        }
    }

    fn end_block(&mut self) {
        if self.blocks.in_html() {
            return;
        }
        if let Some(done) = self.blocks.end() {
            self.add(done);
        }
    }

    fn end_arrays(&mut self) {
        let context = self.context();
        self.document.runs.extend(self.blocks.arrays(&context, self.prose.declared()));
    }

    fn add(&mut self, block: Block) {
        let Block::Table(raw) = block;
        let context = self.context();
        let table = writeup::interpret(raw, &context);
        self.document.runs.extend(writeup::runs(&table, &context));
        self.document.tables.push(table);
    }

    fn context(&self) -> Context {
        let headings = self.outline.headings();
        Context {
            file: self.document.file.clone(),
            platform: self.platform(),
            headings,
            recent: self.prose.recent().to_vec(),
        }
    }

    /// The make of machine that the nearest heading names.
    fn platform(&self) -> Option<String> {
        let headings = self.outline.headings();
        headings.iter().rev().find_map(|heading| writeup::platform(heading)).map(str::to_owned)
    }

    fn end_paragraph(&mut self) {
        let headings = self.outline.headings();
        let found = self.prose.end_paragraph(&headings, &self.document.file);
        self.document.statements.extend(found);
    }

    fn close_runs(&mut self, number: u64) {
        self.engine.boundary(number);
        self.document.runs.append(&mut self.engine.runs);
    }

    /// What the runs of the next block begin with.
    fn set_base(&mut self, fenced: bool) {
        let base = &mut self.engine.base;
        base.title = self.outline.headings().pop();
        base.settings = file_name::settings(&self.document.file);
        if fenced {
            base.settings.extend(self.prose.declared().iter().cloned());
        }
        let platform = self.platform();
        self.engine.base.platform = platform;
        self.engine.draft = self.engine.base.draft();
    }

    fn finish(mut self) -> Document {
        // An HTML table that was never closed ends with its file.
        if let Some(done) = self.blocks.end() {
            self.add(done);
        }
        self.end_paragraph();
        self.end_arrays();
        self.close_runs(self.number);
        self.document.lines = self.number;
        self.document.runs.sort_by_key(|run| run.span.first);
        self.document
    }
}
