//! Records as studies for write-ups; a read-only web view over records.

pub mod study;
