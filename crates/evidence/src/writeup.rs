//! Write-ups: what people say about their runs in tables, in prose and in arrays printed by Python.
//!
//! Everything here is pure. Whoever streams a document's lines finds out where a table, a paragraph or an array
//! begins, feeds its lines to a builder, and hands the result to `interpret`, `runs`, `declared` or `statements`.
//!
//! | file | holds |
//! |---|---|
//! | `number.rs` | numbers as people write them, with their written resolution |
//! | `units.rs` | units as people write them |
//! | `markup.rs` | taking Markdown and HTML mark-up off a piece of text |
//! | `vocabulary.rs` | what people's words mean: settings, metrics, platforms |
//! | `cell.rs` | one cell of a table |
//! | `raw.rs` | a table as it stands, before anybody knows what it means |
//! | `pipe.rs`, `grid.rs`, `html.rs`, `aligned.rs` | four ways of writing tables |
//! | `interpret.rs` | what the columns and rows of a table hold |
//! | `rows.rs` | the runs that a table states |
//! | `tokens.rs` | words, numbers and signs of a sentence |
//! | `prose.rs` | settings that prose declares |
//! | `sentences.rs` | sentences that state numbers or compare things |
//! | `quantities.rs` | the numbers in a sentence |
//! | `arrays.rs` | arrays that Python programs print |

pub mod aligned;
pub mod arrays;
pub mod cell;
pub mod grid;
pub mod html;
pub mod interpret;
pub mod markup;
pub mod number;
pub mod pipe;
pub mod prose;
pub mod quantities;
pub mod raw;
pub mod rows;
pub mod sentences;
pub mod tokens;
pub mod units;
pub mod vocabulary;

pub use arrays::{Array, Arrays};
pub use cell::{CellParts, cell, written_resolution};
pub use grid::GridTable;
pub use html::HtmlTable;
pub use interpret::interpret;
pub use pipe::PipeTable;
pub use prose::{Declared, declared};
pub use raw::RawTable;
pub use rows::runs;
pub use sentences::statements;
pub use vocabulary::{MetricWord, metric_name, platform, setting_name};

/// What stands around a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// The file, as it was named.
    pub file: String,
    /// The headings over the table, outermost first.
    pub headings: Vec<String>,
    /// The make of machine, where it is known already.
    pub platform: Option<String>,
    /// The prose just above the table with its line numbers; the nearest heading may be among it.
    pub recent: Vec<(u64, String)>,
}
