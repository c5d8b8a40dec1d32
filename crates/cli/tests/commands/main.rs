//! Whole commands as a user types them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod attacks;
mod auditing;
mod bench;
mod chat;
mod hardening;
mod hosts;
mod interruptions;
mod json;
mod judging;
mod load;
mod load_files;
mod measuring;
mod origin;
mod own_material;
mod reading;
mod refusals;
mod verbs;
mod view;
mod workloads;
