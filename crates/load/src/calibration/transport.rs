//! Bytes to and from one client, plain or through TLS. What does not fit into the socket waits here.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection};

use crate::socket::Socket;
use crate::tls::Sending;

/// How much is read at once.
const READ_BYTES: usize = 16 * 1024;

/// A connection to a client.
pub(super) struct Transport {
    socket: Socket,
    tls: Option<Box<ServerConnection>>,
    /// What was not taken by the socket yet, and how much of it has been since.
    waiting: Vec<u8>,
    written: usize,
}

/// What reading gave.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Whether the client has closed its side.
    pub ended: bool,
    /// When the last bytes came, on the real-time clock.
    pub real_ns: Option<i64>,
}

impl Transport {
    /// A transport over an accepted connection.
    pub(super) fn new(socket: Socket, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        let tls = match tls {
            Some(config) => {
                let mut connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                connection.set_buffer_limit(None);
                Some(Box::new(connection))
            }
            None => None,
        };
        Ok(Self { socket, tls, waiting: Vec::new(), written: 0 })
    }

    /// Reads all that is there to the end of `input`.
    pub(super) fn read(&mut self, input: &mut Vec<u8>) -> io::Result<Arrival> {
        let mut buffer = [0_u8; READ_BYTES];
        let mut arrival = Arrival::default();
        loop {
            let received = match self.socket.read(&mut buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(arrival),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if received.bytes == 0 {
                return Ok(Arrival { ended: true, ..arrival });
            }
            arrival.real_ns = received.real_ns.or(arrival.real_ns);
            match &mut self.tls {
                None => input.extend_from_slice(&buffer[..received.bytes]),
                Some(tls) => decipher(tls, &buffer[..received.bytes], input)?,
            }
            // Only a read that filled the buffer can have left something: edges are reported, not levels.
            if received.bytes < READ_BYTES {
                break;
            }
        }
        if self.tls.is_some() {
            self.flush()?;
        }
        Ok(arrival)
    }

    /// Writes, or keeps what does not fit. Returns whether the socket took everything.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<bool> {
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(bytes)?;
            return self.flush();
        }
        if !self.is_clear() {
            self.waiting.extend_from_slice(bytes);
            return self.flush();
        }
        let written = taken(self.socket.write(bytes))?;
        if written == bytes.len() {
            return Ok(true);
        }
        self.waiting.extend_from_slice(&bytes[written..]);
        self.flush()
    }

    /// Writes what waits. Returns whether the socket took everything.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                match tls.write_tls(&mut Sending(&self.socket)) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
            return Ok(true);
        }
        while self.written < self.waiting.len() {
            let written = taken(self.socket.write(&self.waiting[self.written..]))?;
            if written == 0 {
                return Ok(false);
            }
            self.written += written;
        }
        self.waiting.clear();
        self.written = 0;
        Ok(true)
    }

    /// Whether nothing waits to be written.
    pub(super) fn is_clear(&self) -> bool {
        match &self.tls {
            Some(tls) => !tls.wants_write(),
            None => self.waiting.is_empty(),
        }
    }

    /// Says goodbye where the protocol has a word for it.
    pub(super) fn close(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            // The client may be gone already, and then nobody misses it.
            let _ = self.flush();
        }
    }

    /// Makes closing the socket a reset.
    pub(super) fn reset_on_close(&self) -> io::Result<()> {
        rustix::net::sockopt::set_socket_linger(&self.socket, Some(Duration::ZERO))?;
        Ok(())
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// How many bytes were taken; a full socket takes none.
fn taken(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
        other => other,
    }
}

/// Feeds what came to TLS and takes what it makes of it.
fn decipher(tls: &mut ServerConnection, mut bytes: &[u8], input: &mut Vec<u8>) -> io::Result<()> {
    while !bytes.is_empty() {
        tls.read_tls(&mut bytes)?;
        let state = tls.process_new_packets().map_err(io::Error::other)?;
        let from = input.len();
        input.resize(from + state.plaintext_bytes_to_read(), 0);
        tls.reader().read_exact(&mut input[from..])?;
    }
    Ok(())
}
