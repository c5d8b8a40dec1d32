//! Units as people write them, as products of base symbols with exponents, so that units can be multiplied, divided and
//! compared.

use std::collections::BTreeMap;

/// A unit: base symbols with their exponents, and the factor to them. Counted things (`token`, `image`) are symbols
/// too.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unit {
    pub(crate) exponents: BTreeMap<String, i8>,
    pub scale: f64,
    /// Written as a percentage; its scale is 0.01.
    pub percent: bool,
    /// `3x`, `3 times`.
    pub times: bool,
    /// `3 points`, `3 percentage points`.
    pub points: bool,
}

/// The symbols that measure something. All others count things.
const MEASURES: [&str; 7] = ["s", "byte", "flop", "joule", "money", "hertz", "kelvin"];

impl Unit {
    pub fn none() -> Unit {
        Unit { scale: 1.0, ..Unit::default() }
    }

    fn symbol(symbol: &str, exponent: i8, scale: f64) -> Unit {
        Unit { exponents: BTreeMap::from([(symbol.to_owned(), exponent)]), scale, ..Unit::default() }
    }

    fn joined(&self, other: &Unit, sign: i8) -> Unit {
        let mut joined = self.clone();
        for (symbol, exponent) in &other.exponents {
            let sum = joined.exponents.entry(symbol.clone()).or_insert(0);
            *sum = sum.saturating_add(sign.saturating_mul(*exponent));
        }
        joined.exponents.retain(|_, exponent| *exponent != 0);
        joined.scale = if sign > 0 { self.scale * other.scale } else { self.scale / other.scale };
        joined
    }

    /// The unit of a product.
    pub fn times(&self, other: &Unit) -> Unit {
        self.joined(other, 1)
    }

    /// The unit of a quotient.
    pub fn over(&self, other: &Unit) -> Unit {
        self.joined(other, -1)
    }

    /// Whether a symbol is in both.
    pub fn shares_symbol(&self, other: &Unit) -> bool {
        self.exponents.keys().any(|symbol| other.exponents.contains_key(symbol))
    }

    /// Whether both count the same thing.
    pub fn shares_thing(&self, other: &Unit) -> bool {
        let mut things = self.exponents.iter().filter(|(symbol, _)| !MEASURES.contains(&symbol.as_str()));
        things.any(|(symbol, exponent)| other.exponents.get(symbol) == Some(exponent))
    }

    /// Whether both are the same product of the same symbols, counted things included.
    pub fn same_symbols(&self, other: &Unit) -> bool {
        self.is_relative() == other.is_relative() && self.exponents == other.exponents
    }

    pub fn is_none(&self) -> bool {
        self.exponents.is_empty() && !self.percent && !self.times && !self.points
    }

    /// Whether it measures nothing: a plain count, or no unit at all.
    pub fn is_count(&self) -> bool {
        !self.percent && !self.times && !self.points && self.measures().next().is_none()
    }

    pub fn is_relative(&self) -> bool {
        self.percent || self.times || self.points
    }

    fn measures(&self) -> impl Iterator<Item = (&str, i8)> {
        let known = self.exponents.iter().filter(|(symbol, _)| MEASURES.contains(&symbol.as_str()));
        known.map(|(symbol, exponent)| (symbol.as_str(), *exponent))
    }

    /// Whether both measure the same kind of thing; what they count may differ, because people leave it out.
    pub fn same_measure(&self, other: &Unit) -> bool {
        self.is_relative() == other.is_relative() && self.measures().eq(other.measures())
    }

    pub fn is_time(&self) -> bool {
        self.exponents.len() == 1 && self.exponents.get("s") == Some(&1)
    }

    pub fn is_rate(&self) -> bool {
        self.exponents.get("s") == Some(&-1)
    }

    /// Whether both count the same things, as far as both say; devices in the denominator matter.
    pub fn same_things(&self, other: &Unit) -> bool {
        let things = |unit: &Unit| -> Vec<(String, i8)> {
            let counted = unit.exponents.iter().filter(|(symbol, _)| !MEASURES.contains(&symbol.as_str()));
            counted.map(|(symbol, exponent)| (symbol.clone(), *exponent)).collect()
        };
        let (one, other) = (things(self), things(other));
        let denominators =
            |things: &[(String, i8)]| things.iter().filter(|(_, exponent)| *exponent < 0).count();
        denominators(&one) == denominators(&other)
            && (one.is_empty() || other.is_empty() || one.iter().any(|thing| other.contains(thing)))
    }

