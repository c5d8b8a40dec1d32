//! HTML files and the HTML inside Markdown and notebooks: headings, paragraphs, preformatted logs and tables.
//!
//! One pass over the text: every byte is looked at a bounded number of times, whatever is open or left unclosed.

use super::builder::DocumentBuilder;
use super::line_index::{LineIndex, lines_of};
use crate::writeup::HtmlTable;
use crate::writeup::markup::with_entities;

/// Tags that end a paragraph where they begin and where they end.
const BLOCKS: [&str; 24] = [
    "p",
    "div",
    "li",
    "ul",
    "ol",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "aside",
    "nav",
    "blockquote",
    "hr",
    "dl",
    "dt",
    "dd",
    "body",
    "head",
    "html",
    "figure",
    "figcaption",
    "details",
    "summary",
];

/// Reads HTML that stands at `start` of the text that the lines are those of.
pub(super) fn read(text: &str, start: usize, lines: &LineIndex, builder: &mut DocumentBuilder) {
    let reader = HtmlReader { text, start, lines, builder, paragraph: Vec::new(), heading: None };
    reader.run();
}

/// Whether a text holds a table.
pub(super) fn has_table(text: &str) -> bool {
    crate::writeup::html::table_tag(text).is_some()
}

/// Where a table begins that the text does not close.
pub(super) fn unclosed_table(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let open = at + crate::writeup::html::table_tag(text.get(at..)?)?;
        match table_end(text, open) {
            Some(end) => at = end,
            None => return Some(open),
        }
    }
}

