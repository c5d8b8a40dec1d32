//! One file per verb; parts of a verb are files in the directory of its name.

pub mod audit;
pub mod bench;
pub mod cancel;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod init;
pub mod internal;
pub mod list;
pub mod load;
pub mod man;
pub mod page;
pub mod plan;
pub mod query;
pub mod read;
pub mod rm;
pub mod run;
pub mod sample;
pub mod scrub;
pub mod serve_mock;
pub mod show;
pub mod status;
pub mod tour;

pub use crate::screen::JSON_SCHEMA;
