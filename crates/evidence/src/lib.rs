//! Bytes in, observations out. This room never opens a file and never starts a process: whoever has bytes feeds
//! them to a [`Reading`] as they arrive, and asks for the [`Findings`] at the end or at any time before.
//!
//! | file | holds |
//! |---|---|
//! | `lines.rs` | splitting a stream into lines: carriage returns, cut lines, lines without end |
//! | `reading.rs` | one reading of a run's two streams by several readers |
//! | `findings.rs` | what readers find: observations and series |
//! | `dialects.rs` | the registry of log dialects |
//! | `dialects/` | one dialect a file |
//! | `pattern.rs` | the user's own patterns |

pub mod dialects;
pub mod findings;
pub mod lines;
pub mod pattern;
pub mod reading;

pub use dialects::{DIALECTS, Dialect, dialect};
pub use findings::Findings;
pub use pattern::{Keep, Pattern, PatternError};
pub use reading::{LineReader, Reading, Stream};
