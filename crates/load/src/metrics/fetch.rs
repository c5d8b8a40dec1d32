//! Getting a page, once and plainly: a connection of its own, which ends with the answer.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::MetricsError;
use crate::request::{Endpoint, Page};
use crate::tls::Trust;

/// How long the whole page may take: one that is not there soon is not worth waiting for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest page that is taken.
const MOST_BYTES: usize = 16 << 20;

/// Gets a page.
pub(super) fn fetch(endpoint: &Endpoint, page: &Page) -> Result<String, MetricsError> {
    let answer =
        ask(page, endpoint).map_err(|source| MetricsError::Read { url: page.url.clone(), source })?;
    let wrong =
        |why: &str| MetricsError::Read { url: page.url.clone(), source: io::Error::other(why.to_owned()) };
    let end =
        answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or_else(|| wrong("it is no HTTP"))?;
    let head = String::from_utf8_lossy(&answer[..end]);
    let status = head.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    match status.ok_or_else(|| wrong("it is no HTTP"))? {
        200 => {}
        status => return Err(MetricsError::Status { url: page.url.clone(), status }),
    }
    let body = &answer[end + 4..];
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { joined(body).ok_or_else(|| wrong("it breaks off"))? } else { body.to_vec() };
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Sends the request and reads everything that comes back.
fn ask(page: &Page, endpoint: &Endpoint) -> io::Result<Vec<u8>> {
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\nUser-Agent: assay\r\n{}Connection: close\r\n\r\n",
        page.path,
        page.authority,
        page.authorization()
    );
    let trust = || Trust::new(&page.host, endpoint.authority.as_deref(), endpoint.insecure);
    let trust = page.is_secure.then(trust).transpose().map_err(io::Error::other)?;
    let limits = FetchLimits { deadline: Instant::now() + PATIENCE, most_bytes: MOST_BYTES };
    exchange(&page.address, trust.as_ref(), request.as_bytes(), &limits)
}

/// What one answer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FetchLimits {
    pub(crate) deadline: Instant,
    pub(crate) most_bytes: usize,
}

/// Sends a request over a connection of its own and reads what comes back, up to the limits.
pub(crate) fn exchange(
    address: &SocketAddr,
    trust: Option<&Trust>,
    request: &[u8],
    limits: &FetchLimits,
) -> io::Result<Vec<u8>> {
    let patience = limits.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let socket = TcpStream::connect_timeout(address, patience)?;
    let mut socket = WithDeadline { socket, deadline: limits.deadline };
    let Some(trust) = trust else {
        socket.write_all(request)?;
        return whole(socket, limits.most_bytes);
    };
    let mut channel = rustls::StreamOwned::new(trust.connection().map_err(io::Error::other)?, socket);
    channel.write_all(request)?;
    whole(channel, limits.most_bytes)
}

/// A socket that is given up at a time, however often it brings a byte.
struct WithDeadline {
    socket: TcpStream,
    deadline: Instant,
}

impl WithDeadline {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for WithDeadline {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(buffer)
    }
}

impl Write for WithDeadline {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Reads until the answer is complete: some servers keep a connection open although they were asked to close it. A server
/// that ends a secure channel without saying so has said everything all the same.
fn whole(mut channel: impl Read, most_bytes: usize) -> io::Result<Vec<u8>> {
    let (mut answer, mut piece) = (Vec::new(), [0; 16 << 10]);
    while answer.len() < most_bytes && !is_complete(&answer) {
        match channel.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

/// Whether an answer says itself that it has ended.
fn is_complete(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    match length.and_then(|length| length.trim().parse::<usize>().ok()) {
        Some(length) => answer.len() - end - 4 >= length,
        None => answer.ends_with(b"\r\n0\r\n\r\n") && head.contains("transfer-encoding: chunked"),
    }
}

/// The body of a chunked answer; none if it breaks off.
pub(crate) fn joined(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|bytes| bytes == b"\r\n")?;
        let size = std::str::from_utf8(rest.get(..line)?).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = rest.get(line + 2..)?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size.checked_add(2)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_drips_is_given_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let deadline = Instant::now() + Duration::from_millis(200);
        let socket = WithDeadline { socket: TcpStream::connect(address).unwrap(), deadline };
        assert!(whole(socket, MOST_BYTES).is_err());
        assert!(Instant::now() < deadline + Duration::from_secs(5));
    }

    #[test]
    fn an_answer_that_is_complete_is_not_waited_for() {
        for (text, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\n\r\nabc", false),
            ("HTTP/1.1 200", false),
        ] {
            assert_eq!(is_complete(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn chunks_are_joined_and_broken_ones_refused() {
        assert_eq!(joined(b"3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n").unwrap(), b"abcde");
        for broken in [&b"3\r\nab"[..], b"zz\r\n", b"", b"ffffffffffffffff\r\na", b"3\r\nabc\r\n"] {
            assert_eq!(joined(broken), None, "{broken:?}");
        }
    }
}
