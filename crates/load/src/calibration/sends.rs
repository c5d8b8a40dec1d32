//! When the endpoint really sent what: every write of every stream, to hold a client's numbers against.
//!
//! In a file a stream is a few bytes more than three per write: integers of variable length, times as differences
//! from the time before.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// What a file of send times begins with.
const MAGIC: &[u8; 8] = b"assaysd1";

/// The sends of one stream. Times are nanoseconds of the monotonic clock, which all processes of a machine share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSends {
    /// The request's number, from 1, as it arrived.
    pub request: u64,
    /// The number that the client gave the request: at the end of its `X-Request-Id`, or after the last `#` of what it
    /// says.
    pub client: Option<u64>,
    /// The place of its connection among the connections.
    pub connection: u32,
    /// When the kernel received the last byte of the request.
    pub arrived_ns: i64,
    /// All writes, in order.
    pub writes: Vec<Sent>,
}

/// One write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Just before the bytes were handed to the kernel.
    pub at_ns: i64,
    /// Events in it.
    pub events: u32,
    /// Tokens in it.
    pub tokens: u32,
}

impl StreamSends {
    /// When the first token was sent.
    pub fn first_token_ns(&self) -> Option<i64> {
        self.writes.iter().find(|sent| sent.tokens > 0).map(|sent| sent.at_ns)
    }

    /// When the last token was sent.
    pub fn last_token_ns(&self) -> Option<i64> {
        self.writes.iter().rev().find(|sent| sent.tokens > 0).map(|sent| sent.at_ns)
    }

    /// All tokens.
    pub fn tokens(&self) -> u64 {
        self.writes.iter().map(|sent| u64::from(sent.tokens)).sum()
    }
}

/// Where send times are kept.
#[derive(Debug)]
pub(super) enum Book {
    /// Nowhere.
    Closed,
    /// In memory.
    Memory(Vec<StreamSends>),
    /// In a file.
    File(BufWriter<File>),
}

impl Book {
    /// A book in a new file.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(MAGIC)?;
        Ok(Self::File(file))
    }

    /// Whether anything is kept.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// Keeps the sends of a stream that has ended.
    pub(super) fn keep(&mut self, stream: StreamSends) -> io::Result<()> {
        match self {
            Self::Closed => Ok(()),
            Self::Memory(streams) => {
                streams.push(stream);
                Ok(())
            }
            Self::File(file) => file.write_all(&encode(&stream)),
        }
    }

    /// Ends the book. Gives what was kept in memory.
    pub(super) fn close(self) -> io::Result<Vec<StreamSends>> {
        match self {
            Self::Closed => Ok(Vec::new()),
            Self::Memory(streams) => Ok(streams),
            Self::File(mut file) => file.flush().map(|()| Vec::new()),
        }
    }
}

/// Reads a file of send times. What was cut off at the end by a crash is left out.
pub fn read_sends(path: &Path) -> io::Result<Vec<StreamSends>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "this is not a file of send times"));
    };
    Ok(std::iter::from_fn(|| decode(&mut rest)).collect())
}

fn encode(stream: &StreamSends) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + stream.writes.len() * 5);
    put(&mut out, stream.request);
    put(&mut out, stream.client.map_or(0, |client| client.saturating_add(1)));
    put(&mut out, stream.connection.into());
    put(&mut out, stream.arrived_ns as u64);
    put(&mut out, stream.writes.len() as u64);
    let mut before = stream.arrived_ns;
    for sent in &stream.writes {
        put(&mut out, (sent.at_ns - before).max(0) as u64);
        // Nearly always one event of one token: one byte.
        put(&mut out, (u64::from(sent.events) << 3) | u64::from(sent.tokens.min(7)));
        if sent.tokens >= 7 {
            put(&mut out, sent.tokens.into());
        }
        before = before.max(sent.at_ns);
    }
    out
}

fn decode(rest: &mut &[u8]) -> Option<StreamSends> {
    let request = take(rest)?;
    let client = take(rest)?.checked_sub(1);
    let connection = u32::try_from(take(rest)?).ok()?;
    let arrived_ns = take(rest)? as i64;
    let count = take(rest)?;
    let mut before = arrived_ns;
    let mut writes = Vec::new();
    for _ in 0..count {
        before = before.checked_add_unsigned(take(rest)?)?;
        let packed = take(rest)?;
        let tokens = match packed & 7 {
            7 => u32::try_from(take(rest)?).ok()?,
            few => few as u32,
        };
        writes.push(Sent { at_ns: before, events: u32::try_from(packed >> 3).ok()?, tokens });
    }
    Some(StreamSends { request, client, connection, arrived_ns, writes })
}

/// Seven bits a byte, the highest bit says that more follow.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent() -> impl Strategy<Value = (u32, u32, u32)> {
        (0_u32..3_000_000, 0_u32..20, 0_u32..20)
    }

    proptest! {
        #[test]
        fn streams_come_back_from_bytes(
            request in any::<u64>(),
            client in prop::option::of(0..u64::MAX),
            arrived_ns in 0..i64::MAX / 2,
            steps in prop::collection::vec(sent(), 0..50),
            cut in 0_usize..400,
        ) {
            let mut at_ns = arrived_ns;
            let writes = steps.into_iter().map(|(step, events, tokens)| {
                at_ns += i64::from(step);
                Sent { at_ns, events, tokens }
            });
            let stream = StreamSends { request, client, connection: 7, arrived_ns, writes: writes.collect() };
            let bytes = encode(&stream);
            prop_assert_eq!(decode(&mut bytes.as_slice()), Some(stream));
            if cut < bytes.len() {
                prop_assert_eq!(decode(&mut &bytes[..cut]), None);
            }
        }
    }

    #[test]
    fn a_file_is_read_up_to_where_it_was_cut() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sends");
        let mut book = Book::create(&path).unwrap();
        let writes = vec![Sent { at_ns: 60, events: 1, tokens: 1 }];
        let stream = StreamSends { request: 1, client: Some(0), connection: 0, arrived_ns: 50, writes };
        for _ in 0..3 {
            book.keep(stream.clone()).unwrap();
        }
        book.close().unwrap();
        assert_eq!(read_sends(&path).unwrap(), vec![stream.clone(); 3]);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(read_sends(&path).unwrap().len(), 2);
        assert_eq!(
            (stream.first_token_ns(), stream.last_token_ns(), stream.tokens()),
            (Some(60), Some(60), 1)
        );
        std::fs::write(&path, "{}").unwrap();
        assert!(read_sends(&path).is_err());
    }
}
