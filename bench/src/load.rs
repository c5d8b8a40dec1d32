//! Load clients on one core, a calibration endpoint on another.
//!
//! | file | holds |
//! |---|---|
//! | `load/server.rs` | the endpoint as a process of its own, and its true times |
//! | `load/client.rs` | clients as processes on their core: what they cost and what they say |
//! | `load/contest.rs` | all clients on the same work, in turns |
//! | `load/alone.rs` | what only this client is asked: other work on its core, many streams, pace, start, memory |

pub mod alone;
pub mod client;
pub mod contest;
pub mod server;

/// The core of the endpoint.
pub const SERVER_CORE: usize = 0;
/// The core of clients.
pub const CLIENT_CORE: usize = 1;
