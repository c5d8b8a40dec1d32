//! A TCP socket that never blocks, and whose received bytes carry the time at which the kernel got them. The time of
//! arrival stays true when the reader is late, as long as it reads before the next packet comes.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Room for one control message with a timestamp.
const CONTROL_BYTES: usize = 64;

/// A connection to a server, or an attempt at one.
#[derive(Debug)]
pub(crate) struct Socket {
    descriptor: OwnedFd,
    /// The number of the descriptor, for the call that takes only numbers.
    number: i32,
}

/// What one read gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Received {
    /// How many bytes; none at the end of the stream.
    pub bytes: usize,
    /// When the last of them came, on the real-time clock.
    pub real_ns: Option<i64>,
}

impl Socket {
    /// Begins to connect. The socket becomes writable when [`Socket::connected`] knows the result.
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Socket> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let descriptor = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        // A request is written at once, and so is its last small piece.
        sockopt::set_tcp_nodelay(&descriptor, true)?;
        setsockopt(&descriptor, ReceiveTimestampns, &true)?;
        match rustix::net::connect(&descriptor, &address) {
            Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let number = descriptor.as_raw_fd();
        Ok(Socket { descriptor, number })
    }

    /// A connection that was accepted, and does not block already.
    pub(crate) fn accepted(descriptor: OwnedFd) -> io::Result<Socket> {
        sockopt::set_tcp_nodelay(&descriptor, true)?;
        setsockopt(&descriptor, ReceiveTimestampns, &true)?;
        let number = descriptor.as_raw_fd();
        Ok(Socket { descriptor, number })
    }

    /// How connecting went.
    pub(crate) fn connected(&self) -> io::Result<()> {
        sockopt::socket_error(&self.descriptor)?.map_err(io::Error::from)
    }

    /// Reads what is there.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Received> {
        let mut control = [0_u8; CONTROL_BYTES];
        let mut pieces = [IoSliceMut::new(buffer)];
        let message = recvmsg::<()>(self.number, &mut pieces, Some(&mut control), MsgFlags::empty())
            .map_err(io::Error::from)?;
        let stamps = message.cmsgs().map_err(io::Error::from)?.filter_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(time) => Some(time.tv_sec() * 1_000_000_000 + time.tv_nsec()),
            _ => None,
        });
        Ok(Received { real_ns: stamps.last(), bytes: message.bytes })
    }

    /// Writes as much as fits.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        // Without the flag, writing to a connection that the server has closed would end this program.
        Ok(rustix::net::send(&self.descriptor, bytes, rustix::net::SendFlags::NOSIGNAL)?)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;
    use crate::clock::Clock;

    /// Tries until it works or half a minute has gone.
    fn soon<T>(mut attempt: impl FnMut() -> io::Result<T>) -> T {
        for _ in 0..30_000 {
            match attempt() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                other => return other.unwrap(),
            }
        }
        panic!("nothing happened");
    }

    #[test]
    fn bytes_carry_the_time_of_their_arrival_and_not_of_their_reading() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = Socket::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        socket.connected().unwrap();
        let mut clock = Clock::start();
        let mut buffer = [0; 100];
        // The kernel may take a moment to begin stamping after the first socket has asked for it.
        server.write_all(b"x").unwrap();
        soon(|| socket.read(&mut buffer));
        std::thread::sleep(Duration::from_millis(20));
        let before = clock.now_ns();
        server.write_all(b"hello").unwrap();
        let after = clock.now_ns();
        std::thread::sleep(Duration::from_millis(30));
        clock.sample();
        let received = soon(|| socket.read(&mut buffer));
        assert_eq!(&buffer[..received.bytes], b"hello");
        let stamp = clock.of_real_ns(received.real_ns.unwrap());
        assert!(before - 100_000 <= stamp && stamp <= after + 5_000_000, "{before} {stamp} {after}");
        assert_eq!(soon(|| socket.write(b"back")), 4);
        let mut back = [0; 4];
        server.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"back");
        drop(server);
        assert_eq!(soon(|| socket.read(&mut buffer)).bytes, 0);
    }

    #[test]
    fn a_refused_connection_says_so() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let failed = Socket::connect(address).and_then(|socket| {
            std::thread::sleep(Duration::from_millis(50));
            socket.connected()
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
