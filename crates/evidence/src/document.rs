//! Reads one whole file, whatever it is: a log, a write-up with headings, fenced logs, tables and prose, a table of
//! values, or a result file in JSON.

mod blocks;
mod file_name;
mod outline;
mod prose;

use assay_model::{Document, SettingFact, Standing};

use crate::dialects::Taken;
use crate::encoding::Decoder;
use crate::engine::Engine;
use crate::line::clean;
use crate::lines::LineSplitter;
use crate::needles::Needles;
use crate::readers::Readers;
use crate::writeup::{self, Context};
use blocks::{Block, Blocks};
use outline::Outline;
use prose::Prose;

/// The most bytes of a JSON file that are held to be read as a whole.
const LARGEST_JSON: usize = 64 << 20;

/// Reads one file as bytes arrive.
pub struct DocumentReader {
    decoder: Decoder,
    input: Input,
}

struct Input {
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
    /// The settings that the file's name declares.
    named: Vec<SettingFact>,
    number: u64,
}

impl DocumentReader {
    /// Starts a reading. The name is cited as given, and settings in it are taken as declared.
    pub fn new(readers: &Readers, file: &str) -> DocumentReader {
        let mut engine = Engine::new(readers, vec![file.to_owned()]);
        let named = file_name::settings(file);
        engine.base.settings.clone_from(&named);
        engine.draft = engine.base.draft();
        let document = Document { file: file.to_owned(), ..Document::default() };
        let input = Input {
            splitter: LineSplitter::default(),
            lines: Lines {
                engine,
                outline: Outline::default(),
                blocks: Blocks::new(file),
                prose: Prose::default(),
                document,
                named,
                number: 0,
            },
            json: Some(Vec::new()),
        };
        DocumentReader { decoder: Decoder::default(), input }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let DocumentReader { decoder, input } = self;
        decoder.feed(bytes, &mut |piece| input.feed(piece));
    }

    /// Ends the reading.
    pub fn finish(mut self) -> Document {
        let DocumentReader { decoder, input } = &mut self;
        decoder.finish(&mut |piece| input.feed(piece));
        self.input.finish()
    }
}

impl Input {
    fn feed(&mut self, bytes: &[u8]) {
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
        let Input { splitter, lines, .. } = self;
        let mut rest = bytes;
        while let Some(needles) = lines.idle() {
            // A line that began in the piece before ends in this one.
            let (skipped, count) = if splitter.is_at_start() { passed_over(rest, needles) } else { (0, 0) };
            let (passed, behind) = rest.split_at_checked(skipped).unwrap_or((rest, &[]));
            splitter.skip(count);
            lines.pass_over(count, passed);
            rest = behind;
            let Some(end) = memchr::memchr(b'\n', rest) else { break };
            let (line, behind) = rest.split_at(end + 1);
            splitter.feed(line, &mut |number, line| lines.line(number, line));
            rest = behind;
        }
        splitter.feed(rest, &mut |number, line| lines.line(number, line));
    }

    fn finish(mut self) -> Document {
        if let Some(held) = self.json.take() {
            if let Some(runs) = crate::results::runs(&held, &self.lines.document.file) {
                let lines = memchr::memchr_iter(b'\n', &held).count() as u64;
                return Document { runs, lines, ..self.lines.document };
            }
            self.text(&held);
        }
        let Input { splitter, lines, .. } = &mut self;
        splitter.finish(&mut |number, line| lines.line(number, line));
        self.lines.finish()
    }
}

/// How many bytes of whole lines concern nobody, and how many lines that are.
fn passed_over(bytes: &[u8], needles: &Needles) -> (usize, u64) {
    let (mut from, mut count) = (0, 0);
    for end in memchr::memchr_iter(b'\n', bytes) {
        if !bytes.get(from..end).is_some_and(|line| needles.passes_over(line)) {
            break;
        }
        from = end + 1;
        count += 1;
    }
    (from, count)
}

