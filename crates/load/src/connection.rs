//! One HTTP/1.1 connection: hyper speaks the protocol, this file moves it along whenever its socket is ready. There is no
//! runtime and nothing is woken: whoever owns the connection calls [`Connection::drive`].

pub(crate) mod chunks;
mod line;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1;

use crate::clock::Clock;
use crate::fault::{Fault, FaultKind};
use crate::reactor::Ready;
use crate::tls::Trust;
use chunks::Chunks;
use line::{SocketLine, SocketState};

/// What all connections of a thread share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The clock of the load.
    pub clock: Cell<Clock>,
    /// Where reads go first.
    scratch: RefCell<Box<[u8]>>,
    /// Where the chunks of one read go.
    taken: RefCell<Vec<u8>>,
    /// The read buffer of a connection, in bytes.
    read_bytes: usize,
    /// Reads that gave bytes.
    pub reads: Cell<u64>,
    /// Reads whose bytes had no timestamp.
    pub unstamped: Cell<u64>,
}

impl Shared {
    /// What the connections of a thread with this many streams share.
    pub(crate) fn new(clock: Clock, streams: usize, header_bytes: Option<usize>) -> Shared {
        // Thousands of streams with large buffers would need more memory than their data is worth. The buffer is also
        // the limit of a head, which hyper keeps whole.
        let usual = if streams > 512 { 8 << 10 } else { 32 << 10 };
        let read_bytes = header_bytes.unwrap_or(usual).max(1 << 10);
        Shared {
            clock: Cell::new(clock),
            scratch: RefCell::new(vec![0; 32 << 10].into()),
            taken: RefCell::new(Vec::with_capacity(32 << 10)),
            read_bytes,
            reads: Cell::new(0),
            unstamped: Cell::new(0),
        }
    }
}

/// A request's body.
pub(crate) struct Payload(Option<Bytes>);

impl Body for Payload {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// What happened on a connection.
pub(crate) enum ConnectionEvent<'a> {
    /// It is established, and secure if it should be.
    Connected(i64),
    /// The head of an answer came.
    Head(http::response::Parts, i64),
    /// Bytes of an answer's body came, with the number of pieces.
    Data(&'a [u8], u32, i64),
    /// The answer is complete.
    End(i64),
    /// It failed: nothing more will happen.
    Failed(Fault, i64),
}

/// A server that sends more without a single pause would hold the client for ever: limits and deadlines are looked at
/// when a connection has nothing more to read.
const MOST_WITHOUT_PAUSE: usize = 32 << 20;

fn without_pause() -> Fault {
    Fault::new(FaultKind::TooLarge, format!("more than {} MiB without a pause", MOST_WITHOUT_PAUSE >> 20))
}

/// Receives what happens.
type Sink<'a> = &'a mut dyn FnMut(ConnectionEvent<'_>);

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    Securing,
    Open,
    Dead,
}

type Answer = Pin<Box<dyn Future<Output = hyper::Result<http::Response<Incoming>>>>>;

/// One connection and the request on it.
pub(crate) struct Connection {
    state: Rc<RefCell<SocketState>>,
    shared: Rc<Shared>,
    stage: Stage,
    http: Option<Protocol>,
    waiting: Option<http::Request<Payload>>,
    answer: Option<Answer>,
    body: Option<Incoming>,
    /// Whether chunks of an answer are read without hyper, which has been let go.
    is_without_hyper: bool,
    /// Whether hyper is shown an answer again of which the head was reported.
    is_shown_again: bool,
}

struct Protocol {
    sender: http1::SendRequest<Payload>,
    driver: Pin<Box<http1::Connection<SocketLine, Payload>>>,
}

impl Connection {
    /// Begins to connect.
    pub(crate) fn open(
        shared: &Rc<Shared>,
        address: SocketAddr,
        trust: Option<&Trust>,
    ) -> Result<Connection, Fault> {
        let state = SocketState::connect(address, trust)?;
        Ok(Connection {
            state: Rc::new(RefCell::new(state)),
            shared: Rc::clone(shared),
            stage: Stage::Connecting,
            http: None,
            waiting: None,
            answer: None,
            body: None,
            is_without_hyper: false,
            is_shown_again: false,
        })
    }

