//! Numbers to shapes. The same input gives the same bytes; no statistics are done here.
//!
//! | file | holds |
//! |---|---|
//! | `number.rs` | values in readable units, with as many digits as their interval deserves |
//! | `table.rs` | the table that every format is made from |
//! | `text.rs` | aligned text for terminals |
//! | `markdown.rs` | Markdown |
//! | `separated.rs` | CSV |
//! | `answer.rs` | what a record says, as a table |
//! | `comparison.rs` | what two records say, as a table |
//! | `gates.rs` | how cells stand at their gates, as a table |

pub mod answer;
pub mod comparison;
pub mod gates;
pub mod markdown;
pub mod number;
pub mod separated;
pub mod table;
pub mod text;

pub use table::{Align, Cell, Column, Table, Tone};
