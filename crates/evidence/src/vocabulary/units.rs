//! Units as logs print them behind a number or in a key.

use assay_model::Unit;

use crate::writeup::units::unit_of;

/// A unit beside a number.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedUnit {
    /// The base unit.
    pub unit: Unit,
    /// From the printed scale to the base unit.
    pub factor: f64,
    /// For a time per thing (`ms/step`), the thing in the singular.
    pub per: Option<String>,
}

impl PrintedUnit {
    /// Reads a whole text as a unit. Words that are only now and then units (`m`, `it`, `B`) are none.
    pub fn parse(text: &str) -> Option<PrintedUnit> {
        let text = text.trim().trim_end_matches('.');
        // `21.3 GFLOPs` of a model are operations, not a rate.
        if text.is_empty()
            || text.len() > 24
            || matches!(text, "B" | "x" | "b" | "H" | "S")
            || text.ends_with("FLOPs")
        {
            return None;
        }
        // `Kbytes/sec`, `MBytes`.
        let lower = text.to_ascii_lowercase();
        if let Some((prefix, rest)) = lower.split_once("byte")
            && matches!(prefix, "" | "k" | "m" | "g" | "t")
        {
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            if prefix.is_empty() && rest.is_empty() {
                return Some(PrintedUnit { unit: Unit::Bytes, factor: 1.0, per: None });
            }
            return PrintedUnit::parse(&format!("{}B{rest}", prefix.to_ascii_uppercase()));
        }
        // `Melem/s`: a prefix before the thing that is counted.
        if let Some((prefix, thing)) = text.split_at_checked(1)
            && let Some(factor) = match prefix {
                "K" | "k" => Some(1e3),
                "M" => Some(1e6),
                "G" => Some(1e9),
                _ => None,
            }
            && matches!(thing, "it/s" | "elem/s" | "elements/s" | "ops/s" | "rows/s" | "keys/s" | "pairs/s")
        {
            let inner = PrintedUnit::parse(thing)?;
            return Some(PrintedUnit { factor: inner.factor * factor, ..inner });
        }
        // `GBps` are bytes, `Gbps` bits.
        if let Some(scale) = text.strip_suffix("Bps").or_else(|| text.strip_suffix("BPS")) {
            return PrintedUnit::parse(&format!("{scale}B/s"));
        }
        if let Some(bits) = bits_per_second(&lower) {
            return Some(bits);
        }
        // `TFLOP/s/device`: a rate of one device.
        if let Some((rate, device)) = text.rsplit_once('/')
            && DEVICES.contains(&device.to_ascii_lowercase().as_str())
            && let Some(unit) = PrintedUnit::parse(rate)
            && matches!(unit.unit, Unit::PerSecond(_))
        {
            return Some(PrintedUnit { per: Some(device.to_ascii_lowercase()), ..unit });
        }
        // `17181082 B/op`: memory for one thing.
        if let Some((memory, thing @ ("op" | "iter" | "call" | "request" | "token"))) = text.split_once('/')
            && let Some((unit, factor)) =
                if memory == "B" { Some((Unit::Bytes, 1.0)) } else { unit_of(memory) }
            && unit == Unit::Bytes
        {
            return Some(PrintedUnit { unit, factor, per: Some(thing.to_owned()) });
        }
        // `13 allocs/op`: a count for one thing.
        if let Some((counted, thing @ ("op" | "iter"))) = lower.split_once('/')
            && matches!(counted, "alloc" | "allocs" | "allocations")
        {
            let unit = Unit::Count("allocations".to_owned());
            return Some(PrintedUnit { unit, factor: 1.0, per: Some(thing.to_owned()) });
        }
        if let Some((above, below)) = quotient(text) {
            let below = singular(below);
            let time = |word: &str| unit_of(word).filter(|(unit, _)| *unit == Unit::Seconds);
            if let (Some((_, factor)), None) = (time(above), time(&below)) {
                let known = below.len() > 1 && below.chars().all(|letter| letter.is_ascii_alphabetic());
                return known.then_some(PrintedUnit { unit: Unit::Seconds, factor, per: Some(below) });
            }
            if let (None, Some((_, span)), true) = (unit_of(text), time(&below), is_thing(above)) {
                let thing = match above.to_lowercase() {
                    ops if matches!(ops.as_str(), "op" | "ops" | "operation") => "operations".to_owned(),
                    other => other,
                };
                let unit = Unit::PerSecond(thing);
                return Some(PrintedUnit { unit, factor: 1.0 / span, per: None });
            }
        }
        if text == "с" {
            return Some(PrintedUnit { unit: Unit::Seconds, factor: 1.0, per: None });
        }
        if text == "sps" || text == "µs" {
            let (unit, factor) = if text == "sps" {
                (Unit::PerSecond("samples".to_owned()), 1.0)
            } else {
                (Unit::Seconds, 1e-6)
            };
            return Some(PrintedUnit { unit, factor, per: None });
        }
        let (unit, factor) = unit_of(text)?;
        Some(PrintedUnit { unit, factor, per: None })
    }

