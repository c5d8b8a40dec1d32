//! Splits a stream of bytes into lines.
//!
//! A carriage return ends a line too: progress bars write many states into what an editor shows as one line. Line
//! numbers count line feeds only, so that they agree with what an editor shows.

/// The longest part of a line that readers see. A longer line is cut, so that memory stays flat whatever arrives.
pub const LONGEST_LINE: usize = 64 * 1024;

/// Cuts bytes into lines, over any number of chunks.
#[derive(Debug, Default)]
pub struct LineSplitter {
    held: Vec<u8>,
    line_feeds: u64,
    /// Bytes of long lines that nobody saw, and the first such line.
    cut: u64,
    first_cut: u64,
}

impl LineSplitter {
    /// Takes the next bytes; calls `line` with the number and the bytes of every line that is now complete.
    pub fn feed(&mut self, mut bytes: &[u8], line: &mut dyn FnMut(u64, &[u8])) {
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (piece, rest) = bytes.split_at(end);
            if self.held.is_empty() {
                if piece.len() > LONGEST_LINE {
                    self.note_cut(piece.len() - LONGEST_LINE);
                }
                line(self.line_feeds + 1, cut(piece));
            } else {
                self.hold(piece);
                line(self.line_feeds + 1, &self.held);
                self.held.clear();
            }
            if rest.first() == Some(&b'\n') {
                self.line_feeds += 1;
            }
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.hold(bytes);
    }

    /// Ends the stream: a last line without a line feed is a line too.
    pub fn finish(&mut self, line: &mut dyn FnMut(u64, &[u8])) {
        if !self.held.is_empty() {
            line(self.line_feeds + 1, &self.held);
            self.held.clear();
        }
    }

    /// Whether the next byte begins a line.
    pub fn is_at_start(&self) -> bool {
        self.held.is_empty()
    }

    /// Counts lines that somebody else has looked at.
    pub fn skip(&mut self, lines: u64) {
        self.line_feeds += lines;
    }

    fn hold(&mut self, piece: &[u8]) {
        let room = LONGEST_LINE.saturating_sub(self.held.len());
        self.held.extend_from_slice(piece.get(..room).unwrap_or(piece));
        if piece.len() > room {
            self.note_cut(piece.len() - room);
        }
    }

    fn note_cut(&mut self, bytes: usize) {
        if self.cut == 0 {
            self.first_cut = self.line_feeds + 1;
        }
        self.cut += bytes as u64;
    }

    /// How many bytes of lines longer than [`LONGEST_LINE`] were dropped.
    pub fn cut_bytes(&self) -> u64 {
        self.cut
    }

    /// The first line that was cut.
    pub fn first_cut(&self) -> u64 {
        self.first_cut
    }
}

fn cut(piece: &[u8]) -> &[u8] {
    piece.get(..LONGEST_LINE).unwrap_or(piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]]) -> Vec<(u64, String)> {
        let mut splitter = LineSplitter::default();
        let mut lines = Vec::new();
        let mut keep =
            |number: u64, line: &[u8]| lines.push((number, String::from_utf8_lossy(line).into_owned()));
        for chunk in chunks {
            splitter.feed(chunk, &mut keep);
        }
        splitter.finish(&mut keep);
        lines.retain(|(_, line)| !line.is_empty());
        lines
    }

    #[test]
    fn carriage_returns_end_lines_but_do_not_count() {
        let lines = split(&[b"10%\r20%\r\nloss=1\r\nend"]);
        assert_eq!(lines, [(1, "10%".into()), (1, "20%".into()), (2, "loss=1".into()), (3, "end".into())]);
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let mut splitter = LineSplitter::default();
        for _ in 0..1000 {
            splitter.feed(&[b'x'; 4096], &mut |_, _| {});
        }
        assert_eq!(splitter.held.len(), LONGEST_LINE);
    }

    proptest! {
        #[test]
        fn chunks_do_not_change_the_lines(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200), at in 0usize..200) {
            let at = at.min(bytes.len());
            prop_assert_eq!(split(&[&bytes]), split(&[&bytes[..at], &bytes[at..]]));
        }
    }
}
