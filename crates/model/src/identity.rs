//! Identities that follow from content, so that records made on different machines can be matched.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The hash of a workload and its settings: 16 hexadecimal digits, the same on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PointId(pub String);

impl PointId {
    /// Hashes the canonical text of a point.
    pub fn of(canonical: &str) -> PointId {
        PointId(hash_text(canonical)[..16].to_owned())
    }
}

/// SHA-256 of a text, in hexadecimal.
pub fn hash_text(text: &str) -> String {
    hash_bytes(text.as_bytes())
}

/// SHA-256 of bytes, in hexadecimal.
pub fn hash_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of all that a reader gives, in hexadecimal.
pub fn hash_reader(mut reader: impl io::Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            count => hash.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl fmt::Display for PointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A point on a platform, written `3f2a91c04b1d77e2@local`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId {
    /// What is computed.
    pub point: PointId,
    pub platform: String,
}

impl CellId {
    /// The first eight digits of the point: enough for people.
    pub fn short(&self) -> &str {
        self.point.0.get(..8).unwrap_or(&self.point.0)
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.point, self.platform)
    }
}

impl FromStr for CellId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (point, platform) = text.split_once('@').ok_or_else(|| format!("`{text}` is not a cell"))?;
        Ok(CellId { point: PointId(point.to_owned()), platform: platform.to_owned() })
    }
}

/// One execution of a cell: repeat 1 is the first; attempt 2 is the first redo of a repeat.
/// Written `3f2a91c04b1d77e2@local/r3` or `…/r3.2` for the second attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId {
    /// Which cell was run.
    pub cell: CellId,
    /// Which repeat of the cell, from 1.
    pub repeat: u32,
    /// Which attempt at this repeat, from 1.
    pub attempt: u32,
}

impl RunId {
    /// The last part of the run's name: `r3`, or `r3.2` for a second attempt.
    pub fn leaf(&self) -> String {
        match self.attempt {
            1 => format!("r{}", self.repeat),
            attempt => format!("r{}.{attempt}", self.repeat),
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cell, self.leaf())
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a run");
        let (cell, leaf) = text.rsplit_once("/r").ok_or_else(wrong)?;
        let (repeat, attempt) = leaf.split_once('.').unwrap_or((leaf, "1"));
        Ok(RunId {
            cell: cell.parse()?,
            repeat: repeat.parse().map_err(|_| wrong())?,
            attempt: attempt.parse().map_err(|_| wrong())?,
        })
    }
}

/// Writes and reads a type by its text form.
macro_rules! serialized_as_text {
    ($name:ty) => {
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

serialized_as_text!(CellId);
serialized_as_text!(RunId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_read_back_from_their_names() {
        for text in ["3f2a91c04b1d77e2@local/r3", "3f2a91c04b1d77e2@local/r12.2"] {
            assert_eq!(text.parse::<RunId>().unwrap().to_string(), text);
        }
        assert!("nonsense".parse::<RunId>().is_err());
        assert!("a@b/rx".parse::<RunId>().is_err());
    }
}