    /// Runs `work` with the descriptor to watch.
    pub(crate) fn with_descriptor<T>(&self, work: impl FnOnce(BorrowedFd<'_>) -> T) -> T {
        work(self.state.borrow().descriptor())
    }

    /// Whether another request can be made on it.
    pub(crate) fn is_free(&self) -> bool {
        self.stage == Stage::Open
            && self.answer.is_none()
            && self.body.is_none()
            && !self.is_without_hyper
            && self.waiting.is_none()
            && self.http.as_ref().is_none_or(|http| http.sender.is_ready())
    }

    /// Whether it waits until it can write.
    pub(crate) fn wants_writable(&self) -> bool {
        self.stage == Stage::Connecting || self.state.borrow().is_full
    }

    /// When the first byte of the last request was handed to the system.
    pub(crate) fn sent_ns(&self) -> Option<i64> {
        self.state.borrow().sent_ns
    }

    /// The longest time that bytes waited to be read since this was asked last, in nanoseconds.
    pub(crate) fn take_lag_ns(&self) -> i64 {
        std::mem::take(&mut self.state.borrow_mut().lag_ns)
    }

    /// Makes a request; it is sent as soon as the connection is established. `head` has everything but the body.
    pub(crate) fn request(&mut self, head: http::Request<()>, body: Bytes, sink: Sink<'_>) {
        self.state.borrow_mut().begin();
        self.waiting = Some(head.map(|()| Payload(Some(body))));
        if self.stage == Stage::Open {
            self.drive(Ready::default(), sink);
        }
    }

    /// Goes on as far as possible with what the system reported of the socket.
    pub(crate) fn drive(&mut self, ready: Ready, sink: Sink<'_>) {
        self.state.borrow_mut().note_ready(ready);
        if let Err(fault) = self.advance(ready, sink) {
            self.stage = Stage::Dead;
            self.http = None;
            (self.answer, self.body, self.is_without_hyper) = (None, None, false);
            sink(ConnectionEvent::Failed(fault, self.now_ns()));
        }
    }

    fn advance(&mut self, ready: Ready, sink: Sink<'_>) -> Result<(), Fault> {
        if self.stage == Stage::Connecting && (ready.readable || ready.writable) {
            self.state.borrow().socket.connected().map_err(|error| Fault::of_connecting(&error))?;
            self.stage = Stage::Securing;
        }
        if self.stage == Stage::Securing {
            let mut scratch = self.shared.scratch.borrow_mut();
            if !self.state.borrow_mut().shake_hands(&mut scratch)? {
                return Ok(());
            }
            drop(scratch);
            self.stage = Stage::Open;
            sink(ConnectionEvent::Connected(self.now_ns()));
        }
        if self.stage == Stage::Open {
            // An idle connection that stirs has ended, or says something that nobody asked for: hyper knows which.
            if self.http.is_none() && !self.is_without_hyper {
                self.speak_http()?;
            }
            if let (Some(http), Some(request)) = (&mut self.http, self.waiting.take()) {
                self.answer = Some(Box::pin(http.sender.send_request(request)));
            }
            self.exchange(ready.writable, sink)?;
            self.let_hyper_go();
        }
        Ok(())
    }

    /// Hands the socket to hyper. Its handshake is complete as soon as it is asked for.
    fn speak_http(&mut self) -> Result<(), Fault> {
        let line = SocketLine::new(Rc::clone(&self.state), Rc::clone(&self.shared));
        let mut builder = http1::Builder::new();
        builder.read_buf_exact_size(Some(self.shared.read_bytes)).writev(false);
        let handshake = std::pin::pin!(builder.handshake(line));
        match handshake.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok((sender, driver))) => {
                self.http = Some(Protocol { sender, driver: Box::pin(driver) });
                Ok(())
            }
            Poll::Ready(Err(error)) => Err(Fault::new(FaultKind::Connect, error.to_string())),
            Poll::Pending => Err(Fault::new(FaultKind::Connect, "the protocol did not begin")),
        }
    }

