//! The client against the calibration endpoint, over real sockets: every trap that servers set for clients, one by one,
//! and every fault. Times are held against the endpoint's own record of what it sent when, with margins for a busy
//! machine; how exact the client is, benches measure.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

mod arrivals;
mod faults;
mod hostile;
mod interfaces;
mod secure;
mod server;
mod support;
mod traps;
