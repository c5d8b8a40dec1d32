//! Markdown files, by `pulldown-cmark`: headings, paragraphs, lists, tables, code blocks and the HTML in between.
//!
//! Text that merely looks like Markdown (a log with a fence in it, standard input) is read line by line as it streams;
//! see `outline.rs`.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::builder::DocumentBuilder;
use super::html;
use super::line_index::{LineIndex, lines_of};
use crate::text::number;
use crate::vocabulary::PrintedUnit;
use crate::writeup::RawTable;

/// A heading of as many lines is a paragraph with a rule below it.
const LEAST_OUTPUT: usize = 3;

/// Reads a Markdown text.
pub(super) fn read(text: &str, lines: &LineIndex, builder: &mut DocumentBuilder) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader =
        MarkdownReader { text, lines, builder, inline: Inline::default(), table: None, items: 0 };
    let mut behind = 0;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        // An HTML table with blank lines in it was read as a whole.
        if range.start < behind {
            continue;
        }
        behind = behind.max(reader.event(event, range));
    }
    reader.end_paragraph();
}

/// Text of a paragraph, a heading or a cell: its lines with their numbers.
#[derive(Default)]
struct Inline {
    lines: Vec<(u64, String)>,
    heading: Option<usize>,
    /// Whether the text is that of a code block, a line for each.
    listing: bool,
    /// Lines that begin with bold text.
    strong: Vec<u64>,
}

struct OpenTable {
    raw: RawTable,
    row: Vec<(String, u64)>,
}

struct MarkdownReader<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    builder: &'a mut DocumentBuilder,
    inline: Inline,
    table: Option<OpenTable>,
    /// How many items of lists are open.
    items: usize,
}

