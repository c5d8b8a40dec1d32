//! Write-ups with known truth: errors that their authors planted, and claims that hold.
//!
//! They stand in `bench/fixtures/writeups` with `truth.jsonl`. Nothing of the audit was used to write them.
//!
//! | file | holds |
//! |---|---|
//! | `truth.rs` | the documents, their errors and their true claims |
//! | `alarms.rs` | what an audit says is wrong |
//! | `score.rs` | planted errors found, false alarms, true claims flagged |
//! | `mutants.rs` | one number changed at a time, and whether that is noticed |
//! | `speed.rs` | what audits of long tables and of a write-up cost |

pub mod alarms;
pub mod mutants;
pub mod score;
pub mod speed;
pub mod truth;
