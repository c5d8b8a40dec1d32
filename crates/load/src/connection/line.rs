//! The socket as hyper sees it. It reads only when the system says that there is something, and notes when that came.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use super::Shared;
use super::chunks::Chunks;
use crate::fault::{Fault, FaultKind};
use crate::reactor::Ready;
use crate::socket::{Received, Socket};
use crate::tls::{Channel, Trust, handshake_fault};

/// The socket and what is known of it.
pub(super) struct SocketState {
    pub(super) socket: Socket,
    tls: Option<Box<Channel>>,
    /// The system said that there is something to read, and not all of it has been read.
    pub(super) is_readable: bool,
    /// The other side has said its last: reading goes on until that has been seen.
    is_ending: bool,
    /// Reading is allowed: once between two looks at what came.
    pub(super) may_read: bool,
    /// The chunks of the answer that is being read.
    pub(super) chunks: Chunks,
    /// The system took less than it was given.
    pub(super) is_full: bool,
    /// Hyper is shown an answer again, and what it writes was sent before.
    pub(super) is_sent_before: bool,
    /// When the bytes of the last read came.
    pub(super) stamp_ns: Option<i64>,
    /// When the first byte of the last request was handed to the system.
    pub(super) sent_ns: Option<i64>,
    /// The longest time that bytes waited.
    pub(super) lag_ns: i64,
}

impl SocketState {
    /// A socket that begins to connect.
    pub(super) fn connect(address: SocketAddr, trust: Option<&Trust>) -> Result<SocketState, Fault> {
        let socket = Socket::connect(address).map_err(|error| Fault::of_connecting(&error))?;
        let tls = trust.map(Channel::new).transpose();
        let tls = tls.map_err(|error| Fault::new(FaultKind::Tls, error.to_string()))?;
        Ok(SocketState {
            socket,
            tls: tls.map(Box::new),
            is_readable: false,
            is_ending: false,
            may_read: true,
            chunks: Chunks::default(),
            is_full: false,
            is_sent_before: false,
            stamp_ns: None,
            sent_ns: None,
            lag_ns: 0,
        })
    }

    /// Another request begins.
    pub(super) fn begin(&mut self) {
        self.sent_ns = None;
        self.chunks = Chunks::default();
    }

    /// Notes what the system reported of the socket.
    pub(super) fn note_ready(&mut self, ready: Ready) {
        self.is_readable |= ready.readable;
        self.is_ending |= ready.ended;
        self.is_full &= !ready.writable;
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Goes on with the handshake; true when there is nothing left of it.
    pub(super) fn shake_hands(&mut self, scratch: &mut [u8]) -> Result<bool, Fault> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        let failed = |error: io::Error| handshake_fault(&error);
        loop {
            match tls.flush(&self.socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_full = true,
                other => other.map_err(failed)?,
            }
            if !tls.is_shaking_hands() {
                return Ok(true);
            }
            if !self.is_readable {
                return Ok(false);
            }
            match tls.feed(&self.socket, scratch) {
                Ok(Received { bytes: 0, .. }) => {
                    return Err(Fault::new(
                        FaultKind::Tls,
                        "the server closed the connection during the TLS handshake",
                    ));
                }
                Ok(received) => self.is_readable = received.bytes == scratch.len() || self.is_ending,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_readable = false,
                Err(error) => {
                    // The server learns why, as far as possible.
                    let _ = tls.flush(&self.socket);
                    return Err(failed(error));
                }
            }
        }
    }