    /// A rate or a time for one thing that is all that a header says: `Ops/sec`, `ns/op`.
    pub fn of_header(text: &str) -> Option<PrintedUnit> {
        let (above, _) = text.split_once('/')?;
        // `min/max` are two statistics, and `s/N` is a ratio.
        let plain = above.len() > 1 && !above.eq_ignore_ascii_case("min") && !text.contains(['(', '[']);
        PrintedUnit::parse(text)
            .filter(|unit| plain && (unit.per.is_some() || matches!(unit.unit, Unit::PerSecond(_))))
    }

    /// Whether it is a unit of time, rate, memory or share: one that says what kind of number it is.
    pub fn is_telling(&self) -> bool {
        self.per.is_some()
            || matches!(self.unit, Unit::Seconds | Unit::PerSecond(_) | Unit::Bytes | Unit::Fraction)
    }
}

/// What rates are stated for one of.
const DEVICES: [&str; 7] = ["device", "gpu", "chip", "core", "node", "card", "worker"];

/// `88.7 Mbits/sec`, `9.4 Gbps`.
fn bits_per_second(lower: &str) -> Option<PrintedUnit> {
    let scaled =
        ["bits/sec", "bits/s", "bit/sec", "bit/s", "bps"].iter().find_map(|end| lower.strip_suffix(end))?;
    let factor = match scaled {
        "" if lower != "bps" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        _ => return None,
    };
    Some(PrintedUnit { unit: Unit::PerSecond("bits".to_owned()), factor, per: None })
}

fn quotient(text: &str) -> Option<(&str, &str)> {
    let (above, below) = text.split_once('/').or_else(|| text.split_once(" per "))?;
    (!below.contains('/')).then(|| (above.trim(), below.trim()))
}

fn is_thing(word: &str) -> bool {
    word.len() > 1 && word.len() <= 16 && word.chars().all(|letter| letter.is_ascii_alphabetic())
}

/// The thing that a time is stated for, in one word for each.
fn singular(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    let stem = lower.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(&lower);
    match stem {
        "it" | "iter" | "iteration" | "batch" | "batche" | "minibatch" | "update" => "step".to_owned(),
        "img" | "image" | "example" | "sequence" | "frame" => "sample".to_owned(),
        "tok" => "token".to_owned(),
        "query" | "querie" | "req" => "request".to_owned(),
        _ if lower == "s" || lower == "sec" || lower == "secs" => lower,
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_logs_print() {
        let read = |text: &str| PrintedUnit::parse(text).map(|u| (u.unit.to_string(), u.factor, u.per));
        assert_eq!(read("ms"), Some(("s".into(), 1e-3, None)));
        assert_eq!(read("ms/step"), Some(("s".into(), 1e-3, Some("step".into()))));
        assert_eq!(read("sec/batch"), Some(("s".into(), 1.0, Some("step".into()))));
        assert_eq!(read("s/it"), Some(("s".into(), 1.0, Some("step".into()))));
        assert_eq!(read("ms/token"), Some(("s".into(), 1e-3, Some("token".into()))));
        assert_eq!(read("examples/sec"), Some(("samples/s".into(), 1.0, None)));
        assert_eq!(read("MFlop/s"), Some(("FLOP/s".into(), 1e6, None)));
        assert_eq!(read("records/s"), Some(("records/s".into(), 1.0, None)));
        assert_eq!(read("GiB").map(|unit| unit.0), Some("B".into()));
        for text in ["m", "B", "x", "it", "bit", "", "and"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
