//! Numbers to shapes. The same input gives the same bytes; nothing is judged here.
//!
//! | file | holds |
//! |---|---|
//! | `number.rs` | values in readable units, with as many digits as their interval deserves |
//! | `table.rs` | the table that every format is made from |
//! | `text.rs` | aligned text for terminals |
//! | `markdown.rs` | Markdown |
//! | `separated.rs` | CSV |
//! | `words.rs` | strangers' text made safe, and lines that fit their width |
//! | `block.rs` | paragraphs and tables that fill a screen |
//! | `page.rs` | HTML pages and tables in them |
//! | `markup.rs` | elements of HTML and SVG, closed and escaped by construction |
//! | `timeline.rs` | where the time of a run went, for text and figures |
//! | `reading.rs`, `reading/` | what was read from files, for people |
//! | `audit.rs`, `audit/` | what an audit found, as text, Markdown and HTML |
//! | `figure.rs`, `figure/` | figures as SVG |
//! | `study.rs` | all that a write-up says about a record, as plain data |
//! | `document.rs`, `document/` | one document as HTML, Markdown and LaTeX |
//! | `plots.rs` | figures as text, for terminals |
//! | `answer.rs` | what a record says, as a table |
//! | `columns.rs` | several metrics of a record side by side |
//! | `pivot.rs` | a record with some settings as columns |
//! | `scaling.rs` | a record as a scaling study |
//! | `bench.rs` | what a one-off measurement says |
//! | `curve.rs` | latency over throughput, as a table and as a page |
//! | `comparison.rs` | what two records say, as a table |
//! | `gates.rs` | how cells stand at their gates, as a table |
//! | `history.rs` | a record against the noise of those before it, as a table |

pub mod answer;
pub mod audit;
pub mod bench;
pub mod block;
pub mod columns;
pub mod comparison;
pub mod curve;
pub mod document;
pub mod figure;
pub mod gates;
pub mod history;
pub mod markdown;
pub mod markup;
pub mod number;
pub mod page;
pub mod pivot;
pub mod plots;
pub mod reading;
pub mod scaling;
pub mod separated;
pub mod study;
pub mod table;
pub mod text;
pub mod timeline;
pub mod words;

pub use block::TerminalBlock;
pub use table::{Align, Cell, Column, Table, Tone};

#[cfg(test)]
mod sample;
