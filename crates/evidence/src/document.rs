//! Reads one whole file, whatever it is: a log, a write-up with headings, logs, tables and prose, a notebook, a table
//! of values, or a result file in JSON.
//!
//! | file | holds |
//! |---|---|
//! | `document/format.rs` | which format a file is in, by its name and its first bytes |
//! | `document/builder.rs` | the document that all formats build |
//! | `document/markdown.rs`, `html.rs`, `latex.rs`, `rst.rs`, `org.rs`, `notebook.rs`, `separated.rs` | one format each |
//! | `document/outline.rs`, `blocks.rs`, `prose.rs` | text that streams: headings, fences, tables, paragraphs |
//! | `document/line_index.rs` | which line a place in a text stands on |
//! | `document/file_name.rs` | settings in the name of a file |
//!
//! Logs and unknown text are read as they stream, in flat memory. The other formats need the whole text and are held
//! up to a limit; a larger file is read as if it were a log.

mod blocks;
mod builder;
mod file_name;
mod format;
mod html;
mod latex;
pub(crate) mod line_index;
mod markdown;
mod notebook;
mod org;
mod outline;
mod prose;
mod rst;
mod separated;

use std::borrow::Cow;
use std::sync::LazyLock;

use assay_model::Document;

use crate::encoding::Decoder;
use crate::line::clean;
use crate::lines::LineSplitter;
use crate::needles::Needles;
use crate::readers::Readers;
use builder::DocumentBuilder;
use format::Format;
use line_index::LineIndex;
use notebook::NotNotebook;

/// The most bytes of a file that are held to be read as a whole.
const LARGEST_HELD: usize = 64 << 20;

/// The most bytes of a text that a document keeps.
const LARGEST_KEPT: usize = 16 << 20;

/// Lines of a table of separated values that show whether it is the output of a program that a dialect knows.
const LINES_OF_DIALECT: usize = 20;

/// Reads one file as bytes arrive.
pub struct DocumentReader {
    decoder: Decoder,
    input: Input,
    /// The text so far, where the document is to keep it.
    kept: Option<Vec<u8>>,
}

struct Input {
    splitter: LineSplitter,
    builder: DocumentBuilder,
    /// The format, once it is known.
    format: Option<Format>,
    /// The bytes of a file that is read as a whole, or whose format is not known yet.
    held: Vec<u8>,
}

/// Reads bytes as a file of this name, with the built-in dialects. Fuzz targets and tests of all formats call this.
pub fn read_document(file: &str, bytes: &[u8]) -> Document {
    static READERS: LazyLock<Readers> = LazyLock::new(|| Readers::all(&[]));
    let mut reader = DocumentReader::new(&READERS, file);
    reader.feed(bytes);
    reader.finish()
}

impl DocumentReader {
    /// Starts a reading. The name is cited as given, and settings in it are taken as declared.
    pub fn new(readers: &Readers, file: &str) -> DocumentReader {
        let input = Input {
            splitter: LineSplitter::default(),
            builder: DocumentBuilder::new(readers, file),
            format: Format::of_name(file),
            held: Vec::new(),
        };
        DocumentReader { decoder: Decoder::default(), input, kept: readers.keeps_source().then(Vec::new) }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let DocumentReader { decoder, input, kept } = self;
        decoder.feed(bytes, &mut |piece| {
            keep(kept, piece);
            input.feed(piece);
        });
    }

    /// Ends the reading.
    pub fn finish(mut self) -> Document {
        let DocumentReader { decoder, input, kept } = &mut self;
        decoder.finish(&mut |piece| {
            keep(kept, piece);
            input.feed(piece);
        });
        let text = self.kept.take().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Document { text: text.unwrap_or_default(), ..self.input.finish() }
    }
}

/// Adds to the kept text as long as there is room.
fn keep(kept: &mut Option<Vec<u8>>, piece: &[u8]) {
    if let Some(kept) = kept.as_mut().filter(|kept| kept.len() < LARGEST_KEPT) {
        kept.extend_from_slice(piece);
    }
}

