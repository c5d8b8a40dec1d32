//! One file a verb.

pub mod audit;
pub mod bench;
pub mod compare;
pub mod completions;
pub mod data;
pub mod doctor;
pub mod exercise;
pub mod export;
pub mod init;
pub mod list;
pub mod load;
pub mod man;
pub mod plan;
pub mod query;
pub mod read;
pub mod report;
pub mod run;
pub mod sample;
pub mod serve_mock;
pub mod show;
pub mod tour;
pub mod train;
pub mod work;

pub use crate::screen::JSON_SCHEMA;
