//! Bytes in, observations out. This room never opens a file and never starts a process: whoever has bytes feeds
//! them to a [`Reading`] (a run as it goes on) or a [`DocumentReader`] (a file) as they arrive.
//!
//! | file | holds |
//! |---|---|
//! | `lines.rs` | splitting a stream into lines: carriage returns, cut lines, lines without end |
//! | `encoding.rs` | UTF-16, byte order marks |
//! | `line.rs` | one line, cleaned: colors, rank prefixes, invalid text |
//! | `clock.rs`, `text.rs`, `bars.rs` | what dialects share: timestamps, numbers, progress bars |
//! | `dialects.rs`, `dialects/` | the log dialects, one a file, with their line shapes at the top |
//! | `user.rs`, `pattern.rs` | dialects and patterns of the user's own |
//! | `hints.rs` | error texts and what to do about them |
//! | `readers.rs`, `needles.rs`, `sieve.rs` | a set of readers, and which of them a line concerns |
//! | `shape.rs` | lines that differ in their numbers alone |
//! | `facts.rs` | what a dialect can say about a line |
//! | `draft.rs`, `collector.rs` | the run that facts gather in |
//! | `engine.rs` | shows lines to readers and puts runs together |
//! | `reading.rs`, `redirect.rs` | one run's output as it arrives |
//! | `generic.rs`, `generic/` | lines that no dialect knows |
//! | `vocabulary.rs`, `vocabulary/` | from words to metrics, with `words.toml` as data |
//! | `document.rs`, `document/` | whole files: their format, structure and cells |
//! | `results.rs`, `results/` | result files in JSON |
//! | `writeup.rs`, `writeup/` | tables and prose of write-ups |

pub mod bars;
pub mod clock;
mod collector;
pub mod dialects;
mod document;
mod draft;
mod encoding;
mod engine;
mod facts;
mod generic;
pub mod hints;
mod line;
pub mod lines;
mod needles;
pub mod pattern;
mod readers;
pub mod reading;
pub mod redirect;
mod results;
mod shape;
mod sieve;
mod text;
pub mod user;
pub mod vocabulary;
pub mod writeup;

pub use assay_model::{Keep, Stream};
pub use dialects::{DIALECTS, Dialect, dialect};
pub use document::{DocumentReader, read_document};
pub use encoding::is_text_start;
pub use pattern::{Pattern, PatternError};
pub use readers::Readers;
pub use reading::{Findings, Progress, Reading};