impl MarkdownReader<'_> {
    /// Takes an event; gives the place up to which events are done with.
    fn event(&mut self, event: Event<'_>, range: Range<usize>) -> usize {
        match event {
            Event::Start(tag) => return self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) if self.inline.listing => self.listing(&text, range.start),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push(&text, range.start);
            }
            Event::SoftBreak | Event::HardBreak => self.break_line(range.end),
            Event::InlineHtml(tag) if tag.get(..3).is_some_and(|tag| tag.eq_ignore_ascii_case("<br")) => {
                self.push(" ", range.start);
            }
            Event::Rule => self.end_paragraph(),
            Event::InlineHtml(_)
            | Event::Html(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
        0
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) -> usize {
        match tag {
            Tag::Heading { level, .. } => {
                self.end_paragraph();
                self.inline.heading = Some(level as usize);
            }
            Tag::CodeBlock(kind) => {
                self.end_paragraph();
                self.open_listing(&kind, range.start);
            }
            Tag::MetadataBlock(_) => {
                self.end_paragraph();
                self.open_listing(&CodeBlockKind::Indented, range.start);
            }
            Tag::HtmlBlock => {
                self.end_paragraph();
                return self.html_block(range);
            }
            Tag::Table(_) => {
                self.end_paragraph();
                let first = self.lines.at(range.start);
                let raw = RawTable { first, last: first, ..RawTable::default() };
                self.table = Some(OpenTable { raw, row: Vec::new() });
            }
            Tag::Strong if self.inline.lines.last().is_none_or(|(_, line)| line.is_empty()) => {
                self.inline.strong.push(self.lines.at(range.start));
            }
            Tag::TableCell => self.inline.lines.clear(),
            Tag::Item => {
                self.end_paragraph();
                self.items += 1;
            }
            Tag::List(_) | Tag::Paragraph | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_) => {
                self.end_paragraph();
            }
            _ => {}
        }
        0
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Heading(_) => self.end_heading(range.start),
            TagEnd::CodeBlock | TagEnd::MetadataBlock(_) => {
                self.inline.listing = false;
                let last = self.lines.at(range.end.saturating_sub(1));
                self.builder.close_listing(last);
            }
            TagEnd::TableCell => self.end_cell(range.start),
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.raw.header = table.row.drain(..).map(|(text, _)| text).collect();
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.raw.last = self.lines.at(range.start);
                    let row = std::mem::take(&mut table.row);
                    table.raw.add_row(row);
                }
            }
            TagEnd::Table => {
                self.inline.lines.clear();
                if let Some(table) = self.table.take() {
                    self.end_table(table.raw, range);
                }
            }
            TagEnd::Item => {
                self.end_paragraph();
                self.items = self.items.saturating_sub(1);
            }
            TagEnd::Paragraph | TagEnd::List(_) | TagEnd::BlockQuote(_) => self.end_paragraph(),
            _ => {}
        }
    }

    /// A table of a program that a dialect knows is that program's output.
    fn end_table(&mut self, raw: RawTable, range: Range<usize>) {
        let source = self.text.get(range.clone()).unwrap_or_default();
        let lines: Vec<(u64, &str)> =
            lines_of(source, range.start).map(|(at, line)| (self.lines.at(at), line)).collect();
        if !self.builder.is_dialect(&lines) {
            return self.builder.table(raw);
        }
        for (number, line) in lines {
            self.builder.listing_line(number, line.as_bytes());
        }
        self.builder.end_of_block();
    }

    fn end_cell(&mut self, start: usize) {
        let text = self.inline.take();
        if let Some(table) = &mut self.table {
            table.row.push((text, self.lines.at(start)));
        }
    }

    fn end_heading(&mut self, start: usize) {
        let level = self.inline.heading.take().unwrap_or(1);
        // A rule below the output of a program makes no heading of it.
        if self.inline.lines.len() >= LEAST_OUTPUT {
            return self.end_paragraph();
        }
        let text = self.inline.take();
        // `Overall: 198.4 GFLOPS` above a rule.
        if is_pair(&text) {
            self.builder.item(self.lines.at(start), &text, true);
        }
        self.builder.heading(self.lines.at(start), level, &text);
    }

    fn open_listing(&mut self, kind: &CodeBlockKind<'_>, start: usize) {
        self.inline.listing = true;
        let line = self.lines.at(start);
        self.builder.open_code(line);
        // People paste logs right behind the fence; a single word there names a language.
        if let CodeBlockKind::Fenced(info) = kind
            && info.contains([' ', ':', '|'])
        {
            self.builder.listing_line(line, info.as_bytes());
        }
    }

    fn listing(&mut self, text: &str, start: usize) {
        // Lines of a listing inside a quotation come one by one; others come in one piece, as they stand in the file.
        for (at, line) in lines_of(text, start) {
            self.builder.listing_line(self.lines.at(at), line.as_bytes());
        }
    }

    /// Reads a block of HTML up to its end, or to the end of the last table that begins in it.
    fn html_block(&mut self, range: Range<usize>) -> usize {
        let mut end = range.end;
        let block = self.text.get(range.clone()).unwrap_or_default();
        if let Some(open) = html::unclosed_table(block) {
            let from = range.start + open;
            end = html::table_end(self.text, from).unwrap_or(self.text.len()).max(end);
        }
        html::read(
            self.text.get(range.start..end).unwrap_or_default(),
            range.start,
            self.lines,
            self.builder,
        );
        end
    }

    fn push(&mut self, text: &str, at: usize) {
        if self.inline.lines.is_empty() {
            self.inline.lines.push((self.lines.at(at), String::new()));
        }
        if let Some((_, line)) = self.inline.lines.last_mut() {
            line.push_str(text);
        }
    }

    fn break_line(&mut self, at: usize) {
        if self.table.is_some() {
            return self.push(" ", at);
        }
        self.inline.lines.push((self.lines.at(at), String::new()));
    }

    fn end_paragraph(&mut self) {
        if self.inline.heading.is_some() || self.table.is_some() {
            return;
        }
        let lines = std::mem::take(&mut self.inline.lines);
        let strong = std::mem::take(&mut self.inline.strong);
        if lines.is_empty() {
            return;
        }
        let text: Vec<(u64, &str)> = lines.iter().map(|(number, line)| (*number, line.as_str())).collect();
        if let (Some((first, _)), Some((last, _))) = (lines.first(), lines.last())
            && self.builder.is_output(&text)
        {
            self.builder.open_listing(*first);
            for (number, line) in &text {
                self.builder.listing_line(*number, line.as_bytes());
            }
            return self.builder.close_listing(*last);
        }
        // `**Export speed:** 29.6 MB/s` is a result, also beside a table.
        let sure = |number: u64, line: &str| strong.contains(&number) && is_pair(line);
        for (number, line) in &lines {
            if sure(*number, line) || lines.len() == 1 && self.items > 0 {
                self.builder.item(*number, line, sure(*number, line));
            }
        }
        for (number, line) in lines {
            self.builder.prose(number, line.as_bytes());
        }
        self.builder.end_of_block();
    }
}

/// Whether a line is a key and one number with a unit.
fn is_pair(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let (key, value) = (key.trim(), value.trim());
    let unit = number(value).map(|(_, unit)| unit.trim());
    let stated = |unit: &str| matches!(unit, "%" | "x" | "×") || PrintedUnit::parse(unit).is_some();
    !key.is_empty()
        && key.split_whitespace().count() <= 6
        && unit.is_some_and(|unit| stated(unit) || unit.is_empty() && value.contains('.'))
}

impl Inline {
    fn take(&mut self) -> String {
        let lines = std::mem::take(&mut self.lines);
        let texts: Vec<&str> = lines.iter().map(|(_, line)| line.trim()).collect();
        texts.join(" ").trim().to_owned()
    }
}
