//! One file a verb.

pub mod audit;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod exercise;
pub mod export;
pub mod init;
pub mod list;
pub mod man;
pub mod plan;
pub mod query;
pub mod read;
pub mod report;
pub mod run;
pub mod sample;
pub mod show;
pub mod tour;

/// The version of all JSON that this program prints; docs/json.md describes it.
pub const JSON_SCHEMA: u32 = 1;
