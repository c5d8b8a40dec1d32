//! The document that every format builds: a log, prose, tables and settings, line by line.

use assay_model::{Document, NotebookCell, Omission, ReadRun, SettingFact, Source, Span, Standing, Value};

use super::blocks::{Block, Blocks};
use super::file_name;
use super::outline::Outline;
use super::prose::Prose;
use crate::dialects::Taken;
use crate::engine::{Engine, Seen};
use crate::line::clean;
use crate::needles::Needles;
use crate::readers::Readers;
use crate::writeup::{self, Context, RawTable, aligned};

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
    items: Vec<(u64, String, Option<String>)>,
    /// Whether there is a listing, which holds the results that items of lists speak of.
    has_listing: bool,
}

/// A line that waits for the ones behind it.
struct HeldLine {
    number: u64,
    bytes: Vec<u8>,
    seen: Seen,
}

/// Fewer lines than this may be anything.
const LEAST_OUTPUT: usize = 3;
/// Lines that show whether a file is a log.
const LINES_OF_LOG: usize = 200;
/// More aligned lines than this are output of a program.
const MOST_HELD: usize = 2_000;

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

    /// An item of a list, which may be the only place where a result stands.
    pub fn item(&mut self, number: u64, text: &str) {
        if self.items.len() < MOST_HELD && text.bytes().any(|byte| byte.is_ascii_digit()) {
            let heading = self.outline.headings().last().cloned();
            self.items.push((number, text.to_owned(), heading));
        }
    }

    /// A listing that was written as one begins.
    pub fn open_code(&mut self, number: u64) {
        self.has_listing = true;
        self.open_listing(number);
    }

    /// Reads the items of lists in a write-up that has no table and no listing.
    fn read_items(&mut self) {
        let items = std::mem::take(&mut self.items);
        if self.has_listing || !self.document.tables.is_empty() {
            return;
        }
        let mut above: Option<Option<String>> = None;
        for (number, text, heading) in items {
            if above.as_ref() != Some(&heading) {
                self.close_runs(number);
                self.engine.base.title.clone_from(&heading);
                self.engine.draft = self.engine.base.draft();
                above = Some(heading);
            }
            if !aligned::is_written(&text) {
                self.engine.unclaimed(0, number, text.as_bytes());
            }
        }
        self.close_runs(self.number);
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

    /// A fence opens or closes. What stands behind it on its line is content unless it is one word.
    fn fence(&mut self, number: u64, bytes: &[u8]) -> bool {
        // Lines that were held back belong to the listing that may end here.
        if self.outline.in_fence() {
            self.release_columns();
        }
        let text = clean(bytes);
        let Some(rest) = self.outline.fence(&text) else { return false };
        if self.outline.in_fence() {
            self.begin_listing(number);
            if rest.contains([' ', ':', '|']) {
                let rest = rest.to_owned();
                let first = rest.bytes().next().unwrap_or(b' ');
                self.content(number, rest.as_bytes(), first);
            }
        } else {
            self.end_listing(number);
        }
        true
    }

    fn begin_listing(&mut self, number: u64) {
        self.end_block();
        self.end_paragraph();
        self.close_runs(number);
        self.set_base(true);
    }

    fn end_listing(&mut self, number: u64) {
        self.end_block();
        self.end_paragraph();
        self.close_runs(number);
        self.end_arrays();
        self.prose.forget_declared();
        self.set_base(false);
    }

    /// A log or other preformatted text begins.
    pub fn open_listing(&mut self, number: u64) {
        self.outline.open_listing();
        self.begin_listing(number);
    }

    /// Preformatted text ends.
    pub fn close_listing(&mut self, number: u64) {
        self.number = self.number.max(number);
        self.release_columns();
        self.outline.close_listing();
        self.end_listing(number);
    }

    /// A line of preformatted text.
    pub fn listing_line(&mut self, number: u64, bytes: &[u8]) {
        self.number = self.number.max(number);
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(first) => self.content(number, bytes, *first),
            None => self.blank(),
        }
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

    /// Whether a line may belong to a table that is aligned with blanks. Inside a log, aligned lines are output.
    fn may_be_column_line(&self, bytes: &[u8]) -> bool {
        let log = self.engine.draft.evidence && !self.outline.is_markdown();
        // Bars part the columns of another kind of table, or the fields of a log.
        let log = log || memchr::memchr(b'|', bytes).is_some();
        !log && (aligned::has_columns(bytes) || !self.columns.is_empty() && aligned::is_rule(&clean(bytes)))
    }

    /// Reads the lines that were held back: as a table if they form one, and line by line otherwise.
    fn release_columns(&mut self) {
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

    fn block(&mut self, number: u64, bytes: &[u8]) {
        let text = clean(bytes);
        if let Some(done) = self.blocks.push(number, &text) {
            self.add(done);
        }
    }

    fn end_block(&mut self) {
        self.release_columns();
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
        // A table parts what stands before it from what stands behind it.
        self.end_paragraph();
        let Block::Table(raw) = block;
        self.interpret(raw);
    }

    /// Whether a dialect takes lines that look like a table.
    pub fn is_dialect(&mut self, lines: &[(u64, &str)]) -> bool {
        let scratch =
            self.scratch.get_or_insert_with(|| Box::new(Engine::new(&self.readers, vec![String::new()])));
        lines.iter().any(|(number, line)| scratch.line(0, *number, line.as_bytes()).taken == Taken::Whole)
    }

    /// Whether lines of a write-up are what a program printed, pasted without a fence: readers take most of them, and
    /// none is a sentence, a heading or an item of a list.
    pub fn is_output(&mut self, lines: &[(u64, &str)]) -> bool {
        let written = lines.iter().filter(|(_, line)| !line.trim().is_empty());
        let most = |count: usize| count * 5 >= lines.len() * 3;
        if lines.len() < LEAST_OUTPUT
            || lines.iter().any(|(_, line)| aligned::is_written(line))
            || !most(written.filter(|(_, line)| line.bytes().any(|byte| byte.is_ascii_digit())).count())
        {
            return false;
        }
        let mut scratch = Engine::new(&self.readers, vec![String::new()]);
        let taken = lines.iter().filter(|(number, line)| {
            let seen = scratch.line(0, *number, line.as_bytes());
            seen.taken == Taken::Whole
                || seen.leaves_rest && scratch.unclaimed(0, *number, line.as_bytes()) == Taken::Whole
        });
        most(taken.count())
    }

    /// Whether a whole file is nothing but what a program printed; its start decides.
    pub fn is_log(&mut self, text: &str) -> bool {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let lines: Vec<(u64, &str)> = lines.take(LINES_OF_LOG).collect();
        // Boxes that programs draw have rules of dashes alone; a table of Markdown has a row of them between its bars.
        let dashes = |line: &str| line.len() >= 12 && line.bytes().all(|byte| byte == b'-');
        let delimits = |line: &str| line.starts_with('|') && line.bytes().all(|byte| b"|-: ".contains(&byte));
        let boxed = lines.first().is_some_and(|(_, line)| dashes(line.trim_end()))
            && !lines.iter().any(|(_, line)| delimits(line));
        let marked = |line: &str| {
            let drawn = boxed && (dashes(line.trim_end()) || line.starts_with('|'));
            !drawn && line.starts_with(['#', '`', '|', '<', '-', '*', '>']) || line.contains("](")
        };
        !lines.iter().any(|(_, line)| marked(line)) && (boxed || self.is_output(&lines))
    }

    /// A table.
    pub fn table(&mut self, raw: RawTable) {
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

    fn context(&self) -> Context {
        Context {
            file: self.document.file.clone(),
            platform: self.platform(),
            headings: self.outline.headings().to_vec(),
            recent: self.prose.recent().to_vec(),
        }
    }

    /// The make of machine that the nearest heading names.
    fn platform(&self) -> Option<String> {
        self.outline.headings().iter().rev().find_map(|heading| writeup::platform(heading)).map(str::to_owned)
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

/// Names the cell of a notebook wherever a line is named.
fn place_in_cells(document: &mut Document) {
    let cells = std::mem::take(&mut document.cells);
    if cells.is_empty() {
        return;
    }
    let cell = |line: u64| {
        let index = cells.partition_point(|cell| cell.last < line);
        cells.get(index).filter(|cell| cell.first <= line).map(|cell| cell.number)
    };
    let source = |source: &mut Source| source.cell = cell(source.line);
    let span = |span: &mut Span| span.cell = cell(span.first);
    for run in &mut document.runs {
        span(&mut run.span);
        run.status_source.iter_mut().for_each(source);
        run.settings.iter_mut().for_each(|fact| source(&mut fact.source));
        run.phases.iter_mut().for_each(|phase| source(&mut phase.source));
        run.observations.iter_mut().filter_map(|observation| observation.source.as_mut()).for_each(source);
        run.series.iter_mut().filter_map(|series| series.source.as_mut()).for_each(source);
        run.hints.iter_mut().for_each(|hint| source(&mut hint.source));
    }
    document.tables.iter_mut().for_each(|table| span(&mut table.span));
    document.statements.iter_mut().for_each(|statement| span(&mut statement.span));
    document.cells = cells;
}
