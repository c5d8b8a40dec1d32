//! The chunks of a streamed answer, taken out of what was read before hyper sees it. Hyper needs a microsecond or two for
//! every chunk, which is more than all the rest that is done for a token in this program; here it is a few comparisons.
//!
//! Hyper still reads the head and everything that is not plainly a chunk: for it the answer is the same one with fewer
//! chunks. So nothing is lost where something unusual comes, only time.
//!
//! Hyper's buffers take 25 KiB for a connection, so that it is let go while chunks come, and comes back only for what is not
//! plainly a chunk or the last of them: then it is shown the head again, and what is left of the answer after it.

/// A chunk that is larger is left to hyper.
const LARGEST_CHUNK: usize = 1 << 20;
/// The longest line with the size of a chunk, without its end.
const LONGEST_SIZE: usize = 8;

/// Where the reading of one answer is.
#[derive(Debug)]
pub(crate) struct Chunks {
    stage: Stage,
    /// Bytes that have been read and not been taken: a part of a chunk, or what is left for hyper.
    kept: Vec<u8>,
    /// The head of the answer, while its chunks are read here.
    head: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The head has not been seen.
    Head,
    /// Chunks follow.
    Body,
    /// The rest is read by hyper.
    Hyper,
}

impl Default for Chunks {
    fn default() -> Chunks {
        Chunks { stage: Stage::Head, kept: Vec::new(), head: Vec::new() }
    }
}

impl Chunks {
    /// Whether reads are for [`Chunks::take`] and not for hyper.
    pub(crate) fn are_read_here(&self) -> bool {
        self.stage == Stage::Body
    }

    /// What hyper is to see of a read. A head that came whole and announces chunks is all that it sees.
    pub(crate) fn left_for_hyper<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.stage != Stage::Head || bytes.is_empty() {
            return bytes;
        }
        let end = memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4);
        match end.map(|end| bytes.split_at(end)) {
            Some((head, rest)) if is_chunked(head) => {
                self.stage = Stage::Body;
                self.kept.extend_from_slice(rest);
                self.head.extend_from_slice(head);
                head
            }
            _ => {
                self.stage = Stage::Hyper;
                bytes
            }
        }
    }

    /// Takes the chunks out of what was kept and what was read after it, and appends what is in them. Gives their number.
    pub(crate) fn take(&mut self, bytes: &[u8], taken: &mut Vec<u8>) -> u32 {
        let kept = std::mem::take(&mut self.kept);
        let joined = if kept.is_empty() { None } else { Some([&kept, bytes].concat()) };
        let mut left = joined.as_deref().unwrap_or(bytes);
        let mut count = 0;
        loop {
            match first(left) {
                First::Chunk { begin, size } => {
                    taken.extend_from_slice(&left[begin..begin + size]);
                    left = &left[begin + size + 2..];
                    count += 1;
                }
                First::Part => break,
                First::Other => {
                    self.stage = Stage::Hyper;
                    break;
                }
            }
        }
        self.kept = left.to_vec();
        count
    }

    /// Leaves the rest of the answer to hyper.
    pub(crate) fn leave(&mut self) {
        self.stage = Stage::Hyper;
    }

    /// Whether the answer has plainly ended, and the connection can be used again: the last chunk came with nothing after
    /// it, and the head does not say that the connection ends.
    pub(crate) fn is_plainly_over(&self) -> bool {
        self.kept == LAST_CHUNK
            && self.head.starts_with(b"HTTP/1.1 ")
            && !self.head.split(|byte| *byte == b'\n').any(ends_connection)
    }

    /// Shows hyper the head once more, before what is left of the answer.
    pub(crate) fn show_again(&mut self) {
        let rest = std::mem::take(&mut self.kept);
        self.kept = [std::mem::take(&mut self.head), rest].concat();
    }

    /// Bytes that were read here and are for hyper.
    pub(crate) fn take_left(&mut self, most: usize) -> Option<Vec<u8>> {
        let rest = self.kept.split_off(most.min(self.kept.len()));
        Some(std::mem::replace(&mut self.kept, rest)).filter(|left| !left.is_empty())
    }
}

/// The end of a body of chunks without trailers.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Whether a line of a head says more of the connection than that it stays.
fn ends_connection(line: &[u8]) -> bool {
    let mut halves = line.splitn(2, |byte| *byte == b':');
    let (name, value) = (halves.next().unwrap_or(line), halves.next().unwrap_or(&[]));
    name.trim_ascii().eq_ignore_ascii_case(b"connection")
        && !value.trim_ascii().eq_ignore_ascii_case(b"keep-alive")
}

/// Whether a head announces chunks.
fn is_chunked(head: &[u8]) -> bool {
    let is_told = |line: &[u8]| {
        let mut halves = line.splitn(2, |byte| *byte == b':');
        let (name, value) = (halves.next().unwrap_or(line), halves.next().unwrap_or(&[]));
        name.eq_ignore_ascii_case(b"transfer-encoding") && value.trim_ascii().eq_ignore_ascii_case(b"chunked")
    };
    // What comes before the answer proper has a head of its own.
    let is_answer = head.get(8..10) != Some(b" 1");
    is_answer && head.split(|byte| *byte == b'\n').any(|line| is_told(line.trim_ascii_end()))
}

