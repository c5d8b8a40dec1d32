//! The documents themselves, every number marked with what the audit says about it.
//!
//! What is shown is the text that the audit read, never the document's own mark-up: headings, paragraphs, listings and
//! tables of plain text. A number with a finding is a link to it; focus or hover shows the finding in short.

use std::collections::BTreeSet;

use assay_audit::{Audit, Finding, Level, Passage, Prose};
use assay_model::Document;

use super::super::SECTIONS;
use super::marks::{Mark, MarkedDocument};
use super::{prose, section_id};
use crate::markup::Markup;
use crate::number::counted;
use crate::reading::place;
use crate::words::shorten;

/// Passages of a document that are shown though no finding names them.
const MOST_PASSAGES: usize = 3000;
/// Listings and tables longer than this show the lines around findings only.
const LONG: usize = 80;
/// Lines shown around a line that a finding names, and at the beginning of a long listing.
const AROUND: usize = 3;
const BEGINNING: usize = 12;
/// The longest line that is shown whole, in characters.
const LONGEST_LINE: usize = 4000;
/// Findings that the note of one number shows, and lines of their arithmetic and operands.
const MOST_NOTED: usize = 3;
const MOST_FORMULAS: usize = 4;
/// Numbers that have a note of their own; later ones are links only.
const MOST_NOTES: usize = 6000;

/// The name of a finding's card.
pub fn card_id(index: usize) -> String {
    format!("finding-{}", index + 1)
}

/// The name of a line of a document.
pub fn line_id(document: usize, line: u64) -> String {
    format!("d{}-L{line}", document + 1)
}

/// What the marks mean.
pub fn legend(page: &mut Markup) {
    page.element("p", &[("class", "legend")], |page| {
        for (level, name, mark, _) in SECTIONS {
            let class = format!("n {}", section_id(level));
            page.leaf("span", &[("class", &*class)], &format!("{mark} {name}"));
            page.text(" ");
        }
        page.text("Numbers without a finding are not checked. ");
        let how = "Point at a number, or move to it with the Tab key, to see the arithmetic; follow it to its finding.";
        page.leaf("span", &[("class", "how")], how);
    });
}

/// All documents with a text.
pub fn documents(page: &mut Markup, audit: &Audit, documents: &[Document], marked: &[MarkedDocument]) {
    let mut notes = 0;
    for (index, (document, marks)) in documents.iter().zip(marked).enumerate() {
        if marks.passages.is_empty() {
            continue;
        }
        let label = format!("Text of {}", document.file);
        page.element("section", &[("class", "source"), ("aria-label", &*label)], |page| {
            page.leaf("h2", &[], &document.file);
            let mut writer =
                Writer { page, audit, document, marks, index, anchored: BTreeSet::new(), notes: &mut notes };
            writer.passages();
        });
        page.line();
    }
}

struct Writer<'a> {
    page: &'a mut Markup,
    audit: &'a Audit,
    document: &'a Document,
    marks: &'a MarkedDocument,
    index: usize,
    /// Lines that have their name already: a name must be unique.
    anchored: BTreeSet<u64>,
    notes: &'a mut usize,
}

