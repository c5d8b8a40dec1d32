//! The journal: one line an entry, `<8 hexadecimal digits: CRC-32 of the JSON> <JSON>` and a newline.
//!
//! Only `assay scrub` rewrites a journal; nothing truncates one. A line that does not check is skipped by readers and reported; lines
//! after it count as ever.

mod finite;
mod line;
mod reader;
mod renamed;
mod writer;

pub use line::{LONGEST_LINE, decode, encode};
pub use reader::{Damage, Flaw, Located, Reader, Troubles};
pub use writer::Writer;

#[cfg(test)]
mod tests;