/// What bytes begin with.
#[derive(Debug, PartialEq, Eq)]
enum First {
    /// A whole chunk.
    Chunk { begin: usize, size: usize },
    /// A part of one, or nothing.
    Part,
    /// Something else: the last chunk, a chunk with extensions, nonsense.
    Other,
}

fn first(bytes: &[u8]) -> First {
    let mut size = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match char::from(*byte).to_digit(16) {
            Some(digit) if at < LONGEST_SIZE => size = size << 4 | digit as usize,
            None if *byte == b'\r' && size > 0 && size <= LARGEST_CHUNK => return whole(bytes, at + 2, size),
            _ => return First::Other,
        }
    }
    First::Part
}

fn whole(bytes: &[u8], begin: usize, size: usize) -> First {
    let is = |at: usize, byte: u8| bytes.get(at).is_none_or(|found| *found == byte);
    if !(is(begin - 1, b'\n') && is(begin + size, b'\r') && is(begin + size + 1, b'\n')) {
        First::Other
    } else if bytes.len() < begin + size + 2 {
        First::Part
    } else {
        First::Chunk { begin, size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding:  Chunked\r\n\r\n";

    /// Reads an answer in pieces, as a connection does: what was taken, and what hyper saw.
    fn read(answer: &[u8], size: usize) -> (Vec<u8>, Vec<u8>) {
        let (mut chunks, mut taken, mut seen) = (Chunks::default(), Vec::new(), Vec::new());
        let mut pieces = answer.chunks(size);
        let head = pieces.next().unwrap();
        seen.extend_from_slice(chunks.left_for_hyper(head));
        if chunks.are_read_here() {
            chunks.take(&[], &mut taken);
        }
        for piece in pieces {
            if chunks.are_read_here() {
                chunks.take(piece, &mut taken);
            } else {
                seen.extend(chunks.take_left(usize::MAX).unwrap_or_default());
                seen.extend_from_slice(chunks.left_for_hyper(piece));
            }
        }
        chunks.leave();
        seen.extend(chunks.take_left(usize::MAX).unwrap_or_default());
        (taken, seen)
    }

    #[test]
    fn chunks_are_taken_however_they_are_cut_into_reads() {
        let answer = [HEAD, b"5\r\nhello\r\n00B\r\n w\r\norld 12\r\n1\r\nx\r\n0\r\n\r\n"].concat();
        for size in HEAD.len()..=answer.len() {
            let (taken, seen) = read(&answer, size);
            assert_eq!(taken, b"hello w\r\norld 12x", "{size}");
            assert_eq!(seen, [HEAD, b"0\r\n\r\n"].concat(), "{size}");
        }
    }

    #[test]
    fn what_is_no_plain_chunk_is_left_to_hyper() {
        for strange in [
            &b"5;name=1\r\nhello\r\n"[..],
            b"zz\r\n",
            b"5\r\nhelloXX",
            b"5\nhello",
            b"123456789\r\n",
            b"\r\n",
        ] {
            let answer = [HEAD, b"2\r\nab\r\n", strange].concat();
            for size in [HEAD.len(), HEAD.len() + 3, answer.len()] {
                let (taken, seen) = read(&answer, size);
                assert_eq!((taken, seen), (b"ab".to_vec(), [HEAD, strange].concat()), "{strange:?} {size}");
            }
        }
        for head in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"[..],
            b"HTTP/1.1 100 Continue\r\ntransfer-encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        ] {
            let answer = [head, b"2\r\nab\r\n"].concat();
            assert_eq!(read(&answer, 40), (Vec::new(), answer));
        }
    }

    #[test]
    fn a_plain_end_needs_no_hyper_and_any_other_does() {
        let read = |head: &[u8], rest: &[u8]| {
            let (mut chunks, mut taken) = (Chunks::default(), Vec::new());
            chunks.left_for_hyper(&[head, b"2\r\nab\r\n"].concat());
            chunks.take(&[], &mut taken);
            chunks.take(rest, &mut taken);
            let is_over = chunks.is_plainly_over();
            chunks.show_again();
            (is_over, chunks.take_left(usize::MAX).unwrap_or_default())
        };
        assert_eq!(read(HEAD, b"0\r\n\r\n"), (true, [HEAD, b"0\r\n\r\n"].concat()));
        for rest in [&b"0\r\n"[..], b"0\r\nx: y\r\n\r\n", b"0\r\n\r\nHTTP/1.1 200", b"5\r\nhel", b"zz\r\n"] {
            assert_eq!(read(HEAD, rest), (false, [HEAD, rest].concat()), "{rest:?}");
        }
        let with = |line: &[u8]| [&HEAD[..HEAD.len() - 2], line, b"\r\n\r\n"].concat();
        assert!(read(&with(b"Connection: keep-alive"), b"0\r\n\r\n").0);
        assert!(!read(&with(b"Connection: close"), b"0\r\n\r\n").0);
    }

    #[test]
    fn a_head_in_pieces_is_left_to_hyper_with_all_that_follows() {
        let answer = [HEAD, b"2\r\nab\r\n0\r\n\r\n"].concat();
        assert_eq!(read(&answer, 30), (Vec::new(), answer));
    }
}
