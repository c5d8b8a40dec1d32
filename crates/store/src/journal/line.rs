//! One line of the journal.

use std::io::Write;

use assay_model::Entry;

use super::Flaw;

/// The longest line that readers hold in memory. Writers refuse longer entries, so anything longer is damage.
pub const LONGEST_LINE: usize = 256 << 20;

/// The digits of a checksum and the blank after them.
const PREFIX: usize = 9;

/// Ends a line that a crash or a full disk cut short. No entry ends so: JSON ends with a brace.
pub(super) const TORN_MARK: &[u8] = b"#torn\n";

/// A line that checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checked<'a> {
    pub(super) json: &'a [u8],
    pub(super) checksum: u32,
    /// The checksum of the line before it, where the line names it.
    pub(super) previous: Option<u32>,
}

/// Writes an entry as a line of its own with its newline, in place of what the buffer held.
pub fn encode(entry: &Entry, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
    encode_with(entry, None, buffer).map(drop)
}

/// Like [`encode`], for the place after a line with this checksum; gives the line's own. A record line stands alone.
pub fn encode_after(entry: &Entry, previous: u32, buffer: &mut Vec<u8>) -> serde_json::Result<u32> {
    let alone = matches!(entry, Entry::Record { .. });
    encode_with(entry, (!alone).then_some(previous), buffer)
}

fn encode_with(entry: &Entry, previous: Option<u32>, buffer: &mut Vec<u8>) -> serde_json::Result<u32> {
    buffer.clear();
    buffer.extend_from_slice(b"00000000 ");
    if let Some(previous) = previous {
        write!(buffer, "{previous:08x} ").map_err(serde_json::Error::io)?;
    }
    serde_json::to_writer(&mut *buffer, entry)?;
    let checksum = crc32fast::hash(buffer.get(PREFIX..).unwrap_or_default());
    if let Some(mut digits) = buffer.get_mut(..PREFIX) {
        write!(digits, "{checksum:08x}").map_err(serde_json::Error::io)?;
    }
    buffer.push(b'\n');
    Ok(checksum)
}

/// Reads a line, given without its newline.
pub fn decode(line: &[u8]) -> Result<Entry, Flaw> {
    checked(line)?.entry()
}

/// Whether a line, given without its newline, ends in the carriage return that a conversion to Windows line endings
/// adds. No entry ends so: JSON ends with a brace.
pub(super) fn is_converted(line: &[u8]) -> bool {
    line.ends_with(b"\r")
}

/// A line whose checksum is right. A carriage return that was added at the end costs nothing: the checksum shows that
/// the rest is whole.
pub(super) fn checked(line: &[u8]) -> Result<Checked<'_>, Flaw> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (checksum, rest) = leading_checksum(line).ok_or(Flaw::Checksum)?;
    if crc32fast::hash(rest) != checksum {
        return Err(Flaw::Checksum);
    }
    Ok(match leading_checksum(rest) {
        Some((previous, json)) => Checked { json, checksum, previous: Some(previous) },
        None => Checked { json: rest, checksum, previous: None },
    })
}

impl Checked<'_> {
    pub(super) fn entry(&self) -> Result<Entry, Flaw> {
        serde_json::from_slice(self.json).map_err(|error| Flaw::NotAnEntry(error.to_string()))
    }
}

/// The checksum in digits at the start of a text, and what is after it.
fn leading_checksum(text: &[u8]) -> Option<(u32, &[u8])> {
    let (prefix, rest) = text.split_at_checked(PREFIX)?;
    let [digits @ .., b' '] = prefix else { return None };
    let mut checksum = 0_u32;
    for digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        checksum = checksum << 4 | u32::from(value);
    }
    Some((checksum, rest))
}

/// Whether a line, given without its newline, was cut short and then marked as such by a later writer.
pub(super) fn is_marked_torn(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    TORN_MARK.strip_suffix(b"\n").is_some_and(|mark| line.ends_with(mark))
}

/// The schema of a line that checks and is a record line, possibly of a schema this program cannot read.
pub(super) fn schema_of(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(checked(line).ok()?.json).ok()?;
    let schema = value.get("record")?.get("schema")?.as_u64()?;
    Some(u32::try_from(schema).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Entry {
        Entry::Record { schema: 1, name: "größe\nzwei".into(), at: 0.1 + 0.2, program: "0.1.0".into() }
    }

    #[test]
    fn a_line_reads_back_as_its_entry() {
        let mut buffer = b"left over".to_vec();
        encode(&record(), &mut buffer).unwrap();
        let line = buffer.strip_suffix(b"\n").unwrap();
        assert!(!line.contains(&b'\n'));
        assert_eq!(decode(line).unwrap(), record());
        assert_eq!(schema_of(line), Some(1));
    }

    #[test]
    fn a_line_names_the_one_before_it_unless_it_is_a_record_line() {
        let scrubbed = Entry::Scrubbed { at: 1.0, program: "0.1.0".into(), removed: 0 };
        let mut buffer = Vec::new();
        let own = encode_after(&scrubbed, 0xab, &mut buffer).unwrap();
        let found = checked(buffer.strip_suffix(b"\n").unwrap()).unwrap();
        assert_eq!((found.checksum, found.previous), (own, Some(0xab)));
        assert_eq!(found.entry().unwrap(), scrubbed);
        encode_after(&record(), own, &mut buffer).unwrap();
        assert_eq!(checked(buffer.strip_suffix(b"\n").unwrap()).unwrap().previous, None);
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let mut buffer = Vec::new();
        encode_after(&Entry::Scrubbed { at: 1.0, program: "0".into(), removed: 0 }, 7, &mut buffer).unwrap();
        buffer.pop();
        for position in 0..buffer.len() {
            for bit in 0..8 {
                let mut flipped = buffer.clone();
                flipped[position] ^= 1 << bit;
                assert!(decode(&flipped).is_err(), "byte {position}, bit {bit}");
            }
        }
    }

    #[test]
    fn the_known_checksum_of_a_known_text() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(checked(b"cbf43926 123456789").map(|line| line.json), Ok(b"123456789".as_slice()));
        assert_eq!(checked(b"CBF43926 123456789"), Err(Flaw::Checksum));
        assert_eq!(checked(b"cbf4392"), Err(Flaw::Checksum));
    }
}
