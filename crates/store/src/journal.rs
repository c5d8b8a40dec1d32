//! The journal: one line an entry, `<CRC-32 of the rest> <CRC-32 of the line before> <JSON>` and a newline, both in 8
//! hexadecimal digits. A line thus names the one before it, and lines that were removed, repeated or moved are noticed.
//! Record lines, and all lines of records made before schema 4, have their own checksum alone: programs of those
//! schemas read record lines, and say that they are too old for the rest.
//!
//! Only `assay scrub` rewrites a journal; nothing truncates one. A line that does not check is skipped by readers and reported; lines
//! after it count as ever.

mod finite;
mod line;
mod reader;
mod renamed;
mod writer;

pub use line::{LONGEST_LINE, decode, encode, encode_after};
pub use reader::{Damage, Flaw, JournalReader, Located, Troubles};
pub use writer::Writer;

#[cfg(test)]
mod tests;
