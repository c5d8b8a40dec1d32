//! An endpoint with an exact schedule, to measure a client against.
//!
//! It speaks enough HTTP/1.1 for chat completions, completions and embeddings, streaming and not, and can do all that
//! real servers do to confuse clients: a role chunk long before the first token, several tokens in a chunk, reasoning,
//! no usage, comments, events broken inside a character, streams that end too early. It keeps the true times of
//! everything it sends.
//!
//! One thread serves all streams. Moments are absolute and count from the kernel's timestamp of the request, so that
//! being late once makes nothing else late. Bytes are made before they are needed; timers stand in a wheel; a stream
//! that has something due makes one write.
//!
//! | file | holds |
//! |---|---|
//! | `schedule.rs` | what is sent and when, and what goes wrong |
//! | `plan.rs` | the steps of one stream |
//! | `render.rs` | bytes of answers |
//! | `request.rs`, `reply.rs` | requests, and what is answered |
//! | `serve.rs`, `slots.rs`, `wheel.rs` | the loop, who has to wait, and timers |
//! | `connections.rs`, `transport.rs`, `stream.rs` | connections, their bytes, and the stream on one |
//! | `sends.rs`, `summary.rs` | true send times, and what the endpoint says of itself |

mod connections;
mod plan;
mod render;
mod reply;
pub(crate) mod request;
mod schedule;
mod sends;
mod serve;
mod slots;
mod stream;
mod summary;
mod transport;
mod wheel;

pub use schedule::{Close, Failure, FailureKind, MockSchedule, UsageReport, When};
pub use sends::{Sent, StreamSends, read_sends};
pub use summary::CalibrationSummary;

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use sends::Book;
use serve::Serve;

/// Connections that may wait to be accepted: ten thousand clients may come at once.
const BACKLOG: i32 = 16_384;

/// How long before a moment the endpoint stops sleeping and only looks at its sockets: more is more exact and costs
/// more of its core.
const SPIN: Duration = Duration::from_micros(50);

/// A calibration endpoint that is bound to an address and does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    schedule: MockSchedule,
    tls: Option<Arc<rustls::ServerConfig>>,
    book: Book,
}

/// A calibration endpoint that serves on a thread of its own.
#[derive(Debug)]
pub struct Running {
    url: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<CalibrationSummary>>>,
}

impl Server {
    /// Binds an endpoint; port 0 takes any free port.
    pub fn bind(address: impl ToSocketAddrs, schedule: MockSchedule) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        // Listening again only makes the queue longer.
        rustix::net::listen(&listener, BACKLOG)?;
        // Some systems default to a control that paces what is sent by timers of its own, which would hold events back
        // after they were stamped. Connections take this over from the listener; where it is refused they stay as is.
        let _ = rustix::net::sockopt::set_tcp_congestion(&listener, "reno");
        let address = listener.local_addr()?;
        Ok(Self { listener, address, schedule, tls: None, book: Book::Closed })
    }

    /// Speaks TLS.
    pub fn with_tls(self, config: Arc<rustls::ServerConfig>) -> Self {
        Self { tls: Some(config), ..self }
    }

    /// Keeps the true send times in memory; they are in the summary.
    pub fn keeping_sends(self) -> Self {
        Self { book: Book::Memory(Vec::new()), ..self }
    }

    /// Writes the true send times to a file that [`read_sends`] reads.
    pub fn writing_sends(self, path: &Path) -> io::Result<Self> {
        Ok(Self { book: Book::create(path)?, ..self })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for clients.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/v1", self.address)
    }

    /// Serves until `stop` is set, which is noticed within a fiftieth of a second.
    pub fn run(self, stop: &AtomicBool) -> io::Result<CalibrationSummary> {
        allow_files();
        let spin = i64::try_from(SPIN.as_nanos()).unwrap_or(0);
        Serve::new(self.listener, self.schedule, self.tls, self.book, spin)?.run(stop)
    }

    /// Serves on a thread of its own.
    pub fn start(self) -> io::Result<Running> {
        let url = self.url();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread =
            std::thread::Builder::new().name("calibration".to_owned()).spawn(move || self.run(&flag))?;
        Ok(Running { url, stop, thread: Some(thread) })
    }
}

/// Raises the limit of open files as far as the system lets us: every stream is one.
fn allow_files() {
    let limit = getrlimit(Resource::Nofile);
    // Where this is refused, connections beyond the limit wait until others have gone.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

impl Running {
    /// The base URL for clients.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops, and returns what the endpoint did.
    pub fn stop(mut self) -> io::Result<CalibrationSummary> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(io::Error::other("the calibration endpoint broke down")),
        }
    }
}

impl Drop for Running {
    /// A test that fails must not leave a thread that spins.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
