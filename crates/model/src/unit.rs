//! Units of measure. A value is stored in its base unit (seconds, bytes, fraction, counts per second), whatever
//! scale it was written in, so that two readings of one metric can always be set side by side.

use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

/// A base unit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// A bare number.
    #[default]
    One,
    /// Time in seconds.
    Seconds,
    /// Memory or data in bytes.
    Bytes,
    /// A share between 0 and 1; percentages are stored as fractions.
    Fraction,
    /// A count of named things.
    Count(String),
    /// Named things per second.
    PerSecond(String),
    /// A unit this program gives no meaning to.
    Other(String),
}

impl Unit {
    /// Reads a unit as people write it. The second part is the factor from the written scale to the base unit:
    /// `ms` gives seconds and 0.001.
    pub fn parse(text: &str) -> (Unit, f64) {
        let text = text.trim();
        if let Some(thing) = rate_thing(text) {
            return match Unit::parse(thing) {
                (Unit::Bytes, factor) => (Unit::PerSecond("B".to_owned()), factor),
                (Unit::Other(name), _) => match scaled_flop(&name) {
                    Some(factor) => (Unit::PerSecond("FLOP".to_owned()), factor),
                    None => (Unit::PerSecond(plural(&name)), 1.0),
                },
                (Unit::Count(name), factor) => (Unit::PerSecond(name), factor),
                _ => (Unit::Other(text.to_owned()), 1.0),
            };
        }
        match text {
            "" | "1" => (Unit::One, 1.0),
            "s" | "sec" | "secs" | "second" | "seconds" => (Unit::Seconds, 1.0),
            "ms" | "msec" | "millisecond" | "milliseconds" => (Unit::Seconds, 1e-3),
            "us" | "µs" | "μs" | "microsecond" | "microseconds" => (Unit::Seconds, 1e-6),
            "ns" | "nanosecond" | "nanoseconds" => (Unit::Seconds, 1e-9),
            "min" | "minute" | "minutes" => (Unit::Seconds, 60.0),
            "h" | "hour" | "hours" => (Unit::Seconds, 3600.0),
            "B" | "byte" | "bytes" => (Unit::Bytes, 1.0),
            "kB" | "KB" => (Unit::Bytes, 1e3),
            "MB" => (Unit::Bytes, 1e6),
            "GB" => (Unit::Bytes, 1e9),
            "TB" => (Unit::Bytes, 1e12),
            "KiB" => (Unit::Bytes, 1024.0),
            "MiB" => (Unit::Bytes, 1024.0 * 1024.0),
            "GiB" => (Unit::Bytes, 1024.0 * 1024.0 * 1024.0),
            "TiB" => (Unit::Bytes, 1024.0 * 1024.0 * 1024.0 * 1024.0),
            "%" | "percent" => (Unit::Fraction, 0.01),
            "fraction" => (Unit::Fraction, 1.0),
            _ => {
                match COUNTED.iter().find(|thing| **thing == text || thing.strip_suffix('s') == Some(text)) {
                    Some(thing) => (Unit::Count((*thing).to_owned()), 1.0),
                    None => (Unit::Other(text.to_owned()), 1.0),
                }
            }
        }
    }
}

/// Things that benchmarks count.
const COUNTED: [&str; 8] =
    ["samples", "tokens", "steps", "images", "sequences", "requests", "iterations", "inferences"];

fn rate_thing(text: &str) -> Option<&str> {
    ["/s", "/sec", "/second", " per second"]
        .iter()
        .find_map(|suffix| text.strip_suffix(suffix))
        .map(str::trim)
}

fn plural(name: &str) -> String {
    match name {
        "it" => "iterations".to_owned(),
        other => other.to_owned(),
    }
}

fn scaled_flop(name: &str) -> Option<f64> {
    match name {
        "FLOP" => Some(1.0),
        "MFLOP" => Some(1e6),
        "GFLOP" => Some(1e9),
        "TFLOP" => Some(1e12),
        "PFLOP" => Some(1e15),
        _ => None,
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::One => Ok(()),
            Unit::Seconds => f.write_str("s"),
            Unit::Bytes => f.write_str("B"),
            Unit::Fraction => f.write_str("fraction"),
            Unit::Count(thing) => f.write_str(thing),
            Unit::PerSecond(thing) => write!(f, "{thing}/s"),
            Unit::Other(name) => f.write_str(name),
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Unit::parse(&text).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_lead_to_base_units() {
        assert_eq!(Unit::parse("ms"), (Unit::Seconds, 1e-3));
        assert_eq!(Unit::parse("%"), (Unit::Fraction, 0.01));
        assert_eq!(Unit::parse("MB/s"), (Unit::PerSecond("B".into()), 1e6));
        assert_eq!(Unit::parse("GFLOP/s"), (Unit::PerSecond("FLOP".into()), 1e9));
        assert_eq!(Unit::parse("samples/sec"), (Unit::PerSecond("samples".into()), 1.0));
        assert_eq!(Unit::parse("it/s"), (Unit::PerSecond("iterations".into()), 1.0));
        assert_eq!(Unit::parse("token"), (Unit::Count("tokens".into()), 1.0));
        assert_eq!(Unit::parse("quatloos"), (Unit::Other("quatloos".into()), 1.0));
    }

    #[test]
    fn every_unit_reads_back_as_itself() {
        for text in ["", "s", "B", "fraction", "samples", "B/s", "FLOP/s", "tokens/s", "widgets/s", "°C"] {
            let (unit, factor) = Unit::parse(text);
            assert_eq!(factor, 1.0, "{text}");
            assert_eq!(Unit::parse(&unit.to_string()).0, unit, "{text}");
        }
    }
}
