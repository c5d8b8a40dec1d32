//! One line of the journal.

use std::io::Write;

use assay_model::Entry;

use super::Flaw;

/// The longest line that readers hold in memory. Writers refuse longer entries, so anything longer is damage.
pub const LONGEST_LINE: usize = 256 << 20;

/// The digits of the checksum and the blank after them.
const PREFIX: usize = 9;

/// Ends a line that a crash or a full disk cut short. No entry ends so: JSON ends with a brace.
pub(super) const TORN_MARK: &[u8] = b"#torn\n";

/// Writes an entry as a line with its newline, in place of what the buffer held.
pub fn encode(entry: &Entry, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
    buffer.clear();
    buffer.extend_from_slice(b"00000000 ");
    serde_json::to_writer(&mut *buffer, entry)?;
    let checksum = crc32fast::hash(buffer.get(PREFIX..).unwrap_or_default());
    if let Some(mut digits) = buffer.get_mut(..PREFIX) {
        write!(digits, "{checksum:08x}").map_err(serde_json::Error::io)?;
    }
    buffer.push(b'\n');
    Ok(())
}

/// Reads a line, given without its newline.
pub fn decode(line: &[u8]) -> Result<Entry, Flaw> {
    serde_json::from_slice(checked(line)?).map_err(|error| Flaw::NotAnEntry(error.to_string()))
}

/// Whether a line, given without its newline, ends in the carriage return that a conversion to Windows line endings
/// adds. No entry ends so: JSON ends with a brace.
pub(super) fn is_converted(line: &[u8]) -> bool {
    line.ends_with(b"\r")
}

/// The JSON of a line whose checksum is right. A carriage return that was added at the end costs nothing: the checksum
/// shows that the rest is whole.
pub(super) fn checked(line: &[u8]) -> Result<&[u8], Flaw> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (prefix, json) = line.split_at_checked(PREFIX).ok_or(Flaw::Checksum)?;
    let [digits @ .., b' '] = prefix else { return Err(Flaw::Checksum) };
    let mut expected = 0_u32;
    for digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return Err(Flaw::Checksum),
        };
        expected = expected << 4 | u32::from(value);
    }
    if crc32fast::hash(json) == expected { Ok(json) } else { Err(Flaw::Checksum) }
}

/// Whether a line, given without its newline, was cut short and then marked as such by a later writer.
pub(super) fn is_marked_torn(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    TORN_MARK.strip_suffix(b"\n").is_some_and(|mark| line.ends_with(mark))
}

/// The schema of a line that checks and is a record line, possibly of a schema this program cannot read.
pub(super) fn schema_of(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(checked(line).ok()?).ok()?;
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
    fn every_flipped_bit_is_seen() {
        let mut buffer = Vec::new();
        encode(&record(), &mut buffer).unwrap();
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
        assert_eq!(checked(b"cbf43926 123456789"), Ok(b"123456789".as_slice()));
        assert_eq!(checked(b"CBF43926 123456789"), Err(Flaw::Checksum));
        assert_eq!(checked(b"cbf4392"), Err(Flaw::Checksum));
    }
}