    /// Drops hyper and its buffers where it has nothing to do: while chunks come, and while no request is under way.
    fn let_hyper_go(&mut self) {
        let state = self.state.borrow();
        let all_is_sent = !state.is_full;
        if self.body.is_some() && state.chunks.are_read_here() && all_is_sent {
            self.is_without_hyper = true;
            (self.body, self.http) = (None, None);
        } else if self.is_free() && all_is_sent && !state.is_readable {
            self.http = None;
        }
    }

    /// Shows hyper the answer again that was read without it: the head, and then what is left.
    fn call_hyper_back(&mut self, context: &mut Context<'_>) -> Result<(), Fault> {
        self.is_without_hyper = false;
        self.speak_http()?;
        let Some(http) = &mut self.http else { return Ok(()) };
        self.state.borrow_mut().is_sent_before = true;
        let mut again = http::Request::new(Payload(None));
        *again.method_mut() = http::Method::POST;
        self.answer = Some(Box::pin(http.sender.send_request(again)));
        self.is_shown_again = true;
        // It writes first, and is not given anything to read until it has.
        let ended = http.driver.as_mut().poll(context);
        let mut state = self.state.borrow_mut();
        state.is_sent_before = false;
        state.chunks.show_again();
        match ended {
            Poll::Ready(Err(error)) => Err(of_protocol(&error, true)),
            _ => Ok(()),
        }
    }

    /// Lets hyper read at most once between two looks at what it has made of it, so that every piece of an answer can
    /// be given the timestamp of the read that completed it.
    fn exchange(&mut self, is_writable: bool, sink: Sink<'_>) -> Result<(), Fault> {
        let mut context = Context::from_waker(Waker::noop());
        // Whoever could not write all of a request has something left to write.
        let mut must_write = is_writable;
        for read in 0.. {
            if read * self.shared.read_bytes > MOST_WITHOUT_PAUSE {
                return Err(without_pause());
            }
            let is_begun = self.body.is_some() || self.is_without_hyper;
            if is_begun && (self.is_without_hyper || !must_write) && self.take_chunks(&mut context, sink)? {
                return Ok(());
            }
            self.state.borrow_mut().may_read = true;
            let Some(http) = &mut self.http else { return Ok(()) };
            let ended = match http.driver.as_mut().poll(&mut context) {
                Poll::Pending => None,
                Poll::Ready(result) => Some(result),
            };
            let progressed = self.take_answer(&mut context, sink)? | self.take_body(&mut context, sink)?;
            if let Some(result) = ended {
                return self.ended(result, progressed, &mut context, sink);
            }
            let state = self.state.borrow();
            // A full read may have left something behind, which only another read shows.
            let is_left = state.is_readable && !state.may_read;
            if !(progressed || is_left || must_write) {
                return Ok(());
            }
            must_write = false;
        }
        Ok(())
    }

    fn take_answer(&mut self, context: &mut Context<'_>, sink: Sink<'_>) -> Result<bool, Fault> {
        let Some(answer) = &mut self.answer else { return Ok(false) };
        let Poll::Ready(result) = answer.as_mut().poll(context) else { return Ok(false) };
        self.answer = None;
        let is_shown_again = std::mem::take(&mut self.is_shown_again);
        let (parts, body) = result.map_err(|error| of_protocol(&error, is_shown_again))?.into_parts();
        if !is_shown_again {
            sink(ConnectionEvent::Head(parts, self.stamp_ns()));
        }
        self.body = Some(body);
        Ok(true)
    }