impl Lines {
    /// The search for key strings, if no line without one can matter: the file is long prose.
    fn idle(&self) -> Option<&Needles> {
        let quiet =
            self.prose.is_full() && !self.outline.in_fence() && !self.blocks.is_open() && self.number > 3;
        self.engine.idle().filter(|_| quiet)
    }

    /// Notes lines that concern nobody.
    fn pass_over(&mut self, count: u64, bytes: &[u8]) {
        self.number += count;
        let Some(text) = bytes.strip_suffix(b"\n") else { return };
        let last = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        if last.trim_ascii().is_empty() {
            self.outline.after_blank();
        } else {
            self.outline.after_line();
        }
    }

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
        let Some((level, heading)) = self.outline.heading(&text) else { return false };
        // What came before belongs under the headings before, also where no blank line parts them.
        self.end_block();
        self.end_paragraph();
        self.end_arrays();
        self.close_runs(number);
        self.outline.enter(level, &heading);
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
        // A table parts what stands before it from what stands behind it.
        self.end_paragraph();
        let Block::Table(raw) = block;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// More prose than is searched for statements, with a heading and a log behind it.
    fn long() -> String {
        let mut text = String::new();
        for number in 0..6000 {
            text.push_str(&format!(
                "Word {number} is faster than the word before it.\nQuiet rivers run deep.\n\n"
            ));
        }
        text.push_str("# A heading\n\nbatch size of 512:\n\n```\nAccuracy on test set: 97.13%\n```\n");
        text
    }

    fn read(pieces: &[&[u8]]) -> Document {
        let mut reader = DocumentReader::new(&Readers::all(&[]), "long.md");
        pieces.iter().for_each(|piece| reader.feed(piece));
        reader.finish()
    }

    #[test]
    fn a_heading_without_a_blank_line_takes_nothing_of_what_stands_before_it() {
        let text = "<h2>First</h2>\n<p>\nBlock 16 is the slowest.\n</p>\n<h2>Second</h2>\n<p>\nBlock 64 is the fastest.\n</p>\n";
        let document = read(&[text.as_bytes()]);
        let headings: Vec<&str> =
            document.statements.iter().flat_map(|one| one.headings.iter().map(String::as_str)).collect();
        assert_eq!(headings, ["First", "Second"]);
    }

    #[test]
    fn a_table_parts_two_paragraphs() {
        let table =
            "<table>\n<tr><th>Block</th><th>Seconds</th></tr>\n<tr><td>16</td><td>2</td></tr>\n</table>";
        let text = format!("<p>\nI ran it once\n</p>\n{table}\n<p>\nBlock 16 is the slowest.\n</p>\n");
        let document = read(&[text.as_bytes()]);
        let found: Vec<(u64, &str)> =
            document.statements.iter().map(|one| (one.span.first, one.text.as_str())).collect();
        assert_eq!(found, [(8, "Block 16 is the slowest.")]);
    }

    #[test]
    fn arrays_keep_the_settings_of_their_labels() {
        let text =
            "All runs in MB/s:\n\n```\nblock 16 rate [10.5 11.5 12.5]\nblock 64 rate [20.5 21.5 22.5]\n```\n";
        let document = read(&[text.as_bytes()]);
        let blocks: Vec<String> = document
            .runs
            .iter()
            .flat_map(|run| &run.settings)
            .filter(|fact| fact.name == "block")
            .map(|fact| fact.value.to_string())
            .collect();
        assert_eq!(blocks, ["16", "64"]);
        assert!(document.runs[0].title.as_deref().is_some_and(|title| title.contains("All runs")));
    }

    #[test]
    fn what_stands_behind_long_prose_is_read_however_it_is_cut() {
        let text = long();
        let whole = read(&[text.as_bytes()]);
        let [run] = whole.runs.as_slice() else { panic!("{:?}", whole.runs) };
        assert_eq!(run.title.as_deref(), Some("A heading"));
        assert_eq!((run.span.first, whole.lines), (18_006, 18_007));
        for size in [7, 1000, 4099] {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(read(&pieces), whole, "pieces of {size}");
        }
    }
}
