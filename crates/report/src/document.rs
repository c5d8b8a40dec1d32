//! One document, whatever it is shown as: an answer, tables, figures, findings and how all that was made.
//!
//! | file | holds |
//! |---|---|
//! | `document/audited.rs` | an audit as a section |
//! | `document/files.rs` | files that were read and audited as a document |
//! | `document/experiments.rs` | the runs of a file as experiments: tables and figures |
//! | `document/write_up.rs` | studies to a document |
//! | `document/figures.rs` | studies to figures |
//! | `document/sentences.rs` | an answer in two or three sentences |
//! | `document/html.rs` | one HTML file |
//! | `document/markdown.rs` | Markdown with figures beside it |
//! | `document/latex.rs` | LaTeX with booktabs |

mod audited;
mod experiments;
mod figures;
mod files;
mod html;
mod latex;
mod markdown;
mod sentences;
mod write_up;

pub use audited::audit_section;
pub use figures::{figures, timelines as timeline_figure, trace};
pub use files::{claims, files_report};
pub use html::{body, html};
pub use latex::latex;
pub use markdown::markdown;
pub use sentences::{label, label_of, sentences};
pub use write_up::{comparison_section, record_sections, write_up};

use crate::figure::{self, Bars, CellDots, Forest, Heat, Plot, Points, Roofline, TimelineRow, Trace};
use crate::markup::Markup;
use crate::table::{Footnote, Table, Tone};

/// A document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub title: String,
    pub question: Option<String>,
    /// The answer, in two or three sentences.
    pub summary: Vec<String>,
    /// Doubts about the answer, each with what to do about it.
    pub caveats: Vec<Footnote>,
    pub sections: Vec<Section>,
}

/// A part of a document under a heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// A name for links; letters, digits and hyphens.
    pub id: String,
    pub title: String,
    pub parts: Vec<DocumentPart>,
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum DocumentPart {
    /// A heading inside a section.
    Heading(String),
    /// A paragraph; text between backticks is to be typed.
    Text(String),
    Table(DataTable),
    Figure(Figure),
    /// Text that keeps its lines.
    Listing {
        title: String,
        text: String,
    },
    /// Names with what is known of them.
    Facts(Vec<(String, String)>),
    /// Something that a reader should know, with what to do about it.
    Finding {
        tone: Tone,
        text: String,
        advice: String,
    },
    /// What only some readers want to see.
    Folded {
        title: String,
        parts: Vec<DocumentPart>,
    },
}

/// A table whose rows know where their numbers come from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataTable {
    pub table: Table,
    /// What each row rests on: count, interval, command, source line.
    pub abouts: Vec<Vec<String>>,
    /// The column whose numbers open what a row rests on.
    pub main: usize,
}

impl From<Table> for DataTable {
    fn from(table: Table) -> DataTable {
        DataTable { table, ..DataTable::default() }
    }
}

/// A figure with its caption.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What the reader should see in it.
    pub caption: String,
    pub drawing: Drawing,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    Bars(Bars),
    Cells(CellDots),
    Forest(Forest),
    Points(Points),
    Roofline(Roofline),
    Trace(Trace),
    Heat(Heat),
    Timelines(Vec<TimelineRow>),
    Plot(Plot),
}

impl Drawing {
    /// The figure as SVG, for a page that has the style sheet of figures.
    pub fn svg(&self) -> Markup {
        match self {
            Drawing::Bars(bars) => figure::bars(bars),
            Drawing::Cells(cells) => figure::cell_dots(cells),
            Drawing::Forest(forest) => figure::forest(forest),
            Drawing::Points(points) => figure::points(points),
            Drawing::Roofline(roofline) => figure::roofline(roofline),
            Drawing::Trace(trace) => figure::trace(trace),
            Drawing::Heat(heat) => figure::heat(heat),
            Drawing::Timelines(rows) => figure::timelines(rows),
            Drawing::Plot(plot) => figure::plot(plot),
        }
    }

    /// Whether two of them fit side by side.
    pub fn is_small(&self) -> bool {
        matches!(self, Drawing::Points(_) | Drawing::Trace(_) | Drawing::Heat(_) | Drawing::Plot(_))
    }

    /// The figure as a file of its own.
    pub fn svg_file(&self) -> String {
        figure::alone(&self.svg().finish())
    }
}

/// A document as text, with files that stand beside it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rendered {
    pub text: String,
    /// What is added to the document's name, and the contents.
    pub files: Vec<(String, String)>,
}

#[cfg(test)]
mod tests;
