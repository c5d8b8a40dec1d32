//! Load on endpoints: requests that go out at intended times, streams whose tokens are stamped by the kernel when they
//! arrive, and one record per request. This room emits records and computes no averages.
//!
//! | file | holds |
//! |---|---|
//! | `run.rs`, `run/` | a whole load: endpoints, arrivals, warm-up, threads, error budget, stop flag |
//! | `arrivals.rs`, `arrivals/` | intended send times: closed loop, rates, traces, conversations |
//! | `prompts.rs`, `prompts/`, `score.rs` | what is asked, and how good the answers are |
//! | `pacer.rs` | waking at an intended time |
//! | `request.rs`, `token.rs` | one request as bytes; where its bearer token comes from |
//! | `reactor.rs` | the single-threaded loop that reads ready sockets in batches |
//! | `socket.rs`, `clock.rs` | TCP with kernel timestamps, and their clock |
//! | `tls.rs`, `connection.rs` | TLS and HTTP/1.1 over such a socket |
//! | `exchange.rs` | one request while it goes on: bytes and stamps |
//! | `sse.rs`, `answer.rs` | what the bytes say: events, chunks, usage, faults |
//! | `hostile.rs` | the parts that read strangers' bytes, for fuzzing |
//! | `fault.rs` | everything that can go wrong with a request, by kind, with its hint |
//! | `ask.rs` | one question, answered whole, with bounds: nothing is measured by it |
//! | `metrics.rs`, `metrics/` | what a server counts itself, before and after |
//! | `record.rs`, `record/` | finished requests, and the file they are kept in |
//! | `calibration.rs`, `calibration/` | an endpoint with an exact schedule, to measure this client against |

mod answer;
pub mod arrivals;
pub mod ask;
pub mod calibration;
pub mod clock;
mod connection;
mod exchange;
pub mod fault;
#[doc(hidden)]
pub mod hostile;
pub mod metrics;
pub mod pacer;
pub mod prompts;
mod reactor;
pub mod record;
pub mod request;
pub mod run;
pub mod score;
mod socket;
mod sse;
pub mod tls;
pub mod token;

pub use fault::{Fault, FaultKind};
pub use record::{Chunk, ChunkKind, Exchange, Health, ServerTimes, Usage};