impl Writer<'_> {
    fn passages(&mut self) {
        let mut cell = None;
        let mut hidden = 0;
        let marks = self.marks;
        for (count, passage) in marks.passages.iter().enumerate() {
            if count >= MOST_PASSAGES && !is_touched(passage, marks) {
                hidden += 1;
                continue;
            }
            let own = self.document.source(first_line(passage)).cell;
            if own.is_some() && own != cell {
                let text = own.map(|number| format!("cell {number}")).unwrap_or_default();
                self.page.leaf("p", &[("class", "cell")], &text);
            }
            cell = own;
            self.passage(passage);
            self.page.line();
        }
        if hidden > 0 {
            self.gap(&format!("{} without a finding not shown", counted(hidden, "more passage")));
        }
    }

    fn passage(&mut self, passage: &Passage) {
        match passage {
            Passage::Heading(text) => self.block("h3", text),
            Passage::Paragraph(text) => self.block("p", text),
            Passage::Listing(lines) => self.listing(lines),
            Passage::Table { header, rows } => self.table(header, rows),
        }
    }

    fn block(&mut self, name: &str, text: &Prose) {
        self.inside("div", &[("class", "passage")], |writer| {
            writer.line_number("span", text.first_line());
            writer.inside(name, &[("dir", "auto")], |writer| writer.text(text));
        });
    }

    fn listing(&mut self, lines: &[Prose]) {
        let numbers: Vec<u64> = lines.iter().map(Prose::first_line).collect();
        self.inside("div", &[("class", "listing")], |writer| {
            for piece in excerpt(&numbers, writer.marks) {
                match piece {
                    ShownLine::Shown(at) => {
                        let line = &lines[at];
                        writer.inside("div", &[("class", "passage")], |writer| {
                            writer.line_number("span", line.first_line());
                            writer.inside("code", &[], |writer| writer.text(line));
                        });
                    }
                    ShownLine::Hidden(count) => writer.gap(&format!("{} not shown", counted(count, "line"))),
                }
            }
        });
    }

    fn table(&mut self, header: &[Prose], rows: &[Vec<Prose>]) {
        let numbers: Vec<u64> = rows.iter().map(|row| row.first().map_or(0, Prose::first_line)).collect();
        let width = rows.iter().map(Vec::len).chain([header.len()]).max().unwrap_or(0) + 1;
        let attributes =
            [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", "table")];
        self.inside("div", &attributes, |writer| {
            writer.inside("table", &[], |writer| {
                if header.iter().any(|cell| !cell.text.is_empty()) {
                    writer.inside("thead", &[], |writer| writer.row("th", header));
                }
                writer.inside("tbody", &[], |writer| {
                    for piece in excerpt(&numbers, writer.marks) {
                        match piece {
                            ShownLine::Shown(at) => writer.row("td", &rows[at]),
                            ShownLine::Hidden(count) => {
                                let text = format!("… {} not shown", counted(count, "row"));
                                writer.page.element("tr", &[], |page| {
                                    page.leaf(
                                        "td",
                                        &[("class", "gap"), ("colspan", &*width.to_string())],
                                        &text,
                                    );
                                });
                            }
                        }
                    }
                });
            });
        });
    }

    fn row(&mut self, name: &str, cells: &[Prose]) {
        self.inside("tr", &[], |writer| {
            writer.line_number("td", cells.first().map_or(0, Prose::first_line));
            for cell in cells {
                let numeric =
                    name == "td" && cell.text.trim_start().starts_with(|one: char| one.is_ascii_digit());
                let attributes: &[(&str, &str)] = if name == "th" {
                    &[("scope", "col")]
                } else if numeric {
                    &[("class", "number")]
                } else {
                    &[]
                };
                writer.inside(name, attributes, |writer| writer.text(cell));
            }
        });
    }

    /// A text with its numbers marked, the lines named, and flags for findings about whole lines.
    fn text(&mut self, prose: &Prose) {
        let text = cut(&prose.text);
        let mut at = 0;
        let mut lines = prose.lines.iter().filter(|(start, _)| *start < text.len().max(1)).peekable();
        let numbers = prose.numbers.iter().filter(|place| place.end <= text.len());
        for place in numbers.chain([&assay_audit::NumberPlace {
            start: text.len(),
            end: text.len(),
            written: f64::NAN,
        }]) {
            while let Some((start, line)) = lines.next_if(|(start, _)| *start <= place.start) {
                let upto = (*start).max(at);
                self.page.text(text.get(at..upto).unwrap_or_default());
                at = upto;
                self.begin_line(*line);
            }
            self.page.text(text.get(at..place.start).unwrap_or_default());
            if place.start < place.end {
                let shown = text.get(place.start..place.end).unwrap_or_default();
                self.number(shown, prose.line_at(place.start), place.written);
            }
            at = place.end.max(at);
        }
        if text.len() < prose.text.len() {
            self.page.leaf("span", &[("class", "gap")], " … cut");
        }
    }

    /// Names a line where it begins, and flags what is said about it as a whole.
    fn begin_line(&mut self, line: u64) {
        if !self.anchored.insert(line) {
            return;
        }
        if self.marks.is_touched(line) {
            self.page.element("span", &[("id", &*line_id(self.index, line)), ("class", "at")], |_| {});
        }
        for finding in self.marks.line(line).to_vec() {
            let Some(found) = self.audit.findings.get(finding) else { continue };
            let (name, symbol) = level_words(found.level);
            let mark = Mark { level: Some(found.level), findings: vec![finding] };
            let text = format!("{symbol}{}", finding + 1);
            self.link(&format!("flag {}", section_id(found.level)), &mark, |page| {
                page.leaf("span", &[("aria-hidden", "true")], &text);
                page.leaf("span", &[("class", "sr")], &format!("line {line}: {name}"));
            });
        }
    }

    fn number(&mut self, shown: &str, line: u64, written: f64) {
        let Some(mark) = self.marks.number(line, written).cloned() else {
            return self.page.leaf("span", &[("class", "n not_checked")], shown);
        };
        let level = mark.level.unwrap_or(Level::NotChecked);
        let (name, symbol) = level_words(level);
        let about = mark.level.and(mark.findings.first().copied());
        self.link(&format!("n {}", section_id(level)), &mark, |page| {
            page.text(shown);
            page.leaf("span", &[("class", "sr")], &format!(" ({name})"));
            if let (Level::Contradicted | Level::Doubtful, Some(finding)) = (level, about) {
                page.leaf("sup", &[("aria-hidden", "true")], &format!("{symbol}{}", finding + 1));
            }
        });
    }

    /// A link to the first finding of a mark, with its note.
    fn link(&mut self, class: &str, mark: &Mark, inside: impl FnOnce(&mut Markup)) {
        let target = mark.findings.first().map(|first| format!("#{}", card_id(*first))).unwrap_or_default();
        *self.notes += 1;
        if *self.notes > MOST_NOTES {
            self.page.element("a", &[("class", class), ("href", &*target)], inside);
            return;
        }
        let id = format!("note-{}", self.notes);
        self.inside("span", &[("class", "noted")], |writer| {
            let attributes = [("class", class), ("href", &*target), ("aria-describedby", &*id)];
            writer.page.element("a", &attributes, inside);
            writer.page.element("span", &[("class", "note"), ("role", "tooltip"), ("id", &*id)], |page| {
                for finding in mark.findings.iter().take(MOST_NOTED) {
                    if let Some(found) = writer.audit.findings.get(*finding) {
                        note(page, found, *finding);
                    }
                }
            });
        });
    }

    fn line_number(&mut self, element: &str, line: u64) {
        self.page.leaf(element, &[("class", "ln")], &line.to_string());
    }

    fn gap(&mut self, text: &str) {
        self.page.leaf("p", &[("class", "gap")], &format!("… {text}"));
    }

    /// An element whose inside is written by this writer.
    fn inside(&mut self, name: &str, attributes: &[(&str, &str)], inside: impl FnOnce(&mut Writer<'_>)) {
        let mut piece = Markup::default();
        {
            let mut writer = Writer {
                page: &mut piece,
                audit: self.audit,
                document: self.document,
                marks: self.marks,
                index: self.index,
                anchored: std::mem::take(&mut self.anchored),
                notes: self.notes,
            };
            inside(&mut writer);
            self.anchored = writer.anchored;
        }
        self.page.element(name, attributes, |page| page.append(piece));
    }
}

/// A finding in short: what it says, the arithmetic, the operands and the lines.
fn note(page: &mut Markup, finding: &Finding, index: usize) {
    let (name, symbol) = level_words(finding.level);
    page.element("span", &[("class", &*format!("part {}", section_id(finding.level)))], |page| {
        page.leaf("b", &[], &format!("{symbol} {} {name}: ", index + 1));
        prose(page, &shorten(&finding.summary, 400));
    });
    for line in finding.arithmetic.iter().take(MOST_FORMULAS) {
        if !finding.summary.contains(line.as_str()) {
            page.leaf("span", &[("class", "part formula")], &shorten(line, 300));
        }
    }
    if !finding.operands.is_empty() && finding.operands.len() <= 2 * MOST_FORMULAS {
        let operands: Vec<String> = finding
            .operands
            .iter()
            .map(|one| format!("{} (line {})", shorten(&one.text, 80), one.line))
            .collect();
        page.leaf("span", &[("class", "part")], &format!("from {}", operands.join("; ")));
    }
    let places: Vec<String> = finding.sources.iter().take(MOST_FORMULAS).map(place).collect();
    page.leaf("span", &[("class", "part where")], &format!("at {}", places.join(", ")));
}

fn level_words(level: Level) -> (&'static str, &'static str) {
    let section = SECTIONS.iter().find(|(own, ..)| *own == level);
    section.map_or(("", ""), |(_, name, symbol, _)| (*name, *symbol))
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(LONGEST_LINE).map_or(text, |(end, _)| &text[..end])
}

fn first_line(passage: &Passage) -> u64 {
    match passage {
        Passage::Heading(text) | Passage::Paragraph(text) => text.first_line(),
        Passage::Listing(lines) => lines.first().map_or(0, Prose::first_line),
        Passage::Table { header, rows } => {
            header.iter().chain(rows.iter().flatten()).map(Prose::first_line).next().unwrap_or(0)
        }
    }
}

fn is_touched(passage: &Passage, marks: &MarkedDocument) -> bool {
    let touched = |text: &Prose| text.lines.iter().any(|(_, line)| marks.is_touched(*line));
    match passage {
        Passage::Heading(text) | Passage::Paragraph(text) => touched(text),
        Passage::Listing(lines) => lines.iter().any(touched),
        Passage::Table { header, rows } => header.iter().chain(rows.iter().flatten()).any(touched),
    }
}

/// A line that is shown, by its place, or lines that are not, by their count.
#[derive(Debug, PartialEq)]
enum ShownLine {
    Shown(usize),
    Hidden(u64),
}

/// The lines of a long listing that are worth showing: its beginning and what findings name, with what is around.
fn excerpt(lines: &[u64], marks: &MarkedDocument) -> Vec<ShownLine> {
    let mut kept = vec![lines.len() <= LONG; lines.len()];
    kept.iter_mut().take(BEGINNING).for_each(|one| *one = true);
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| marks.is_touched(**line)) {
        let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len());
        kept[around].iter_mut().for_each(|one| *one = true);
    }
    let mut pieces: Vec<ShownLine> = Vec::new();
    for (at, shown) in kept.into_iter().enumerate() {
        match (shown, pieces.last_mut()) {
            (true, _) => pieces.push(ShownLine::Shown(at)),
            (false, Some(ShownLine::Hidden(count))) => *count += 1,
            (false, _) => pieces.push(ShownLine::Hidden(1)),
        }
    }
    pieces
}
