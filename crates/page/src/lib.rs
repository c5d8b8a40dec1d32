//! A read-only web view over records, and records as studies for write-ups.
//!
//! | file | holds |
//! |---|---|
//! | `study.rs` | a record as a study: all that a write-up says about it |
//! | `site.rs` | what is served: records, write-ups, who may read |
//! | `catalog.rs` | the list of records, kept up to date by looking at their journals' lengths |
//! | `guard.rs` | which requests are answered at all: host, token, method |
//! | `respond.rs` | a request to a reply, without a socket |
//! | `views.rs`, `views/` | the pages |
//! | `made.rs` | reports that were made lately |
//! | `live.rs` | a record while it runs, as server-sent events |
//! | `server.rs` | sockets |

mod catalog;
mod guard;
mod live;
mod made;
mod respond;
mod server;
mod site;
pub mod study;
mod views;

pub use guard::AccessToken;
pub use respond::{Reply, respond};
pub use server::{PageError, Server};
pub use site::{AuditOf, Audited, DefaultsOf, Site};
