//! Write-ups with planted errors, and how many of them an audit finds.
//!
//! The documents are written from descriptions of what people get wrong, and not from what the audit looks for: they
//! can show that it misses something. Their rates come from a real campaign of the measured program, and whatever they
//! say was repeated scatters as its runs did.
//!
//! | file | holds |
//! |---|---|
//! | `fault.rs` | the classes of errors, and what counts as finding one |
//! | `measured.rs` | the real campaign, and its scatter |
//! | `log.rs` | generated logs, and the numbers a careful author copies out of them |
//! | `page.rs` | headings, paragraphs, tables and logs, and ways to mark them up |
//! | `section/` | sections in pairs: sound, and with an error planted |
//! | `document.rs` | documents of a few sections |
//! | `score.rs` | the audits, and what they found |

pub mod document;
pub mod fault;
pub mod log;
pub mod measured;
pub mod page;
pub mod score;
pub mod section;