    /// Whether it names no counted thing.
    pub fn counts_nothing(&self) -> bool {
        self.exponents.keys().all(|symbol| MEASURES.contains(&symbol.as_str()))
    }

    /// What a written number is multiplied by.
    pub fn factor(&self) -> f64 {
        if self.scale == 0.0 { 1.0 } else { self.scale }
    }

    /// Whether this base symbol is part of it.
    pub fn has(&self, symbol: &str) -> bool {
        self.exponents.contains_key(symbol)
    }

    /// The exponent of each measure, for arithmetic on them.
    pub fn measure_exponents(&self) -> [i8; MEASURES.len()] {
        MEASURES.map(|symbol| self.exponents.get(symbol).copied().unwrap_or(0))
    }

    /// Whether a counted thing of this name is in it.
    pub fn counts(&self, noun: &str) -> bool {
        self.exponents.contains_key(noun)
    }
}

/// Names of one thing that computes; `per GPU` and `per card` say the same.
const DEVICES: [&str; 12] = [
    "gpu",
    "device",
    "card",
    "chip",
    "node",
    "core",
    "client",
    "rank",
    "replica",
    "worker",
    "thread",
    "accelerator",
];

/// Whether a word in the singular, or the first five letters of one, names something that computes: a GPU, an APU, a card.
pub fn is_device(word: &str) -> bool {
    let named = |name: &&str| *name == word || word.len() == 5 && name.starts_with(word);
    DEVICES.iter().any(named) || (3..=4).contains(&word.len()) && word.ends_with("pu")
}

/// The unit at the beginning of a text, and how many bytes it takes.
pub fn leading_unit(text: &str) -> Option<(Unit, usize)> {
    let (mut unit, mut at) = atom(text)?;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let (sign, skipped) = if let Some(after) = rest.strip_prefix('/') {
            (-1, rest.len() - after.trim_start().len())
        } else if let Some(after) = rest.trim_start().strip_prefix("per ") {
            (-1, rest.len() - after.len())
        } else if rest.starts_with(['-', '·'])
            && unit.exponents.keys().any(|symbol| DEVICES.contains(&symbol.as_str()))
        {
            (1, rest.chars().next().map_or(1, char::len_utf8))
        } else {
            break;
        };
        let Some((next, length)) = atom(rest.get(skipped..).unwrap_or_default()) else { break };
        if next.is_relative() {
            break;
        }
        unit = unit.joined(&next, sign);
        at += skipped + length;
    }
    Some((unit, at))
}

/// A single unit or counted thing, with a multiplier such as `million` or `k` before it.
fn atom(text: &str) -> Option<(Unit, usize)> {
    let trimmed = text.trim_start();
    let skipped = text.len() - trimmed.len();
    let symbol = trimmed.chars().next()?;
    if let Some(unit) = sign(symbol) {
        return Some((unit, skipped + symbol.len_utf8()));
    }
    let word: String = trimmed
        .chars()
        .take_while(|character| character.is_alphabetic() || "µ°".contains(*character))
        .collect();
    if word.is_empty() {
        return None;
    }
    let after = trimmed.get(word.len()..).unwrap_or_default();
    if let Some(factor) = multiplier(&word) {
        let next = after.strip_prefix(' ').unwrap_or(after);
        if let Some((mut unit, length)) = atom(next).filter(|(unit, _)| !unit.is_relative()) {
            unit.scale *= factor;
            return Some((unit, skipped + word.len() + (after.len() - next.len()) + length));
        }
        if word.len() > 1 || word != "B" {
            return Some((Unit { scale: factor, ..Unit::default() }, skipped + word.len()));
        }
    }
    if ["percentage", "per"].contains(&word.as_str()) {
        let next = after.trim_start();
        for (second, points) in [("points", true), ("point", true), ("cent", false)] {
            if next.starts_with(second) {
                let length = word.len() + (after.len() - next.len()) + second.len();
                let unit = Unit { scale: 0.01, percent: !points, points, ..Unit::default() };
                return Some((unit, skipped + length));
            }
        }
        return None;
    }
    known(&word)
        .or_else(|| capitalized(&word))
        .or_else(|| noun(&word))
        .map(|unit| (unit, skipped + word.len()))
}

