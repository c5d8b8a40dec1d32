//! Large logs, what they hold, and programs that search them.
//!
//! | file | holds |
//! |---|---|
//! | `logs.rs` | the logs that are read |
//! | `truth.rs` | what a log holds, by a plain scan, and what a reader says it holds |
//! | `searchers.rs` | the reader and its rivals |

pub mod logs;
pub mod searchers;
pub mod truth;
