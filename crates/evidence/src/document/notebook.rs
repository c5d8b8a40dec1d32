//! Jupyter notebooks: Markdown cells are the write-up, outputs are logs and tables, code cells declare settings.
//!
//! | file | holds |
//! |---|---|
//! | `notebook/code.rs` | settings that code declares |

mod code;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::builder::DocumentBuilder;
use super::line_index::LineIndex;
use super::{html, markdown};
use assay_model::NotebookCell;

#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Option<Vec<Cell<'a>>>,
    /// Notebooks of version 3 keep their cells here.
    #[serde(borrow)]
    worksheets: Option<Vec<Worksheet<'a>>>,
}

#[derive(Deserialize)]
struct Worksheet<'a> {
    #[serde(borrow, default)]
    cells: Vec<Cell<'a>>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    #[serde(default)]
    cell_type: String,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    /// The source of a code cell of version 3.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    outputs: Vec<Output<'a>>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<OutputData<'a>>,
    #[serde(borrow)]
    traceback: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OutputData<'a> {
    #[serde(borrow, rename = "text/plain")]
    plain: Option<&'a RawValue>,
    #[serde(borrow, rename = "text/html")]
    html: Option<&'a RawValue>,
    #[serde(borrow, rename = "text/markdown")]
    markdown: Option<&'a RawValue>,
}

/// Why a file is not read as a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotNotebook {
    /// It is JSON of another kind.
    OtherJson,
    /// It begins like a notebook and breaks off or is damaged: what is wrong, and the line.
    Damaged { problem: String, line: u64 },
}

/// Reads a notebook.
pub(super) fn read(text: &str, builder: &mut DocumentBuilder) -> Result<(), NotNotebook> {
    if !text.contains("\"cells\"") {
        return Err(NotNotebook::OtherJson);
    }
    let notebook: Notebook<'_> = match serde_json::from_str(text) {
        Ok(notebook) => notebook,
        Err(error) if text.contains("\"cell_type\"") => {
            return Err(NotNotebook::Damaged { problem: error.to_string(), line: error.line() as u64 });
        }
        Err(_) => return Err(NotNotebook::OtherJson),
    };
    let inner = notebook.worksheets.into_iter().flatten().flat_map(|sheet| sheet.cells);
    let cells: Vec<Cell<'_>> = notebook.cells.into_iter().flatten().chain(inner).collect();
    if cells.iter().all(|cell| cell.cell_type.is_empty()) && !text.contains("\"nbformat\"") {
        return Err(NotNotebook::OtherJson);
    }
    let file_lines = LineIndex::from(text, 1);
    let mut reader = NotebookReader { text, file_lines: &file_lines, next: 0, builder };
    for (index, cell) in cells.iter().enumerate() {
        reader.cell(u32::try_from(index + 1).unwrap_or(u32::MAX), cell);
    }
    Ok(())
}

/// A text of a notebook: a list of lines, or one string.
#[derive(Deserialize)]
#[serde(transparent)]
struct Strings(#[serde(deserialize_with = "strings")] Vec<String>);

fn strings<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct OneOrMany;
    impl<'de> serde::de::Visitor<'de> for OneOrMany {
        type Value = Vec<String>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("text")
        }

        fn visit_str<E>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut found = Vec::new();
            while let Some(text) = list.next_element::<String>()? {
                found.push(text);
            }
            Ok(found)
        }
    }
    from.deserialize_any(OneOrMany)
}

struct NotebookReader<'a, 'b> {
    text: &'a str,
    file_lines: &'a LineIndex,
    /// The last line that was given out. Lines only grow, so that each belongs to one place, also where a notebook
    /// keeps all its text on one line.
    next: u64,
    builder: &'b mut DocumentBuilder,
}

/// A text of a cell and the line of each of its lines.
struct CellText {
    text: String,
    lines: Vec<u64>,
}

impl CellText {
    fn index(&self) -> LineIndex {
        LineIndex::with_numbers(&self.text, self.lines.clone())
    }

    fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        self.lines.iter().copied().zip(self.text.lines())
    }
}

