//! Text encodings: everything behind this works on UTF-8.
//!
//! Windows programs write UTF-16 and byte order marks; old tools write Latin-1. UTF-16 is recoded as it streams, a
//! byte order mark is dropped, and a line that is not UTF-8 is taken as Latin-1 (see `line::clean`).

/// How many bytes are looked at before the encoding is decided.
const ENOUGH: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 { big_endian: bool },
}

/// Recodes a stream to UTF-8, over any number of chunks.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    encoding: Option<Encoding>,
    /// Bytes that wait: the start of the stream, or half a UTF-16 unit.
    held: Vec<u8>,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    recoded: String,
}

impl Decoder {
    /// Takes the next bytes and gives what can be passed on as UTF-8.
    pub fn feed(&mut self, bytes: &[u8], pass_on: &mut dyn FnMut(&[u8])) {
        if self.encoding == Some(Encoding::Utf8) {
            return pass_on(bytes);
        }
        self.held.extend_from_slice(bytes);
        if self.encoding.is_none() && self.held.len() < ENOUGH {
            return;
        }
        self.drain(pass_on);
    }

    /// Ends the stream.
    pub fn finish(&mut self, pass_on: &mut dyn FnMut(&[u8])) {
        self.drain(pass_on);
        if self.high.take().is_some() || !self.held.is_empty() && self.encoding != Some(Encoding::Utf8) {
            pass_on("\u{fffd}".as_bytes());
        }
    }

    fn drain(&mut self, pass_on: &mut dyn FnMut(&[u8])) {
        let held = std::mem::take(&mut self.held);
        let (encoding, skipped) = match self.encoding {
            Some(encoding) => (encoding, 0),
            None => encoding(&held),
        };
        self.encoding = Some(encoding);
        let bytes = held.get(skipped..).unwrap_or_default();
        match encoding {
            Encoding::Utf8 if !bytes.is_empty() => pass_on(bytes),
            Encoding::Utf8 => {}
            Encoding::Utf16 { big_endian } => {
                self.recode(bytes, big_endian);
                pass_on(self.recoded.as_bytes());
            }
        }
    }

    fn recode(&mut self, bytes: &[u8], big_endian: bool) {
        self.recoded.clear();
        let pairs = bytes.chunks_exact(2);
        self.held = pairs.remainder().to_vec();
        let units = pairs.map(|pair| match pair {
            [first, second] if big_endian => u16::from_be_bytes([*first, *second]),
            [first, second] => u16::from_le_bytes([*first, *second]),
            _ => 0,
        });
        let high = self.high.take();
        let mut units: Vec<u16> = high.into_iter().chain(units).collect();
        if units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
            self.high = units.pop();
        }
        self.recoded.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{fffd}')));
    }
}

/// The encoding of a stream by its first bytes, and how long its byte order mark is.
fn encoding(start: &[u8]) -> (Encoding, usize) {
    match start {
        [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
        [0xff, 0xfe, ..] => (Encoding::Utf16 { big_endian: false }, 2),
        [0xfe, 0xff, ..] => (Encoding::Utf16 { big_endian: true }, 2),
        _ => (unmarked_utf16(start).unwrap_or(Encoding::Utf8), 0),
    }
}

/// UTF-16 without a mark: of text in Latin letters, every other byte is zero.
fn unmarked_utf16(start: &[u8]) -> Option<Encoding> {
    let start = start.get(..start.len().min(ENOUGH) & !1).filter(|start| start.len() >= 8)?;
    let zeros = |offset: usize| start.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let half = start.len() / 2;
    match (zeros(0), zeros(1)) {
        (even, odd) if odd * 4 >= half * 3 && even * 8 <= half => Some(Encoding::Utf16 { big_endian: false }),
        (even, odd) if even * 4 >= half * 3 && odd * 8 <= half => Some(Encoding::Utf16 { big_endian: true }),
        _ => None,
    }
}

/// Whether the first bytes of a file look like text in an encoding that can be read.
pub fn is_text_start(start: &[u8]) -> bool {
    !start.is_empty() && (encoding(start).0 != Encoding::Utf8 || memchr::memchr(0, start).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8], size: usize) -> String {
        let mut decoder = Decoder::default();
        let mut text = Vec::new();
        for chunk in bytes.chunks(size.max(1)) {
            decoder.feed(chunk, &mut |piece| text.extend_from_slice(piece));
        }
        decoder.finish(&mut |piece| text.extend_from_slice(piece));
        String::from_utf8_lossy(&text).into_owned()
    }

    fn utf16(text: &str, big_endian: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn encodings_show_in_the_first_bytes() {
        let text = "epoch 1 loss 0.5 \u{1f600}\n";
        for size in [1, 3, 100] {
            for big_endian in [false, true] {
                assert_eq!(decoded(&utf16(text, big_endian), size), text);
                assert_eq!(decoded(&utf16(&format!("\u{feff}{text}"), big_endian), size), text);
            }
            assert_eq!(decoded(&[b"\xef\xbb\xbf", text.as_bytes()].concat(), size), text);
            assert_eq!(decoded(text.as_bytes(), size), text);
        }
        assert_eq!(decoded(b"a", 1), "a");
        assert_eq!(decoded(b"", 1), "");
    }

    #[test]
    fn binary_files_are_not_text() {
        assert!(!is_text_start(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0"));
        assert!(!is_text_start(b""));
        assert!(is_text_start(&utf16("loss 0.5 and more", false)));
        assert!(is_text_start(b"caf\xe9"));
    }

    proptest! {
        #[test]
        fn any_text_survives_utf_16(text in "[ -~]{40,80}.*", size in 1usize..50) {
            prop_assert_eq!(decoded(&utf16(&text, false), size), text);
        }

        #[test]
        fn any_bytes_are_decoded(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 1usize..50) {
            let _ = decoded(&bytes, size);
        }
    }
}
