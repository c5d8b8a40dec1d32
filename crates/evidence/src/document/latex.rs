//! LaTeX files: sections, paragraphs, listings and tables, with macros that stand for plain text replaced.
//!
//! | file | holds |
//! |---|---|
//! | `latex/source.rs` | comments, groups in braces, macros |
//! | `latex/inline.rs` | what a piece of LaTeX reads like: `\SI{1.2}{\ms}` as `1.2 ms` |
//! | `latex/tabular.rs` | rows and cells of a table |

mod inline;
mod source;
mod tabular;

use super::builder::DocumentBuilder;
use super::line_index::{LineIndex, lines_of};
use inline::plain;
use source::{group, without_comments};

/// Commands that begin a section, with their levels.
const SECTIONS: [(&str, usize); 7] = [
    ("title", 1),
    ("chapter", 1),
    ("section", 2),
    ("subsection", 3),
    ("subsubsection", 4),
    ("paragraph", 5),
    ("subparagraph", 6),
];
const LISTINGS: [&str; 6] = ["verbatim", "verbatim*", "lstlisting", "minted", "Verbatim", "alltt"];
const TABLES: [&str; 10] = [
    "tabular",
    "tabular*",
    "tabularx",
    "tabulary",
    "longtable",
    "longtblr",
    "tblr",
    "array",
    "xltabular",
    "supertabular",
];
/// Environments around a table whose caption belongs to it, wherever it stands.
const FLOATS: [&str; 6] = ["table", "table*", "sidewaystable", "longtable", "wraptable", "center"];
/// Environments that are not text.
const SKIPPED: [&str; 6] = ["tikzpicture", "thebibliography", "equation", "equation*", "align", "align*"];

/// Reads a LaTeX text.
pub(super) fn read(text: &str, builder: &mut DocumentBuilder) {
    let clean = without_comments(text);
    let lines = LineIndex::from(&clean, 1);
    let macros = source::macros(&clean);
    let text = source::with_macros(&clean, &macros, &lines);
    let environments = source::Environments::of(&text.text);
    let reader = LatexReader {
        text: &text.text,
        lines: &text.lines,
        builder,
        paragraph: Vec::new(),
        environments,
        float_end: 0,
    };
    reader.run();
}

struct LatexReader<'a, 'b> {
    text: &'a str,
    lines: &'a LineIndex,
    builder: &'b mut DocumentBuilder,
    paragraph: Vec<(u64, String)>,
    environments: source::Environments,
    /// Where the float ends whose caption was looked for.
    float_end: usize,
}

impl LatexReader<'_, '_> {
    fn run(mut self) {
        // What stands before the document is settings of LaTeX, and its title.
        let mut at = self.text.find("\\begin{document}").map_or(0, |at| at + "\\begin{document}".len());
        if let Some(title) = self.text.get(..at).and_then(|head| head.find("\\title{")) {
            self.section(1, title, title + "\\title".len());
        }
        while at < self.text.len() {
            let rest = self.text.get(at..).unwrap_or_default();
            at = match rest.as_bytes().first() {
                Some(b'\\') => self.command(at),
                Some(b'\n') => self.line_end(at),
                _ => self.words(at),
            };
        }
        self.end_paragraph();
    }

    /// Takes text up to the next command or line end.
    fn words(&mut self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let end = memchr::memchr2(b'\\', b'\n', rest).map_or(self.text.len(), |end| at + end).max(at + 1);
        self.push(at, end);
        end
    }

    fn push(&mut self, at: usize, end: usize) {
        let number = self.lines.at(at);
        let text = self.text.get(at..end).unwrap_or_default();
        match self.paragraph.last_mut().filter(|(line, _)| *line == number) {
            Some((_, line)) => line.push_str(text),
            None => self.paragraph.push((number, text.to_owned())),
        }
    }