/// Where the table that begins at a place ends; tables inside it are part of it.
pub(super) fn table_end(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_u32;
    let mut at = open;
    while let Some(found) = memchr::memchr(b'<', text.as_bytes().get(at..)?) {
        let tag = at + found;
        let (name, closing) = tag_name(text, tag);
        at = tag + 1;
        if name.eq_ignore_ascii_case("table") {
            at = tag_end(text, tag);
            depth = if closing { depth.saturating_sub(1) } else { depth.saturating_add(1) };
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The name of the tag at a `<`, and whether it closes; no name for a sign that begins no tag.
fn tag_name(text: &str, at: usize) -> (&str, bool) {
    let rest = text.get(at + 1..).unwrap_or_default();
    let closing = rest.starts_with('/');
    let name_start = usize::from(closing);
    let length = rest.bytes().skip(name_start).take_while(u8::is_ascii_alphanumeric).count();
    let name = rest.get(name_start..name_start + length).unwrap_or_default();
    let is_tag = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_tag { (name, closing) } else { ("", false) }
}

/// Where a tag ends; the end of the text if it does not.
fn tag_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr(b'>', rest).map_or(text.len(), |end| at + end + 1)
}

struct HtmlReader<'a, 'b> {
    text: &'a str,
    /// Where the text begins in the one that `lines` belongs to.
    start: usize,
    lines: &'a LineIndex,
    builder: &'b mut DocumentBuilder,
    paragraph: Vec<(u64, String)>,
    /// The level of the heading that is open, and its line.
    heading: Option<(usize, u64)>,
}

impl HtmlReader<'_, '_> {
    fn run(mut self) {
        let mut at = 0;
        // Searching again for an end that is not there would take quadratic time.
        let mut comments_end = true;
        while at < self.text.len() {
            let rest = self.text.get(at..).unwrap_or_default();
            if comments_end && rest.starts_with("<!--") {
                match rest.find("-->") {
                    Some(end) => at += end + 3,
                    None => comments_end = false,
                }
                continue;
            }
            let (name, closing) = if rest.starts_with('<') { tag_name(self.text, at) } else { ("", false) };
            at = match name.is_empty() {
                true => self.text_from(at),
                false => self.tag(&name.to_ascii_lowercase(), closing, at, tag_end(self.text, at)),
            };
        }
        self.end_paragraph();
    }

    fn line(&self, at: usize) -> u64 {
        self.lines.at(self.start + at)
    }

    /// Takes text up to the next tag.
    fn text_from(&mut self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at + 1..).unwrap_or_default();
        let end = memchr::memchr(b'<', rest).map_or(self.text.len(), |end| at + 1 + end);
        let text = self.text.get(at..end).unwrap_or_default();
        for (index, (begin, line)) in lines_of(text, at).enumerate() {
            self.push(index > 0, self.line(begin), line);
        }
        if text.ends_with('\n') {
            self.paragraph.push((self.line(end), String::new()));
        }
        end
    }

    fn push(&mut self, new_line: bool, number: u64, text: &str) {
        if new_line || self.paragraph.is_empty() {
            self.paragraph.push((number, String::new()));
        }
        if let Some((_, line)) = self.paragraph.last_mut() {
            line.push_str(&with_entities(text));
        }
    }

    fn tag(&mut self, name: &str, closing: bool, at: usize, end: usize) -> usize {
        match name {
            "table" if !closing => return self.table(at),
            "pre" if !closing => return self.listing(at, end),
            "script" | "style" | "svg" | "template" if !closing => return self.closing(name, end).1,
            "br" => self.push(false, self.line(at), " "),
            _ if BLOCKS.contains(&name) => self.end_paragraph(),
            _ => self.heading_tag(name, closing, at),
        }
        end
    }

    fn heading_tag(&mut self, name: &str, closing: bool, at: usize) {
        let level = match name.as_bytes() {
            [b'h', digit @ b'1'..=b'6'] => usize::from(digit - b'0'),
            b"title" => 1,
            _ => return,
        };
        self.end_paragraph();
        self.heading = (!closing).then(|| (level, self.line(at)));
    }

    /// Where the closing tag of this name begins and ends.
    fn closing(&self, name: &str, from: usize) -> (usize, usize) {
        let mut at = from;
        while let Some(found) = memchr::memchr(b'<', self.text.as_bytes().get(at..).unwrap_or_default()) {
            let (other, closing) = tag_name(self.text, at + found);
            if closing && other.eq_ignore_ascii_case(name) {
                return (at + found, tag_end(self.text, at + found));
            }
            at += found + 1;
        }
        (self.text.len(), self.text.len())
    }

    fn listing(&mut self, at: usize, end: usize) -> usize {
        self.end_paragraph();
        let (last, behind) = self.closing("pre", end);
        let body = self.text.get(end..last).unwrap_or_default();
        self.builder.open_listing(self.line(at));
        for (begin, line) in lines_of(body, end) {
            let text = with_entities(&crate::writeup::markup::without_tags(line));
            self.builder.listing_line(self.line(begin), text.as_bytes());
        }
        self.builder.close_listing(self.line(last.saturating_sub(1)));
        behind
    }

    fn table(&mut self, at: usize) -> usize {
        self.end_paragraph();
        let mut table = HtmlTable::default();
        let rest = self.text.get(at..).unwrap_or_default();
        let mut behind = self.text.len();
        for (begin, line) in lines_of(rest, at) {
            table.push(self.line(begin), line);
            if table.is_complete() {
                behind = begin + line.len() - table.rest().len();
                break;
            }
        }
        if let Some((number, caption)) = table.caption() {
            self.builder.prose(number, caption.as_bytes());
            self.builder.end_of_block();
        }
        if let Some(raw) = table.finish() {
            self.builder.table(raw);
        }
        behind.max(at + 1)
    }

    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        if let Some((level, number)) = self.heading.take() {
            let words = lines.iter().flat_map(|(_, line)| line.split_whitespace()).collect::<Vec<_>>();
            self.builder.heading(number, level, &words.join(" "));
            return;
        }
        if lines.iter().all(|(_, line)| line.trim().is_empty()) {
            return;
        }
        for (number, line) in lines {
            if !line.trim().is_empty() {
                self.builder.prose(number, line.trim().as_bytes());
            }
        }
        self.builder.end_of_block();
    }
}
