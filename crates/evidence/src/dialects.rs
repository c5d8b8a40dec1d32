//! The registry of log dialects. A dialect is one way of writing logs; each has one file under `dialects/`.

pub mod metrics;

use crate::reading::LineReader;

/// One way of writing logs.
pub struct Dialect {
    /// Its name, as campaigns and platforms use it.
    pub name: &'static str,
    /// One line on what it reads.
    pub summary: &'static str,
    /// Makes a reader for one run.
    pub reader: fn() -> Box<dyn LineReader>,
}

/// All built-in dialects. The name `auto` stands for all of them together.
pub const DIALECTS: &[Dialect] = &[metrics::DIALECT];

/// The readers for a dialect's name; none for a name that does not exist.
pub fn dialect(name: &str) -> Option<Vec<Box<dyn LineReader>>> {
    match name {
        "auto" => Some(DIALECTS.iter().map(|dialect| (dialect.reader)()).collect()),
        _ => DIALECTS.iter().find(|dialect| dialect.name == name).map(|dialect| vec![(dialect.reader)()]),
    }
}