    /// A blank line ends a paragraph.
    fn line_end(&mut self, at: usize) -> usize {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let blank =
            rest.bytes().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).is_none_or(|byte| byte == b'\n');
        if blank {
            self.end_paragraph();
        }
        at + 1
    }

    fn command(&mut self, at: usize) -> usize {
        let name = source::command_name(self.text, at);
        let behind = at + 1 + name.len();
        if let Some((_, level)) = SECTIONS.iter().find(|(section, _)| *section == name) {
            return self.section(*level, at, behind);
        }
        match name {
            "begin" => self.begin(at, behind),
            "end" => {
                self.end_paragraph();
                group(self.text, behind).map_or(behind, |(_, end)| end)
            }
            "item" | "par" | "newpage" | "clearpage" | "maketitle" => {
                self.end_paragraph();
                behind
            }
            "label" | "bibliography" | "bibliographystyle" | "includegraphics" | "input" | "centering" => {
                source::after_arguments(self.text, behind)
            }
            "caption" => {
                self.end_paragraph();
                let end = source::after_arguments(self.text, behind);
                self.push(behind, end);
                self.end_paragraph();
                end
            }
            _ => {
                let end =
                    source::after_arguments(self.text, behind).max(behind.max(at + 2)).min(self.text.len());
                let end = self.boundary(end);
                self.push(at, end);
                end
            }
        }
    }

    /// The next place at or behind this one where a character begins.
    fn boundary(&self, mut at: usize) -> usize {
        while at < self.text.len() && !self.text.is_char_boundary(at) {
            at += 1;
        }
        at
    }

    fn section(&mut self, level: usize, at: usize, behind: usize) -> usize {
        self.end_paragraph();
        let from = behind + usize::from(self.text.get(behind..).is_some_and(|rest| rest.starts_with('*')));
        let Some((title, end)) = group(self.text, from) else { return from };
        self.builder.heading(self.lines.at(at), level, &plain(title));
        end
    }

    fn begin(&mut self, at: usize, behind: usize) -> usize {
        let Some((name, end)) = group(self.text, behind) else { return behind };
        self.end_paragraph();
        if LISTINGS.contains(&name) {
            return self.listing(end);
        }
        if TABLES.contains(&name) {
            return self.table(name, at, end);
        }
        if SKIPPED.contains(&name) {
            return self.environments.end(end).1;
        }
        if FLOATS.contains(&name) {
            self.caption(end);
        }
        source::after_options(self.text, end)
    }

    /// States the caption of a float before its table, where it names what the table is about.
    fn caption(&mut self, from: usize) {
        let (last, _) = self.environments.end(from);
        // Floats inside floats share their captions.
        if from < self.float_end {
            return;
        }
        self.float_end = last;
        let body = self.text.get(from..last).unwrap_or_default();
        let table = body.find("\\begin{tabular").unwrap_or(body.len());
        // A caption above the table is met in its place.
        let Some(found) = body.rfind("\\caption").filter(|found| *found > table) else { return };
        let behind = from + found + "\\caption".len();
        let behind = behind + usize::from(self.text.get(behind..).is_some_and(|rest| rest.starts_with('*')));
        let behind = source::after_options(self.text, behind);
        if let Some((text, _)) = group(self.text, behind) {
            self.builder.caption(self.lines.at(from + found), &plain(text));
        }
    }

    fn listing(&mut self, from: usize) -> usize {
        let (last, behind) = self.environments.end(from);
        let from = source::after_options(self.text, from);
        self.builder.open_listing(self.lines.at(from));
        for (begin, line) in lines_of(self.text.get(from..last).unwrap_or_default(), from) {
            self.builder.listing_line(self.lines.at(begin), line.as_bytes());
        }
        self.builder.close_listing(self.lines.at(last));
        behind
    }

    fn table(&mut self, name: &str, at: usize, from: usize) -> usize {
        if name == "longtable" {
            self.caption(from);
        }
        let (last, behind) = self.environments.end(from);
        let body = source::after_arguments(self.text, from).min(last);
        if let Some(mut raw) = tabular::read(self.text.get(body..last).unwrap_or_default(), body, self.lines)
        {
            raw.first = self.lines.at(at);
            raw.last = self.lines.at(behind.saturating_sub(1));
            self.builder.table(raw);
        }
        behind
    }

    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        let mut said = false;
        for (number, line) in lines {
            let text = plain(&line);
            if !text.is_empty() {
                self.builder.prose(number, text.as_bytes());
                said = true;
            }
        }
        if said {
            self.builder.end_of_block();
        }
    }
}

#[cfg(test)]
mod tests;
