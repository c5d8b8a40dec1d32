//! Server-sent events, found in bytes that may end anywhere. Lines end with LF, CRLF or CR; comments and unknown fields
//! are passed over; several data lines make one event. Nothing is decoded here, so a character that is split over two
//! reads needs no care.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// Its data, lines joined by LF.
    pub data: Cow<'a, [u8]>,
    /// Whether it is named `error`.
    pub is_error: bool,
    /// Where its last data line ends, line end included: who has the bytes up to here has all of it.
    pub end: usize,
}

/// Finds the complete events in `bytes`, which begin at the beginning of an event. Gives the number of bytes that are
/// done with; the rest belongs to an event that is not complete. With `is_all` nothing comes after these bytes, and an
/// event that lacks only its empty line counts.
pub(crate) fn scan<'a>(bytes: &'a [u8], is_all: bool, mut take: impl FnMut(Event<'a>)) -> usize {
    let (mut position, mut done) = (0, 0);
    let mut event = Draft::default();
    while let Some(line) = line(bytes, position, is_all) {
        position = line.next;
        if line.text.is_empty() {
            event.finish(&mut take);
            done = position;
        } else {
            event.field(line.text, position);
        }
    }
    if is_all {
        event.finish(&mut take);
        done = bytes.len();
    }
    done
}

/// A line and where the next one begins.
struct StreamLine<'a> {
    text: &'a [u8],
    next: usize,
}

fn line(bytes: &[u8], from: usize, is_all: bool) -> Option<StreamLine<'_>> {
    let rest = bytes.get(from..)?;
    // Nearly all streams end their lines with LF, and the search for one byte is the faster one; a CR is then the last
    // byte of the line. Only a CR inside the line asks for the slow way.
    if let Some(length) = memchr(b'\n', rest) {
        let text = &rest[..length];
        let inside = text.strip_suffix(b"\r").unwrap_or(text);
        if memchr(b'\r', inside).is_none() {
            return Some(StreamLine { text: inside, next: from + length + 1 });
        }
    }
    let Some(length) = memchr2(b'\n', b'\r', rest) else {
        return (is_all && !rest.is_empty()).then_some(StreamLine { text: rest, next: bytes.len() });
    };
    let ending = match &rest[length..] {
        [b'\r', b'\n', ..] => 2,
        // An LF may follow in the next read.
        [b'\r'] if !is_all => return None,
        _ => 1,
    };
    Some(StreamLine { text: &rest[..length], next: from + length + ending })
}

/// An event while its lines come.
#[derive(Default)]
struct Draft<'a> {
    data: Option<Cow<'a, [u8]>>,
    is_error: bool,
    end: usize,
}

impl<'a> Draft<'a> {
    fn field(&mut self, line: &'a [u8], next: usize) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if let Some(value) = value_of(line, b"data") {
            self.end = next;
            match &mut self.data {
                None => self.data = Some(Cow::Borrowed(value)),
                Some(data) => {
                    let data = data.to_mut();
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            }
        } else if let Some(value) = value_of(line, b"event") {
            self.is_error = value == b"error";
        }
    }

    /// An event without data is none.
    fn finish(&mut self, take: &mut impl FnMut(Event<'a>)) {
        let draft = std::mem::take(self);
        if let Some(data) = draft.data {
            take(Event { data, is_error: draft.is_error, end: draft.end });
        }
    }
}

/// The value of a field, if the line is one of this name. A comment begins with a colon, so it has no name.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(b""),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str, is_all: bool) -> (Vec<(String, usize)>, usize) {
        let mut events = Vec::new();
        let done = scan(text.as_bytes(), is_all, |event| {
            events.push((String::from_utf8(event.data.into_owned()).unwrap(), event.end));
        });
        (events, done)
    }

    fn data(text: &str) -> Vec<String> {
        all(text, true).0.into_iter().map(|(data, _)| data).collect()
    }

    #[test]
    fn events_end_at_empty_lines_of_every_kind() {
        for ending in ["\n", "\r\n", "\r"] {
            let text = "data: one\n\ndata: two\n\n".replace('\n', ending);
            assert_eq!(data(&text), ["one", "two"], "{ending:?}");
        }
    }

    #[test]
    fn comments_and_pings_are_no_events() {
        assert_eq!(data(": ping\n\n:\n\nevent: ping\n\nid: 4\nretry: 10\ndata: x\n: y\n\n"), ["x"]);
    }

    #[test]
    fn data_of_several_lines_is_one_event() {
        assert_eq!(data("data: {\ndata:  \"a\":1\ndata\ndata:}\n\n"), ["{\n \"a\":1\n\n}"]);
        assert_eq!(data("\u{feff}data: x\n\ndatabase: y\n\n"), ["x"]);
    }

    #[test]
    fn an_incomplete_event_waits_and_counts_only_at_the_end() {
        let text = "data: one\n\ndata: tw";
        assert_eq!(all(text, false), (vec![("one".to_owned(), 10)], 11));
        assert_eq!(data(text), ["one", "tw"]);
        assert_eq!(all("data: x\r", false), (vec![], 0));
        assert_eq!(all("data: x\r\n\r", false), (vec![], 0));
        assert_eq!(all("data: x\r\n\r\n", false), (vec![("x".to_owned(), 9)], 11));
    }

    #[test]
    fn errors_are_told_by_name() {
        let mut named = Vec::new();
        scan(b"event: error\ndata: a\n\ndata: b\n\n", false, |event| named.push(event.is_error));
        assert_eq!(named, [true, false]);
    }

    proptest! {
        /// However the bytes are cut into reads, the same events come out, each complete with the read that has its
        /// last data line.
        #[test]
        fn cuts_change_nothing(
            lines in proptest::collection::vec("(data: ?[a-zé€😀]{0,8}|: ?[a-z]{0,3}|event: error||)", 0..20),
            ending in proptest::sample::select(vec!["\n", "\r\n", "\r"]),
            size in 1_usize..7,
        ) {
            let text: String = lines.iter().map(|line| format!("{line}{ending}")).collect();
            let mut whole = Vec::new();
            scan(text.as_bytes(), true, |event| whole.push((event.data.into_owned(), event.is_error, event.end)));
            let (mut buffer, mut base, mut pieces) = (Vec::new(), 0, Vec::new());
            for piece in text.as_bytes().chunks(size) {
                buffer.extend_from_slice(piece);
                let done = scan(&buffer, false, |event| {
                    pieces.push((event.data.into_owned(), event.is_error, base + event.end));
                });
                buffer.drain(..done);
                base += done;
            }
            scan(&buffer, true, |event| pieces.push((event.data.into_owned(), event.is_error, base + event.end)));
            prop_assert_eq!(whole, pieces);
        }
    }
}