    /// Reads the chunks of a stream past hyper, which would need longer for each than everything else together. True if
    /// there is nothing for hyper to do.
    fn take_chunks(&mut self, context: &mut Context<'_>, sink: Sink<'_>) -> Result<bool, Fault> {
        let mut state = self.state.borrow_mut();
        if !state.chunks.are_read_here() {
            return Ok(false);
        }
        let (mut scratch, mut taken) = (self.shared.scratch.borrow_mut(), self.shared.taken.borrow_mut());
        let (mut count, mut received) = (0, 0);
        loop {
            received += count;
            if received > MOST_WITHOUT_PAUSE {
                return Err(without_pause());
            }
            taken.clear();
            let pieces = state.chunks.take(&scratch[..count], &mut taken);
            if pieces > 0 {
                let stamp = state.stamp_ns.unwrap_or_else(|| self.now_ns());
                sink(ConnectionEvent::Data(&taken, pieces, stamp));
            }
            if !state.chunks.are_read_here() {
                break;
            }
            state.may_read = true;
            count = match state.read(&mut scratch, &self.shared) {
                Ok(count) if count > 0 => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                // An end or an error is for hyper, which meets it again.
                _ => {
                    state.is_readable = true;
                    state.chunks.leave();
                    break;
                }
            };
        }
        // Where there is more to read, or an end to be seen, hyper decides whether the connection can be used again.
        let is_over = self.is_without_hyper && !state.is_readable && state.chunks.is_plainly_over();
        drop((state, scratch, taken));
        if is_over {
            self.is_without_hyper = false;
            self.state.borrow_mut().chunks = Chunks::default();
            sink(ConnectionEvent::End(self.stamp_ns()));
            return Ok(true);
        }
        if self.is_without_hyper {
            self.call_hyper_back(context)?;
        }
        // Hyper takes what is left once somebody has asked for it.
        self.take_body(context, sink)?;
        Ok(false)
    }

    fn take_body(&mut self, context: &mut Context<'_>, sink: Sink<'_>) -> Result<bool, Fault> {
        // One look for each turn of the driver: a second one would nearly always find nothing.
        let Some(body) = &mut self.body else { return Ok(false) };
        match Pin::new(body).poll_frame(context) {
            Poll::Pending => return Ok(false),
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    sink(ConnectionEvent::Data(&data, 1, self.stamp_ns()));
                }
            }
            Poll::Ready(Some(Err(error))) => return Err(of_protocol(&error, true)),
            Poll::Ready(None) => {
                self.body = None;
                sink(ConnectionEvent::End(self.stamp_ns()));
            }
        }
        Ok(true)
    }

    /// The protocol has ended: what it still holds is taken, and then the connection is of no more use.
    fn ended(
        &mut self,
        result: hyper::Result<()>,
        mut progressed: bool,
        context: &mut Context<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Fault> {
        while progressed {
            progressed = self.take_answer(context, sink)? | self.take_body(context, sink)?;
        }
        let is_idle = self.answer.is_none() && self.body.is_none();
        self.stage = Stage::Dead;
        self.http = None;
        match result {
            Err(error) if !is_idle => Err(of_protocol(&error, self.body.is_some())),
            Ok(()) if !is_idle => Err(Fault::new(FaultKind::Closed, "the server closed the connection")),
            _ => Ok(()),
        }
    }

    /// Whether it can be thrown away: it has failed or ended.
    pub(crate) fn is_dead(&self) -> bool {
        self.stage == Stage::Dead
    }

    /// Whether it still tries to reach the server.
    pub(crate) fn is_connecting(&self) -> bool {
        matches!(self.stage, Stage::Connecting | Stage::Securing)
    }

    /// Whether it is connected, and its channel is not secure yet.
    pub(crate) fn is_securing(&self) -> bool {
        self.stage == Stage::Securing
    }

    fn stamp_ns(&self) -> i64 {
        self.state.borrow().stamp_ns.unwrap_or_else(|| self.now_ns())
    }

    fn now_ns(&self) -> i64 {
        self.shared.clock.get().now_ns()
    }
}

/// The fault of an error of hyper.
fn of_protocol(error: &hyper::Error, has_begun: bool) -> Fault {
    use std::error::Error;
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let message = format!("{error}{cause}");
    let io_kind = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    let kind = match io_kind {
        Some(io::ErrorKind::InvalidData) => FaultKind::Tls,
        _ if error.is_parse_too_large() => FaultKind::TooLarge,
        _ if has_begun => FaultKind::Cut,
        _ if error.is_parse() => FaultKind::Malformed,
        _ => FaultKind::Closed,
    };
    Fault::new(kind, message)
}