    /// Reads from the socket if that is allowed and useful: into `scratch`, or through TLS.
    pub(super) fn read(&mut self, scratch: &mut [u8], shared: &Shared) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            let received = self.receive(shared, |state| state.socket.read(scratch))?;
            self.is_readable = self.is_more(received, scratch);
            return Ok(received.bytes);
        };
        match tls.read(scratch) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => return other,
        }
        let received = self.receive(shared, |state| match &mut state.tls {
            Some(tls) => tls.feed(&state.socket, scratch),
            None => state.socket.read(scratch),
        })?;
        self.is_readable = self.is_more(received, scratch);
        match &mut self.tls {
            Some(tls) => tls.read(scratch),
            None => Ok(received.bytes),
        }
    }

    /// Whether there may be more to read: a full read may have left something, and an end is there to be seen.
    fn is_more(&self, received: Received, scratch: &[u8]) -> bool {
        received.bytes == scratch.len() || (self.is_ending && received.bytes > 0)
    }

    fn receive(
        &mut self,
        shared: &Shared,
        read: impl FnOnce(&mut SocketState) -> io::Result<Received>,
    ) -> io::Result<Received> {
        if !(self.is_readable && self.may_read) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.may_read = false;
        let received = read(self).inspect_err(|error| {
            if error.kind() == io::ErrorKind::WouldBlock {
                self.is_readable = false;
            }
        })?;
        if received.bytes > 0 {
            self.note(received, shared);
        }
        Ok(received)
    }

    fn note(&mut self, received: Received, shared: &Shared) {
        shared.reads.set(shared.reads.get() + 1);
        let clock = shared.clock.get();
        let now = clock.now_ns();
        // A stamp cannot lie ahead of the reading, whatever the two clocks say.
        let stamp = match received.real_ns {
            Some(real) => clock.of_real_ns(real).min(now),
            None => {
                shared.unstamped.set(shared.unstamped.get() + 1);
                now
            }
        };
        self.lag_ns = self.lag_ns.max(now - stamp);
        self.stamp_ns = Some(self.stamp_ns.map_or(stamp, |last| last.max(stamp)));
    }

    fn write(&mut self, bytes: &[u8], shared: &Shared) -> io::Result<usize> {
        if self.is_sent_before {
            return Ok(bytes.len());
        }
        if self.is_full {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if self.sent_ns.is_none() {
            self.sent_ns = Some(shared.clock.get().now_ns());
        }
        let written = match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => tls.write(bytes).and_then(|count| match tls.flush(&self.socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.is_full = true;
                    Ok(count)
                }
                other => other.map(|()| count),
            }),
        };
        if matches!(&written, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.is_full = true;
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let flushed = tls.flush(&self.socket);
        self.is_full = matches!(&flushed, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        flushed
    }
}

/// What hyper holds.
pub(super) struct SocketLine {
    state: Rc<RefCell<SocketState>>,
    shared: Rc<Shared>,
}

impl SocketLine {
    pub(super) fn new(state: Rc<RefCell<SocketState>>, shared: Rc<Shared>) -> SocketLine {
        SocketLine { state, shared }
    }
}

/// Nothing is woken: who would block is asked again when the socket is ready.
fn poll<T>(result: io::Result<T>) -> Poll<io::Result<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        other => Poll::Ready(other),
    }
}

impl Read for SocketLine {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.state.borrow_mut();
        if state.chunks.are_read_here() || state.is_sent_before {
            return Poll::Pending;
        }
        if let Some(left) = state.chunks.take_left(cursor.remaining()) {
            cursor.put_slice(&left);
            return Poll::Ready(Ok(()));
        }
        let mut scratch = self.shared.scratch.borrow_mut();
        let most = cursor.remaining().min(scratch.len());
        let scratch = &mut scratch[..most];
        let count = match state.read(scratch, &self.shared) {
            // A channel that ends without saying so ends all the same; whether the answer is complete is seen by it.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            other => other,
        };
        poll(count.map(|count| cursor.put_slice(state.chunks.left_for_hyper(&scratch[..count]))))
    }
}

impl Write for SocketLine {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        poll(self.state.borrow_mut().write(bytes, &self.shared))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll(self.state.borrow_mut().flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.state.borrow_mut();
        if let Some(tls) = &mut state.tls {
            tls.close();
        }
        // Nobody waits for this; dropping the socket closes it.
        let _ = state.flush();
        Poll::Ready(Ok(()))
    }
}