impl NotebookReader<'_, '_> {
    fn cell(&mut self, number: u32, cell: &Cell<'_>) {
        let before = self.next;
        let source = cell.source.or(cell.input).and_then(|raw| self.cell_text(raw));
        match (cell.cell_type.as_str(), source) {
            ("code", source) => {
                if let Some(source) = source {
                    for (line, name, value) in code::settings(source.lines()) {
                        self.builder.declare(line, &name, value);
                    }
                }
                self.outputs(&cell.outputs);
            }
            ("raw", Some(source)) => self.listing(&[source]),
            ("heading", Some(source)) => {
                let line = source.lines.first().copied().unwrap_or(1);
                self.builder.heading(line, 2, source.text.trim());
            }
            (_, Some(source)) => markdown::read(&source.text, &source.index(), self.builder),
            (_, None) => {}
        }
        if self.next > before {
            self.builder.cell(NotebookCell { number, first: before + 1, last: self.next });
        }
    }

    /// What a cell printed: one log, with the tables among it in their place.
    fn outputs(&mut self, outputs: &[Output<'_>]) {
        let mut log: Vec<CellText> = Vec::new();
        for output in outputs {
            let data = output.data.as_ref();
            let rich = data.and_then(|data| data.html).and_then(|raw| self.cell_text(raw));
            if let Some(rich) = rich.filter(|rich| html::has_table(&rich.text)) {
                self.listing(&log);
                log.clear();
                html::read(&rich.text, 0, &rich.index(), self.builder);
                continue;
            }
            if let Some(rich) = data.and_then(|data| data.markdown).and_then(|raw| self.cell_text(raw)) {
                self.listing(&log);
                log.clear();
                markdown::read(&rich.text, &rich.index(), self.builder);
                continue;
            }
            let plain = output.text.or(data.and_then(|data| data.plain)).or(output.traceback);
            log.extend(plain.and_then(|raw| self.cell_text(raw)));
        }
        self.listing(&log);
    }

    fn listing(&mut self, texts: &[CellText]) {
        let Some(first) = texts.iter().find_map(|text| text.lines.first()) else { return };
        self.builder.open_listing(*first);
        for text in texts {
            for (number, line) in text.lines() {
                // Progress bars write many states into one line; the last state of each is kept.
                for state in line.split('\r').filter(|state| !state.trim().is_empty()) {
                    self.builder.listing_line(number, state.as_bytes());
                }
            }
        }
        self.builder.close_listing(self.next);
    }

    /// A text, with the lines of the file where each of its lines stands, or at least lines in the same order.
    fn cell_text(&mut self, raw: &RawValue) -> Option<CellText> {
        let Strings(strings) = serde_json::from_str(raw.get()).ok()?;
        let pieces = pieces(raw.get(), strings.len());
        let start = raw.get().as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        let mut found = CellText { text: String::new(), lines: Vec::new() };
        for (string, offset) in strings.iter().zip(pieces) {
            let stands_on = self.file_lines.at(start + offset);
            for part in string.split_inclusive('\n') {
                if found.text.is_empty() || found.text.ends_with('\n') {
                    self.next = stands_on.max(self.next + 1);
                    found.lines.push(self.next);
                }
                found.text.push_str(part);
            }
            // A list of lines may lack the line ends.
            if strings.len() > 1 && !found.text.ends_with('\n') && is_list_of_lines(&strings) {
                found.text.push('\n');
            }
        }
        (!found.text.trim().is_empty()).then_some(found)
    }
}

/// Whether no string but the last brings its line end.
fn is_list_of_lines(strings: &[String]) -> bool {
    strings.iter().all(|string| !string.contains('\n'))
}

/// Where each string of a JSON list begins; one string begins at once.
fn pieces(raw: &str, count: usize) -> Vec<usize> {
    let bytes = raw.as_bytes();
    let mut found = Vec::with_capacity(count);
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()) {
        found.push(at + start);
        at += start + 1;
        loop {
            match memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
                Some(end) if bytes.get(at + end) == Some(&b'\\') => at += end + 2,
                Some(end) => {
                    at += end + 1;
                    break;
                }
                None => return found,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
