//! One line as dialects see it: valid text, without color codes, without the prefix that launchers put before the
//! lines of each rank.

use std::borrow::Cow;

/// A cleaned line.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Its text.
    pub text: &'a str,
    /// The rank that a prefix names.
    pub rank: Option<u32>,
}

/// Makes text of bytes. Only lines that need it are copied.
pub fn clean(bytes: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(0x1b, bytes).is_some() {
        return Cow::Owned(with_plain_minus(text(&without_escapes(bytes))).into_owned());
    }
    with_plain_minus(text(bytes))
}

/// The sign of the minus in typeset text, which some programs print, too.
const MINUS: &str = "\u{2212}";

/// A minus before a number as the character that numbers are read with.
fn with_plain_minus(text: Cow<'_, str>) -> Cow<'_, str> {
    // Nearly no line has any character that begins with this byte.
    let first = MINUS.as_bytes().first().copied().unwrap_or_default();
    if memchr::memchr(first, text.as_bytes()).is_none() || !text.contains(MINUS) {
        return text;
    }
    let mut parts = text.split(MINUS);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_sign = part.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
        plain.push_str(if is_sign { "-" } else { MINUS });
        plain.push_str(part);
    }
    Cow::Owned(plain)
}

/// Bytes as UTF-8, or as Latin-1 where they cannot be that: the first byte beyond ASCII begins no UTF-8 character.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Cow::Borrowed(text),
        Err(error) => error,
    };
    let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
    if error.error_len().is_none() || !before.is_ascii() {
        return String::from_utf8_lossy(bytes);
    }
    // The control characters of Latin-1 would steer a terminal.
    let character = |byte: &u8| if (0x80..0xa0).contains(byte) { '\u{fffd}' } else { char::from(*byte) };
    Cow::Owned(bytes.iter().map(character).collect())
}

/// Splits off `[1,0]<stdout>:`, `[rank0]:`, `[default0]:`.
pub fn without_rank(text: &str) -> (Option<u32>, &str) {
    if !text.starts_with('[') {
        return (None, text);
    }
    let parsed = || {
        let (inside, rest) = text.get(1..)?.split_once(']')?;
        let rest = rest.strip_prefix("<stdout>").or_else(|| rest.strip_prefix("<stderr>")).unwrap_or(rest);
        let rest = rest.strip_prefix(':')?;
        let digits = match inside.split_once(',') {
            Some((_, rank)) => rank,
            None => inside.strip_prefix("rank").or_else(|| inside.strip_prefix("default"))?,
        };
        let rank = digits.parse().ok()?;
        Some((rank, rest.strip_prefix(' ').unwrap_or(rest)))
    };
    parsed().map_or((None, text), |(rank, rest): (u32, &str)| (Some(rank), rest))
}

/// Drops terminal escape sequences: `ESC [ … letter`, `ESC ] … BEL`, and `ESC` with one byte.
fn without_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(place) = memchr::memchr(0x1b, rest) {
        let (before, sequence) = rest.split_at(place);
        clean.extend_from_slice(before);
        let length = match sequence.get(1) {
            Some(b'[') => sequence
                .iter()
                .skip(2)
                .position(|byte| (0x40..=0x7e).contains(byte))
                .map_or(sequence.len(), |end| end + 3),
            Some(b']') => memchr::memchr(0x07, sequence).map_or(sequence.len(), |end| end + 1),
            Some(_) => 2,
            None => 1,
        };
        rest = sequence.get(length..).unwrap_or_default();
    }
    clean.extend_from_slice(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colors_and_titles_are_dropped() {
        assert_eq!(clean(b"\x1b[32mloss\x1b[0m 1"), "loss 1");
        assert_eq!(clean(b"\x1b]0;title\x07text"), "text");
        assert_eq!(clean(b"cut \x1b[3"), "cut ");
    }

    #[test]
    fn latin_1_is_read_and_cut_utf_8_is_not_taken_for_it() {
        assert_eq!(clean(b"12.5 \xb1 0.3 \xb5s \x9b"), "12.5 ± 0.3 µs \u{fffd}");
        assert_eq!(clean("12.5 ±".as_bytes().get(..6).unwrap()), "12.5 \u{fffd}");
        assert_eq!(clean(b"\xc2\xb1 0.3 \xb5s"), "± 0.3 \u{fffd}s");
    }

    #[test]
    fn a_typeset_minus_before_a_number_is_its_sign() {
        assert_eq!(clean("reward \u{2212}0.5, a \u{2212} b".as_bytes()), "reward -0.5, a \u{2212} b");
        assert!(matches!(clean("2 ≤ 3".as_bytes()), Cow::Borrowed(_)));
    }

    #[test]
    fn ranks_are_split_off() {
        assert_eq!(without_rank("[1,3]<stdout>:loss 1"), (Some(3), "loss 1"));
        assert_eq!(without_rank("[rank0]: Traceback"), (Some(0), "Traceback"));
        assert_eq!(without_rank("[09:01:59.258] [x]"), (None, "[09:01:59.258] [x]"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let text = clean(&bytes);
            prop_assert!(!text.contains('\x1b'));
            let _ = without_rank(&text);
        }
    }
}