fn sign(symbol: char) -> Option<Unit> {
    match symbol {
        '%' => Some(Unit { scale: 0.01, percent: true, ..Unit::default() }),
        '×' => Some(Unit { scale: 1.0, times: true, ..Unit::default() }),
        '$' | '€' | '£' => Some(Unit::symbol("money", 1, 1.0)),
        '¢' => Some(Unit::symbol("money", 1, 0.01)),
        '°' => Some(Unit::symbol("kelvin", 1, 1.0)),
        _ => None,
    }
}

fn multiplier(word: &str) -> Option<f64> {
    Some(match word {
        "k" | "K" | "thousand" => 1e3,
        "M" | "million" | "mio" | "mn" => 1e6,
        "B" | "G" | "bn" | "billion" => 1e9,
        "T" | "trillion" => 1e12,
        _ => return None,
    })
}

/// Units by their symbol or name.
fn known(word: &str) -> Option<Unit> {
    let of = |symbol, scale| Some(Unit::symbol(symbol, 1, scale));
    match word {
        "ns" => of("s", 1e-9),
        "us" | "µs" | "μs" => of("s", 1e-6),
        "ms" | "milliseconds" | "millisecond" | "msec" => of("s", 1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => of("s", 1.0),
        "min" | "mins" | "minute" | "minutes" => of("s", 60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => of("s", 3600.0),
        "day" | "days" => of("s", 86_400.0),
        "week" | "weeks" => of("s", 604_800.0),
        "B" | "byte" | "bytes" => of("byte", 1.0),
        "kB" | "KB" => of("byte", 1e3),
        "MB" => of("byte", 1e6),
        "GB" => of("byte", 1e9),
        "TB" => of("byte", 1e12),
        "KiB" => of("byte", 1024.0),
        "MiB" => of("byte", 1_048_576.0),
        "GiB" => of("byte", 1_073_741_824.0),
        "TiB" => of("byte", 1_099_511_627_776.0),
        "bit" | "bits" => of("byte", 0.125),
        "kbit" | "Kbit" | "Kb" => of("byte", 125.0),
        "Mbit" | "Mb" => of("byte", 125e3),
        "Gbit" | "Gb" => of("byte", 125e6),
        "Mbps" => Some(Unit::symbol("byte", 1, 125e3).joined(&Unit::symbol("s", 1, 1.0), -1)),
        "Gbps" => Some(Unit::symbol("byte", 1, 125e6).joined(&Unit::symbol("s", 1, 1.0), -1)),
        "flop" | "FLOP" | "FLOPs" | "flops" => of("flop", 1.0),
        "MFLOP" | "MFLOPs" | "Mflop" => of("flop", 1e6),
        "GFLOP" | "GFLOPs" | "Gflop" => of("flop", 1e9),
        "TFLOP" | "TFLOPs" | "Tflop" => of("flop", 1e12),
        "PFLOP" | "PFLOPs" | "Pflop" => of("flop", 1e15),
        "GFLOPS" => Some(Unit::symbol("flop", 1, 1e9).joined(&Unit::symbol("s", 1, 1.0), -1)),
        "TFLOPS" => Some(Unit::symbol("flop", 1, 1e12).joined(&Unit::symbol("s", 1, 1.0), -1)),
        "W" | "watt" | "watts" => Some(Unit::symbol("joule", 1, 1.0).joined(&Unit::symbol("s", 1, 1.0), -1)),
        "kW" => Some(Unit::symbol("joule", 1, 1e3).joined(&Unit::symbol("s", 1, 1.0), -1)),
        "MW" => Some(Unit::symbol("joule", 1, 1e6).joined(&Unit::symbol("s", 1, 1.0), -1)),
        "J" | "joule" | "joules" => of("joule", 1.0),
        "kJ" => of("joule", 1e3),
        "MJ" => of("joule", 1e6),
        "Wh" => of("joule", 3600.0),
        "kWh" => of("joule", 3.6e6),
        "MWh" => of("joule", 3.6e9),
        "EUR" | "USD" | "euro" | "euros" | "dollar" | "dollars" | "GBP" | "CHF" => of("money", 1.0),
        "cent" | "cents" => of("money", 0.01),
        "Hz" => of("hertz", 1.0),
        "MHz" => of("hertz", 1e6),
        "GHz" => of("hertz", 1e9),
        "percent" | "pct" => Some(Unit { scale: 0.01, percent: true, ..Unit::default() }),
        "pp" | "points" | "point" | "pts" => Some(Unit { scale: 0.01, points: true, ..Unit::default() }),
        "x" | "times" | "fold" => Some(Unit { scale: 1.0, times: true, ..Unit::default() }),
        _ => None,
    }
}

/// Units that begin a header or a sentence: `Hours`, `Seconds`.
fn capitalized(word: &str) -> Option<Unit> {
    let lower = word.to_lowercase();
    let names =
        ["hour", "minute", "second", "day", "week", "byte", "bit", "watt", "joule", "millisecond", "percent"];
    let named = names.contains(&lower.trim_end_matches('s'));
    known(&lower).filter(|_| named && word.starts_with(char::is_uppercase))
}

/// Words that follow a number without being what it counts.
const NO_NOUNS: [&str; 103] = [
    "is", "was", "has", "this", "its", "as", "us", "plus", "minus", "less", "versus", "vs", "across", "thus",
    "does", "always", "and", "or", "of", "to", "in", "on", "at", "with", "for", "from", "the", "a", "an",
    "by", "than", "per", "more", "faster", "slower", "lower", "higher", "it", "we", "that", "which", "so",
    "but", "are", "against", "instead", "while", "when", "where", "after", "before", "compared", "rather",
    "down", "up", "out", "over", "under", "only", "about", "both", "not", "because", "if", "then", "below",
    "above", "between", "within", "without", "using", "during", "until", "into", "onto", "through",
    "whereas", "although", "though", "since", "yet", "now", "still", "even", "just", "also", "again", "here",
    "there", "they", "be", "been", "were", "can", "will", "would", "had", "have", "do", "did", "no", "off",
    "among",
];

/// A counted thing: a noun in the plural, a short form in common use, or a thing that computes.
fn noun(word: &str) -> Option<Unit> {
    let lower = word.to_lowercase();
    if NO_NOUNS.contains(&lower.as_str()) {
        return None;
    }
    let canonical = match lower.as_str() {
        "tok" | "toks" | "t" => "token",
        "img" | "imgs" | "pictures" => "image",
        "req" | "reqs" => "request",
        "it" | "iter" | "iters" | "iterations" | "iteration" => "step",
        "seq" | "seqs" => "sequence",
        "q" => "query",
        "gpu" => "gpu",
        _ => "",
    };
    if !canonical.is_empty() {
        return Some(Unit::symbol(canonical, 1, 1.0));
    }
    Some(Unit::symbol(&singular(&lower), 1, 1.0))
}

/// The singular of a regular noun.
pub fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return format!("{stem}y");
    }
    for ending in ["ches", "shes", "xes", "sses"] {
        if word.ending_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s')) {
        Some(stem) => stem.to_owned(),
        None => word.to_owned(),
    }
}

trait Ending {
    fn ending_with(&self, ending: &str) -> bool;
}

impl Ending for str {
    fn ending_with(&self, ending: &str) -> bool {
        self.len() > ending.len() + 1 && self.ends_with(ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Unit {
        leading_unit(text).map(|(unit, _)| unit).unwrap_or_default()
    }

    #[test]
    fn rates_and_multiples() {
        assert!(unit("tokens/s").same_measure(&unit("tok per second")));
        assert_eq!(unit("k tokens/s").scale, 1e3);
        assert_eq!(unit("million tokens per second").scale, 1e6);
        assert!((unit("requests per minute").scale - 1.0 / 60.0).abs() < 1e-12);
        assert!(unit("percentage points").points && unit("per cent").percent);
        assert_eq!(unit("Gbit/s").scale, 125e6);
    }
}