impl Input {
    fn feed(&mut self, bytes: &[u8]) {
        if self.format == Some(Format::Text) {
            return self.text(bytes);
        }
        self.held.extend_from_slice(bytes);
        if self.format.is_none() {
            self.format = Format::of_start(&self.held);
        }
        if self.format == Some(Format::Text) || self.held.len() >= LARGEST_HELD {
            self.format = Some(Format::Text);
            let held = std::mem::take(&mut self.held);
            self.text(&held);
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        let Input { splitter, builder, .. } = self;
        let mut rest = bytes;
        while let Some(needles) = builder.idle() {
            // A line that began in the piece before ends in this one.
            let (skipped, count) = if splitter.is_at_start() { passed_over(rest, needles) } else { (0, 0) };
            let (passed, behind) = rest.split_at_checked(skipped).unwrap_or((rest, &[]));
            splitter.skip(count);
            builder.pass_over(count, passed);
            rest = behind;
            let Some(end) = memchr::memchr(b'\n', rest) else { break };
            let (line, behind) = rest.split_at(end + 1);
            splitter.feed(line, &mut |number, line| builder.line(number, line));
            rest = behind;
        }
        splitter.feed(rest, &mut |number, line| builder.line(number, line));
    }

    /// Ends the reading.
    fn finish(mut self) -> Document {
        let held = std::mem::take(&mut self.held);
        let format = self.format.or_else(|| Format::of_whole(&held)).unwrap_or(Format::Text);
        if format != Format::Text {
            let lines = memchr::memchr_iter(b'\n', &held).count() as u64;
            let unended = held.last().is_some_and(|byte| *byte != b'\n');
            self.builder.set_lines(lines + u64::from(unended));
        }
        let rest = self.whole(format, &held);
        self.splitter.skip(memchr::memchr_iter(b'\n', held.get(..rest).unwrap_or_default()).count() as u64);
        self.text(held.get(rest..).unwrap_or_default());
        let Input { splitter, builder, .. } = &mut self;
        splitter.finish(&mut |number, line| builder.line(number, line));
        if splitter.cut_bytes() > 0 {
            builder.omit("bytes of lines longer than 64 KiB", splitter.cut_bytes(), splitter.first_cut());
        }
        self.builder.finish()
    }

    /// Reads a file as a whole; gives the place from which on it is read as text.
    fn whole(&mut self, format: Format, held: &[u8]) -> usize {
        let builder = &mut self.builder;
        let text = match std::str::from_utf8(held) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(held.split_inclusive(|byte| *byte == b'\n').map(clean).collect()),
        };
        match format {
            Format::Text => return 0,
            Format::Json => return self.json(held, &text),
            // Some people keep their logs in files that are called Markdown.
            Format::Markdown if builder.is_log(&text) => return 0,
            Format::Markdown => markdown::read(&text, &LineIndex::from(&text, 1), builder),
            Format::Html => html::read(&text, 0, &LineIndex::from(&text, 1), builder),
            Format::Latex => latex::read(&text, builder),
            Format::Rst => rst::read(&text, builder),
            Format::Org => org::read(&text, builder),
            Format::Separated { named } => {
                let Some(separator) = separated::separator(&text, named) else { return 0 };
                let start: Vec<(u64, &str)> = (1..).zip(text.lines().take(LINES_OF_DIALECT)).collect();
                if builder.is_dialect(&start) {
                    return 0;
                }
                return separated::read(&text, separator, builder);
            }
        }
        held.len()
    }

    fn json(&mut self, held: &[u8], text: &str) -> usize {
        match notebook::read(text, &mut self.builder) {
            Ok(()) => return held.len(),
            Err(NotNotebook::Damaged { problem, line }) => {
                let what = format!("bytes of a damaged notebook ({problem}); save it again");
                self.builder.omit(&what, held.len() as u64, line);
                return held.len();
            }
            Err(NotNotebook::OtherJson) => {}
        }
        match crate::results::runs(held, self.builder.file()) {
            Some(runs) => {
                self.builder.add_runs(runs);
                held.len()
            }
            None => 0,
        }
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

#[cfg(test)]
mod tests;
